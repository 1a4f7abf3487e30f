"""A parser for `--parser-config` that costs nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from syntax_nmt.task import parsed_phrases

WIDTH = 3


class Parser:
    """Every three words are a phrase; a sentence of more than 30 has no tree."""

    def analyse(self, sentences: Sequence[Sequence[str]]) -> list[str | None]:
        assert all(words and all(words) for words in sentences), "an empty sentence or word"
        return [None if len(words) > 10 * WIDTH else self.tree(words) for words in sentences]

    @staticmethod
    def tree(words: Sequence[str]) -> str:
        leaves = ["(N w)" for _ in words]
        parts = [leaves[start : start + WIDTH] for start in range(0, len(leaves), WIDTH)]
        return f"(S {' '.join(f'(X {chr(32).join(part)})' for part in parts)})"


@contextmanager
def parsing(folder: Path) -> Iterator[tuple[str, ...]]:
    """Within, the options that are given parse with the stand-in."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("tagger.pt", "constituency.pt"):
        (folder / name).touch()
    path = folder / "parser.json"
    config = {"lang": "en", "subwords": "sentencepiece", "stanza_dir": str(folder)}
    path.write_text(json.dumps(config), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsed_phrases, "loaded_analyser", lambda *_: Parser())
        yield ("--parser-config", str(path))
