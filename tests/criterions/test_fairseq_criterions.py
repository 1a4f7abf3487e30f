"""fairseq's criterions on our models: an equal loss of translations, a loss of alignments."""

from argparse import Namespace

import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.criterions.label_smoothed_cross_entropy_with_alignment import (
    LabelSmoothedCrossEntropyCriterionWithAlignment,
)
from methods import ARCHITECTURES
from small_models import annotated_batch, batch, build, random_sentences, write_dictionaries

from syntax_nmt.arguments import flag
from syntax_nmt.criterions.cross_entropy import ALL_LOSSES, LOSSES
from syntax_nmt.errors import UserError

BASES = [arch for arch in ARCHITECTURES if arch.endswith("_tiny")]


DEFAULTS = {"ignore_prefix_size": 0, "sentence_avg": False, "report_accuracy": False}
SETTINGS = ({}, {"ignore_prefix_size": 2}, {"sentence_avg": True}, {"report_accuracy": True})


@pytest.mark.parametrize("arch", BASES)
def test_criterion_equals_fairseqs(folder, arch):
    """Same loss, figures and gradients of every parameter, in every architecture."""
    options = ("--criterion", "syntax_cross_entropy", "--label-smoothing", "0.1")
    model, task, cfg = build(folder, arch, *options)
    model.train()
    sample = annotated_batch(model, task, random_sentences([5, 9]), random_sentences([8, 4], 6))
    for changed in SETTINGS:
        given = {**DEFAULTS, **changed}
        cfg.criterion.update(given)
        ours = task.build_criterion(cfg.criterion)
        stock = LabelSmoothedCrossEntropyCriterion(task, label_smoothing=0.1, **given)
        assert ours._loss_in_model(model, True) != given["report_accuracy"]
        found = []
        for criterion in (ours, stock):
            model.zero_grad()
            torch.manual_seed(3)
            loss, size, logs = criterion(model, sample)
            loss.backward()
            grads = [p.grad for p in model.parameters() if p.grad is not None]
            counts = [int(logs[name]) for name in ("n_correct", "total") if name in logs]
            found.append(((loss.item(), logs["nll_loss"].item()), (size, counts), grads))
        (losses, figures, got), (stock_losses, stock_figures, wanted) = found
        assert losses == pytest.approx(stock_losses, rel=1e-6)
        assert figures == stock_figures
        assert len(figures[1]) == 2 * given["report_accuracy"]
        assert len(got) == len(wanted)
        largest = max(float(gradient.abs().max()) for gradient in wanted)
        for one, other in zip(got, wanted):
            torch.testing.assert_close(one, other, rtol=0, atol=1e-6 * largest)


def test_adaptive_softmax_has_a_loss_of_its_own(tmp_path):
    for criterion in ("syntax_cross_entropy", "label_smoothed_cross_entropy", "adaptive_loss"):
        model, task, cfg = build(
            *(write_dictionaries(tmp_path), "syntax_transformer_tiny", "--criterion", criterion),
            *("--adaptive-softmax-cutoff=10,20", "--ddp-backend=legacy_ddp"),
        )
        if criterion == "adaptive_loss":
            lines = random_sentences([5, 9]), random_sentences([8, 4], 6)
            sample = annotated_batch(model, task, *lines)
            task.build_criterion(cfg.criterion)(model.train(), sample)[0].backward()
            continue
        with pytest.raises(UserError, match="--criterion adaptive_loss --ddp-backend legacy_ddp"):
            task.build_criterion(cfg.criterion)


@pytest.mark.parametrize("weight", ["-1", "nan", "inf"])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.criterion)
def test_no_weight_is_negative_or_infinite(loss, weight, tmp_path):
    """In the criterion of one loss and in that of all."""
    write_dictionaries(tmp_path)
    for criterion in (loss.criterion, ALL_LOSSES):
        for each in loss.weight_options:
            given = ("--criterion", criterion, f"{flag(each.name)}={weight}")
            _, task, cfg = build(tmp_path, "syntax_transformer_tiny", *given)
            value = float(weight)
            with pytest.raises(
                UserError, match=f"^{flag(each.name)} {value}: give a number from 0 on"
            ):
                task.build_criterion(cfg.criterion)


MODELS = (
    *("transformer", "syntax_transformer", "phrase_transformer", "latent_phrase_transformer"),
    *("rnn_search", "bi_scale_rnn", "syntax_hybrid"),
)


LABELLED = "--dependency-labels=full"


@pytest.mark.parametrize(
    ("method", "options", "unread", "beside"),
    [
        ("lisa", "--label-weight=0.5", "--label-weight", "--dependency-labels none"),
        ("lisa", f"--label-weight=0.5 {LABELLED}", "", ""),
        ("lisa", "", "", ""),
        ("dependency", "--label-weight=0.5", "--label-weight", "--dependency-labels none"),
        ("dependency", f"--label-weight=0.5 {LABELLED}", "", ""),
        (
            "factor",
            "--target-factor-weight=0 --target-factor-pieces=last",
            "--target-factor-pieces",
            "--target-factor-weight 0",
        ),
        ("factor", "--target-factor-pieces=last", "", ""),
        (
            "variational",
            "--latent-from=prior --kl-weight=0.5 --free-nats=1",
            "--kl-weight --free-nats",
            "--latent-from prior",
        ),
        ("variational", "--latent-from=prior", "", ""),
        ("variational", "--latent-from=posterior --kl-weight=0.5 --free-nats=1", "", ""),
    ],
)
def test_options_of_a_loss_without_effect_are_named(
    folder, method, options, unread, beside, caplog
):
    arch = f"{method}_rnn" if method == "variational" else f"{method}_transformer"
    criterion = f"--criterion={method}_cross_entropy"
    _, task, cfg = build(folder, arch, criterion, *options.split())
    task.build_criterion(cfg.criterion)
    said = [r.getMessage() for r in caplog.records if "has no effect" in r.getMessage()]
    assert [line.partition(":")[0] for line in said] == [
        f"{option} has no effect beside {beside}" for option in unread.split()
    ]


@pytest.mark.parametrize("arch", MODELS)
def test_trains_on_alignments(folder, arch):
    model, task, _ = build(folder, arch, "--load-alignments")
    model.train()
    sources, targets = random_sentences([6, 4]), random_sentences([5, 3], 4)
    sample = batch(task.source_dictionary, sources, targets)
    sample["alignments"] = torch.tensor([[1, 0], [3, 6]])  # source column, row of all targets
    sample["align_weights"] = torch.ones(2)
    criterion = LabelSmoothedCrossEntropyCriterionWithAlignment(task, False, 0.1, 0.5)
    loss, _, logs = criterion(model, sample)
    loss.backward()
    _, extra = model(**sample["net_input"])
    attention = extra["attn"][0].flatten(0, 1)
    expected = -(attention[0, 1].log() + attention[6, 3].log())
    assert logs["alignment_loss"] == pytest.approx(expected.item(), rel=1e-5)
    keys = [
        parameter for name, parameter in model.decoder.named_parameters()
        if name.endswith(("encoder_attn.k_proj.weight", "attention.key_projection.weight"))
    ]  # fmt: skip
    assert torch.autograd.grad(expected, keys[-1])[0].any()


def test_a_search_leaves_it_so(folder):
    """Validation with --eval-bleu lies between two updates."""
    model, task, _ = build(folder, "syntax_transformer", "--load-alignments")
    assert model.decoder.need_attn
    sample = batch(task.source_dictionary, random_sentences([6]), random_sentences([5]))
    generator = task.build_generator([model], Namespace(beam=2, max_len_b=5))
    task.inference_step(generator, [model], sample)
    assert model.decoder.need_attn
