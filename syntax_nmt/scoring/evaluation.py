"""Scores and comparisons of translations: what `syntax-nmt score` and `compare` print.

Findings hold the figures, as objects that JSON knows, and their tables.
"""

from __future__ import annotations

from syntax_nmt.errors import UserError
from syntax_nmt.reporting.findings import Findings
from syntax_nmt.scoring.translations.comparison import (
    SignificanceTests,
    comparison_figures,
    comparison_findings,
)
from syntax_nmt.scoring.translations.lengths import LengthBins, LengthLimit
from syntax_nmt.scoring.translations.metrics import MetricSet
from syntax_nmt.scoring.translations.score_report import Confidence, score_figures, score_findings
from syntax_nmt.scoring.translations.test_set import TestSet
from syntax_nmt.scoring.words.settings import WordSettings
from syntax_nmt.scoring.words.word_figures import compare_words, score_words
from syntax_nmt.scoring.words.word_tables import comparison_tables, score_tables, word_notes


def score(
    test_set: TestSet,
    metrics: MetricSet | None = None,
    *,
    bins: LengthBins = LengthBins(),
    confidence: Confidence | None = None,
    words: WordSettings | None = None,
    digits: int = 1,
) -> Findings:
    """The scores of each system, also by length if the source is known.

    Args:
        metrics: None = BLEU, chrF, TER and RIBES with sacrebleu's settings.
        bins: groups of lengths.
        confidence: None = no intervals.
        words: what to count of words by bucket; None = nothing.
        digits: after the point, in tables.

    Raises:
        UserError: files of `words` are damaged or of another text.
    """
    metrics = metrics or MetricSet()
    # First, as its files may not fit.
    of_words = None if words is None else score_words(test_set, words, confidence)
    statistics = metrics.statistics(test_set.systems, test_set.references)
    figures = score_figures(metrics, test_set, statistics, bins, confidence)
    if of_words is None:
        return score_findings(figures, digits)
    findings = score_findings(figures | {"words_by": of_words}, digits)
    return findings.with_tables(score_tables(of_words, digits), word_notes(of_words))


def compare(
    test_set: TestSet,
    metrics: MetricSet | None = None,
    tests: SignificanceTests = SignificanceTests(),
    *,
    cut: LengthLimit | None = None,
    words: WordSettings | None = None,
    digits: int = 1,
) -> Findings:
    """The differences of systems from the first one, and their tests.

    Args:
        test_set: the first system is the baseline.
        metrics: None = BLEU, chrF, TER and RIBES with sacrebleu's settings.
        cut: cuts translations to this length before they are scored.
        words: what to count of words by bucket; None = nothing.
        digits: after the point, in tables.

    Raises:
        UserError: fewer than two systems; `cut` has no source, or a metric is of translations that
            are not cut; files of `words` are damaged or of another text.
    """
    if len(test_set.systems) < 2:
        count = "one" if test_set.systems else "no"
        raise UserError(f"{count} system: give the baseline first, then those to compare with it")
    metrics = metrics or MetricSet()
    longer = None
    if cut is not None:
        if metrics.given is not None:
            raise UserError(
                "cut: the sentence scores are of translations that are not cut: leave one out"
            )
        if test_set.source is None:
            raise UserError("cut: no lengths are known: give the source text")
        longer, test_set = cut.figures(test_set), cut.cut_test_set(test_set)
    # First, as its files may not fit.
    of_words = None if words is None else compare_words(test_set, words, tests)
    statistics = metrics.statistics(test_set.systems, test_set.references)
    figures = comparison_figures(metrics, test_set, statistics, tests)
    if longer is not None:
        figures["cut"] = longer
    if of_words is None:
        return comparison_findings(figures, digits)
    findings = comparison_findings(figures | {"words_by": of_words}, digits)
    return findings.with_tables(comparison_tables(of_words, digits), word_notes(of_words))
