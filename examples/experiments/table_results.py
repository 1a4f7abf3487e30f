"""The result of a table: what `table.json` has, and what tables and pictures are made of."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from syntax_nmt.reporting.result import Result
from syntax_nmt.scoring.json_figures import read_result
from syntax_nmt.scoring.scores import CorpusScore, LengthGroup
from syntax_nmt.scoring.translations.metrics import MetricDescription
from syntax_nmt.scoring.translations.significance import SIGNIFICANT, ResampledTest, SeedTest
from syntax_nmt.scoring.words.bucket_tables import BucketTable

TESTS = ("randomisation", "seeds", "blocks")
DECIDING = {"both": ("randomisation", "seeds"), "blocks": ("blocks",)}
GAINS, LOSES, NOT_SHOWN, FEW_SEEDS = "gains", "loses", "not shown", "too few seeds"
NOT_DECLARED = "not declared"
LOSES_LESS, LOSES_MORE = "loses less", "loses more"


@dataclass
class TableResampledTest(ResampledTest):
    """A test over sentences.

    Attributes:
        p_holm: after Holm's adjustment over the comparisons of a claim.
        p_holm_table: over all comparisons of the table on the test set.
    """

    p_holm_table: float | None = None


@dataclass
class TableSeedTest(SeedTest):
    """A test over seeds; `p_holm` and `p_holm_table` as of :class:`TableResampledTest`."""

    p_holm_table: float | None = None


TableTest = TableResampledTest | TableSeedTest


@dataclass
class PairDifference(Result):
    """The difference of two systems in a metric.

    Attributes:
        difference: of the means over runs.
        randomisation: a test over sentences.
        seeds: Welch's test over seeds.
        blocks: a test with seeds as blocks; None in older tables.
    """

    difference: float
    randomisation: TableResampledTest
    seeds: TableSeedTest
    blocks: TableSeedTest | None = None

    def tests(self) -> dict[str, TableTest]:
        """By name, in the order of :data:`TESTS`."""
        made = zip(TESTS, (self.randomisation, self.seeds, self.blocks))
        return {name: test for name, test in made if test is not None}

    def verdict(self, higher_is_better: bool, decided_by: str = "both") -> str:
        """What the deciding tests agree on, after Holm's adjustment over a claim.

        Args:
            decided_by: one of :data:`DECIDING`.
        """
        if self.randomisation.p_holm is None:
            return NOT_DECLARED
        found = GAINS if (self.difference > 0) is higher_is_better else LOSES
        return _verdict([self.tests()[name] for name in DECIDING[decided_by]], found)


@dataclass
class ChangeDifference(Result):
    """How differently two systems' scores change from one test set to another.

    Attributes:
        difference: of the changes, the mean over the seeds that both have; None = there is none.
        blocks: a test with seeds as blocks.
    """

    difference: float | None
    blocks: TableSeedTest

    def verdict(self, is_tested: bool, higher_is_better: bool) -> str:
        """What the test finds, after Holm's adjustment over a claim.

        Args:
            is_tested: the comparison was declared.
        """
        if not is_tested or self.difference is None:
            return FEW_SEEDS if is_tested else NOT_DECLARED
        found = LOSES_LESS if (self.difference > 0) is higher_is_better else LOSES_MORE
        return _verdict([self.blocks], found)


def _verdict(deciding: Sequence[TableTest], found: str) -> str:
    """What was found, if all deciding tests show it; or why not."""
    adjusted = [test.p_holm for test in deciding if test.p_value is not None]
    if len(adjusted) < len(deciding):
        return FEW_SEEDS
    if not all(p_holm is not None and p_holm < SIGNIFICANT for p_holm in adjusted):
        return NOT_SHOWN
    return found


@dataclass
class ComparedPair(Result):
    """A declared comparison, as :class:`~experiments.table_config.Comparison` describes it.

    Attributes:
        claim: None = the one of all that name none.
        scores: by metric, of whole translations.
        cut: of translations that are cut; None where no translation is too long.
        words_by: which words gain, if that is asked for.
        change: of the scores from another test set to this one, if that is asked for.
    """

    system: str
    against: str
    method: str
    is_control: bool
    is_tested: bool
    claim: str | None = None
    declared: str = ""
    scores: dict[str, PairDifference] = field(kw_only=True)
    cut: dict[str, PairDifference] | None = None
    words_by: list[BucketTable] | None = None
    change: ChangeDifference | None = None

    def kinds(self) -> Iterator[tuple[str, dict[str, PairDifference]]]:
        """Whole and cut translations, by name."""
        yield "scores", self.scores
        if self.cut is not None:
            yield "cut", self.cut


@dataclass
class LongRuns(Result):
    """Translations of a system that are too long.

    Attributes:
        runs: how many of each run.
        scores: by metric, of each run with its translations cut.
    """

    runs: list[int]
    scores: dict[str, list[float]]


@dataclass
class RunMean(Result):
    """The mean of a figure over runs, its standard deviation (None of one run), and each run's."""

    score: float
    spread: float | None
    runs: list[float]


@dataclass
class ChangedScores(Result):
    """How the primary metric changes from another test set.

    Attributes:
        from_: that test set's name.
        systems: the change of each run, by system.
    """

    from_: str
    systems: dict[str, RunMean]


@dataclass
class FamilyResult(Result):
    """A family of systems on a test set.

    Attributes:
        test: the test set's name.
        sentences: of it.
        keys: of the runs of each system.
        scores: by system and metric.
        longer: by system; None where no translation is too long.
        changed: from another test set, if that is asked for.
        corpus: what stands for its training text, whichever side is the source; None in older
            tables, which no mean over corpora counts.
    """

    test: str
    family: str
    sentences: int
    metrics: dict[str, MetricDescription]
    keys: dict[str, list[str]]
    scores: dict[str, dict[str, CorpusScore]]
    by_length: list[LengthGroup]
    pairs: list[ComparedPair]
    longer: dict[str, LongRuns] | None = None
    changed: ChangedScores | None = None
    corpus: str | None = None


@dataclass
class RunFacts(Result):
    """What is known of a training, so that it can be had again."""

    key: str
    seed: int
    commit: str
    data_checksum: str
    device: str
    cpu: str
    threads: int
    versions: dict[str, str]


@dataclass
class RowResult(Result):
    """A system of a family.

    Attributes:
        chosen: the setting, and the system where it is the best of several.
        published: the paper's figure, in its words.
        validation_nll: in bits a token; None where a run lacks it, as of the other means.
        seconds: of a training.
        figures: further ones by name.
    """

    family: str
    system: str
    label: str
    baseline: bool
    seeds_declared: list[int]
    seeds_done: list[int]
    seeds_diverged: list[int]
    chosen: str
    published: str
    parameters: int | None
    validation_nll: RunMean | None
    training_nll: RunMean | None
    updates: RunMean | None
    seconds: RunMean | None
    tokens_per_second: RunMean | None
    figures: dict[str, RunMean | None]
    runs: list[RunFacts]


@dataclass
class Trial(Result):
    """A run that a setting or a system was chosen by."""

    run: str
    options: str
    setting: str | None
    done: bool
    validation_nll: float | None
    chosen: bool


@dataclass(kw_only=True)
class TableResult(Result):
    """A table.

    Attributes:
        primary: the metric that is tested, as `--metrics` names it.
        decided_by: the test that a claim rests on.
        choice: what settings and systems are chosen by.
        tests: each family on each test set.
        trials: what was tried.
    """

    table: str
    title: str
    primary: str
    decided_by: str = "both"
    choice: str
    rows: list[RowResult]
    tests: list[FamilyResult]
    trials: list[Trial]

    @classmethod
    def read(cls, file: Path) -> "TableResult":
        """The result that a `table.json` holds.

        Raises:
            UserError: it is not one, or of an older form.
        """
        again = f"write it again with `run.py tables/{file.parent.name}.yaml --tables-only`"
        return read_result(str(file), cls, "run.py", again)

    def rows_of(self, family: str) -> list[RowResult]:
        """The systems of a family."""
        return [row for row in self.rows if row.family == family]

    def labels(self, family: str) -> dict[str, str]:
        """What tables call the systems of a family."""
        return {row.system: row.label for row in self.rows_of(family)}

    def primary_of(self, test: FamilyResult) -> str:
        """The primary metric, which is declared as `chrf`, as sacrebleu writes it: `chrF2`."""
        return next(name for name in test.metrics if name.lower().startswith(self.primary))
