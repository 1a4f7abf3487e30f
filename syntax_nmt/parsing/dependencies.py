"""Parsing sentences with Stanza, offline; what it cannot parse comes back as None."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from syntax_nmt.errors import UserError
from syntax_nmt.parsing.models import ParserModels
from syntax_nmt.parsing.words import parser_words

_NEXT_STEP = "; check that the models were made with this version of Stanza and for this language"


@dataclass(frozen=True)
class Parse:
    """A dependency tree, one entry a word.

    Attributes:
        heads: positions counted from 0; the root's head is itself.
        relations: the relation to the head.
        upos: universal part of speech.
    """

    heads: list[int]
    relations: list[str]
    upos: list[str]


class StanzaParser:
    """A tagger and a parser, loaded.

    Args:
        models: what to load.
        device: `cpu`, `cuda` or `cuda:N`.
        batch_size: words in a batch. Small batches of even length are the fastest on a CPU.

    Raises:
        UserError: when the models do not load or are of another language.
    """

    def __init__(self, models: ParserModels, device: str = "cpu", batch_size: int = 1000) -> None:
        if device.startswith("cuda") and not torch.cuda.is_available():
            raise UserError(f"--device {device}: torch sees no GPU here; use --device cpu")
        self.lang = models.lang
        self.last_error = ""
        try:
            self._pipeline = _load(models, device, batch_size)
        except Exception as error:
            raise UserError(f"Stanza cannot load {_names(models)}: {error}{_NEXT_STEP}") from error
        self._check_language(models)

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse | None]:
        """One tree for each sentence, None where Stanza fails.

        A failing sentence makes Stanza fail for all that are parsed with it: the sentences are
        halved until it stands alone.

        Args:
            sentences: words of the corpus; no sentence and no word empty.
        """
        if not sentences:
            return []
        try:
            return self._parse_all(sentences)
        except Exception as error:
            self.last_error = f"{type(error).__name__}: {error}"
            if len(sentences) == 1:
                return [None]
        half = len(sentences) // 2
        return self.parse(sentences[:half]) + self.parse(sentences[half:])

    def _parse_all(self, sentences: Sequence[Sequence[str]]) -> list[Parse | None]:
        spelled = [parser_words(words, self.lang) for words in sentences]
        document = self._pipeline(spelled)
        if len(document.sentences) != len(sentences):
            raise ValueError(f"{len(document.sentences)} trees for {len(sentences)} sentences")
        return [
            _tree(sentence.words, len(words))
            for sentence, words in zip(document.sentences, sentences)
        ]

    def _check_language(self, models: ParserModels) -> None:
        for name in ("pos", "depparse"):
            trained = self._pipeline.processors[name].trainer.args.get("shorthand") or ""
            language = trained.split("_")[0]
            if language not in ("", self.lang):
                raise UserError(
                    f"the models {_names(models)} are of language '{language}', the text is of "
                    f"language '{self.lang}': give other models, or the language of these"
                )


@lru_cache(maxsize=1)
def loaded_parser(models: ParserModels, device: str, batch_size: int) -> StanzaParser:
    """A parser that stays loaded in this process until another one is asked for.

    Args:
        models: what to load.
        device: `cpu`, `cuda` or `cuda:N`.
        batch_size: words in a batch.
    """
    return StanzaParser(models, device, batch_size)


@contextmanager
def one_thread() -> Iterator[None]:
    """One torch thread inside: models this small get slower with more, and differ in rounding."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _load(models: ParserModels, device: str, batch_size: int) -> Any:
    import stanza

    options: dict[str, Any] = {
        "lang": models.lang,
        "processors": "tokenize,pos,depparse",
        "download_method": None,
        "device": device,
        "verbose": False,
        "tokenize_pretokenized": True,
        "pos_batch_size": batch_size,
        "pos_batch_maximum_tokens": batch_size,
        "depparse_batch_size": batch_size,
        "depparse_check_requirements": False,
    }
    if models.stanza_dir is not None:
        if any((models.stanza_dir / models.lang / "lemma").glob("*.pt")):
            options["processors"] = "tokenize,pos,lemma,depparse"
        return stanza.Pipeline(dir=str(models.stanza_dir), **options)
    # Stanza does not start without a list of its resources, even when it needs none of them.
    with tempfile.TemporaryDirectory() as folder:
        resources = Path(folder) / "resources.json"
        resources.write_text(json.dumps({}), encoding="utf-8")
        return stanza.Pipeline(
            dir=folder,
            allow_unknown_language=True,
            pos_model_path=str(models.tagger),
            depparse_model_path=str(models.parser),
            **options,
        )


def _tree(words: Sequence[Any], expected: int) -> Parse | None:
    """The tree in this project's terms; None if it does not have one node a word and one root."""
    if len(words) != expected or sum(word.head == 0 for word in words) != 1:
        return None
    return Parse(
        [index if word.head == 0 else word.head - 1 for index, word in enumerate(words)],
        [word.deprel or "dep" for word in words],
        [word.upos or "X" for word in words],
    )


def _names(models: ParserModels) -> str:
    if models.stanza_dir is not None:
        return f"language '{models.lang}' in {models.stanza_dir}"
    return f"{models.tagger} and {models.parser}"
