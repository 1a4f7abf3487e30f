"""Attention with constituents against loops over leaves and nodes, and in known cases."""

import numpy as np
import pytest
import torch
from small_models import batch_of_trees, draw_trees

from syntax_nmt.backbone.attention_modifier import close_pads
from syntax_nmt.data.annotation import TREES
from syntax_nmt.data.annotation.trees import merge_row
from syntax_nmt.methods.constituent_attention import accumulation
from syntax_nmt.methods.constituent_attention.accumulation import Accumulation, Constituents
from syntax_nmt.methods.constituent_attention.attention import (
    ConstituentCrossAttention,
    ConstituentSelfAttention,
    ValueSettings,
)

H, D = 2, 5
C = H * D
WORDS = (6, 1, 3, 9, 2, 5)  # of each sentence, without EOS
UNPARSED = 2  # this sentence has no tree


@pytest.fixture(autouse=True)
def _small_tables(monkeypatch):
    """Tables so small that numbers beyond them occur; each rule is that of the usual size."""
    monkeypatch.setattr(accumulation, "_TALLEST", 3)
    monkeypatch.setattr(accumulation, "_WIDEST", 4)


@pytest.fixture
def usual_tables(monkeypatch):
    monkeypatch.setattr(accumulation, "_TALLEST", 50)
    monkeypatch.setattr(accumulation, "_WIDEST", 100)


def strong(module):
    """In float64, with parameters that all matter."""
    generator = torch.Generator().manual_seed(3)
    module = module.double().eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(std=0.5, generator=generator)
    return module


def drawn(words=WORDS, unparsed=UNPARSED):
    random = np.random.default_rng(5)
    return [
        TREES.no_row(n) if row == unparsed else draw_trees(n, random) for row, n in enumerate(words)
    ]


def batch_of(rows, words, **how):
    found, padding, first = batch_of_trees(rows, words, **how)
    return found["trees"], padding, first


class Node:
    """A constituent: its number in the sentence, its leaves, and the constituents within it."""

    def __init__(self, number, children, leaves):
        self.number, self.children = number, children
        self.leaves = leaves

    def below(self):
        """All constituents within it, itself last."""
        return [each for child in self.children for each in child.below()] + [self]


def nodes_of(row, words):
    """The constituents of a sentence from the bottom up; leaves are numbers from 0."""
    if words < 2 or row[0] < 0:
        return []
    everything, found = list(range(words)), []
    for number, pair in enumerate(row.reshape(-1, 2).tolist()):
        parts = [everything[part] for part in pair]
        children = [part for part in parts if isinstance(part, Node)]
        leaves = [x for p in parts for x in (p.leaves if isinstance(p, Node) else [p])]
        found.append(Node(number, children, leaves))
        everything.append(found[-1])
    return found


def embedding(module, k, h):
    """E(t, j), of the place k of t above j and the place h of j in t."""
    halves = []
    for table, row, size in ((module.vertical, k, D // 2), (module.horizontal, h, D - D // 2)):
        nothing = torch.zeros(size, dtype=torch.float64)
        halves.append(nothing if table is None else table[min(row, len(table)) - 1])
    return torch.cat(halves)


def accumulated(module, node, states, of_leaves, of_nodes):
    """v of a constituent in one head, by the equations.

    `of_leaves` and `of_nodes` are l and n by number; `states` the weights w of the leaves.
    """
    total = torch.zeros(D, dtype=torch.float64)
    for leaf in node.leaves:
        above = [each for each in node.below() if leaf in each.leaves]  # from the bottom up
        average = of_leaves[leaf]
        for k, each in enumerate(above, start=1):
            h = sorted(each.leaves).index(leaf) + 1
            average = average + of_nodes[each.number] + embedding(module, k, h)
        total = total + states[leaf] * average / (len(above) + 1)
    return total / len(node.leaves)


def assert_same(found, expected, inputs):
    """Values and gradients."""
    torch.testing.assert_close(found, expected, atol=1e-10, rtol=1e-10)
    generator = torch.Generator().manual_seed(8)
    weights = torch.randn(found.shape, generator=generator, dtype=torch.float64)
    options = {"allow_unused": True, "materialize_grads": True}
    one, other = (torch.autograd.grad((x * weights).sum(), inputs, **options)
                  for x in (found, expected))  # fmt: skip
    for mine, theirs in zip(one, other):
        torch.testing.assert_close(mine, theirs, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("left_pad", [True, False])
@pytest.mark.parametrize("which", [(True, True), (True, False), (False, True), (False, False)])
def test_accumulation_equals_loops(which, left_pad):
    rows = drawn()
    trees, padding, first = batch_of(rows, WORDS, left_pad=left_pad, wider=1)
    constituents = Constituents.of(trees, padding.size(1), *which)
    module = strong(Accumulation(C, H, D, *which))
    torch.manual_seed(1)
    x = torch.randn(padding.size(1), len(WORDS), C, dtype=torch.float64, requires_grad=True)
    both = padding.size(1) + trees.size(1)
    values = torch.randn(len(WORDS), H, both, D, dtype=torch.float64, requires_grad=True)
    found = module(x, values, constituents)
    expected = torch.zeros_like(found)
    for b, words in enumerate(WORDS):
        weights = x[first[b] : first[b] + words, b] @ module.weights.weight.T
        for node in nodes_of(rows[b], words):
            for head in range(H):
                leaves = values[b, head, first[b] : first[b] + words]
                nodes = values[b, head, padding.size(1) :]
                expected[b, head, node.number] = accumulated(
                    module, node, weights[:, head], leaves, nodes
                )
    assert_same(found, expected, [x, values, *module.parameters()])


SETTINGS = ValueSettings(accumulates=True, vertical=True, horizontal=True)


def attended(module, query, keys, values, head, factor=(), bias=()):
    """One query of one head, over lists of keys and values, the first of which others change."""
    rows = slice(head * D, (head + 1) * D)
    q = (module.q_proj(query))[rows] * D**-0.5
    logits = [q @ module.k_proj(key)[rows] for key in keys]
    for place, (times, added) in enumerate(zip(factor, bias, strict=True)):
        logits[place] = logits[place] * times + added
    weights = torch.stack(logits).softmax(dim=0)
    return (weights[:, None] * torch.stack(values)).sum(dim=0)


@pytest.mark.parametrize("others", [False, True], ids=["alone", "with a bias and a factor"])
@pytest.mark.parametrize("tokens_read_all", [False, True])
@pytest.mark.parametrize("settings", [SETTINGS, ValueSettings(False, False, False)])
def test_self_attention_equals_loops(settings, tokens_read_all, others):
    """Changes of other methods are those of logits of tokens to tokens."""
    rows = drawn()
    trees, padding, first = batch_of(rows, WORDS)
    width, most = padding.size(1), trees.size(1)
    constituents = Constituents.of(trees, width)
    module = strong(
        ConstituentSelfAttention(
            C, H, self_attention=True, settings=settings, tokens_read_all=tokens_read_all
        )
    )
    torch.manual_seed(1)
    x = torch.randn(width + most, len(WORDS), C, dtype=torch.float64, requires_grad=True)
    bias, factor = torch.randn(2, len(WORDS), H, width, width, dtype=torch.float64)
    changes = {"bias": close_pads(bias, padding), "factor": factor} if others else {}
    found, _ = module(
        x, x, x, padding, constituents=constituents, need_weights=False, **changes,
        constituent_bias=constituents.attention_bias(padding, tokens_read_all),
    )  # fmt: skip
    ours, theirs = [], []
    for b, words in enumerate(WORDS):
        leaves = x[first[b] : first[b] + words + 1, b]  # and EOS
        nodes = nodes_of(rows[b], words)
        states = [x[width + node.number, b] for node in nodes]
        for place in range(len(leaves) + len(nodes)):
            is_leaf = place < len(leaves)
            query = leaves[place] if is_leaf else states[place - len(leaves)]
            node = None if is_leaf else nodes[place - len(leaves)]
            if tokens_read_all:
                reads = range(len(leaves)), range(len(nodes))
            elif is_leaf:
                reads = range(len(leaves)), []
            else:
                reads = node.leaves, [each.number for each in node.below()]
            heads = []
            for head in range(H):
                part = slice(head * D, (head + 1) * D)
                of_leaves = [module.v_proj(leaf)[part] for leaf in leaves]
                of_nodes = [module.v_proj(state)[part] for state in states]
                gathered = of_nodes
                if settings.accumulates:
                    weights = leaves @ module.accumulation.weights.weight[head]
                    gathered = [
                        accumulated(module.accumulation, each, weights, of_leaves, of_nodes)
                        for each in nodes
                    ]
                keys = [leaves[i] for i in reads[0]] + [states[i] for i in reads[1]]
                values = [of_leaves[i] for i in reads[0]] + [gathered[i] for i in reads[1]]
                change = ()
                if others and is_leaf:
                    columns = slice(first[b], first[b] + len(leaves))
                    change = [of[b, head, first[b] + place, columns] for of in (factor, bias)]
                heads.append(attended(module, query, keys, values, head, *change))
            theirs.append(module.out_proj(torch.cat(heads)))
            column = first[b] + place if is_leaf else width + node.number
            ours.append(found[column, b])
    assert_same(torch.stack(ours), torch.stack(theirs), [x, *module.parameters()])


def test_cross_attention_equals_loops():
    rows = drawn()
    trees, padding, first = batch_of(rows, WORDS)
    width, most = padding.size(1), trees.size(1)
    options = {"kdim": 6, "vdim": 6, "encoder_decoder_attention": True}
    module = strong(ConstituentCrossAttention(C, H, settings=SETTINGS, **options))
    torch.manual_seed(1)
    x = torch.randn(3, len(WORDS), C, dtype=torch.float64)
    memory = torch.randn(width, len(WORDS), 6, dtype=torch.float64, requires_grad=True)
    nodes = torch.randn(most, len(WORDS), 6, dtype=torch.float64, requires_grad=True)
    found, weights = module(
        x, memory, memory, padding, need_weights=True,
        nodes=nodes, constituents=Constituents.of(trees, width),
    )  # fmt: skip
    assert weights.shape == (len(WORDS), 3, width + most)
    assert not weights[0, :, width + WORDS[0] - 1 :].any()  # of constituents that it has not
    expected = torch.zeros_like(found)
    for b, words in enumerate(WORDS):
        leaves, there = memory[first[b] :, b], nodes_of(rows[b], words)
        states = [nodes[node.number, b] for node in there]
        for t in range(3):
            heads = []
            for head in range(H):
                part = slice(head * D, (head + 1) * D)
                of_leaves = [module.v_proj(leaf)[part] for leaf in leaves]
                of_nodes = [module.v_proj(state)[part] for state in states]
                w = leaves @ module.accumulation.weights.weight[head]
                values = of_leaves + [
                    accumulated(module.accumulation, node, w, of_leaves, of_nodes) for node in there
                ]
                heads.append(attended(module, x[t, b], [*leaves, *states], values, head))
            expected[t, b] = module.out_proj(torch.cat(heads))
    assert_same(found, expected, [memory, nodes, *module.parameters()])


def test_one_constituent_without_embeddings_is_the_mean():
    """E = 0, w = 1 and one constituent over two leaves: v = mean_j (l_j + n) / 2."""
    trees, padding, _ = batch_of([merge_row([(0, 1)])], (2,))
    module = Accumulation(1, H, D, False, False).double()
    with torch.no_grad():
        module.weights.weight.fill_(1)
    values = torch.randn(1, H, 4, D, dtype=torch.float64)  # two leaves, EOS, the constituent
    ones = torch.ones(3, 1, 1, dtype=torch.float64)
    found = module(ones, values, Constituents.of(trees, padding.size(1)))
    expected = (values[:, :, :2] + values[:, :, 3:]).mean(dim=2, keepdim=True) / 2
    torch.testing.assert_close(found, expected)


def right_branching(words):
    """Merges of a chain, the deepest first."""
    merges = [(words - 2, words - 1)]
    merges += [(leaf, words + number) for number, leaf in enumerate(range(words - 3, -1, -1))]
    return merge_row(merges)


def test_chains():
    """In a right-branching tree constituent i covers the last i + 2 leaves, and all below it."""
    trees, padding, _ = batch_of([right_branching(6)], (6,))
    found = Constituents.of(trees, padding.size(1))
    for number in range(5):
        covered = [0] * (4 - number) + [1] * (number + 2) + [0]  # EOS is in none
        assert found.covers[0, number].tolist() == covered
        assert found.within[0, number].tolist() == [1] * (number + 1) + [0] * (4 - number)
    assert found.between[0, 4].tolist() == [1, 2, 3, 4, 5, 5, 0]


@pytest.mark.parametrize(("vertical", "horizontal"), [(True, False), (False, True), (False, False)])
def test_places_without_embeddings_are_not_counted(vertical, horizontal):
    """The largest tensor has no rows that nothing reads, and the values are the same."""
    rows = drawn()
    trees, padding, _ = batch_of(rows, WORDS)
    width = padding.size(1)
    module = strong(Accumulation(C, H, D, vertical, horizontal))
    x = torch.randn(width, len(WORDS), C, dtype=torch.float64)
    values = torch.randn(len(WORDS), H, width + trees.size(1), D, dtype=torch.float64)
    all_places = Constituents.of(trees, width)
    read = Constituents.of(trees, width, vertical, horizontal)
    assert read.places.size(3) < all_places.places.size(3)
    both = strong(Accumulation(C, H, D, True, True))
    both.load_state_dict(module.state_dict(), strict=False)
    for table, there in ((both.vertical, vertical), (both.horizontal, horizontal)):
        if not there:
            table.data.zero_()
    torch.testing.assert_close(module(x, values, read), both(x, values, all_places))


def test_values_do_not_depend_on_leaves_outside():
    rows = drawn()
    trees, padding, first = batch_of(rows, WORDS)
    width = padding.size(1)
    constituents = Constituents.of(trees, width)
    module = strong(ConstituentSelfAttention(
        C, H, self_attention=True, settings=SETTINGS, tokens_read_all=False
    ))  # fmt: skip
    x = torch.randn(width + trees.size(1), len(WORDS), C, dtype=torch.float64, requires_grad=True)
    _, values = module._all_keys_and_values(x, constituents)
    seen = 0
    for b, words in enumerate(WORDS):
        for node in nodes_of(rows[b], words):
            of_node = values[b, :, width + node.number].sum()
            (gradient,) = torch.autograd.grad(of_node, x, retain_graph=True)
            inside = {first[b] + leaf for leaf in node.leaves}
            inside |= {width + each.number for each in node.below()}
            touched = {(int(row), int(b_)) for row, b_, _ in gradient.nonzero()}
            assert touched == {(row, b) for row in inside}
            seen += 1
    assert seen == sum(WORDS[b] - 1 for b in range(len(WORDS)) if b != UNPARSED)


def test_rows_of_embeddings_that_no_tree_has_get_no_gradient():
    trees, padding, _ = batch_of([merge_row([(0, 1)])], (2,))
    module = strong(Accumulation(C, H, D, True, True))
    values = torch.randn(1, H, 4, D, dtype=torch.float64)
    x = torch.randn(3, 1, C, dtype=torch.float64)
    module(x, values, Constituents.of(trees, padding.size(1))).sum().backward()
    of_table = [table.grad.abs().sum(dim=1).gt(0) for table in (module.vertical, module.horizontal)]
    assert [x.tolist() for x in of_table] == [[True, False, False], [True, True, False, False]]


@pytest.mark.usefixtures("usual_tables")
def test_half_precision_is_finite_in_deep_trees():
    words = 120  # deeper and wider than the tables
    trees, padding, _ = batch_of([right_branching(words)], (words,))
    constituents = Constituents.of(trees, padding.size(1))
    module = Accumulation(C, H, D, True, True)
    torch.manual_seed(1)
    x = torch.randn(padding.size(1), 1, C)
    values = 100 * torch.randn(1, H, padding.size(1) + trees.size(1), D)
    x, values = x.half(), values.half()
    found = module.half()(x, values, constituents)
    assert found.dtype == torch.float16
    assert found.isfinite().all()
    exact = module.double()(x.double(), values.double(), constituents)
    torch.testing.assert_close(found.double(), exact, atol=0.05, rtol=0.02)
    bias = constituents.attention_bias(padding, all_read_all=False)
    assert not bias.isneginf().all(dim=-1).any()
