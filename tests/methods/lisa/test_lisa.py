"""The parser in an attention head against loops in float64, and given trees in its place."""

import math
import random

import pytest
import torch
import torch.nn.functional as F
from fairseq.logging import metrics
from small_models import annotated_batch, build, fill_zeros, random_sentences
from torch import nn
from trees_of import random_heads

from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention
from syntax_nmt.backbone.head_scorer import HeadScorer
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.errors import UserError
from syntax_nmt.methods.lisa.loss import PARSED, LisaObjective
from syntax_nmt.methods.lisa.parser_head import ParserHead, TreeInjection
from syntax_nmt.methods.parent_heads import first_heads

C, H, D = 16, 4, 4


def strong(folder, *options, arch="lisa_transformer"):
    """A model in float64 in which all parameters matter."""
    model, task, cfg = build(folder, arch, *options, "--criterion=lisa_cross_entropy")
    return fill_zeros(model, 0.5).double(), task, cfg


def batch_of(model, task):
    """Some sentences; the second is shorter."""
    return annotated_batch(model, task, random_sentences([9, 6]), random_sentences([4, 5], 9))


def observed(model, inputs):
    """What the parser's attention reads and gives, the pads, and what the model returns beside."""
    seen = {}
    attention = model.encoder.layers[0].self_attn
    hook = attention.register_forward_hook(
        lambda module, args, kwargs, output: seen.update(kwargs, output=output[0]), with_kwargs=True
    )
    _, extra = model(**inputs)
    hook.remove()
    padding = inputs["src_tokens"].eq(model.encoder.padding_idx)
    return attention, seen["query"], seen["output"], padding, extra


def scored(parser, x):
    """s of one sentence, one pair at a time."""
    dependents, governors = (
        [F.leaky_relu(linear.weight @ each + linear.bias, 0.1) for each in x]
        for linear in (parser.dependent, parser.governor)
    )
    # W has a row more than the view of the dependent: that of the 1.
    w = torch.cat([parser.biaffine.weight.T, parser.biaffine.bias[None]])
    one = x.new_ones(1)
    return torch.stack(
        [
            torch.stack([torch.cat([dependent, one]) @ w @ governor for governor in governors])
            for dependent in dependents
        ]
    )


def attended(attention, x, padding, scores, trees=None):
    """The layer's output of one sentence, one token at a time."""
    q, k, v = attention.q_proj(x), attention.k_proj(x), attention.v_proj(x)
    rows = []
    for t in range(len(x)):
        parts = []
        for head in range(H):
            part = slice(head * D, (head + 1) * D)
            if head == 0 and trees is not None and trees[t] >= 0:
                parts.append(v[trees[t], part])
                continue
            logits = [
                scores[t, j] if head == 0 else q[t, part] @ k[j, part] / math.sqrt(D)
                for j in range(len(x))
            ]
            logits = torch.stack(logits).masked_fill(padding, -math.inf)
            parts.append(logits.softmax(0) @ v[:, part])
        rows.append(attention.out_proj(torch.cat(parts)))
    return torch.stack(rows)


@pytest.mark.parametrize("norm", [[], ["--encoder-normalize-before"]])
@pytest.mark.parametrize("dim", [2, D, 11])
@pytest.mark.parametrize("inject", [False, True])
def test_equals_the_equations(pieces_folder, dim, inject, norm):
    """Of a narrow, an equal and a wide parser, with its own weights or with given trees."""
    model, task, _ = strong(pieces_folder, f"--lisa-dim={dim}", *["--lisa-inject"] * inject, *norm)
    sample = batch_of(model, task)
    inputs = sample["net_input"]
    attention, x, output, padding, extra = observed(model, inputs)
    assert padding.any()
    heads = inputs["heads"].tolist() if inject else [None, None]
    assert not inject or min(heads[0]) == -1 < max(heads[0])
    found, expected, parsed, expected_parsed = [], [], [], []
    for b in range(2):
        scores = scored(attention.scorer, x[:, b])
        real = ~padding[b]
        expected.append(attended(attention, x[:, b], padding[b], scores, heads[b])[real])
        found.append(output[:, b][real])
        expected_parsed.append(scores.masked_fill(padding[b], -math.inf).log_softmax(1)[real])
        parsed.append(extra[PARSED][b][real])
    torch.testing.assert_close(found, expected, atol=1e-11, rtol=1e-9)
    torch.testing.assert_close(parsed, expected_parsed, atol=1e-11, rtol=1e-9)
    weights = [torch.randn_like(each) for each in found]
    used = [*attention.scorer.parameters(), attention.q_proj.weight, attention.v_proj.weight]

    def gradients(outputs):
        total = sum((w * y).sum() for w, y in zip(weights, outputs))
        return torch.autograd.grad(total, used, retain_graph=True)

    torch.testing.assert_close(gradients(found), gradients(expected), atol=1e-10, rtol=1e-8)


def test_it_has_as_many_parameters_as_published():
    assert sum(p.numel() for p in ParserHead(512, 64, 64).parameters()) == 69_824


def test_it_begins_with_even_attention():
    attention = FusedMultiheadAttention(
        C, H, self_attention=True, scorer=ParserHead(C, D, 8), dropout=0.0
    )
    x = torch.randn(5, 2, C)
    _, weights = attention(x, x, x, need_head_weights=True)
    torch.testing.assert_close(weights[0], torch.full((2, 5, 5), 0.2))


def test_own_weights_injected_change_nothing(pieces_folder):
    """The logarithm of the parser's weights as a bias, beside a parser that says nothing."""
    model, task, _ = strong(pieces_folder)
    inputs = batch_of(model, task)["net_input"]
    attention, x, expected, padding, extra = observed(model, inputs)
    bias = extra[PARSED].new_zeros(2, H, *extra[PARSED].shape[1:])
    bias = bias.masked_fill(padding[:, None, None], -math.inf)
    bias[:, 0] = extra[PARSED]
    with torch.no_grad():
        attention.scorer.biaffine.weight.zero_()
        attention.scorer.biaffine.bias.zero_()
    found, _ = attention(x, x, x, need_weights=False, bias=bias)
    real = ~padding.T
    torch.testing.assert_close(found[real], expected[real], atol=1e-12, rtol=1e-10)


class Projected(HeadScorer):
    """The head's own queries and keys."""

    def queries(self, x, projected):
        return projected


def test_with_the_logits_of_the_head_it_is_the_transformer(pieces_folder):
    model, task, _ = strong(pieces_folder)
    stock, _, _ = build(pieces_folder, "syntax_transformer")
    stock.double()
    scorer = "encoder.layers.0.self_attn.scorer."
    stock.load_state_dict({k: v for k, v in model.state_dict().items() if scorer not in k})
    inputs = batch_of(model, task)["net_input"]
    expected, _ = stock(**inputs)
    assert not torch.allclose(model(**inputs)[0], expected)
    model.encoder.layers[0].self_attn.scorer = Projected(0, D)
    found = model.decoder(inputs["prev_output_tokens"], model.encoder(inputs["src_tokens"]))[0]
    assert torch.equal(found, expected)


def test_sentences_without_a_tree_keep_the_parsers_weights(pieces_folder):
    model, task, _ = strong(pieces_folder, "--lisa-inject")
    inputs = dict(batch_of(model, task)["net_input"])
    plain, _, _ = strong(pieces_folder)
    plain.load_state_dict(model.state_dict())
    inputs["heads"] = torch.full_like(inputs["heads"], -1)
    found = model(**inputs)[0]
    del inputs["heads"]
    torch.testing.assert_close(found, plain(**inputs)[0])


def test_gold_attention_is_for_training(pieces_folder):
    gold, task, _ = strong(pieces_folder, "--lisa-attention=gold")
    own, _, _ = strong(pieces_folder)
    injecting, _, _ = strong(pieces_folder, "--lisa-inject")
    for model in (own, injecting):
        model.load_state_dict(gold.state_dict())
    inputs = batch_of(injecting, task)["net_input"]
    assert gold.reads_annotation == own.reads_annotation == ()
    blind = {name: x for name, x in inputs.items() if name != "heads"}
    assert torch.equal(gold(**blind)[0], own(**blind)[0])
    gold.train()
    assert gold.reads_annotation == (HEADS,)
    torch.testing.assert_close(gold(**inputs)[0], injecting(**inputs)[0])
    assert not torch.allclose(gold(**inputs)[0], own(**blind)[0])
    with pytest.raises(UserError, match="the model reads dependency trees of the source"):
        gold.encoder(**{name: blind[name] for name in ("src_tokens", "src_lengths")})


def padded_heads(rng, width=9):
    """Trees of sentences that are padded on either side, one without a parse."""
    rows = torch.full((4, width), -1)
    for number, size in enumerate((8, 5, 1)):
        offset = 0 if number % 2 else width - 1 - size
        rows[number, offset : offset + size] = torch.tensor(random_heads(rng, size)) + offset
    return rows


@pytest.mark.parametrize("seed", range(3))
def test_the_loss(seed):
    heads = padded_heads(random.Random(seed))
    logits = torch.randn(*heads.shape, heads.size(1), dtype=torch.float64, requires_grad=True)
    sample = {"heads": heads, "net_input": {"src_lengths": torch.tensor([9, 6, 2, 4])}}

    def loss(x):
        return LisaObjective(0.7)({PARSED: x.log_softmax(2)}, sample)[0]

    expected = 0.0
    for b, row in enumerate(heads.tolist()):
        for i, head in enumerate(row):
            if head >= 0:
                p = logits[b, i].exp()
                expected = expected - 0.7 * math.log(float(p[head] / p.sum()))
    assert float(loss(logits)) == pytest.approx(expected)
    assert torch.autograd.gradcheck(loss, logits)
    (gradient,) = torch.autograd.grad(loss(logits), logits)
    assert not gradient[heads.eq(-1)].any()
    onto_heads = F.one_hot(heads.clamp(min=0), heads.size(1)).double()
    assert float(loss(1e3 * onto_heads)) == 0


def test_without_any_tree_it_is_zero_with_a_gradient(pieces_folder):
    model, task, cfg = strong(pieces_folder)
    sample = {**batch_of(model, task)}
    sample["heads"] = torch.full_like(sample["net_input"]["src_tokens"], -1)
    extra = model(**sample["net_input"])[1]
    loss, logs = task.build_criterion(cfg.criterion).objectives[0](extra, sample)
    loss.backward()
    assert loss == 0
    assert not model.encoder.layers[0].self_attn.scorer.biaffine.weight.grad.any()
    assert logs["parse_supervised"] == 0


def test_gradients_of_what_the_head_does_not_use_are_zeros(pieces_folder):
    """Not None, as every worker of a training has to send one."""
    model, task, cfg = strong(pieces_folder)
    criterion = task.build_criterion(cfg.criterion)
    sample = batch_of(model, task)
    sample["heads"] = torch.zeros_like(sample["net_input"]["src_tokens"])
    criterion(model, sample)[0].backward()
    attention = model.encoder.layers[0].self_attn
    for projection in (attention.q_proj, attention.k_proj):
        assert not projection.weight.grad[:D].any()
        assert projection.weight.grad[D:].any()
    assert all(parameter.grad.any() for parameter in attention.scorer.parameters())


def test_logged_figures(pieces_folder):
    model, task, cfg = strong(pieces_folder)
    criterion = task.build_criterion(cfg.criterion)
    sample = batch_of(model, task)
    heads = annotated_batch(model, task, random_sentences([9, 6]), random_sentences([4, 5], 9))
    sample["heads"] = heads["heads"]
    loss, _, logs = criterion(model, sample)
    torch.testing.assert_close(loss, logs["loss"] + logs["parse_loss"], check_dtype=False)
    with metrics.aggregate() as aggregator:
        criterion.reduce_metrics([logs, logs])
    figures = aggregator.get_smoothed_values()
    supervised = float(sample["heads"].ge(0).sum())
    bits = float(logs["parse_loss"]) / supervised / math.log(2)
    assert figures["parse_loss"] == pytest.approx(bits, abs=1e-3)
    attached = float(logs["parse_attached"])
    assert figures["parse_uas"] == pytest.approx(100 * attached / supervised, abs=0.01)
    assert figures["parse_supervised"] == pytest.approx(100 * supervised / 13, abs=0.01)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_finite_in_half_precision(dtype):
    attention = FusedMultiheadAttention(C, H, self_attention=True, scorer=ParserHead(C, D, 8))
    nn.init.normal_(attention.scorer.biaffine.weight, std=10.0)
    x = (30 * torch.randn(7, 2, C)).to(dtype).requires_grad_()
    parsed = first_heads(attention.to(dtype), x, 1, torch.zeros(2, 1, 7, dtype=torch.bool))
    assert parsed.dtype == torch.float32
    assert parsed.min() < -65504  # more than float16 has
    parsed[..., 0].sum().backward()
    assert torch.isfinite(parsed).all()
    assert torch.isfinite(x.grad).all()


def test_injection_is_one_hot():
    heads = torch.tensor([[1, 1, -1], [-1, -1, -1]])
    bias = TreeInjection(2, always=True, in_training=False)(heads, torch.zeros(()))
    assert bias[0, 0].exp().tolist() == [[0, 1, 0], [0, 1, 0], [1, 1, 1]]
    assert not bias[0, 1].any()
    assert not bias[1].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--lisa-layer=2"], "--lisa-layer 2: the encoder has 2 layers"),
        (["--lisa-dim=0"], "--lisa-dim 0: give 1 or more"),
        (["--encoder-layerdrop=0.1"], "--lisa-layer cannot be combined with --encoder-layerdrop"),
        (
            ["--supervised-layer=0"],
            "--supervised-layer and --lisa-layer both have a task for head 0 of encoder layer 0",
        ),
    ],
)
def test_options_that_do_not_go_together(pieces_folder, options, message):
    with pytest.raises(UserError, match=f"^{message}"):
        build(pieces_folder, "lisa_transformer", *options)


def test_what_is_missing_is_named(pieces_folder):
    with pytest.raises(UserError, match=r"^--lisa-inject needs --lisa-layer, such as 0"):
        build(pieces_folder, "syntax_transformer", "--lisa-inject")
    with pytest.raises(UserError, match="or with --lisa-layer, or give --parse-weight 0"):
        LisaObjective(1.0)({}, {})
