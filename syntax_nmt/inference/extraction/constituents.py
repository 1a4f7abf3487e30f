"""Constituency trees that a model with latent phrases induces without supervision.

They are binary trees of syntactic distances: split at the largest gap, then each part again.
"""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from syntax_nmt.data.constituents import (
    UNNAMED_CONSTITUENT,
    UNNAMED_WORD,
    Constituent,
    ConstituentTree,
)
from syntax_nmt.data.projection import first_pieces
from syntax_nmt.inference.extraction.model_answers import answers_of_corpus, structures_of
from syntax_nmt.inference.extraction.model_distances import decoder_distances, encoder_distances
from syntax_nmt.inference.settings import BatchLimits, CorpusText, ModelFiles
from syntax_nmt.inference.source_text import SourceSentence
from syntax_nmt.scoring.constituents.bracketing import Span
from syntax_nmt.scoring.constituents.constituent_corpus import (
    BracketedCorpus,
    BracketedSentence,
    GoldFile,
)
from syntax_nmt.text.languages import SOURCE


def spans_of_gaps(gaps: Sequence[float]) -> list[Span]:
    """The brackets of the binary tree of distances.

    A sentence is split at its largest gap, the leftmost of equals, and so are its parts. Hence a
    gap splits the span between the next gap on its left that is at least as large and the next one
    on its right that is larger. This takes time linear in the number of words.

    Args:
        gaps: the distance before each word but the first.

    Returns:
        one span a gap, in the order of the gaps.
    """
    starts, ends = [0] * len(gaps), [len(gaps) + 1] * len(gaps)
    larger: list[int] = []  # gaps that may bound later ones, from left to right
    for gap, distance in enumerate(gaps):
        while larger and gaps[larger[-1]] < distance:
            ends[larger.pop()] = gap + 1
        starts[gap] = larger[-1] + 1 if larger else 0
        larger.append(gap)
    return list(zip(starts, ends))


def tree_of_spans(words: Sequence[str], spans: Iterable[Span]) -> ConstituentTree:
    """A tree with a bracket around the sentence, one for each span, and the words.

    Args:
        words: of the sentence, one or more.
        spans: within the sentence; no two of them cross.
    """
    inner = sorted({*spans, (0, len(words))}, key=lambda span: (span[0], -span[1]))
    nodes: list[Constituent] = []
    open_ends: list[int] = []
    following = 0
    for word in range(len(words)):
        while open_ends and open_ends[-1] <= word:
            open_ends.pop()
        while following < len(inner) and inner[following][0] == word:
            end = inner[following][1]
            nodes.append(Constituent(UNNAMED_CONSTITUENT, word, end, len(open_ends), leaf=False))
            open_ends.append(end)
            following += 1
        nodes.append(Constituent(UNNAMED_WORD, word, word + 1, len(open_ends), leaf=True))
    return ConstituentTree(tuple(words), tuple(nodes))


def bracketed(sentence: SourceSentence, distances: np.ndarray | None) -> BracketedSentence:
    """The tree of a sentence.

    Args:
        distances: of the gap before each piece; None = there is no tree.
    """
    if distances is None:
        return BracketedSentence(None)
    spans = spans_of_gaps(word_gaps(distances, sentence))
    return BracketedSentence(tree_of_spans(sentence.words, spans))


def word_gaps(distances: np.ndarray, sentence: SourceSentence) -> list[float]:
    """The distance before each word but the first: the one before its first piece.

    Args:
        distances: of the gap before each piece.
        sentence: tells the pieces of each word.
    """
    first = first_pieces(np.asarray(sentence.counts, dtype=np.int32))
    return distances[first][1:].tolist()


def corpus_of_model(
    files: ModelFiles,
    wanted: CorpusText,
    limits: BatchLimits,
    side: str = SOURCE,
    layer: int = 0,
    gold: GoldFile | None = None,
) -> BracketedCorpus:
    """The trees that a trained model induces; its text is first checked against the gold trees.

    Args:
        side: trees of the source, or of translations by forced decoding.
        layer: of the distances, counted from 0, the lowest.
        gold: the gold trees; None = there are none.

    Raises:
        UserError: the model has no syntactic distances, or files do not belong together.
    """
    of_source = partial(encoder_distances, layer=layer)
    of_target = partial(decoder_distances, layer=layer)
    distances, text = answers_of_corpus(files, wanted, side, of_source, of_target)
    lines = ((sentence.words, sentence.name) for sentence in text)
    brackets, known = None, None
    settled: Sequence[object | None] = [None] * len(text)
    if gold is not None:
        brackets = gold.read(lines, len(text), text.name, text.unknown)
        settled, known = brackets.sentences, brackets.words
    trees = partial(structures_of, distances, text, bracketed, *limits, known)
    return BracketedCorpus(len(text), trees, brackets, unknown_tokens=text.unsure(settled))
