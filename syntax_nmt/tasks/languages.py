"""Which languages a data-bin folder has, checked before fairseq trips over them."""

from __future__ import annotations

from pathlib import Path

from fairseq import utils
from fairseq.data.data_utils import infer_language_pair
from fairseq.tasks.translation import TranslationConfig

from syntax_nmt.errors import UserError


def check_languages(cfg: TranslationConfig) -> None:
    """Looks for the folder and the dictionaries that the options name.

    Args:
        cfg: the options of the task.

    Raises:
        UserError: one is missing; the message says which there are.
    """
    folder = Path(utils.split_paths(cfg.data)[0])
    if not folder.is_dir():
        raise UserError(
            f"{folder}: no such folder; give the data-bin folder that `syntax-nmt "
            "prepare` or fairseq-preprocess wrote"
        )
    there = sorted(path.name[len("dict.") : -len(".txt")] for path in folder.glob("dict.*.txt"))
    languages = [language for language in there if language != "chunks"]
    if not languages:
        inside = folder / "data-bin"
        hint = f"did you mean {inside}?" if inside.is_dir() else "run `syntax-nmt prepare`"
        raise UserError(f"{folder}: no data-bin folder, it has no dict.LANGUAGE.txt; {hint}")
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
