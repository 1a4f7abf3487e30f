"""Runs Stanza without a network, from files only; its names of languages, and devices."""

import json
import os
import shlex
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from syntax_nmt.data.text_files import read_json
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.analyser import first_sentence
from syntax_nmt.text.languages import plain_language

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
