"""Distances in the tree against breadth-first search, and the layers against loops in float64."""

import math
import random
from collections import deque

import pytest
import torch
from small_models import (
    annotated_batch,
    build,
    chain_heads,
    fill_zeros,
    random_sentences,
    write_dictionaries,
)
from trees_of import random_heads

from syntax_nmt.errors import UserError
from syntax_nmt.methods.tree_distance.distances import DistanceChange, tree_distances

H = 4
SLOPES = [2.0 ** (-8 * h / H) for h in range(1, H + 1)]


def searched(heads):
    """Arcs between any two words, by breadth-first search."""
    near = {word: set() for word in range(len(heads))}
    for word, head in enumerate(heads):
        if head != word:
            near[word].add(head)
            near[head].add(word)
    found = []
    for start in near:
        steps, queue = {start: 0}, deque([start])
        while queue:
            word = queue.popleft()
            for other in near[word] - steps.keys():
                steps[other] = steps[word] + 1
                queue.append(other)
        found.append([steps[word] for word in range(len(heads))])
    return torch.tensor(found, dtype=torch.float32)


def of_words(heads):
    """The distances where each word is one token."""
    row = torch.tensor([heads], dtype=torch.int32)
    return tree_distances(row, torch.arange(len(heads))[None])[0]


def test_equals_breadth_first_search():
    rng = random.Random(1)
    for _ in range(500):
        heads = random_heads(rng, rng.randint(1, 40))
        assert torch.equal(of_words(heads), searched(heads)), heads


@pytest.mark.parametrize("length", [1, 2, 3, 16, 17, 300])
def test_chains_and_stars(length):
    places = torch.arange(length)
    chain = of_words([max(0, place - 1) for place in range(length)])
    assert torch.equal(chain, (places[:, None] - places).abs().float())
    star = of_words([0] * length)
    assert star[0, 1:].eq(1).all()
    assert star[1:, 1:].eq(2 - 2 * torch.eye(length - 1)).all()


def test_subwords_stand_where_their_word_stands():
    # "un break able" hangs on "cat"; both are padded on the left, EOS has no head.
    heads = torch.tensor([[-1, 4, 1, 1, 4, -1]])
    found = tree_distances(heads, torch.tensor([[0, 1, 1, 1, 4, 5]]))[0, 1:5, 1:5]
    assert found.tolist() == [[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1], [1, 1, 1, 0]]


def test_neither_padding_nor_other_sentences_matter():
    rng = random.Random(2)
    trees = [random_heads(rng, size) for size in (9, 4, 6)]
    for left in (False, True):
        heads = torch.full((3, 12), -1)
        places = [12 - len(tree) if left else 1 for tree in trees]
        for row, place, tree in zip(heads, places, trees):
            row[place : place + len(tree)] = torch.tensor(tree) + place
        found = tree_distances(heads, torch.arange(12).expand(3, 12))
        for distances, place, tree in zip(found, places, trees):
            part = slice(place, place + len(tree))
            assert torch.equal(distances[part, part], searched(tree))


def test_distances_are_exact_under_autocast():
    """bfloat16 has no 257."""
    heads = torch.arange(-1, 299).clamp(min=0)[None]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = tree_distances(heads, torch.arange(300)[None])
    assert found[0, 0].tolist() == list(range(300))


def test_pairs_are_ignored_in_training_alone():
    torch.manual_seed(1)
    change = DistanceChange("exp", H, ignoring=0.3)
    heads = torch.zeros(40, 20, dtype=torch.int32)
    first, like = torch.arange(20).expand(40, 20), torch.zeros(())
    neutral = change(heads, first, like).bias.eq(0)
    assert float(neutral.float().mean()) == pytest.approx(0.3, abs=0.02)
    assert not change.eval()(heads, first, like).bias.eq(0).any()


@pytest.mark.parametrize("form", ["normal", "linear", "exp", "alibi"])
def test_pairs_that_are_not_ignored_keep_their_change(form):
    torch.manual_seed(1)
    heads = torch.arange(-1, 5).clamp(min=0).expand(30, 6)
    first, like = torch.arange(6).expand(30, 6), torch.zeros(())
    without = DistanceChange(form, H)(heads, first, like)
    ignoring = DistanceChange(form, H, ignoring=0.3)(heads, first, like)
    for whole, some, neutral in zip(without, ignoring, (0, 1)):
        if whole is not None:
            kept = some.ne(neutral)
            assert 0.5 < kept.float().mean() < 0.9
            assert torch.equal(some[kept], whole[kept])


def changed(form, logit, distances, row, column, head, strength, variance):
    """The formula of one logit; the distances are those of known pairs of the row."""
    distance = distances[column]
    if form == "normal":
        height = math.exp(-(distance**2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
        return logit * (1 + strength * (height - 1))
    if form == "linear":
        return logit - strength * distance / max(1, *distances.values())
    if form == "exp":
        return logit + strength * math.exp(-distance)
    return logit - strength * SLOPES[head] * distance


@pytest.mark.parametrize(
    ("form", "strength", "variance"),
    [
        *(("normal", 1.0, 1.0), ("normal", 0.5, 2.5), ("linear", 1.0, 1), ("exp", 2.0, 1)),
        *(("alibi", 1.0, 1), ("alibi", 0.25, 1)),
    ],
)
def test_equals_its_formula(tmp_path, form, strength, variance):
    """A whole encoder layer with weights of its own, one logit at a time, and its gradients."""
    folder = write_dictionaries(tmp_path, pieces=True)
    options = [f"--tree-distance={form}", f"--tree-distance-strength={strength}"]
    options += [f"--tree-distance-variance={variance}"] * (form == "normal")
    model, task, _ = build(folder, "syntax_transformer", *options)
    fill_zeros(model).double()
    sample = annotated_batch(model, task, random_sentences([9, 6]), random_sentences([4, 5], 9))
    inputs, seen = sample["net_input"], {}
    attention = model.encoder.layers[0].self_attn
    hook = attention.register_forward_hook(
        lambda module, args, kwargs, output: seen.update(kwargs, output=output[0]), with_kwargs=True
    )
    model(**inputs)
    hook.remove()
    first = model.encoder.word_spans(inputs["src_tokens"]).first
    x = seen["query"]
    length, batch, width = x.shape
    q, k, v = attention.q_proj(x), attention.k_proj(x), attention.v_proj(x)
    size = width // H
    padding = inputs["src_tokens"].eq(task.source_dictionary.pad())
    assert padding.any()
    found, expected = [], []
    for b in range(batch):
        heads = inputs["heads"][b].tolist()
        words = sorted({int(first[b, t]) for t in range(length) if heads[t] >= 0})
        tree = searched([words.index(heads[word]) for word in words])
        place = {t: words.index(int(first[b, t])) for t in range(length) if heads[t] >= 0}
        for t in range(length):
            if padding[b, t]:
                continue
            known = {j: float(tree[place[t], place[j]]) for j in place} if t in place else {}
            parts = []
            for head in range(H):
                part, logits = slice(head * size, (head + 1) * size), []
                for j in range(length):
                    logit = q[t, b, part] @ k[j, b, part] / math.sqrt(size)
                    if j in known:
                        logit = changed(form, logit, known, t, j, head, strength, variance)
                    logits.append(logit - math.inf if padding[b, j] else logit)
                weights = torch.stack(logits).softmax(0)
                parts.append(weights @ v[:, b, part])
            expected.append(attention.out_proj(torch.cat(parts)))
            found.append(seen["output"][t, b])
    found, expected = torch.stack(found), torch.stack(expected)
    torch.testing.assert_close(found, expected, atol=1e-12, rtol=1e-10)
    weights = torch.randn_like(found)
    used = [attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight]
    ours = torch.autograd.grad((found * weights).sum(), used, retain_graph=True)
    theirs = torch.autograd.grad((expected * weights).sum(), used)
    torch.testing.assert_close(ours, theirs, atol=1e-12, rtol=1e-10)


def logits_of(folder, arch, *options, state=None, heads=None):
    model, task, _ = build(folder, arch, *options)
    if state is not None:
        model.load_state_dict(state)
    sample = annotated_batch(model, task, random_sentences([9, 6]), random_sentences([4, 5], 9))
    if heads is not None and "heads" in sample["net_input"]:
        sample["net_input"]["heads"] = heads(sample["net_input"]["src_tokens"])
    with torch.no_grad():
        return model(**sample["net_input"])[0], model.state_dict()


@pytest.mark.parametrize("form", ["normal", "linear", "exp", "alibi"])
def test_without_strength_or_parse_it_is_the_transformer(tmp_path, form):
    folder = write_dictionaries(tmp_path)
    expected, state = logits_of(folder, "syntax_transformer")
    options = ("syntax_transformer", f"--tree-distance={form}")
    found, _ = logits_of(folder, *options, "--tree-distance-strength=0", state=state)
    assert torch.equal(found, expected)

    def none(tokens):
        return torch.full_like(tokens, -1).int()

    found, _ = logits_of(folder, *options, state=state, heads=none)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    found, _ = logits_of(folder, *options, state=state)
    assert (found - expected).abs().max() > 1e-3


def test_alibi_of_chains_is_alibi(tmp_path):
    """Chains are a control: the same form of the distance between places."""
    folder = write_dictionaries(tmp_path)
    model, task, _ = build(folder, "syntax_transformer", "--position-bias=alibi")
    sample = annotated_batch(model, task, random_sentences([9, 9]), random_sentences([4, 5], 9))
    tokens = sample["net_input"]["src_tokens"]
    of_places = model.encoder.position_bias(9, 9, torch.zeros(()))[:, :, :-1, :-1]
    change = DistanceChange("alibi", H)
    heads = chain_heads(tokens, task.source_dictionary)
    found = change(heads, torch.arange(9).expand(2, 9), torch.zeros(())).bias
    torch.testing.assert_close(found[:, :, :-1, :-1], of_places.expand(2, -1, -1, -1))
    assert not found[:, :, -1].any()  # EOS hangs on nothing
    assert not found[..., -1].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["strength=-1"], "--tree-distance-strength -1.0: give 0 or more"),
        (["strength=nan"], "--tree-distance-strength nan: give 0 or more"),
        (["variance=0"], "--tree-distance-variance 0.0: give more than 0"),
        (["layers=3"], "--tree-distance-layers 3: the encoder has 2 layers; give a number from 1"),
        (["ignoring=1"], "--tree-distance-ignoring 1.0: give a share from 0 to less than 1"),
    ],
)
def test_values_out_of_range(tmp_path, options, message):
    given = [f"--tree-distance-{option}" for option in options]
    with pytest.raises(UserError, match=f"^{message}"):
        build(write_dictionaries(tmp_path), "tree_distance_transformer_tiny", *given)


def test_options_without_effect(tmp_path):
    folder = write_dictionaries(tmp_path)
    with pytest.raises(UserError, match=r"^--tree-distance-layers needs --tree-distance, such as"):
        build(folder, "syntax_transformer_tiny", "--tree-distance-layers=1")
    with pytest.raises(UserError, match=r"^--tree-distance-variance needs --tree-distance normal"):
        build(folder, "syntax_transformer", "--tree-distance=exp", "--tree-distance-variance=2")
