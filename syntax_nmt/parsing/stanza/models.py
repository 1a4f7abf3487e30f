"""Finds the Stanza models of a task on disk; nothing is ever downloaded."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar

from syntax_nmt.data.text_files import checksum
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.parser import ParserModels
from syntax_nmt.parsing.stanza.offline import (
    default_folder,
    download_command,
    resources,
    stanza_names,
)
from syntax_nmt.text.languages import plain_language


@dataclass(frozen=True)
class ModelFile:
    """One file of a task.

    Attributes:
        single: its name in `--stanza-model`; empty = it has a separate option.
        file_name: its name in a folder of models of one language.
        needed: whether the task requires it.
    """

    single: str
    file_name: str
    needed: bool = True

    @property
    def option(self) -> str:
        """The option that names it, without the file."""
        return f"--stanza-model {self.single}=" if self.single else "--chunk-model "


CHUNKER = "ner_model_path"
# By the name that Stanza's pipeline has for each file.
_TAGGER = {"pos_model_path": ModelFile("pos", "tagger.pt")}
TASKS: dict[str, Mapping[str, ModelFile]] = {
    "dependencies": {
        **_TAGGER,
        "depparse_model_path": ModelFile("depparse", "parser.pt"),
        "mwt_model_path": ModelFile("mwt", "mwt.pt", needed=False),
    },
    "constituents": {
        **_TAGGER,
        "constituency_model_path": ModelFile("constituency", "constituency.pt"),
        "constituency_pretrain_path": ModelFile("pretrain", "con_pretrain.pt", needed=False),
    },
    "chunks": {CHUNKER: ModelFile("", "chunker.pt")},
}
# Stanza knows models of named entities by this name; none of them is one of chunks.
_NOT_STANZAS = "ner"
_SHARED_FOLDERS = ("pretrain", "forward_charlm", "backward_charlm", "lemma")


@dataclass(frozen=True)
class StanzaModels(ParserModels):
    """The paths of the models of one task.

    Attributes:
        task: one of :data:`TASKS`.
        lang: language code as Stanza knows it.
        stanza_dir: folder in Stanza's own layout; None where `files` name everything.
        files: (Stanza's name, path) of each file that is named.
    """

    task: str
    lang: str
    stanza_dir: Path | None
    files: tuple[tuple[str, Path], ...]

    parser: ClassVar[str] = "stanza"
    package: ClassVar[str] = "stanza"
    title: ClassVar[str] = "Stanza"

    @property
    def model_name(self) -> str:
        """The files, or the language of a folder in Stanza's own layout."""
        named = " and ".join(path.name for _, path in self.files)
        return named if self.stanza_dir is None else f"models of '{self.lang}'"

    @property
    def has_lemmas(self) -> bool:
        """Whether there is a lemmatiser, which only a folder in Stanza's own layout has."""
        return "lemma" in self.processors

    @property
    def versions(self) -> list[str]:
        """The versions of Stanza and torch."""
        return [*super().versions, version("torch")]

    @property
    def processors(self) -> list[str]:
        """Stanza's processors of the task, in order, including those that its models need."""
        wanted = [processor(name) for name, file in TASKS[self.task].items() if file.needed]
        if self.has("mwt") and "mwt_model_path" in TASKS[self.task]:
            wanted.insert(0, "mwt")
        if "depparse" in wanted and self.stanza_dir is not None and self.has("lemma"):
            wanted.insert(wanted.index("depparse"), "lemma")
        return ["tokenize", *wanted]

    def has(self, name: str) -> bool:
        """Whether there is a model of a processor.

        Args:
            name: of the processor: `mwt`, `lemma`, …
        """
        if any(processor(option) == name for option, _ in self.files):
            return True
        return self.stanza_dir is not None and _any_model(self.stanza_dir / self.lang / name)

    def fingerprint(self) -> list[str]:
        """Checksums of everything that affects the models' output."""
        found = [path for _, path in self.files]
        if self.stanza_dir is not None:
            for name in (*self.processors[1:], *_SHARED_FOLDERS):
                found += sorted((self.stanza_dir / self.lang / name).glob("*.pt"))
        return [self.task, self.lang, *map(checksum, found)]

    def __str__(self) -> str:
        named = " and ".join(str(path) for _, path in self.files)
        if self.stanza_dir is None:
            return named
        return f"language '{self.lang}' in {self.stanza_dir}" + (f" with {named}" if named else "")


def processor(name: str) -> str:
    """The processor that a file belongs to: `pos` of `pos_model_path`.

    Args:
        name: Stanza's name of the file.
    """
    return name.split("_")[0]


def find_models(
    task: str,
    lang: str,
    stanza_dir: Path | None = None,
    given: Mapping[str, Path | None] | None = None,
) -> StanzaModels:
    """The models of a task, from disk only.

    Args:
        task: one of :data:`TASKS`.
        lang: language code of the text.
        stanza_dir: a folder that holds models of one language under the names of :data:`TASKS`
            (`tagger.pt`, …), or a folder in Stanza's own layout (`resources.json` and `LANG/…`);
            by default Stanza's own folder.
        given: files by Stanza's name; they take precedence over `stanza_dir`.

    Raises:
        UserError: names the expected files and what to do.
    """
    wanted = TASKS[task]
    named = {name: path for name, path in (given or {}).items() if path and name in wanted}
    for name, path in named.items():
        if not path.is_file():
            raise UserError(f"{wanted[name].option}{path}: no such file")
    folder = stanza_dir if stanza_dir is not None else default_folder()
    beside = {name: folder / file.file_name for name, file in wanted.items() if name not in named}
    files = {**named, **{name: path for name, path in beside.items() if path.is_file()}}
    missing = [name for name, file in wanted.items() if file.needed and name not in files]
    if not missing:
        in_order = tuple((name, files[name]) for name in wanted if name in files)
        return StanzaModels(task, plain_language(lang), None, in_order)
    known = _installed(folder, lang, [processor(name) for name in missing])
    if known is not None:
        return StanzaModels(task, known, folder, tuple(named.items()))
    raise UserError(_missing_message(task, lang, folder, missing))


def _missing_message(task: str, lang: str, folder: Path, missing: list[str]) -> str:
    files = " and ".join(str(folder / TASKS[task][name].file_name) for name in missing)
    options = " and ".join(f"{TASKS[task][name].option}FILE" for name in missing)
    looked = f"no Stanza models for {task} of language '{lang}': looked for {files}"
    processors = [processor(name) for name in missing]
    if _NOT_STANZAS in processors:
        return (
            f"{looked}; give --stanza-dir or {options}, or train one: "
            "syntax-nmt chunk --train TEXT (see its --help)"
        )
    called = stanza_names(lang, folder)
    inside = " or ".join(
        " and ".join(f"{name}/{step}/*.pt" for step in processors) for name in called
    )
    below = folder / lang
    if all((below / TASKS[task][name].file_name).is_file() for name in missing):
        return f"{looked}: they are in {below}: give --stanza-dir {below}"
    return (
        f"{looked}, and for resources.json with {inside} in {folder}; give --stanza-dir, or "
        f"{options}, or on a machine with internet run "
        f"{download_command(called[-1], folder)}"
    )


def _installed(folder: Path, lang: str, processors: list[str]) -> str | None:
    """The name Stanza knows the language by, if the folder has models of the processors."""
    if _NOT_STANZAS in processors:
        return None
    listed = resources(folder)
    for name in stanza_names(lang, folder):
        if name in listed and all(_any_model(folder / name / step) for step in processors):
            return name
    return None


def _any_model(folder: Path) -> bool:
    return any(folder.glob("*.pt"))
