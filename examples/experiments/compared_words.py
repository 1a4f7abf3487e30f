"""Words by bucket in a table: which words gain, in each of its comparisons."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from experiments.table_results import ComparedPair
from syntax_nmt.scoring.translations.evaluation_set import TestSet
from syntax_nmt.scoring.translations.paired_tests import RANDOMISATION, SEEDS, SignificanceTests
from syntax_nmt.scoring.translations.resampling import RESAMPLES, SEED, TRIALS
from syntax_nmt.scoring.words.bucket_scores import compare_words
from syntax_nmt.scoring.words.settings import WordSettings

SIGNIFICANCE = SignificanceTests((RANDOMISATION, SEEDS), RESAMPLES, TRIALS, SEED)


def add_words(
    pairs: Sequence[ComparedPair],
    test_set: TestSet,
    labels: Mapping[str, str],
    kinds: Sequence[str],
    tokenize: str,
    training: Path,
) -> None:
    """Adds `words_by` to comparisons: what `syntax-nmt compare --words-by` finds.

    Args:
        test_set: the translations of all systems.
        labels: what tables call the systems.
        kinds: of buckets, by the form of a word.
        training: the target side of the training text.
    """
    settings = WordSettings(kinds, tokenize=tokenize, training_text=str(training))
    systems = {
        system.name: replace(system, name=labels[system.name]) for system in test_set.systems
    }
    for pair in pairs:
        both = systems[pair.against], systems[pair.system]
        pair.words_by = compare_words(replace(test_set, systems=both), settings, SIGNIFICANCE)
