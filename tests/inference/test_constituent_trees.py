"""Binary trees from gaps, and which distance of a model belongs to which gap between words."""

import random
from itertools import product

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary
from forced_models import latent_checkpoint
from parser_files import PIECES, TARGETS, WORDS

from syntax_nmt.backbone.structures import StructureLayers
from syntax_nmt.data.constituents import format_tree, parse_tree
from syntax_nmt.inference.checkpoint import load_model
from syntax_nmt.inference.extraction.constituents import (
    bracketed,
    spans_of_gaps,
    tree_of_spans,
    word_gaps,
)
from syntax_nmt.inference.extraction.model_answers import structures_of
from syntax_nmt.inference.extraction.model_distances import decoder_distances, encoder_distances
from syntax_nmt.inference.source_text import SourceText, token_ids


@pytest.fixture(scope="module")
def latent(parser, tmp_path_factory):
    """A model and its task."""
    path = latent_checkpoint(parser.data, tmp_path_factory.mktemp("latent") / "latent.pt")
    model, task, _ = load_model(path, parser.data, torch.device("cpu"))
    return model, task


def text_of(lines, dictionary):
    tokens = [token_ids(line.split(), dictionary) for line in lines]
    return SourceText("text", tokens, dictionary, lines)


def induced_trees(answers, text, max_tokens, batch_size=None, known_words=None):
    return structures_of(answers, text, bracketed, max_tokens, batch_size, known_words)


def of_side(latent, side, layer=0):
    """The distances of a side, and its text."""
    model, task = latent
    source = text_of(PIECES, task.source_dictionary)
    if side == "source":
        return encoder_distances(model, source, layer=layer), source
    target = text_of(TARGETS, task.target_dictionary)
    return decoder_distances(model, task, source, target, layer=layer), target


@torch.no_grad()
def one_by_one(latent, side, layer):
    """Each sentence through the whole model alone; the distance before each word but the first."""
    model, task = latent
    eos = torch.tensor([2])
    wanted = StructureLayers(source_distances=(layer,), target_distances=(layer,))
    gaps = []
    for source, target in zip(PIECES, TARGETS):
        tokens = token_ids(source.split(), task.source_dictionary)
        read = torch.cat([eos, token_ids(target.split(), task.target_dictionary)[:-1]])
        lengths = torch.tensor([len(tokens)])
        _, extra = model(tokens[None], lengths, read[None], structures=wanted)
        heads = extra[f"{side}_distances"][0][0]  # H×T
        means = [sum(of_heads) / len(heads) for of_heads in zip(*heads)]
        pieces = (source if side == "source" else target).split()
        shift = 0 if side == "source" else 1  # position 0 of the decoder reads EOS
        opening = [place for place, piece in enumerate(pieces) if piece.startswith("▁")]
        gaps.append([float(means[place + shift]) for place in opening[1:]])
    return gaps


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("side", ["source", "target"])
def test_the_gap_before_a_word_is_that_of_its_first_piece(latent, side, layer):
    distances, text = of_side(latent, side, layer)
    found = dict(distances.of(range(len(PIECES)), 4000, None))
    expected = one_by_one(latent, side, layer)
    for index, gaps in enumerate(expected):
        assert word_gaps(found[index], text[index]) == pytest.approx(gaps, abs=1e-5)
    # The test can tell one gap from another.
    everything = sorted(gap for gaps in expected for gap in gaps)
    assert np.diff(everything).max() > 0.05
    assert len(set(np.round(everything, 4))) > 10


@pytest.mark.parametrize("side", ["source", "target"])
def test_trees_of_the_definition_whatever_the_batch(latent, side):
    distances, text = of_side(latent, side)
    gaps = one_by_one(latent, side, 0)
    lines = PIECES if side == "source" else TARGETS
    words = [line.replace(" ", "").replace("▁", " ").split() for line in lines]
    expected = [
        format_tree(tree_of_spans(line, spans_of_gaps(each)) if line else None)
        for line, each in zip(words, gaps)
    ]
    for options in ({}, {"batch_size": 1}, {"batch_size": 3}, {"max_tokens": 12}):
        trees = induced_trees(distances, text, **{"max_tokens": 4000, **options})
        assert [format_tree(each.tree) for each in trees] == expected


class Fake:
    """Says what it is told, in an odd order, and which sentences are too long."""

    def __init__(self, distances, too_long=()):
        self.distances = distances
        self.too_long = too_long

    def fits(self, index):
        return index not in self.too_long

    def of(self, indices, max_tokens, batch_size):
        for index in reversed(indices):
            yield index, np.asarray(self.distances[index], dtype=np.float32)


def fake_trees(parser, lines, distances, **options):
    dictionary = Dictionary.load(str(parser.data / "dict.src.txt"))
    found = induced_trees(Fake(distances, **options), text_of(lines, dictionary), 4000)
    return [format_tree(each.tree) for each in found]


def test_pieces_inside_words_and_the_first_gap_do_not_count(parser):
    lines = ["▁gar den s ▁see ▁old ▁hou se", "▁we ▁see", ""]
    distances = [[9, 9, 9, 1, 2, 0.5, 9], [9, 0], []]
    assert fake_trees(parser, lines, distances) == [
        "(X (X (W gardens) (W see)) (X (W old) (W house)))",
        "(X (W we) (W see))",
        "()",
    ]


def test_too_long(parser):
    assert fake_trees(parser, ["▁we ▁see"] * 3, [[0, 0]] * 3, too_long=[1])[1] == "()"


def test_the_longest_sentence_that_has_positions(latent, monkeypatch):
    distances, text = of_side(latent, "source")
    longest = len(text.tokens[3])  # EOS included
    monkeypatch.setattr(distances.encoder, "max_source_positions", longest)
    assert [each.tree is None for each in induced_trees(distances, text, 4000)].count(True) == 1
    monkeypatch.setattr(distances.encoder, "max_source_positions", longest - 1)
    assert list(induced_trees(distances, text, 4000))[3].tree is None


def test_known_words_stand_for_unknown_ones(latent):
    distances, text = of_side(latent, "source")
    known = [None, ("GARDENS",), *[None] * 5]
    trees = list(induced_trees(distances, text, 4000, known_words=known))
    assert trees[1].tree.words == ("GARDENS",)
    assert list(trees[0].tree.words) == WORDS[0]
    assert trees[2].tree is None
    assert trees[2].block() == "()\n"


def split(start, end, gaps):
    """The definition: at the largest gap, the leftmost of equals, and each part again."""
    if end - start < 2:
        return set()
    inside = range(start, end - 1)
    middle = 1 + max(inside, key=lambda gap: (gaps[gap], -gap))
    return {(start, end)} | split(start, middle, gaps) | split(middle, end, gaps)


def test_by_hand():
    assert spans_of_gaps([]) == []
    assert spans_of_gaps([0.3]) == [(0, 2)]
    assert set(spans_of_gaps([1, 3, 2])) == {(0, 4), (0, 2), (2, 4)}
    # Equal gaps branch to the right.
    assert set(spans_of_gaps([2, 2, 2])) == {(0, 4), (1, 4), (2, 4)}
    assert set(spans_of_gaps([1, 2, 1, 2])) == {(0, 5), (0, 2), (2, 5), (2, 4)}


@pytest.mark.parametrize("words", [2, 3, 4, 5, 6])
def test_every_tree_and_every_tie(words):
    found = set()
    for gaps in product(range(words - 1), repeat=words - 1):
        spans = spans_of_gaps(gaps)
        assert set(spans) == split(0, words, gaps), gaps
        assert len(spans) == words - 1
        found.add(frozenset(spans))
    assert len(found) == [1, 2, 5, 14, 42][words - 2]  # all binary trees: Catalan's numbers


def test_long_sentences():
    dice = random.Random(2)
    gaps = [dice.uniform(-1, 1) for _ in range(300)]
    assert set(spans_of_gaps(gaps)) == split(0, 301, gaps)
    for gaps in ([0.0] * 4999, list(range(4999)), list(range(4999, 0, -1))):
        words = [str(index) for index in range(5000)]
        tree = tree_of_spans(words, spans_of_gaps(gaps))
        assert parse_tree(format_tree(tree), "t", 0) == tree


def test_one_word():
    assert format_tree(tree_of_spans(["see"], spans_of_gaps([]))) == "(X (W see))"


def test_spans_of_any_arity():
    tree = tree_of_spans(["a", "b", "c", "d", "e"], [(1, 4), (1, 3)])
    assert format_tree(tree) == "(X (W a) (X (X (W b) (W c)) (W d)) (W e))"
    assert parse_tree(format_tree(tree), "t", 0) == tree
