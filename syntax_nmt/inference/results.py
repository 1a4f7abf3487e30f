"""What a loaded model returns for sentences and pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from syntax_nmt.data.chunks import Chunk
from syntax_nmt.scoring.alignments.alignment import Alignment, format_alignment
from syntax_nmt.scoring.chunks.chunk_report import bracketed


@dataclass(frozen=True)
class ScoredTranslation:
    """A hypothesis of a search.

    Attributes:
        text: as raw text.
        score: as `fairseq-interactive` prints it: the sum of the tokens' log-probabilities to base
            2, EOS included, by default divided by their number (`lenpen`, `unnormalized`).
        factors: of a model with target factors, by name a value for each word; the words
            themselves are `form`.
    """

    text: str
    score: float
    factors: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class AlignedPair:
    """A sentence and its translation; as text the links in Pharaoh's form, `0-0 1-2`.

    Attributes:
        source: words of the sentence.
        target: words of the translation.
        links: (source word, target word), counted from 0.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: Alignment

    def __str__(self) -> str:
        return format_alignment(self.links)


@dataclass(frozen=True)
class ChunkedSentence:
    """A translation and its chunks; as text `[NP the garden] [VP grows] .`.

    Attributes:
        words: of the translation.
        chunks: type, first word, one past the last word; together they cover the words.
    """

    words: tuple[str, ...]
    chunks: tuple[Chunk, ...]

    def __str__(self) -> str:
        return bracketed(self.chunks, self.words)


@dataclass(frozen=True)
class AttendedPair:
    """A sentence, its translation, and the decoder's attention.

    Attributes:
        source: words of the sentence.
        target: words of the translation.
        weights: target words × source words; without the weight of the end of the sentence.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    weights: np.ndarray


@dataclass(frozen=True)
class HeadWeights:
    """The weights of one layer, before dropout.

    Attributes:
        weights: heads × queries × keys. Rows of the decoder are the pieces that it predicts, EOS
            last; keys of its self-attention are the pieces that it reads, EOS first. The source's
            EOS is last; further keys that a method adds, such as constituents, come after it.
        layer: its index from 0; None = the model has one attention, without layers.
        with_eos: False = without rows and columns of EOS, as for recurrent models.
        tasks: what heads with a task of their own attend to, by their number.
    """

    weights: np.ndarray
    layer: int | None
    with_eos: bool = True
    tasks: Mapping[int, str] = field(default_factory=dict)

    def entropies(self) -> np.ndarray:
        """By head −Σ a log₂ a in bits, the mean over queries, of rows that add up to 1.

        0: a head attends to one piece; log₂ of the number of keys: to all alike.
        """
        rows = self.weights / np.maximum(self.weights.sum(axis=2, keepdims=True), 1e-30)
        logs = np.log2(np.where(rows > 0, rows, 1.0))
        return -(rows * logs).sum(axis=2).mean(axis=1)


@dataclass(frozen=True)
class AttendedHeads:
    """The attention of every head of a model, between pieces.

    Attributes:
        source: pieces of the sentence, without EOS.
        target: pieces of the translation, without EOS.
        layers: by attention, `encoder`, `decoder` (self-attention) and `cross`, the weights of each
            layer, the lowest first; a recurrent decoder has one `cross`.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    layers: Mapping[str, tuple[HeadWeights, ...]]

    def entropies(self, attention: str) -> np.ndarray:
        """Layers × heads: as of :meth:`HeadWeights.entropies`.

        Args:
            attention: one of `layers`.
        """
        return np.stack([layer.entropies() for layer in self.layers[attention]])


@dataclass(frozen=True)
class HeadEntropies:
    """The entropy of attention over a text.

    Attributes:
        bits: layers × heads, means over all queries.
        even: those of attention that is alike to all keys a query may attend to.
        sentences: how many were read.
        left_out: those that are empty or too long for the model.
    """

    bits: np.ndarray
    even: float
    sentences: int
    left_out: int
