"""Tokenises running text with a tokeniser model of Stanza, offline."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import regex

from syntax_nmt.errors import UserError
from syntax_nmt.parsing.analyser import results_by_halving
from syntax_nmt.parsing.stanza.offline import (
    check_language,
    default_folder,
    download_command,
    one_thread,
    open_pipeline,
    stanza_names,
)
from syntax_nmt.text.languages import plain_language

# Characters: longer paragraphs, which Stanza reads in windows, come out otherwise in a batch than
# alone; longer texts take more memory than speed is worth.
_LONGEST = 500
_TOGETHER = 100_000
# What is left if it is short, else up to the last end of a sentence or space that comes in time.
_STRETCH = regex.compile(
    rf".{{1,{_LONGEST}}}\Z|.{{1,{_LONGEST - 1}}}[。！？.!?\s]|.{{1,{_LONGEST}}}", regex.DOTALL
)
_BREAK = "\n\n"


def find_segmenter(lang: str, given: Path | None = None) -> Path:
    """The file of the tokeniser model of a language, from disk only.

    Args:
        lang: language code of the text.
        given: the file, or a folder in Stanza's own layout (`LANG/tokenize/*.pt`); by default
            Stanza's own folder.

    Raises:
        UserError: names the expected files and what to do.
    """
    if given is not None and given.is_file():
        return given
    if given is not None and not given.is_dir():
        raise UserError(f"segmenter {given}: no such file or folder")
    folder = given if given is not None else default_folder()
    names = stanza_names(lang, folder)
    for name in names:
        models = sorted((folder / name / "tokenize").glob("*.pt"))
        if len(models) > 1:
            listed = ", ".join(model.name for model in models)
            raise UserError(
                f"{folder / name / 'tokenize'} has several models ({listed}): give the file of one"
            )
        if models:
            return models[0]
    looked_for = " and ".join(f"{name}/tokenize/*.pt" for name in names)
    raise UserError(
        f"no Stanza tokeniser for language '{lang}': looked for {looked_for} in {folder}; give "
        "the model's file or folder as segmenter, use the tokenizer 'char' or 'none', or on a "
        f"machine with internet run {download_command(names[-1], folder, 'tokenize')}"
    )


class StanzaSegmenter:
    """A tokeniser model, loaded.

    Args:
        lang: language code of the text.

    Raises:
        UserError: the model does not load, or is of another language.
    """

    def __init__(self, lang: str, model: Path) -> None:
        self._pipeline = _load(lang, model)
        check_language(self._pipeline.processors["tokenize"], lang, f"the tokeniser {model} is")

    def segment(self, lines: Sequence[str]) -> list[list[str] | None]:
        """The words of each line, None for a line on which Stanza fails.

        A line stays one line even if Stanza finds several sentences in it, and a multiword token is
        one word. The words are parts of the line itself. The result of a line does not depend on
        other lines.

        Args:
            lines: cleaned lines; may be empty.
        """
        stretches = [_STRETCH.findall(" ".join(line.split())) for line in lines]
        flat = [stretch for parts in stretches for stretch in parts]
        with one_thread():
            cut = [
                words
                for group in _groups(flat)
                for words in results_by_halving(self._segment, group)
            ]
        found = iter(cut)
        return [_joined([next(found) for _ in parts]) for parts in stretches]

    def _segment(self, texts: Sequence[str]) -> list[list[str] | None]:
        """The words of each text.

        Raises:
            Exception: whatever Stanza raises, mostly about a single text.
        """
        if all(not text.strip() for text in texts):
            return [[] for _ in texts]
        starts = list(accumulate((len(text) + len(_BREAK) for text in texts), initial=0))
        ends: list[list[int]] = [[] for _ in texts]
        broken = set()
        for sentence in self._pipeline(_BREAK.join(texts)).sentences:
            for token in sentence.tokens:
                index = bisect_right(starts, token.start_char) - 1
                ends[index].append(token.end_char - starts[index])
                if token.end_char > starts[index] + len(texts[index]):
                    broken.add(index)
        return [
            None if index in broken else _words(text, ends[index])
            for index, text in enumerate(texts)
        ]


@lru_cache(maxsize=2)
def loaded_segmenter(lang: str, model: Path) -> StanzaSegmenter:
    """A tokeniser that stays loaded in this process.

    Args:
        lang: language code of the text.
    """
    return StanzaSegmenter(lang, model)


def _load(lang: str, model: Path) -> Any:
    return open_pipeline(
        f"the tokeniser {model}",
        None,
        lang=plain_language(lang),
        processors="tokenize",
        tokenize_model_path=str(model),
        tokenize_no_ssplit=True,
        device="cpu",
    )


def _groups(texts: Sequence[str]) -> Iterator[list[str]]:
    group: list[str] = []
    size = 0
    for text in texts:
        if size + len(text) > _TOGETHER and group:
            yield group
            group, size = [], 0
        group.append(text)
        size += len(text)
    if group:
        yield group


def _words(text: str, ends: Sequence[int]) -> list[str] | None:
    """The text split at the ends and at spaces; None where Stanza saw no word in it."""
    if not ends and text.strip():
        return None
    cuts = [0, *ends, len(text)]
    return [word for start, end in zip(cuts, cuts[1:]) for word in text[start:end].split()]


def _joined(parts: Sequence[list[str] | None]) -> list[str] | None:
    """The words of a line from those of its segments."""
    if any(part is None for part in parts):
        return None
    return [word for part in parts if part is not None for word in part]
