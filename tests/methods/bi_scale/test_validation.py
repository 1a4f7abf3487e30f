"""The loss that chooses checkpoints is the one under the model's own chunk boundaries."""

import math

import pytest
import torch
from bi_scale_loops import OWN_CHOICE, translate
from fairseq.criterions import CRITERION_REGISTRY
from fairseq.criterions.cross_entropy import CrossEntropyCriterion
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.logging import metrics
from small_models import batch, build, chunks_of_tokens, enlarge, random_sentences

from syntax_nmt.methods.bi_scale.loss import LOGGED, ChunkObjective

LENGTHS = [9, 5, 7, 6]


@pytest.fixture(scope="module")
def validated(folder):
    """A float64 model, its task and an annotated batch, one sentence without annotation."""
    model, task, _ = build(folder, "bi_scale_rnn_tiny")
    enlarge(model).double()
    model.decoder.recurrence.gate.output.bias.data.zero_()
    sources, targets = random_sentences([6, 3, 8, 4]), random_sentences(LENGTHS, 4)
    sample = batch(task.source_dictionary, sources, targets)
    sample["chunk_tags"] = chunks_of_tokens(sample["target"], task)
    return model, task, sample


def criterion_of(task):
    return CRITERION_REGISTRY["chunk_cross_entropy"](
        task, False, 0.1, 0, False, [ChunkObjective(1, 1)]
    )


@torch.no_grad()
def nll_by_loops(model, sample, given):
    """Over the sentences one by one, under the given boundaries or the model's own."""
    total, inputs = 0.0, sample["net_input"]
    for row, length in enumerate(LENGTHS):
        source = inputs["src_tokens"][row]
        tags = sample["chunk_tags"][row, :length].tolist()
        boundaries = [tag if tag < 0 else int(tag > 0) for tag in tags]
        found = translate(
            model,
            source[source.ne(1)],
            inputs["prev_output_tokens"][row, :length],
            boundaries if given else [OWN_CHOICE] * length,
            step_context=True,
        )
        target = sample["target"][row, :length]
        total -= float(found.logits.log_softmax(-1).gather(1, target[:, None]).sum())
    return total


def test_both_figures_equal_the_equations(validated):
    model, task, sample = validated
    _, size, logs = task.valid_step(sample, model, criterion_of(task))
    own, gold = (nll_by_loops(model, sample, given) for given in (False, True))
    assert abs(own - gold) > 0.01
    assert size == sum(LENGTHS)
    assert float(logs["nll_loss"]) == pytest.approx(own, abs=1e-4)  # the criterion sums in float32
    assert float(logs["gold_nll_loss"]) == pytest.approx(gold, abs=1e-4)


def test_boundaries_and_tags_are_compared_under_the_annotation(validated):
    model, task, sample = validated
    criterion = criterion_of(task)
    _, _, logs = task.valid_step(sample, model, criterion)
    given = {**sample["net_input"], "chunk_tags": sample["chunk_tags"]}
    with torch.no_grad():
        _, _, expected = criterion(model, {**sample, "net_input": given})
    assert float(expected["boundaries"]) > 0
    for name in LOGGED:
        assert float(logs[name]) == float(expected[name]), name


def test_what_is_logged(validated):
    model, task, sample = validated
    criterion = criterion_of(task)
    _, _, logs = task.valid_step(sample, model, criterion)
    with metrics.aggregate() as logged:
        task.reduce_metrics([logs, logs], criterion)
    values = logged.get_smoothed_values()
    expected = float(logs["gold_nll_loss"]) / sum(LENGTHS) / math.log(2)
    assert values["gold_nll_loss"] == pytest.approx(expected, abs=1e-3)
    assert values["nll_loss"] != values["gold_nll_loss"]
    assert {"boundary_accuracy", "tag_accuracy"} <= set(values)


def test_other_criterions_and_validation_without_annotation(validated):
    """fairseq's own criterion is given both figures, too; without annotation there is one."""
    model, task, sample = validated
    criterion = LabelSmoothedCrossEntropyCriterion(task, False, 0.0)
    _, _, logs = task.valid_step(sample, model, criterion)
    assert float(logs["nll_loss"]) == pytest.approx(nll_by_loops(model, sample, False), abs=1e-4)
    bare = {name: value for name, value in sample.items() if name != "chunk_tags"}
    _, _, without = task.valid_step(bare, model, criterion)
    assert float(without["nll_loss"]) == float(logs["nll_loss"])
    assert "gold_nll_loss" not in without
    with metrics.aggregate() as logged:
        task.reduce_metrics([without], criterion)
    assert "gold_nll_loss" not in logged.get_smoothed_values()


def test_fairseqs_default_criterion(validated):
    """Its log has no nll beside the loss."""
    model, task, sample = validated
    _, _, logs = task.valid_step(sample, model, CrossEntropyCriterion(task, False))
    _, _, smoothed = task.valid_step(
        sample, model, LabelSmoothedCrossEntropyCriterion(task, False, 0.1)
    )
    assert float(logs["gold_nll_loss"]) == pytest.approx(float(smoothed["gold_nll_loss"]))


def test_neither_pass_keeps_a_graph(validated):
    """fairseq-validate computes gradients unless the task says otherwise."""
    model, task, sample = validated
    kept = []
    handle = model.register_forward_hook(lambda *call: kept.append(call[-1][0].requires_grad))
    task.valid_step(sample, model, LabelSmoothedCrossEntropyCriterion(task, False, 0.0))
    handle.remove()
    assert kept == [False, False]


def test_training_keeps_the_annotation(validated):
    model, task, sample = validated
    seen = []
    handle = model.register_forward_pre_hook(
        lambda module, args, kwargs: seen.append("chunk_tags" in kwargs), with_kwargs=True
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    optimizer.backward = lambda loss: loss.backward()
    task.train_step(sample, model, criterion_of(task), optimizer, 0)
    task.valid_step(sample, model.eval(), criterion_of(task))
    handle.remove()
    assert seen == [True, False, True]
