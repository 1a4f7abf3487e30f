"""The interface of parsers: their models on disk, found and not loaded."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import ClassVar, TypeVar

from syntax_nmt.data.text_files import checksum
from syntax_nmt.errors import UserError

DEPENDENCIES = "dependencies"
_Found = TypeVar("_Found", bound="OneModel")


class ParserModels(ABC):
    """The models of one task of one parser, found on disk and not loaded; hashable, small.

    Attributes:
        parser: its name, as `--parser` has it.
        package: the name of its package, as pip has it.
        title: its name in messages.
        task: `dependencies`, `constituents` or `chunks`.
        lang: language code of the text.
    """

    parser: ClassVar[str]
    package: ClassVar[str]
    title: ClassVar[str]
    task: str
    lang: str

    @abstractmethod
    def fingerprint(self) -> list[str]:
        """The task, the language, and checksums of everything that affects the output."""

    @property
    @abstractmethod
    def model_name(self) -> str:
        """What messages call the models, without their folder."""

    @property
    def has_lemmas(self) -> bool:
        """Whether there is a lemmatiser among them."""
        return True

    @property
    def versions(self) -> list[str]:
        """Versions of the packages on which the output depends.

        Raises:
            UserError: the parser's own is not installed.
        """
        return [installed_version(self.package, self.parser)]

    @property
    def made_by(self) -> str:
        """Parser, version and models, in a line of a data folder: `UDPipe 1.4.0.1, english.udpipe
        (3f2a91bc)`; the number is of the models' checksums.
        """
        sums = json.dumps(self.fingerprint()).encode("utf-8")
        digest = hashlib.sha256(sums).hexdigest()[:8]
        return f"{self.title} {self.versions[0]}, {self.model_name} ({digest})"


@dataclass(frozen=True)
class OneModel(ParserModels):
    """A model of dependencies, with all that it needs.

    Attributes:
        lang: language code of the text.
        model: its file or folder.
        what: what the path must be, for messages.
        where: where users get one, for messages.
    """

    lang: str
    model: Path

    task: ClassVar[str] = DEPENDENCIES  # type: ignore[misc]
    what: ClassVar[str]
    where: ClassVar[str]

    @classmethod
    def find(cls: type[_Found], lang: str, model: Path | None) -> _Found:
        """The model, from disk only, and not loaded.

        Args:
            lang: language code of the text.
            model: None = none was given.

        Raises:
            UserError: the parser is not installed, or there is no such model.
        """
        installed_version(cls.package, cls.parser)
        if model is None:
            raise UserError(
                f"the parser '{cls.parser}' needs a model of language '{lang}': name {cls.what} "
                f"({cls.where}) as --parser-model, of the target as --target-parser-model, in "
                "parser.json as model"
            )
        located = cls._located(model)
        if located is None:
            raise UserError(f"{model}: no such model: give {cls.what} ({cls.where})")
        return cls(lang, located)

    @classmethod
    def _located(cls, model: Path) -> Path | None:
        """The file or folder that is loaded; None = there is none."""
        return model if model.is_file() else None

    def fingerprint(self) -> list[str]:
        """Task, language and the checksum of the model."""
        return [self.task, self.lang, checksum(self.model)]

    @property
    def model_name(self) -> str:
        """The name of the file."""
        return self.model.name

    def __str__(self) -> str:
        return str(self.model)


def installed_version(package: str, parser: str) -> str:
    """The version of a parser's package; the package is not imported.

    Args:
        package: its name, as pip has it.
        parser: as `--parser` has it.

    Raises:
        UserError: it is not installed; says how to install it.
    """
    try:
        return version(package)
    except PackageNotFoundError:
        raise UserError(
            f"the parser '{parser}' needs {package}, which is not installed: pip install {package}"
        ) from None
