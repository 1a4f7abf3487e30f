"""Tree encoders against recursion over nested tuples, in float64, and in known trees."""

import numpy as np
import pytest
import torch
from small_models import batch_of_trees, build, draw_trees

from syntax_nmt.backbone.rnn_interface import PADDING, STATES, SUMMARY
from syntax_nmt.data.annotation import TREES
from syntax_nmt.errors import UserError
from syntax_nmt.methods.tree_encoder.cells import (
    DownwardStates,
    GatedMerge,
    UpwardStates,
    phrases_of,
)
from syntax_nmt.methods.tree_encoder.levels import Levels

D = 4
WORDS = (6, 1, 3, 0, 9, 2, 5)  # of each sentence, without EOS
UNPARSED = 2  # this sentence has no tree


def strong(module):
    """In float64, with parameters that all matter."""
    generator = torch.Generator().manual_seed(3)
    module = module.double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(std=0.7, generator=generator)
    return module


def batch_of(rows, words, **how):
    found, padding, first = batch_of_trees(rows, words, **how)
    return found["trees"], found["tree_levels"], padding, first


def drawn(words=WORDS, unparsed=UNPARSED):
    random = np.random.default_rng(5)
    return [
        TREES.no_row(n) if n == 0 or row == unparsed else draw_trees(n, random)
        for row, n in enumerate(words)
    ]


def nested(row, words):
    """Pairs of pairs; each merge has its number."""
    nodes = list(range(words))
    if words > 1:
        for number, pair in enumerate(row.reshape(-1, 2).tolist()):
            nodes.append((number, nodes[pair[0]], nodes[pair[1]]))
    return nodes[-1]


def merged(cell, left, right):
    """Chen et al., gate by gate."""
    size = len(left)

    def part(number):
        rows = slice(number * size, (number + 1) * size)
        return cell.left.weight[rows] @ left, cell.right.weight[rows] @ right, cell.bias[rows]

    gates = [torch.sigmoid(sum(part(number))) for number in range(5)]
    reset_left, reset_right, keep_left, keep_right, renew = gates
    of_left, of_right, bias = part(5)
    new = torch.tanh(reset_left * of_left + reset_right * of_right + bias)
    return keep_left * left + keep_right * right + renew * new


def upward(cell, node, leaves, found):
    """The state of a node; those of all phrases go into `found` by their numbers."""
    if not isinstance(node, tuple):
        return leaves[node]
    number, left, right = node
    parts = [upward(cell, child, leaves, found) for child in (left, right)]
    found[number] = merged(cell, *parts)
    return found[number]


def downward(module, node, parent, side, leaves, phrases, found):
    """States from the parent's; `found` has them by ("word" or "phrase", number)."""
    word = not isinstance(node, tuple)
    x = leaves[node] if word else phrases[node[0]]
    inputs = (module.left, module.right)[side](x)
    hidden = module.hidden(parent).chunk(2)[side]
    (r, z, n), (hr, hz, hn) = inputs.chunk(3), hidden.chunk(3)
    r, z = torch.sigmoid(r + hr), torch.sigmoid(z + hz)
    state = (1 - z) * torch.tanh(n + r * hn) + z * parent
    found["word" if word else "phrase", node if word else node[0]] = state
    for place, child in enumerate(() if word else node[1:]):
        downward(module, child, state, place, leaves, phrases, found)


@pytest.mark.parametrize("left_pad", [True, False])
@pytest.mark.parametrize("wider", [0, 3])
def test_levels_equal_recursion(left_pad, wider):
    """Both ways, values and gradients: of deep, shallow, single, empty and unparsed sentences."""
    up, down = strong(UpwardStates(D)), strong(DownwardStates(D))
    rows = drawn()
    trees, sizes, padding, first = batch_of(rows, WORDS, left_pad=left_pad, wider=wider)
    states = torch.randn(*padding.shape, D, dtype=torch.float64, requires_grad=True)
    levels = Levels(trees, sizes, padding)
    table = up(states, levels)
    below = down(table, levels)
    phrases, phrases_below = phrases_of(table, levels), phrases_of(below, levels)
    tokens_below = below[: levels.tokens].unflatten(0, padding.shape)
    ours, theirs = [], []
    for row, words in enumerate(WORDS):
        columns = slice(first[row], first[row] + words)
        leaves = states[row, columns]
        is_parsed = words > 0 and row != UNPARSED
        found, falling = {}, {}
        if is_parsed:
            tree = nested(rows[row], words)
            root = upward(up.merge, tree, leaves, found)
            downward(down, tree, torch.zeros(D).double(), 0, leaves, found, falling)
            torch.testing.assert_close(table[levels.roots[row]], root)
        assert bool(levels.has_root[row]) == is_parsed
        count = len(found)
        assert not phrases[row, count:].any()
        assert not phrases_below[row, count:].any()
        ours += [phrases[row, number] for number in range(count)]
        theirs += [found[number] for number in range(count)]
        ours += [phrases_below[row, number] for number in range(count)]
        theirs += [falling["phrase", number] for number in range(count)]
        expected = [falling.get(("word", n), torch.zeros(D).double()) for n in range(words)]
        ours += list(tokens_below[row, columns])
        theirs += expected
        outside = torch.ones(padding.size(1), dtype=torch.bool)
        outside[columns] = False
        assert not tokens_below[row, outside].any()
    assert table[: levels.tokens].equal(states.flatten(0, 1))
    found, expected = torch.stack(ours), torch.stack(theirs)
    torch.testing.assert_close(found, expected, atol=1e-12, rtol=1e-12)
    weights, used = torch.randn_like(found), [states, *up.parameters(), *down.parameters()]
    gradients = [torch.autograd.grad((x * weights).sum(), used) for x in (found, expected)]
    for one, other in zip(*gradients):
        torch.testing.assert_close(one, other, atol=1e-10, rtol=1e-10)


def test_two_leaves_by_hand():
    cell = GatedMerge(1)
    with torch.no_grad():
        cell.left.weight.copy_(torch.tensor([[0.0], [0.0], [0.0], [0.0], [0.0], [2.0]]))
        cell.right.weight.copy_(torch.tensor([[0.0], [0.0], [0.0], [0.0], [0.0], [4.0]]))
        cell.bias.zero_()
    # All gates are 1/2: h = 0.5 · 1 + 0.5 · (−1) + 0.5 · tanh(0.5 · 2 − 0.5 · 4)
    found = cell(torch.tensor([[[1.0]], [[-1.0]]]))
    torch.testing.assert_close(found, 0.5 * torch.tanh(torch.tensor([[-1.0]])))


def test_fixed_gates_weigh_leaves_by_their_depth():
    """With z = 0 and z_l = z_r = 1/2 a phrase is the mean of its words with weights 2^−depth."""
    up = UpwardStates(D).double()
    with torch.no_grad():
        for parameter in up.parameters():
            parameter.zero_()
        up.merge.bias[4 * D : 5 * D] = float("-inf")
    rows = drawn(unparsed=None)
    trees, sizes, padding, first = batch_of(rows, WORDS)
    states = torch.randn(*padding.shape, D, dtype=torch.float64)
    levels = Levels(trees, sizes, padding)
    table = up(states, levels)

    def depths(node, depth=0):
        if not isinstance(node, tuple):
            return {node: depth}
        return {k: v for child in node[1:] for k, v in depths(child, depth + 1).items()}

    for row, words in enumerate(WORDS):
        if words:
            leaves = states[row, first[row] : first[row] + words]
            of_words = depths(nested(rows[row], words))
            expected = sum(leaves[word] / 2**depth for word, depth in of_words.items())
            torch.testing.assert_close(table[levels.roots[row]], expected)


def right_branching(words):
    """Merges from the right end."""
    children, last = [], words - 1
    for number, left in enumerate(reversed(range(words - 1))):
        children += [left, last]
        last = words + number
    return np.array(children, dtype=np.int32)


def test_a_right_branching_tree_is_a_network_from_the_right():
    up, words = strong(UpwardStates(D)), 7
    trees, sizes, padding, _ = batch_of([right_branching(words)], [words])
    assert sizes == (1,) * (words - 1)
    states = torch.randn(1, words + 1, D, dtype=torch.float64)
    levels = Levels(trees, sizes, padding)
    found = phrases_of(up(states, levels), levels)[0]
    state = states[0, words - 1 : words]
    for number, word in enumerate(reversed(range(words - 1))):
        state = up.merge(torch.stack([states[0, word : word + 1], state]))
        torch.testing.assert_close(found[number : number + 1], state)


def test_levels_of_a_balanced_tree_are_few():
    random = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]
    assert batch_of([np.array(random, dtype=np.int32)], [8])[1] == (4, 2, 1)


def test_without_sizes_they_are_read_from_the_tensor(folder):
    model, *_ = build(folder, "tree_coverage_rnn")
    tokens = torch.tensor([[5, 6, 7, 8, 2]])
    trees, sizes, *_ = batch_of(drawn((4,), None), (4,))
    with torch.no_grad():
        given = model.encoder(tokens, trees=trees, tree_levels=sizes)["encoder_out"][0]
        read = model.encoder(tokens, trees=trees)["encoder_out"][0]
    assert given.equal(read)
    assert given.size(0) == 5 + 3


@pytest.mark.parametrize("left_pad", [True, False])
@torch.no_grad()
def test_a_decoder_starts_from_the_last_state_and_the_root(folder, left_pad):
    """Of a parsed sentence and a single word; without a parse the root is 0."""
    words, unparsed = (4, 1, 3), 2
    model, *_ = build(folder, "tree2seq_rnn")
    encoder, rows = strong(model).encoder, drawn(words, unparsed)
    trees, sizes, padding, first = batch_of(rows, words, left_pad=left_pad)
    pad = encoder.dictionary.pad()
    tokens = torch.randint(4, 40, padding.shape).masked_fill(padding, pad)
    found = encoder(tokens, trees=trees, tree_levels=sizes)
    states = encoder.network(encoder.embed_tokens(tokens), padding)
    for row, count in enumerate(words):
        leaves, phrases = states[row, first[row] : first[row] + count + 1], {}
        root = torch.zeros_like(leaves[0])
        if row != unparsed:
            root = upward(encoder.tree_up.merge, nested(rows[row], count), leaves, phrases)
        start = merged(encoder.tree_start, leaves[-1], root)
        torch.testing.assert_close(found[SUMMARY][0][row], start)
        nodes = [*leaves, *(phrases[number] for number in range(len(phrases)))]
        read = found[STATES][0][~found[PADDING][0][row], row]
        torch.testing.assert_close(read, torch.stack(nodes))


def test_parameters():
    """12 D² + 6 D up; two GRUs down."""
    count = sum(parameter.numel() for parameter in UpwardStates(D).parameters())
    assert count == 12 * D * D + 6 * D
    count = sum(parameter.numel() for parameter in DownwardStates(D).parameters())
    assert count == 2 * (3 * D * 2 * D + 6 * D)


def test_order_of_sentences_does_not_matter():
    up, down = strong(UpwardStates(D)), strong(DownwardStates(D))
    rows, order = drawn(), [4, 2, 0, 6, 5, 3, 1]
    trees, sizes, padding, _ = batch_of(rows, WORDS)
    states = torch.randn(*padding.shape, D, dtype=torch.float64)
    results = []
    for chosen in (list(range(len(WORDS))), order):
        levels = Levels(trees[chosen], sizes, padding[chosen])
        table = up(states[chosen], levels)
        results.append(phrases_of(torch.cat([table, down(table, levels)], dim=1), levels))
    torch.testing.assert_close(results[0][order], results[1])


@pytest.mark.parametrize(
    ("arch", "arguments", "message"),
    [
        ("rnn_search", ["--tree-start=tree"], "--tree-start needs --tree-encoder up or"),
        ("rnn_search", ["--tree-encoder=up"], "the decoder would read nothing of the tree"),
        (
            "rnn_search",
            ["--tree-encoder=bidirectional", "--tree-coverage=word"],
            "--tree-coverage needs --tree-attention nodes",
        ),
        ("tree2seq_rnn", ["--coverage-dim=9"], "--coverage-dim needs --tree-coverage word or tree"),
        ("tree_coverage_rnn", ["--coverage-dim=0"], "give a number from 1 on"),
        ("tree2seq_rnn", ["--bi-scale"], "--bi-scale and --tree-attention nodes both replace"),
        (
            "syntax_hybrid",
            [
                *("--encoder-family=rnn", "--decoder-family=transformer"),
                *("--tree-encoder=bidirectional", "--tree-attention=nodes"),
            ],
            "--tree-attention is an option of an RNN decoder",
        ),
        (
            "syntax_hybrid",
            ["--encoder-family=transformer", "--tree-encoder=bidirectional"],
            "--tree-encoder is an option of an RNN encoder",
        ),
    ],
)
def test_contradicting_options(folder, arch, arguments, message):
    with pytest.raises(UserError, match=message):
        build(folder, arch, *arguments)
