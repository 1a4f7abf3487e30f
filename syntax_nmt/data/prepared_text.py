"""The segmentation of a folder that `prepare` wrote.

New text for its models is segmented in the same way.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntax_nmt.data.text_files import named_file, portable_path, read_json, write_unless_same
from syntax_nmt.errors import UserError
from syntax_nmt.text.cleaning import MODES

FILE_NAME = "segmentation.json"
RECORD = "prepare.json"
"""The log of `prepare`; every folder that it wrote has one."""

AGAIN = "run the same `syntax-nmt prepare` line again"
"""Makes whatever the folder lacks, or has damaged; what is sound stays."""
SHARD = "shard"
"""What the name of a shard's folder begins with: shard0, shard1, …"""

_PATHS = ("sentencepiece_model", "segmenter")


@dataclass(frozen=True)
class TextSegmentation:
    """How the text of one language is cut.

    Attributes:
        tokenizer: one of :data:`~syntax_nmt.text.cleaning.MODES`.
        sentencepiece_model: segments words into pieces, a file of the folder; None = the tokens are
            words.
        segmenter: model of mode `stanza`; None = Stanza's own folder.
    """

    tokenizer: str
    sentencepiece_model: Path | None = None
    segmenter: Path | None = None

    def tokenizer_options(self, side: str) -> list[str]:
        """The options of `--tokenizer syntax_words` for a side.

        Args:
            side: `source` or `target`.
        """
        options = [f"--{side}-tokenizer", self.tokenizer]
        if self.segmenter is not None:
            options += [f"--{side}-segmenter", str(self.segmenter)]
        return options


def write_segmentation(folder: Path, languages: Mapping[str, TextSegmentation]) -> None:
    """Writes the file atomically.

    Paths below its folder are relative to it.

    Args:
        folder: written by `prepare`.
        languages: the segmentation of each language.
    """
    values: dict[str, dict[str, str]] = {}
    for language, text in languages.items():
        values[language] = {"tokenizer": text.tokenizer}
        for name in _PATHS:
            if (path := getattr(text, name)) is not None:
                values[language][name] = portable_path(path, folder)
    content = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
    write_unless_same(folder / FILE_NAME, content)


def read_segmentation(folder: Path) -> dict[str, TextSegmentation]:
    """The segmentation of each language.

    Args:
        folder: written by `prepare`.

    Raises:
        UserError: the file is missing, as older versions wrote none, or is damaged, or names a
            sentencepiece model that is not in the folder.
    """
    path = folder / FILE_NAME
    try:
        values = read_json(path)
        languages = {language: _of(folder, found) for language, found in values.items()}
    except FileNotFoundError:
        if not (folder / RECORD).is_file():
            raise UserError(
                f"{folder}: `syntax-nmt prepare` did not make it, so how text is segmented is not "
                "known: give tokenizer and bpe as for fairseq-interactive, or say that the text is "
                "segmented already"
            ) from None
        raise UserError(
            f"{path}: not found, it says how text is segmented: {AGAIN}, which "
            "keeps what is done and writes the file; or give tokenizer and bpe as for "
            "fairseq-interactive, or say that the text is segmented already"
        ) from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        raise UserError(f"{path}: cannot be read: {AGAIN}") from None
    return languages


def prepared_folder(data: Path) -> tuple[Path, Path]:
    """The folder that `prepare` wrote, and its data-bin folder, from the path of either.

    Of several folders it is the first, which has the validation and test text.

    Args:
        data: one of both; or several data-bin folders as fairseq is given them, `data1:data2`; or a
            folder of shards.
    """
    data = training_folders(data)[0]
    if data.name in ("", ".."):  # such as the current folder
        data = data.resolve()
    folder = data.parent if data.name == "data-bin" else data
    return folder, folder / "data-bin" if (folder / "data-bin").is_dir() else data


def made_by_prepare(data: Path) -> bool:
    """Whether `prepare` wrote a data folder, and not fairseq-preprocess alone."""
    return (prepared_folder(data)[0] / RECORD).is_file()


def again(data: Path, otherwise: str) -> str:
    """What to do about a data folder with missing or damaged files: :data:`AGAIN`, or `otherwise`
    where `prepare` did not make it.
    """
    return AGAIN if made_by_prepare(data) else otherwise


def training_folders(data: Path) -> list[Path]:
    """The folders that a training reads by turns.

    Args:
        data: as of :func:`prepared_folder`.
    """
    if os.pathsep in str(data) and not data.exists():
        return [Path(each) for each in str(data).split(os.pathsep)]
    return shard_folders(data) or [data]


def shard_folders(folder: Path) -> list[Path]:
    """The shards in a folder of `prepare --shard-size`, each a prepared folder, by their numbers.

    Args:
        folder: written by `prepare`; without shards there are none.
    """
    found = folder.glob(f"{SHARD}[0-9]*")
    numbers = {path.name.removeprefix(SHARD): path for path in found if path.is_dir()}
    return [numbers[number] for number in sorted(filter(str.isdecimal, numbers), key=int)]


def _of(folder: Path, found: dict[str, Any]) -> TextSegmentation:
    if found["tokenizer"] not in MODES:
        raise ValueError
    model, segmenter = (found.get(name) for name in _PATHS)
    return TextSegmentation(
        found["tokenizer"],
        None if model is None else _piece_model(folder, model),
        None if segmenter is None else folder / segmenter,
    )


def _piece_model(folder: Path, name: Any) -> Path:
    try:
        return named_file(folder, name)
    except UserError as error:
        raise UserError(f"{folder / FILE_NAME}: {error}; {AGAIN}") from None
