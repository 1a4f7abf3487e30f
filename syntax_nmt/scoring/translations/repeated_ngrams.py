"""N-grams that come again within a sentence: what is translated twice shows among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from syntax_nmt.reporting.findings import Table
from syntax_nmt.scoring.translations.evaluated_systems import EvaluationSet
from syntax_nmt.scoring.translations.metrics import bleu_metric

ORDERS = (1, 2, 3, 4)


@dataclass(frozen=True)
class Repetition:
    """The n-grams of one order in a text.

    Attributes:
        ngrams: how many there are.
        repeated: those that have come before in their sentence.
    """

    ngrams: int
    repeated: int

    @property
    def percent(self) -> float:
        """The share of repeated ones; 0 where there are none at all."""
        return 100 * self.repeated / max(1, self.ngrams)


def repetition(sentences: Iterable[Sequence[str]], order: int) -> Repetition:
    """Counts over the sentences of a text: an n-gram that occurs c times has c − 1 repetitions."""
    ngrams = repeated = 0
    for tokens in sentences:
        counts = Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))
        ngrams += counts.total()
        repeated += counts.total() - len(counts)
    return Repetition(ngrams, repeated)


def repetition_figures(
    test_set: EvaluationSet, tokenize: str | None, lowercase: bool
) -> dict[str, Any]:
    """The repetitions of all outputs and references, as JSON knows them.

    Over-translation, which Zhou et al. (2017) had people count, is only a part of them: what counts
    is how far an output is from the references.

    Args:
        tokenize: sacrebleu's name of a tokeniser; None = its default.
        lowercase: whether case is ignored.
    """
    cut: Callable[[str], str] = bleu_metric(tokenize).tokenizer

    def of_text(sentences: Sequence[str]) -> list[dict[str, Any]]:
        tokens = [cut(line.lower() if lowercase else line).split() for line in sentences]
        counted = [(order, repetition(tokens, order)) for order in ORDERS]
        return [{"order": n, **asdict(found), "percent": found.percent} for n, found in counted]

    return {
        "systems": [
            {"name": system.name, "runs": [of_text(run.sentences) for run in system.runs]}
            for system in test_set.systems
        ],
        "references": [
            {"name": reference.name, "runs": [of_text(reference.sentences)]}
            for reference in test_set.references
        ],
    }


def repetition_table(figures: dict[str, Any]) -> Table:
    """Shares in percent, means over the runs of a system.

    Args:
        figures: of :func:`repetition_figures`.
    """
    rows = []
    for text in [*figures["systems"], *figures["references"]]:
        runs = text["runs"]
        shares = (sum(run[k]["percent"] for run in runs) / len(runs) for k in range(len(ORDERS)))
        rows.append([text["name"], *(f"{share:.2f}" for share in shares)])
    head = ["% of n-grams that repeat", *(f"n = {order}" for order in ORDERS)]
    return Table(head, rows)
