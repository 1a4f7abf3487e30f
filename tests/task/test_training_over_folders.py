"""Trainings that read several folders by turns, with every kind of annotation."""

import json
import math
import os
import shutil
from pathlib import Path

import pytest
import torch
from commands import USER_DIR, succeed
from cut_corpus import run_preprocess

from syntax_nmt.cli import main
from syntax_nmt.preparation.binarizing import binarize
from syntax_nmt.preparation.training_commands import named_method, train_command
from syntax_nmt.preparation.training_data import TrainingData
from syntax_nmt.preparation.training_settings import training_settings

HALF = 150


@pytest.fixture(scope="module")
def shards(prepared, tmp_path_factory):
    """Two halves of the built-in corpus, with the dictionaries and the labels of the whole."""
    top = tmp_path_factory.mktemp("halves")
    folders = []
    for number in range(2):
        folder = top / f"part{number}"
        for kind in ("words", "pieces"):
            (folder / kind).mkdir(parents=True)
            for path in (prepared.folder / kind).glob("train.*"):
                blank = "\n\n" if path.suffix == ".conllu" else "\n"
                entries = path.read_text().removesuffix(blank).split(blank)
                part = entries[number * HALF : (number + 1) * HALF]
                (folder / kind / path.name).write_text(blank.join([*part, ""]))
            if number == 0:
                for path in (prepared.folder / kind).glob("valid.*"):
                    shutil.copy(path, folder / kind)
        prefixes = {"trainpref": str(folder / "pieces/train")}
        if number == 0:
            prefixes["validpref"] = str(folder / "pieces/valid")
        dictionaries = [
            *(f"--{side}dict={prepared.data}/dict.{lang}.txt"
              for side, lang in (("src", "src"), ("tgt", "tgt"))),
        ]  # fmt: skip
        run_preprocess(folder, "-s=src", "-t=tgt", *dictionaries, **prefixes)
        binarize(
            "src", "tgt", folder / "data-bin", words=folder / "words", features="upos,deprel",
            labels=prepared.data, report=lambda line: None, **prefixes,
        )  # fmt: skip
        folders.append(folder / "data-bin")
    return folders


def joined(shards):
    return Path(os.pathsep.join(map(str, shards)))


def training(shards, method, save_dir, *more):
    """The command that `options --training` prints, on the CPU and with small batches."""
    data = TrainingData.of(joined(shards))
    command = train_command(data, named_method(data, method), Path(USER_DIR), save_dir)
    program = ("fairseq_cli.train", *command[1:], "--cpu", "--num-workers=0", "--max-tokens=1000")
    return (
        *program,
        "--update-freq=1",
        "--validate-interval=1",
        "--no-progress-bar",
        "--log-format=simple",
        *more,
    )


def checkpoint(save_dir):
    return torch.load(save_dir / "checkpoint_last.pt", weights_only=False)


@pytest.mark.dear
@pytest.mark.parametrize("method", ["features", "bi_scale", "tree2seq", "dbsa"])
def test_every_kind_of_annotation(shards, tmp_path, method):
    """Two epochs, each of a folder; the validation text stands in the first."""
    succeed(*training(shards, method, tmp_path, "--max-epoch=2", "--max-update=0"))
    state = checkpoint(tmp_path)["extra_state"]
    assert state["train_iterator"]["epoch"] >= 3
    assert math.isfinite(state["val_loss"])


@pytest.mark.dear
def test_resumed_in_the_middle_of_the_second_folder(shards, tmp_path):
    """The weights are those of an undisturbed training, the third epoch on the first folder."""
    often = ("--save-interval-updates=1", "--keep-interval-updates=1", "--max-epoch=0")
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    succeed(*training(shards, "gcn", whole, *often, "--max-update=16"))
    succeed(*training(shards, "gcn", broken, *often, "--max-update=8"))
    state = checkpoint(broken)["extra_state"]["train_iterator"]
    assert (state["epoch"], state["iterations_in_epoch"] > 0) == (2, True), state
    succeed(*training(shards, "gcn", broken, *often, "--max-update=16"))
    assert checkpoint(whole)["extra_state"]["train_iterator"]["epoch"] >= 3
    expected = checkpoint(whole)["model"]
    found = checkpoint(broken)["model"]
    assert all(torch.equal(expected[name], found[name]) for name in expected)


def test_options_and_inspect_know_all_folders(shards, capsys):
    data = TrainingData.of(joined(shards))
    assert data.pairs == 2 * HALF
    assert (data.data_bin, list(data.data_bins)) == (shards[0], shards)
    main(["options", "--training", str(joined(shards)), "baseline"])
    said = capsys.readouterr().out
    assert f"fairseq-train {joined(shards)}" in said
    assert f"fairseq-generate {shards[0]}" in said
    words = said.split()
    main(["options", "--training", str(shards[0]), "baseline"])
    of_one = capsys.readouterr().out.split()
    epochs = [int(each[each.index("--max-epoch") + 1]) for each in (words, of_one)]
    assert epochs[0] < 2 * epochs[1]  # twice as many pairs, and an epoch is one folder
    assert epochs[0] == 2 * training_settings(2 * HALF, gpu=False).epochs
    main(["inspect", str(joined(shards)), "--samples", "1"])
    said = capsys.readouterr().out
    assert all(f"{folder}\n" in said for folder in shards)
    assert "valid, sentence" in said
    main(["inspect", str(joined(shards)), "--json", "-"])
    found = json.loads(capsys.readouterr().out)["folders"]
    numbers = [[text["sentences"] for text in each["texts"]] for each in found]
    assert numbers == [[150, 150, 20, 20], [150, 150]]
