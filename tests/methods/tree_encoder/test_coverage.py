"""Coverage of nodes against loops, node by node, in float64; what it changes in a search."""

import pytest
import torch
from rnn_loops import gru
from small_models import annotated_batch, build, enlarge, random_sentences, write_dictionaries

from syntax_nmt.backbone.attentive_recurrence import AttentiveGRU, ConditionalGRU
from syntax_nmt.methods.tree_encoder.coverage import Coverage
from syntax_nmt.methods.tree_encoder.decoder import CHILDREN, NodeGRU

E, C, M, A, K = 3, 4, 5, 6, 2
STEPS, TOKENS = 4, 4
# ((0 1) 2), EOS is the last token: nodes 4 and 5; the second sentence has one phrase, of 1 and 2.
TREES = torch.tensor([[[0, 1], [4, 2]], [[1, 2], [-1, -1]]])
PADDING = torch.tensor([[0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 1]], dtype=torch.bool)


def strong(kind, of_children):
    torch.manual_seed(3)
    coverage = Coverage(K, M, C, A, of_children)
    recurrence = NodeGRU(kind(E, C, M, A), coverage).double()
    with torch.no_grad():
        for parameter in recurrence.parameters():
            parameter.normal_(std=0.7)
    return recurrence


def loops(recurrence, words, state, h, children, is_real):
    """One sentence: T×E, C, N×M -> states T×C and weights T×N."""
    steps, cover = recurrence.steps, recurrence.coverage
    nodes = len(h)
    vectors, states, weights = [torch.zeros(K).double()] * nodes, [], []
    for word in words:
        before = between = state
        inputs = steps.input_projection(word)
        if isinstance(steps, ConditionalGRU):
            between = gru(inputs, steps.hidden_projection(state), state)
        rows = steps.query_projection(between)
        hidden, query = rows[: 3 * C], rows[3 * C :]
        keys = [steps.attention.key_projection(h[i]) + cover.key(vectors[i]) for i in range(nodes)]
        scores = [steps.attention.score @ torch.tanh(query + key) for key in keys]
        exp = [torch.exp(s) if real else 0 * s for s, real in zip(scores, is_real)]
        alpha = torch.stack([each / sum(exp) for each in exp])
        context = steps.context_projection(sum(a * each for a, each in zip(alpha, h)))
        plain = not isinstance(steps, ConditionalGRU)
        state = gru(inputs + context if plain else context, hidden, between)
        new = []
        for i in range(nodes):
            pair = children.get(i, ())
            read = [alpha[i]]
            x = cover.annotation(h[i]) + cover.state(before)
            if cover.of_children:
                read += [alpha[c] for c in pair] or [torch.zeros(()).double()] * 2
                below = torch.cat([vectors[c] for c in pair] or [torch.zeros(2 * K).double()])
                x = x + cover.below(below)
            x = x + cover.weight(torch.stack(read))
            new.append(gru(x, cover.hidden(vectors[i]), vectors[i]))
        vectors = new
        states.append(state)
        weights.append(alpha)
    return torch.stack(states), torch.stack(weights)


@pytest.mark.parametrize("of_children", [True, False])
@pytest.mark.parametrize("kind", [AttentiveGRU, ConditionalGRU])
def test_equals_loops(kind, of_children):
    recurrence = strong(kind, of_children)
    h = torch.randn(2, TOKENS + 2, M, dtype=torch.float64, requires_grad=True)
    words = torch.randn(STEPS, 2, E, dtype=torch.float64)
    state = torch.randn(2, C, dtype=torch.float64)
    memory = recurrence.remember(h, PADDING, **{CHILDREN: TREES})
    states, weights, _ = recurrence(words, state, None, memory)
    expected = []
    for row in range(2):
        children = {TOKENS + k: pair for k, pair in enumerate(TREES[row].tolist()) if pair[0] >= 0}
        of_row = words[:, row], state[row], h[row], children, (~PADDING[row]).tolist()
        expected.append(loops(recurrence, *of_row))
    for found, theirs in zip((states, weights), zip(*expected)):
        theirs = torch.stack(theirs, dim=1)
        torch.testing.assert_close(found, theirs, atol=1e-12, rtol=1e-12)
        kernel, used = torch.randn_like(found), [h, *recurrence.parameters()]
        options = {"allow_unused": True, "materialize_grads": True, "retain_graph": True}
        ours = torch.autograd.grad((found * kernel).sum(), used, **options)
        loop = torch.autograd.grad((theirs * kernel).sum(), used, **options)
        for one, other in zip(ours, loop):
            torch.testing.assert_close(one, other, atol=1e-10, rtol=1e-10)


def test_steps_of_several_hypotheses_are_those_of_each():
    """Hypotheses share their sentence's memory, and each has its own coverage."""
    recurrence = strong(ConditionalGRU, of_children=True)
    h = torch.randn(2, TOKENS + 2, M, dtype=torch.float64)
    words, state = torch.randn(STEPS, 6, E).double(), torch.randn(6, C).double()
    shared = recurrence.remember(h, PADDING, **{CHILDREN: TREES})
    rows = torch.arange(2).repeat_interleave(3)
    own = recurrence.remember(h[rows], PADDING[rows], **{CHILDREN: TREES[rows]})
    expected, *_, after = recurrence(words, state, None, own)
    coverage, found = None, []
    for word in words:
        states, _, coverage = recurrence(word.unsqueeze(0), state, coverage, shared)
        state = states[0]
        found.append(state)
    torch.testing.assert_close(torch.stack(found), expected)
    torch.testing.assert_close(coverage, after)


@pytest.mark.parametrize("coverage", ["word", "tree"])
def test_coverage_changes_what_is_attended_to(tmp_path, coverage):
    """From the second step on; the first one has attended to nothing yet."""
    folder = write_dictionaries(tmp_path)
    model, task, _ = build(folder, "tree_coverage_rnn", f"--tree-coverage={coverage}")
    enlarge(model)
    lengths = [5, 8]
    sample = annotated_batch(model, task, random_sentences(lengths), random_sentences(lengths, 4))
    with torch.no_grad():
        covered = model(**sample["net_input"])[1]["attn"][0]
        model.decoder.recurrence.coverage.key.weight.zero_()
        plain = model(**sample["net_input"])[1]["attn"][0]
    assert covered.size(2) == sample["net_input"]["src_tokens"].size(1)
    torch.testing.assert_close(covered[:, 0], plain[:, 0])
    assert (covered[:, 1:] - plain[:, 1:]).abs().amax() > 1e-3
