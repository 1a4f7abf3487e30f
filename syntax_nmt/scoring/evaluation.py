"""Scores and comparisons of translations: what `syntax-nmt score` and `compare` print."""

from __future__ import annotations

from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.accuracy import AccuracyFigures
from syntax_nmt.scoring.comparison import Comparison, corpus_comparison
from syntax_nmt.scoring.groups import compare_groups
from syntax_nmt.scoring.parallel_text import read_parallel_trees
from syntax_nmt.scoring.scores import Scores, corpus_scores
from syntax_nmt.scoring.sentence_groups import GroupSettings, sentence_groups
from syntax_nmt.scoring.translations.evaluation_set import TestSet
from syntax_nmt.scoring.translations.lengths import USUAL, LengthBins, LengthLimit
from syntax_nmt.scoring.translations.metrics import MetricSet
from syntax_nmt.scoring.translations.output_formats import parse_factors
from syntax_nmt.scoring.translations.paired_tests import SignificanceTests, refuse_unpaired_blocks
from syntax_nmt.scoring.translations.resampling import Confidence
from syntax_nmt.scoring.words.bucket_scores import compare_words, score_words
from syntax_nmt.scoring.words.matches import factor_accuracies
from syntax_nmt.scoring.words.settings import WordSettings


def score(
    test_set: TestSet,
    metrics: MetricSet | None = None,
    *,
    bins: LengthBins = LengthBins(),
    confidence: Confidence | None = None,
    words: WordSettings | None = None,
    factors: str | None = None,
) -> Scores:
    """The scores of each system, also by length if the source is known.

    Args:
        metrics: None = BLEU, chrF, TER and RIBES with sacrebleu's settings.
        bins: groups of lengths.
        confidence: None = no intervals.
        words: what to count of words by bucket; None = nothing.
        factors: trees of the reference, CoNLL-U, with which target factors are compared; None =
            they are not.

    Raises:
        UserError: files of `words` or `factors` are damaged or of another text.
    """
    metrics = metrics or MetricSet()
    # First, as its files may not fit.
    of_words = None if words is None else score_words(test_set, words, confidence)
    of_factors = None if factors is None else _factors(test_set, factors)
    statistics = metrics.statistics(test_set.systems, test_set.references)
    found = corpus_scores(metrics, test_set, statistics, bins, confidence)
    found.words_by = of_words
    found.factors = of_factors
    return found


def _factors(test_set: TestSet, conllu: str) -> dict[str, dict[str, AccuracyFigures]]:
    """By system and factor, the accuracy over all its runs."""
    trees = read_parallel_trees(conllu, test_set.references[0].name, test_set.sentences)
    found = {}
    for system in test_set.systems:
        factors = [
            each
            for file in system.files
            for each in parse_factors([*read_lines(file)], file, test_set.sentences)
        ]
        counted = factor_accuracies(trees * len(system.files), factors)
        found[system.name] = {
            name: AccuracyFigures.of(accuracy) for name, accuracy in counted.items()
        }
    return found


def compare(
    test_set: TestSet,
    metrics: MetricSet | None = None,
    tests: SignificanceTests = SignificanceTests(),
    *,
    cut: LengthLimit | None = None,
    words: WordSettings | None = None,
    groups: GroupSettings | None = None,
) -> Comparison:
    """The differences of systems from the first one, and their tests.

    Args:
        test_set: the first system is the baseline.
        metrics: None = BLEU, chrF, TER and RIBES with sacrebleu's settings.
        cut: cuts translations to this length before they are scored.
        words: what to count of words by bucket; None = nothing.
        groups: how to group sentences; None = not at all.

    Raises:
        UserError: fewer than two systems, or blocks of unequal runs; `cut` has no source in words,
            or something is of translations that are not cut; files of `words` or `groups` are
            damaged or of another text.
    """
    if len(test_set.systems) < 2:
        count = "one" if test_set.systems else "no"
        raise UserError(f"{count} system: give the baseline first, then those to compare with it")
    refuse_unpaired_blocks(tests, test_set.systems)
    metrics = metrics or MetricSet()
    longer = (cut or USUAL).exceeded(test_set)
    if cut is not None:
        _refuse_to_cut(test_set, metrics, words)
        test_set = cut.cut_test_set(test_set)
    # First, as its files may not fit.
    of_words = None if words is None else compare_words(test_set, words, tests)
    of_kinds = [] if groups is None else sentence_groups(groups, test_set)
    statistics = metrics.statistics(test_set.systems, test_set.references)
    found = corpus_comparison(metrics, test_set, statistics, tests)
    found.words_by = of_words
    if groups is not None:
        found.metrics = metrics.descriptions(**tests.signature(of_groups=True))
        found.groups = [
            table
            for kind in of_kinds
            for table in compare_groups(
                metrics, test_set, statistics, tests, kind, groups.least_sentences
            )
        ]
    if cut is not None:
        found.cut = longer
    elif longer is not None and longer.total:
        found.longer = longer
    return found


def _refuse_to_cut(test_set: TestSet, metrics: MetricSet, words: WordSettings | None) -> None:
    """Refuses what is of translations that are not cut, and texts without lengths."""
    if metrics.given or (words is not None and words.hypothesis_conllu):
        raise UserError(
            "cut: sentence scores, word links and parses (hypothesis_conllu) are of translations "
            "that are not cut: leave one out"
        )
    if test_set.source is None:
        raise UserError("cut: no lengths are known: give the source text")
    if test_set.without_spaces is not None:
        raise UserError(
            f"cut: {test_set.without_spaces} has no spaces between words, so that its words "
            "cannot be counted: give it in words, or leave cut out"
        )
