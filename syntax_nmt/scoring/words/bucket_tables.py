"""Words by bucket: the figures of each bucket and system, and their tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.reporting.findings import Table
from syntax_nmt.reporting.result import Result
from syntax_nmt.scoring.translations.resampling import Interval
from syntax_nmt.scoring.translations.results import (
    INTERVAL,
    ComparedScore,
    difference_cells,
    have_intervals,
    interval_text,
    score_cell,
)
from syntax_nmt.scoring.words.counts import OF_REFERENCE, REFERENCE_SIDE, SOURCE_SIDE
from syntax_nmt.scoring.words.matches import BITS, F1, RECALL, SHARES

_NAMES = {F1: "F1", BITS: "bits"}
_LOWER_IS_BETTER = {BITS: "bits ↓"}
_MORE_DIGITS = {BITS: 2}
_SIDES = {SOURCE_SIDE: "words linked to source words", REFERENCE_SIDE: "words"}


@dataclass(kw_only=True)
class BucketShares(Result):
    """How many words of a bucket a system finds: means over its runs in percent, and counts.

    Attributes:
        name: of the system; the others are None in tables of bits.
        precision: of the words that it writes.
        recall: of the words of the reference.
        f1: their harmonic mean.
        correct: words found, of each run.
        predicted: words of the translation in the bucket, of each run.
    """

    name: str
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    correct: list[int] | None = None
    predicted: list[int] | None = None


@dataclass
class BucketScore(ComparedScore, BucketShares):
    """The same, with intervals or tests of the measure of the table (`score`).

    Attributes:
        interval: None where none was asked for, or the bucket has too few words.
    """

    interval: Interval | None = field(kw_only=True)  # without a default: null, not left out


@dataclass
class Bucket(Result):
    """The words of a bucket.

    Attributes:
        bucket: its name.
        words: how many the reference has.
        tested: whether they are enough for intervals and tests.
        systems: in the order of the test set.
    """

    bucket: str
    words: int
    tested: bool
    systems: list[BucketScore]


@dataclass
class BucketTable(Result):
    """One kind of buckets.

    Attributes:
        by: the kind.
        side: whose words have the buckets, `source` or `reference`.
        measure: what scores, intervals and tests are of: `f1`, `recall`, or `bits` of a word.
        labels_of_output: whose labels the words of a translation have, `own` or `reference`; None
            where they have none.
        least_words: a bucket with fewer is not tested.
        words_without_bucket: words of the reference that are in no bucket.
        buckets: in the order of tables.
    """

    by: str
    side: str
    measure: str
    labels_of_output: str | None
    least_words: int
    words_without_bucket: int
    buckets: list[Bucket]

    @property
    def systems(self) -> list[str]:
        """The systems' names."""
        return [system.name for system in self.buckets[0].systems]

    @property
    def is_of_bits(self) -> bool:
        """Whether bits are measured, of which fewer are better, and not words that are found."""
        return self.measure == BITS

    def tested(self) -> list[Bucket]:
        """The buckets with enough words."""
        return [bucket for bucket in self.buckets if bucket.tested]

    def __str__(self) -> str:
        return f"{_NAMES.get(self.measure, self.measure)} of {_SIDES[self.side]} by {self.by}"

    def notes(self) -> Iterator[str]:
        """What the tables leave out."""
        about = f"bits by {self.by}" if self.is_of_bits else self.by
        if self.is_of_bits:
            yield f"{about}: the fewer the better"
        if len(self.tested()) < len(self.buckets):
            yield f"{about}: no interval and no test of buckets below {self.least_words} words"
        if self.words_without_bucket:
            linked = self.side == SOURCE_SIDE
            why = "linked to no source word with a label" if linked else "no label"
            why += ", or no bits" if self.is_of_bits else ""
            missing = self.words_without_bucket
            yield f"{about}: {missing} words of the reference have no bucket: {why}"
        if self.labels_of_output == OF_REFERENCE:
            yield (
                f"{self.by}: a translation's word has the reference's label, or none: recall is "
                "compared"
            )

    def score_table(self, place: int, digits: int) -> Table:
        """The shares of the system at a place.

        Args:
            digits: after the point.
        """
        digits += _MORE_DIGITS.get(self.measure, 0)
        shares = [RECALL] if self.side == SOURCE_SIDE else list(SHARES)
        if self.is_of_bits:
            shares = [BITS]
        rows = []
        for bucket in self.buckets:
            score = bucket.systems[place]
            cells = [
                score_cell(score, digits)
                if share == self.measure
                else f"{getattr(score, share):.{digits}f}"
                for share in shares
            ]
            rows.append([bucket.bucket, str(bucket.words), *cells])
        names = _NAMES | _LOWER_IS_BETTER
        head = [self.by, "words", *(names.get(share, share) for share in shares)]
        of_bits = "bits of " if self.is_of_bits else ""
        title = f"{of_bits}{_SIDES[self.side]} by {self.by}: {self.systems[place]}"
        return Table(head, rows, title)

    def comparison_table(self, place: int, digits: int) -> Table:
        """The differences of the system at a place from the first one.

        Args:
            digits: after the point.
        """
        digits += _MORE_DIGITS.get(self.measure, 0)
        pairs = [(bucket.systems[0], bucket.systems[place]) for bucket in self.buckets]
        compared = [score for _, score in pairs]
        head, *rows = difference_cells([score.name for score in pairs[0]], pairs, digits)
        head = [self.by, "words", *head]
        rows = [[each.bucket, str(each.words), *row] for each, row in zip(self.buckets, rows)]
        if have_intervals(compared):
            head.append(INTERVAL)
            for score, row in zip(compared, rows):
                test = score.over_seeds
                row.append(NO_FIGURE if test is None else interval_text(test, digits))
        tested = len(self.tested())
        count = f"{tested} bucket{'s' * (tested > 1)}"
        made = any(score.tests() for score in compared)
        adjustment = f"; p after Holm's adjustment over {count}" if made else ""
        return Table(head, rows, f"{self}{adjustment}")


@dataclass
class TablesOfWords(Result):
    """What the results of `score` and `compare` have of words."""

    words_by: list[BucketTable] | None = None


def score_tables(tables: Sequence[BucketTable], digits: int) -> list[Table]:
    """For each kind of buckets a table for each system.

    Args:
        digits: after the point.
    """
    return [
        table.score_table(place, digits)
        for table in tables
        for place, _ in enumerate(table.systems)
    ]


def comparison_tables(tables: Sequence[BucketTable], digits: int) -> list[Table]:
    """For each kind of buckets a table for each system but the first, the baseline.

    Args:
        digits: after the point.
    """
    return [
        table.comparison_table(place, digits)
        for table in tables
        for place in range(1, len(table.systems))
    ]


def word_notes(tables: Sequence[BucketTable]) -> list[str]:
    """What the tables leave out."""
    return [note for table in tables for note in table.notes()]
