"""A corpus with its chunks, and their reference: out of a model, or out of a file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from tqdm import tqdm

from syntax_nmt.data.chunks import OUTSIDE, Chunk
from syntax_nmt.data.projection import project_chunks
from syntax_nmt.data.subwords import detect_scheme, join_pieces
from syntax_nmt.data.text_files import NEWLINE_ONLY, read_lines
from syntax_nmt.errors import UserError, errors_of
from syntax_nmt.evaluation.alignment.aligned_corpus import parallel_text
from syntax_nmt.evaluation.base.accuracy import Accuracy
from syntax_nmt.evaluation.base.options import check_parallel, chosen_scheme
from syntax_nmt.evaluation.chunking.chunk_file import Tags, read_chunk_file
from syntax_nmt.evaluation.chunking.position_loss import PositionLoss, nll_by_position
from syntax_nmt.evaluation.extraction.attention_alignment import WordCounts
from syntax_nmt.evaluation.extraction.chunk_prediction import ChunkPredictor
from syntax_nmt.evaluation.trained_model.forced_arguments import forced_model
from syntax_nmt.evaluation.trained_model.forced_decoding import TokenPair

Words = tuple[str, ...]
Chunks = tuple[Chunk, ...]


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
        losses: of the pieces by their place in a chunk, those of the reference if there is one,
            otherwise the model's own; None = there is no model.
        accuracies: of boundaries and of tags; None = nothing to compare with.
        too_long: sentences too long for the model.
        tags: as a file has them; None = the chunks are a model's.
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
        """The sentences that have both chunks and a reference."""
        both = enumerate(zip(self.chunks, self.gold or []))
        return [index for index, (found, gold) in both if found is not None and gold is not None]


def corpus_of_file(args: argparse.Namespace) -> ChunkedCorpus:
    """The chunks of `--hypothesis`, with the words of `--target`.

    Raises:
        UserError: a file is damaged, or the files are not parallel.
    """
    file = read_chunk_file(args.hypothesis, args.strict)
    corpus = ChunkedCorpus(args.hypothesis, file.chunks, words=file.words, tags=file.tags)
    if not len(corpus):
        raise UserError(f"{corpus.name}: is empty: give a sentence a line, or a word a line")
    if args.target:
        corpus.words = [tuple(line.split()) for line in read_lines(args.target, NEWLINE_ONLY)]
        check_parallel(args.target, len(corpus.words), corpus.name, len(corpus))
        lengths = [len(words) for words in corpus.words]
        _check_words(corpus.chunks, lengths, args.hypothesis, args.target)
    if args.score:
        _read_gold(args, corpus, [_length(chunks) or None for chunks in corpus.chunks])
    elif file.reference is not None:
        corpus.gold, corpus.gold_tags = file.reference.chunks, file.reference.tags
    if corpus.gold is not None:
        corpus.accuracies = word_accuracies(corpus)
    return corpus


def corpus_of_model(args: argparse.Namespace) -> ChunkedCorpus:
    """The chunks that `--path` sees in `--target`, a translation of `--source`.

    Raises:
        UserError: the model or a file cannot be used, or they do not belong together.
    """
    decoder, source, target = forced_model(args, args.path)
    with errors_of(args.path):
        predictor = ChunkPredictor(decoder, args.max_tokens, args.batch_size)
    pairs = parallel_text(args.source, args.target, source, target)
    scheme = chosen_scheme(args)
    counts = WordCounts.of(pairs, scheme, (args.source, args.target))
    corpus = ChunkedCorpus(
        args.target,
        [None] * len(pairs),
        words=words_of_pieces([pair.target for pair in pairs], counts.targets, scheme),
        sources=words_of_pieces([pair.source for pair in pairs], counts.sources, scheme),
        alignments=[None] * len(pairs) if args.alignments else None,
    )
    # Before the model runs, as it can fail.
    _read_gold(args, corpus, [len(targets) for targets in counts.targets])
    found = _predict(predictor, pairs, counts, corpus)
    of_pieces = {index: tags for index, (tags, _) in found.items()}
    if corpus.gold is not None:
        of_pieces = _gold_pieces(corpus, counts, predictor.names)
        corpus.accuracies = predictor.accuracies(pairs, of_pieces)
    corpus.losses = nll_by_position((tags, found[index][1]) for index, tags in of_pieces.items())
    return corpus


def word_accuracies(corpus: ChunkedCorpus) -> tuple[Accuracy, Accuracy]:
    """The accuracies of boundaries and of tags by words, where there is no model to force.

    Boundaries are counted at every word but the first; the tag of a gold chunk is right if the
    chunk that has its first word is of its type.
    """
    boundaries = boundaries_right = tags = tags_right = 0
    for index in corpus.scored():
        found, gold = corpus.chunks[index] or (), (corpus.gold or [])[index] or ()
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
    """Words that open a chunk: every word outside is a chunk of its own."""
    return range(chunk.start, chunk.end if chunk.tag == OUTSIDE else chunk.start + 1)


def _predict(
    predictor: ChunkPredictor, pairs: Sequence[TokenPair], counts: WordCounts, corpus: ChunkedCorpus
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Fills in what the model says; gives tags and losses of the pieces of each sentence."""
    found = tqdm(
        predictor.choices(pairs), total=len(pairs), unit="sentence", leave=False, disable=None
    )
    of_pieces = {}
    for index, pieces in found:
        sources, targets = counts.sources[index], counts.targets[index]
        chunks = pieces.of_words(targets, predictor.names)
        corpus.chunks[index] = chunks
        if corpus.alignments is not None:
            corpus.alignments[index] = pieces.alignment(chunks, sources, targets)
        of_pieces[index] = pieces.tags, pieces.nll
    corpus.too_long = len(pairs) - len(of_pieces)
    return of_pieces


def _gold_pieces(
    corpus: ChunkedCorpus, counts: WordCounts, names: Sequence[str]
) -> dict[int, np.ndarray]:
    """The reference as the model has it, by sentence; unknown types have an id of their own."""
    ids = {name: number for number, name in enumerate(names, start=1)}
    unknown = len(names) + 2  # after the end of the sentence
    gold = corpus.gold or []
    ids.update(
        {chunk.tag: unknown for chunks in gold for chunk in chunks or () if chunk.tag not in ids}
    )
    return {
        index: project_chunks(gold[index] or (), counts.targets[index], ids)
        for index in corpus.scored()
    }


def _read_gold(
    args: argparse.Namespace, corpus: ChunkedCorpus, lengths: Sequence[int | None]
) -> None:
    """Reads `--score` and compares the numbers of words; None = not known."""
    if not args.score:
        return
    file = read_chunk_file(args.score, args.strict)
    gold = file.chunks
    check_parallel(args.score, len(gold), corpus.name, len(corpus), "sentences")
    _check_words(gold, lengths, args.score, corpus.name)
    if not any(gold):
        raise UserError(f"{args.score}: no sentence is annotated, there is nothing to compare with")
    corpus.gold, corpus.gold_tags = gold, file.tags


def _check_words(
    chunks: Sequence[Chunks | None], lengths: Sequence[int | None], path: str, other: str
) -> None:
    for line, (found, length) in enumerate(zip(chunks, lengths), start=1):
        if found is not None and length is not None and _length(found) != length:
            raise UserError(
                f"{path}:{line}: {_length(found)} words, {other} has {length}: give the chunks of "
                "this very text"
            )


def _length(chunks: Chunks | None) -> int:
    return chunks[-1].end if chunks else 0


def words_of_pieces(
    lines: Sequence[Sequence[str]], counts: Sequence[Sequence[int]], scheme: str | None
) -> list[Words]:
    """The words of segmented lines.

    Args:
        lines: the pieces of each.
        counts: of each, the number of pieces of its words.
        scheme: one of `subwords.SCHEMES`; None = told from the text.
    """
    scheme = scheme or detect_scheme(" ".join(line) for line in lines)
    return [tuple(join_pieces(line, each, scheme)) for line, each in zip(lines, counts)]
