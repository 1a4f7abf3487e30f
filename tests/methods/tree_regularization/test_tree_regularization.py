"""Tree regularization against loops in float64; what counts as a span; its models and refusals."""

from argparse import Namespace

import numpy as np
import pytest
import torch
from small_models import (
    annotated_batch,
    assert_same_gradients,
    batch_of_trees,
    build,
    random_sentences,
    write_dictionaries,
)
from small_training import criterion_of

from syntax_nmt.backbone.tree_pointers import node_spans
from syntax_nmt.data.annotation import TREES
from syntax_nmt.data.annotation.trees import merge_row
from syntax_nmt.data.constituents import parse_tree
from syntax_nmt.data.merges import binary_merges, random_merges
from syntax_nmt.errors import UserError
from syntax_nmt.methods.tree_regularization.loss import (
    SOURCE_STATES,
    TARGET_STATES,
    TreeRegularization,
    contextual_independence,
    split_losses,
)

C = 5
# Pieces of each word: of a tree of two, of one word, of one, and of none.
WORDS = ([1, 2, 1, 1, 3, 1], [1, 1, 2], [1, 1], [4], [1], [2, 1, 1, 1])
TREE = "(S (NP (D a) (N b)) (VP (V c) (NP (D d) (N e) (N f))))"


def spans_of(merges, size):
    """(start, split, end) of each merge, by walking down, columns of the sentence."""

    def first(node):
        return node if node < size else first(merges[node - size][0])

    def last(node):
        return node if node < size else last(merges[node - size][1])

    return [(first(left), last(left), last(right)) for left, right in merges]


def trees():
    """Merges of each sentence: a parsed one, random ones that keep words whole, and none."""
    found = [binary_merges(parse_tree(TREE, "", 1), WORDS[0])]
    random = np.random.default_rng(2)
    for counts in WORDS[1:-1]:
        order = random_merges(len(counts), random)
        found.append(expanded(order, counts))
    return [*found, None]


def expanded(merges, counts):
    """Merges of words as merges of their pieces, those of a word to the right."""
    edges, size, made = np.cumsum([0, *counts]), sum(counts), []
    nodes = []
    for start, end in zip(edges, edges[1:]):
        node = int(end) - 1
        for left in range(int(end) - 2, int(start) - 1, -1):
            made.append((left, node))
            node = size + len(made) - 1
        nodes.append(node)
    for left, right in merges:
        made.append((nodes[left], nodes[right]))
        nodes.append(size + len(made) - 1)
    return made


def openers(counts):
    return [piece == 0 for count in counts for piece in range(count)]


def independence(h, s, e):
    """o(s, e) of one sentence."""
    if s == 0:
        return torch.zeros((), dtype=h.dtype)
    u = h[s - 1] / h[s - 1].norm()
    return (h[e] - h[e].dot(u) * u).norm()


def loss_of_span(h, start, split, end, opens):
    """Of a sentence; None = there is nothing to choose."""
    splits = [k for k in range(start, end) if opens[k + 1]]
    if len(splits) < 2 or split not in splits:
        return None
    z = [
        independence(h, start, k) + independence(h, k + 1, end) + independence(h, k + 1, k + 1)
        for k in splits
    ]
    gold = z[splits.index(split)]
    return torch.stack(z).exp().sum().log() - gold, float(gold) == max(map(float, z))


def padded(lists, padding, fill):
    """A row for each sentence, in the columns of its tokens; EOS and pads have `fill`."""
    found = torch.full(padding.shape, fill)
    for row, values in enumerate(lists):
        start = int((~padding[row]).int().argmax())
        found[row, start : start + len(values)] = torch.tensor(values)
    return found


@pytest.mark.parametrize(("left_pad", "wider"), [(True, 0), (False, 0), (True, 3), (False, 2)])
def test_equals_loops_with_gradients(left_pad, wider):
    torch.manual_seed(1)
    merges, words = trees(), [sum(counts) for counts in WORDS]
    rows = [TREES.no_row(0) if each is None else merge_row(each) for each in merges]
    batch, padding, first = batch_of_trees(rows, words, left_pad, wider)
    states = torch.randn(*padding.shape, C, dtype=torch.float64, requires_grad=True)
    opens = padded([openers(counts) for counts in WORDS], padding, True)
    begins = torch.zeros_like(padding)
    begins[torch.arange(len(words)), torch.tensor(first)] = True

    losses, right, counts = split_losses(states, batch["trees"], opens, begins)
    expected, on_top, spans = torch.zeros((), dtype=torch.float64), 0, 0
    for row, tree in enumerate(merges):
        h = states[row, first[row] : first[row] + words[row]]
        for k, span in enumerate(() if tree is None else spans_of(tree, words[row])):
            found = loss_of_span(h, *span, openers(WORDS[row]))
            assert bool(counts[row, k]) == (found is not None)
            if found is not None:
                torch.testing.assert_close(losses[row, k], found[0], atol=1e-10, rtol=1e-10)
                expected, on_top, spans = expected + found[0], on_top + found[1], spans + 1
    assert spans == int(counts.sum()) == 4  # three in the parsed tree
    assert on_top == int(right.sum())
    (ours,) = torch.autograd.grad(losses.sum(), states)
    (theirs,) = torch.autograd.grad(expected, states)
    torch.testing.assert_close(ours, theirs, atol=1e-9, rtol=1e-9)
    assert ours[[2, 3, 4, 5]].eq(0).all()  # nothing to choose, or no tree


def test_independence_of_what_comes_before():
    """Of a state along the one before nothing is left, of one across it all."""
    h = torch.tensor([[[3.0, 0.0], [2.0, 0.0], [0.0, 4.0]]], dtype=torch.float64)
    begins = torch.tensor([[True, False, False]])
    found = contextual_independence(h, begins)[0]
    expected = torch.tensor([[0.0, 0, 0], [0, 0, 4], [0, 0, 4]], dtype=torch.float64)
    torch.testing.assert_close(found, expected, atol=2e-3, rtol=0)


def test_spans_of_nodes_by_walking_down():
    random = np.random.default_rng(5)
    sizes = [1, 2, 9, 30]
    merges = [random_merges(size, random) for size in sizes]
    for left_pad in (True, False):
        batch, padding, first = batch_of_trees(
            [merge_row(each) for each in merges], sizes, left_pad
        )
        found = node_spans(batch["trees"], padding.size(1))
        for row, (each, size) in enumerate(zip(merges, sizes)):
            for k, (start, _, end) in enumerate(spans_of(each, size)):
                column = padding.size(1) + k
                assert int(found.first[row, column]) == first[row] + start
                assert int(found.last[row, column]) == first[row] + end


def test_half_precision_is_finite():
    """Squares of states are beyond float16."""
    batch, padding, first = batch_of_trees([merge_row(trees()[0])], [sum(WORDS[0])])
    opens = padded([openers(WORDS[0])], padding, True)
    begins = torch.zeros_like(padding)
    begins[0, first[0]] = True
    states = (300 * torch.randn(1, padding.size(1), C)).half().requires_grad_()
    loss, _, _ = split_losses(states, batch["trees"], opens, begins)
    (gradient,) = torch.autograd.grad(loss.sum(), states)
    assert loss.dtype == torch.float32
    assert loss.isfinite().all()
    assert gradient.isfinite().all()
    zero = torch.zeros_like(states, requires_grad=True)
    (gradient,) = torch.autograd.grad(
        split_losses(zero, batch["trees"], opens, begins)[0].sum(), zero
    )
    assert gradient.isfinite().all()


def test_the_loss_teaches_splits():
    """States that follow its gradient come to tell every split."""
    torch.manual_seed(3)
    batch, padding, first = batch_of_trees([merge_row(trees()[0])], [sum(WORDS[0])])
    opens = padded([openers(WORDS[0])], padding, True)
    begins = torch.zeros_like(padding)
    begins[0, first[0]] = True
    states = torch.randn(1, padding.size(1), C, requires_grad=True)
    optimizer = torch.optim.Adam([states], lr=0.05)
    _, before, counts = split_losses(states, batch["trees"], opens, begins)
    assert int(before.sum()) < int(counts.sum())
    for _ in range(150):
        optimizer.zero_grad()
        loss, right, _ = split_losses(states, batch["trees"], opens, begins)
        loss.sum().backward()
        optimizer.step()
    assert torch.equal(right, counts)
    assert float(loss.detach().sum()) < 0.1


@pytest.fixture
def folder(tmp_path):
    return write_dictionaries(tmp_path, pieces=True)


SOURCE = ("tree_reg_transformer",)
TARGET = ("syntax_transformer", "--target-tree-reg-layer=1")
of_both_sides = pytest.mark.parametrize("side", [SOURCE, TARGET], ids=["source", "target"])


def trained(folder, side, sources, targets, *layout):
    model, task, _ = build(folder, *side)
    model = model.double()
    sample = annotated_batch(model, task, sources, targets, *layout)
    return model, criterion_of(model, task, ""), sample


@of_both_sides
def test_begins_as_the_transformer(folder, side):
    """No parameter more, and the weight 0 is no objective."""
    sources, targets = random_sentences([9, 14, 4]), random_sentences([12, 3, 8], seed=4)
    model, criterion, sample = trained(folder, side, sources, targets)
    plain, task, _ = build(folder, "syntax_transformer")
    plain = plain.double()
    assert plain.state_dict().keys() == model.state_dict().keys()
    names = ("src_tokens", "src_lengths", "prev_output_tokens")
    expected, _ = plain(**{name: sample["net_input"][name] for name in names})
    torch.testing.assert_close(model(**sample["net_input"])[0], expected)
    assert TreeRegularization.from_options(Namespace(tree_reg_weight=0.0), task) is None
    loss, _, logs = criterion(model, sample)
    name = "target_tree_reg" if side is TARGET else "tree_reg"
    assert int(logs[f"{name}_spans"]) > 3
    torch.testing.assert_close(
        loss, (logs["loss"] + 0.1 * logs[f"{name}_loss"]), check_dtype=False, rtol=1e-6, atol=1e-6
    )


@of_both_sides
def test_gradients_are_those_of_each_sentence(folder, side):
    """In any batch, order and padding."""
    sources, targets = random_sentences([9, 14, 4]), random_sentences([12, 3, 8], seed=4)
    model, criterion, sample = trained(folder, side, sources, targets, False, (17, 15))
    together = criterion(model, sample)[0]
    alone = sum(
        criterion(model, trained(folder, side, [source], [target])[2])[0]
        for source, target in reversed([*zip(sources, targets)])
    )
    torch.testing.assert_close(together, alone)
    assert_same_gradients(model, together, alone)


@of_both_sides
def test_without_trees_the_loss_is_zero_and_has_a_gradient(folder, side):
    sentences = random_sentences([9, 14, 4])
    model, criterion, sample = trained(folder, side, sentences, sentences)
    (objective,) = criterion.objectives
    _, extra = model(**sample["net_input"])
    key = next(key for key in ("trees", "target_trees") if key in sample)
    loss, logs = objective(extra, {**sample, key: torch.full_like(sample[key], -1)})
    assert float(loss.detach()) == 0
    assert not any(map(float, logs.values()))
    loss.backward()
    states = model.encoder if key == "trees" else model.decoder
    weights = states.layers[0].self_attn.q_proj.weight.grad
    assert weights is not None
    assert weights.eq(0).all()


def test_states_of_a_decoder_have_read_their_word(folder):
    """The state of a word does not depend on the next, and does on itself."""
    targets = random_sentences([8, 8])
    model, _, sample = trained(folder, TARGET, targets, targets)
    net_input = sample["net_input"]

    def states(tokens):
        return model(**{**net_input, "prev_output_tokens": tokens})[1]["target_tree_reg_states"]

    before = net_input["prev_output_tokens"]
    assert torch.equal(before[:, 1:], sample["target"][:, :-1])
    after = before.clone()
    after[:, 4] = after[:, 4] % 30 + 5  # the target's word 3
    changed = (states(before) - states(after)).abs().amax(dim=2) > 1e-9
    assert not changed[:, :3].any()
    assert changed[:, 3:7].all()
    assert not changed[:, 7].any()


@pytest.mark.parametrize("layer", [0, -1])
@pytest.mark.parametrize("half", ["encoder", "decoder"])
@torch.no_grad()
def test_the_loss_reads_the_layer_that_is_named(folder, half, layer):
    """Half of the components of its output."""
    side = "" if half == "encoder" else "target-"
    options = (f"--{side}tree-reg-layer={layer}", "--tree-reg-share=0.5")
    model, task, _ = build(folder, "syntax_transformer", *options)
    sources, targets = random_sentences([9, 14, 4]), random_sentences([12, 3, 8], seed=4)
    inputs, outputs = annotated_batch(model, task, sources, targets)["net_input"], []
    getattr(model, half).layers[layer].register_forward_hook(lambda *of: outputs.append(of[-1]))
    found = model(**inputs)[1][SOURCE_STATES if half == "encoder" else TARGET_STATES]
    (output,) = outputs
    states = output if half == "encoder" else output[0]
    expected = states.transpose(0, 1)[..., :8]
    if half == "decoder":  # the state of a word is that of the step that reads it
        found, expected = found[:, :-1], expected[:, 1:]
    assert torch.equal(found, expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([*SOURCE, "--tree-reg-share=0"], "--tree-reg-share 0.0: give a share above 0"),
        ([*SOURCE, "--tree-reg-layer=2"], "--tree-reg-layer 2: the encoder has 2 layers"),
        ([*TARGET, "--decoder-layerdrop=0.1"], "--target-tree-reg-layer cannot be combined"),
        (["syntax_transformer", "--tree-reg-share=0.5"], "--tree-reg-share needs --tree-reg-layer"),
    ],
)
def test_refusals(folder, options, message):
    with pytest.raises(UserError, match=message):
        build(folder, *options)


def test_what_the_loss_lacks(folder):
    sentences = random_sentences([9, 4])
    model, criterion, sample = trained(folder, SOURCE, sentences, sentences)
    (objective,) = criterion.objectives
    with pytest.raises(UserError, match="needs the states of a layer: give --arch tree_reg"):
        objective({}, sample)
    extra = {SOURCE_STATES: model(**sample["net_input"])[1][SOURCE_STATES]}
    with pytest.raises(UserError, match=r"no layer of .* --load-target-trees loads: give"):
        objective(extra, {**sample, "target_trees": sample["trees"]})
    del sample["trees"]
    with pytest.raises(UserError, match=r"needs the binary trees .* add --load-trees"):
        objective(extra, sample)
