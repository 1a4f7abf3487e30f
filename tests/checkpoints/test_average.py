"""The mean of checkpoints, against the mean of their weights one by one."""

import pytest
import torch
from commands import refuse, succeed
from fairseq import checkpoint_utils
from small_models import batch, build, random_sentences, save_checkpoint, write_dictionaries

from syntax_nmt.cli import main

ARCH = "phrase_transformer_tiny"


@pytest.fixture
def folder(tmp_path):
    return write_dictionaries(tmp_path)


def write(folder, names, *arguments, seed=1):
    """Checkpoints of one model with other weights in each; gives the weights."""
    torch.manual_seed(seed)
    model, _, cfg = build(folder, ARCH, "--share-all-embeddings", *arguments)
    weights = []
    for name in names:
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_()
        save_checkpoint(folder / name, model, cfg)
        weights.append({key: value.clone() for key, value in model.state_dict().items()})
    return weights


def averaged(folder, *arguments):
    main(["average", *map(str, arguments), "--output", str(folder / "averaged.pt")])
    return torch.load(folder / "averaged.pt")


def check_mean(state, weights):
    assert set(state["model"]) == set(weights[0])
    for name, mean in state["model"].items():
        expected = sum(each[name].double() for each in weights) / len(weights)
        torch.testing.assert_close(mean.double(), expected, atol=1e-6, rtol=1e-6, msg=name)


def test_last_by_updates(folder):
    """Ordered by number, not as text; those after epochs, the best and the last do not count."""
    names = ["checkpoint_1_900.pt", "checkpoint_1_1000.pt", "checkpoint_2_1100.pt"]
    weights = write(folder, [*names, "checkpoint3.pt", "checkpoint_best.pt", "checkpoint_last.pt"])
    check_mean(averaged(folder, folder, "--last", 2), weights[1:3])
    check_mean(averaged(folder, folder, "--last", 3), weights[:3])


def test_last_by_epochs(folder):
    weights = write(folder, ["checkpoint9.pt", "checkpoint10.pt", "checkpoint_1_900.pt"])
    check_mean(averaged(folder, folder, "--last", 1, "--by", "epochs"), weights[1:2])


def test_named_files_load_and_translate(folder):
    weights = write(folder, ["a.pt", "b.pt", "c.pt"])
    state = averaged(folder, folder / "a.pt", folder / "c.pt")
    check_mean(state, [weights[0], weights[2]])
    assert state["last_optimizer_state"] is None
    shared = {
        state["model"][f"{side}.embed_tokens.weight"].data_ptr() for side in ("encoder", "decoder")
    }
    assert len(shared) == 1
    models, _, task = checkpoint_utils.load_model_ensemble_and_task([str(folder / "averaged.pt")])
    sample = batch(task.source_dictionary, random_sentences([4]), random_sentences([5]))
    assert models[0](**sample["net_input"])[0].isfinite().all()


def test_moving_averages_of_the_first_are_left_out(folder):
    write(folder, ["a.pt", "b.pt"])
    first = torch.load(folder / "a.pt")
    first["extra_state"] = {"ema": dict(first["model"]), "val_loss": 1.0}
    torch.save(first, folder / "a.pt")
    state = averaged(folder, folder / "a.pt", folder / "b.pt")
    assert "ema" not in state["extra_state"]
    assert state["extra_state"]["val_loss"] == 1.0


def test_half_precision_is_summed_in_full(folder):
    """Sums of float16 would overflow."""
    write(folder, ["a.pt", "b.pt"])
    for name in ("a.pt", "b.pt"):
        state = torch.load(folder / name)
        for weight in state["model"].values():
            weight.fill_(50000.0)
        state["model"] = {key: weight.half() for key, weight in state["model"].items()}
        state["model"]["steps"] = torch.tensor(7)
        torch.save(state, folder / name)
    model = averaged(folder, folder / "a.pt", folder / "b.pt")["model"]
    assert model.pop("steps") == 7
    for weight in model.values():
        assert weight.dtype == torch.float32
        assert torch.equal(weight, torch.full_like(weight, 50000.0).half().float())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["{f}", "--last", "3"],
            r"has 2 checkpoints by updates, --last 3 .* with "
            "--save-interval-updates N",
        ),
        (["{f}", "--last", "3", "--by", "epochs"], "train without --no-epoch-checkpoints"),
        (["{f}"], "--last N"),
        (["{f}/a.pt", "{f}/nowhere.pt"], "nowhere.pt"),
        (["{f}/a.pt", "{f}/../{d}/a.pt"], "/a.pt: is given twice"),
        (["{f}/a.pt", "--last", "2"], "--last 2 takes one folder"),
        (["{f}/a.pt", "{f}/wider.pt"], r"encoder.layers.0.fc1.bias is 48, in .*a.pt it is 32"),
        (["{f}/a.pt", "{f}/dict.src.txt"], "dict.src.txt: is no checkpoint"),
    ],
)
def test_refusals(folder, arguments, message):
    write(folder, ["a.pt", "checkpoint_1_10.pt", "checkpoint_1_20.pt"])
    write(folder, ["wider.pt"], "--encoder-ffn-embed-dim=48")
    with pytest.raises(SystemExit, match=message):
        averaged(folder, *(argument.format(f=folder, d=folder.name) for argument in arguments))
    assert not (folder / "averaged.pt").exists()


def test_an_input_is_never_overwritten(folder):
    write(folder, ["averaged.pt", "b.pt"])
    before = (folder / "averaged.pt").read_bytes()
    with pytest.raises(SystemExit, match="is the input as well"):
        averaged(folder, folder / "averaged.pt", folder / "b.pt")
    assert (folder / "averaged.pt").read_bytes() == before


def test_another_model_is_refused_by_the_command(folder):
    write(folder, ["a.pt"])
    model, _, cfg = build(folder, "syntax_transformer_tiny")
    save_checkpoint(folder / "plain.pt", model, cfg)
    command = ("syntax_nmt.cli", "average", folder / "a.pt", folder / "plain.pt")
    assert "is missing" in refuse(*command, "--output", folder / "x.pt")
    done = succeed(*command[:3], "--output", folder / "x.pt")
    assert f"the mean of {folder / 'a.pt'}" in done.stdout


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        (lambda state: state["cfg"]["task"].update(source_lang="de"), "source language"),
        (lambda state: state["task_state"]["vocabularies"].update(target="f3"), "vocabulary"),
        (lambda state: setattr(state["cfg"]["model"], "arch", "pascal"), "architecture"),
        (lambda state: state["cfg"]["common"].update(seed=2), "--seed"),
        (lambda state: setattr(state["cfg"]["model"], "parent_scaled_layer", 0), "--parent-scaled"),
    ],
)
def test_weights_of_the_same_shapes_of_another_training(folder, changed, what):
    """A mean of models of two directions would translate neither."""
    model, task, cfg = build(folder, ARCH)
    for name, change in (("a.pt", None), ("b.pt", changed), ("old.pt", None)):
        state = torch.load(save_checkpoint(folder / name, model, cfg))
        if name != "old.pt":
            state["task_state"] = task.state_dict()
        if change is not None:
            change(state)
        torch.save(state, folder / name)
    averaged(folder, folder / "a.pt", folder / "old.pt")
    with pytest.raises(SystemExit, match=f"b.pt: has another {what}.* than .*a.pt: average"):
        averaged(folder, folder / "a.pt", folder / "b.pt")
