"""Dropout is where fairseq's layers have it, as probable as its option says, in training alone."""

from collections import Counter
from dataclasses import fields

import pytest
import torch
from fairseq.modules import FairseqDropout, MultiheadAttention
from methods import DECLARED, METHODS, MIXED
from small_models import build, families, random_sentences

# An architecture of each way to train, and mixed models.
NAMES = [*dict.fromkeys(each.training[1] for each in METHODS.values()), *MIXED]
RANDOM = ("_dropout", "_ignoring", "_unknown", "_noise")  # how options of methods end
OF_DROPOUTS = {
    "dropout_module": "--dropout",
    "dropout": "--dropout",
    "activation_dropout_module": "--activation-dropout",
    "encoder.dropout_in": "--encoder-dropout-in",
    "encoder.dropout_out": "--encoder-dropout-out",
    "decoder.dropout_in": "--decoder-dropout-in",
}
BESIDE_FAIRSEQS = {("constituent_transformer_tiny", "encoder.layers.0.dropout_module"): 1}


def families_of(name):
    arch, *options = MIXED.get(name, (name,))
    return families(arch, options)


def probabilities(name):
    """By option, each another one, of a model's stacks and of the method that it is a preset of."""
    of = families_of(name)
    found = {"--dropout": 0.3}
    if "transformer" in of.values():
        found |= {"--attention-dropout": 0.4, "--activation-dropout": 0.2}
    if of["encoder"] == "rnn":
        found |= {"--encoder-dropout-in": 0.15, "--encoder-dropout-out": 0.25}
    if of["decoder"] == "rnn":
        found |= {"--decoder-dropout-in": 0.35}
    for method in DECLARED:
        if name.removesuffix("_tiny") in method.presets:
            names = [field.name for field in fields(method.options)]
            random = [x for x in names if x.endswith(RANDOM)]
            found |= {f"--{x.replace('_', '-')}": 0.45 for x in random}
    return found


def with_dropout(name, build_small):
    return build_small(name, *(f"{x}={p}" for x, p in probabilities(name).items()))


def inputs_of(small):
    sources, targets = random_sentences([9, 14, 4]), random_sentences([12, 3, 8], seed=4)
    return small.batch(sources, targets)["net_input"]


def dropouts(model, inputs):
    """Each dropout by its place: whether it is of an attention, p, and its calls in training."""
    found, calls = {}, Counter()
    for parent, module in model.named_modules():
        for child, dropout in module.named_children():
            if isinstance(dropout, FairseqDropout):
                place = f"{parent}.{child}"
                found[place] = isinstance(module, MultiheadAttention), dropout.p
                dropout.register_forward_hook(lambda *_, place=place: calls.update([place]))
    model.train()(**inputs)
    return {place: (*each, calls[place]) for place, each in found.items()}


@pytest.mark.parametrize("name", NAMES)
@torch.no_grad()
def test_evaluation_is_as_without(name, build_small):
    plain, small = build_small(name), with_dropout(name, build_small)
    inputs = inputs_of(plain)
    expected, _ = plain.model.eval()(**inputs)
    for _ in range(2):
        torch.testing.assert_close(small.model.eval()(**inputs)[0], expected)
    small.model.train()
    assert not torch.equal(*(small.model(**inputs)[0] for _ in range(2)))


@pytest.fixture(scope="module")
def calls_in_fairseq(dictionaries):
    """How often a forward pass of fairseq's Transformer calls each of its dropouts."""
    model, *_ = build(dictionaries[False], "transformer", task="translation")
    tokens = torch.stack(random_sentences([5, 5]))
    inputs = {"src_tokens": tokens, "src_lengths": None, "prev_output_tokens": tokens}
    return {place: calls for place, (*_, calls) in dropouts(model, inputs).items()}


@pytest.mark.parametrize("name", NAMES)
@torch.no_grad()
def test_every_dropout_acts(name, build_small, calls_in_fairseq):
    small, wanted = with_dropout(name, build_small), probabilities(name)
    of = families_of(name)
    for place, (of_attention, p, calls) in dropouts(small.model, inputs_of(small)).items():
        stack, child = place.split(".")[0], place.rpartition(".")[2]
        if of_attention:  # which calls it only where no kernel drops weights
            assert p == wanted["--attention-dropout"], place
            continue
        option = OF_DROPOUTS.get(child) or OF_DROPOUTS[f"{stack}.{child}"]
        assert p == wanted[option], place
        if of[stack] == "transformer" and place in calls_in_fairseq:
            more = BESIDE_FAIRSEQS.get((name, place), 0)
            assert calls == calls_in_fairseq[place] + more, place
        else:
            assert calls, f"{place} is not called"
