"""What the page is told of a model: drawings of short sentences, text of all."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from trees_of import tree_of

from syntax_nmt.backbone.structures import CHUNKED, CONSTITUENTS, DEPENDENCIES
from syntax_nmt.data.chunks import Chunk
from syntax_nmt.data.constituents import parse_tree
from syntax_nmt.errors import UserError
from syntax_nmt.inference.results import AttendedPair, ChunkedSentence, ScoredTranslation
from syntax_nmt.serve import systems
from syntax_nmt.serve.systems import ServedSystem

UNSEEN = AttendedPair((), ("b",), np.ones((1, 0)))  # of characters that are no words


@pytest.mark.parametrize(("words", "drawn"), [(100, True), (101, False), (2000, False)])
def test_long_sentences_are_not_drawn(monkeypatch, words, drawn):
    """A drawing of 900 words took a minute and gigabytes."""
    monkeypatch.setattr(systems, "svg_text", lambda figure: "<svg/>")
    tree = parse_tree(f"(S {'(N a) ' * words})", "tree", 1)
    model = SimpleNamespace(
        structures=(CONSTITUENTS,),
        reads=(),
        features=(),
        trees=lambda *_: tree,
        attention=lambda *_: UNSEEN,
    )
    answer = ServedSystem("name", model, 5).structures("a " * words, "b")
    assert answer.attention is None
    (found,) = answer.structures
    assert (found.svg is not None) == drawn
    assert found.text.count("a") >= words


def test_a_sentence_that_is_too_long_has_no_structures():
    model = SimpleNamespace(attention=lambda *_: None)
    with pytest.raises(UserError, match="more tokens than the model takes: shorten it"):
        ServedSystem("name", model, 5).structures("a " * 3000, "b")


def test_words_are_shown_as_they_were_typed():
    """And not as the tokeniser cuts and marks them, in sentence, trees and chunks."""
    source, translation = "Right-click, don’t", "Rechts-Klick"
    words = ("Right", "@-@", "click", ",", "do", "n't")
    target = ("Rechts", "@-@", "Klick")
    leaves = " ".join(f"(N {word})" for word in words)
    trees = {
        DEPENDENCIES: tree_of([0, 0, 1, 2, 3, 4], list(words)),
        CONSTITUENTS: parse_tree(f"(S {leaves})", "tree", 1),
    }
    model = SimpleNamespace(
        structures=(DEPENDENCIES, CONSTITUENTS, CHUNKED),
        reads=(),
        features=(),
        trees=lambda _, kind: trees[kind],
        chunks=lambda *_: ChunkedSentence(target, (Chunk("NP", 0, 3),)),
        attention=lambda *_: AttendedPair(words, target, np.ones((3, 6))),
    )
    found = ServedSystem("name", model, 5).structures(source, translation)
    assert list(found.attention.source) == ["Right", "-", "click", ",", "do", "n’t"]
    assert list(found.attention.target) == ["Rechts", "-", "Klick"]
    for structure in found.structures:
        for shown in (structure.text, structure.svg):
            assert "@-@" not in shown
            assert "-" in shown
            assert "'t" not in shown
    assert "click depends on -" in found.structures[0].text


def test_a_parse_that_the_model_reads_is_drawn():
    """Beside the one that it finds, and told from it."""
    read, found = (tree_of(heads, ["a", "b"]) for heads in ([0, 0], [1, 1]))
    model = SimpleNamespace(
        structures=(DEPENDENCIES,),
        reads=(DEPENDENCIES,),
        features=(),
        parses=lambda *_: read,
        trees=lambda *_: found,
        attention=lambda *_: UNSEEN,
    )
    shown = ServedSystem("name", model, 5).structures("a b", "c").structures
    assert [(each.title, each.text) for each in shown] == [
        ("dependencies, as parsed", "a is the root, b depends on a"),
        ("dependencies", "a depends on b, b is the root"),
    ]
    assert all(each.svg for each in shown)


def test_features_that_the_model_reads_stand_beside_the_words():
    tree = tree_of([1, 1], ["Right", "@-@"])
    tree = replace(tree, upos=("ADJ", "PUNCT"), relations=("amod", "root"), lemmas=("r", "-"))
    model = SimpleNamespace(
        structures=(),
        reads=(),
        features=("upos", "deprel"),
        parses=lambda *_: tree,
        attention=lambda *_: UNSEEN,
    )
    found = ServedSystem("name", model, 5).structures("Right-", "c").features
    assert found.names == ["upos", "deprel"]
    assert found.words == [["Right", "ADJ", "amod"], ["-", "PUNCT", "root"]]
    model.parses = lambda *_: None
    assert ServedSystem("name", model, 5).structures("Right-", "c").features is None


def test_factors_stand_beside_the_words_of_the_translation():
    factors = {"form": ("Rechts", "@-@", "Klick"), "upos": ("ADV", "PUNCT", "NOUN")}
    found = {
        "a": [ScoredTranslation("Rechts-Klick", -1.0, factors), ScoredTranslation("b", -2.0)],
        "c": [ScoredTranslation("d", -1.0)],
    }
    model = SimpleNamespace(nbest=lambda sentences, beam: [found[each] for each in sentences])
    first, second = ServedSystem("name", model, 2).translate(["a", "c"]).sentences
    assert first.translation == "Rechts-Klick"
    assert first.factors.names == ["upos"]
    assert first.factors.words == [["Rechts", "ADV"], ["-", "PUNCT"], ["Klick", "NOUN"]]
    assert (second.translation, second.factors) == ("d", None)
