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
