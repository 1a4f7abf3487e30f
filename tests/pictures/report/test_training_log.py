"""Logs of fairseq-train, written by fairseq's own classes, whole and broken ones."""

import gzip
import math

import pytest
from report_files import EPOCH, LogWriter, loss_after
from translations import write

from syntax_nmt.data import text_files
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.training_log import (
    INTERVAL,
    TRAIN,
    quantities,
    read_training_log,
    training_curve,
    training_figures,
    validation_curve,
)

FACTS = [
    "2026-01-01 | INFO | fairseq_cli.train | {'model': Namespace(arch='rnn_tiny', seed=1)}",
    "2026-01-01 | INFO | fairseq_cli.train | model: SyntaxRNNModel",
    "2026-01-01 | INFO | fairseq_cli.train | criterion: ChunkCrossEntropyCriterion",
    "2026-01-01 | INFO | fairseq_cli.train | num. shared model params: 7,522,304 (num. trained: 7)",
]
OPEN = text_files.open_bytes
DONE = "2026-01-01 | INFO | fairseq_cli.train | done training in 42.5 seconds"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "train.log"
    write(path, FACTS)
    with LogWriter(path) as writer:
        writer.train(1, 3, uas=90.25)
    return path


def curve(found, subset, quantity="loss"):
    return {row.updates: row.values[quantity] for row in found.series[subset]}


def test_losses(log):
    found = read_training_log(log)
    expected = {updates: loss_after(updates) for updates in (100, 200, 300)}
    assert curve(found, TRAIN) == pytest.approx(expected, abs=1e-3)
    valid = {updates: loss + 1 for updates, loss in expected.items()}
    assert curve(found, "valid") == pytest.approx(valid, abs=1e-3)
    inner = {updates: loss_after(updates) for updates in range(50, 301, 50)}
    assert curve(found, INTERVAL) == pytest.approx(inner, abs=1e-3)
    assert curve(found, "valid", "uas") == {100: 90.25, 200: 90.25, 300: 90.25}
    assert [row.epoch for row in found.series["valid"]] == [1, 2, 3]
    assert (found.validation, found.last.updates, found.best().updates) == ("valid", 300, 300)


def test_figures(log):
    figures = training_figures(read_training_log(log))
    assert figures.architecture == "rnn_tiny"
    assert figures.model == "SyntaxRNNModel"
    assert figures.criterion == "ChunkCrossEntropyCriterion"
    assert figures.parameters == 7522304
    assert (figures.epochs, figures.updates, figures.seconds) == (3, 300, 150)
    assert not figures.finished
    write(log.with_name("done.log"), [*log.read_text().splitlines(), DONE])
    assert training_figures(read_training_log(log.with_name("done.log"))).finished


def test_quantities_are_losses_and_accuracies(log):
    found = quantities({"ours": [read_training_log(log)]})
    assert list(found) == ["loss", "nll_loss", "uas"]
    assert found["uas"].endswith("%")


def test_resumed_training_continues_from_its_checkpoint(log):
    with LogWriter(log) as writer:
        writer.say("Loaded checkpoint x/checkpoint_last.pt (epoch 3 @ 200 updates)")
        writer.train(3, 4, shift=0.25)
    found = read_training_log(log)
    shifts = {updates: loss - loss_after(updates) for updates, loss in curve(found, TRAIN).items()}
    assert shifts == pytest.approx({100: 0, 200: 0, 300: 0.25, 400: 0.25}, abs=1e-3)
    assert list(curve(found, INTERVAL)) == list(range(50, 401, 50))
    # Of both starts, although the clock of the second does not begin below that of the first.
    assert training_figures(found).seconds == 100 + 200


def test_a_start_from_a_checkpoint_forgets_what_came_after_it(log):
    with LogWriter(log) as writer:
        writer.say("Loaded checkpoint x/checkpoint_last.pt (epoch 3 @ 200 updates)")
    assert read_training_log(log).last.updates == 200


def test_a_second_start_without_a_checkpoint_replaces_the_first(log):
    with LogWriter(log) as writer:
        writer.train(1, 1, shift=0.5)
    found = read_training_log(log)
    assert curve(found, TRAIN) == pytest.approx({100: loss_after(100) + 0.5}, abs=1e-3)
    assert list(curve(found, INTERVAL)) == [50, 100]
    assert list(curve(found, "valid")) == [100]


def test_a_line_that_is_being_written_is_left_aside(log):
    text = log.read_text(encoding="utf-8")
    cut = text.rindex("num_updates 300") + len("num_updates 3")
    log.write_text(text[:cut], encoding="utf-8")
    found = read_training_log(log)
    assert list(curve(found, TRAIN)) == [100, 200]
    assert list(curve(found, "valid")) == [100, 200, 300]


def test_a_line_may_end_while_the_log_is_read(log, monkeypatch):
    text = log.read_text(encoding="utf-8")
    cut = text.rindex("num_updates 300") + len("num_updates 3")
    log.write_text(text[:cut], encoding="utf-8")
    found = []

    def open_bytes(path):
        if found:
            log.write_text(text, encoding="utf-8")
        found.append(path)
        return OPEN(path)

    monkeypatch.setattr(text_files, "open_bytes", open_bytes)
    assert list(curve(read_training_log(log), TRAIN)) == [100, 200]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_line_may_be_cut_inside_a_character(log, ending):
    before, content = read_training_log(log).series, log.read_bytes() + "example: 猫".encode()[:-1]
    cut = log.with_name(f"cut.log{ending}")
    cut.write_bytes(gzip.compress(content) if ending else content)
    assert read_training_log(cut).series == before
    cut.write_bytes(gzip.compress(content + b"\n") if ending else content + b"\n")
    with pytest.raises(UserError, match=rf"{cut.name}:{content.count(10) + 1}: not UTF-8"):
        read_training_log(cut)


def test_a_line_cut_off_by_a_crash_spoils_nothing(log):
    lines = log.read_text(encoding="utf-8").splitlines()
    with LogWriter(log) as writer:
        writer.train(4, 4)
    rest = log.read_text(encoding="utf-8").splitlines()[len(lines) :]
    broken = lines[-1][: lines[-1].index("num_updates") + 14]
    write(log, [*lines[:-1], broken + rest[0], *rest[1:]])
    found = read_training_log(log)
    assert list(curve(found, TRAIN)) == [100, 200, 400]


def test_values_that_are_not_finite(tmp_path):
    with LogWriter(tmp_path / "nan.log") as writer:
        writer.train(1, 1)
        writer.train(2, 2, shift=math.nan, uas=50.0)
    found = read_training_log(tmp_path / "nan.log")
    assert training_figures(found).not_finite == ("loss", "nll_loss", "ppl")
    assert [updates for updates, _ in training_curve(found, "loss")] == [50, 100]
    assert [updates for updates, _ in validation_curve(found, "uas")] == [200]
    assert found.best().updates == 100


def test_long_curves_are_thinned_out_but_reach_the_end(tmp_path):
    with LogWriter(tmp_path / "long.log") as writer:
        writer.train(1, 1001)
    found = read_training_log(tmp_path / "long.log")
    points = validation_curve(found, "loss")
    assert 100 < len(points) < 310
    assert points[-1][0] == 1001 * EPOCH


def test_training_curve_has_intervals_where_epochs_are_few(tmp_path):
    for epochs, first in ((2, 50), (6, 100)):
        path = tmp_path / f"{epochs}.log"
        with LogWriter(path) as writer:
            writer.train(1, epochs)
        assert training_curve(read_training_log(path), "loss")[0][0] == first


def test_compressed_logs_and_carriage_returns(log):
    text = log.read_text(encoding="utf-8")
    packed = log.with_name("train.log.gz")
    with gzip.open(packed, "wt", encoding="utf-8") as stream:
        stream.write("epoch 001:   0%|     | 0/100\r" + text.replace("\n", "\r\n"))
    assert read_training_log(packed).series == read_training_log(log).series


@pytest.mark.parametrize("text", ["", "\n", "INFO | train | hello\n"])
def test_a_log_without_figures_is_refused(tmp_path, text):
    path = tmp_path / "empty.log"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"empty\.log: no losses of a training: .*fairseq-train"):
        read_training_log(path)
