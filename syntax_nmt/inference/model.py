"""A trained model that takes raw text and returns translations and structures."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Literal, overload

from fairseq.hub_utils import GeneratorHubInterface

from syntax_nmt.backbone.structures import CHUNKED, CONSTITUENTS, DEPENDENCIES
from syntax_nmt.data.annotation import COLUMNS
from syntax_nmt.data.constituents import ConstituentTree
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.errors import UserError, named_as_in_python
from syntax_nmt.inference.checkpoint import quiet_fairseq
from syntax_nmt.inference.extraction import constituents
from syntax_nmt.inference.extraction.dependencies import parent_head, parsed
from syntax_nmt.inference.extraction.model_answers import structures_of
from syntax_nmt.inference.extraction.model_distances import encoder_distances
from syntax_nmt.inference.forced_decoding import ForcedDecoder
from syntax_nmt.inference.forced_pairs import ForcedPairs
from syntax_nmt.inference.given_sentences import Texts, TooLongError, of_each
from syntax_nmt.inference.parsed_sources import check_parser
from syntax_nmt.inference.results import (
    AlignedPair,
    AttendedHeads,
    AttendedPair,
    ChunkedSentence,
    ScoredTranslation,
)
from syntax_nmt.inference.search_options import SEARCH_OPTIONS, checked_search
from syntax_nmt.inference.segmentation import Segment
from syntax_nmt.inference.settings import ARGUMENTS_OF_LOAD, MAX_TOKENS
from syntax_nmt.inference.source_text import SourceText, token_ids
from syntax_nmt.option_checks import check_choice
from syntax_nmt.scoring.words.bits import SentenceBits
from syntax_nmt.task.annotation_inputs import parsed_kinds
from syntax_nmt.task.search import empty_hypotheses
from syntax_nmt.task.source_parser import SourceParser

Tree = DependencyTree | ConstituentTree
_in_python = named_as_in_python("kind", "beam", *SEARCH_OPTIONS, *ARGUMENTS_OF_LOAD)


class LoadedModel:
    """A trained model that takes raw text.

    Methods take one sentence, or a list and then return a list. A sentence that is too long for the
    model gives None for trees, alignments and chunks, and an error in translation. Threads take
    turns.

    Args:
        hub: fairseq's interface to the model, its task and options.
        segment: segments source text into pieces.
        segment_target: segments target text into pieces.
    """

    def __init__(
        self,
        hub: GeneratorHubInterface,
        segment: Segment,
        segment_target: Segment,
    ) -> None:
        self.hub = hub
        self._segment = segment
        self._segment_target = segment_target
        # For a model that reads parses of the source.
        self._parser: SourceParser | None = getattr(hub.task, "parser", None)

    @property
    def model(self) -> Any:
        """The model itself, fairseq's or of this package."""
        return self.hub.models[0]

    @overload
    def translate(self, sentences: str, beam: int = 5, **options: Any) -> str: ...
    @overload
    def translate(self, sentences: Sequence[str], beam: int = 5, **options: Any) -> list[str]: ...
    @_in_python
    def translate(self, sentences: Texts, beam: int = 5, **options: Any) -> str | list[str]:
        """Translations, as from `fairseq-interactive`.

        Args:
            sentences: raw source text.
            beam: number of hypotheses in the search.
            **options: of fairseq's search, such as `lenpen` and `max_len_b`.

        Raises:
            UserError: a sentence is too long or no text, the model lacks an input, or fairseq's
                search has no such option or no such value of it.
        """
        return of_each(partial(self._best, beam, options), sentences)

    @overload
    def nbest(self, sentences: str, beam: int = 5, **options: Any) -> list[ScoredTranslation]: ...
    @overload
    def nbest(
        self, sentences: Sequence[str], beam: int = 5, **options: Any
    ) -> list[list[ScoredTranslation]]: ...
    @_in_python
    def nbest(self, sentences: Texts, beam: int = 5, **options: Any) -> Any:
        """All final hypotheses of the search, the best first, with their scores.

        Args:
            sentences: raw source text.
            beam: number of hypotheses in the search.
            **options: as of :meth:`translate`.

        Returns:
            for each sentence a list of :class:`ScoredTranslation`, as many as the beam; an empty
            sentence has one.

        Raises:
            UserError: as of :meth:`translate`.
        """
        return of_each(partial(self._translated, beam, options, factors=True), sentences)

    @property
    def structures(self) -> tuple[str, ...]:
        """The structures that the model has: `dependencies`, `constituents`, `chunks`."""
        source = getattr(self.model.encoder, "structures", ())
        target = getattr(self.model.decoder, "structures", ())
        known = {DEPENDENCIES: source, CONSTITUENTS: source, CHUNKED: target}
        return tuple(name for name, there in known.items() if name in there)

    @overload
    def trees(
        self, sentences: str, kind: str | None = None, *, as_text: Literal[False] = False
    ) -> Tree | None: ...
    @overload
    def trees(
        self, sentences: Sequence[str], kind: str | None = None, *, as_text: Literal[False] = False
    ) -> list[Tree | None]: ...
    @overload
    def trees(self, sentences: str, kind: str | None = None, *, as_text: Literal[True]) -> str: ...
    @overload
    def trees(
        self, sentences: Sequence[str], kind: str | None = None, *, as_text: Literal[True]
    ) -> list[str]: ...
    @_in_python
    def trees(self, sentences: Texts, kind: str | None = None, *, as_text: bool = False) -> Any:
        """Trees of the source, as from `syntax-nmt trees`.

        Args:
            sentences: raw source text.
            kind: `dependencies` of supervised heads, or `constituents` of latent phrases; by
                default constituents if the model has both.
            as_text: in the command's format: a block of CoNLL-U, or a line of brackets.

        Returns:
            for each sentence a :class:`DependencyTree` or :class:`ConstituentTree`, or text.

        Raises:
            UserError: the model has no such trees, or the kind is unknown.
        """
        if kind is None:
            kind = CONSTITUENTS if CONSTITUENTS in self.structures else DEPENDENCIES
        check_choice("kind", kind, (DEPENDENCIES, CONSTITUENTS))
        return of_each(partial(self._trees, kind, as_text), sentences)

    def __repr__(self) -> str:
        pair, model = self.hub.task.cfg, self.hub.cfg.model
        name = getattr(model, "_name", None) or type(self.model).__name__
        reads = ", ".join([*self.reads, *(f"feature {name}" for name in self.features)])
        parts = [
            f"{pair.source_lang}-{pair.target_lang}, {name}",
            f"reads {reads}" if reads else "",
            f"has {', '.join(self.structures)}" if self.structures else "",
        ]
        return f"<{type(self).__name__}: {'; '.join(filter(None, parts))}>"

    @property
    def reads(self) -> tuple[str, ...]:
        """The parses that the model reads, of which :meth:`parses` tells: `dependencies`,
        `constituents`. Features of words are none."""
        kinds = [kind for kind in parsed_kinds([self.model]) if kind not in COLUMNS]
        return tuple(dict.fromkeys(str(kind.parsed_by) for kind in kinds))

    @property
    def features(self) -> tuple[str, ...]:
        """The columns of the source's parses that the model reads: `upos`, `deprel`, …"""
        return tuple(kind.name for kind in parsed_kinds([self.model]) if kind in COLUMNS)

    @overload
    def parses(self, sentences: str, kind: str | None = None) -> Tree | None: ...
    @overload
    def parses(self, sentences: Sequence[str], kind: str | None = None) -> list[Tree | None]: ...
    @_in_python
    def parses(self, sentences: Texts, kind: str | None = None) -> Tree | list[Tree | None] | None:
        """Trees of the source that the parser gives the model, which reads them or their columns.

        Args:
            sentences: raw source text.
            kind: of :attr:`reads`, and `dependencies` of a model with :attr:`features`; by default
                the first.

        Returns:
            for each sentence a :class:`DependencyTree` or :class:`ConstituentTree`; None = it is
            not parsed.

        Raises:
            UserError: the model reads no such trees.
        """
        known = tuple(dict.fromkeys([*self.reads, *([DEPENDENCIES] if self.features else [])]))
        if not known:
            raise UserError("the model reads no trees of a parser: `trees` has those that it finds")
        kind = known[0] if kind is None else kind
        check_choice("kind", kind, known)
        check_parser(self.model, self._parser)
        return of_each(partial(self._parses, kind), sentences)

    @overload
    def align(self, source: str, target: str) -> AlignedPair | None: ...
    @overload
    def align(self, source: Sequence[str], target: Sequence[str]) -> list[AlignedPair | None]: ...
    @_in_python
    def align(self, source: Texts, target: Texts) -> AlignedPair | list[AlignedPair | None] | None:
        """Word alignments, as from `syntax-nmt align`.

        Args:
            source: raw source text.

        Returns:
            for each pair an :class:`AlignedPair`.

        Raises:
            UserError: the model has no cross-attention, or the numbers of sentences differ.
        """
        return of_each(self._pairs.aligned, source, target)

    @overload
    def attention(self, source: str, target: str) -> AttendedPair | None: ...
    @overload
    def attention(
        self, source: Sequence[str], target: Sequence[str]
    ) -> list[AttendedPair | None]: ...
    @_in_python
    def attention(
        self, source: Texts, target: Texts
    ) -> AttendedPair | list[AttendedPair | None] | None:
        """The cross-attention between words that :meth:`align` takes its links from.

        Args:
            source: raw source text.

        Returns:
            for each pair an :class:`AttendedPair`.

        Raises:
            UserError: the model has no cross-attention, or the numbers of sentences differ.
        """
        return of_each(self._pairs.attended, source, target)

    @overload
    def heads(self, source: str, target: str) -> AttendedHeads | None: ...
    @overload
    def heads(self, source: Sequence[str], target: Sequence[str]) -> list[AttendedHeads | None]: ...
    @_in_python
    def heads(
        self, source: Texts, target: Texts
    ) -> AttendedHeads | list[AttendedHeads | None] | None:
        """The weights of every attention head between pieces, and their entropy.

        Args:
            source: raw source text.

        Returns:
            for each pair an :class:`AttendedHeads`.

        Raises:
            UserError: the numbers of sentences differ.
        """
        return of_each(self._pairs.heads, source, target)

    @overload
    def chunks(self, source: str, target: str) -> ChunkedSentence | None: ...
    @overload
    def chunks(
        self, source: Sequence[str], target: Sequence[str]
    ) -> list[ChunkedSentence | None]: ...
    @_in_python
    def chunks(
        self, source: Texts, target: Texts
    ) -> ChunkedSentence | list[ChunkedSentence | None] | None:
        """The chunks that a bi-scale decoder finds in translations, as in `syntax-nmt chunks`.

        Args:
            source: raw source text.

        Returns:
            for each pair a :class:`ChunkedSentence`.

        Raises:
            UserError: the model has no such decoder, or the numbers of sentences differ.
        """
        return of_each(self._pairs.chunked, source, target)

    @overload
    def likelihood(self, source: str, target: str) -> SentenceBits | None: ...
    @overload
    def likelihood(
        self, source: Sequence[str], target: Sequence[str]
    ) -> list[SentenceBits | None]: ...
    @_in_python
    def likelihood(self, source: Texts, target: Texts) -> Any:
        """How improbable the model finds the words of translations, as `syntax-nmt likelihood`.

        Args:
            source: raw source text.

        Returns:
            for each pair the words of the translation and their bits, −log₂ p given the source and
            the words before; the end of the sentence, `</s>`, is the last.

        Raises:
            UserError: the numbers of sentences differ.
        """
        return of_each(self._pairs.bits, source, target)

    @cached_property
    def _pairs(self) -> ForcedPairs:
        decoder = ForcedDecoder(self.model, self.hub.task, self._parser)
        return ForcedPairs(decoder, self._segment, self._segment_target)

    def _translated(
        self, beam: int, options: dict[str, Any], sentences: Sequence[str], factors: bool = False
    ) -> list[list[ScoredTranslation]]:
        search = checked_search(beam, options, len(self.hub.task.target_dictionary))
        limit = self.hub.max_positions[0]
        with quiet_fairseq():
            # The task keeps the pieces for its parsers: among tokens unknown ones have lost theirs.
            tokens, _ = self.hub.task.get_interactive_tokens_and_lengths(sentences, self._pieces)
            for index, source in enumerate(tokens):
                if len(source) > limit:
                    raise TooLongError(index, len(source), limit)
            batches = self.hub.cfg.dataset
            if batches.max_tokens is not None:  # that of the training, which skipped long pairs
                batches.max_tokens = max([batches.max_tokens, *map(len, tokens)])
            self.hub.task.gives_factors = factors
            try:
                of_sentences = self.hub.generate(tokens, **search)
            except (AssertionError, ValueError) as error:
                raise UserError(f"fairseq's search cannot do this: {error}") from error
        # Tasks of this package did this in the search; checkpoints of fairseq's own task did not.
        dictionary = self.hub.task.source_dictionary
        filled = (
            empty_hypotheses([hypotheses], source[None], dictionary)[0]
            for hypotheses, source in zip(of_sentences, tokens)
        )
        return [list(map(self._scored, hypotheses)) for hypotheses in filled]

    def _best(self, beam: int, options: dict[str, Any], sentences: Sequence[str]) -> list[str]:
        return [found[0].text for found in self._translated(beam, options, sentences)]

    def _scored(self, hypothesis: Mapping[str, Any]) -> ScoredTranslation:
        score = float(hypothesis["score"]) / math.log(2)
        text = self.hub.decode(hypothesis["tokens"])
        return ScoredTranslation(text, score, hypothesis.get("factors", {}))

    def _pieces(self, sentence: str) -> str:
        return " ".join(self._segment(sentence))

    def _trees(
        self, kind: str, as_text: bool, sentences: Sequence[str]
    ) -> Sequence[DependencyTree | ConstituentTree | str | None]:
        dictionary = self.hub.task.source_dictionary
        lines = list(map(self._pieces, sentences))
        tokens = [token_ids(line.split(), dictionary) for line in lines]
        text = SourceText("sentences", tokens, dictionary, lines, self._segment.scheme)
        if kind == CONSTITUENTS:
            distances = encoder_distances(self.model, text, self._parser, layer=0)
            bracketed = structures_of(distances, text, constituents.bracketed, MAX_TOKENS)
            return [found.block() if as_text else found.tree for found in bracketed]
        head = parent_head(self.model, text, self._parser)
        trees = structures_of(head, text, partial(parsed, relations=head.labels), MAX_TOKENS)
        return [found.block() if as_text else found.tree for found in trees]

    def _parses(self, kind: str, sentences: Sequence[str]) -> list[Tree | None]:
        assert self._parser is not None
        return self._parser.trees(kind, list(map(self._segment, sentences)))
