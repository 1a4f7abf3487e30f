"""Trees out of a model: which distance belongs to which gap between words."""

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary
from latent_models import latent_checkpoint
from parser_files import PIECES, WORDS

from syntax_nmt.backbone.structures import StructureLayers
from syntax_nmt.data.constituents import format_tree
from syntax_nmt.errors import UserError
from syntax_nmt.inference.checkpoint import load_model
from syntax_nmt.inference.extraction.constituents import (
    bracketed,
    spans_of_gaps,
    tree_of_spans,
    word_gaps,
)
from syntax_nmt.inference.extraction.model_answers import structures_of
from syntax_nmt.inference.extraction.model_distances import DecoderDistances, EncoderDistances
from syntax_nmt.inference.source_text import SourceText, token_ids

TRANSLATIONS = [*PIECES[3:], *PIECES[:3]]


@pytest.fixture(scope="module")
def latent(parser, tmp_path_factory):
    """A model and its task."""
    path = latent_checkpoint(parser.data, tmp_path_factory.mktemp("latent") / "latent.pt")
    return load_model(path, parser.data, torch.device("cpu"))


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
        return EncoderDistances(model, source, layer), source
    target = text_of(TRANSLATIONS, task.target_dictionary)
    return DecoderDistances(model, task, source, target, layer), target


@torch.no_grad()
def one_by_one(latent, side, layer):
    """Each sentence through the whole model alone; the distance before each word but the first."""
    model, task = latent
    eos = torch.tensor([2])
    wanted = StructureLayers(source_distances=(layer,), target_distances=(layer,))
    gaps = []
    for source, target in zip(PIECES, TRANSLATIONS):
        tokens = token_ids(source.split(), task.source_dictionary)
        read = torch.cat([eos, token_ids(target.split(), task.target_dictionary)[:-1]])
        lengths = torch.tensor([len(tokens)])
        _, extra = model(tokens[None], lengths, read[None], structures=wanted)
        heads = extra[f"{side}_distances"][0][0]  # H×T
        means = [
            sum(head[position] for head in heads) / len(heads) for position in range(heads.size(1))
        ]
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
    lines = PIECES if side == "source" else TRANSLATIONS
    words = [line.replace(" ", "").replace("▁", " ").split() for line in lines]
    expected = [
        format_tree(tree_of_spans(line, spans_of_gaps(each)) if line else None)
        for line, each in zip(words, gaps)
    ]
    for options in ({}, {"batch_size": 1}, {"batch_size": 3}, {"max_tokens": 12}):
        trees = induced_trees(distances, text, **{"max_tokens": 4000, **options})
        assert [format_tree(each.tree) for each in trees] == expected


@torch.no_grad()
def test_padding_on_the_left_gives_the_same_distances(latent):
    """As models are trained; here padding goes to the right."""
    model, _ = latent
    distances, text = of_side(latent, "source")
    for index, found in distances.of(range(len(PIECES)), 4000, None):
        tokens = text.tokens[index]
        padded = torch.cat([torch.full((3,), model.encoder.padding_idx), tokens])[None]
        out = model.encoder(padded.long(), torch.tensor([len(tokens)]), **distances.options)
        means = out["source_distances"][0].mean(dim=1)[0, 3:-1]
        assert found == pytest.approx(means.numpy(), abs=1e-5)


def test_layers_and_sides_differ(latent):
    trees = {
        (side, layer): [
            format_tree(each.tree)
            for each in induced_trees(*of_side(latent, side, layer), max_tokens=4000)
        ]
        for side in ("source", "target")
        for layer in (0, 1)
    }
    assert trees["source", 0] != trees["source", 1]
    assert trees["target", 0] != trees["target", 1]


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
    dictionary = load_dictionary(parser)
    found = induced_trees(Fake(distances, **options), text_of(lines, dictionary), 4000)
    return [format_tree(each.tree) for each in found]


def load_dictionary(parser):
    return Dictionary.load(str(parser.data / "dict.src.txt"))


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


def test_no_numbers(parser):
    with pytest.raises(UserError, match=r"text:1: .* are not numbers"):
        fake_trees(parser, ["▁we ▁see"], [[0, float("nan")]])


def test_known_words_stand_for_unknown_ones(latent):
    distances, text = of_side(latent, "source")
    known = [None, ("GARDENS",), *[None] * 5]
    trees = list(induced_trees(distances, text, 4000, known_words=known))
    assert trees[1].tree.words == ("GARDENS",)
    assert list(trees[0].tree.words) == WORDS[0]
    assert trees[2].tree is None
    assert trees[2].block() == "()\n"


def test_models_and_layers_without_distances(parser, latent):
    model, task = latent
    text = text_of(PIECES, task.source_dictionary)
    for layer in (-1, 2):
        with pytest.raises(UserError, match=f"--layer {layer}: the model's encoder has .* 2"):
            EncoderDistances(model, text, layer)
    stock, _ = load_model(parser.stock, parser.data, torch.device("cpu"))
    with pytest.raises(UserError, match="no syntactic distances"):
        EncoderDistances(stock, text, 0)
    with pytest.raises(UserError, match="no syntactic distances"):
        DecoderDistances(stock, task, text, text, 0)
