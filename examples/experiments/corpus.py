"""The data of a table: text by its checksum, chosen training pairs, and `syntax-nmt prepare`."""

import glob
import hashlib
import json
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from experiments.programs import fill, run_program, write_json
from syntax_nmt.arguments import CommandParser
from syntax_nmt.commands import demo
from syntax_nmt.data.annotation import TEXT_KINDS
from syntax_nmt.data.controls.kinds import CONTROLS
from syntax_nmt.data.folder_lock import folder_lock
from syntax_nmt.data.text_files import find_text, read_lines, write_bytes_atomically
from syntax_nmt.errors import UserError, one_line_errors
from syntax_nmt.scoring.parallel_text import read_parallel

DONE = "done.json"
PARSED = "parsed"  # a control without annotation, so that `prepare` parses its texts


def declared_tests(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The test sets of data, by name: the YAML's, or those that `syntax-nmt demo` writes, of which
    a generalisation split has a second one."""
    if "demo" not in data:
        return data["tests"]
    parser = CommandParser(prog="syntax-nmt demo")
    demo.add_arguments(parser)
    split = parser.parse_args(["corpus", *shlex.split(data["demo"])]).split
    return {name: name for name in ("test", *(["left_out"] if split else []))}


def key_of(content: Any) -> str:
    """A short name of what JSON can hold: equal contents have equal keys."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def plan_data(data: Mapping[str, Any], root: Path | None, stanza: Path | None) -> dict[str, Any]:
    """What a job needs to prepare data, with the key that it is known by.

    The key stands for what the YAML says and for the bytes of the text files and of all of Stanza's
    models, not for their places: it is the same on every machine.

    Args:
        data: as the YAML has it.
        root: of the texts (`--data`).
        stanza: of the models (`--stanza`).

    Raises:
        UserError: a file is missing.
    """
    if "{stanza}" in data["prepare"] and stanza is None:
        raise UserError("this table needs Stanza's models: give their folder with --stanza")
    if "demo" not in data and root is None:
        raise UserError("this table needs text: give the folder of the corpora with --data")
    tests, texts, further = declared_tests(data), {}, {}
    if root is not None and "demo" not in data:
        given = {name: prefix for name, prefix in tests.items() if isinstance(prefix, str)}
        for split, prefix in {"train": data["train"], "valid": data["valid"], **given}.items():
            for lang in (data["source"], data["target"]):
                texts[f"{split}.{lang}"] = _found(root / f"{prefix}.{lang}")
        further = {name: _found(root / path) for name, path in data.get("files", {}).items()}
    files = list(map(Path, [*texts.values(), *further.values()]))
    if stanza is not None and "{stanza}" in data["prepare"]:
        pattern = f"{glob.escape(str(stanza))}/**/*.pt"  # unlike rglob, follows links to folders
        models = sorted(map(Path, glob.glob(pattern, recursive=True)))
        if not models:
            raise UserError(f"--stanza {stanza}: has no models, files *.pt, in it or below")
        files += models
    checksums = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    places = {"texts": texts, "files": further, "stanza": str(stanza)}
    return {"key": key_of([data, checksums]), "data": data, "tests": list(tests), **places}


def plan_control(plan: Mapping[str, Any], kind: str, seed: int) -> dict[str, Any]:
    """The plan of the same data with annotation without syntax.

    Args:
        plan: of the data whose annotation it is made of.
        kind: of `syntax-nmt control`, or :data:`PARSED`.
    """
    drawn = {"of": plan["key"], "kind": kind, "seed": seed}
    if kind not in ("shuffled", "borrowed"):  # draws nothing: one for all seeds
        del drawn["seed"]
    return {**plan, "key": key_of(drawn), "control": drawn}


def _found(path: Path) -> str:
    found = find_text(path)
    if found is None:
        raise UserError(f"{path}: no such file, nor with .gz: check --data")
    return str(found)


def prepare(plan: Mapping[str, Any], folder: Path, lock: int) -> None:
    """Makes `corpus` and `prepared` in a folder, then `done.json`, as both are whole.

    Args:
        lock: a descriptor that programs hold on to.
    """
    run = partial(run_program, keep_open=[lock])
    data, log = plan["data"], folder / "prepare.log"
    corpus, prepared = folder / "corpus", folder / "prepared"
    if not corpus.is_dir():
        unfinished = Path(tempfile.mkdtemp(prefix="unfinished-", dir=folder))
        if "control" in plan:
            _write_control(plan, folder.parent / plan["control"]["of"], unfinished, run, log)
        elif "demo" in data:
            run("syntax_nmt.cli", ["demo", str(unfinished), *shlex.split(data["demo"])], log)
        else:
            _write_texts(plan, unfinished)
        unfinished.rename(corpus)
    tests = ",".join(str(corpus / name) for name in plan["tests"])
    options = ["--source-lang", data["source"], "--target-lang", data["target"]]
    options += ["--trainpref", str(corpus / "train"), "--validpref", str(corpus / "valid")]
    options += ["--testpref", tests, "--destdir", str(prepared)]
    options += fill(data["prepare"], {"corpus": str(corpus), "stanza": plan["stanza"]})
    run("syntax_nmt.cli", ["prepare", *options], log)
    done = {"checksum": _checksum(prepared / "data-bin"), "tests": plan["tests"]}
    write_json(folder / DONE, done)


def _write_control(
    plan: Mapping[str, Any], of: Path, folder: Path, run: Callable[..., None], log: Path
) -> None:
    """The corpus of other data, and controls of the annotation of its words.

    What a control cannot be made of, chunks where it is one of heads, stays as it is. A parsed one
    has no annotation yet.
    """
    kind, seed = plan["control"]["kind"], plan["control"].get("seed", 0)
    if kind == PARSED:
        annotation = shutil.ignore_patterns(*(f"*.{each.ending}*" for each in TEXT_KINDS))
        shutil.copytree(of / "corpus", folder, ignore=annotation, dirs_exist_ok=True)
        return
    changed = {each.ending for each in CONTROLS[kind]}
    shutil.copytree(of / "corpus", folder, dirs_exist_ok=True)
    names = {"train": "train", "valid": "valid"}
    names |= {f"test{place or ''}": name for place, name in enumerate(plan["tests"])}
    made = 0
    for ending in (each.ending for each in TEXT_KINDS):
        for file in sorted((of / "prepared" / "words").glob(f"*.*.{ending}")):
            split, lang, _ = file.name.split(".")
            output = folder / f"{names[split]}.{lang}.{ending}"
            if ending in changed:
                options = ["--kind", kind, "--seed", str(seed), str(file), "--output", str(output)]
                if kind == "majority":
                    options += ["--training", str(file.with_name(f"train.{lang}.{ending}"))]
                run("syntax_nmt.cli", ["control", *options], log)
                made += 1
            else:
                shutil.copy(file, output)
    if not made:
        raise UserError(f"{of / 'prepared'}: has no annotation for a control of the kind {kind}")


def _write_texts(plan: Mapping[str, Any], folder: Path) -> None:
    """The texts as they are, but of the training pairs those that the YAML chooses."""
    for name, file in plan["files"].items():
        text = "".join(f"{line}\n" for line in read_lines(file))
        write_bytes_atomically(folder / name, text.encode())
    data, train = plan["data"], _pairs(plan, "train")
    chosen = chosen_pairs(train, data)
    for split in ("train", "valid", *plan["tests"]):
        test = data["tests"].get(split)
        if split == "train":
            pairs = chosen
        elif isinstance(test, Mapping):
            pairs = unused_pairs(train, chosen, test["unused"])
        else:
            pairs = _pairs(plan, split)
        for lang, side in zip((data["source"], data["target"]), zip(*pairs)):
            text = "".join(f"{line}\n" for line in side)
            write_bytes_atomically(folder / f"{split}.{lang}", text.encode())


def _pairs(plan: Mapping[str, Any], split: str) -> list[tuple[str, ...]]:
    """The pairs of a split's files.

    Raises:
        UserError: the files have different numbers of lines.
    """
    files = [plan["texts"][f"{split}.{plan['data'][side]}"] for side in ("source", "target")]
    return list(zip(*read_parallel(*files)))


def chosen_pairs(
    pairs: Iterable[tuple[str, ...]], data: Mapping[str, Any]
) -> list[tuple[str, ...]]:
    """Training pairs in the order of the corpus: `max_words`, then `every`, then `longest`."""
    most = data.get("max_words", float("inf"))
    kept = [pair for pair in pairs if max(map(_words, pair)) <= most][:: data.get("every", 1)]
    order = sorted(range(len(kept)), key=lambda place: -_words(kept[place][0]))
    return [kept[place] for place in sorted(order[: data.get("longest")])]


def unused_pairs(
    pairs: Sequence[tuple[str, ...]], chosen: Iterable[tuple[str, ...]], number: int
) -> list[tuple[str, ...]]:
    """Pairs at equal distances among those of which neither side is trained on: a test set.

    Args:
        pairs: of the corpus, in its order.
        chosen: those that are trained on.
        number: of pairs to take.

    Raises:
        UserError: there are fewer.
    """
    trained = [set(side) for side in zip(*chosen)]
    left = [pair for pair in pairs if not any(text in side for text, side in zip(pair, trained))]
    if len(left) < number:
        raise UserError(f"tests: {number} unused pairs are asked for, and {len(left)} are left")
    return [left[place * len(left) // number] for place in range(number)]


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
    with one_line_errors("experiments"), folder_lock(folder) as lock:
        if (folder / DONE).is_file():  # made by the one that was waited for
            return
        for left in folder.glob("unfinished-*"):
            shutil.rmtree(left)
        prepare(json.loads((folder / "data.json").read_text(encoding="utf-8")), folder, lock)


if __name__ == "__main__":
    main()
