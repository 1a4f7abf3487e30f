"""The data of a table: text by its checksum, chosen training pairs, and `syntax-nmt prepare`."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from experiments.programs import fill, run_program
from syntax_nmt.data.text_files import (
    NEWLINE_ONLY,
    find_text,
    read_lines,
    write_bytes_atomically,
)
from syntax_nmt.errors import UserError, one_line_errors

DONE = "done.json"
_BUILT_IN_TEST = "test"


def key_of(content: Any) -> str:
    """A short name of what JSON can hold: equal contents have equal keys.

    Args:
        content: anything that is JSON.
    """
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def plan_data(data: Mapping[str, Any], root: Path | None, stanza: Path | None) -> dict[str, Any]:
    """What a job needs to prepare the data, with the key that it is known by.

    The key stands for what the YAML says and for the bytes of text and of Stanza's models, not for
    their places, so that it is the same on every machine.

    Args:
        data: as the YAML has it.
        root: of the texts (`--data`).
        stanza: of the models (`--stanza`).

    Raises:
        UserError: a file is missing.
    """
    texts: dict[str, str] = {}
    tests = data.get("tests", {_BUILT_IN_TEST: _BUILT_IN_TEST})
    if "demo" not in data:
        if root is None:
            raise UserError("this table needs text: give the folder of the corpora with --data")
        for split, prefix in {"train": data["train"], "valid": data["valid"], **tests}.items():
            for lang in (data["source"], data["target"]):
                texts[f"{split}.{lang}"] = str(_text_file(root / f"{prefix}.{lang}"))
    files = list(texts.values())
    if "{stanza}" in data["prepare"]:
        if stanza is None:
            raise UserError("this table needs Stanza's models: give their folder with --stanza")
        files += sorted(map(str, stanza.rglob("*.pt")))
    checksums = [hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files]
    return {
        "key": key_of([data, checksums]),
        "declared": data,
        "tests": list(tests),
        "texts": texts,
        "stanza": str(stanza) if stanza else None,
    }


def _text_file(path: Path) -> Path:
    found = find_text(path)
    if found is None:
        raise UserError(f"{path}: no such file, nor with .gz: give the folder above with --data")
    return found.resolve()


def prepare(plan: Mapping[str, Any], folder: Path) -> None:
    """Makes `corpus` and `prepared` in a folder, and says that they are whole in `done.json`.

    Args:
        plan: of :func:`plan_data`.
        folder: for everything.
    """
    declared, log = plan["declared"], folder / "prepare.log"
    corpus, prepared = folder / "corpus", folder / "prepared"
    if not corpus.is_dir():
        unfinished = Path(tempfile.mkdtemp(prefix="unfinished-", dir=folder))
        if "demo" in declared:
            options = shlex.split(declared["demo"])
            run_program("syntax_nmt.cli", ["demo", str(unfinished), *options], log)
        else:
            _write_texts(plan, unfinished)
        unfinished.rename(corpus)
    tests = ",".join(str(corpus / name) for name in plan["tests"])
    options = ["--source-lang", declared["source"], "--target-lang", declared["target"]]
    options += ["--trainpref", str(corpus / "train"), "--validpref", str(corpus / "valid")]
    options += ["--testpref", tests, "--destdir", str(prepared)]
    places = {"corpus": str(corpus)} | ({"stanza": plan["stanza"]} if plan["stanza"] else {})
    options += fill(declared["prepare"], places)
    run_program("syntax_nmt.cli", ["prepare", *options], log)
    done = {"checksum": _checksum(prepared / "data-bin"), "tests": plan["tests"]}
    write_bytes_atomically(folder / DONE, json.dumps(done).encode())


def _write_texts(plan: Mapping[str, Any], folder: Path) -> None:
    """The texts as they are, but of the training pairs those that were chosen."""
    declared = plan["declared"]
    langs = declared["source"], declared["target"]
    for split in ("train", "valid", *plan["tests"]):
        sides = [list(read_lines(plan["texts"][f"{split}.{lang}"], NEWLINE_ONLY)) for lang in langs]
        if len(sides[0]) != len(sides[1]):
            named = plan["texts"][f"{split}.{langs[0]}"]
            counts = f"{len(sides[0])} and {len(sides[1])}"
            raise UserError(f"{named} and its {langs[1]} side have {counts} lines")
        pairs: Iterable[tuple[str, ...]] = zip(*sides)
        if split == "train":
            pairs = chosen_pairs(pairs, declared)
        for lang, side in zip(langs, zip(*pairs)):
            text = "".join(f"{line}\n" for line in side)
            (folder / f"{split}.{lang}").write_text(text, encoding="utf-8")


def chosen_pairs(
    pairs: Iterable[tuple[str, ...]], declared: Mapping[str, Any]
) -> Iterator[tuple[str, ...]]:
    """Training pairs that a table asks for, in the order of the corpus.

    Args:
        pairs: source and target.
        declared: with `max_words` (of either side), `every` (the first of so many) and `longest`
            (so many, by words of the source), each of them optional and applied in this order.
    """
    most = declared.get("max_words")
    kept = [pair for pair in pairs if most is None or max(map(_words, pair)) <= most]
    kept = kept[:: declared.get("every", 1)]
    order = sorted(range(len(kept)), key=lambda i: -_words(kept[i][0]))
    yield from (kept[i] for i in sorted(order[: declared.get("longest")]))


def _words(text: str) -> int:
    return len(text.split())


def _checksum(databin: Path) -> str:
    """Of all that training reads, so that rows of other data can be told."""
    digest = hashlib.sha256()
    for file in sorted(databin.iterdir()):
        if file.suffix in (".bin", ".idx") or file.name.startswith("dict."):
            digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def main() -> None:
    """`python -m experiments.corpus FOLDER`: prepares what FOLDER/data.json plans."""
    folder = Path(sys.argv[1])
    with one_line_errors("experiments"):
        for left in folder.glob("unfinished-*"):
            shutil.rmtree(left)
        prepare(json.loads((folder / "data.json").read_text(encoding="utf-8")), folder)


if __name__ == "__main__":
    main()
