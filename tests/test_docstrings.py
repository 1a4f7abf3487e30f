"""Docstrings describe what names do not say, and lead to what there is."""

import ast
import inspect
import re

import pytest
from commands import REPOSITORY

SMALL = set(re.findall(r"\w+", "a an and are as be by for from has have in is it its of on or that "
    "the their them they this to where which who whose with"))  # fmt: skip
ROLE = re.compile(r":(class|func|meth|mod):`~?([\w.]+)`")  # those that become links
ENTRY = re.compile(r"^    \*{0,2}(\w+): (.*(?:\n {5,}.*)*)", re.M)


def entries(heading="Args"):
    """What every docstring lists below a heading: place, name and description."""
    for part in ("syntax_nmt", "examples"):
        for path in (REPOSITORY / part).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    text = inspect.cleandoc(ast.get_docstring(node) or "")
                    for block in re.findall(rf"^{heading}:\n((?:    .*\n?)+)", text, re.M):
                        place = f"{path.relative_to(REPOSITORY)}:{node.lineno}"
                        yield from ((place, *entry) for entry in ENTRY.findall(block))


def says_nothing(name, description):
    """Whether it adds at most a word to the name.

    Numbers, code and the symbols of equations (τ, the width of s) are more than words; "likewise"
    says what the entry before says.
    """
    if re.search(r"[^\w\s.,;'’-]|[\d_Α-ω]|\b[A-Z]+\b|\bNone\b|\b[a-z]\.?$", description):
        return False
    if description in ("likewise.", "the same."):
        return False
    known = {word.rstrip("s") for word in name.lower().split("_")}
    words = {word for word in re.findall(r"\w{2,}", description.lower()) if word not in SMALL}
    return len({word for word in words if word.rstrip("s") not in known}) <= 1


def test_no_entry_says_nothing():
    found = [
        f"{path}: {name}: {text}" for path, name, text in entries() if says_nothing(name, text)
    ]
    assert not found, "leave them out, or say what the name does not:\n" + "\n".join(found)


@pytest.mark.parametrize("heading", ["Args", "Attributes"])
def test_every_entry_begins_a_line(heading):
    hidden = re.compile(r"\.\s+\*{0,2}[a-z_]+:\s")
    found = [f"{place}: {name}" for place, name, text in entries(heading) if hidden.search(text)]
    assert not found, "the next entry stands within this one:\n" + "\n".join(found)


def named(path):
    """The dotted name of a module, then those of what it defines or imports, and of its classes."""
    module = ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")
    yield module
    nodes = [(module, node) for node in ast.parse(path.read_text(encoding="utf-8")).body]
    for within, node in nodes:
        for name in getattr(node, "name", None), getattr(getattr(node, "target", None), "id", None):
            if name is not None:
                yield f"{within}.{name}"
        if isinstance(node, ast.ImportFrom):
            yield from (f"{within}.{alias.name}" for alias in node.names)
        if isinstance(node, ast.ClassDef):
            nodes += [(f"{within}.{node.name}", inner) for inner in node.body]


def test_roles_lead_to_what_there_is():
    """The site's build follows them, and stops at one that leads nowhere."""
    files = sorted((REPOSITORY / "syntax_nmt").rglob("*.py"))
    known = {name for path in files for name in named(path)}
    lost = []
    for path in files:
        module, *own = named(path)
        within = (module, *own)
        for kind, name in ROLE.findall(path.read_text(encoding="utf-8")):
            places = (name, *(f"{each}.{name}" for each in within))
            imported = "." in name and f"{module}.{name.partition('.')[0]}" in own
            if not imported and not known.intersection(places):
                lost.append(f"{path.relative_to(REPOSITORY)}: {kind} {name}")
    assert not lost, "give the whole name:\n" + "\n".join(lost)


def test_what_says_nothing():
    assert says_nothing("model", "the model.")
    assert says_nothing("paths", "of the files.")
    assert not says_nothing("paths", "of the files, plain or `.gz`.")
    assert not says_nothing("x", "B×S×C.")
    assert not says_nothing("temperature", "τ.")
    assert not says_nothing("memory_dim", "width of a.")
    assert not says_nothing("gold", "likewise.")
    assert not says_nothing("least", "counted from the first word.")
