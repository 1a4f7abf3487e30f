"""Stand-ins for the parsers of `--parser-config` and for Stanza's tokeniser."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.parsing import config
from syntax_nmt.parsing.stanza.models import StanzaModels

WIDTH = 3
TAGS = ("NOUN", "VERB")
MODELS = ("tagger.pt", "parser.pt", "constituency.pt")


class Parser:
    """Every three words are a phrase; a sentence of more than 30 has no tree."""

    def analyse(self, sentences: Sequence[Sequence[str]]) -> list[Any]:
        assert all(words and all(words) for words in sentences), "an empty sentence or word"
        return [None if len(words) > 10 * WIDTH else self.tree(words) for words in sentences]

    @staticmethod
    def tree(words: Sequence[str]) -> Any:
        leaves = ["(N w)" for _ in words]
        parts = [leaves[start : start + WIDTH] for start in range(0, len(leaves), WIDTH)]
        return f"(S {' '.join(f'(X {chr(32).join(part)})' for part in parts)})"


class DependencyParser(Parser):
    """Of every three words the others hang on the first, and that on the first before it.

    Words have :data:`TAGS` in turns, in every column.
    """

    @staticmethod
    def tree(words: Sequence[str]) -> DependencyTree:
        firsts = [place - place % WIDTH for place in range(len(words))]
        heads = [max(0, first - WIDTH) if x == first else first for x, first in enumerate(firsts)]
        tags = tuple(TAGS[place % len(TAGS)] for place in range(len(words)))
        columns = {"relations": tags, "upos": tags, "lemmas": tags, "xpos": tags, "feats": tags}
        return DependencyTree(tuple(words), tuple(heads), **columns)


def stand_in(models: StanzaModels, *_: Any) -> Parser:
    """What is loaded in place of Stanza's."""
    return {"dependencies": DependencyParser(), "constituents": Parser()}[models.task]


def write_config(folder: Path) -> tuple[str, str]:
    """The options that parse, with models that only look as if they were there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in MODELS:
        (folder / name).touch()
    path = folder / "parser.json"
    config = {"lang": "en", "subwords": "sentencepiece", "stanza_dir": "."}
    path.write_text(json.dumps(config), encoding="utf-8")
    return "--parser-config", str(path)


@contextmanager
def parsing(folder: Path) -> Iterator[tuple[str, str]]:
    """Within, the options that are given parse with the stand-ins."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "loaded_analyser", stand_in)
        yield write_config(folder)


class Tokeniser:
    """Has the habits of Stanza's, bad ones included.

    It cuts every two characters, and calls each paragraph that has `。` inside two sentences. A
    text with `☠` makes it raise, with `☣` it loses the paragraph, and with `☢` its last token
    reaches into the next paragraph, as Stanza's do when its offsets are off.
    """

    def __init__(self) -> None:
        trainer = SimpleNamespace(args={"shorthand": "zh_standin"})
        self.processors = {"tokenize": SimpleNamespace(trainer=trainer)}
        self.texts: list[str] = []

    def __call__(self, text: str) -> SimpleNamespace:
        self.texts.append(text)
        if "☠" in text:
            raise AssertionError("☠")
        sentences = []
        for paragraph in re.finditer(r"[^\n]+", text):
            if "☣" in paragraph.group():
                continue
            tokens = [
                SimpleNamespace(start_char=match.start(), end_char=match.end())
                for match in re.compile(r"[^ ]{1,2}").finditer(text, *paragraph.span())
            ]
            if "☢" in paragraph.group():
                tokens[-1].end_char += 3
            middle = paragraph.group().find("。") + paragraph.start() + 1
            for part in (
                [token for token in tokens if token.start_char < middle],
                [token for token in tokens if token.start_char >= middle],
            ):
                if part:
                    sentences.append(SimpleNamespace(tokens=part))
        return SimpleNamespace(sentences=sentences)
