"""Runs: their keys, and choices by validation; packed records say what they said as files."""

import json
import lzma
from pathlib import Path
from threading import Thread

import pytest
from nonempty import some

pytest.importorskip("jsonschema", reason="the extra `experiments` is not installed")
from declared import declaration, runs_of, write_record, write_test_set
from translations import generated, noisy, sentences, write

from experiments.corpus import chosen_pairs, plan_control, plan_data, prepare, unused_pairs
from experiments.measured_table import measure, tried
from experiments.records import Records
from experiments.runs import needed, recorded
from experiments.table_files import write_table
from experiments.training import RunJob
from syntax_nmt.data.folder_lock import folder_lock
from syntax_nmt.errors import UserError


def keys(tmp_path, declared):
    return {
        row.system.name: [run.key for run in row.runs] for row in runs_of(tmp_path, declared).rows()
    }


def test_a_key_is_of_what_figures_depend_on(tmp_path):
    before = keys(tmp_path, declaration())
    assert len({key for found in before.values() for key in found}) == 6
    declared = declaration()
    family = declared["families"]["transformer"]
    family["systems"]["heads"].update(label="Heads", published="", figures=[])
    family["systems"]["phrases"]["options"] += "  "
    declared["seeds"] = [2, 1, 3]
    declared["evaluation"]["bins"] = [10]
    after = keys(tmp_path, declared)
    assert after["stock"][:2] == before["stock"][::-1]
    assert after["phrases"][:2] == before["phrases"][::-1]
    assert not set(after["heads"]) & set(before["heads"])  # its further figure has gone


def test_a_system_may_prepare_more(tmp_path):
    """Then its data are its own, and so are those of its control; the others' stay."""
    declared, before = declaration(), keys(tmp_path, declaration())
    systems = declared["families"]["transformer"]["systems"]
    systems["features"] = {"options": "--arch f", "prepare": "--features upos"}
    systems["control"] = {**systems["features"], "control": "chain"}
    rows = {row.system.name: row.runs for row in runs_of(tmp_path, declared).rows()}
    assert {name: [run.key for run in rows[name]] for name in before} == before
    data = {name: runs[0].data for name, runs in rows.items()}
    assert data["features"][0]["data"]["prepare"] == "--vocab-size 300 --features upos"
    assert data["features"][0]["key"] != data["stock"][0]["key"]
    assert data["control"][0] == data["features"][0]
    assert data["control"][1]["control"]["of"] == data["features"][0]["key"]


def test_a_control_has_data_of_its_own(tmp_path):
    declared = declaration()
    systems = declared["families"]["transformer"]["systems"]
    for kind in ("borrowed", "chain", "dummy", "majority"):
        systems[kind] = {**systems["heads"], "label": kind, "control": kind}
    rows = {row.system.name: row.runs for row in runs_of(tmp_path, declared).rows()}
    before = keys(tmp_path, declaration())
    assert {name: [run.key for run in rows[name]] for name in before} == before
    (family,) = {run.plan["data"] for name in before for run in rows[name]}
    data = {name: [run.plan["data"] for run in runs] for name, runs in rows.items()}
    assert len({family, *data["borrowed"], *data["chain"]}) == 4  # a chain is not drawn
    assert len({family, *data["dummy"], *data["majority"]}) == 3  # nor are these
    for run in rows["borrowed"]:
        assert [plan["key"] for plan in run.data] == [family, run.plan["data"]]
        assert run.data[1]["control"]["seed"] == run.plan["seed"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("families", "transformer", "training"), "--max-update 20"),
        (("evaluation", "generate"), "--beam 5"),
        (("evaluation", "average"), 3),
        (("data", "prepare"), "--vocab-size 400"),
    ],
)
def test_another_experiment_has_other_keys(tmp_path, path, value):
    declared = inside = declaration()
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    before, after = keys(tmp_path, declaration()), keys(tmp_path, declared)
    assert all(not set(before[name]) & set(after[name]) for name in some(before))


def with_grid():
    declared = declaration()
    family = declared["families"]["transformer"]
    family["grid"] = {"--lr": ["1e-3", "1e-2"], "--dropout": [0.1, 0.3]}
    family["systems"]["phrases"]["like"] = "heads"
    family["systems"]["best"] = {"best_of": ["heads", "phrases"]}
    return declared


def test_settings_and_systems_are_chosen_by_validation(tmp_path):
    runs = runs_of(tmp_path, with_grid())
    trials = list(runs.trials())
    assert [run.name for run in trials] == ["transformer.stock.1"] * 4 + ["transformer.heads.1"] * 4
    assert all(row.trained is None or row.setting is None for row in runs.rows())
    assert not list(runs.candidates())

    for place, run in enumerate(trials[:-1]):
        write_record(runs, run, validation_nll=5.0 - (place in (2, 5, 6)))
    rows = {row.system.name: row for row in runs.rows()}
    assert rows["stock"].setting == "--lr 1e-2 --dropout 0.1"
    assert rows["heads"].setting is None  # the last point is missing
    write_record(runs, trials[-1], validation_nll=5.0)
    rows = {row.system.name: row for row in runs.rows()}
    assert rows["heads"].setting == "--lr 1e-3 --dropout 0.3"  # the first of equals
    assert rows["phrases"].setting == rows["heads"].setting
    assert rows["best"].trained is None

    # The chosen trial is the first seed's run; nothing is made twice.
    assert rows["heads"].runs[0].key == trials[5].key
    candidates = list(runs.candidates())
    assert [run.name for run in candidates] == ["transformer.heads.1", "transformer.phrases.1"]
    write_record(runs, candidates[1], validation_nll=3.5)
    best = next(row for row in runs.rows() if row.system.name == "best")
    assert best.trained.name == "phrases"
    taken = [(each.run, each.chosen) for each in tried(runs, list(runs.rows()))]
    assert taken[-2:] == [("transformer.heads.1", False), ("transformer.phrases.1", True)]
    assert sum(chosen for _, chosen in taken[:-2]) == 2  # a setting for each tuned system
    assert [run.key for run in best.runs] == [
        run.key for run in {r.system.name: r for r in runs.rows()}["phrases"].runs
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"key": "k', r"json:1: is not JSON .*: give the whole record"),
        ("[]", r"is not the record of transformer\.stock\.1: remove"),
        ('{"key": "other"}', r"is not the record of transformer\.stock\.1: remove"),
    ],
)
def test_a_damaged_record_is_named(tmp_path, content, message):
    runs = runs_of(tmp_path, declaration())
    run = next(iter(runs.rows())).runs[0]
    write_record(runs, run)
    runs.records.file(run.name, run.key).write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        runs.record(run)


def test_a_training_that_diverged_is_chosen_last(tmp_path):
    declared = declaration()
    declared["families"]["transformer"]["grid"] = {"--lr": [1, 2]}
    runs = runs_of(tmp_path, declared)
    for run, nll in zip(list(runs.trials())[:2], (None, 7.0)):
        write_record(runs, run, validation_nll=nll)
    assert next(runs.rows()).setting == "--lr 2"
    found = [(each.setting, each.validation_nll) for each in tried(runs, list(runs.rows()))]
    assert found[:2] == [("--lr 1", None), ("--lr 2", 7.0)]


def test_a_record_is_known_by_its_key(tmp_path):
    runs = runs_of(tmp_path, declaration())
    row = next(iter(runs.rows()))
    write_record(runs, row.runs[0])
    file = runs.records.file(row.runs[0].name, row.runs[0].key)
    file.rename(file.with_name(f"transformer.older_name.1.{row.runs[0].key}.json"))
    assert runs.record(row.runs[0])["seed"] == 1
    assert runs.record(row.runs[1]) is None


def test_data_are_known_by_their_bytes(tmp_path):
    data = {"source": "en", "target": "de", "train": "t", "valid": "t", "tests": {"x": "t"}}
    data["prepare"] = "--vocab-size 300"
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        for lang in ("en", "de"):
            (tmp_path / folder / f"t.{lang}").write_text("a sentence\n")
    here = plan_data(data, tmp_path / "here", None)["key"]
    assert plan_data(data, tmp_path / "there", None)["key"] == here
    assert plan_data({**data, "every": 2}, tmp_path / "here", None)["key"] != here
    (tmp_path / "there" / "t.de").write_text("another\n")
    assert plan_data(data, tmp_path / "there", None)["key"] != here
    (tmp_path / "there" / "t.de").unlink()
    with pytest.raises(UserError, match=r"t\.de: no such file, nor with \.gz: check --data"):
        plan_data(data, tmp_path / "there", None)
    with pytest.raises(UserError, match="with --data"):
        plan_data(data, None, None)
    with pytest.raises(UserError, match="with --stanza"):
        plan_data({**data, "prepare": "--stanza-dir {stanza}"}, tmp_path / "here", None)


def test_models_behind_a_link_are_known_by_their_bytes(tmp_path):
    data = {**declaration()["data"], "prepare": "--stanza-dir {stanza}"}
    given, models = tmp_path / "given", tmp_path / "models"
    given.mkdir()
    models.mkdir()
    (given / "en").symlink_to(models)
    with pytest.raises(UserError, match="has no models"):
        plan_data(data, None, given)
    found = []
    for content in ("one", "another"):
        (models / "parser.pt").write_text(content)
        found.append(plan_data(data, None, given)["key"])
    assert found[0] != found[1]


@pytest.mark.parametrize("split", ["--split depth", "--split=depth"])
def test_a_generalisation_split_has_two_test_sets(split):
    """And has them prepared."""
    data = {"demo": "--train 5", "source": "src", "target": "tgt", "prepare": ""}
    assert plan_data(data, None, None)["tests"] == ["test"]
    left_out = {**data, "demo": f"--train 5 {split}"}
    assert plan_data(left_out, None, None)["tests"] == ["test", "left_out"]


def test_what_prepares_holds_on_to_the_lock(tmp_path, monkeypatch):
    """So that a new start waits for what a killed one left running."""
    held = []

    def run_program(module, arguments, log, output=None, keep_open=()):
        held.append((arguments[0], keep_open))
        (tmp_path / "prepared" / "data-bin").mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr("experiments.corpus.run_program", run_program)
    prepare(plan_data(declaration()["data"], None, None), tmp_path, 7)
    assert held == [("demo", [7]), ("prepare", [7])]


def test_each_test_set_is_translated_by_its_place(tmp_path, monkeypatch):
    done = {"checksum": "c", "tests": ["test", "left_out"]}
    (tmp_path / "done.json").write_text(json.dumps(done))
    (tmp_path / "data.json").write_text(json.dumps({"data": declaration()["data"]}))

    def run_program(module, options, log, output, keep_open):
        subset = options[options.index("--gen-subset") + 1]
        write(output, generated([f"of {subset}"], ["reference"], ["source"]))

    monkeypatch.setattr("experiments.training.run_program", run_program)
    job = RunJob({"generate": "--beam 4"}, tmp_path, tmp_path, "cpu", 7)
    found = [(name, list(lines)) for name, lines in job.translations(tmp_path / "model.pt")]
    assert found == [("test", ["of test"]), ("left_out", ["of test1"])]


def test_a_control_of_each_test_set_has_its_name(tmp_path, monkeypatch):
    """`prepare` calls the second one test1; the corpus has names of its own. All have one seed."""
    made, seeds, words = [], set(), tmp_path / "family" / "prepared" / "words"

    def run_program(module, arguments, log, output=None, keep_open=()):
        if arguments[0] == "control":
            made.append([Path(name).name for name in (arguments[-3], arguments[-1])])
            seeds.add(arguments[arguments.index("--seed") + 1])

    monkeypatch.setattr("experiments.corpus.run_program", run_program)
    words.mkdir(parents=True)
    (tmp_path / "family" / "corpus").mkdir()
    for name in ("train", "valid", "test", "test1"):
        (words / f"{name}.src.conllu").touch()
    data = {**declaration()["data"], "demo": "--split depth"}
    plan = plan_control({**plan_data(data, None, None), "key": "family"}, "borrowed", 7)
    (tmp_path / "control" / "prepared" / "data-bin").mkdir(parents=True)
    prepare(plan, tmp_path / "control", 7)
    assert made == [
        ["test.src.conllu", "test.src.conllu"],
        ["test1.src.conllu", "left_out.src.conllu"],
        ["train.src.conllu", "train.src.conllu"],
        ["valid.src.conllu", "valid.src.conllu"],
    ]
    assert seeds == {"7"}


def test_chosen_pairs():
    pairs = [("a " * n, "b " * m) for n, m in [(3, 1), (9, 2), (5, 5), (2, 8), (6, 6), (5, 1)]]
    assert chosen_pairs(pairs, {}) == pairs
    assert chosen_pairs(pairs, {"max_words": 6}) == [pairs[i] for i in (0, 2, 4, 5)]
    assert chosen_pairs(pairs, {"every": 2}) == pairs[::2]
    assert chosen_pairs(pairs, {"longest": 3}) == [pairs[i] for i in (1, 2, 4)]
    assert chosen_pairs(pairs, {"max_words": 6, "longest": 2}) == [pairs[i] for i in (2, 4)]


def test_unused_pairs_are_not_trained_on():
    """A test set of the training corpus shares neither side of a pair with what is trained on."""
    pairs = [(f"s{i % 15}", f"t{i}") for i in range(20)]
    chosen = pairs[::5]  # s0, s5, s10; s0 again is pair 15
    held_out = unused_pairs(pairs, chosen, 6)
    assert len(set(held_out)) == 6
    assert not {source for source, _ in held_out} & {source for source, _ in chosen}
    assert held_out == sorted(held_out, key=pairs.index)
    with pytest.raises(UserError, match="100 unused pairs"):
        unused_pairs(pairs, chosen, 100)


def test_the_time_is_that_of_the_same_system_or_of_its_family(tmp_path):
    runs = runs_of(tmp_path, declaration())
    rows = {row.system.name: row.runs for row in runs.rows()}
    assert runs.seconds(rows["stock"][1]) is None
    for run, seconds in ((rows["stock"][0], 60), (rows["heads"][0], 180)):
        write_record(runs, run, seconds=seconds)
    assert runs.seconds(rows["stock"][1]) == 60
    assert runs.seconds(rows["phrases"][0]) == 120
    write_record(runs, rows["phrases"][0], seconds=None)  # diverged at once
    assert runs.seconds(rows["phrases"][1]) == 120


REFERENCE = sentences(20, seed=1)


@pytest.fixture
def runs(tmp_path):
    runs = runs_of(tmp_path, declaration())
    write_test_set(runs, tmp_path, REFERENCE)
    for seed, run in enumerate(run for row in runs.rows() for run in row.runs):
        write_record(runs, run, noisy(REFERENCE, seed, 0.2))
    return runs


def table_of(folder):
    """A table's files, as a start of its own makes them."""
    runs = runs_of(folder, declaration())
    write_table(measure(runs, folder), folder)
    return {
        file.name: file.read_bytes() for file in folder.glob("table.*") if "yaml" not in file.name
    }


def test_packed_records_make_the_same_table(runs, tmp_path):
    before = table_of(tmp_path)
    runs.records.pack([run.key for run in recorded(runs)])
    assert {file.name for file in (tmp_path / "results").iterdir()} == {"records.jsonl.xz"}
    assert table_of(tmp_path) == before
    there = runs_of(tmp_path, declaration())
    assert {run.key for run in needed(there)} <= there.records.keys()


def test_only_a_newline_ends_a_line(runs):
    """A translation may hold what Python, too, takes for the end of one."""
    run, *_ = recorded(runs)
    odd = ["one\u2028two", "three\x85", "", "four\x0bfive\x1c"]
    write_record(runs, run, odd)
    assert runs.records.lines(run.key, "test") == odd
    runs.records.pack([])
    assert runs.records.lines(run.key, "test") == odd


def test_records_are_packed_again_with_those_that_came_later(runs, tmp_path):
    keys = [run.key for run in recorded(runs)]
    later = runs.records.file("", keys[-1])
    content = {file: file.read_bytes() for file in later.parent.glob(f"{later.stem}.*")}
    for file in content:
        file.unlink()
    runs.records.pack(keys)
    before = table_of(tmp_path)
    for file, found in content.items():
        file.write_bytes(found)
    assert table_of(tmp_path) != before
    runs.records.pack(keys)
    assert runs.records.keys() == set(keys)


def test_another_process_may_pack_meanwhile(runs, tmp_path):
    """Runs go on for days, and one looks for records and packs them while another does."""
    (first, *others), late = recorded(runs), runs_of(tmp_path, declaration()).records
    assert late.find(first.key)["key"] == first.key
    runs.records.pack([])
    assert late.find(first.key)["key"] == first.key
    write_record(runs, first, REFERENCE)  # again, as one that came later
    runs.records.file(first.name, first.key).rename(tmp_path / "results" / "a.b.1.0later.json")
    late.pack([])
    assert late.keys() == {"0later", first.key, *(run.key for run in others)}


def test_what_is_packed_between_two_looks_is_found(runs, tmp_path, monkeypatch):
    """A record that is in neither place would be trained again."""
    (first, *_), late = recorded(runs), runs_of(tmp_path, declaration()).records
    lines = late.lines(first.key, "test")
    where = Records.file

    def packed_meanwhile(records, name, key):
        found = where(records, name, key)
        if records is late:
            runs.records.pack([])
        return found

    monkeypatch.setattr(Records, "file", packed_meanwhile)
    assert late.find(first.key)["key"] == first.key
    assert late.lines(first.key, "test") == lines


def test_two_processes_pack_one_after_the_other(runs, tmp_path):
    """The second one packs what is there when the first has ended."""
    (first, *_), folder = recorded(runs), tmp_path / "results"
    late = Thread(target=runs.records.pack, args=([],))
    with folder_lock(folder):
        late.start()
        late.join(0.2)
        assert late.is_alive()
        file = runs.records.file(first.name, first.key)
        (folder / "a.b.1.0later.json").write_bytes(file.read_bytes())
    late.join()
    assert runs.records.find("0later")["key"] == first.key


def test_a_record_of_no_row_is_kept_and_marked(runs, tmp_path):
    run, *others = recorded(runs)
    runs.records.pack([other.key for other in others])
    lines = lzma.decompress((tmp_path / "results" / "records.jsonl.xz").read_bytes()).splitlines()
    entries = {entry["record"]["key"]: entry["in_table"] for entry in map(json.loads, lines)}
    assert entries == {run.key: False, **{other.key: True for other in others}}
