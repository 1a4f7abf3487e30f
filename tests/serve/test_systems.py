"""What the page is told of a model: drawings of short sentences, text of all."""

from types import SimpleNamespace

import pytest

from syntax_nmt.data.constituents import parse_tree
from syntax_nmt.inference.model import CONSTITUENTS
from syntax_nmt.serve import systems
from syntax_nmt.serve.systems import ServedSystem


@pytest.mark.parametrize(("words", "drawn"), [(100, True), (101, False), (2000, False)])
def test_long_sentences_are_not_drawn(monkeypatch, words, drawn):
    """A drawing of 900 words took a minute and gigabytes."""
    monkeypatch.setattr(systems, "svg_text", lambda figure: "<svg/>")
    tree = parse_tree(f"(S {'(N a) ' * words})", "tree", 1)
    model = SimpleNamespace(
        structures=(CONSTITUENTS,), trees=lambda *_: tree, attention=lambda *_: None
    )
    (found,) = ServedSystem("name", model, 5).structures("a " * words, "b")["structures"]
    assert (found["svg"] is not None) == drawn
    assert found["text"].count("a") >= words
