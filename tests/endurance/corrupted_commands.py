"""Our own commands on damaged input: all of `syntax-nmt MAIN`, in this process."""

import contextlib
import io
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from corruption_attempts import OTHER, Subject
from corruptions import Workspace
from small_models import build, save_checkpoint

from syntax_nmt.cli import main
from syntax_nmt.errors import UserError

Command = Callable[[Path, Path], list]

LANGUAGES = ("--source-lang", "src", "--target-lang", "tgt")
TEXTS = tuple(f"{folder}/valid.{lang}" for folder in ("words", "pieces") for lang in ("src", "tgt"))
ANNOTATION = ("words/valid.src.conllu", "words/valid.src.trees", "words/valid.tgt.chunks")
TOKENS = tuple(
    f"data-bin/valid.src-tgt.{lang}.{end}" for lang in ("src", "tgt") for end in ("bin", "idx")
)
TAGS = ("data-bin/syntax.json", "data-bin/dict.chunks.txt", "data-bin/dict.src.txt")


def command_subjects(prepared, folder: Path) -> list[Subject]:
    """Every command that reads what a user may have damaged."""
    pristine = folder / "pristine"
    shutil.copytree(prepared.folder, pristine, ignore=shutil.ignore_patterns("logs"))
    for path in prepared.corpus.glob("contrast.*"):
        shutil.copy(path, pristine)
    shutil.copy(prepared.corpus / "valid.align", pristine)
    for name, arch in {"heads.pt": "dependency_transformer", "chunks.pt": "bi_scale_rnn"}.items():
        options = ("--share-all-embeddings",) if name == "heads.pt" else ()
        model, _, cfg = build(pristine / "data-bin", arch, *options)
        save_checkpoint(pristine / name, model, cfg)
    space = Workspace(pristine, folder / "damaged")
    return [_subject(name, space, *COMMANDS[name]) for name in COMMANDS]


def _binarize(at: Path, out: Path) -> list:
    shutil.copytree(at / "data-bin", out / "data-bin", copy_function=os.link)
    prefixes = ("--validpref", at / "pieces/valid", "--words", at / "words")
    return ["binarize", *LANGUAGES, *prefixes, "--destdir", out / "data-bin"]


def _model(command: str, model: str, *more: str) -> Command:
    """A command with a model over the validation text; `more` names its other files."""

    def arguments(at: Path, out: Path) -> list:
        files = [at / part if "/" in part or "." in part else part for part in more]
        output = ("--output", out / "output") if command != "contrast" else ()
        return [command, at / "data-bin", "--path", at / model, "--cpu", *files, *output]

    return arguments


def _files(command: str, *parts: str) -> Command:
    """A command over files alone."""

    def arguments(at: Path, out: Path) -> list:
        named = [at / part if "/" in part or "." in part else part for part in parts]
        return [command, *named]

    return arguments


_PIECES = ("--source", "pieces/valid.src", "--target", "pieces/valid.tgt", "--segmented")
_PARSES = "words/test.src.conllu"
_GOLD_TREES = ("--kind", "constituents", "--hypothesis", "words/test.src.trees")
_PAIRS = tuple(
    part
    for option, name in (("source", "src"), ("correct", "correct.tgt"),
                         ("incorrect", "incorrect.tgt"), ("distance", "distance"))
    for part in (f"--{option}", f"contrast.{name}")
)  # fmt: skip

COMMANDS: dict[str, tuple[Command, tuple[str, ...]]] = {
    "binarize": (_binarize, (*TEXTS, *ANNOTATION, *TOKENS, *TAGS)),
    "inspect": (
        lambda at, out: ["inspect", at / "data-bin", "--words", at / "words"],
        (*TOKENS, *TAGS, *ANNOTATION, "data-bin/valid.src-tgt.src.heads.bin"),
    ),
    "trees": (
        _model("trees", "heads.pt", "--gen-subset", "valid", "--conllu", "words/valid.src.conllu"),
        ("heads.pt", "words/valid.src.conllu", *TOKENS[:2], "data-bin/dict.src.txt"),
    ),
    "trees of a file": (
        _files("trees", "--hypothesis", _PARSES, "--conllu", _PARSES),
        (_PARSES,),
    ),
    "constituents": (
        _files("trees", *_GOLD_TREES, "--trees", "words/test.src.trees"),
        ("words/test.src.trees",),
    ),
    "align": (
        _model("align", "heads.pt", *_PIECES, "--score", "valid.align", "--gold-base", "0"),
        ("heads.pt", "pieces/valid.src", "pieces/valid.tgt", "valid.align"),
    ),
    "chunks": (
        _model("chunks", "chunks.pt", *_PIECES, "--score", "words/valid.tgt.chunks"),
        ("chunks.pt", "pieces/valid.src", "pieces/valid.tgt", "words/valid.tgt.chunks"),
    ),
    "contrast": (
        _model("contrast", "heads.pt", *_PAIRS, "--bpe", "sentencepiece",
               "--sentencepiece-model", "sentencepiece.model"),
        ("heads.pt", "sentencepiece.model", "contrast.src", "contrast.distance",
         "contrast.incorrect.tgt"),
    ),
    "average": (
        lambda at, out: ["average", at / "heads.pt", "--output", out / "averaged.pt"],
        ("heads.pt",),
    ),
    "score": (
        _files("score", "words/test.tgt", "--reference", "words/test.tgt", "--source",
               "words/test.src", "--metrics", "bleu", "chrf"),
        ("words/test.tgt", "words/test.src"),
    ),
}  # fmt: skip


def _subject(name: str, space: Workspace, command: Command, files: tuple[str, ...]) -> Subject:
    def read(file: str) -> tuple:
        with tempfile.TemporaryDirectory(dir=space.folder.parent) as out:
            return _run(name, command(space.folder, Path(out)), Path(out))

    def same_kind(file: str) -> list[str]:
        return [one for one in files if one != file and one.endswith(file[-4:])]

    return Subject(name, space, read, files, same_kind, allowed=lambda file: OTHER)


def _run(name: str, arguments: list, out: Path) -> tuple:
    """What a command printed and wrote; refused, it must leave nothing."""
    before = _listing(out)
    printed, errors = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
            main([str(argument) for argument in arguments])
    except SystemExit as error:
        refusal = error
    else:
        folder = str(out)
        return printed.getvalue().replace(folder, ""), errors.getvalue().replace(folder, "")
    assert _listing(out) == before, f"left behind: {_listing(out) ^ before}"
    if isinstance(refusal.code, str):
        raise refusal
    lines = [line for line in errors.getvalue().splitlines() if ": error: " in line]
    assert refusal.code == 1, f"{name} exits with {refusal.code}: {errors.getvalue()[-300:]}"
    assert lines, "nothing was said"
    raise UserError(lines[0])


def _listing(folder: Path) -> set:
    return {(path, path.stat().st_ino) for path in folder.rglob("*") if path.is_file()}
