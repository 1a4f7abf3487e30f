"""What a model says of pairs of raw sentences that it is forced to."""

from collections.abc import Sequence
from dataclasses import dataclass

from syntax_nmt.errors import UserError
from syntax_nmt.inference.extraction.alignments import CrossAttention, align_words, word_attention
from syntax_nmt.inference.extraction.attention_heads import attended_heads
from syntax_nmt.inference.extraction.chunks import ChunkPredictor
from syntax_nmt.inference.forced_decoding import ForcedDecoder, token_scores
from syntax_nmt.inference.results import AlignedPair, AttendedHeads, AttendedPair, ChunkedSentence
from syntax_nmt.inference.segmentation import Segment
from syntax_nmt.inference.settings import MAX_TOKENS, BatchLimits
from syntax_nmt.scoring.parallel_text import SegmentedPairs, TokenPair
from syntax_nmt.scoring.words.bits import SentenceBits, bits_of_text


@dataclass(frozen=True)
class ForcedPairs:
    """A model, and how raw sentences and translations are segmented for it.

    All methods take as many sentences as translations, and give a result for each pair; None = the
    pair is too long for the model. They raise a `UserError` if the numbers differ.
    """

    decoder: ForcedDecoder
    source: Segment
    target: Segment

    def aligned(self, source: Sequence[str], target: Sequence[str]) -> list[AlignedPair | None]:
        """Word alignments, from the cross-attention."""
        text = self._text(source, target)
        found = align_words(CrossAttention(self.decoder), text, MAX_TOKENS)
        return [
            None if links is None else AlignedPair(x, y, links)
            for x, y, links in zip(text.source.words, text.target.words, found)
        ]

    def attended(self, source: Sequence[str], target: Sequence[str]) -> list[AttendedPair | None]:
        """The cross-attention between words."""
        text = self._text(source, target)
        attended: list[AttendedPair | None] = [None] * len(text.pairs)
        for index, weights in CrossAttention(self.decoder).matrices(text.pairs, MAX_TOKENS):
            of_words = word_attention(weights, text.source.counts[index], text.target.counts[index])
            words = text.source.words[index], text.target.words[index]
            attended[index] = AttendedPair(*words, of_words)
        return attended

    def heads(self, source: Sequence[str], target: Sequence[str]) -> list[AttendedHeads | None]:
        """The weights of every attention head, between pieces."""
        return [
            attended_heads(self.decoder, pair) if self.decoder.fits(pair) else None
            for pair in self._text(source, target).pairs
        ]

    def chunked(self, source: Sequence[str], target: Sequence[str]) -> list[ChunkedSentence | None]:
        """The chunks that a bi-scale decoder finds in the translations."""
        text = self._text(source, target)
        predictor = ChunkPredictor(self.decoder, MAX_TOKENS)
        chunked: list[ChunkedSentence | None] = [None] * len(text.pairs)
        for index, found in predictor.choices(text.pairs):
            chunks = found.of_words(text.target.counts[index], predictor.names)
            chunked[index] = ChunkedSentence(text.target.words[index], chunks)
        return chunked

    def bits(self, source: Sequence[str], target: Sequence[str]) -> list[SentenceBits | None]:
        """The bits of the words of the translations."""
        text = self._text(source, target)
        scores = token_scores(self.decoder, text.pairs, BatchLimits(MAX_TOKENS))
        return bits_of_text(text.target, scores)

    def _text(self, source: Sequence[str], target: Sequence[str]) -> SegmentedPairs:
        if len(source) != len(target):
            raise UserError(
                f"{len(source)} sentences and {len(target)} translations: give one of each"
            )
        pairs = [TokenPair(self.source(x), self.target(y)) for x, y in zip(source, target)]
        return SegmentedPairs.of(pairs, (self.source.scheme, self.target.scheme))
