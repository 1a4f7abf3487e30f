"""Dependency trees from the parent heads of a trained model, of its source or of its target."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from fairseq.models import BaseFairseqModel
from fairseq.tasks import FairseqTask

from syntax_nmt.backbone.structures import (
    ARC_LABELS,
    DEPENDENCIES,
    PARENTS,
    TARGET_ARC_LABELS,
    TARGET_DEPENDENCIES,
    TARGET_PARENTS,
)
from syntax_nmt.data.conllu import is_root
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.data.projection import first_pieces
from syntax_nmt.errors import UserError
from syntax_nmt.inference.extraction.model_answers import (
    EncoderAnswers,
    ForcedAnswers,
    answers_of_corpus,
    structures_of,
)
from syntax_nmt.inference.settings import BatchLimits, CorpusText, ModelFiles
from syntax_nmt.inference.source_text import SourceSentence, SourceText
from syntax_nmt.methods import how_to_get
from syntax_nmt.scoring.dependencies.parsed_corpus import (
    ParsedCorpus,
    ParsedSentence,
    SentenceFilter,
)
from syntax_nmt.scoring.dependencies.reference import over_corpus_words
from syntax_nmt.scoring.parallel_text import read_parallel_trees
from syntax_nmt.task.source_parser import SourceParser
from syntax_nmt.text.languages import SOURCE


def parent_head(
    model: BaseFairseqModel, text: SourceText, parser: SourceParser | None = None
) -> EncoderAnswers:
    """Gets the log-probabilities of the parent head, `[dependent, head]` of the pieces.

    Args:
        model: in evaluation mode.

    Raises:
        UserError: the model has no supervised heads, or it reads parses, and there is no parser.
    """
    encoder: Any = getattr(model, "encoder", None)
    if DEPENDENCIES not in getattr(encoder, "structures", ()):
        raise UserError(
            "the model has no supervised attention heads; train one with "
            f"{how_to_get(DEPENDENCIES)}"
        )

    def read(out: Any) -> np.ndarray:
        extra = encoder.extra(out)
        return _with_labels(extra[PARENTS].cpu().numpy(), extra.get(ARC_LABELS))

    labels = encoder.arc_labels
    return EncoderAnswers(model, text, read, parser, labels, return_all_hiddens=True)


def target_parent_head(
    model: BaseFairseqModel,
    task: FairseqTask,
    source: SourceText,
    target: SourceText,
    parser: SourceParser | None = None,
) -> ForcedAnswers:
    """Gets those of the decoder's parent head by forced decoding; −inf where a head comes later.

    Args:
        model: in evaluation mode.
        target: the translations, whose log-probabilities are requested.

    Raises:
        UserError: the model has no supervised head of the target, or it reads parses, and there is
            no parser.
    """
    if TARGET_DEPENDENCIES not in getattr(getattr(model, "decoder", None), "structures", ()):
        raise UserError(
            "the model has no supervised attention head of the target; train one with "
            f"{how_to_get(TARGET_DEPENDENCIES)}"
        )

    def read(extra: Any, row: int, words: int) -> np.ndarray:
        scores = extra[TARGET_PARENTS][row : row + 1, :words, :words].cpu().numpy()
        return _with_labels(scores, extra.get(TARGET_ARC_LABELS), row)[0]

    labels = model.decoder.arc_labels
    return ForcedAnswers(model, task, source, target, read, parser, labels, return_all_hiddens=True)


_SCORE, _LABEL = "score", "label"


def _with_labels(scores: np.ndarray, labels: Any, first: int = 0) -> np.ndarray:
    """Scores, B×S×S, and the best label of each pair beside its score, if there are labels.

    Args:
        labels: what scores them; None = there are none.
        first: the row of the batch with which the scores begin.
    """
    if labels is None:
        return scores
    found = np.zeros(scores.shape, dtype=[(_SCORE, scores.dtype), (_LABEL, np.int32)])
    found[_SCORE] = scores
    for row in range(len(scores)):  # all pairs and labels of a batch would take much memory
        found[_LABEL][row] = labels.best(first + row, scores.shape[-1]).cpu().numpy()
    return found


def parsed(
    sentence: SourceSentence, scores: np.ndarray | None, relations: Sequence[str] = ()
) -> ParsedSentence:
    """The best tree, and the heads of largest weight, under scores between pieces.

    A word is represented by its first piece.

    Args:
        scores: `[dependent, head]`, the diagonal that of being the root, perhaps with labels
            beside; None = no parse.
        relations: names of the labels, by their numbers.
    """
    if scores is None:
        return ParsedSentence(sentence.words, None)
    first = first_pieces(np.asarray(sentence.counts, dtype=np.int32))
    scores = scores[np.ix_(first, first)]
    labels = None
    if scores.dtype.names is not None:
        scores, labels = scores[_SCORE], scores[_LABEL]
    heads = maximum_arborescence(scores), scores.argmax(axis=1).tolist()
    trees = (_tree_of(sentence.words, each, labels, relations) for each in heads)
    return ParsedSentence(sentence.words, *trees)


def _tree_of(
    words: tuple[str, ...],
    heads: Sequence[int],
    labels: np.ndarray | None,
    relations: Sequence[str],
) -> DependencyTree:
    """Heads as a tree; without labels its relations only mark the root, which is its own head."""
    root = next(filter(is_root, relations), "root")
    named = tuple(
        root if head == word else "dep" if labels is None else relations[labels[word, head]]
        for word, head in enumerate(heads)
    )
    return DependencyTree(words, tuple(heads), named, ("_",) * len(words))


def corpus_of_model(
    files: ModelFiles,
    wanted: CorpusText,
    limits: BatchLimits,
    conllu: str | None = None,
    selection: SentenceFilter = SentenceFilter(),
    side: str = SOURCE,
) -> ParsedCorpus:
    """The parses of a trained model; its text is first checked against the reference.

    Args:
        conllu: the reference; None = there is none.
        selection: which sentences are scored.
        side: `source` or `target`.

    Raises:
        UserError: the model has no supervised heads, or files do not belong together.
    """
    head, text = answers_of_corpus(files, wanted, side, parent_head, target_parent_head)
    unknown = [bool((tokens == text.dictionary.unk()).any()) for tokens in text.tokens]
    completed: list[tuple[str, ...] | None] = [None] * len(text)
    reference: list[DependencyTree | None] | None = None
    carried_over = 0
    if conllu is not None:
        reference = read_parallel_trees(conllu, text.name, len(text))
        for index, gold in enumerate(reference):
            if gold is not None:
                sentence, where = text[index], f"{conllu}:{gold.line}"
                completed[index], reference[index] = over_corpus_words(
                    sentence.words, gold, where, sentence.name, text.unknown
                )
                lengths = len(gold), gold.num_surface_tokens
                carried_over += len(sentence.words) not in lengths
    parse = partial(
        structures_of, head, text, partial(parsed, relations=head.labels), *limits, completed
    )
    return ParsedCorpus(
        len(text), parse, reference, selection, unknown, carried_over=carried_over,
        unknown_tokens=text.unsure(completed), labelled=bool(head.labels),
        subtypes=any(":" in label for label in head.labels),
    )  # fmt: skip


def maximum_arborescence(scores: np.ndarray) -> list[int]:
    """The 0-based head of each word in the tree with one root whose arcs' scores add up to most.

    The algorithm is Stanza's (Stanojević and Cohen, 2021, for the single root). Adding a number to
    a whole row changes nothing, so rows need not be normalised.

    Args:
        scores: n×n, `scores[dependent, head]`; the diagonal is the score of being the root. −inf
            forbids an arc as long as there is a tree without it.

    Returns:
        n heads; the root's is its own index.

    Raises:
        ValueError: a score is NaN or +inf.
    """
    scores = np.asarray(scores, dtype=np.float64)
    words = len(scores)
    if np.isnan(scores).any() or np.isposinf(scores).any():
        raise ValueError("scores must not be NaN or +inf")
    finite = _finite_and_negative(scores)
    rooted = np.zeros((words + 1, words + 1))  # Stanza: node 0 is an artificial root
    rooted[1:, 1:] = finite
    rooted[1:, 0] = np.diagonal(finite)
    # Its penalty against a second root is a multiple of the lowest score.
    np.fill_diagonal(rooted, finite.max())
    rooted[0] = finite.max()
    # Imported here, because it imports all of Stanza, which slows down other commands.
    from stanza.models.common.chuliu_edmonds import chuliu_edmonds_one_root

    heads = chuliu_edmonds_one_root(rooted)[1:] - 1
    return [int(head) if head >= 0 else word for word, head in enumerate(heads)]


def _finite_and_negative(scores: np.ndarray) -> np.ndarray:
    """The scores below zero, as the penalty against a second root needs them, and −inf bounded."""
    finite = np.isfinite(scores)
    if not finite.any():
        return np.full_like(scores, -1.0)
    shifted = np.where(finite, scores - scores[finite].max(), 0.0)
    forbidden = (shifted.min() - 1.0) * (len(scores) + 1)  # worse than any tree of allowed arcs
    return np.where(finite, shifted, forbidden) - 1.0
