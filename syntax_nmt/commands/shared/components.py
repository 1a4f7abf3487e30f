"""The components that this package registers with fairseq, and their options. Loads fairseq."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from difflib import get_close_matches
from inspect import get_annotations
from typing import Any

from fairseq.dataclass.utils import gen_parser_from_dataclass
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY
from fairseq.registry import REGISTRIES
from fairseq.tasks import TASK_REGISTRY

import syntax_nmt.plugin  # noqa: F401  registers the components
from syntax_nmt.arguments import flag
from syntax_nmt.data.annotation.columns import loading_options, making_options
from syntax_nmt.errors import UserError
from syntax_nmt.models.options import SyntaxHybridOptions, SyntaxRNNOptions
from syntax_nmt.models.presets import LINES
from syntax_nmt.reporting.findings import markdown_lines

_PACKAGE = "syntax_nmt."
_METHODS = f"{_PACKAGE}methods"
_INTRODUCTION = """\
# Options of models, criterions and the task

`syntax-nmt options --markdown` generates this page from the code. `syntax-nmt options NAME` lists
the options of an architecture or a criterion with fairseq's own, and what the architecture
presets."""
_WAYS = """\
`syntax-nmt train PREPARED METHOD` trains one. `prepare` parses the source unless it is told not to.
Where a method reads annotation to translate, typed text needs a parser: `--parser-config
PREPARED/parser.json` in place of the options in the last column.
"""

Components = Mapping[str, Mapping[str, Any]]
"""Classes that fairseq has registered, by option and by name."""


def components() -> Components:
    """What this package has registered with fairseq, by kind and name."""
    kinds = {"arch": ARCH_MODEL_REGISTRY, "task": TASK_REGISTRY}
    kinds |= {kind: found["registry"] for kind, found in REGISTRIES.items()}
    ours = {
        kind: {name: found[name] for name in sorted(found) if _is_ours(found[name])}
        for kind, found in kinds.items()
    }
    return {kind: found for kind, found in ours.items() if found}


def listing(names: Sequence[str]) -> str:
    """The options of some names, or all names.

    Raises:
        UserError: there is nothing of a name.
    """
    known = components()
    for name in names:
        if not any(name in found for found in known.values()):
            close = get_close_matches(name, {each for found in known.values() for each in found})
            advice = f"did you mean {close[0]}?" if close else "`syntax-nmt options` lists all"
            raise UserError(f"{name}: unknown name: {advice}")
    parts = []
    for kind, found in known.items():
        if not names:
            parts.append("\n  ".join([f"--{kind}:", *found]))
        for name in names:
            if name in found:
                parts.append(f"--{kind} {name}\n\n{_options_of(kind, name, found[name])}")
    return "\n".join(parts)


def _options_of(kind: str, name: str, component: Any) -> str:
    parser = argparse.ArgumentParser(usage=argparse.SUPPRESS, add_help=False, allow_abbrev=False)
    if hasattr(component, "add_args"):
        component.add_args(parser)
    else:  # of a tokenizer fairseq keeps the options under this name
        gen_parser_from_dataclass(parser, getattr(component, "__dataclass")())
    if kind == "arch":
        preset = argparse.Namespace()
        ARCH_CONFIG_REGISTRY[name](preset)
        for action in parser._actions:
            if action.dest in preset:
                action.help = f"{action.help} [{name}: {getattr(preset, action.dest)}]"
    return parser.format_help()


def page() -> str:
    """All options in tables: those of methods by paper, others by component."""
    known = components()
    having = {
        "`--arch rnn_search` and the other RNNs": SyntaxRNNOptions,
        "`--arch syntax_hybrid`": SyntaxHybridOptions,
    }
    for kind in ("criterion", "task"):
        having |= {f"`--{kind} {name}`": vars(x)["__dataclass"] for name, x in known[kind].items()}
    components_of: dict[type, list[str]] = {}
    for component, config in having.items():
        for declared in filter(_is_ours, config.__mro__):
            components_of.setdefault(declared, []).append(component)
    tables: dict[str, list[tuple[str, str]]] = {}
    for declared, names in components_of.items():
        subject = None if _overrides(declared) else _subject(declared)
        table = tables.setdefault(subject or ", ".join(names), [])
        table += [row for row in _rows(declared) if row not in table]
    parts = [
        "\n".join([f"## {heading}\n", *markdown_lines([("option", "meaning"), *rows])])
        for heading, rows in sorted(tables.items())
        if rows
    ]
    return "\n\n".join([_INTRODUCTION, _recipes(), *parts])


def _recipes() -> str:
    """The table of the ways to train: what each needs from the annotation to the translation."""
    rows: list[tuple[str, ...]] = [
        ("method", "`--arch`", "`prepare`", "training", "`--criterion`", "translation")
    ]
    for recipe in LINES:
        cells = (
            recipe.save_dir if recipe.is_printed else "",
            recipe.arch,
            " ".join(making_options(recipe.needs)),
            " ".join(recipe.training_options),
            recipe.criterion,
            " ".join(loading_options(recipe.reads)),
        )
        rows.append(tuple(f"`{cell}`" if cell else "–" for cell in cells))
    return "\n".join(["## Ways to train\n", _WAYS, *markdown_lines(rows)])


def _subject(declared: type) -> str | None:
    """What options of methods are about, in the first words of the method's folder, or of the file
    that several methods share; None = they are no method's."""
    package = declared.__module__.rpartition(".")[0]
    place = declared.__module__ if package == _METHODS else package
    if not place.startswith(f"{_METHODS}."):
        return None
    return (sys.modules[place].__doc__ or "").splitlines()[0].rstrip(".")


def _overrides(declared: type) -> bool:
    """Whether options only have other defaults than those of a method."""
    inherited = {name for base in declared.__mro__[1:] for name in get_annotations(base)}
    return set(get_annotations(declared)) <= inherited


def _rows(declared: type) -> list[tuple[str, str]]:
    """The options that a class declares; those that methods share stand with each method."""
    own = get_annotations(declared)
    is_of_method = declared.__module__.rpartition(".")[0].startswith(f"{_METHODS}.")
    return [
        _row(each)
        for each in fields(declared)
        # An option without help is one of another group, only read here.
        if "help" in each.metadata
        if (is_of_method if each.metadata.get("shared") else each.name in own)
    ]


def _row(option: Field) -> tuple[str, str]:
    text = option.metadata["help"]
    return f"`{flag(option.name)}`", text[0].upper() + text[1:]


def _is_ours(component: Any) -> bool:
    return component.__module__.startswith(_PACKAGE)
