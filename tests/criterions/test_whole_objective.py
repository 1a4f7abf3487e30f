"""The whole training objective of a float64 model against plain sums, to 1e-10."""

import pytest
import torch
from fairseq.criterions import CRITERION_REGISTRY
from latent_phrase_loops import attention_loss
from small_models import batch, build, chain_heads, chunks_of_tokens, enlarge, random_sentences
from torch.distributions import Normal, kl_divergence

from syntax_nmt.methods.bi_scale.loss import ChunkObjective
from syntax_nmt.methods.dependency_heads.loss import DependencyObjective
from syntax_nmt.methods.latent_phrases.loss import SynchronousObjective
from syntax_nmt.methods.variational.decoder import (
    POSTERIOR_LOG_VARIANCE,
    POSTERIOR_MEAN,
    PRIOR_LOG_VARIANCE,
    PRIOR_MEAN,
)
from syntax_nmt.methods.variational.loss import VariationalObjective

EPSILON = 0.1


def smoothed(logits, target, pad):
    """fairseq's label-smoothed cross-entropy, token by token."""
    total = torch.zeros((), dtype=torch.float64)
    for row, tokens in enumerate(target.tolist()):
        for t, token in enumerate(tokens):
            if token != pad:
                log_p = logits[row, t] - torch.logsumexp(logits[row, t], 0)
                spread = EPSILON / (len(log_p) - 1)
                total = total - (1 - EPSILON - spread) * log_p[token] - spread * log_p.sum()
    return total


def dependency(extra, sample):
    """Wang et al. (2019), equations 4 to 7, for chains of words."""
    total = 0.0
    for row, heads in enumerate(sample["heads"].tolist()):
        child, parent = extra["supervised_heads"][row]
        words = [i for i, head in enumerate(heads) if head >= 0]
        for i in words:
            total = total - 0.7 * parent[i, heads[i]]
            children = [j for j in words if heads[j] == i and j != i] or [i]
            for j in children:
                total = total - 0.3 * child[i, j] / len(children)
    return total


def synchronous(extra, sample, loss):
    """Harada and Watanabe (2021), equations 7, 8 and 10; Deguchi et al. (2021)."""
    total, kind = 0.0, "attention" if loss == "attention" else "distances"
    structures = (extra[f"{side}_{kind}"] for side in ("source", "target"))
    for e, d, c in zip(*structures, extra["cross_attention"]):
        for row, target in enumerate(sample["target"].tolist()):
            n = sum(token > 2 for token in target)
            if loss == "attention":
                total = total + attention_loss(c[row], e[row], d[row, :n, :n])[0]
                continue
            projected, distances = c[row] @ e[row].mean(dim=0), d[row].mean(dim=0)
            if loss == "mse":
                total = total + sum((projected[i] - distances[i]) ** 2 for i in range(n))
                continue
            for i in range(n):
                for j in range(i + 1, n):
                    order = torch.sign(distances[i] - distances[j]).detach()
                    hinge = 1 - order * (projected[i] - projected[j])
                    total = total + (hinge.clamp(min=0) if order else 0)
    return 0.5 * total


def chunks(extra, sample):
    """Zhou et al. (2017), Section 4: boundaries but the first, and tags where a chunk opens."""
    total = 0.0
    gold, opened = sample["chunk_tags"].tolist(), extra["opened"][0]
    tags = extra["tag_logits"][0].log_softmax(-1)
    gate = extra["boundary_logits"][0].log_softmax(-1)
    for row, of_row in enumerate(gold):
        for t, tag in enumerate(of_row):
            if tag >= 0 and t > 0:
                total = total - gate[row, t, int(tag > 0)]
            if tag > 0 and opened[row, t]:
                total = total - tags[row, t, tag - 1]
    return total


def divergence(extra, sample):
    """Su et al. (2018): KL of posterior and prior, token by token."""
    names = (POSTERIOR_MEAN, POSTERIOR_LOG_VARIANCE, PRIOR_MEAN, PRIOR_LOG_VARIANCE)
    total = 0.0
    for row, tokens in enumerate(sample["target"].tolist()):
        for t in range(sum(token != 1 for token in tokens)):
            q_mean, q_spread, p_mean, p_spread = (extra[name][0][row, t] for name in names)
            q, p = Normal(q_mean, (q_spread / 2).exp()), Normal(p_mean, (p_spread / 2).exp())
            total = total + kl_divergence(q, p).sum()
    return 0.6 * total


CASES = {
    "dependency": (
        "dependency_transformer_tiny",
        lambda *_: DependencyObjective(0.3, 0.7),
        dependency,
    ),
    **{
        loss: (
            "latent_phrase_transformer_tiny",
            lambda dictionary, loss=loss: SynchronousObjective(
                dictionary.eos(), dictionary.pad(), loss, 0.5, "sum", 1.0, False, 2
            ),
            lambda extra, sample, loss=loss: synchronous(extra, sample, loss),
        )
        for loss in ("rank", "mse", "attention")
    },
    "divergence": (
        "variational_rnn --latent-from=posterior --latent-noise=1",
        lambda dictionary: VariationalObjective(0.6, 0, 0.0, dictionary.pad()),
        divergence,
    ),
    "chunks": ("bi_scale_rnn_tiny", lambda *_: ChunkObjective(1, 1), chunks),
}


@pytest.mark.parametrize("case", CASES)
def test_objective_and_its_gradients(folder, case):
    """A float32 step anywhere between would show at 1e-7."""
    arch, build_objective, by_hand = CASES[case]
    model, task, _ = build(folder, *arch.split())
    enlarge(model, 2.0).double().train()
    dictionary = task.target_dictionary
    objective = build_objective(dictionary)
    sample = batch(dictionary, random_sentences([7, 3, 5]), random_sentences([6, 4, 5], 9))
    sample["heads"] = chain_heads(sample["net_input"]["src_tokens"], dictionary)
    if case == "chunks":
        sample["chunk_tags"] = chunks_of_tokens(sample["target"], task)
        sample["net_input"]["chunk_tags"] = sample["chunk_tags"]
    criterion = CRITERION_REGISTRY["syntax_cross_entropy"](
        task, False, EPSILON, 0, False, [objective]
    )
    torch.manual_seed(2)
    loss, _, logs = criterion(model, sample)
    assert loss.dtype == logs["loss"].dtype == torch.float64
    torch.manual_seed(2)  # the same noise
    objective.prepare(model)
    logits, extra = model(**sample["net_input"], **objective.model_arguments(model))
    translation = smoothed(logits, sample["target"], dictionary.pad())
    expected = translation + by_hand(extra, sample)
    torch.testing.assert_close(logs["loss"], translation.detach(), atol=1e-10, rtol=1e-12)
    torch.testing.assert_close(loss, expected, atol=1e-10, rtol=1e-12)
    parameters = [p for p in model.parameters() if p.requires_grad]
    ours = torch.autograd.grad(loss, parameters)
    loops = torch.autograd.grad(expected, parameters)
    for found, wanted in zip(ours, loops):
        torch.testing.assert_close(found, wanted, atol=1e-10, rtol=1e-10)
