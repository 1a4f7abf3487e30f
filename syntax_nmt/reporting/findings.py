"""The results of a command as text, Markdown, LaTeX, TSV or JSON.

Labels and names come out of files: each form but JSON escapes what would disturb a terminal, add a
column, or be executed. In TSV an apostrophe stands before what a spreadsheet takes for a formula.

All commands use the same JSON keys: shares are in percent, null if there was nothing to count;
`sentences` counts all sentences, `sentences_scored` those compared with gold,
`sentences_without_gold` and `sentences_too_long` those excluded, `sentences_without_tree` and
`sentences_without_chunks` those whose gold counts as not found; `accuracy` has its `correct` and
`total`; `precision`, `recall` and `f1` have `correct`, `predicted` and `gold`; an `interval` has
`low` and `high`.
"""

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tabulate import tabulate

from syntax_nmt.errors import printable

TEXT, MARKDOWN, LATEX, TSV, JSON = FORMATS = ("text", "markdown", "latex", "tsv", "json")
PLAIN, GITHUB = "plain", "github"
"""Text without a line below the head; Markdown that says nothing about alignment."""

_TABLES = {TEXT: "simple", PLAIN: PLAIN, MARKDOWN: "pipe", GITHUB: GITHUB, LATEX: "latex_booktabs"}
_NAME_WIDTH = 28  # of the first column, so that tables of a few columns stay within 100
# Plain LaTeX has these only in mathematics.
_IN_LATEX = {"≥": r"$\geq$", "≤": r"$\leq$", "±": r"$\pm$", "↓": r"$\downarrow$", "–": "--"}
_IN_LATEX |= {
    "Δ": r"$\Delta$",
    "…": r"\dots{}",
    "−": "$-$",
    "→": r"$\to$",
    "←": r"$\leftarrow$",
    "×": r"$\times$",
}
_IN_LATEX |= {"|": r"\textbar{}"}  # a dash in LaTeX's first encoding
_IN_LATEX |= {
    "λ": r"$\lambda$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "τ": r"$\tau$",
    "κ": r"$\kappa$",
}
_MINUS = re.compile(r"(?<= )-(?=\d)")
# Columns, code, HTML and links.
_IN_MARKDOWN = re.compile(r"[\\|`]|<(?=[A-Za-z/!?])|\](?=\()")
# What spreadsheets execute, behind quotes as well; figures with a sign are none.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", '"')
_SIGNED = re.compile(r"[+-]\d(?:[\d.,% ±()–−+-]| to )*")


@dataclass(frozen=True)
class Table:
    """Rows of cells.

    Attributes:
        head: names of the columns; the first ones hold names, the others figures.
        rows: their cells.
        title: what the table is about.
        names: how many columns hold names.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    names: int = 1

    def render(self, form: str = TEXT) -> str:
        """The table without its title: names flush left, figures flush right (GITHUB: all left).

        Args:
            form: one of :data:`FORMATS` but JSON, PLAIN or GITHUB.
        """
        head, *rows = [[_as(form, cell) for cell in row] for row in (self.head, *self.rows)]
        if form == TSV:
            return "\n".join("\t".join(row) for row in (head, *rows))
        if form == TEXT:
            rows = [[_wrapped(name), *figures] for name, *figures in rows]
        if form == PLAIN:  # a head of its own would be padded
            head, rows = [], [head, *rows]
        aligned = [*["left"] * self.names, *["right"] * (len(self.head) - self.names)]
        text = tabulate(
            rows,
            head,
            tablefmt=_TABLES[form],
            disable_numparse=True,
            colalign=aligned if rows and form != GITHUB else None,
        )
        if form == LATEX:
            return _latex_text(text)
        return "\n".join(line.rstrip() for line in text.split("\n"))


def markdown_lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A Markdown table without padding, whose lines come as its rows do.

    Args:
        rows: their cells, in Markdown themselves but for bars; the first row is the head.
    """
    for number, row in enumerate(rows):
        yield "| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |"
        if number == 0:
            yield "|---" * len(row) + "|"


@dataclass(frozen=True)
class Findings:
    """Tables for readers, and what is said about them.

    Attributes:
        tables: of figures.
        heading: one line about all of them.
        notes: what the tables omit, one line each.
    """

    tables: Sequence[Table] = ()
    heading: str = ""
    notes: Sequence[str] = ()

    def text(self, form: str = TEXT) -> str:
        """All of it. In LaTeX and TSV, text outside of tables is a comment.

        Args:
            form: one of :data:`FORMATS` but JSON.
        """
        remark = {LATEX: "% ", TSV: "# "}.get(form, "")
        parts = [f"{remark}{_as(form, self.heading)}"] if self.heading else []
        if form == LATEX and self.tables:
            parts.append(r"% \usepackage{booktabs}")
        for table in self.tables:
            title = _as(form, table.title)
            if title:
                title = f"**{title}**\n\n" if form == MARKDOWN else f"{remark}{title}\n"
            parts.append(f"{title}{table.render(form)}")
        # Separate paragraphs in Markdown, which would join the lines.
        between = "\n\n" if form == MARKDOWN else "\n"
        parts.append(between.join(f"{remark}{_as(form, note)}" for note in self.notes))
        return "\n\n".join(part for part in parts if part) + "\n"


def number(value: float) -> float | None:
    """A figure for JSON, which has no NaN."""
    return None if math.isnan(value) else value


def p_value_text(p_value: float, floor: float = 0.0) -> str:
    """A p-value in the form of papers; one below 0.05 does not read as 0.050.

    Args:
        floor: the least value that the test can give, 1 / draws; printed as a bound.
    """
    if 0 < p_value <= floor:
        return f"≤ {bound_text(p_value)}"
    if p_value < 0.001:
        return "< 0.001"
    text = f"{p_value:.3f}"
    return f"< {text}" if p_value < float(text) == 0.05 else text


def bound_text(p_value: float) -> str:
    """A probability rounded up, to three digits after the point or to its first that is not 0."""
    digits = max(3, math.ceil(-math.log10(p_value) - 1e-3))  # 1 of 10,001 is 0.0001
    return f"{math.ceil(p_value * 10**digits - 1e-9) / 10**digits:.{digits}f}"


def _wrapped(name: str) -> str:
    return "\n".join(textwrap.wrap(name, _NAME_WIDTH)) or name


def _as(form: str, text: str) -> str:
    """A cell or a line with labels and names out of files, as a form needs it."""
    text = printable(text)
    if form in (MARKDOWN, GITHUB):
        return _IN_MARKDOWN.sub(r"\\\g<0>", text)
    if form == TSV and text.startswith(_FORMULA) and not _SIGNED.fullmatch(text):
        return f"'{text}"
    return text


def _latex_text(text: str) -> str:
    text = text.replace("--", "-{}-")  # of options; LaTeX makes one dash of two
    for character, command in _IN_LATEX.items():
        text = text.replace(character, command)
    return _MINUS.sub("$-$", text)
