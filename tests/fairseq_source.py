"""fairseq's source, to be searched for what its programs do with data."""

import ast
from collections.abc import Iterator
from pathlib import Path

import fairseq
import fairseq_cli

FOLDERS = (Path(fairseq.__file__).parent, Path(fairseq_cli.__file__).parent)


def sources() -> Iterator[tuple[str, str, ast.Module]]:
    """File, module and content of fairseq and its programs, without its examples."""
    for folder in FOLDERS:
        for path in sorted(folder.rglob("*.py")):
            file = path.relative_to(folder).as_posix()
            if not file.startswith("examples/"):
                module = f"{folder.name}.{file.removesuffix('.py').replace('/', '.')}"
                yield file, module, ast.parse(path.read_text(encoding="utf-8"))


def imported_names(content: ast.Module) -> dict[str, str]:
    """What a name of a file stands for: `np` for numpy, `run` for subprocess.run."""
    names = {}
    for node in ast.walk(content):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.split(".")[0]
                names[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def called(node: ast.Call, names: dict[str, str]) -> str:
    """The whole name of what is called, such as numpy.load."""
    first, dot, rest = ast.unparse(node.func).partition(".")
    return names.get(first, first) + dot + rest
