"""Checks the languages of a data-bin folder before fairseq reads them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fairseq import utils
from fairseq.data.data_utils import infer_language_pair
from fairseq.tasks.translation import TranslationConfig

from syntax_nmt.data.annotation import KINDS
from syntax_nmt.data.data_bin import no_data_bin
from syntax_nmt.data.text_files import checksum
from syntax_nmt.errors import UserError


def check_languages(cfg: TranslationConfig) -> None:
    """Looks for the folders and the dictionaries that the options name.

    Args:
        cfg: the options of the task.

    Raises:
        UserError: one is missing, and the message lists those that exist; or the folders of a
            divided training set (`data1:data2`) have different dictionaries.
    """
    folder, *others = map(Path, utils.split_paths(cfg.data))
    dictionaries = {path.name for path in folder.glob("dict.*.txt")}
    dictionaries -= {kind.labels_file for kind in KINDS}
    languages = sorted(name[len("dict.") : -len(".txt")] for name in dictionaries)
    if not languages:
        raise no_data_bin(folder, "dict.LANGUAGE.txt")
    options = {"--source-lang": cfg.source_lang, "--target-lang": cfg.target_lang}
    for option, language in options.items():
        if language is not None and language not in languages:
            raise UserError(
                f"{option} {language}: {folder} has no dict.{language}.txt; "
                f"its languages are {', '.join(languages)}: give one of them, or run "
                f"fairseq-preprocess again if the file is lost"
            )
    if None in options.values() and None in infer_language_pair(str(folder)):
        raise UserError(
            f"{folder}: its file names do not tell the languages; give --source-lang and "
            f"--target-lang (there are dictionaries of {', '.join(languages)})"
        )
    for other in others:
        _check_same_dictionaries(folder, other, languages)


def _check_same_dictionaries(folder: Path, other: Path, languages: Sequence[str]) -> None:
    """fairseq reads those of the first folder, and uses them for the ids of the others.

    Raises:
        UserError: the other folder has another dictionary, or does not exist.
    """
    if not other.is_dir():
        raise UserError(f"{other}: no such folder; give data-bin folders with : between them")
    for name in (f"dict.{language}.txt" for language in languages):
        if (other / name).is_file() and checksum(other / name) != checksum(folder / name):
            raise UserError(
                f"{other / name}: another dictionary than {folder / name}, by which its text would "
                f"be read: make it with fairseq-preprocess --srcdict and --tgtdict of {folder}"
            )
