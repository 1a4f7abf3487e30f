"""Scoring of translations, word alignments, trees, chunks and contrastive pairs; tests of systems.

From Python: `from syntax_nmt.scoring import TestSet, compare`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syntax_nmt.scoring.comparison import Comparison
    from syntax_nmt.scoring.evaluation import compare, score
    from syntax_nmt.scoring.scores import Scores
    from syntax_nmt.scoring.sentence_groups import GroupSettings
    from syntax_nmt.scoring.translations.evaluation_set import TestSet
    from syntax_nmt.scoring.translations.lengths import LengthBins, LengthLimit
    from syntax_nmt.scoring.translations.metrics import MetricSet, MetricSettings
    from syntax_nmt.scoring.translations.paired_tests import SignificanceTests
    from syntax_nmt.scoring.translations.resampling import Confidence
    from syntax_nmt.scoring.translations.sentence_scores import SentenceScores
    from syntax_nmt.scoring.words.settings import WordSettings

# Loaded on first use: sacrebleu would slow down commands that do not need it.
_MODULES = {
    "compare": "evaluation",
    "score": "evaluation",
    "Comparison": "comparison",
    "GroupSettings": "sentence_groups",
    "Confidence": "translations.resampling",
    "LengthBins": "translations.lengths",
    "LengthLimit": "translations.lengths",
    "MetricSet": "translations.metrics",
    "MetricSettings": "translations.metrics",
    "Scores": "scores",
    "SentenceScores": "translations.sentence_scores",
    "SignificanceTests": "translations.paired_tests",
    "TestSet": "translations.evaluation_set",
    "WordSettings": "words.settings",
}
__all__ = [
    "Comparison",
    "Confidence",
    "GroupSettings",
    "LengthBins",
    "LengthLimit",
    "MetricSet",
    "MetricSettings",
    "Scores",
    "SentenceScores",
    "SignificanceTests",
    "TestSet",
    "WordSettings",
    "compare",
    "score",
]


def __getattr__(name: str) -> Any:
    """Loads a part of the Python interface.

    Args:
        name: of an attribute of this module.
    """
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
