"""Every parameter is updated and all stays finite; each kind learns fifty sentences by heart."""

from argparse import Namespace

import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from methods import ALL_TRIALS, ARCHITECTURES, in_small
from sacrebleu.metrics import BLEU
from small_models import annotated_batch, build, random_sentences
from small_training import criterion_of, trains_as
from tested_methods import BY_HEART


def loss_of(small, lengths, synchronous="rank"):
    sample = small.batch(random_sentences(lengths), random_sentences(lengths, 9))
    return criterion_of(small.model, small.task, synchronous)(small.model, sample)[0]


def translation_loss_of(small, lengths):
    """Without the losses of methods: their weights may be 0."""
    sample = small.batch(random_sentences(lengths), random_sentences(lengths, 9))
    return LabelSmoothedCrossEntropyCriterion(small.task, False, 0.1)(small.model, sample)[0]


@pytest.mark.parametrize("loss", [loss_of, translation_loss_of])
def test_every_parameter_has_a_gradient(small, loss):
    for lengths in ([5, 9], [2], [1]):
        small.model.train().zero_grad()
        loss(small, lengths).backward()
        without = [name for name, p in small.model.named_parameters() if p.grad is None]
        assert not without, (
            f"parameters without a gradient in a batch of lengths {lengths}: training on several "
            "GPUs would stop there. Leave out what is not used, or let it take part with zeros: "
            f"{', '.join(without)}"
        )


def test_autocast_stays_finite(small):
    small.model.train()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = loss_of(small, [9, 4, 1])
    loss.backward()
    assert torch.isfinite(loss)
    for name, parameter in small.model.named_parameters():
        assert torch.isfinite(parameter.grad).all(), name


def test_checkpointed_activations_change_nothing(small, build_small):
    if not any(hasattr(half, "layers") for half in (small.model.encoder, small.model.decoder)):
        pytest.skip("no layers of a Transformer")
    results = []
    for each in (small, build_small(small.arch, "--checkpoint-activations")):
        each.model.train().zero_grad()
        loss_of(each, [9, 4], "attention").backward()
        results.append([parameter.grad for parameter in each.model.parameters()])
    for (name, _), plain, checkpointed in zip(small.model.named_parameters(), *results):
        torch.testing.assert_close(checkpointed, plain, atol=1e-4, rtol=1e-4, msg=name)


@pytest.mark.parametrize("trial", ALL_TRIALS)
def test_trials_are_not_their_presets(build_small, trial):
    """Otherwise the properties are tested twice of one model, and never of the other."""
    preset = build_small(ALL_TRIALS[trial][0])
    assert not trains_as(preset.model, build_small(trial).model, preset.task)


LENGTHS = [3 + i % 8 for i in range(50)]


def presets():
    """The tiny preset of each method always; its other sizes only among the slow tests."""
    for arch in ARCHITECTURES:
        yield pytest.param(arch, marks=[] if arch.endswith("_tiny") else [pytest.mark.slow])


@pytest.mark.dear
@pytest.mark.parametrize("arch", presets())
def test_fits_fifty_sentences(dictionaries, arch):
    more = [x for name, options in BY_HEART.items() if arch.startswith(name) for x in options]
    model, task, _ = build(dictionaries[False], arch, *in_small(arch), *more, width=64)
    sources, targets = random_sentences(LENGTHS, 11), random_sentences(LENGTHS, 12)
    sample = annotated_batch(model, task, sources, targets, searches=True)
    criterion = LabelSmoothedCrossEntropyCriterion(task, False, 0.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, betas=(0.9, 0.98))
    model.train()
    for _ in range(250):
        optimizer.zero_grad()
        loss, size, _ = criterion(model, sample)
        (loss / size).backward()
        optimizer.step()
        if loss / size < 0.02:
            break
    model.eval()
    # A wider beam may end before the best hypothesis does: fairseq stops when enough others ended.
    generator = task.build_generator([model], Namespace(beam=1, max_len_b=20))
    hypotheses = task.inference_step(generator, [model], sample)
    dictionary = task.target_dictionary
    outputs = [dictionary.string(best[0]["tokens"]) for best in hypotheses]
    references = [dictionary.string(target) for target in targets]
    assert BLEU(tokenize="none").corpus_score(outputs, [references]).score >= 99
