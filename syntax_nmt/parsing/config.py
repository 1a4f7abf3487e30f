"""The file of `--parser-config`: settings for parsing source text during translation, and the
parsers that it names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntax_nmt.data.subwords import SCHEMES
from syntax_nmt.data.text_files import parse_json, portable_path, read_lines, write_unless_same
from syntax_nmt.errors import UserError, errors_of
from syntax_nmt.parsing.analyser import DEVICES, check_device, is_device
from syntax_nmt.parsing.parser import DEPENDENCIES, OneModel, ParserModels
from syntax_nmt.parsing.parsers import PARSERS, STANZA, ModelPaths, find_parser, loaded_analyser
from syntax_nmt.parsing.stanza.models import TASKS, StanzaModels
from syntax_nmt.text.languages import plain_language

FILE_NAME = "parser.json"
_FILES = {**TASKS["dependencies"], **TASKS["constituents"]}
_NEEDED = ("lang", "subwords")
_TEXTS = ("lang", "subwords", "parser", "model", "device", "stanza_dir", *_FILES)
_CHOICES = {"subwords": SCHEMES, "parser": PARSERS}
_NUMBERS = ("max_words", "batch_size")


@dataclass(frozen=True)
class ParserConfig:
    """Parsers of dependencies, constituents or both, and the segmentation of their text.

    The file is a JSON object whose keys are the attributes below; those of `files` (such as
    `pos_model_path`) are at the same level as the others. `lang` and `subwords` must be there.

    Attributes:
        lang: language code of the source, as Stanza knows it.
        subwords: one of `subwords.SCHEMES`.
        parser: of dependencies, one of `PARSERS`; constituents are Stanza's.
        model: its file or folder, if it is not Stanza.
        stanza_dir: folder of models, as for `syntax-nmt parse --stanza-dir`.
        files: (Stanza's name, path) of each model file that is named; they take precedence over
            `stanza_dir`.
        device: `cpu`, `cuda` or `cuda:N`.
        max_words: longer sentences are not parsed; memory grows with the square of the length.
        batch_size: words in a batch.
    """

    lang: str
    subwords: str
    stanza_dir: Path | None = None
    files: tuple[tuple[str, Path], ...] = ()
    device: str = "cpu"
    max_words: int = 250
    batch_size: int = 1000
    parser: str = STANZA
    model: Path | None = None

    @classmethod
    def of(
        cls,
        models: Sequence[ParserModels],
        subwords: str,
        device: str = "cpu",
        max_words: int = 250,
        batch_size: int = 1000,
    ) -> ParserConfig:
        """The configuration for the given models.

        Args:
            models: of `dependencies`, `constituents` or both, found for one language in one folder
                or as files.
            subwords: one of `subwords.SCHEMES`.
            device: `cpu`, `cuda` or `cuda:N`.
            max_words: longer sentences are not parsed.
        """
        parser, model = next(
            ((found.parser, found.model) for found in models if isinstance(found, OneModel)),
            (STANZA, None),
        )
        of_stanza = [found for found in models if isinstance(found, StanzaModels)]
        # A language in Stanza's own layout has an exact name, such as zh-hans.
        exact = next((found for found in of_stanza if found.stanza_dir is not None), None)
        folder = None if exact is None else exact.stanza_dir
        files = {
            name: file
            for found in of_stanza
            for name, file in found.files
            if folder is None or file != folder / _FILES[name].file_name
        }
        return cls(
            (exact or models[0]).lang, subwords, folder, tuple(files.items()),
            device, max_words, batch_size, parser, model,
        )  # fmt: skip

    @classmethod
    def read(cls, path: str | Path) -> ParserConfig:
        """Reads a file. Relative paths in it are relative to its folder.

        Raises:
            UserError: the file cannot be read or is no such file; names the file and the key.
        """
        path = Path(path)
        values = _read_object(path)
        for key, value in values.items():
            _check_value(path, key, value)
        for key in _NEEDED:
            if key not in values:
                raise UserError(f"{path}: {key} is missing: write {{{', '.join(_NEEDED)}, …}}")
        folder = Path(os.path.abspath(path.parent))  # some programs change the working directory
        files = {name: folder / values.pop(name) for name in _FILES if name in values}
        for name, file in files.items():
            if not os.path.isfile(file):  # Path's own stops at a name that is too long
                raise UserError(f"{path}: {name}: {file}: no such file: give the path of the model")
        for name in ("stanza_dir", "model"):
            if name in values:
                values[name] = folder / values[name]
        return cls(files=tuple(files.items()), **values)

    def write(self, path: str | Path) -> None:
        """Writes the file atomically.

        Paths below its folder are written relative to it, so that the folder can be moved as a
        whole; others are absolute, so that it can be used from any working directory.

        Raises:
            UserError: it cannot be written.
        """
        path = Path(path)
        values: dict[str, Any] = {"lang": self.lang, "subwords": self.subwords}
        if self.parser != STANZA:
            values["parser"] = self.parser
        if self.model is not None:
            values["model"] = portable_path(self.model, path.parent)
        if self.stanza_dir is not None:
            values["stanza_dir"] = portable_path(self.stanza_dir, path.parent)
        values.update({name: portable_path(file, path.parent) for name, file in self.files})
        values.update(device=self.device, max_words=self.max_words, batch_size=self.batch_size)
        write_unless_same(path, json.dumps(values, indent=2, ensure_ascii=False) + "\n")

    def models(self, task: str) -> ParserModels:
        """The models of a task, found on disk and not loaded.

        Args:
            task: `dependencies` or `constituents`.

        Raises:
            UserError: one is missing, or the parser is not installed.
        """
        if self.stanza_dir is not None and not os.path.isdir(self.stanza_dir):
            raise UserError(
                f"stanza_dir {str(self.stanza_dir)[:200]}: no such folder: give that of the models"
            )
        named, wanted = dict(self.files), TASKS[task]
        paths = ModelPaths(self.parser, self.model, self.stanza_dir, named)
        needed = [name for name, file in wanted.items() if file.needed]
        of_stanza = self.parser == STANZA or task != DEPENDENCIES
        if of_stanza and self.stanza_dir is None and all(name in named for name in needed):
            in_order = tuple((name, named[name]) for name in wanted if name in named)
            return StanzaModels(task, plain_language(self.lang), None, in_order)
        return find_parser(task, self.lang, paths)


def device_in(path: Path) -> str:
    """The device that a file names, even if other keys are outdated; `cpu` if there is none."""
    try:
        found = _read_object(path).get("device")
    except UserError:
        found = None
    return found if isinstance(found, str) and is_device(found) else "cpu"


def _read_object(path: Path) -> dict[str, Any]:
    text = "\n".join(read_lines(path))
    values = parse_json(text, path, f"the {FILE_NAME} that `syntax-nmt prepare` wrote")
    if not isinstance(values, dict):
        raise UserError(f"{path}: holds no JSON object: write {{{', '.join(_NEEDED)}, …}}")
    return values


def _check_value(path: Path, key: str, value: Any) -> None:
    """Refuses an unknown key, or an invalid value."""
    fits, wanted = isinstance(value, str) and bool(value), "a text"
    if key in _NUMBERS:
        fits, wanted = type(value) is int and value >= 1, "a whole number of 1 or more"
    elif key in _CHOICES:
        fits, wanted = value in _CHOICES[key], f"one of {', '.join(_CHOICES[key])}"
    elif key == "device":
        fits, wanted = fits and is_device(value), DEVICES
    elif key not in _TEXTS:
        raise UserError(f"{path}: unknown key {key[:40]!r}: use {', '.join(_TEXTS + _NUMBERS)}")
    if not fits:
        raise UserError(f"{path}: {key}: {json.dumps(value)[:80]} will not do: give {wanted}")


class ConfiguredParsers:
    """Parses words with the models that a configuration names.

    Args:
        name: the configuration's file, for messages.
    """

    def __init__(self, config: ParserConfig, name: str | Path) -> None:
        self.config = config
        self.name = name
        self._models: dict[str, ParserModels] = {}

    @classmethod
    def read(cls, file: str | Path) -> ConfiguredParsers:
        """The parsers of a file.

        Raises:
            UserError: it has a mistake.
        """
        return cls(ParserConfig.read(file), file)

    def find(self, task: str) -> ParserModels:
        """Finds the models of a task without loading them, so that missing ones are reported early.

        Args:
            task: `dependencies` or `constituents`.

        Raises:
            UserError: one is missing.
        """
        if task not in self._models:
            with errors_of(self.name):
                self._models[task] = self.config.models(task)
        return self._models[task]

    def analyses(self, task: str, sentences: Sequence[Sequence[str]]) -> list[Any]:
        """The analysis of each sentence; None where it is empty or too long, or the parser fails.

        Sentences are sorted by length, which needs the least padding.

        Args:
            task: `dependencies` or `constituents`.
            sentences: the words of each.

        Raises:
            UserError: models are missing or do not load, or the parser fails on one sentence after
                another.
        """
        self.find(task)
        config = self.config
        found: list[Any] = [None] * len(sentences)
        fit = [i for i, words in enumerate(sentences) if 0 < len(words) <= config.max_words]
        fit.sort(key=lambda place: len(sentences[place]))
        if not fit:
            return found
        check_device(config.device, f"{self.name}: device")
        try:
            analyser = loaded_analyser(self._models[task], config.device, config.batch_size)
            parsed = analyser.analyse([sentences[place] for place in fit])
        except UserError as error:
            raise UserError(f"{self.name}: {error}") from None
        for place, analysis in zip(fit, parsed):
            found[place] = analysis
        return found
