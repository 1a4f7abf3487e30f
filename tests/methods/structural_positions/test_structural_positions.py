"""Structural positions against walks up the tree and loops in float64."""

import random

import pytest
import torch
from fairseq.modules import SinusoidalPositionalEmbedding
from small_models import (
    annotated_batch,
    build,
    chain_heads,
    enlarge,
    fill_zeros,
    random_sentences,
)  # fmt: skip
from trees_of import random_heads

from syntax_nmt.errors import UserError
from syntax_nmt.methods.structural_positions.options import ADD, DEPTH, LCA, PAPER, TANH
from syntax_nmt.methods.structural_positions.positions import StructuralBias, StructuralEmbedding
from syntax_nmt.methods.structural_positions.structure import depths, relations

C, PAD = 6, 1


def path_up(heads, word):
    """The words from one up to its root."""
    found = [word]
    while heads[found[-1]] != found[-1]:
        found.append(heads[found[-1]])
    return found


def walked(heads, rule):
    """rel of all pairs of words, by walking."""
    up = [path_up(heads, word) for word in range(len(heads))]
    found = []
    for i, mine in enumerate(up):
        row = []
        for j, theirs in enumerate(up):
            a, b = len(mine) - 1, len(theirs) - 1
            sign = (j > i) - (j < i)
            if rule == DEPTH or (rule == PAPER and (j in mine or i in theirs)):
                row.append(a - b)
            elif rule == PAPER:
                row.append(sign * (a + b))
            else:
                shared = len(set(mine) & set(theirs))
                row.append(sign * (a + b + 2 - 2 * shared))
        found.append(row)
    return found


def of_words(heads):
    """Heads and first columns of words of one token."""
    return torch.tensor([heads], dtype=torch.int32), torch.arange(len(heads))[None]


@pytest.mark.parametrize("rule", [PAPER, LCA, DEPTH])
def test_relations_are_those_of_walks(rule):
    rng = random.Random(2)
    for _ in range(200):
        heads = random_heads(rng, rng.randint(1, 30))
        tree = of_words(heads)
        assert depths(*tree)[0].tolist() == [len(path_up(heads, w)) - 1 for w in range(len(heads))]
        found = relations(*tree, rule)[0]
        assert found.tolist() == walked(heads, rule)
        assert torch.equal(found, -found.T)


def test_chains_are_positions_in_the_sentence():
    places = torch.arange(9)
    tree = of_words([0, *range(8)])
    assert depths(*tree)[0].tolist() == places.tolist()
    for rule in (PAPER, DEPTH):
        assert torch.equal(relations(*tree, rule)[0], places[:, None] - places)
    assert torch.equal(relations(*tree, LCA)[0], places - places[:, None])


def test_stars_and_several_roots():
    tree = of_words([2, 2, 2, 2])
    assert depths(*tree)[0].tolist() == [1, 1, 0, 1]
    tree = of_words([0, 0, 2, 2])
    assert depths(*tree)[0].tolist() == [0, 1, 0, 1]
    assert relations(*tree, PAPER)[0, 1].tolist() == [1, 0, 1, 2]


def test_words_of_several_pieces():
    """All pieces have their word's depth, and 0 among themselves."""
    first = torch.tensor([[0, 0, 2, 3, 3]])  # words of columns 0 1, 2, 3 4; 2 is the root
    tree = torch.tensor([[2, 0, 2, 2, 3]], dtype=torch.int32), first
    assert depths(*tree)[0].tolist() == [1, 1, 0, 1, 1]
    assert relations(*tree, PAPER)[0].tolist() == [
        [0, 0, 1, 2, 2], [0, 0, 1, 2, 2], [-1, -1, 0, -1, -1], [-2, -2, 1, 0, 0], [-2, -2, 1, 0, 0]
    ]  # fmt: skip


def sinusoid(place):
    """fairseq's: sines of the first half, cosines of the second."""
    rows = SinusoidalPositionalEmbedding.get_embedding(place + 1, C)
    return rows[place].double()


@pytest.mark.parametrize("fusion", [TANH, ADD])
def test_absolute_positions_equal_loops(fusion):
    torch.manual_seed(1)
    module = StructuralEmbedding(C, fusion, 12, PAD).double()
    tokens = torch.tensor([[PAD, 5, 6, 7, 2], [8, 9, 5, 6, 2]])
    depth = torch.tensor([[0, 2, 0, 1, 0], [3, 2, 1, 0, 0]])
    there = torch.tensor([[0, 1, 1, 1, 0], [1, 1, 1, 1, 0]], dtype=torch.bool)
    found = module(tokens, depth, there, torch.zeros(1, dtype=torch.float64))
    for row, of_row in enumerate(tokens.tolist()):
        place = PAD
        for column, token in enumerate(of_row):
            if token == PAD:
                continue
            place += 1
            p = sinusoid(place)
            of_depth = sinusoid(int(depth[row, column])) * bool(there[row, column])
            wanted = p + of_depth
            if fusion == TANH:
                u, v = module.of_position.weight, module.of_depth.weight
                wanted = torch.tanh(u @ p + v @ of_depth + module.of_depth.bias)
            torch.testing.assert_close(found[row, column] + p, wanted, atol=1e-7, rtol=1e-7)


def test_relative_positions_equal_loops():
    torch.manual_seed(2)
    module = StructuralBias(layers=2, num_heads=3, clip=2).double()
    with torch.no_grad():
        module.table.normal_()
    relation = torch.randint(-5, 6, (2, 4, 4))
    there = torch.tensor([[1, 1, 1, 0], [1, 0, 1, 1]], dtype=torch.bool)
    found = module(relation, there)
    assert len(found) == 2
    for layer, of_layer in enumerate(found):
        assert of_layer.shape == (2, 3, 4, 4)
        for b in range(2):
            for h in range(3):
                for i in range(4):
                    for j in range(4):
                        r = max(-2, min(2, int(relation[b, i, j])))
                        wanted = module.table[layer, h, r + 2] if there[b, i] & there[b, j] else 0.0
                        assert float(of_layer[b, h, i, j]) == float(wanted)
    found[0].sum().backward()
    assert module.table.grad is not None
    assert module.table.grad[1].abs().max() == 0


def test_new_numbers_change_nothing(folder):
    """Relative positions begin as the Transformer."""
    plain, task, _ = build(folder, "syntax_transformer")
    relative = ("structural_transformer", "--structural-positions=relative")
    model, _, _ = build(folder, *relative)
    missing, unexpected = model.load_state_dict(plain.state_dict(), strict=False)
    assert (len(unexpected), missing) == (0, ["encoder.structural_bias.table"])
    sample = annotated_batch(model, task, random_sentences([5, 3]), random_sentences([4, 2], 9))
    net_input = sample["net_input"]
    without = {name: x for name, x in net_input.items() if name != "heads"}
    (found, _), (expected, _) = model.eval()(**net_input), plain.eval()(**without)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("fusion", [TANH, ADD])
def test_what_the_lowest_layer_reads(folder, fusion):
    """√C times the word's vector plus the positions, or what fuses them with depths."""
    options = ("--structural-positions=absolute", f"--structural-fusion={fusion}")
    model, task, _ = build(folder, "structural_transformer", *options)
    encoder = enlarge(model).double().eval().encoder
    sample = annotated_batch(model, task, random_sentences([5, 3]), random_sentences([4, 2], 9))
    inputs = sample["net_input"]
    inputs["heads"][1] = -1  # not parsed
    read = []
    encoder.layers[0].register_forward_pre_hook(lambda _, given: read.append(given[0]))
    model(**inputs)
    tokens, heads = inputs["src_tokens"], inputs["heads"]
    width, pad = encoder.embed_tokens.embedding_dim, task.source_dictionary.pad()
    sinusoids = SinusoidalPositionalEmbedding.get_embedding(99, width, pad).double()
    first = encoder.word_spans(tokens).first
    depth = depths(heads, first)
    for b, row in enumerate(tokens.tolist()):
        place = pad
        for i, token in enumerate(row):
            if token == pad:
                continue
            place += 1
            word = encoder.embed_tokens.weight[token] * width**0.5
            p = sinusoids[place]
            of_depth = torch.zeros_like(p)
            if heads[b, i] >= 0:
                of_depth = encoder.structural_embedding.depths[depth[b, i]].double()
            if fusion == ADD:
                expected = word + p + of_depth
            else:
                layers = encoder.structural_embedding
                expected = word + torch.tanh(
                    layers.of_position.weight @ p
                    + layers.of_depth.weight @ of_depth
                    + layers.of_depth.bias
                )
            torch.testing.assert_close(read[0][i, b], expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("rule", [PAPER, LCA, DEPTH])
def test_what_every_layer_adds_to_its_logits(folder, rule):
    """The number of rel(i, j) for query i and key j, from the layer's own table."""
    options = (f"--structural-rule={rule}", "--structural-clip=2")
    relative = ("structural_transformer", "--structural-positions=relative")
    model, task, _ = build(folder, *relative, *options)
    fill_zeros(model)
    sources = random_sentences([9, 6])
    inputs = annotated_batch(model, task, sources, random_sentences([4, 2], 9))["net_input"]
    biases = []
    for layer in model.encoder.layers:
        layer.self_attn.register_forward_hook(
            lambda module, args, given, output: biases.append(given["bias"]), with_kwargs=True
        )
    model(**inputs)
    for bias, table in zip(biases, model.encoder.structural_bias.table, strict=True):
        for b, tokens in enumerate(sources):
            start = bias.size(-1) - len(tokens)
            words = slice(start, start + len(tokens) - 1)
            relation = walked((inputs["heads"][b, words] - start).tolist(), rule)
            wanted = table[:, torch.tensor(relation).clamp(-2, 2) + 2]
            assert torch.equal(bias[b, :, words, words], wanted)
            assert not bias[b, :, words, -1].any(), "EOS has no relation"


@pytest.mark.parametrize("positions", ["absolute", "relative"])
def test_the_tree_matters(folder, positions):
    model, task, _ = build(folder, "structural_transformer", f"--structural-positions={positions}")
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "structural" in name:
                parameter.normal_(std=0.3)
    sample = annotated_batch(model, task, random_sentences([6, 4]), random_sentences([4, 2], 9))
    net_input = sample["net_input"]
    first, _ = model.eval()(**net_input)
    heads = chain_heads(net_input["src_tokens"], task.source_dictionary).int()
    assert not torch.equal(heads, net_input["heads"])
    second, _ = model(**{**net_input, "heads": heads})
    assert not torch.allclose(first, second, atol=1e-4)


def test_words_are_found_once_a_batch(folder):
    """By depths, by relations, and by another method."""
    model, task, _ = build(folder, "structural_transformer", "--tree-distance=normal")
    sample = annotated_batch(model, task, random_sentences([4, 3]), random_sentences([4, 3], 9))
    calls = []
    model.encoder.word_spans.register_forward_hook(lambda *_: calls.append(1))
    model(**sample["net_input"])
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--structural-positions=depth"], "'depth' is no position: give absolute, relative$"),
        (["--structural-positions=absolute,absolute"], "absolute twice: give each position once"),
        (["--structural-positions=relative", "--structural-fusion=add"], "--structural-fusion"),
        (["--structural-positions=absolute", "--structural-clip=3"], "--structural-clip"),
        (["--structural-clip=0"], "--structural-clip 0: give 1 or more"),
        (["--encoder-learned-pos"], "positions that are sinusoids"),
    ],
)
def test_refusals(folder, options, message):
    with pytest.raises(UserError, match=message):
        build(folder, "structural_transformer", *options)
    if "--structural-positions" in options[0]:
        return
    with pytest.raises(UserError, match="needs --structural-positions"):
        build(folder, "syntax_transformer", "--structural-rule=lca")
