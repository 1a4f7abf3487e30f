"""Runs Stanza without a network, from files only; its names of languages, and devices."""

import json
import os
import re
import shlex
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from syntax_nmt.data.text_files import read_json
from syntax_nmt.errors import UserError
from syntax_nmt.text.languages import plain_language

Item = TypeVar("Item")
Result = TypeVar("Result")

# torch has one number of threads for the whole process, and a pipeline serves one thread at a time.
_ALONE = threading.RLock()


def default_folder() -> Path:
    """The folder that Stanza downloads to unless told otherwise."""
    from stanza.resources.common import DEFAULT_MODEL_DIR

    return Path(DEFAULT_MODEL_DIR)


def download_command(lang: str, folder: Path, processors: str | None = None) -> str:
    """A shell command that downloads models, for any folder name.

    Args:
        lang: as Stanza names it.
        processors: of Stanza's, with commas; all by default.
    """
    what, where = json.dumps(lang), json.dumps(str(folder), ensure_ascii=False)
    some = f", processors={json.dumps(processors)}" if processors else ""
    return shlex.join(["python", "-c", f"import stanza; stanza.download({what}, {where}{some})"])


@contextmanager
def one_thread() -> Iterator[None]:
    """One torch thread inside: models this small get slower with more, and differ in rounding.

    Other threads of this process wait.
    """
    import torch

    with _ALONE:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


_SAFE_LOADER = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"


NEXT_STEP = "; check that the models were made with this version of Stanza and for this language"


def open_pipeline(models: object, folder: Path | None, **options: Any) -> Any:
    """A pipeline of Stanza's, all files of which are loaded by torch's safe loader.

    Up to 1.12 Stanza loads parsers of constituents and word vectors again, with the code in them,
    where the safe loader has refused them.

    Args:
        models: what is loaded, for the message.
        folder: in Stanza's own layout; None = the options name all files.
        **options: of `stanza.Pipeline`.

    Raises:
        UserError: they do not load.
    """
    import stanza  # takes seconds: only where it is used

    # The environment is the whole process's, as the number of threads is.
    with one_thread(), tempfile.TemporaryDirectory() as empty:
        if folder is None:
            # Without a list of resources Stanza does not start.
            (Path(empty) / "resources.json").write_text(json.dumps({}), encoding="utf-8")
            options["allow_unknown_language"] = True
        before = os.environ.get(_SAFE_LOADER)
        os.environ[_SAFE_LOADER] = "1"
        try:
            return stanza.Pipeline(
                dir=str(folder or empty),
                download_method=None,
                logging_level="CRITICAL",  # what goes wrong is raised, too
                **options,
            )
        except Exception as error:
            said = f"{models}: {first_sentence(error)}"
            raise UserError(f"Stanza cannot load {said}{NEXT_STEP}") from error
        finally:
            if before is None:
                del os.environ[_SAFE_LOADER]
            else:
                os.environ[_SAFE_LOADER] = before


def check_language(processor: Any, lang: str, subject: str) -> None:
    """Refuses a model that was trained for another language.

    Args:
        processor: of a pipeline of Stanza's; one without a model passes.
        lang: language code of the text.
        subject: the model with its verb, for the message: `the tokeniser FILE is`.

    Raises:
        UserError: names both languages.
    """
    options = getattr(getattr(processor, "trainer", None), "args", {})
    trained = plain_language(options.get("shorthand") or "")
    if trained not in ("", plain_language(lang)):
        raise UserError(
            f"{subject} of language '{trained}', the text is of language '{lang}': give models of "
            "that language, or name the text's own"
        )


def results_by_halving(
    work: Callable[[Sequence[Item]], list[Result | None]],
    items: Sequence[Item],
    note: Callable[[str], object] = lambda error: None,
) -> list[Result | None]:
    """Stanza's result for each item, None if it fails.

    A failing item makes Stanza fail for its whole batch, so batches are halved until the item is
    alone.

    Args:
        work: returns one result for each item.
        note: called with each error, in one line.
    """
    if not items:
        return []
    try:
        return work(items)
    except Exception as error:  # any error of Stanza: one item must not end a long job
        note(first_sentence(error))
    if len(items) == 1:
        return [None]
    half = len(items) // 2
    return [
        *results_by_halving(work, items[:half], note),
        *results_by_halving(work, items[half:], note),
    ]


def first_sentence(error: Exception) -> str:
    """An error in one line: those of torch and Stanza fill a page.

    Args:
        error: any exception.
    """
    line = str(error).strip().partition("\n")[0]
    said = " ".join(re.split(r"(?<=[.!?])\s", line, maxsplit=1)[0].split()).rstrip(".")
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


# Stanza's names have two letters where ISO 639-1 has; those of Chinese go by script, not region.
_SCRIPT_OF_REGION = {"zh-tw": "zh-hant", "zh-hk": "zh-hant", "zh-mo": "zh-hant", "zh-cn": "zh-hans"}


def stanza_names(lang: str, folder: Path) -> list[str]:
    """Stanza's possible names of a language, the most exact first.

    Args:
        lang: language code.
        folder: in Stanza's own layout; its list of resources may contain aliases.
    """
    _, *rest = lang.lower().replace("_", "-").split("-")
    exact = "-".join([plain_language(lang), *rest])
    parts = _SCRIPT_OF_REGION.get(exact, exact).split("-")
    names = ["-".join(parts[:length]) for length in range(len(parts), 0, -1)]
    listed = resources(folder)
    return [listed.get(name, {}).get("alias", name) for name in names]


def resources(folder: Path) -> dict[str, dict[str, Any]]:
    """The resources of a folder in Stanza's own layout, by language; empty without a list."""
    try:
        return dict(read_json(folder / "resources.json"))
    except (OSError, ValueError, TypeError):
        return {}


DEVICES = "cpu, cuda or cuda:N"
_DEVICE = re.compile(r"cpu|cuda(?::(?P<number>\d{1,4}))?", re.ASCII)


def is_device(device: str) -> bool:
    """Whether a text is `cpu`, `cuda` or `cuda:N`."""
    return _DEVICE.fullmatch(device) is not None


def check_device(device: str, name: str) -> None:
    """Refuses a device that this machine does not have.

    Args:
        name: the option, or file and key, that names the device.

    Raises:
        UserError: it is not one of :data:`DEVICES`, or torch sees no such GPU.
    """
    match = _DEVICE.fullmatch(device)
    if match is None:
        raise UserError(f"{name} {device}: no such device; give {DEVICES}")
    if device == "cpu":
        return
    import torch

    seen = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if int(match["number"] or 0) >= seen:
        gpus = {0: "no GPU", 1: "one GPU (cuda:0)"}.get(seen, f"{seen} GPUs (from cuda:0)")
        raise UserError(f"{name} {device}: torch sees {gpus} here; give another, or cpu")
