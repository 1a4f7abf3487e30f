"""A trained model that is forced to translations of raw text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import note
from syntax_nmt.inference.forced_decoding import ForcedDecoder, load_forced_decoder
from syntax_nmt.inference.segmentation import Segment, forcing_advice, note_unfit, segmenters
from syntax_nmt.inference.settings import ModelFiles, Segmentation
from syntax_nmt.scoring.parallel_text import SegmentedPairs, TokenPair, read_parallel


@dataclass(frozen=True)
class ForcedModel:
    """A model, and how the text of both sides is segmented for it.

    Attributes:
        decoder: the model.
        source: segments lines of the source.
        target: segments lines of translations.
        segmentation: what these are made from.
    """

    decoder: ForcedDecoder
    source: Segment
    target: Segment
    segmentation: Segmentation

    @classmethod
    def load(cls, model: ModelFiles, segmentation: Segmentation) -> ForcedModel:
        """Loads the checkpoint.

        Raises:
            UserError: the checkpoint, the parser's configuration or a tokenizer cannot be used.
        """
        return cls.of(load_forced_decoder(model), model.data, segmentation)

    @classmethod
    def of(
        cls, decoder: ForcedDecoder, data: str | Path, segmentation: Segmentation
    ) -> ForcedModel:
        """A model that is loaded, and how its data folder segments text, or `segmentation`.

        Raises:
            UserError: a tokenizer cannot be used.
        """
        return cls(decoder, *segmenters(segmentation, data, decoder.task), segmentation)

    def pairs(self, source: str, target: str | None) -> list[TokenPair]:
        """The pieces of parallel files; warns on stderr if a text looks wrong.

        Args:
            target: the translations; None = there are none.

        Raises:
            UserError: a file cannot be read, or they have different numbers of lines.
        """
        if target is None:
            sources = list(read_lines(source))
            pairs = [TokenPair(self.source(line), ()) for line in sources]
        else:
            sources, targets = read_parallel(source, target)
            pairs = [TokenPair(self.source(x), self.target(y)) for x, y in zip(sources, targets)]
        self.note_unfit(source, sources, [pair.source for pair in pairs])
        if target is not None:
            self.note_unfit(target, targets, [pair.target for pair in pairs], target=True)
        return pairs

    def text(self, source: str, target: str, scheme: str | None) -> SegmentedPairs:
        """The pairs with the words that their pieces belong to.

        Args:
            scheme: of the pieces; None = as they were segmented, or detected from the text.

        Raises:
            UserError: as of :meth:`pairs`; or a piece reaches over a word's end.
        """
        return SegmentedPairs.of(self.pairs(source, target), self.schemes(scheme), (source, target))

    def schemes(self, scheme: str | None) -> list[str | None]:
        """The schemes of source and target.

        Args:
            scheme: as of :meth:`text`.
        """
        return [scheme or side.scheme for side in (self.source, self.target)]

    def note_unfit(
        self,
        name: str,
        lines: Sequence[str],
        pieces: Sequence[Sequence[str]],
        target: bool = False,
    ) -> None:
        """Warns on stderr if a text does not look like the training text.

        Args:
            name: of the text, for the message.
            lines: before segmentation.
            pieces: of each line.
            target: whether they are of the target language.
        """
        advice = forcing_advice(self.segmentation)
        note_unfit(self.decoder.task, name, lines, pieces, advice, target)
        if target and getattr(self.target.bpe, "leaves_symbols_out", False):
            note(
                f"{name} is forced without the brackets or tags that the model writes between "
                "words, so it never read such text: give lines in pieces that have them, as "
                "pieces/ of the prepared folder has, and --segmented"
            )
