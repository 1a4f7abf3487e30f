"""Weights and parts of checkpoints that programs count on, refused where any program loads them."""

from collections import Counter, OrderedDict

import numpy as np
import pytest
import torch
from commands import fairseq, refuse
from small_models import build, save_checkpoint, write_dictionaries
from translations import refused

from syntax_nmt.cli import main
from syntax_nmt.errors import UserError
from syntax_nmt.inference.loading import load

SUM = (1, "loss", "SumMeter", {"sum": 1.0})
EMBEDDING = "encoder.embed_tokens.weight"


def metrics(*meters):
    """A state of fairseq's figures."""
    return {"metrics": {"a": list(meters)}}


@pytest.fixture
def checkpoint(tmp_path):
    """Gives the path of a checkpoint after a change of its content."""
    data = write_dictionaries(tmp_path)

    def changed(change):
        model, task, cfg = build(data, "dependency_transformer")
        path = save_checkpoint(data / "model.pt", model, cfg)
        state = {**torch.load(path), "task_state": task.state_dict()}
        change(state)
        torch.save(state, path)
        return path

    return changed


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_a_training_that_has_diverged_is_named(checkpoint, number):
    path = checkpoint(lambda state: state["model"][EMBEDDING][3, 0].fill_(float(number)))
    size = torch.load(path)["model"][EMBEDDING].numel()
    message = refused("average", path, "--output", path.with_name("mean.pt"))
    assert f"{path}: 1 of {size} numbers of {EMBEDDING} are not finite" in message


@pytest.mark.parametrize("part", ["model", "extra_state"])
def test_numbers_that_stand_once_are_not_repeated(checkpoint, part):
    """A file of some bytes would ask for terabytes where its numbers are checked or copied."""
    huge = torch.zeros(1).expand(10**6, 10**6)
    path = checkpoint(lambda state: state[part].update({EMBEDDING: huge}))
    message = refused("average", path, "--output", path.with_name("mean.pt"))
    assert f"its {part} has a tensor of 1000000000000 numbers" in message


def test_an_embedding_without_dimensions(checkpoint, prepared):
    """As of a training that goes on from it, whose vocabularies are compared first."""
    path = checkpoint(lambda state: state["model"].update({EMBEDDING: torch.tensor(1.0)}))
    program = fairseq("generate", path.parent, "--path", path, "-s", "src", "-t", "tgt")
    assert "the model knows 0 source tokens" in refuse(*program)


def test_a_vocabulary_of_as_many_other_tokens(checkpoint, tmp_path):
    """As of text that was prepared anew: each embedding would be that of another token."""
    path = checkpoint(lambda state: None)
    load(path, path.parent, tokenizer="space")  # its own
    dictionary = path.parent / "dict.tgt.txt"
    lines = dictionary.read_text("utf-8").splitlines(keepends=True)
    dictionary.write_text("".join(lines[::-1]), "utf-8")
    said = f"{path}: the model's target vocabulary is not that of the data, though both have "
    generate = fairseq("generate", path.parent, "--path", path, "-s", "src", "-t", "tgt")
    train = fairseq("train", path.parent, "--restore-file", path, "--save-dir", tmp_path / "new")
    train += ("--arch", "dependency_transformer", "-s", "src", "-t", "tgt", "--max-tokens", "99")
    for program in (generate, train):
        assert said in refuse(*program)
    with pytest.raises(UserError, match=said):
        load(path, path.parent, tokenizer="space")


def test_every_program_refuses_it(checkpoint, prepared, tmp_path):
    path = checkpoint(lambda state: state["model"][EMBEDDING][3, :2].fill_(float("nan")))
    trees = ("trees", path.parent, "--path", path, "--input", path, "--output", tmp_path / "out")
    assert "not finite" in refused(*trees)
    generate = fairseq("generate", path.parent, "--path", path, "-s", "src", "-t", "tgt")
    assert "not finite" in refuse(*generate)
    with pytest.raises(Exception, match="not finite"):
        load(path, path.parent, tokenizer="none", bpe="none")


def test_a_buffer_that_fairseq_never_sets_may_hold_anything(checkpoint):
    buffer = {"decoder.adaptive_softmax._float_tensor": torch.tensor([float("nan")])}
    path = checkpoint(lambda state: state["model"].update(buffer))
    main(["average", str(path), "--output", str(path.with_name("mean.pt"))])


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("extra_state", [1], "its extra_state is of type list, not dict"),
        ("extra_state", 3, "its extra_state is of type int, not dict"),
        ("optimizer_history", {}, "its optimizer_history is of type dict, not list"),
        ("optimizer_history", [1], "its optimizer_history[0] is of type int, not dict"),
        ("task_state", "text", "its task_state is of type str, not dict"),
        ("last_optimizer_state", [], "its last_optimizer_state is of type list, not dict"),
        ("criterion", 1.5, "its criterion is of type float, not dict"),
        ("model", OrderedDict(a=1), "a is no tensor with a name"),
        ("model", Counter(a=1), "holds no model of fairseq"),
        ("criterion", Counter(a=1), "its criterion holds a Counter"),
        ("anything", {"a": [None, {1: Counter()}]}, "its anything holds a Counter"),
        ("optimizer_history", [], "its optimizer_history is empty"),
        ("optimizer_history", [{"num_updates": "7"}], "[0].num_updates is '7', not a whole number"),
        ("optimizer_history", [{"num_updates": -1}], "[0].num_updates is -1, not a whole number"),
        ("optimizer_history", [{"lr_scheduler_state": 7}], "lr_scheduler_state is of type int"),
        ("last_optimizer_state", {"state": []}, "last_optimizer_state.state is of type list"),
        ("last_optimizer_state", {"state": {0: 1}}, "last_optimizer_state.state.0 is of type int"),
        ("last_optimizer_state", {"param_groups": [7]}, "param_groups[0] is of type int, not dict"),
        ("last_optimizer_state", {"loss_scale": "a"}, "loss_scale is 'a', not a number"),
        ("task_state", {"patience": 7}, "its task_state.patience is of type int, not dict"),
        ("task_state", {"patience": {"best": "a"}}, "patience.best is 'a', not a number"),
        (
            "task_state",
            {"vocabularies": {"source": 7}},
            "vocabularies.source is 7, not text",
        ),
        ("extra_state", {"train_iterator": 7}, "extra_state.train_iterator is of type int"),
        ("extra_state", {"train_iterator": {}}, "extra_state.train_iterator.epoch is missing"),
        ("extra_state", {"train_iterator": {"epoch": 2**40}}, "not a whole number from 0 to"),
        ("extra_state", {"train_iterator": {"epoch": 1, "shuffle": 3}}, "shuffle is 3, not a bool"),
        ("extra_state", {"previous_training_time": "1"}, "previous_training_time is '1', not a"),
        ("extra_state", {"best": torch.ones(2)}, "extra_state.best is Tensor, not a number"),
        ("extra_state", {"metrics": 7}, "extra_state.metrics is of type int, not dict"),
        ("extra_state", {"metrics": {"a": [7]}}, "metrics.a[0] is of type int, not list"),
        ("extra_state", metrics((1, "loss", "AverageMeter")), "a[0] has 3 entries, not 4"),
        ("extra_state", metrics((1, "loss", "time", {})), "is 'time', not the name of a meter"),
        ("extra_state", metrics((1, "loss", "SumMeter", {})), "metrics.a.loss.sum is missing"),
        ("extra_state", metrics(SUM, SUM), "extra_state.metrics.a.loss is there 2 times"),
    ],
)
def test_parts_of_other_types(checkpoint, part, value, message):
    path = checkpoint(lambda state: state.update({part: value}))
    assert message in refused("average", path, "--output", path.with_name("mean.pt"))


@pytest.mark.parametrize(
    ("name", "weight", "message"),
    [
        (EMBEDDING, torch.eye(3).to_sparse(), "is no dense tensor"),
        (EMBEDDING, torch.zeros(3, dtype=torch.complex64), "is no dense tensor"),
        (EMBEDDING, [1.0], "is no tensor"),
        (7, torch.zeros(1), "7 is no tensor with a name"),
    ],
)
def test_weights_that_are_none(checkpoint, name, weight, message):
    path = checkpoint(lambda state: state["model"].update({name: weight}))
    assert message in refused("average", path, "--output", path.with_name("mean.pt"))


def test_figures_that_trainings_save(checkpoint):
    """A number, a tensor of one, an array as BLEU has it, and none yet."""
    figures = [1.5, torch.tensor(2.0), np.array([3, 2, 1, 0]), np.float64(4.0), None]
    meters = [
        (10, f"m{place}", "AverageMeter", {"val": figure, "sum": figure or 0, "count": 1})
        for place, figure in enumerate(figures[:2] + figures[3:])
    ]
    meters.append((90, "bleu", "SumMeter", {"sum": figures[2], "round": None}))
    meters.append((90, "wall", "StopwatchMeter", {"sum": 0, "n": 0.0, "round": 0}))
    state = {"metrics": {"default": meters}, "train_iterator": {"epoch": 1, "shuffle": True}}
    path = checkpoint(lambda found: found.update(extra_state=state))
    main(["average", str(path), "--output", str(path.with_name("mean.pt"))])
