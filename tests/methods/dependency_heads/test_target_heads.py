"""The supervised head of the target against loops in float64, and what it must not read."""

import math
import random

import pytest
import torch
from fairseq.logging import metrics
from small_models import annotated_batch, build, fill_zeros, random_sentences
from trees_of import random_heads

from syntax_nmt.backbone.structures import TARGET_PARENTS
from syntax_nmt.errors import UserError
from syntax_nmt.export.stock_transformer import feature_in_the_way, stock_transformer
from syntax_nmt.methods.dependency_heads.loss import DependencyObjective
from syntax_nmt.methods.dependency_heads.target_extension import TargetHead

D, H = 4, 4
LOSS = ("--criterion=dependency_cross_entropy", "--target-parent-weight=0.7")


def strong(folder, *options, arch="dbsa_transformer"):
    """A model in float64 in which all parameters matter."""
    model, task, cfg = build(folder, arch, *LOSS, *options)
    return fill_zeros(model, 0.5).double(), task, cfg


def sample_of(model, task, *layout):
    """Two sentences; the target of the first is shorter."""
    return annotated_batch(
        model, task, random_sentences([9, 6]), random_sentences([5, 8], 9), *layout
    )


def seen_by(model, inputs):
    """What the supervised attention reads and gives, and what the model returns beside."""
    seen = {}
    attention = model.decoder.layers[0].self_attn
    hook = attention.register_forward_hook(
        lambda module, args, kwargs, output: seen.update(kwargs, output=output[0]), with_kwargs=True
    )
    _, extra = model(**inputs)
    hook.remove()
    return attention, seen["query"], seen["output"], extra


def scored(attention, x):
    """s of one sentence, a pair at a time: a row for each step."""
    q, k = attention.q_proj(x)[:, :D] / math.sqrt(D), attention.k_proj(x)[:, :D]
    if attention.scorer is None:
        return torch.stack(
            [torch.stack([q[i] @ k[j] for j in range(len(x))]) for i in range(len(x))]
        )
    w, b = attention.scorer.weight, attention.scorer.bias
    return torch.stack(
        [torch.stack([(w @ q[i]) @ k[j] + b @ k[j] for j in range(len(x))]) for i in range(len(x))]
    )


@pytest.mark.parametrize("norm", [[], ["--decoder-normalize-before"]])
@pytest.mark.parametrize("scorer", ["dot", "biaffine"])
@pytest.mark.parametrize("shift", ["read", "predict"])
def test_equals_the_equations(pieces_folder, shift, scorer, norm):
    """Attention, log-probabilities, loss and gradients."""
    options = (f"--dependency-scorer={scorer}", f"--target-dependency-shift={shift}", *norm)
    model, task, cfg = strong(pieces_folder, *options, "--child-weight=0", "--parent-weight=0")
    sample = sample_of(model, task)
    attention, x, output, extra = seen_by(model, sample["net_input"])
    (objective,) = task.build_criterion(cfg.criterion).objectives
    found, logs = objective(extra, sample)
    expected, supervised, words = x.new_zeros(()), 0, 0
    for b, length in enumerate((5, 8)):
        q, k, v = (p(x[:, b]) for p in (attention.q_proj, attention.k_proj, attention.v_proj))
        scores, heads = scored(attention, x[:, b]), sample["target_heads"][b].tolist()
        for t in range(length):
            parts = []
            for head in range(H):
                part = slice(head * D, (head + 1) * D)
                logits = [
                    scores[t, j] if head == 0 else q[t, part] @ k[j, part] / math.sqrt(D)
                    for j in range(t + 1)
                ]
                parts.append(torch.stack(logits).softmax(0) @ v[: t + 1, part])
            attended = attention.out_proj(torch.cat(parts))
            torch.testing.assert_close(output[t, b], attended, atol=1e-12, rtol=1e-10)
        for word in range(length - 1):  # EOS is none
            words += 1
            head = heads[word]
            if not 0 <= head <= word:
                continue
            supervised += 1
            later = shift == "read"  # the step that reads a word comes after the one for it
            row = scores[word + later, : word + later + 1].log_softmax(0)
            expected = expected - 0.7 * row[head + later]
            of_model = extra[TARGET_PARENTS][b, word, head]
            torch.testing.assert_close(of_model, row[head + later], atol=1e-12, rtol=1e-10)
    assert 0 < supervised < words
    assert (logs["target_parent_supervised"], logs["target_parent_words"]) == (supervised, words)
    torch.testing.assert_close(found, expected, atol=1e-11, rtol=1e-10)
    used = [attention.q_proj.weight, attention.k_proj.weight, model.decoder.embed_tokens.weight]
    used += [] if attention.scorer is None else attention.scorer.parameters()
    ours, theirs = (torch.autograd.grad(y, used, retain_graph=True) for y in (found, expected))
    torch.testing.assert_close(ours, theirs, atol=1e-11, rtol=1e-9)


@pytest.mark.parametrize("shift", ["read", "predict"])
def test_padding_is_not_read(pieces_folder, shift):
    model, task, cfg = strong(pieces_folder, f"--target-dependency-shift={shift}")
    objective = task.build_criterion(cfg.criterion).objectives[0]
    results = []
    for layout in ((True, None, False), (False, None, True), (True, (12, 13), True)):
        sample = sample_of(model, task, *layout)
        loss, logs = objective(model(**sample["net_input"])[1], sample)
        results.append((loss, *(logs[f"target_parent_{x}"] for x in ("loss", "attached"))))
        assert torch.autograd.grad(loss, model.decoder.embed_tokens.weight)[0].isfinite().all()
    torch.testing.assert_close(results[1:], results[:1] * 2)


@pytest.mark.parametrize("shift", ["read", "predict"])
def test_no_row_reads_a_later_column(pieces_folder, shift):
    model, task, _ = strong(pieces_folder, f"--target-dependency-shift={shift}")
    inputs = sample_of(model, task)["net_input"]
    found = model(**inputs)[1][TARGET_PARENTS]
    tokens = inputs["prev_output_tokens"].clone()
    step = 4
    tokens[:, step:] = 5
    other = model(**{**inputs, "prev_output_tokens": tokens})[1][TARGET_PARENTS]
    rows = step - (shift == "read")
    assert torch.equal(found[:, :rows], other[:, :rows])
    assert not torch.equal(found[:, rows:], other[:, rows:])


def test_a_search_step_gives_what_training_gives(pieces_folder):
    """The published code has another head in a search: there b·k reads the newest key alone."""
    model, task, _ = strong(pieces_folder)
    inputs = sample_of(model, task)["net_input"]
    encoder_out = model.encoder(inputs["src_tokens"], inputs["src_lengths"])
    tokens, cache = inputs["prev_output_tokens"][1:], {}
    encoder_out = model.encoder.reorder_encoder_out(encoder_out, torch.tensor([1]))
    expected = model.decoder(tokens, encoder_out)[0]
    for step in range(tokens.size(1)):
        found = model.decoder(tokens[:, : step + 1], encoder_out, incremental_state=cache)[0]
        torch.testing.assert_close(found[:, -1], expected[:, step], atol=1e-10, rtol=1e-10)


def test_identity_and_no_bias_is_the_transformer(pieces_folder):
    model, task, _ = strong(pieces_folder)
    for half in (model.encoder, model.decoder):
        scorer = half.layers[0].self_attn.scorer
        torch.nn.init.eye_(scorer.weight)
        torch.nn.init.zeros_(scorer.bias)
    stock, _, _ = build(pieces_folder, "syntax_transformer")
    weights = {name: x for name, x in model.state_dict().items() if ".scorer." not in name}
    stock.double().load_state_dict(weights)
    inputs = sample_of(model, task)["net_input"]
    assert torch.equal(model(**inputs)[0], stock(**inputs)[0])


def test_the_parent_head_of_the_source_is_biaffine_as_well(pieces_folder):
    model, task, _ = strong(pieces_folder)
    inputs = sample_of(model, task)["net_input"]
    layer, seen = model.encoder.layers[0].self_attn, {}
    hook = layer.register_forward_hook(
        lambda module, args, kwargs, output: seen.update(kwargs), with_kwargs=True
    )
    extra = model(**inputs)[1]
    hook.remove()
    x, part = seen["query"][:, 0], slice(D, 2 * D)
    q, k = layer.q_proj(x)[:, part] / math.sqrt(D), layer.k_proj(x)[:, part]
    scores = q @ layer.scorer.weight.T @ k.T + layer.scorer.bias @ k.T
    torch.testing.assert_close(extra["supervised_heads"][0, 1], scores.log_softmax(1))
    assert sum(p.numel() for p in layer.scorer.parameters()) == D * D + D


def test_without_left_heads_it_is_zero_with_gradients(pieces_folder):
    model, task, cfg = strong(pieces_folder)
    sample = sample_of(model, task)
    heads = torch.full_like(sample["target_heads"], -1)
    heads[:, :3] = torch.tensor([1, 3, 3])  # all to the right
    sample["target_heads"] = heads
    (objective,) = task.build_criterion(cfg.criterion).objectives
    loss, logs = objective._of_target(model(**sample["net_input"])[1], sample)
    loss.backward()
    assert loss == 0
    assert logs["target_parent_supervised"] == 0
    for parameter in model.decoder.layers[0].self_attn.scorer.parameters():
        assert parameter.grad is not None
        assert not parameter.grad.any()


def test_a_target_without_words(pieces_folder):
    model, task, cfg = strong(pieces_folder)
    sample = annotated_batch(model, task, random_sentences([4]), random_sentences([1]))
    loss, logs = task.build_criterion(cfg.criterion).objectives[0](
        model(**sample["net_input"])[1], sample
    )
    loss.backward()
    assert (logs["target_parent_loss"], logs["target_parent_words"]) == (0, 0)


def test_the_heads_of_a_tree_that_count():
    """Right heads do not, the root does, as its own head."""
    rng = random.Random(1)
    for size in (1, 4, 9):
        heads = random_heads(rng, size)
        left = sum(head <= word for word, head in enumerate(heads))
        rows = torch.tensor([[*heads, -1]])  # EOS
        extra = {TARGET_PARENTS: torch.zeros(1, size + 1, size + 1)}
        sample = {"target_heads": rows, "target": rows, "ntokens": size + 1}
        _, logs = DependencyObjective(0.0, 0.0, 1.0)(extra, sample)
        assert logs["target_parent_supervised"] == left
        assert logs["target_parent_words"] == size


def test_logged_figures(pieces_folder):
    model, task, cfg = strong(pieces_folder)
    criterion = task.build_criterion(cfg.criterion)
    sample = sample_of(model, task)
    loss, _, logs = criterion(model, sample)
    total = logs["loss"] + 0.4 * logs["child_loss"] + 0.4 * logs["parent_loss"]
    torch.testing.assert_close(loss, total + 0.7 * logs["target_parent_loss"], check_dtype=False)
    with metrics.aggregate() as aggregator:
        criterion.reduce_metrics([logs, logs])
    figures = aggregator.get_smoothed_values()
    supervised = float(logs["target_parent_supervised"])
    attached = 100 * float(logs["target_parent_attached"]) / supervised
    assert figures["target_parent_uas"] == pytest.approx(attached, abs=0.01)
    assert figures["target_parent_supervised"] == pytest.approx(100 * supervised / 11, abs=0.01)


def test_what_is_missing_is_named(pieces_folder):
    sample = {"target": torch.zeros(1, 2), "ntokens": 2}
    with pytest.raises(UserError, match=r"give --target-supervised-layer, such as 0, or leave"):
        DependencyObjective(0.0, 0.0, 0.5)({}, sample)
    with pytest.raises(UserError, match="add --load-target-dependencies"):
        DependencyObjective(0.0, 0.0, 0.5)({TARGET_PARENTS: torch.zeros(1, 1, 1)}, sample)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dependency-scorer=biaffine"], "--dependency-scorer needs --supervised-layer or"),
        (["--target-dependency-shift=predict"], "--target-dependency-shift needs --target-super"),
        (["--target-supervised-layer=2"], "--target-supervised-layer 2: the decoder has 2 layers"),
        (
            ["--target-supervised-layer=0", "--cross-self-attention"],
            "--target-supervised-layer cannot be combined with --cross-self-attention",
        ),
        (
            ["--target-supervised-layer=0", "--base-layers=1"],
            "--target-supervised-layer cannot be combined with --base-layers",
        ),
    ],
)
def test_options_that_do_not_go_together(pieces_folder, options, message):
    with pytest.raises(UserError, match=f"^{message}"):
        build(pieces_folder, "syntax_transformer", *options)


def test_either_side_alone(pieces_folder):
    """A biaffine scorer of the target needs no supervised layer of the source."""
    more = ("--target-supervised-layer=0", "--dependency-scorer=biaffine")
    model, _, _ = build(pieces_folder, "syntax_transformer", *more)
    assert model.encoder.layers[0].self_attn.scorer is None
    assert model.decoder.layers[0].self_attn.scorer is not None
    assert any(isinstance(feature, TargetHead) for feature in model.decoder.extensions)


@pytest.mark.parametrize(
    ("arch", "options", "in_the_way"),
    [
        ("dbsa_transformer", [], "--dependency-scorer biaffine"),
        ("dbsa_transformer", ["--dependency-scorer=dot"], None),
        ("lisa_transformer", [], "--lisa-layer 0"),
        ("tree_distance_transformer", [], "--tree-distance normal"),
    ],
)
def test_only_what_computes_the_same_is_exported(pieces_folder, arch, options, in_the_way):
    """Heads that are products of queries and keys change nothing in translation."""
    model, task, cfg = build(pieces_folder, arch, *options)
    assert feature_in_the_way(model, cfg.model) == in_the_way
    if in_the_way is None:
        stock, _ = stock_transformer(model, cfg.model, task)
        inputs = sample_of(model, task)["net_input"]
        real = inputs["prev_output_tokens"].ne(task.target_dictionary.pad())
        torch.testing.assert_close(stock(**inputs)[0][real], model(**inputs)[0][real])
