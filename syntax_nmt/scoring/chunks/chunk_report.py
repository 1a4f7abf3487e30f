"""The output of `syntax-nmt chunks`: chunks as text, alignments, and figures."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from syntax_nmt.data.chunks import OUTSIDE, Chunk, iob2_tags
from syntax_nmt.data.text_columns import decimal_text
from syntax_nmt.reporting.findings import Findings, Table, number
from syntax_nmt.reporting.result import Result
from syntax_nmt.scoring.chunks.chunk_f1 import ChunkScores, PhraseFigures, TagFigures, chunk_f1
from syntax_nmt.scoring.chunks.chunked_corpus import ChunkedCorpus, PositionLoss

IOB2, BRACKETS = "iob2", "brackets"
CHUNK_FORMATS = (IOB2, BRACKETS)


def bracketed(chunks: Sequence[Chunk], words: Sequence[str]) -> str:
    """`[NP the old garden] [VP grows] .`: words outside every chunk have no brackets.

    Args:
        chunks: of one sentence, covering its words.
    """
    parts = []
    for chunk in chunks:
        text = " ".join(words[chunk.start : chunk.end])
        parts.append(text if chunk.tag == OUTSIDE else f"[{chunk.tag} {text}]")
    return " ".join(parts)


def chunk_lines(corpus: ChunkedCorpus, form: str) -> Iterator[str]:
    """One line a sentence, empty where it has no chunks.

    Args:
        form: `iob2`, or `brackets`, which needs words.
    """
    words = corpus.words or [()] * len(corpus)
    for chunks, text in zip(corpus.chunks, words):
        if not chunks:
            yield "\n"
        elif form == BRACKETS:
            yield f"{bracketed(chunks, text)}\n"
        else:
            yield f"{' '.join(iob2_tags(chunks))}\n"


@dataclass(frozen=True)
class ChunkWords(Result):
    """The words of a chunk, and its type."""

    tag: str
    words: list[str]


@dataclass(frozen=True)
class ChunkAttention(Result):
    """The attention of the chunks of a translation to the words of its source.

    Attributes:
        attention: of each chunk, the weights of the source words.
    """

    source: list[str]
    chunks: list[ChunkWords]
    attention: list[list[float]]


def attention_lines(corpus: ChunkedCorpus) -> Iterator[str]:
    """The JSON object of a :class:`ChunkAttention` a sentence."""
    rows = zip(corpus.chunks, corpus.words or [], corpus.sources or [], corpus.alignments or [])
    for chunks, words, source, matrix in rows:
        sentence = ChunkAttention(
            list(source),
            [ChunkWords(each.tag, list(words[each.start : each.end])) for each in chunks or ()],
            [] if matrix is None else matrix.round(4).tolist(),
        )
        yield json.dumps(sentence.to_json(), ensure_ascii=False) + "\n"


@dataclass
class ChunkFigures(Result):
    """The result of `syntax-nmt chunks`. Without a comparison the last figures are left out.

    Attributes:
        sentences: of the corpus.
        sentences_too_long: for the model.
        sentences_scored: compared with the reference.
        sentences_without_gold: not compared.
        sentences_without_chunks: whose chunks of the reference count as not found.
        chunks: that were found.
        boundary_accuracy: of teacher-forced boundaries, in percent.
        tag_accuracy: of their tags.
        f1: of chunks, as are the figures from `precision` on.
        nll_by_position: in nats a piece, under the model's own boundaries.
        boundary_correct: right boundaries.
        boundary_total: all.
        tag_correct: right tags.
        tag_total: all.
    """

    sentences: int
    sentences_too_long: int
    sentences_scored: int
    sentences_without_gold: int
    sentences_without_chunks: int
    chunks: int
    boundary_accuracy: float | None
    tag_accuracy: float | None
    f1: float | None
    nll_by_position: list[PositionLoss] | None = None
    boundary_correct: int | None = None
    boundary_total: int | None = None
    tag_correct: int | None = None
    tag_total: int | None = None
    precision: float | None = None
    recall: float | None = None
    correct: int | None = None
    predicted: int | None = None
    gold: int | None = None
    tags: TagFigures | None = None
    types: dict[str, PhraseFigures] | None = None


def chunk_report(corpus: ChunkedCorpus) -> tuple[ChunkFigures, Findings]:
    """Accuracies, F1 by type, and exclusions."""
    scored, without = len(corpus.scored()), len(corpus.without_chunks())
    # Words outside are no chunks.
    chunks = sum(chunk.tag != OUTSIDE for found in corpus.chunks for chunk in found or ())
    heading = f"{len(corpus)} sentences, {chunks} chunks"
    if corpus.gold is not None:
        heading += f"; {scored} compared with the reference"
    figures = ChunkFigures(
        len(corpus),
        corpus.too_long,
        scored,
        (corpus.gold or []).count(None),
        without,
        chunks,
        boundary_accuracy=None,
        tag_accuracy=None,
        f1=None,
        nll_by_position=corpus.losses,
    )
    notes = [f"{corpus.too_long} too long for the model left out"] if corpus.too_long else []
    if without:
        notes.append(f"{without} without chunks: those of the reference count as not found")
    scores = _scores(corpus)
    if corpus.accuracies is None or scores is None:
        return figures, Findings(heading=heading, notes=notes)
    boundary, tag = corpus.accuracies
    figures = replace(
        figures,
        boundary_accuracy=number(boundary.percent),
        tag_accuracy=number(tag.percent),
        boundary_correct=boundary.correct,
        boundary_total=boundary.total,
        tag_correct=tag.correct,
        tag_total=tag.total,
        **vars(scores.figures()),
    )
    rows = [
        [f"{name} accuracy", decimal_text(each.percent), str(each.correct), str(each.total)]
        for name, each in (("boundary", boundary), ("tag", tag))
    ]
    accuracies = Table(["", "%", "correct", "of"], rows)
    return figures, Findings([accuracies, scores.table()], heading, notes)


def _scores(corpus: ChunkedCorpus) -> ChunkScores | None:
    """F1 of the chunks; None = nothing to compare."""
    scored = corpus.scored()
    if corpus.gold is None or not scored:
        return None
    if corpus.tags is None or corpus.gold_tags is None:
        return chunk_f1([corpus.gold[index] or () for index in scored], map(corpus.found, scored))
    # Tags in their written form: conlleval counts them.
    return chunk_f1(
        [corpus.gold_tags[index] or () for index in scored],
        [corpus.tags[index] or corpus.found(index) for index in scored],
    )
