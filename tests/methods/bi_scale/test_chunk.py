"""The losses of chunk boundaries and tags against plain sums."""

from argparse import Namespace

import pytest
import torch
from fairseq.criterions import CRITERION_REGISTRY
from fairseq.logging import metrics
from small_models import batch, build, random_sentences

from syntax_nmt.errors import UserError
from syntax_nmt.methods.bi_scale.loss import ChunkObjective

# Two annotated sentences, the second padded, and one without annotation; K is 3, EOS is 4.
GOLD = torch.tensor([[1, 0, 2, 4], [3, 4, -1, -1], [-1, -1, -1, -1]], dtype=torch.int32)
OPENED = torch.tensor([[1, 0, 1, 1], [1, 1, 0, 0], [1, 0, 1, 0]], dtype=torch.bool)


def extra_for(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return {
        "boundary_logits": [torch.randn(3, 4, 2, generator=generator, dtype=torch.float64)],
        "opened": [OPENED],
        "tag_logits": [torch.randn(3, 4, 4, generator=generator, dtype=torch.float64)],
    }


def plain(extra):
    """Losses, counts and right answers by loops over the sentences."""
    found = dict.fromkeys(("b", "b_count", "b_right", "t", "t_count", "t_right"), 0.0)
    for row in range(3):
        for column in range(4):
            gold = int(GOLD[row, column])
            boundary = extra["boundary_logits"][0][row, column].log_softmax(-1)
            if gold >= 0 and column > 0:
                b = int(gold > 0)
                found["b"] -= float(boundary[b])
                found["b_count"] += 1
                found["b_right"] += int(boundary.argmax()) == b
            if OPENED[row, column]:
                tags = extra["tag_logits"][0][row, column].log_softmax(-1)
                if gold > 0:
                    found["t"] -= float(tags[gold - 1])
                    found["t_count"] += 1
                    found["t_right"] += int(tags.argmax()) == gold - 1
    return found


@pytest.mark.parametrize("seed", range(4))
def test_equals_plain_sums(seed):
    extra = extra_for(seed)
    expected = plain(extra)
    assert (expected["b_count"], expected["t_count"]) == (4, 5)
    loss, logs = ChunkObjective(0.5, 2.0)(extra, {"chunk_tags": GOLD})
    assert float(loss) == pytest.approx(0.5 * expected["b"] + 2 * expected["t"], rel=1e-12)
    names = ("boundary_loss", "boundaries", "boundaries_right", "tag_loss", "tags", "tags_right")
    for name, key in zip(names, expected):
        assert float(logs[name]) == pytest.approx(expected[key], rel=1e-12), name


def test_without_annotation_nothing_counts():
    extra = extra_for()
    for parts in (extra["boundary_logits"], extra["tag_logits"]):
        parts[0].requires_grad_()
    loss, logs = ChunkObjective(1, 1)(extra, {"chunk_tags": torch.full_like(GOLD, -1)})
    assert float(loss) == 0
    assert not any(map(float, logs.values()))
    loss.backward()
    assert not extra["boundary_logits"][0].grad.any()
    assert not extra["tag_logits"][0].grad.any()
    with pytest.raises(UserError, match="--load-chunks"):
        ChunkObjective(1, 1)(extra, {})
    with torch.no_grad():  # validation without an annotation file
        loss, nothing = ChunkObjective(1, 1)(extra, {})
    assert float(loss) == 0
    assert list(nothing) == list(logs)


def test_what_is_logged():
    def total(key):
        return {"boundary_loss": 8.0, "boundaries": 10.0, "boundaries_right": 9.0}.get(key, 0.0)

    with metrics.aggregate() as logged:
        ChunkObjective.log(total)
    values = logged.get_smoothed_values()
    assert values["boundary_accuracy"] == 90
    assert values["boundary_loss"] == pytest.approx(0.8 / 0.6931, abs=1e-3)
    assert "tag_loss" not in values
    assert "tag_accuracy" not in values


def test_from_options(folder):
    def objective(boundary_weight, chunk_tag_weight):
        options = Namespace(boundary_weight=boundary_weight, chunk_tag_weight=chunk_tag_weight)
        return ChunkObjective.from_options(options, None)

    assert objective(0, 0) is None
    given = ("--criterion=chunk_cross_entropy", "--boundary-weight=.3", "--chunk-tag-weight=.7")
    _, task, cfg = build(folder, "bi_scale_rnn_tiny", *given)
    for found in (objective(0.3, 0.7), *task.build_criterion(cfg.criterion).objectives):
        assert (found.boundary_weight, found.tag_weight) == (0.3, 0.7)


def test_other_models_are_refused(folder):
    for arch in ("rnn_search_tiny", "syntax_transformer_tiny"):
        model, task, _ = build(folder, arch)
        sources, targets = random_sentences([5, 3, 4]), random_sentences([4, 2, 3], 9)
        sample = batch(task.source_dictionary, sources, targets)
        sample["chunk_tags"] = sample["net_input"]["chunk_tags"] = GOLD
        criterion = CRITERION_REGISTRY["syntax_cross_entropy"](
            task, False, 0.0, 0, False, [ChunkObjective(1, 1)]
        )
        with pytest.raises(UserError, match="give --arch bi_scale_rnn"):
            criterion(model, sample)
