"""ARCHITECTURE.md says what may import what; the code keeps to it."""

import ast
import graphlib
import importlib
import re
import subprocess
import sys

import pytest
from commands import REPOSITORY

PACKAGE = REPOSITORY / "syntax_nmt"
LIGHT = "# neither torch nor fairseq from here down\n"
SCOPES = ["", "scoring", "pictures"]


def block(scope):
    """The lines of ARCHITECTURE.md about the package, or about a folder of it."""
    text = (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (found,) = re.findall(rf"```{f'floors {scope}'.strip()}\n(.*?)```", text, flags=re.DOTALL)
    return found


def parts_of(lines):
    return [row for line in lines.splitlines() if (row := line.partition("#")[0].split())]


def floors(scope):
    """The parts by ARCHITECTURE.md: the floor of each, the lowest being 0."""
    rows = parts_of(block(scope))
    return {part: floor for floor, row in enumerate(reversed(rows)) for part in row}


def part_of(module, scope):
    """`data` of `syntax_nmt.data.annotation`; None outside of the scope."""
    prefix = f"syntax_nmt.{scope}.".replace("..", ".")
    return module.removeprefix(prefix).split(".")[0] if module.startswith(prefix) else None


def files(scope):
    """(file, its part) of what the scope holds."""
    for path in (PACKAGE / scope).rglob("*.py"):
        yield path, path.relative_to(PACKAGE / scope).parts[0].removesuffix(".py")


def imports(scope):
    """(file, importing part, imported part) of all imports within the scope."""
    for path, part in files(scope):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: a relative import"
                names = [node.module]
            for name in names:
                if other := part_of(name, scope):
                    yield path, part, other


@pytest.mark.parametrize("scope", SCOPES)
def test_every_part_has_a_floor(scope):
    parts = {path.name.removesuffix(".py") for path in (PACKAGE / scope).iterdir()}
    assert parts - {"__init__", "__pycache__", "py.typed"} == set(floors(scope))


@pytest.mark.parametrize("scope", SCOPES)
def test_nothing_imports_from_a_higher_floor(scope):
    floor = floors(scope)
    found = list(imports(scope))
    assert len(found) > (30 if scope else 1000)
    wrong = [
        f"{path}: {part} imports {other}"
        for path, part, other in found
        if part != "__init__" and floor[part] <= floor[other] and part != other
    ]
    assert wrong == []


# In syntax_nmt/methods.
SHARED = ("arc_labels", "column_labels", "method", "objective", "parent_heads", "sizes")


def test_no_method_imports_another():
    """What several of them need stands in the backbone; models combine them."""
    found = [each for each in imports("methods") if each[1] != "__init__"]
    assert len(found) > 20
    assert {(part, other) for _, part, other in found if other not in (part, *SHARED)} == set()


def test_what_scores_files_starts_without_torch():
    """Nor does it load torch or fairseq later: no import of them, wherever it stands."""
    paths = []
    for scope in ("scoring", "pictures"):
        light = {part for row in parts_of(block(scope).partition(LIGHT)[2]) for part in row}
        paths += [path for path, part in files(scope) if part in light]
    assert len(paths) > 60
    names = [".".join(path.relative_to(REPOSITORY).with_suffix("").parts) for path in paths]
    program = (
        f"import importlib, sys\nfor name in {names}:\n    importlib.import_module(name)\n"
        "    assert not {'torch', 'fairseq'} & set(sys.modules), name"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=REPOSITORY)
    later = re.compile(r"^\s*(import|from) (torch|fairseq)\b", flags=re.MULTILINE)
    assert [path for path in paths if later.search(path.read_text(encoding="utf-8"))] == []


PARSERS = {
    "arguments.py",
    "cli.py",
    "export/translate.py",  # a program of its own
    "models/family_options.py",  # fairseq hands it its parser
    "task/early_options.py",  # likewise
    "task/misspelled_names.py",  # before fairseq has one
}


def test_options_stay_at_the_door():
    """`commands/` turns parsed arguments into settings; the rest is called from Python, too."""
    importing = re.compile(r"^\s*(import|from) argparse\b", flags=re.MULTILINE)
    texts = {path: path.read_text(encoding="utf-8") for path, _ in files("")}
    outside = {
        str(path.relative_to(PACKAGE))
        for path, text in texts.items()
        if importing.search(text) and "commands" not in path.relative_to(PACKAGE).parts
    }
    assert outside == PARSERS


def test_no_module_imports_itself_in_a_circle():
    """Not even for types alone."""
    modules = {
        ".".join(("syntax_nmt", *path.relative_to(PACKAGE).with_suffix("").parts)): path
        for path in PACKAGE.rglob("*.py")
    }
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    imported = {}
    for name, path in modules.items():
        found = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        imported[name] = (found & modules.keys()) - {name}
    assert len(imported) > 300
    graphlib.TopologicalSorter(imported).prepare()  # raises CycleError, which names them


def lazy_packages():
    """By package that loads its public names on first use, the module of each name for types."""
    for path in sorted(PACKAGE.rglob("__init__.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        if any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in body):
            for_types = (node for node in body if isinstance(node, ast.If))
            yield (
                ".".join(path.parent.relative_to(REPOSITORY).parts),
                {
                    alias.name: each.module
                    for node in for_types
                    if getattr(node.test, "id", None) == "TYPE_CHECKING"
                    for each in node.body
                    for alias in each.names
                },
            )


def test_public_names_that_load_on_first_use_are_there():
    """After a module is renamed, too; and type checkers see what a program gets."""
    found = dict(lazy_packages())
    assert {"syntax_nmt", "syntax_nmt.scoring"} <= found.keys()
    for name, modules in found.items():
        package = importlib.import_module(name)
        assert set(package.__all__) == modules.keys()
        for public, module in modules.items():
            expected = getattr(importlib.import_module(module), public)
            assert getattr(package, public) is expected, f"{name}.{public}"
