"""`prepare --shard-size`: shards are one folder cut, however the work was done and interrupted."""

import gzip
import json
import shutil
from itertools import islice

import numpy as np
import pytest
from commands import run, syntax_nmt
from test_annotate import cluster  # noqa: F401  a fixture
from translations import refused

from syntax_nmt.cli import main
from syntax_nmt.data.annotation import COLUMNS, KINDS, TARGET_COLUMNS, TARGET_TREES
from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.data.manifest import read_manifest
from syntax_nmt.data.prepared_text import shard_folders
from syntax_nmt.data.ragged import open_indexed
from syntax_nmt.inspection.data_inspection import inspect_data
from syntax_nmt.preparation import corpus_labels, fairseq_data, segment, shards
from syntax_nmt.preparation.annotators.annotator import ModelAnnotator
from syntax_nmt.preparation.training_data import TrainingData

pytestmark = pytest.mark.dear

ALL_COLUMNS = ",".join(column.name for column in COLUMNS)
UNPREPARED = {column for column in TARGET_COLUMNS if column.column not in ("upos", "deprel")}
UNPREPARED.add(TARGET_TREES)


def command(corpus, destination, *more, train=None, columns=ALL_COLUMNS, splits=("valid", "test")):
    """As the fixture `prepared` is made, in three shards."""
    prefixes = [("--trainpref", train or corpus / "train")]
    prefixes += [(f"--{split}pref", corpus / split) for split in splits]
    tokenizers = ("--source-tokenizer", "none", "--target-tokenizer", "none")
    line = ("prepare", "--source-lang", "src", "--target-lang", "tgt", *tokenizers)
    line += tuple(part for prefix in prefixes for part in prefix)
    line += ("--features", columns, "--target-features", "upos,deprel")
    line += ("--shard-size", "120", "--destdir", destination, *more)
    return list(map(str, line))


VOCABULARY = ("--vocab-size", "400")


@pytest.fixture(scope="module", autouse=True)
def quick_preprocess():
    """fairseq-preprocess, forked where fairseq is imported already."""

    def call(line, stdout, **_):
        done = run("fairseq_cli.preprocess", *line[3:])
        stdout.write(done.stdout + done.stderr)
        return done.returncode

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fairseq_data.subprocess, "call", call)
        yield


@pytest.fixture(scope="module")
def whole(prepared, tmp_path_factory):
    """Three shards of 100 lines."""
    folder = tmp_path_factory.mktemp("shards") / "whole"
    main(command(prepared.corpus, folder, *VOCABULARY))
    return folder


def data_bins(folder):
    return [shard / "data-bin" for shard in shard_folders(folder)]


def contents(folder):
    """All that models are trained on."""
    files = (path for each in data_bins(folder) for path in each.iterdir())
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in files
        if path.suffix != ".log" and not path.name.startswith(".")
    }


def joined(folders, name):
    files = [open_indexed(folder / name) for folder in folders]
    values, sizes = zip(*((file.values, file.sizes) for file in files))
    return np.concatenate(values).tolist(), np.concatenate(sizes).tolist()


def assert_cut_from(one, folder):
    """The rows of shards, one after another, are those of one folder."""
    many = data_bins(folder)
    for index in (one / "data-bin").glob("*.idx"):
        train = index.name.startswith("train.")
        assert joined([one / "data-bin"], index.stem) == joined(
            many if train else many[:1], index.stem
        )
    for listed in (one / "data-bin").glob("dict.*.txt"):
        assert {(each / listed.name).read_bytes() for each in many} == {listed.read_bytes()}
    for each in many:
        assert inspect_data(each).problems == []


def test_shards_are_one_folder_cut(prepared, whole):
    assert [path.name for path in shard_folders(whole)] == ["shard0", "shard1", "shard2"]
    assert_cut_from(prepared.folder, whole)
    first = read_manifest(prepared.data)
    for name in first:
        found = [read_manifest(each) for each in data_bins(whole)]
        annotated = sum(each[name].annotated for each in found if name in each)
        assert annotated == first[name].annotated


def test_what_is_left(whole):
    """Nothing of the training text but its data-bin."""
    for shard in shard_folders(whole):
        assert not list(shard.glob("*/train.*.conllu"))
        assert not list(shard.glob("pieces/train.*"))
        assert not (shard / "raw").exists()
    assert (whole / "shard0/words/valid.src.conllu").is_file()


def test_programs_know_the_folder(prepared, whole, capsys):
    data = TrainingData.of(whole)
    assert (data.folder, data.pairs) == (whole, 300)
    assert set(data.annotated["train"]) == set(KINDS) - UNPREPARED
    main(["options", "--training", str(whole), "gcn"])
    said = capsys.readouterr().out
    assert f"fairseq-train {':'.join(map(str, data_bins(whole)))}" in said.replace(" \\\n   ", "")
    assert f"--save-dir {whole}/gcn" in said
    main(["inspect", str(whole), "--samples", "1"])
    assert capsys.readouterr().out.count("each is as syntax.json says") == 3


def test_done_before(prepared, whole):
    before = {path: path.stat().st_mtime_ns for path in whole.rglob("*.bin")}
    main(command(prepared.corpus, whole, *VOCABULARY))
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_the_table_is_that_of_one_folder(prepared, whole, tmp_path, capsys):
    capsys.readouterr()
    main(command(prepared.corpus, whole, *VOCABULARY))
    of_shards = capsys.readouterr().out.split("\ntrain (")[0]
    line = command(prepared.corpus, tmp_path / "one", *VOCABULARY)
    place = line.index("--shard-size")
    main([*line[:place], *line[place + 2 :]])
    assert capsys.readouterr().out.split("\ntrain (")[0] == of_shards


@pytest.mark.parametrize(
    ("module", "name"),
    [(shards, "take_labels"), (corpus_labels, "move_files"), (shards, "written_files")],
)
def test_killed_and_started_again(prepared, whole, tmp_path, monkeypatch, module, name):
    """At any place; the second of three shards."""
    going_on, calls = getattr(module, name), []

    def kill(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            if name == "move_files":  # after the first file
                file = sorted(arguments[0].iterdir())[0]
                shutil.move(file, arguments[1] / file.name)
            raise KeyboardInterrupt
        return going_on(*arguments)

    monkeypatch.setattr(module, name, kill)
    with pytest.raises(SystemExit, match="interrupted: run the same command again; it resumes"):
        main(command(prepared.corpus, tmp_path / "out", *VOCABULARY))
    monkeypatch.undo()
    main(command(prepared.corpus, tmp_path / "out", *VOCABULARY))
    assert contents(tmp_path / "out") == contents(whole)


def test_single_shards_in_any_order(prepared, whole, tmp_path, capsys):
    """As jobs of an array, and then all."""
    out = tmp_path / "out"
    for number in (2, 0, 1):
        main(command(prepared.corpus, out, *VOCABULARY, "--only-shard", number))
        assert len(shard_folders(out)) == (2, 0, 1).index(number) + 1
    (out / "shard0/data-bin/.labels-killed").mkdir()
    before = {path: path.stat().st_mtime_ns for path in out.rglob("train.*.heads.bin")}
    main(command(prepared.corpus, out, *VOCABULARY))
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert contents(out) == contents(whole)
    assert not list(out.rglob(".labels-*"))
    assert "there are shards 0 to 2" in refused(
        *command(prepared.corpus, out, *VOCABULARY, "--only-shard", "3")
    )


@pytest.mark.slow
def test_workers_of_a_pool_and_of_a_cluster(prepared, whole, tmp_path, cluster):  # noqa: F811
    """Each shard in a process of its own, with fairseq's program."""
    for name, more in (("pool", ("--workers", 2)), ("cluster", ("--dask-scheduler", cluster[1]))):
        main(command(prepared.corpus, tmp_path / name, *VOCABULARY, *more))
        assert contents(tmp_path / name) == contents(whole)


@pytest.mark.parametrize("keeps", [True, False])
def test_parses_are_kept_where_that_was_asked_for(treebank, models, tmp_path, keeps, capsys):
    """Without them another column is parsed anew."""
    raw = tmp_path / "raw"
    raw.mkdir()
    text = [" ".join(tree.words) for tree in islice(read_conllu(treebank), 60)]
    for lang in ("en", "de"):
        (raw / f"train.{lang}").write_text("".join(f"{line}\n" for line in text))
    line = ["prepare", "--source-lang", "en", "--target-lang", "de", "--trainpref", f"{raw}/train"]
    line += ["--vocab-size", "60", "--stanza-dir", str(models), "--shard-size", "30"]
    line += ["--destdir", str(tmp_path / "out"), *(["--keep-parses"] if keeps else [])]
    main([*line, "--features", "upos"])
    packed = sorted(path.name for path in (tmp_path / "out").glob("shard*/words/*"))
    assert packed == (["train.en.conllu.gz"] * 2 if keeps else [])
    capsys.readouterr()
    main([*line, "--features", "upos", "--keep-parses"])
    lost = "--keep-parses: " + str(tmp_path / "out/shard0/words/train.en.conllu.gz is not there")
    assert (lost in capsys.readouterr().err) != keeps
    assert TrainingData.of(tmp_path / "out").takes_typed_text
    assert (tmp_path / "out/shard0/parser.json").is_file()
    with pytest.MonkeyPatch.context() as patch:
        parsed = []
        annotate = ModelAnnotator.annotate

        def counted(annotator, sentences):
            parsed.extend(sentences)
            return annotate(annotator, sentences)

        patch.setattr(ModelAnnotator, "annotate", counted)
        main([*line, "--features", "upos,deprel"])
    assert len(parsed) == (0 if keeps else 60)
    assert "train.en-de.en.deprel" in read_manifest(tmp_path / "out/shard1/data-bin")


def test_other_lists_are_taken_by_all(prepared, whole, tmp_path):
    """Labels that a threshold left out come back, though the ids in the folders had lost them."""
    out = shutil.copytree(whole, tmp_path / "out")
    main(command(prepared.corpus, out, *VOCABULARY, "--feature-threshold", "1"))
    main(command(prepared.corpus, tmp_path / "anew", *VOCABULARY, "--feature-threshold", "1"))
    assert contents(out) == contents(tmp_path / "anew")
    lists = [(each / "shard1/data-bin/dict.lemma.txt").read_text() for each in (whole, out)]
    assert len(lists[0]) < len(lists[1])


@pytest.fixture
def later(prepared, tmp_path):
    """Text of 150 lines with its annotation."""
    sizes = ("--train", "150", "--valid", "1", "--test", "1", "--seed", "7")
    syntax_nmt("demo", tmp_path / "later", *sizes)
    return tmp_path / "later/train"


def append(corpus, out, later, *more, **options):
    return command(corpus, out, "--append", *more, train=later, splits=(), **options)


def test_text_is_appended(prepared, whole, later, tmp_path, capsys):
    out = shutil.copytree(whole, tmp_path / "out")
    main(append(prepared.corpus, out, later))
    assert len(shard_folders(out)) == 5
    before = {name: found for name, found in contents(out).items() if name[:6] < "shard3"}
    assert before == contents(whole)
    assert TrainingData.of(out).pairs == 450
    files = {path: path.stat().st_mtime_ns for path in out.rglob("*.bin")}
    main(append(prepared.corpus, out, later))  # again: it is there
    main(command(prepared.corpus, out, *VOCABULARY))  # and the corpus itself is done
    assert {path: path.stat().st_mtime_ns for path in files} == files
    assert all(inspect_data(each).problems == [] for each in data_bins(out))


def test_appended_text_is_known_by_its_file(prepared, whole, later, tmp_path, monkeypatch):
    """However its path is spelt; and what is in the corpus is not appended."""
    out = shutil.copytree(whole, tmp_path / "out")
    monkeypatch.chdir(later.parent)
    main(append(prepared.corpus, out, "train"))
    main(append(prepared.corpus, out, "./train"))
    assert len(shard_folders(out)) == 5
    said = refused(*append(prepared.corpus, out, prepared.corpus / "train"))
    assert f"{prepared.corpus / 'train'} stands in the corpus already, as shard0: leave" in said
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for file in later.parent.glob("train.*"):
        shutil.copy2(file, ".")
    main(append(prepared.corpus, out, "train"))
    assert len(shard_folders(out)) == 7


def lengthen(text, times):
    for file in text.parent.glob(f"{text.name}.*"):
        file.write_bytes(file.read_bytes() * times)


def test_shards_are_not_replaced_by_those_of_another_text(prepared, whole, later, tmp_path):
    out = shutil.copytree(whole, tmp_path / "out")
    small = tmp_path / "small" / "train"
    shutil.copytree(later.parent, small.parent)
    main(append(prepared.corpus, out, small))
    main(append(prepared.corpus, out, later))
    before = contents(out)
    lengthen(small, 2)
    said = f"shard5: is of {later}, and would be replaced, as {small} takes more shards than before"
    assert said in refused(*append(prepared.corpus, out, small))
    said = refused(*command(prepared.corpus, out, *VOCABULARY, "--shard-size", "60"))
    assert "shard3: is of" in said
    assert contents(out) == before


def test_validation_and_test_text_may_exchange_their_roles(prepared, whole, tmp_path):
    out = shutil.copytree(whole, tmp_path / "out")
    line = command(prepared.corpus, out, *VOCABULARY)
    place = {each: line.index(each) + 1 for each in ("--validpref", "--testpref")}
    valid, test = (line[each] for each in place.values())
    line[place["--validpref"]] = f"{valid},{test}"
    main([*line[: place["--testpref"] - 1], *line[place["--testpref"] + 1 :]])
    names = {path.name.split(".")[0] for path in (out / "shard0/data-bin").glob("*.src.idx")}
    assert names == {"train", "valid", "valid1"}


def test_without_annotation(prepared, later, tmp_path, capsys):
    raw, out = tmp_path / "raw", tmp_path / "out"
    raw.mkdir()
    for lang in ("src", "tgt"):
        shutil.copy(prepared.corpus / f"train.{lang}", raw)
    line = ["prepare", "--source-lang", "src", "--target-lang", "tgt", "--no-parse"]
    line += ["--source-tokenizer", "none", "--target-tokenizer", "none", "--shard-size", "120"]
    line += ["--trainpref", f"{raw}/train", "--destdir", str(out), *VOCABULARY]
    main([*line, "--only-shard", "1"])
    assert "shard 1 is done; when all are: run the same line without" in capsys.readouterr().err
    said = refused("options", "--training", str(out))
    assert f"{out}: lacks shard0, shard2 of 3 shards: run the same `syntax-nmt prepare`" in said
    main(line)
    assert TrainingData.of(out).pairs == 300
    capsys.readouterr()
    main(line)
    assert "…" not in capsys.readouterr().err
    trained = out / "baseline" / "checkpoint_best.pt"
    trained.parent.mkdir()
    trained.touch()
    main([*line[:-1], "300"])
    said = f"{out}: has another vocabulary than models that were trained here, such as {trained}"
    assert said in capsys.readouterr().err


def test_appended_text_takes_other_lists(prepared, whole, later, tmp_path):
    out = shutil.copytree(whole, tmp_path / "out")
    main(append(prepared.corpus, out, later))
    said = refused(*command(prepared.corpus, out, *VOCABULARY, "--feature-threshold", "1"))
    assert "shard3/data-bin/dict.lemma.txt: other labels than" in said
    assert "`prepare --append` that made it again" in said
    main(append(prepared.corpus, out, later))
    lists = [(each / "dict.lemma.txt").read_text() for each in data_bins(out)]
    assert lists == [(out / "labels/dict.lemma.txt").read_text()] * 5
    assert lists[0] != (whole / "labels/dict.lemma.txt").read_text()
    assert all(inspect_data(each).problems == [] for each in data_bins(out))


def test_another_vocabulary_or_list_is_not_appended(prepared, whole, later, tmp_path):
    out = shutil.copytree(whole, tmp_path / "out")
    before = contents(out)

    def said(*more, **options):
        return refused(*append(prepared.corpus, out, later, *more, **options))

    assert "--features upos, the shards of" in said(columns="upos")
    assert "--vocab-size: --append adds training text" in said("--vocab-size", "300")
    model = tmp_path / "other.model"
    segment.train_model([prepared.folder / "words/train.src"], model, 90)
    assert "other.model: another than" in said("--sentencepiece-model", model)
    (out / "labels/dict.upos.txt").write_text("<unk>\nX\n_\n")
    assert "labels: not there, or changed" in said()
    assert "has no corpus in shards" in refused(
        *append(prepared.corpus, tmp_path / "nothing", later)
    )
    assert contents(out) == before


def pairs_of(folder):
    sides = ((folder / f"train.{lang}").read_text().splitlines() for lang in ("src", "tgt"))
    return list(zip(*sides, strict=True))


def test_several_texts_and_a_sample(prepared, later, tmp_path):
    """A shard is of one text; packed text is the same; the sample is on record."""
    packed = tmp_path / "packed"
    packed.mkdir()
    for file in prepared.corpus.glob("train.*"):
        (packed / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
    out = tmp_path / "out"
    line = command(
        prepared.corpus, out, "--sample", "200", "--vocab-size", "300",
        train=f"{packed}/train,{later}",
    )  # fmt: skip
    main(line)
    pairs = [TrainingData.of(each / "data-bin").pairs for each in shard_folders(out)]
    assert pairs == [100, 100, 100, 75, 75]
    record = json.loads((out / "prepare.json").read_text())
    assert record["sample"]["report"] == {"lines": 200, "of": 450, "seed": 1}
    drawn = pairs_of(out / "sample/raw")
    everything = iter([*pairs_of(prepared.corpus), *pairs_of(later.parent)])
    assert len(drawn) == 200
    assert all(pair in everything for pair in drawn)  # in this order
    assert drawn[0] in pairs_of(prepared.corpus)[:10]
    assert drawn[-1] in pairs_of(later.parent)[-10:]
    assert all(inspect_data(each).problems == [] for each in data_bins(out))


def test_what_is_refused(prepared, whole, tmp_path):
    corpus = prepared.corpus
    bad = shutil.copytree(corpus, tmp_path / "bad")
    (bad / "train.src.trees").write_text("()\n" * 299)
    assert "train.src.trees: 299 entries, and its text has 300 lines" in refused(
        *command(bad, tmp_path / "out", *VOCABULARY)
    )
    assert shard_folders(tmp_path / "out") == []
    lines = (corpus / "train.src.trees").read_text().splitlines()
    (bad / "train.src.trees").write_text("\n".join([*lines[:150], "(S (", *lines[151:], ""]))
    said = refused(*command(bad, tmp_path / "out", *VOCABULARY))
    assert "shard1 (lines 101 to 200 of " in said
    assert "raw/train.src.trees:51: " in said
    assert "another --shard-size or text" in refused(
        *command(corpus, whole, *VOCABULARY, "--shard-size", "200")
    )
    assert "is there, and" in refused(*command(corpus, prepared.folder))
    line = command(corpus, whole)
    place = line.index("--shard-size")
    assert "a folder cannot hold both one data-bin and shards" in refused(
        *line[:place], *line[place + 2 :]
    )
    assert "--append does nothing without --shard-size" in refused(
        *line[:place], *line[place + 2 :], "--append"
    )
