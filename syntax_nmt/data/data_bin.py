"""The vocabularies and texts of a data-bin folder, checked before fairseq maps them.

fairseq reads a damaged file until an assertion fails or the embedding has no row for a number, or
without any error.
"""

from itertools import count
from pathlib import Path

from fairseq.data import Dictionary
from fairseq.data.indexed_dataset import infer_dataset_impl

from syntax_nmt.data.data_bin_names import check_format
from syntax_nmt.data.prepared_text import again
from syntax_nmt.data.ragged import open_indexed
from syntax_nmt.data.text_files import check_regular
from syntax_nmt.errors import UserError

_SHOWN = 120  # characters: fairseq quotes the line, which may be anything


def no_data_bin(folder: Path, lacks: str) -> UserError:
    """The message for a path that is no data-bin folder: what is missing, and what to give.

    Args:
        lacks: the files that every data-bin folder has, as a pattern.
    """
    if not folder.is_dir():
        return UserError(
            f"{folder}: no such folder; give the data-bin folder that `syntax-nmt prepare` or "
            "fairseq-preprocess wrote"
        )
    inside = folder / "data-bin"
    hint = f"did you mean {inside}?" if inside.is_dir() else "run `syntax-nmt prepare`"
    return UserError(f"{folder}: no data-bin folder, it has no {lacks}; {hint}")


_PREPROCESS = "run fairseq-preprocess again"


def load_dictionary(path: str | Path) -> Dictionary:
    """Reads a vocabulary.

    Args:
        path: `dict.LANGUAGE.txt`.

    Raises:
        UserError: it is missing or damaged.
    """
    try:
        check_regular(path)
        return Dictionary.load(str(path))
    except FileNotFoundError:
        raise UserError(f"{path}: not found: {again(Path(path).parent, _PREPROCESS)}") from None
    except Exception as error:  # fairseq raises nothing narrower for a wrong encoding
        reason = f"cannot be read ({str(error)[:_SHOWN]})"
        raise UserError(f"{path}: {reason}: {again(Path(path).parent, _PREPROCESS)}") from error


def _remedy(file: Path) -> str:
    """What to do about a file of a text that a folder lacks, or has damaged."""
    binarize = ", then `syntax-nmt binarize` if there is annotation"
    return again(file.parent, f"{_PREPROCESS}{binarize}")


def split_prefixes(folder: Path, split: str, source: str, target: str, combine: bool) -> list[Path]:
    """fairseq's files of a split without language and ending: `data-bin/train.de-en`.

    The pair in the name may be reversed, because the folder serves both directions.

    Args:
        folder: the data-bin folder.
        split: train, valid, test, …
        combine: whether `train1`, `train2`, … belong to it.
    """
    prefixes: list[Path] = []
    for number in count():
        name = f"{split}{number or ''}"
        pairs = (f"{name}.{source}-{target}", f"{name}.{target}-{source}")
        there = [pair for pair in pairs if _is_there(folder / f"{pair}.{source}")]
        if not there:
            return prefixes
        prefixes.append(folder / there[0])
        if not combine:
            return prefixes
    return prefixes


def check_texts(prefix: Path, dictionaries: dict[str, Dictionary]) -> None:
    """Checks the texts of one split: complete, parallel, and consistent with their dictionaries.

    Args:
        prefix: of :func:`split_prefixes`.
        dictionaries: vocabulary by language; a language without text is ignored.

    Raises:
        UserError: a file is missing, damaged or of a format that is not read, texts have different
            numbers of sentences, or one has tokens that its dictionary does not have.
    """
    counts: dict[str, int] = {}
    for language, dictionary in dictionaries.items():
        text = Path(f"{prefix}.{language}")
        inferred = infer_dataset_impl(str(text))
        check_format(inferred, f"{text}: format")
        # fairseq handles its older formats.
        if _is_there(text) and inferred in (None, "mmap"):
            counts[f"{text}.idx"] = _check_text(text, dictionary, f"dict.{language}.txt")
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} {sentences}" for name, sentences in counts.items())
        raise UserError(
            f"the texts have different numbers of sentences ({listed}): {_remedy(prefix)}"
        )


def _is_there(text: Path) -> bool:
    """Whether a text has its files; one file without the other is a mistake.

    Raises:
        UserError: one is missing.
    """
    files = [Path(f"{text}.{ending}") for ending in ("idx", "bin")]
    missing = [path for path in files if not path.is_file()]
    if len(missing) == 1:
        raise UserError(f"{missing[0]}: not found: {_remedy(text)}")
    return not missing


def _check_text(text: Path, dictionary: Dictionary, dictionary_name: str) -> int:
    """Checks the files of one text; returns its number of sentences."""
    try:
        tokens, sizes, _ = open_indexed(text, shortest=1)
    except (OSError, ValueError) as error:
        raise UserError(f"{error}: {_remedy(text)}") from error
    if not len(tokens):
        raise UserError(f"{text}.bin: holds no token: give fairseq-preprocess a text that does")
    lowest, highest = int(tokens.min()), int(tokens.max())
    if lowest < 0 or highest >= len(dictionary):
        wrong = lowest if lowest < 0 else highest
        raise UserError(
            f"{text}.bin: token {wrong}, {dictionary_name} has {len(dictionary)} entries: the one "
            f"or the other is damaged or of another text: {_remedy(text)}"
        )
    return len(sizes)
