"""Weights of a stock Transformer begin the models that extend it; others are refused."""

import pytest
import torch
from small_models import build

from syntax_nmt.errors import UserError
from syntax_nmt.models import pretrained_weights

# What a model has beside a stock Transformer.
NEW = {
    "syntax_transformer": (),
    "dependency_transformer": (),
    "phrase_transformer": ("phrase",),
    "latent_phrase_transformer": ("syntactic_distance",),
}


@pytest.fixture
def stock(folder):
    model, _, _ = build(folder, "transformer", "--share-all-embeddings", task="translation")
    return {name: value + 1 for name, value in model.state_dict().items()}


def model_of(folder, arch, begins=True, *options):
    model, _, cfg = build(folder, arch, "--share-all-embeddings", *options)
    model.begins_with_weights_of_another = begins
    before = {name: value.clone() for name, value in model.state_dict().items()}
    return model, before, cfg.model


def refusal(model, weights, cfg):
    with pytest.raises(UserError) as refused:
        model.load_state_dict(dict(weights), strict=True, model_cfg=cfg)
    message = str(refused.value)
    assert message.startswith("the checkpoint is not of this model: ")
    assert "\n" not in message
    return message


@pytest.mark.parametrize("arch", NEW)
def test_a_stock_checkpoint_begins_a_model(folder, stock, arch, caplog):
    """All that there is comes from the checkpoint, the rest keeps its start and is named."""
    model, before, cfg = model_of(folder, arch)
    model.load_state_dict(dict(stock), strict=True, model_cfg=cfg)
    new = set(before) - set(stock)
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name] if name in new else stock[name]), name
    assert all(any(part in name for part in NEW[arch]) for name in new)
    assert caplog.text.count("not in the checkpoint") == bool(NEW[arch])
    for part in NEW[arch]:
        assert part in caplog.text


@pytest.mark.parametrize("arch", ["phrase_transformer", "latent_phrase_transformer"])
def test_only_to_fine_tune(folder, stock, arch, monkeypatch):
    """Anywhere else a checkpoint without these weights is of another model."""
    model, _, cfg = model_of(folder, arch, False)
    message = refusal(model, stock, cfg)
    assert "it lacks" in message
    assert NEW[arch][0] in message
    assert "--finetune-from-model" not in message  # which only fairseq's programs have
    monkeypatch.setattr(pretrained_weights, "is_a_program_of_fairseq", lambda: True)
    assert "--finetune-from-model" in refusal(model, stock, cfg)


def test_a_module_in_part(folder):
    """One that has lost a weight is no new module."""
    model, weights, cfg = model_of(folder, "latent_phrase_transformer")
    del weights["encoder.layers.0.self_attn.syntactic_distance.bias"]
    assert "it lacks encoder.layers.*.self_attn.syntactic_distance.bias" in refusal(
        model, weights, cfg
    )


def test_a_whole_checkpoint_is_taken_as_it_is(folder, caplog):
    for begins in (True, False):
        model, weights, cfg = model_of(folder, "phrase_transformer", begins)
        weights = {name: value + 2 for name, value in weights.items()}
        model.load_state_dict(dict(weights), strict=True, model_cfg=cfg)
        for name, value in model.state_dict().items():
            assert torch.equal(value, weights[name]), name
    assert "not in the checkpoint" not in caplog.text


def test_what_the_model_lacks(folder, stock):
    """More layers, or a model of another family."""
    model, _, cfg = model_of(folder, "syntax_transformer", True, "--encoder-layers", "1")
    assert "the model has no encoder.layers.*.self_attn" in refusal(model, stock, cfg)
    model, _, cfg = model_of(folder, "rnn_search")
    assert "the model has no encoder.version, encoder.layers.*" in refusal(model, stock, cfg)


def test_other_sizes(folder, stock):
    model, _, cfg = model_of(folder, "syntax_transformer", True, "--encoder-ffn-embed-dim", "48")
    message = refusal(model, stock, cfg)
    assert "encoder.layers.0.fc1.weight is 32×16, in the model 48×16" in message
