"""On torch's `meta` device, where a tensor left on the CPU, or asked for its numbers, raises."""

from contextlib import nullcontext

import pytest
import torch
from nonempty import some
from small_models import build
from small_training import MODELS, SYNCHRONOUS, criterion_of, sample_of
from torch import nn

from syntax_nmt.backbone.extension import Source
from syntax_nmt.backbone.linear_cross_entropy import LinearCrossEntropy
from syntax_nmt.backbone.rnn_interface import SUMMARY
from syntax_nmt.backbone.structures import DISTANCES, TARGET_FACTORS
from syntax_nmt.methods.constituent_attention.accumulation import Constituents
from syntax_nmt.methods.constituent_attention.attention import ConstituentDecoderLayer
from syntax_nmt.methods.tree_encoder.decoder import CHILDREN

SENTENCES, SOURCE, TARGET, PHRASES = 3, 9, 7, 4


def numbers(*shape):
    return torch.zeros(*shape, device="meta", requires_grad=True)


def mask(*shape):
    return torch.zeros(*shape, dtype=torch.bool, device="meta")


@pytest.fixture(autouse=True)
def _autocast_is_off(monkeypatch):
    """torch does not know the device's autocast, not even that it is off."""
    autocast, is_enabled = torch.autocast, torch.is_autocast_enabled
    monkeypatch.setattr(
        torch,
        "autocast",
        lambda kind, **o: nullcontext() if kind == "meta" else autocast(kind, **o),
    )
    monkeypatch.setattr(
        torch, "is_autocast_enabled", lambda kind="cpu": kind != "meta" and is_enabled(kind)
    )


@pytest.fixture(scope="module", params=MODELS)
def model_and_task(request, folder):
    arch, *options = MODELS[request.param]
    model, task, _ = build(folder, arch, *options)
    return model.to("meta").train(), task


def of_meta(sample):
    """A batch, on the device."""
    if isinstance(sample, dict):
        return {key: of_meta(value) for key, value in sample.items()}
    return sample.to("meta") if isinstance(sample, torch.Tensor) else sample


def is_transformer(half):
    return hasattr(half, "layers")


def encoder_out_of(model):
    width = model.encoder.output_dim
    found = {
        "encoder_out": [numbers(SOURCE, SENTENCES, width)],
        "encoder_padding_mask": [mask(SENTENCES, SOURCE)],
    }
    if CHILDREN in getattr(getattr(model.decoder, "recurrence", None), "reads", ()):
        children = torch.zeros(SENTENCES, PHRASES, 2, dtype=torch.long, device="meta")
        found |= {CHILDREN: [children], SUMMARY: [numbers(SENTENCES, width)]}
    return found


def encoder_layers(model, source):
    """Those of a Transformer, with all that they read."""
    x, padding = numbers(SOURCE, SENTENCES, 16), mask(SENTENCES, SOURCE)
    more = {}
    for extension in model.encoder.extensions:
        more.update(extension.arguments(Source(padding, padding, source, model.encoder.word_spans)))
    for index, layer in enumerate(model.encoder.layers):
        distances = index < model.encoder.distance_layers
        found = layer(x, padding, wanted=[DISTANCES] if distances else [], **more)
        x = found if isinstance(found, torch.Tensor) else found[0]
    return x


def decoder_layers(model):
    x = numbers(TARGET, SENTENCES, 16)
    memory = numbers(SOURCE, SENTENCES, model.encoder.output_dim)
    more = {}
    if hasattr(model.decoder.layers[0], "phrase_combination"):
        more = {
            "phrases": numbers(PHRASES, SENTENCES, 16), "phrase_padding": mask(SENTENCES, PHRASES)
        }  # fmt: skip
    if isinstance(model.decoder.layers[0], ConstituentDecoderLayer):
        trees = torch.zeros(SENTENCES, PHRASES, 3, dtype=torch.int32, device="meta")
        more = {
            "nodes": numbers(PHRASES, SENTENCES, 16),
            "constituents": Constituents.of(trees, SOURCE),
        }
    future = torch.full((TARGET, TARGET), float("-inf"), device="meta").triu(1)
    for layer in model.decoder.layers:
        x = layer.sublayers(
            x, memory, mask(SENTENCES, SOURCE), self_attn_mask=future,
            self_attn_padding_mask=mask(SENTENCES, TARGET), **more,
        )[0]  # fmt: skip
    return x


def test_layers(model_and_task):
    model, task = model_and_task
    sample = of_meta(sample_of(model, task, (9, 4, 1)))
    results = []
    if is_transformer(model.encoder):  # an RNN encoder asks for lengths
        results.append(encoder_layers(model, sample["net_input"]))
    if is_transformer(model.decoder):
        results.append(decoder_layers(model))
    else:
        tags = {kind.key: sample[kind.key] for kind in model.decoder.reads_annotation}
        if "chunk_tags" in sample:
            tags["all_annotated"] = False
        logits, extra = model.decoder(
            sample["net_input"]["prev_output_tokens"], encoder_out_of(model), **tags
        )
        factors = [each.logits for each in extra.pop(TARGET_FACTORS, [])]
        found = [x for (x,) in extra.values() if x.is_floating_point()]
        results += [logits, *factors, *found]
    assert all(result.is_meta for result in some(results))
    sum(result.float().sum() for result in results).backward()


def test_steps_of_a_search(model_and_task):
    model, _ = model_and_task
    if is_transformer(model.decoder):
        pytest.skip("fairseq's decoder asks whether there are pads")
    encoder_out = encoder_out_of(model)
    decoder, state = model.decoder.eval(), {}
    tokens = torch.full((3, 1), 5, device="meta")
    with torch.no_grad():
        for _ in range(3):
            output = decoder(tokens, encoder_out, incremental_state=state)
            assert decoder.get_normalized_probs(output, log_probs=True).is_meta
            decoder.reorder_incremental_state(
                state, torch.zeros(3, dtype=torch.long, device="meta")
            )
            tokens = torch.cat([tokens, tokens[:, :1]], dim=1)


@pytest.mark.parametrize("synchronous", SYNCHRONOUS)
def test_losses(folder, synchronous):
    """Each objective on what its model would give."""
    for name in ("dependency_transformer", "latent_phrase_transformer", "bi_scale_rnn"):
        model, task, _ = build(folder, name)
        sample = of_meta(sample_of(model, task, (SOURCE, 4, 1)))
        rows, columns = sample["target"].shape
        weights = numbers(rows, columns, SOURCE)
        extra = {
            "supervised_heads": numbers(rows, 2, SOURCE, SOURCE),
            "source_distances": [numbers(rows, 4, SOURCE)] * 2,
            "target_distances": [numbers(rows, 4, columns)] * 2,
            "source_attention": [numbers(rows, SOURCE, SOURCE)] * 2,
            "target_attention": [numbers(rows, columns, columns)] * 2,
            "cross_attention": [weights] * 2,
            "boundary_logits": [numbers(rows, columns, 2)],
            "opened": [mask(rows, columns)],
            "tag_logits": [numbers(rows, columns, 4)],
        }
        for objective in criterion_of(model, task, synchronous).objectives:
            loss, logs = objective(extra, sample)
            assert loss.is_meta
            assert all(value.is_meta for value in logs.values())
            loss.backward()


def test_loss_of_the_output_layer():
    target = torch.full((3, 7), 5, device="meta")
    projection = nn.Linear(16, 40, device="meta")
    loss, _ = LinearCrossEntropy(target, 0.1, 1)(numbers(3, 7, 16), projection)
    loss.backward()
    assert projection.weight.grad.is_meta


def test_raises():
    """Guards the tests above."""
    x = numbers(3)
    for work in (lambda: x + torch.zeros(3), lambda: bool(x.sum() > 0), lambda: x[x > 0]):
        with pytest.raises((RuntimeError, NotImplementedError)):
            work()
