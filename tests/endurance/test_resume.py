"""A training killed at any moment and started again ends as if it had not been killed."""

import os
import random
import time

import pytest
import torch
from commands import fairseq, started
from forked_programs import finished, killed, refused, text_from
from methods import COMMON, METHODS, PLAIN, SHARED

from syntax_nmt.data.folder_lock import folder_lock

pytestmark = pytest.mark.dear

QUICK = "relation_rnn"
# Short sentences alone, which are quick; many are of one length, so that their order is drawn.
SHORT = (
    *("--max-source-positions", "13", "--max-target-positions", "13", "--batch-size", "8"),
    *("--required-batch-size-multiple", "1", "--disable-validation", "--num-workers", "0"),
)
SAVING = ("--save-interval-updates", "1", "--keep-interval-updates", "2", "--log-interval", "1")
UPDATES = 14
ITERATING = "Start iterating over samples"


def training(prepared, method, folder, *options):
    """The command of a training of a few epochs, with dropout."""
    sizes = ("--dropout", "0.2", "--max-update", str(UPDATES), "--save-dir", folder)
    return fairseq(
        "train", prepared.data, *METHODS[method].training, *COMMON, *SHORT, *sizes, *options
    )


def state_of(folder):
    """All of a checkpoint that decides how a training goes on."""
    state = torch.load(folder / "checkpoint_last.pt")
    history = state["optimizer_history"][-1]  # those before tell of the restarts
    iterator = state["extra_state"]["train_iterator"]
    return {"history": history, "iterator": iterator, "optimizer": state["last_optimizer_state"],
            "model": state["model"]}  # fmt: skip


def differences(actual, expected, name=""):
    """Names of what is not the same to the last bit."""
    if isinstance(expected, torch.Tensor):
        return [] if torch.equal(actual, expected) else [name]
    if isinstance(expected, dict):
        if list(actual) != list(expected):
            return [name]
        return [
            d for key in expected for d in differences(actual[key], expected[key], f"{name}.{key}")
        ]
    if isinstance(expected, list):
        return [d for pair in zip(actual, expected) for d in differences(*pair, name)]
    return [] if actual == expected else [name]


def after_updates(count):
    """When a run has made so many updates, or, for none, is about to make them."""
    return lambda log: ITERATING in log and log.count('"num_updates": ') >= count


def at_update(number):
    """When a training has made so many updates."""
    return lambda log: f'"num_updates": "{number}"' in log


@pytest.fixture(scope="module")
def uninterrupted(prepared, tmp_path_factory):
    """Gives where a method was trained without being killed."""
    folders = {}

    def folder_of(method, *options):
        key = (method, *options)
        if key not in folders:
            folder = tmp_path_factory.mktemp("uninterrupted")
            finished(training(prepared, method, folder, *SAVING, *options), folder / "log")
            folders[key] = folder
        return folders[key]

    return folder_of


def check_kill(prepared, uninterrupted, folder, method, updates, *options):
    whole = uninterrupted(method, *options)
    command = training(prepared, method, folder, *SAVING, *options)
    assert killed(command, folder / "log", at_update(updates))
    resumed = finished(command, folder / "log")
    assert f"@ {updates} updates" in resumed or f"@ {updates - 1} updates" in resumed
    assert "other options" not in resumed
    assert differences(state_of(folder), state_of(whole)) == []


def test_killed_in_the_middle_of_the_second_epoch(prepared, uninterrupted, tmp_path):
    check_kill(prepared, uninterrupted, tmp_path, QUICK, 9)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method_killed_with_several_batches_an_update(
    prepared, uninterrupted, tmp_path, method
):
    check_kill(prepared, uninterrupted, tmp_path, method, 7, "--update-freq", "2")


@pytest.mark.slow
def test_killed_with_data_in_several_folders(prepared, tmp_path):
    """fairseq goes through the folders epoch by epoch, and cuts new batches in each."""
    states = []
    for kills in (False, True):
        folder = tmp_path / str(kills)
        folder.mkdir()
        program, _, *options = training(prepared, "syntax_transformer", folder, *SAVING)
        command = (program, os.pathsep.join([str(prepared.data)] * 2), *options)
        if kills:
            assert killed(command, folder / "log", at_update(8))
        finished(command, folder / "log")
        states.append(state_of(folder))
    assert differences(*states) == []


@pytest.mark.slow
def test_a_hundred_kills(prepared, uninterrupted, tmp_path):
    """At random moments of trainings of all methods, one after another; `-s` shows the counts."""
    kills, trainings, moments = 0, 0, random.Random(1)
    while kills < 100:
        method = list(METHODS)[trainings % len(METHODS)]
        folder = tmp_path / str(trainings)
        folder.mkdir()
        command = training(prepared, method, folder, *SAVING)
        while killed(
            command,
            folder / "log",
            after_updates(moments.randint(0, UPDATES // 2)),
            moments.uniform(0, 0.1),
        ):
            kills += 1
        trainings += 1
        found = differences(state_of(folder), state_of(uninterrupted(method)))
        print(
            f"{kills} kills, {trainings} trainings; {method}: {len(found)} differences", flush=True
        )
        assert found == []


def test_a_half_written_checkpoint_is_completed(prepared, uninterrupted, tmp_path):
    """The last checkpoint is a copy, which a kill can leave unfinished."""
    whole = uninterrupted(QUICK)
    command = training(prepared, QUICK, tmp_path, *SAVING)
    killed(command, tmp_path / "log", at_update(9))
    last = tmp_path / "checkpoint_last.pt"
    newest = max(tmp_path.glob("checkpoint_*_*.pt"), key=lambda path: path.stat().st_mtime_ns)
    last.write_bytes(newest.read_bytes()[:100_000])
    assert newest.name in finished(command, tmp_path / "log")
    assert differences(state_of(tmp_path), state_of(whole)) == []


def test_a_finished_training_makes_no_update_more(prepared, uninterrupted):
    folder = uninterrupted(QUICK)
    before = (folder / "checkpoint_last.pt").read_bytes()
    log = finished(training(prepared, QUICK, folder, *SAVING), folder / "log")
    assert "nothing to do: 14 updates" in log
    assert ITERATING not in log  # a thread that prepares batches can abort the interpreter's end
    assert "other options" not in log
    assert (folder / "checkpoint_last.pt").read_bytes() == before


@pytest.mark.parametrize("reset", ["--reset-optimizer", "--restore-file"])
def test_updates_that_are_not_counted_on_are_no_end(prepared, uninterrupted, tmp_path, reset):
    """fairseq then counts from 0."""
    last = uninterrupted(QUICK) / "checkpoint_last.pt"
    command = training(prepared, QUICK, tmp_path, "--max-update", "2", "--reset-dataloader")
    options = ("--restore-file", last, "--reset-optimizer", "--reset-lr-scheduler")
    if reset == "--restore-file":
        state = torch.load(last)
        state["last_optimizer_state"] = None
        last = tmp_path / "without.pt"
        torch.save(state, last)
        options = ("--restore-file", last)
    log = finished((*command, *options, "--log-interval", "1"), tmp_path / "log")
    assert "nothing to do" not in log
    assert state_of(tmp_path)["history"]["num_updates"] == 2


def test_patience_counts_over_restarts(prepared, tmp_path):
    """Nothing is learnt, so that the validation after the first epoch stays the best."""
    still = ("--lr", "0", "--patience", "3", "--max-update", "0", "--max-epoch", "9")
    lazy = ("--save-interval-updates", "0", "--skip-invalid-size-inputs-valid-test")
    options = [option for option in SHORT if option != "--disable-validation"]
    common = (*METHODS["syntax_transformer"].training, *COMMON, *options, *SAVING, *still, *lazy)
    updates = []
    for kills in (False, True):
        folder = tmp_path / str(kills)
        folder.mkdir()
        command = fairseq("train", prepared.data, *common, "--save-dir", folder)
        if kills:
            assert killed(command, folder / "log", lambda log: log.count('"valid_loss"') >= 3)
        finished(command, folder / "log")
        updates.append(state_of(folder)["history"]["num_updates"])
        again = finished(command, folder / "log")
        assert "nothing to do: --patience 3 ended the training" in again
    assert updates[0] == updates[1]


def test_options_of_another_training_are_named(prepared, uninterrupted):
    """A folder that was used before, given to a new training by mistake."""
    folder = uninterrupted(QUICK)
    others = ("--label-smoothing", "0.25", "--dropout", "0.25")
    log = finished(training(prepared, QUICK, folder, *SAVING, *others), folder / "log")
    assert "resumed with other options: --dropout 0.25 (there: 0.2); for a new" in log
    assert "resumed with other options: --label-smoothing 0.25 (there: 0.1); for a new" in log


@pytest.mark.parametrize(
    ("method", "begun", "said"),
    [
        ("dependency_transformer", "syntax_transformer",
         "is of another method: --supervised-layer is -1 (there: None): give this training a"),
        ("syntax_transformer", "dependency_transformer",
         "is of another method: --supervised-layer is None (there: -1)"),
        ("phrase_transformer+parsed", "phrase_transformer",
         "is of another method: --phrase-segmentation is parsed (there: ngram)"),
        ("bi_scale_rnn", "rnn_search_cgru", "is of another method: --bi-scale is True (there: "),
    ],
)  # fmt: skip
def test_the_folder_of_another_method_is_refused(prepared, uninterrupted, method, begun, said):
    """Also where that training has ended, so that there would be nothing to do."""
    folder = uninterrupted(begun)
    before = state_of(folder)
    log = refused(training(prepared, method, folder, *SAVING), folder / "log")
    assert f"checkpoint_last.pt {said}" in log
    assert differences(state_of(folder), before) == []


def test_weights_of_other_labels_are_refused(prepared, uninterrupted, tmp_path):
    """As many labels of other names load without a word, and mean something else."""
    folder = uninterrupted("bi_scale_rnn")
    known = (prepared.data / "dict.chunks.txt").read_text().split()
    turned = ("--chunk-tags", " ".join(reversed(known)))
    said = f"checkpoint_last.pt: its chunk type 1 is {known[0]}, that of the data folder's"
    resumed = training(prepared, "bi_scale_rnn", folder, *SAVING, *turned)
    assert said in refused(resumed, folder / "log")
    tuned = ("--finetune-from-model", folder / "checkpoint_last.pt", *turned)
    assert said in refused(
        training(prepared, "bi_scale_rnn", tmp_path, *SAVING, *tuned), tmp_path / "log"
    )


def test_the_folder_of_another_criterion_is_refused(prepared, uninterrupted, tmp_path):
    folder = uninterrupted("syntax_transformer")
    criterion = ("--criterion", "syntax_cross_entropy")
    other = training(prepared, "syntax_transformer", folder, *SAVING, *criterion)
    log = refused(other, folder / "log")
    assert "with LabelSmoothedCrossEntropyCriterion, and --criterion is SyntaxCrossEntropy" in log
    begun = ("--restore-file", folder / "checkpoint_last.pt", "--save-dir", tmp_path)
    finished((*other, *begun, "--reset-optimizer"), tmp_path / "log")


def test_one_training_a_folder(prepared, tmp_path):
    """And a killed one's goes on at once, although its loader of data lives for some seconds."""
    command = training(prepared, "syntax_transformer", tmp_path, *SAVING)
    with open(tmp_path / "log", "w") as log:
        # Not forked from the tests' server: its loader of data inherits what it has open.
        long = ("--max-update", "100000", "--num-workers", "1")
        first = started("-m", *command, *long, stdout=log, stderr=log)
    while first.poll() is None and not at_update(3)(text_from(tmp_path / "log", 0)):
        time.sleep(0.01)
    said = refused(command, tmp_path / "second")
    assert f"another process trains in {tmp_path}: wait for it or give another --save-dir" in said
    assert first.poll() is None
    first.kill()
    first.wait()
    finished(command, tmp_path / "second")
    other = training(prepared, "syntax_transformer", tmp_path / "b", *SAVING, "--max-update", "1")
    with folder_lock(tmp_path / "b", "busy"):
        refused(other, tmp_path / "log")
        finished((*other, "--no-save"), tmp_path / "log")


def test_a_disk_without_room_is_named_at_the_start(prepared, tmp_path, small_disk):
    folder = small_disk("200k") / "a"
    command = training(prepared, "syntax_transformer", folder, "--max-update", "1")
    assert "MB are free, and a checkpoint has more than" in refused(command, tmp_path / "log")


def test_begun_with_a_stock_transformer(prepared, tmp_path):
    """Its weights, and what it lacks from the random start; killed and started again, too."""
    tiny = ("embed-dim=64", "ffn-embed-dim=256", "layers=2", "attention-heads=4")
    sizes = [f"--{side}-{size}" for side in ("encoder", "decoder") for size in tiny]
    sizes += ["--encoder-normalize-before", "--decoder-normalize-before"]
    stock = fairseq(
        "train", prepared.data, *COMMON, *SHORT, "--arch", "transformer", SHARED, *PLAIN
    )
    finished((*stock, *sizes, "--max-update", "2", "--save-dir", tmp_path / "a"), tmp_path / "log")
    tuned = tmp_path / "b"
    still = ("--lr", "0", "--log-interval", "1", "--max-update", "3")
    command = training(
        prepared, "phrase_transformer", tuned, *SAVING, *still,
        "--finetune-from-model", tmp_path / "a" / "checkpoint_last.pt",
    )  # fmt: skip
    killed(command, tmp_path / "log", at_update(2))
    log = finished(command, tmp_path / "log")
    assert "not in the checkpoint" not in log, "now it goes on from its own"
    begun = text_from(tmp_path / "log", 0)
    assert begun.count("not in the checkpoint, so they begin at random: encoder.layers.*.") == 1
    start, end = state_of(tmp_path / "a")["model"], state_of(tuned)["model"]
    assert differences({name: end[name] for name in start}, dict(start)) == []
    assert all("phrase" in name for name in set(end) - set(start))
