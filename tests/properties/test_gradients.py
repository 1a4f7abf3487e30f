"""Every parameter takes part in every update of the method's own loss, and all stays finite."""

import torch
from small_models import batch, chain_heads, chunks_of_tokens, random_sentences

from syntax_nmt.criterions.chunk import ChunkObjective
from syntax_nmt.criterions.dependency import DependencyObjective
from syntax_nmt.criterions.synchronous import SynchronousConstraint, SynchronousObjective
from syntax_nmt.criterions.syntax_cross_entropy import SyntaxCrossEntropyCriterion
from syntax_nmt.data.sides import CHUNKS


def criterion_of(small):
    """The translation loss and those losses that the architecture is made for."""
    objectives = []
    if getattr(small.model.encoder, "supervised_layer", None) is not None:
        objectives.append(DependencyObjective(0.4, 0.4))
    latent = getattr(small.model.decoder, "latent_phrase_layers", 0)
    if latent:
        constraint = SynchronousConstraint("rank", 0.01, "sum", 1.0, False, latent)
        dictionary = small.task.target_dictionary
        objectives.append(SynchronousObjective(constraint, dictionary.eos(), dictionary.pad()))
    if CHUNKS in small.model.reads_sides:
        objectives.append(ChunkObjective(1.0, 1.0))
    return SyntaxCrossEntropyCriterion(small.task, False, 0.1, 0, False, objectives)


def loss_of(small, lengths):
    dictionary = small.task.source_dictionary
    sample = batch(dictionary, random_sentences(lengths), random_sentences(lengths, 9))
    sample["heads"] = chain_heads(sample["net_input"]["src_tokens"], dictionary)
    if CHUNKS in small.model.reads_sides:
        sample["chunk_tags"] = chunks_of_tokens(sample["target"], small.task)
        sample["net_input"]["chunk_tags"] = sample["chunk_tags"]
    return criterion_of(small)(small.model, sample)[0]


def test_every_parameter_has_a_gradient(small):
    for lengths in ([5, 9], [2], [1]):
        small.model.train().zero_grad()
        loss_of(small, lengths).backward()
        without = [name for name, p in small.model.named_parameters() if p.grad is None]
        assert not without, f"lengths {lengths}"


def test_autocast_stays_finite(small):
    small.model.train()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = loss_of(small, [9, 4, 1])
    loss.backward()
    assert torch.isfinite(loss)
    for name, parameter in small.model.named_parameters():
        assert torch.isfinite(parameter.grad).all(), name
