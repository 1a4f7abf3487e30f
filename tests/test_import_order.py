"""ARCHITECTURE.md says what may import what; the code keeps to it."""

import ast
import re

from commands import REPOSITORY

PACKAGE = REPOSITORY / "syntax_nmt"
BELOW_ALL = {"errors"}


def floors():
    """The parts of the package by ARCHITECTURE.md: the floor of each, the lowest being 0."""
    text = (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```floors\n(.*?)```", text, flags=re.DOTALL)
    rows = [line.partition("#")[0].split() for line in block.splitlines()]
    return {part: floor for floor, row in enumerate(reversed(rows)) for part in row}


def part_of(module):
    """`data` of `syntax_nmt.data.sides`; a module of the package itself is its own part."""
    return module.split(".")[1] if "." in module else "__init__"


def imports():
    """(file, importing part, imported part) of all imports within the package."""
    for path in [*PACKAGE.rglob("*.py"), *(REPOSITORY / "preprocess").rglob("*.py")]:
        inside = path.relative_to(PACKAGE if PACKAGE in path.parents else REPOSITORY)
        part = inside.parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: a relative import"
                names = [node.module]
            for name in names:
                if name.partition(".")[0] == "syntax_nmt":
                    yield inside, part, part_of(name)


def test_every_part_has_a_floor():
    parts = {path.name.removesuffix(".py") for path in PACKAGE.iterdir()}
    assert parts - {"__init__", "__pycache__"} == set(floors())


def test_nothing_imports_from_a_higher_floor():
    floor = floors()
    found = list(imports())
    assert len(found) > 1000
    wrong = [
        f"{path}: {part} imports {other}"
        for path, part, other in found
        if "__init__" not in (part, other) and floor[part] <= floor[other] and part != other
    ]
    assert wrong == []
