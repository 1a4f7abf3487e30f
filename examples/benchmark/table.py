"""Figures as a Markdown table."""

from collections.abc import Mapping
from typing import Any

from works import Load

from syntax_nmt.reporting.findings import markdown_lines

MIB, BILLION = 2**20, 10**9


def print_table(title: str, data: Load, figures: Mapping[str, Mapping[str, Any]]) -> None:
    """Prints a row for each system; columns without a figure of the first are left out.

    Args:
        title: what was measured.
        figures: by system; the first is the baseline.
    """
    baseline = next(iter(figures.values()))
    rows = {name: cells(of_system, data.unit, baseline) for name, of_system in figures.items()}
    columns = list(next(iter(rows.values())))
    table = [[title, *columns]]
    table += [[f"`{name}`", *(row.get(each, "") for each in columns)] for name, row in rows.items()]
    print("", *markdown_lines(table), sep="\n", flush=True)


def cells(figures: Mapping[str, Any], unit: str, baseline: Mapping[str, Any]) -> dict[str, str]:
    """The cells of a system, by column.

    Args:
        unit: of what was done.
        baseline: the figures of the first system.
    """
    row = {"parameters": f"{figures['parameters'] / 10**6:.1f} M"}
    if "per_second" in figures:
        row[f"{unit}/s"] = f"{figures['per_second']:,.{0 if figures['per_second'] > 99 else 1}f}"
        row["time"] = f"{figures['relative_time']:.2f}"
        row["range"] = "{:.2f} to {:.2f}".format(*figures["relative_time_range"])
    if "operations" in figures:
        row["10⁹ operations"] = f"{figures['operations'] / BILLION:,.1f}"
        row["ratio"] = f"{figures['operations'] / baseline['operations']:.2f}"
        row["kernels"] = f"{figures['kernels']:,}"
        row["of the first"] = f"{figures['kernels'] / baseline['kernels']:.2f}"
    if "peak_memory" in figures:
        row["peak MiB"] = f"{figures['peak_memory'] / MIB:,.0f}"
    return row
