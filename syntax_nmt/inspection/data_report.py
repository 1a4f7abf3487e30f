"""What `syntax-nmt inspect` says about a data-bin folder: tables for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from syntax_nmt.data.manifest import NAME, REMEDY
from syntax_nmt.data.side_information import KINDS
from syntax_nmt.evaluation.dependencies.draw_tree import display_width
from syntax_nmt.inspection.data_inspection import InspectedText, Inspection

_NONE = "–"
_GAP = "  "
_TITLES = {
    "heads": "dependencies (heads), over words",
    "phrases": "phrases, in subwords",
    "chunks": "chunks, in words",
}


def text_report(found: Inspection) -> str:
    """The figures in tables.

    Args:
        found: a folder looked through.
    """
    parts = [_header(found), _text_table(found.texts)]
    parts += [_side_table(found.texts, kind) for kind in KINDS]
    parts += [_tag_table(found.texts), _footer(found)]
    return "\n\n".join(part for part in parts if part) + "\n"


def json_report(found: Inspection) -> str:
    """The same figures as a JSON object, null where there are none.

    Args:
        found: a folder looked through.
    """
    content = {
        "folder": str(found.data.path),
        "sound": not found.problems,
        "problems": found.problems,
        "warnings": found.warnings,
        "files_checked": len(_checked_files(found)),
        "texts": [_text_figures(found, text) for text in found.texts],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def table(rows: Sequence[Sequence[str]], left: int) -> str:
    """Lines with columns under one another, two spaces apart.

    Args:
        rows: the cells, of which there are equally many in each row.
        left: how many columns, from the first, are set left; numbers are set right.
    """
    widths = [max(map(display_width, column)) for column in zip(*rows)]
    return "\n".join(_GAP.join(_cells(row, widths, left)).rstrip() for row in rows)


def _cells(row: Sequence[str], widths: Sequence[int], left: int) -> Iterator[str]:
    for column, (cell, width) in enumerate(zip(row, widths)):
        space = " " * (width - display_width(cell))
        yield cell + space if column < left else space + cell


def _header(found: Inspection) -> str:
    pairs = dict.fromkeys(text.pair for text in found.data.texts)
    splits = dict.fromkeys(text.split for text in found.data.texts)
    languages = {text.name.language: text for text in found.texts}
    sizes = [
        f"dict.{language}.txt {len(text.dictionary):,}" for language, text in languages.items()
    ]
    symbols = [text.dictionary.symbols for text in languages.values()]
    joined = " (the same)" if len(symbols) > 1 and all(s == symbols[0] for s in symbols) else ""
    schemes = dict.fromkeys(text.scheme for text in found.texts)
    rows = [
        ("languages", ", ".join(pair.replace("-", " → ", 1) for pair in pairs)),
        ("splits", ", ".join(splits)),
        ("subwords", ", ".join(schemes)),
        ("entries", ", ".join(sizes) + joined),
    ]
    return f"{found.data.path}\n{table(rows, left=2)}"


def _text_table(texts: Sequence[InspectedText]) -> str:
    head = ("split", "language", "sentences", "empty", "subwords", "words", "subwords/word")
    rows: list[tuple[str, ...]] = [(*head, "longest", "on line", "unknown")]
    for text in texts:
        figures = text.text.figures()
        rows.append(
            (
                *(text.name.split, text.name.language),
                *(_number(figures[key]) for key in ("sentences", "empty_sentences", "subwords")),
                ("~" if _words_unsure(text) else "") + _number(figures["words"]),
                _decimal(figures["subwords_per_word"], 3),
                *(_number(figures[key]) for key in ("longest_subwords", "longest_line")),
                percent(figures["unknown_share"]),
            )
        )
    if not texts:
        return ""
    unsure = sum(text.text.unsure for text in texts)
    note = f"\n~ sentences with unknown subwords, which do not tell where words end: {unsure:,}"
    return table(rows, left=2) + (note if unsure else "")


def _words_unsure(text: InspectedText) -> bool:
    return not text.words_known or text.text.unsure > 0


def _side_table(texts: Sequence[InspectedText], kind: str) -> str:
    """The table of one kind of side file, or nothing where no text has it."""
    rows = [
        (text.name.split, text.name.language, *_SIDE_CELLS[kind](text.figures[kind].figures()))
        if kind in text.figures
        else (text.name.split, text.name.language, "not sound", *[_NONE] * (len(_HEADS[kind]) - 1))
        for text in texts
        if kind in text.figures or kind in text.damaged
    ]
    if not rows:
        return ""
    unsure = sum(getattr(text.figures.get(kind), "unsure", 0) for text in texts)
    note = f"\ntrees left out, as unknown subwords hide where words end: {unsure:,}"
    body = table([("split", "language", *_HEADS[kind]), *rows], left=2)
    return f"{_TITLES[kind]}\n{body}" + (note if unsure else "")


_HEADS = {
    "heads": ("annotated", "share", "arc length", "projective", "depth", "deepest", "on line"),
    "phrases": ("annotated", "share", "phrases/sentence", "length", "longest", "on line"),
    "chunks": ("annotated", "share", "chunks/sentence", "length", "outside"),
}


def _tree_cells(figures: dict[str, Any]) -> tuple[str, ...]:
    return (
        *_annotated(figures),
        _decimal(figures["mean_arc_length"]),
        percent(figures["projective_share"]),
        _decimal(figures["mean_depth"]),
        _number(figures["deepest"]),
        _number(figures["deepest_line"]),
    )


def _phrase_cells(figures: dict[str, Any]) -> tuple[str, ...]:
    return (
        *_annotated(figures),
        _decimal(figures["phrases_per_sentence"]),
        _decimal(figures["mean_subwords"]),
        _number(figures["longest_subwords"]),
        _number(figures["longest_line"]),
    )


def _chunk_cells(figures: dict[str, Any]) -> tuple[str, ...]:
    return (
        *_annotated(figures),
        _decimal(figures["chunks_per_sentence"]),
        _decimal(figures["mean_words"]),
        percent(figures["words_outside_share"]),
    )


_SIDE_CELLS = {"heads": _tree_cells, "phrases": _phrase_cells, "chunks": _chunk_cells}


def _annotated(figures: dict[str, Any]) -> tuple[str, str]:
    return _number(figures["annotated"]), percent(figures["annotated_share"])


def _tag_table(texts: Sequence[InspectedText]) -> str:
    """Chunk types from the most frequent on, a column for each text."""
    counts = {
        f"{text.name.split} {text.name.language}": text.figures["chunks"].figures()["tags"]
        for text in texts
        if "chunks" in text.figures
    }
    tags = dict.fromkeys(chain.from_iterable(counts.values()))
    if not tags:
        return ""
    order = sorted(tags, key=lambda tag: -sum(column.get(tag, 0) for column in counts.values()))
    rows = [("chunk type", *counts)]
    rows += [(tag, *(_number(column.get(tag, 0)) for column in counts.values())) for tag in order]
    return table(rows, left=1)


def _footer(found: Inspection) -> str:
    if not found.manifest:
        if any(NAME in problem for problem in found.problems):
            return f"side information: {NAME} cannot be read"
        return f"side information: none (no {NAME}); to add some, {REMEDY}"
    checked = len(_checked_files(found))
    if found.problems:
        return f"{checked} files checked, problems: {len(found.problems)}"
    return f"{checked} files checked: each is as {NAME} says"


def _checked_files(found: Inspection) -> set[str]:
    return {name for entry in found.manifest.values() for name in entry.files}


def _text_figures(found: Inspection, text: InspectedText) -> dict[str, Any]:
    sides: dict[str, Any] = {}
    for kind in KINDS:
        name = f"{text.name}.{kind}"
        if name in found.manifest:
            figures = text.figures[kind].figures() if kind in text.figures else {}
            made_from = {"made_from": found.manifest[name].source}
            sides[kind] = {"sound": kind in text.figures, **made_from, **figures}
    return {
        "split": text.name.split,
        "pair": text.name.pair,
        "language": text.name.language,
        "dictionary_entries": len(text.dictionary),
        "segmentation": text.scheme,
        **text.text.figures(),
        "words_unsure": _words_unsure(text),
        "side_information": sides,
    }


def percent(share: float | None) -> str:
    """A share with two digits; neither all nor nothing by rounding.

    Args:
        share: between 0 and 1, or None.
    """
    if share is None:
        return _NONE
    if 0 < share < 0.0001:
        return "<0.01%"
    if 0.9999 < share < 1:
        return ">99.99%"
    return f"{share:.2%}" if 0 < share < 1 else f"{share:.0%}"


def _number(value: int | None) -> str:
    return _NONE if value is None else f"{value:,}"


def _decimal(value: float | None, digits: int = 2) -> str:
    return _NONE if value is None else f"{value:.{digits}f}"
