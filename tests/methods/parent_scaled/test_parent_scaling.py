"""Parent-scaled attention equals Bugliarello and Okazaki's formula, written as loops."""

import math

import pytest
import torch
from small_models import annotated_batch, build, fill_zeros, random_sentences, write_dictionaries

from syntax_nmt.backbone.word_spans import Spans
from syntax_nmt.errors import UserError
from syntax_nmt.methods.parent_scaled.parent_scaling import ParentScaling, parent_positions

H = 4


def test_a_parent_stands_in_the_middle_of_its_pieces():
    # "un break able", "cat", which depends on it, and EOS.
    spans = Spans(torch.tensor([[0, 0, 0, 3, 4]]), torch.tensor([[2, 2, 2, 3, 4]]))
    found = parent_positions(torch.tensor([[0, 0, 0, 0, -1]]).int(), spans)
    assert found[0, :4].tolist() == [1.0, 1.0, 1.0, 1.0]
    two = Spans(torch.tensor([[0, 0, 2]]), torch.tensor([[1, 1, 2]]))
    assert parent_positions(torch.tensor([[2, 0, 0]]), two).tolist() == [[2.0, 2.0, 0.5]]


@pytest.mark.parametrize("per_head", [False, True])
def test_parents_are_ignored_in_training_alone(per_head):
    torch.manual_seed(1)
    scaling = ParentScaling(H, H, ignoring=0.4, ignoring_per_head=per_head)
    heads = torch.zeros(50, 20).int()
    columns = torch.arange(20).expand(50, 20)
    spans, like = Spans(columns, columns), torch.zeros(1)
    plain = scaling(heads, spans, like).eq(1).all(3)  # B×H or 1×S
    assert plain.shape[1] == (H if per_head else 1)
    assert float(plain.float().mean()) == pytest.approx(0.4, abs=0.05)
    if per_head:
        assert not torch.equal(plain[:, 0], plain[:, 1])
    evaluated = scaling.eval()(heads, spans, like)
    assert not evaluated.eq(1).all(3).any()


@pytest.mark.parametrize("variance", [1.0, 2.5])
def test_equals_its_formula(tmp_path, variance):
    """The whole attention of a layer, one logit at a time, with its gradients."""
    folder = write_dictionaries(tmp_path, pieces=True)
    options = ("--parent-scaled-heads=3", f"--parent-scaled-variance={variance}")
    model, task, _ = build(folder, "pascal_transformer", *options)
    fill_zeros(model).double()
    sample = annotated_batch(model, task, random_sentences([9, 6]), random_sentences([4, 5], 9))
    inputs, seen = sample["net_input"], {}
    attention = model.encoder.layers[0].self_attn
    hook = attention.register_forward_hook(
        lambda module, args, kwargs, output: seen.update(kwargs, output=output[0]), with_kwargs=True
    )
    model(**inputs)
    hook.remove()
    spans = model.encoder.word_spans(inputs["src_tokens"])
    x = seen["query"]
    length, batch, width = x.shape
    q, k, v = attention.q_proj(x), attention.k_proj(x), attention.v_proj(x)
    size = width // H
    padding = inputs["src_tokens"].eq(task.source_dictionary.pad())
    assert padding.any()
    ours, expected = [], []
    for b in range(batch):
        for t in range(length):
            if padding[b, t]:
                continue
            attended = []
            own = int(spans.first[b, t])
            parent = int(inputs["heads"][b, own])
            for head in range(H):
                part, logits = slice(head * size, (head + 1) * size), []
                for j in range(length):
                    logit = q[t, b, part] @ k[j, b, part] / math.sqrt(size)
                    if parent >= 0 and head < 3:
                        middle = float(spans.first[b, parent] + spans.last[b, parent]) / 2
                        density = math.exp(-((j - middle) ** 2) / (2 * variance))
                        logit = logit * density / math.sqrt(2 * math.pi * variance)
                    logits.append(logit.new_tensor(-math.inf) if padding[b, j] else logit)
                attended.append(torch.stack(logits).softmax(0) @ v[:, b, part])
            ours.append(seen["output"][t, b])
            expected.append(attention.out_proj(torch.cat(attended)))
    ours, expected = torch.stack(ours), torch.stack(expected)
    torch.testing.assert_close(ours, expected, atol=1e-12, rtol=1e-12)
    parameters = [x for x in attention.parameters() if x.requires_grad]
    weights = torch.randn_like(ours)
    gradients = [torch.autograd.grad((x * weights).sum(), parameters) for x in (ours, expected)]
    for found, wanted in zip(*gradients):
        torch.testing.assert_close(found, wanted, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--parent-scaled-heads=9", "the encoder's layers have 4 heads; give a number from 1 to 4"),
        ("--parent-scaled-variance=0", "give more than 0; the paper's is 1"),
        ("--parent-ignoring=1", "give a probability from 0 to less than 1"),
    ],
)
def test_values_out_of_range(tmp_path, option, message):
    with pytest.raises(UserError, match=f"^{option.partition('=')[0]} .*{message}"):
        build(write_dictionaries(tmp_path), "pascal_transformer_tiny", option)
