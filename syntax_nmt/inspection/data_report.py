"""The output of `syntax-nmt inspect` about a data-bin folder: tables and JSON."""

from collections.abc import Sequence
from itertools import chain

from syntax_nmt.data.annotation import BINARISED_KINDS
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.figures.annotation_figures import AnnotationFigures
from syntax_nmt.data.figures.text_figures import TextFigures
from syntax_nmt.data.manifest import NAME, remedy
from syntax_nmt.data.prepared_text import made_by_prepare
from syntax_nmt.data.text_columns import NO_FIGURE, count_text, decimal_text, share_text
from syntax_nmt.errors import printable
from syntax_nmt.inspection.data_inspection import InspectedText, Inspection
from syntax_nmt.inspection.linearised_lines import linearised_lines
from syntax_nmt.reporting.findings import PLAIN, Table
from syntax_nmt.reporting.result import json_text


def text_report(found: Inspection) -> str:
    """The figures in tables.

    Args:
        found: an inspected folder.
    """
    parts = [_header(found), _text_table(found.texts)]
    parts += [_annotation_table(found.texts, kind) for kind in BINARISED_KINDS]
    parts += [_label_table(found.texts, kind) for kind in BINARISED_KINDS]
    parts += [_parsers(found), _footer(found)]
    return "\n\n".join(part for part in parts if part) + "\n"


def json_report(found: Sequence[Inspection]) -> str:
    """The figures as a JSON object, null where there are none; of several folders a list of them.

    Args:
        found: inspected folders.
    """
    contents = [
        {
            "folder": str(each.data.path),
            "sound": not each.problems,
            "problems": each.problems,
            "warnings": each.warnings,
            "files_checked": len(_checked_files(each)),
            "texts": [_text_figures(each, text) for text in each.texts],
        }
        for each in found
    ]
    return json_text(contents[0] if len(contents) == 1 else {"folders": contents})


def _header(found: Inspection) -> str:
    pairs = dict.fromkeys(" → ".join(text.languages) for text in found.data.texts)
    splits = dict.fromkeys(text.split for text in found.data.texts)
    languages = {text.name.language: text for text in found.texts}
    sizes = [
        f"dict.{language}.txt {len(text.dictionary):,}" for language, text in languages.items()
    ]
    symbols = [text.dictionary.symbols for text in languages.values()]
    joined = " (the same)" if len(symbols) > 1 and all(s == symbols[0] for s in symbols) else ""
    schemes = dict.fromkeys(text.scheme for text in found.texts)
    languages_row = ("languages", ", ".join(pairs))
    rows = [
        ("splits", ", ".join(splits)),
        ("subwords", ", ".join(schemes)),
        ("entries", ", ".join(sizes) + joined),
    ]
    return f"{found.data.path}\n{Table(languages_row, rows, names=2).render(PLAIN)}"


def _text_table(texts: Sequence[InspectedText]) -> str:
    head = ["split", "language", "sentences", "empty", "subwords", "words", "subwords/word"]
    head += ["longest", "on line", "unknown"]
    rows = []
    for text in texts:
        figures = text.text
        rows.append(
            (
                *(text.name.split, text.name.language),
                *(count_text(figures.sentences), count_text(figures.empty_sentences)),
                count_text(figures.subwords),
                ("~" if _words_unsure(text) else "") + count_text(figures.words),
                decimal_text(figures.subwords_per_word, 3),
                *(count_text(figures.longest_subwords), count_text(figures.longest_line)),
                share_text(figures.unknown_share),
            )
        )
    if not texts:
        return ""
    unsure = sum(text.text.unsure for text in texts)
    note = f"\n~ sentences with unknown subwords, which do not tell where words end: {unsure:,}"
    return Table(head, rows, names=2).render(PLAIN) + (note if unsure else "")


def _words_unsure(text: InspectedText) -> bool:
    return not text.words_known or text.text.unsure > 0


def _annotation_table(texts: Sequence[InspectedText], kind: AnnotationKind) -> str:
    """The table of one kind of annotation file, or nothing where no text has it."""
    columns = kind.figures().columns
    rows = []
    unsure = 0
    for text in texts:
        if kind in text.figures:
            figures = text.figures[kind]
            unsure += figures.sentences_with_unsure_words
            cells = [write(getattr(figures, name)) for _, name, write in columns]
        elif kind in text.damaged:
            cells = ["not sound", *[NO_FIGURE] * (len(columns) - 1)]
        else:
            continue
        rows.append((text.name.split, text.name.language, *cells))
    if not rows:
        return ""
    head = ("split", "language", *(name for name, _, _ in columns))
    note = f"\ntrees left out, as unknown subwords hide where words end: {unsure:,}"
    table = Table(head, rows, names=2).render(PLAIN)
    return f"{kind.title}\n{table}" + (note if unsure else "")


def _label_table(texts: Sequence[InspectedText], kind: AnnotationKind) -> str:
    """The labels of a kind that has some, from the most frequent on; a column for each text."""
    counts = {
        f"{text.name.split} {text.name.language}": text.figures[kind].tags
        for text in texts
        if kind in text.figures
    }
    labels = dict.fromkeys(chain.from_iterable(counts.values()))
    if not labels:
        return ""
    order = sorted(labels, key=lambda tag: -sum(column.get(tag, 0) for column in counts.values()))
    columns = counts.values()
    rows = [(tag, *(count_text(column.get(tag, 0)) for column in columns)) for tag in order]
    return Table((kind.label, *counts), rows).render(PLAIN)


def _parsers(found: Inspection) -> str:
    """What made the annotation, as far as it is known."""
    made = {
        printable(f"{entry.source}: made by {entry.parser}"): None
        for entry in found.manifest.values()
        if entry.parser
    }
    return "\n".join(made)


def _footer(found: Inspection) -> str:
    if not found.manifest:
        if any(NAME in problem for problem in found.problems):
            return f"annotation: {NAME} cannot be read"
        path = found.data.path
        parses = linearised_lines(path, *found.data.texts[0].languages)
        if parses is not None:
            return parses
        cure = remedy(path / NAME)
        if made_by_prepare(path):
            cure = "run `syntax-nmt prepare` again with --parse, or with annotation beside the text"
        return f"annotation: none (no {NAME}); to add some, {cure}"
    checked = len(_checked_files(found))
    if found.problems:
        return f"{checked} files checked, problems: {len(found.problems)}"
    return f"{checked} files checked: each is as {NAME} says"


def _checked_files(found: Inspection) -> set[str]:
    return {name for entry in found.manifest.values() for name in entry.files}


def _text_figures(found: Inspection, text: InspectedText) -> dict[str, object]:
    annotations: dict[str, object] = {}
    for kind in BINARISED_KINDS:
        name = f"{text.name}.{kind.name}"
        if name in found.manifest:
            figures = _reported(text.figures[kind]) if kind in text.figures else {}
            made_from = {"made_from": found.manifest[name].source}
            annotations[kind.name] = {"sound": kind in text.figures, **made_from, **figures}
    return {
        "split": text.name.split,
        "pair": text.name.pair,
        "language": text.name.language,
        "dictionary_entries": len(text.dictionary),
        "segmentation": text.scheme,
        **_reported(text.text),
        "words_unsure": _words_unsure(text),
        "annotation": annotations,
    }


def _reported(figures: TextFigures | AnnotationFigures) -> dict[str, object]:
    return {name: getattr(figures, name) for name in figures.reported}
