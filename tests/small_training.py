"""Small models of every method with all that a training step takes."""

from copy import deepcopy

import torch
from fairseq.criterions import CRITERION_REGISTRY, FairseqCriterion
from methods import ALL_TRIALS, BASES, DECLARED, MIXED
from small_models import (
    annotated_batch,
    batch,
    chain_heads,
    chunks_of_tokens,
    fill_zeros,
    phrases_of_tokens,
    random_sentences,
    trees_of_tokens,
)
from torch import nn

from syntax_nmt.arguments import attribute
from syntax_nmt.data.annotation import CHUNKS, HEADS, PHRASES, TARGET_HEADS, TARGET_TREES, TREES
from syntax_nmt.data.annotation.columns import Column
from syntax_nmt.methods.bi_scale.loss import ChunkObjective
from syntax_nmt.methods.latent_phrases.loss import SynchronousObjective
from syntax_nmt.text.languages import SOURCE

# An architecture, and options that lead through other modules.
MODELS = {**{arch: (arch,) for arch in sorted(BASES)}, **ALL_TRIALS, **MIXED}
# Losses whose settings follow from the model.
BY_HAND = (SynchronousObjective, ChunkObjective)
SYNCHRONOUS = ("rank", "mse", "attention")


def sample_of(model: nn.Module, task, lengths) -> dict:
    dictionary = task.source_dictionary
    sample = batch(dictionary, random_sentences(lengths), random_sentences(lengths, 9))
    net_input = sample["net_input"]
    sample["heads"] = chain_heads(net_input["src_tokens"], dictionary).int()
    sample["target_heads"] = chain_heads(sample["target"], dictionary).int()
    if HEADS in model.reads_annotation:
        net_input["heads"] = sample["heads"]
    if CHUNKS in model.reads_annotation:
        sample["chunk_tags"] = chunks_of_tokens(sample["target"], task)
        net_input["chunk_tags"] = sample["chunk_tags"]
    if PHRASES in model.reads_annotation:
        net_input["phrase_lengths"] = phrases_of_tokens(net_input["src_tokens"], task)
    if TREES in model.reads_annotation:
        net_input.update(trees_of_tokens(net_input["src_tokens"], task))
    for kind, tokens in ((TREES, net_input["src_tokens"]), (TARGET_TREES, sample["target"])):
        if kind in model.learns_annotation:
            sample[kind.key] = trees_of_tokens(tokens, task)["trees"]
    for kind in (*model.reads_annotation, *model.learns_annotation):
        if isinstance(kind, Column):  # any value of each token
            tokens = net_input["src_tokens"] if kind.side == SOURCE else sample["target"]
            special = tokens < dictionary.nspecial
            sample[kind.key] = (tokens % 3 + 1).masked_fill(special, -1).int()
            if kind in model.reads_annotation:
                net_input[kind.key] = sample[kind.key]
    return sample


def tied_layers(model: nn.Module) -> int:
    """How many layers the synchronous constraint ties, of a model that has distances twice."""
    return min(half.distance_layers for half in (model.encoder, model.decoder))


def has(model: nn.Module, method) -> bool:
    """Whether a half of the model has the method's feature."""
    features = (*model.encoder.extensions, *model.decoder.extensions)
    return any(isinstance(each, tuple(method.extensions.values())) for each in features)


def criterion_of(model: nn.Module, task, synchronous: str) -> FairseqCriterion:
    """The translation loss and every auxiliary loss that the model can have."""
    dictionary, objectives = task.target_dictionary, []
    latent = tied_layers(model)
    for method in DECLARED:
        if method.loss is not None and method.loss.objective not in BY_HAND and has(model, method):
            options = method.loss.among_others()
            for name, weight in method.loss.weights.items():
                setattr(options, attribute(name), weight)
            if TARGET_HEADS in model.learns_annotation:
                options.target_parent_weight = 0.5
            if HEADS not in model.learns_annotation:
                options.child_weight = options.parent_weight = 0.0
            if model.encoder.arc_labels:
                options.label_weight = 0.1
            objectives.append(method.loss.objective.from_options(options, task))
    if latent:
        symbols = dictionary.eos(), dictionary.pad()
        objectives.append(
            SynchronousObjective(*symbols, synchronous, 0.01, "sum", 1.0, False, latent)
        )
    if CHUNKS in model.reads_annotation:
        objectives.append(ChunkObjective(1.0, 1.0))
    return CRITERION_REGISTRY["syntax_cross_entropy"](task, False, 0.1, 0, False, objectives)


def trains_as(model: nn.Module, other: nn.Module, task) -> bool:
    """Whether another model has the same parameters, and, given their values, the same loss.

    That of a training step, in float64 and with the same random numbers.
    """
    shapes = [{name: x.shape for name, x in each.state_dict().items()} for each in (model, other)]
    if shapes[0] != shapes[1]:
        return False
    model, other = fill_zeros(deepcopy(model)), deepcopy(other)
    other.load_state_dict(model.state_dict())
    losses = []
    for each in (model, other):
        each.double().train()
        sample = annotated_batch(each, task, random_sentences([5, 9]), random_sentences([7, 6], 9))
        torch.manual_seed(3)
        losses.append(float(criterion_of(each, task, "rank")(each, sample)[0].detach()))
    return abs(losses[0] - losses[1]) < 1e-9 * abs(losses[0])
