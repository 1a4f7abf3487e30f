"""`syntax-nmt trees` of a model with supervised heads on both sides, and of one with LISA."""

import json
import shutil

import pytest
import torch
from parser_files import PIECES, TARGET_WORDS, TARGETS, WORDS
from small_models import build, fill_zeros, save_checkpoint
from translations import refused, write
from trees_of import is_tree, words_in

from syntax_nmt.backbone.structures import PARENTS, TARGET_PARENTS
from syntax_nmt.cli import main
from syntax_nmt.data.conllu import format_conllu, read_conllu


@pytest.fixture(scope="module")
def models(parser, tmp_path_factory):
    """The models and their checkpoints, by architecture."""
    folder, found = tmp_path_factory.mktemp("models"), {}
    for arch in ("dbsa_transformer", "lisa_transformer"):
        model, task, cfg = build(parser.data, arch)
        fill_zeros(model, 0.5)
        found[arch] = model, task, save_checkpoint(folder / f"{arch}.pt", model, cfg)
    return found


@pytest.fixture
def trees(parser, models, tmp_path):
    def run(*arguments, arch="dbsa_transformer"):
        output = tmp_path / "trees.conllu"
        command = ["trees", "--cpu", "--output", output, parser.data, "--path", models[arch][2]]
        main([str(part) for part in (*command, *arguments)])
        return output

    return run


def test_both_sides(trees, parser):
    source = trees().read_text()
    path = trees("--side", "target")
    target = path.read_text()
    assert target != source
    assert words_in(read_conllu(path)) == WORDS
    assert all(is_tree(tree.heads) for tree in read_conllu(path) if tree is not None)
    both = ("--side", "target", "--input", parser.pieces, "--translations", parser.pieces)
    for more in ([], ["--batch-size", 1]):
        assert trees(*both, *more).read_text() == target
    assert trees("--side", "source").read_text() == source


def test_trees_of_translations(trees, parser, tmp_path):
    others = write(tmp_path / "others", TARGETS)
    path = trees("--side", "target", "--input", parser.pieces, "--translations", others)
    assert words_in(read_conllu(path)) == TARGET_WORDS


@pytest.mark.parametrize("side", ["source", "target"])
@torch.no_grad()
def test_heads_are_those_of_the_models_weights(trees, models, tmp_path, side):
    """Before the search for a tree a word's head is the one of the largest weight."""
    arch = "dbsa_transformer" if side == "target" else "lisa_transformer"
    model, task, _ = models[arch]
    pieces = PIECES[0].split()
    ids = torch.tensor([[*map(task.source_dictionary.index, pieces), task.source_dictionary.eos()]])
    extra = model(ids, torch.tensor([ids.size(1)]), ids.roll(1, 1))[1]
    first = [place for place, piece in enumerate(pieces) if piece.startswith("▁")]
    scores = extra[TARGET_PARENTS if side == "target" else PARENTS][0][first][:, first]
    heads = scores.argmax(1).tolist()
    assert side == "source" or all(head <= word for word, head in enumerate(heads))
    text = write(tmp_path / "one", PIECES[:1])
    command = ["--side", side, "--input", text, "--json", tmp_path / "figures.json"]
    command += ["--translations", text] if side == "target" else []
    (tree,) = read_conllu(trees(*command[:4], *command[6:], arch=arch))
    reference = tmp_path / "gold.conllu"
    reference.write_text(format_conllu(tree.words, tree.heads))
    trees(*command, "--conllu", reference, arch=arch)
    figures = json.loads((tmp_path / "figures.json").read_text())
    met = sum(head == found for head, found in zip(heads, tree.heads))
    assert figures["uas"] == 100
    assert figures["uas_before_tree_search"] == pytest.approx(100 * met / len(heads))


def test_models_without_such_heads(parser, models):
    command = ("trees", "--cpu", parser.data, "--side", "target", "--path")
    for path in (parser.checkpoint, parser.stock):
        message = refused(*command, path)
        assert "no supervised attention head of the target; train one with --arch dbsa" in message


@pytest.mark.parametrize(
    ("arch", "root"), [("dependency_transformer", "root"), ("lisa_transformer", "ROOT")]
)
def test_labels_of_arcs_are_written_and_scored(parser, tmp_path, arch, root):
    """Where heads and relations are the reference's; other relations cost LAS alone."""
    folder = shutil.copytree(parser.data, tmp_path / "data")
    (folder / "dict.deprel.txt").write_text(f"<unk>\ndet\nnsubj\n{root}\n_\n")
    model, _, cfg = build(folder, arch, "--dependency-labels=full", "--dependency-label-dim=4")
    path = save_checkpoint(tmp_path / "labelled.pt", fill_zeros(model, 0.5), cfg)
    output, figures = tmp_path / "trees.conllu", tmp_path / "figures.json"
    command = ["trees", "--cpu", folder, "--path", path, "--output", output, "--json", figures]
    main([*map(str, command)])
    found = [tree for tree in read_conllu(output) if tree is not None]
    relations = [relation for tree in found for relation in tree.relations]
    assert {root} < set(relations) <= {"det", "nsubj", root}
    reference = tmp_path / "gold.conllu"
    text = output.read_text()
    for gold, las in ((text, 100), (text.replace("\tdet\t", "\tobj\t"), None)):
        reference.write_text(gold)
        main([*map(str, command), "--conllu", str(reference)])
        scored = json.loads(figures.read_text())
        expected = 100 * (1 - relations.count("det") / len(relations)) if las is None else las
        assert scored["uas"] == 100
        assert scored["las"] == pytest.approx(expected)
