"""Orders of trees against a recursive walk, and the encoder against loops, in float64."""

import random

import pytest
import torch
from rnn_loops import gru_over
from small_models import (
    annotated_batch,
    build,
    chain_heads,
    enlarge,
    pieces_of_words,
    random_sentences,
)

from syntax_nmt.backbone.packing import PackedRows
from syntax_nmt.errors import UserError
from syntax_nmt.methods.tree_orders.encoder import TreeOrderEncoder
from syntax_nmt.methods.tree_orders.orders import depth_first_places, reading_order

E, C = 5, 4
LENGTHS = (9, 4, 7, 1, 2)


def random_tree(size, rng, roots=1):
    """Heads of a tree, or of several; non-projective ones, too."""
    order = rng.sample(range(size), size)
    heads = [0] * size
    for place, word in enumerate(order):
        heads[word] = word if place < roots else order[rng.randrange(place)]
    return heads


def walk(heads, post):
    """The words as a recursive walk meets them; −1 has no head, as a root."""
    below = {word: [] for word in range(len(heads))}
    roots = [word for word, head in enumerate(heads) if head in (-1, word)]
    for word, head in enumerate(heads):
        if word not in roots:
            below[head].append(word)

    def subtree(word):
        of_children = [each for child in below[word] for each in subtree(child)]
        return [*of_children, word] if post else [word, *of_children]

    return [each for root in roots for each in subtree(root)]


def order_of(places):
    return places.argsort(dim=-1).tolist()


@pytest.mark.parametrize("roots", [1, 3])
def test_places_are_those_of_a_recursive_walk(roots):
    rng = random.Random(1)
    for size in (3, 4, 9, 17, 40):
        trees = [random_tree(size, rng, roots) for _ in range(20)]
        trees.append([-1] * size)
        places = depth_first_places(torch.tensor(trees, dtype=torch.int32))
        assert order_of(places.pre) == [walk(heads, post=False) for heads in trees]
        assert order_of(places.post) == [walk(heads, post=True) for heads in trees]
        for each in places:
            assert each.sort(dim=1).values.tolist() == [list(range(size))] * len(trees)


def test_a_deep_tree_and_a_known_one():
    deep = [0, *range(99)]
    known = [head - 1 for head in (2, 7, 5, 5, 2, 7, 0, 9, 7, 7)]
    for heads in (deep, known):
        places = depth_first_places(torch.tensor([heads]))
        assert order_of(places.pre) == [walk(heads, post=False)]
        assert order_of(places.post) == [walk(heads, post=True)]
    places = depth_first_places(torch.tensor([known]))
    assert [word + 1 for word in order_of(places.pre)[0]] == [7, 2, 1, 5, 3, 4, 6, 9, 8, 10]
    assert [word + 1 for word in order_of(places.post)[0]] == [1, 3, 4, 5, 2, 6, 8, 9, 10, 7]


def test_every_subtree_is_contiguous():
    rng = random.Random(2)
    heads = random_tree(30, rng)
    places = depth_first_places(torch.tensor([heads]))
    for top in range(30):
        below = [top]
        for word in below:
            below += [each for each, head in enumerate(heads) if head == word != each]
        for each in places:
            taken = sorted(each[0, below].tolist())
            assert taken == list(range(taken[0], taken[0] + len(below)))


@pytest.mark.parametrize("left_pad", [True, False])
def test_words_keep_their_pieces_and_pads_are_last(pieces_folder, left_pad):
    """Words in the order of the tree of words, each with its pieces; then EOS, then pads."""
    model, task, _ = build(pieces_folder, "tree_order_rnn")
    dictionary = task.source_dictionary
    sources = random_sentences(LENGTHS)
    sample = annotated_batch(model, task, sources, random_sentences(LENGTHS, 4), left_pad)
    tokens, heads = (sample["net_input"][key] for key in ("src_tokens", "heads"))
    padding = tokens.eq(dictionary.pad())
    places, first = depth_first_places(heads), model.encoder.word_spans(tokens).first
    several = 0
    for post, of_order in enumerate(places):
        found = reading_order(of_order, first, padding).tolist()
        for row, source in enumerate(sources):
            shift = tokens.size(1) - len(source) if left_pad else 0
            counts = pieces_of_words(dictionary, source.tolist()[:-1])
            several += max(counts, default=0) > 1
            starts = [sum(counts[:word]) for word in range(len(counts))]
            of_pieces = [int(heads[row, shift + start]) - shift for start in starts]
            parsed = all(head >= 0 for head in of_pieces)
            words = [starts.index(head) for head in of_pieces] if parsed else [-1] * len(counts)
            expected = [
                shift + starts[word] + piece
                for word in walk(words, post=bool(post))
                for piece in range(counts[word])
            ]
            expected.append(shift + len(source) - 1)
            assert found[row][: len(source)] == expected
            assert padding[row, found[row][len(source) :]].all()
    assert several


def loops(network, x, orders):
    """One sentence: S×E and the columns of each order -> S×M."""
    gru = network.bidirectional.gru
    states = [
        torch.stack(gru_over(gru, x)),
        torch.stack(gru_over(gru, list(x)[::-1], "_reverse")[::-1]),
    ]
    for columns, of_order in zip(orders, network.of_orders.values()):
        read = gru_over(of_order.gru, [x[column] for column in columns])
        states.append(torch.stack([read[columns.index(column)] for column in range(len(x))]))
    joined = torch.cat(states, dim=1)
    return joined if network.fusion is None else torch.tanh(joined @ network.fusion.weight.T)


def strong(orders, fusion):
    torch.manual_seed(3)
    network = TreeOrderEncoder(E, C, orders, fusion).double()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_()
    return network


@pytest.mark.parametrize("fusion", ["tanh", "concat"])
@pytest.mark.parametrize("orders", [("child", "head"), ("child",), ("head",)])
@pytest.mark.parametrize("left_pad", [True, False])
def test_equals_loops(orders, fusion, left_pad):
    """Values and gradients; one sentence has no tree, one has no words."""
    network, rng = strong(orders, fusion), random.Random(4)
    width = max(LENGTHS)
    padding = torch.zeros(len(LENGTHS), width, dtype=torch.bool)
    heads = torch.full((len(LENGTHS), width), -1)
    x = torch.randn(len(LENGTHS), width, E, dtype=torch.float64, requires_grad=True)
    expected, real = [], []
    for row, length in enumerate(LENGTHS):
        shift = width - length if left_pad else 0
        padding[row] = True
        padding[row, shift : shift + length] = False
        tree = random_tree(length - 1, rng) if length > 2 and row != 1 else [-1] * (length - 1)
        heads[row, shift : shift + length - 1] = torch.tensor([h + shift * (h >= 0) for h in tree])
        walks = {"child": walk(tree, post=False), "head": walk(tree, post=True)}
        columns = [[*walks[order], length - 1] for order in orders]
        expected.append(loops(network, x[row, shift : shift + length], columns))
        real.append((row, slice(shift, shift + length)))
    first = torch.arange(width).expand_as(padding)
    states = network(x, padding, heads, first)
    assert (
        states.size(2) == network.output_dim == (C if fusion == "tanh" else (2 + len(orders)) * C)
    )
    assert not states[padding].any()
    found = torch.cat([states[each] for each in real])
    torch.testing.assert_close(found, torch.cat(expected), atol=1e-12, rtol=1e-12)
    weights = torch.randn_like(found)
    used = [x, *network.parameters()]
    ours = torch.autograd.grad((found * weights).sum(), used)
    theirs = torch.autograd.grad((torch.cat(expected) * weights).sum(), used)
    for one, other in zip(ours, theirs):
        torch.testing.assert_close(one, other, atol=1e-10, rtol=1e-10)


def test_chains_are_a_forward_and_a_backward_gru(pieces_folder):
    """The control is a second bidirectional GRU, but for EOS, which is read last both ways."""
    model, task, _ = build(pieces_folder, "tree_order_rnn", "--tree-order-fusion=concat")
    network = enlarge(model).encoder.network
    sources = random_sentences(LENGTHS)
    inputs = annotated_batch(model, task, sources, random_sentences(LENGTHS, 4))["net_input"]
    tokens, dictionary = inputs["src_tokens"], task.source_dictionary
    padding, x = tokens.eq(dictionary.pad()), model.encoder.embed_tokens(tokens)
    first = torch.arange(tokens.size(1)).expand_as(tokens)
    found = network(x, padding, chain_heads(tokens, dictionary), first)
    width = found.size(2) // 4
    head_known, dependents_known = found[..., 2 * width : 3 * width], found[..., 3 * width :]
    gru = network.of_orders["child"]
    torch.testing.assert_close(head_known, gru(x, PackedRows(padding)))
    gru, words = network.of_orders["head"].gru, ~padding & tokens.ne(dictionary.eos())
    for row, of_words in enumerate(words):
        read = gru_over(gru, x[row, of_words].flip(0))
        if read:
            torch.testing.assert_close(dependents_known[row, of_words], torch.stack(read).flip(0))


def test_parameters():
    """Each order has a GRU, 3 (E C + C² + 2 C); W is 4 C × C."""
    of_gru = 3 * (E * C + C * C + 2 * C)
    for orders, fusion, extra in (
        (("child", "head"), "tanh", 4 * C * C),
        (("child", "head"), "concat", 0),
        (("head",), "tanh", 3 * C * C),
    ):
        network = TreeOrderEncoder(E, C, orders, fusion)
        count = sum(parameter.numel() for parameter in network.parameters())
        assert count == (2 + len(orders)) * of_gru + extra


@pytest.mark.parametrize("given", ["child", "head", "head,child"])
def test_orders_are_those_of_the_option(pieces_folder, given):
    """In a fixed order: checkpoints have them by name, but the fusion by place."""
    model, *_ = build(pieces_folder, "tree_order_rnn", f"--tree-order-encoder={given}")
    assert list(model.encoder.network.of_orders) == sorted(given.split(","))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--tree-order-encoder=parent",), r"'parent' is no order: give child, head"),
        (("--tree-order-encoder=head,head",), "head twice: give each order once"),
        (("--encoder-gru=stacked",), "--encoder-gru and --tree-order-encoder both replace"),
        (("--relation-kernels=3:8",), "--relation-kernels and --tree-order-encoder both replace"),
    ],
)
def test_contradicting_options(pieces_folder, arguments, message):
    with pytest.raises(UserError, match=message):
        build(pieces_folder, "tree_order_rnn", *arguments)


def test_a_fusion_of_nothing(pieces_folder):
    with pytest.raises(UserError, match=r"--tree-order-fusion needs --tree-order-encoder"):
        build(pieces_folder, "rnn_search", "--tree-order-fusion=concat")
