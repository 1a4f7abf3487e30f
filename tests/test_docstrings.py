"""An argument is described only where its name does not say it."""

import ast
import inspect
import re

from commands import REPOSITORY

FEW = 40
SMALL = set(re.findall(r"\w+", "a an and are as be by for from has have in is it its of on or that "
    "the their them they this to where which who whose with"))  # fmt: skip
ENTRY = re.compile(r"^    \*{0,2}(\w+): (.*(?:\n {5,}.*)*)", re.M)


def entries():
    """The arguments of every docstring: file, name and description."""
    for part in ("syntax_nmt", "examples"):
        for path in (REPOSITORY / part).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    text = inspect.cleandoc(ast.get_docstring(node) or "")
                    for block in re.findall(r"^Args:\n((?:    .*\n?)+)", text, re.M):
                        yield from ((path, *entry) for entry in ENTRY.findall(block))


def says_nothing(name, description):
    """Whether it adds at most a word to the name; numbers, symbols and code are more than words."""
    if re.search(r"[^\w\s.,;'’-]|[\d_]|\b[A-Z]+\b|\bNone\b", description):
        return False
    known = {word.rstrip("s") for word in name.lower().split("_")}
    words = {word for word in re.findall(r"\w{2,}", description.lower()) if word not in SMALL}
    return len({word for word in words if word.rstrip("s") not in known}) <= 1


def test_few_entries_say_nothing():
    found = [entry for entry in entries() if says_nothing(*entry[1:])]
    assert len(found) <= FEW, "\n".join(f"{path}: {name}: {text}" for path, name, text in found)


def test_what_says_nothing():
    assert says_nothing("model", "the model.")
    assert says_nothing("paths", "of the files.")
    assert not says_nothing("paths", "of the files, plain or `.gz`.")
    assert not says_nothing("x", "B×S×C.")
    assert not says_nothing("least", "counted from the first word.")
