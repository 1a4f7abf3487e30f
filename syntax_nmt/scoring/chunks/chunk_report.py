"""The output of `syntax-nmt chunks`: chunks as text, alignments, and figures."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from syntax_nmt.data.chunks import OUTSIDE, Chunk, iob2_tags
from syntax_nmt.reporting.findings import Findings, Table, cell, number
from syntax_nmt.scoring.chunks.chunk_f1 import ChunkScores, chunk_f1
from syntax_nmt.scoring.chunks.chunked_corpus import ChunkedCorpus

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


def attention_lines(corpus: ChunkedCorpus) -> Iterator[str]:
    """One JSON object a sentence: source words, chunks, and the matrix of their attention."""
    rows = zip(corpus.chunks, corpus.words or [], corpus.sources or [], corpus.alignments or [])
    for chunks, words, source, matrix in rows:
        sentence = {
            "source": source,
            "chunks": [
                {"tag": chunk.tag, "words": words[chunk.start : chunk.end]}
                for chunk in chunks or ()
            ],
            "attention": [] if matrix is None else matrix.round(4).tolist(),
        }
        yield json.dumps(sentence, ensure_ascii=False) + "\n"


def chunk_findings(corpus: ChunkedCorpus) -> Findings:
    """Accuracies, F1 by type, and exclusions.

    `nll_by_position` is in nats a piece, under the model's own boundaries.
    """
    scored, without = len(corpus.scored()), len(corpus.without_chunks())
    # Words outside are no chunks.
    chunks = sum(chunk.tag != OUTSIDE for found in corpus.chunks for chunk in found or ())
    heading = f"{len(corpus)} sentences, {chunks} chunks"
    if corpus.gold is not None:
        heading += f"; {scored} compared with the reference"
    figures: dict[str, Any] = {
        "sentences": len(corpus),
        "sentences_too_long": corpus.too_long,
        "sentences_scored": scored,
        "sentences_without_gold": (corpus.gold or []).count(None),
        "sentences_without_chunks": without,
        "chunks": chunks,
        "boundary_accuracy": None,
        "tag_accuracy": None,
        "f1": None,
    }
    if corpus.losses is not None:
        figures["nll_by_position"] = [asdict(loss) for loss in corpus.losses]
    notes = [f"{corpus.too_long} too long for the model left out"] if corpus.too_long else []
    if without:
        notes.append(f"{without} without chunks: those of the reference count as not found")
    scores = _scores(corpus)
    if corpus.accuracies is None or scores is None:
        return Findings(figures, heading=heading, notes=notes)
    rows = []
    for name, accuracy in zip(("boundary", "tag"), corpus.accuracies):
        figures[f"{name}_accuracy"] = number(accuracy.percent)
        figures[f"{name}_correct"] = accuracy.correct
        figures[f"{name}_total"] = accuracy.total
        counts = [str(accuracy.correct), str(accuracy.total)]
        rows.append([f"{name} accuracy", cell(accuracy.percent), *counts])
    figures.update(scores.figures())
    accuracies = Table(["", "%", "correct", "of"], rows)
    return Findings(figures, [accuracies, scores.table()], heading, notes)


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
