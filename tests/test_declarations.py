"""A paper is one declaration: no code outside of its folder knows it."""

import ast
import re
from dataclasses import fields

import tested_methods
from commands import REPOSITORY
from methods import BASES
from methods import METHODS as TRAINED
from nonempty import some

from syntax_nmt.methods import METHODS
from syntax_nmt.models.options import SyntaxRNNOptions, SyntaxTransformerOptions
from syntax_nmt.option_checks import choices_of

PACKAGE = REPOSITORY / "syntax_nmt"
# Files of syntax_nmt/methods that are no paper's.
SHARED = "(column_labels|method|objective|sizes)"
# The options of the built-in corpus's own model; an example.
MAY_NAME = {"builtin_corpus/trained.py", "commands/options.py"}


def lines():
    """(place, line) of all code outside of the methods, but of what may name them."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith("methods/") and name not in MAY_NAME:
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                yield f"{name}:{number}: {line.strip()}", line


def test_no_other_code_imports_from_a_paper():
    importing = re.compile(rf"syntax_nmt\.methods\.(?!{SHARED}\b)")
    assert [place for place, line in lines() if importing.search(line)] == []


def test_no_other_code_names_architectures_or_options():
    options = [each.name for method in METHODS for each in fields(method.options)]
    names = {*options, *(name for method in METHODS for name in method.presets)} - {"_name"}
    # Kinds of annotation have keys of these names, and checkpoints keep labels under them.
    names -= {"chunk_tags", *(name for name in names if name.startswith("feature_"))}
    names |= {"--" + name.replace("_", "-") for name in names}
    assert len(names) > 100
    known = re.compile(rf"(?<![\w-])({'|'.join(sorted(names, key=len, reverse=True))})(?![\w-])")
    assert [place for place, line in lines() if known.search(line)] == []


# Keys of fairseq's dictionaries, and of those that all stacks fill.
COMMON_KEYS = {
    *("net_input", "nll_loss", "src_lengths", "src_tokens", "prev_output_tokens"),
    *("encoder_out", "encoder_padding_mask", "encoder_states", "encoder_embedding"),
}


def keys_of(tree):
    """Literal keys of dictionaries that code reads or fills, and names of constants' values."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            yield node.slice
        elif isinstance(node, ast.Dict):
            yield from filter(None, node.keys)
        elif isinstance(node, ast.Assign):
            yield from node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]


def test_no_other_code_has_keys_of_a_paper():
    """What a method's tensors are called, if it is no structure that any method could give."""
    options = {each.name for each in (*fields(SyntaxTransformerOptions), *fields(SyntaxRNNOptions))}
    keys = {
        node.value
        for path in PACKAGE.glob("methods/*/*.py")
        if path.name != "options.py"
        for node in keys_of(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    keys = {key for key in keys if re.fullmatch("[a-z]+(_[a-z]+)+", key)} - COMMON_KEYS - options
    assert len(keys) > 20
    known = re.compile(rf"[\"']({'|'.join(sorted(keys))})[\"']")
    assert [place for place, line in lines() if known.search(line)] == []


def test_the_list_has_each_folder_once():
    folders = {path.parent.name for path in PACKAGE.glob("methods/*/__init__.py")}
    listed = [method.options.__module__.split(".")[2] for method in METHODS]
    assert sorted(listed) == sorted(folders)
    for method in METHODS:
        assert len({line.name for line in method.recipes}) == len(method.recipes)
        assert all(line.arch in method.presets for line in method.recipes)


def test_help_names_the_presets_that_change_a_default():
    every = (*fields(SyntaxTransformerOptions), *fields(SyntaxRNNOptions))
    helps = {each.name: each.metadata.get("help", "") for each in every}
    changed = [
        (name, option, value)
        for method in METHODS
        for name, preset in method.presets.items()
        for option, value in {
            **preset.options,
            **preset.sizes.get("", {}),
            **preset.derived,
        }.items()
        if option in helps
    ]
    assert [each for each in some(changed) if not is_named(helps[each[1]], each[0], each[2])] == []


def is_named(text: str, preset: str, value: object) -> bool:
    """Whether a help says a preset's value, unless a function derives it: then in its own words."""
    shown = {True: "on"}.get(value, str(value)) if not callable(value) else ""
    names = rf"\b{preset}\b[^;:)]*|presets|default"
    return re.search(rf"({names}): (the paper's )?{re.escape(shown)}", text) is not None


def test_what_switches_an_extension_on_is_a_switch():
    """Otherwise a training goes on in the folder of another method."""
    found = {
        (method.name, each.name)
        for method in METHODS
        for extension in method.extensions.values()
        for each in fields(method.options)
        for value in choices_of(each) or (True, 1)
        if extension.is_on(method.options(**{each.name: value}), None)
    }
    assert len(found) > 15
    switches = {(method.name, switch) for method in METHODS for switch in method.switches}
    assert found - switches == set()


def test_what_tests_know_is_of_declared_methods():
    """A table without a method, after a renaming, would test nothing."""
    names = {method.name for method in METHODS}
    recipes = {line.name for method in METHODS for line in method.recipes}
    tables = {name: table for name, table in vars(tested_methods).items() if name.isupper()}
    assert len(tables) > 8
    for name, table in tables.items():
        of_methods = name in ("ENABLING_OPTIONS", "TRIALS", "FINDS_WORDS", "FINDS_ENDS")
        assert table, name
        assert {*table} <= (names if of_methods else recipes), name


def test_endurance_is_tested_for_every_architecture():
    found = {method.partition("+")[0] for method in TRAINED}
    assert found == BASES, (
        f"declare a recipe of {sorted(BASES - found)} (`recipes` of its METHOD), and none of "
        f"{sorted(found - BASES)}"
    )
