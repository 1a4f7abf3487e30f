"""A corpus with its chunks and their reference, and losses by the position in a chunk."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from syntax_nmt.data.chunks import OUTSIDE, Chunk
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.result import Result
from syntax_nmt.scoring.accuracy import Accuracy
from syntax_nmt.scoring.chunks.chunk_file import Chunks, Tags, read_chunk_file
from syntax_nmt.scoring.parallel_text import check_parallel

APART = 4  # number of single positions; later ones form one group


@dataclass(frozen=True)
class PositionLoss(Result):
    """The loss of the pieces at one position of their chunks.

    Attributes:
        position: 1 is the piece that opens a chunk; the last group has all later ones.
        pieces: how many there are.
        nll: their mean negative log-likelihood in nats.
    """

    position: int
    pieces: int
    nll: float


def positions_in_chunks(tags: np.ndarray) -> np.ndarray:
    """The place of each piece in its chunk, counted from 1.

    Args:
        tags: > 0 where a chunk opens, 0 inside; the first piece opens one in any case.
    """
    places = np.arange(len(tags))
    opening = np.where((tags > 0) | (places == 0), places, 0)
    return places - np.maximum.accumulate(opening) + 1 if len(tags) else places


def nll_by_position(sentences: Iterable[tuple[np.ndarray, np.ndarray]]) -> list[PositionLoss]:
    """The loss at each position that occurs, over a corpus.

    Args:
        sentences: tags and negative log-likelihoods of the pieces of each.
    """
    counts, sums = np.zeros(APART + 1, dtype=int), np.zeros(APART + 1)
    for tags, nll in sentences:
        groups = np.minimum(positions_in_chunks(tags), APART + 1) - 1
        np.add.at(counts, groups, 1)
        np.add.at(sums, groups, nll)
    return [
        PositionLoss(group + 1, int(count), float(total / count))
        for group, (count, total) in enumerate(zip(counts, sums))
        if count
    ]


Words = tuple[str, ...]


@dataclass
class ChunkedCorpus:
    """Sentences by position.

    Attributes:
        name: the file that they come from, for messages.
        chunks: of each sentence; None = it has none, or is too long for the model.
        words: of each sentence; None = not known.
        sources: the words of the sources; None = not known.
        alignments: chunks × source words; None = not asked for.
        gold: the reference; None = there is none; an entry None = it has no annotation.
        losses: of the pieces by their position in a chunk of the reference if there is one,
            otherwise of the model; None = there is no model.
        accuracies: of boundaries and of tags; None = nothing to compare with.
        too_long: sentences too long for the model.
        tags: from a file; None = the chunks are a model's, which exist for every sentence that is
            not too long.
        gold_tags: likewise, of the reference.
    """

    name: str
    chunks: list[Chunks | None]
    words: list[Words] | None = None
    sources: list[Words] | None = None
    alignments: list[np.ndarray | None] | None = None
    gold: list[Chunks | None] | None = None
    losses: list[PositionLoss] | None = None
    accuracies: tuple[Accuracy, Accuracy] | None = None
    too_long: int = field(default=0)
    tags: list[Tags | None] | None = None
    gold_tags: list[Tags | None] | None = None

    def __len__(self) -> int:
        return len(self.chunks)

    def scored(self) -> list[int]:
        """The sentences that have a reference, and are not too long for the model."""
        both = enumerate(zip(self.chunks, self.gold or []))
        return [
            index
            for index, (found, gold) in both
            if gold is not None and (found is not None or self.tags is not None)
        ]

    def without_chunks(self) -> list[int]:
        """The sentences without chunks in the file, whose gold chunks count as not found."""
        return [index for index in self.scored() if self.chunks[index] is None]

    def found(self, index: int) -> Chunks:
        """The chunks of a sentence that is scored: words outside where there are none."""
        words = range(_length((self.gold or [])[index]))
        return self.chunks[index] or tuple(Chunk(OUTSIDE, word, word + 1) for word in words)


@dataclass(frozen=True)
class GoldChunks:
    """A file of reference chunks.

    Attributes:
        path: tags, one sentence per line, or CoNLL columns; empty lines for no annotation.
        strict: refuses tags that are not IOB2.
    """

    path: str
    strict: bool = False

    def read_into(self, corpus: ChunkedCorpus, lengths: Sequence[int | None]) -> None:
        """Makes them a corpus's reference.

        Args:
            lengths: words of each sentence, to compare with; None = not known.

        Raises:
            UserError: the file is damaged, or of another text.
        """
        file = read_chunk_file(self.path, self.strict)
        check_parallel(self.path, len(file.chunks), corpus.name, len(corpus), "sentences")
        file.check_words(lengths, corpus.name)
        if not any(file.chunks):
            raise UserError(
                f"{self.path}: no sentence is annotated, there is nothing to compare with"
            )
        corpus.gold, corpus.gold_tags = file.chunks, file.tags


def corpus_of_file(
    path: str, target: str | None = None, score: GoldChunks | None = None, strict: bool = False
) -> ChunkedCorpus:
    """The chunks of a file.

    Args:
        target: the words; None = the file has them, or they are not known.
        score: the reference; None = the file's own column, if it has one.
        strict: refuses tags that are not IOB2.

    Raises:
        UserError: a file is damaged, or the files are not parallel.
    """
    file = read_chunk_file(path, strict)
    corpus = ChunkedCorpus(path, file.chunks, words=file.words, tags=file.tags)
    if not len(corpus):
        raise UserError(f"{corpus.name}: is empty: give a sentence a line, or a word a line")
    if target is not None:
        corpus.words = [tuple(line.split()) for line in read_lines(target)]
        check_parallel(target, len(corpus.words), corpus.name, len(corpus))
        file.check_words([len(words) for words in corpus.words], target)
    if score is not None:
        score.read_into(corpus, [_length(chunks) or None for chunks in corpus.chunks])
    elif file.reference is not None:
        corpus.gold, corpus.gold_tags = file.reference.chunks, file.reference.tags
    if corpus.gold is not None:
        corpus.accuracies = word_accuracies(corpus)
    return corpus


def word_accuracies(corpus: ChunkedCorpus) -> tuple[Accuracy, Accuracy]:
    """The accuracies of boundaries and of tags by words, where there is no model to force.

    Boundaries are counted at every word but the first; the tag of a gold chunk is right if the
    chunk that has its first word is of its type.
    """
    boundaries = boundaries_right = tags = tags_right = 0
    for index in corpus.scored():
        found, gold = corpus.found(index), (corpus.gold or [])[index] or ()
        starts = [
            {start for chunk in chunks for start in _starts(chunk)} for chunks in (found, gold)
        ]
        types = [chunk.tag for chunk in found for _ in range(chunk.start, chunk.end)]
        boundaries += len(types) - 1
        boundaries_right += sum(
            (word in starts[0]) == (word in starts[1]) for word in range(1, len(types))
        )
        tags += len(gold)
        tags_right += sum(types[chunk.start] == chunk.tag for chunk in gold)
    return Accuracy(boundaries_right, boundaries), Accuracy(tags_right, tags)


def _starts(chunk: Chunk) -> range:
    """Words that begin a chunk: every word outside is a separate chunk."""
    return range(chunk.start, chunk.end if chunk.tag == OUTSIDE else chunk.start + 1)


def _length(chunks: Chunks | None) -> int:
    return chunks[-1].end if chunks else 0
