"""`syntax-nmt prepare` into a folder that holds something: what is kept, and what is made anew."""

import gzip
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from stand_in import StandIn

from syntax_nmt.cli import main
from syntax_nmt.commands.shared.annotating import AnnotatorSettings
from syntax_nmt.data.conllu import format_conllu, format_no_parse
from syntax_nmt.data.linearised_folder import PARSED
from syntax_nmt.parsing.stanza.models import StanzaModels
from syntax_nmt.preparation import preparation, training_commands, training_data
from syntax_nmt.preparation.fairseq_data import written_files
from syntax_nmt.preparation.plan import Plan

pytestmark = pytest.mark.dear

SENTENCES = [" ".join(f"w{number}x{place}" for place in range(5)) for number in range(30)]


@dataclass(frozen=True)
class Parser(StandIn):
    """Makes every word a child of the first, or of a phrase of its own."""

    models: StanzaModels | None = None
    batch_size: int = 1000

    @property
    def kind(self) -> str:
        return self.models.task

    def annotate(self, sentences: Sequence[Sequence[str]]) -> list[str | None]:
        if self.kind == "constituents":
            return [f"(S {' '.join(f'(X {word})' for word in words)})\n" for words in sentences]
        return [format_conllu(words, [0] * len(words)) for words in sentences]

    def no_annotation(self, words: Sequence[str]) -> str:
        return "()\n" if self.kind == "constituents" else format_no_parse(words)


@pytest.fixture(autouse=True)
def parsed_by_the_stand_in(monkeypatch, tmp_path) -> None:
    """fairseq and binarize are left out, and commands that train on what they write."""

    def stand_in(settings: AnnotatorSettings, task: str, *langs: str | None) -> Parser:
        return Parser(models=StanzaModels(task, "en", tmp_path, ()))

    def preprocess(plan: Plan) -> dict[str, float]:
        shutil.rmtree(plan.data_bin, ignore_errors=True)
        plan.data_bin.mkdir()
        for file in written_files(plan):
            file.touch()
        return {}

    monkeypatch.setattr(AnnotatorSettings, "annotator", stand_in)
    monkeypatch.setattr(training_data.TrainingData, "of", lambda folder: None)
    monkeypatch.setattr(training_commands, "method_list", lambda data, *reference: "")
    monkeypatch.setattr(preparation, "preprocess", preprocess)
    monkeypatch.setattr(preparation, "binarize", lambda *args, **options: {})


@pytest.fixture
def raw(tmp_path) -> Path:
    folder = tmp_path / "raw"
    folder.mkdir()
    for lang in ("en", "de"):
        (folder / f"train.{lang}").write_text("\n".join([*SENTENCES, ""]), encoding="utf-8")
    return folder


def write_trees(path: Path) -> None:
    sentences = [line.split() for line in SENTENCES]
    trees = [format_conllu(words, [0] * len(words)) for words in sentences]
    path.write_text("".join(trees), encoding="utf-8")


def prepare(raw: Path, folder: Path | str, *more: str) -> None:
    arguments = ["prepare", "--source-lang", "en", "--target-lang", "de", "--vocab-size", "60"]
    main([*arguments, "--trainpref", f"{raw}/train", "--destdir", str(folder), *more])


# ---- data-bin folders of others


def test_the_other_direction_is_refused(raw, tmp_path):
    """Checkpoints in this folder translate en-de."""
    folder = tmp_path / "out"
    prepare(raw, folder)
    before = sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*"))
    turned = (
        r"data-bin: is for en-de, and .* given de to translate: give another --destdir for de-en"
    )
    with pytest.raises(SystemExit, match=turned):
        prepare(raw, folder, "--source-lang", "de", "--target-lang", "en")
    assert before == sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*"))


@pytest.mark.parametrize("what", ["text", "annotation file", "model"])
def test_inputs_in_the_data_bin_are_refused(raw, tmp_path, what):
    folder = tmp_path / "out"
    data_bin = folder / "data-bin"
    more = ["--no-parse"]
    data_bin.mkdir(parents=True)
    if what == "text":
        raw = Path(shutil.move(raw, data_bin / "raw"))
        inside = raw / "train.en"
    elif what == "annotation file":
        prefix = data_bin / "train"
        for lang in ("en", "de"):
            (data_bin / f"train.{lang}").symlink_to(raw / f"train.{lang}")
        inside = Path(f"{prefix}.en.conllu")
        raw = data_bin
        write_trees(inside)
    else:
        prepare(raw, tmp_path / "other", *more)
        inside = Path(shutil.copy(tmp_path / "other" / "sentencepiece.model", data_bin))
        more += ["--sentencepiece-model", str(inside)]
    with pytest.raises(SystemExit) as error:
        prepare(raw, folder, *more)
    assert str(error.value) == (
        f"syntax-nmt: error: {inside} lies in {data_bin}, which is made anew as a whole: move it, "
        "or give another --destdir"
    )
    assert inside.is_file()


def test_a_data_bin_that_another_program_made_is_not_replaced(raw, tmp_path):
    data_bin = tmp_path / "out" / "data-bin"
    data_bin.mkdir(parents=True)
    (data_bin / "dict.en.txt").write_text("mine 1\n")
    with pytest.raises(SystemExit, match=r"data-bin: would be replaced, and .*prepare\.json does"):
        prepare(raw, tmp_path / "out", "--no-parse")
    assert (data_bin / "dict.en.txt").read_text() == "mine 1\n"
    (data_bin / "dict.en.txt").unlink()  # an empty folder may be one on a larger disk
    prepare(raw, tmp_path / "out", "--no-parse")
    prepare(raw, tmp_path / "out", "--no-parse", "--vocab-size", "50")


def test_a_run_killed_before_its_data_bin_is_on_record_goes_on(raw, tmp_path):
    prepare(raw, tmp_path / "out", "--no-parse")
    record = tmp_path / "out" / "prepare.json"
    steps = json.loads(record.read_text())
    del steps["data-bin"]
    record.write_text(json.dumps(steps))
    prepare(raw, tmp_path / "out", "--no-parse")
    assert "data-bin" in json.loads(record.read_text())


# ---- annotation beside the words


@pytest.mark.parametrize("record", ["today's", "of 0.1.0"])
def test_annotation_beside_the_words_is_known_again_wherever_the_folder_is(
    raw, tmp_path, monkeypatch, capsys, record
):
    """Under another spelling of its path, and moved."""
    monkeypatch.chdir(tmp_path)
    prepare(raw, "out", "--no-parse")
    trees = Path("out/words/train.en.conllu")
    write_trees(trees)
    prepare(raw, "out", "--no-parse")
    if record == "of 0.1.0":
        steps = json.loads(Path("out/prepare.json").read_text())
        report = steps["words/train.en.conllu"]["report"]
        del report["in place"]
        assert report == {"from": str(trees)}
        Path("out/prepare.json").write_text(json.dumps(steps))
    before = trees.read_bytes()
    Path("out").rename("moved")
    for folder, more in (("moved", ["--no-parse"]), (tmp_path / "moved", [])):
        capsys.readouterr()
        prepare(raw, folder, *more)
        assert "conllu given" in capsys.readouterr().out
        assert (tmp_path / "moved/words/train.en.conllu").read_bytes() == before


def test_a_copy_of_annotation_that_is_gone_goes_too(raw, tmp_path, capsys):
    write_trees(raw / "train.en.conllu")
    prepare(raw, tmp_path / "out", "--no-parse")
    copy = tmp_path / "out" / "words" / "train.en.conllu"
    assert copy.is_file()
    (raw / "train.en.conllu").unlink()
    prepare(raw, tmp_path / "out", "--no-parse")
    assert not copy.exists()
    said = f"{copy}: removed, as there is no {raw}/train.en.conllu any more"
    assert said in capsys.readouterr().err


def test_annotation_beside_the_words_is_not_replaced_by_other_beside_the_text(raw, tmp_path):
    """It may be days of work; `prepare` did not make it."""
    words, text = tmp_path / "out/words/train.en.conllu", raw / "train.en.conllu"
    prepare(raw, tmp_path / "out", "--no-parse")
    write_trees(words)
    prepare(raw, tmp_path / "out", "--no-parse")
    mine = words.read_text()
    text.write_text(f"# another\n{mine}")
    said = rf"{words}: was not made here, by its record, and {text} would replace it: remove one"
    with pytest.raises(SystemExit, match=said):
        prepare(raw, tmp_path / "out", "--no-parse")
    text.write_text(mine)  # the same, which may go again
    prepare(raw, tmp_path / "out", "--no-parse")
    text.unlink()
    prepare(raw, tmp_path / "out", "--no-parse")
    assert words.read_text() == mine


def test_compressed_annotation_beside_the_words_is_taken(raw, tmp_path, capsys):
    words = tmp_path / "out/words/train.en.conllu"
    prepare(raw, tmp_path / "out", "--no-parse")
    write_trees(words)
    mine = words.read_bytes()
    words.unlink()
    words.with_name("train.en.conllu.gz").write_bytes(gzip.compress(mine))
    prepare(raw, tmp_path / "out", "--no-parse")
    for _ in range(2):
        assert "conllu given" in capsys.readouterr().out
        assert words.read_bytes() == mine
        prepare(raw, tmp_path / "out", "--no-parse")


def test_annotation_is_not_written_through_a_link(raw, tmp_path):
    text, link = raw / "train.en.conllu", tmp_path / "out/words/train.en.conllu"
    write_trees(text)
    mine = text.read_text()
    link.parent.mkdir(parents=True)
    link.symlink_to(text)
    said = f"{text} would be overwritten: remove {link}, which leads to it, or give another"
    with pytest.raises(SystemExit, match=said):
        prepare(raw, tmp_path / "out", "--no-parse", "--on-mismatch", "skip")
    assert text.read_text() == mine


def test_labels_of_test_text_alone_are_refused_at_once(raw, tmp_path):
    """The lists are those of the training text, which may have its own beside the words."""
    for lang in ("en", "de"):
        shutil.copy(raw / f"train.{lang}", raw / f"test.{lang}")
    chunks = raw / "test.de.chunks"
    chunks.write_text("".join("B-NP I-NP O O O\n" for _ in SENTENCES))
    command = (raw, tmp_path / "out", "--no-parse", "--testpref", f"{raw}/test")
    said = f"{chunks}: the labels of test are those of the training text, which has no .chunks"
    with pytest.raises(SystemExit, match=f"{said} file: give one beside it, or --chunks, or move"):
        prepare(*command)
    assert not (tmp_path / "out").exists()
    (tmp_path / "out/words").mkdir(parents=True)
    shutil.copy(chunks, tmp_path / "out/words/train.de.chunks")
    prepare(*command)


def test_finished_parses_outlast_runs_that_leave_them_out(raw, tmp_path, capsys):
    folder = tmp_path / "out"
    prepare(raw, folder, "--constituents")
    made = {path: path.read_bytes() for path in (folder / "words").glob("train.en.*")}
    assert len(made) == 2
    capsys.readouterr()
    prepare(raw, folder, "--no-parse")
    said = capsys.readouterr()
    for ending, option in (("conllu", "--parse"), ("trees", "--constituents")):
        path = folder / "words" / f"train.en.{ending}"
        assert (
            f"{path}: kept, and left out of the data-bin: give {option} again to use it" in said.err
        )
    assert "--load-" not in said.out
    assert {path: path.read_bytes() for path in made} == made
    prepare(raw, folder, "--constituents")
    said = capsys.readouterr()
    assert "words/train.en.conllu: done before" in said.err
    assert "words/train.en.trees: done before" in said.err
    assert "left out of the data-bin" not in said.err


# ---- parser.json, words


@pytest.mark.parametrize("flags", [(), ("--constituents",), ("--no-parse", "--constituents")])
def test_the_device_that_a_user_wrote_stays(raw, tmp_path, flags):
    config = tmp_path / "out" / "parser.json"
    arguments = (raw, tmp_path / "out", *flags)
    prepare(*arguments)
    values = json.loads(config.read_text())
    assert values["device"] == "cpu"
    config.write_text(json.dumps({**values, "device": "cuda:1"}))
    prepare(*arguments, "--vocab-size", "50")
    assert json.loads(config.read_text()) == {**values, "device": "cuda:1"}
    for odd in ("{", '{"device": "toaster"}'):
        config.write_text(odd)
        prepare(*arguments)
        assert json.loads(config.read_text()) == values


def test_parses_that_become_text_need_no_parser_for_typed_text(raw, tmp_path, capsys):
    """Least of all that of the target, which `--parser-config` would let loose on the source."""
    config = tmp_path / "out" / "parser.json"
    for mode in PARSED:
        prepare(raw, tmp_path / "out", "--linearised", mode)
        assert not config.exists()
    prepare(raw, tmp_path / "parsed")
    written = tmp_path / "parsed" / "parser.json"
    assert written.is_file()
    prepare(raw, tmp_path / "parsed", "--linearised", "mixed")
    assert not written.exists()
    assert f"{written}: removed" in capsys.readouterr().err


def test_the_parser_of_given_trees_that_a_user_wrote_stays(raw, tmp_path):
    config = tmp_path / "out" / "parser.json"
    prepare(raw, tmp_path / "out", "--no-parse")
    config.write_text('{"lang": "en", "subwords": "sentencepiece"}')
    prepare(raw, tmp_path / "out", "--no-parse")
    assert config.read_text() == '{"lang": "en", "subwords": "sentencepiece"}'


# ---- models that were trained on the folder


def test_another_vocabulary_than_that_of_trained_models_is_said(raw, tmp_path, monkeypatch, capsys):
    def with_vocabulary(plan: Plan) -> dict[str, float]:
        for file in written_files(plan):
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"{plan.vocab_size}\n")
        return {}

    monkeypatch.setattr(preparation, "preprocess", with_vocabulary)
    prepare(raw, tmp_path / "out", "--no-parse")
    trained = tmp_path / "out" / "heads" / "seed1" / "checkpoint_best.pt"
    trained.parent.mkdir(parents=True)
    trained.touch()
    said = f"has another vocabulary than models that were trained here, such as {trained}"
    (raw / "train.de").write_text((raw / "train.en").read_text().replace("x3", "y"))
    prepare(raw, tmp_path / "out", "--no-parse")
    assert said not in capsys.readouterr().err
    prepare(raw, tmp_path / "out", "--no-parse", "--vocab-size", "30")
    assert said in capsys.readouterr().err


def test_words_by_older_rules_are_made_anew(raw, tmp_path, monkeypatch, capsys):
    """Of one text and of another that comes later, the words must be of one kind."""
    with monkeypatch.context() as older:
        older.setattr("syntax_nmt.parsing.word_tokenizer.RULES", "those of 0.1.0")
        prepare(raw, tmp_path / "out")
    monkeypatch.setattr(preparation, "preprocess", lambda *args: pytest.fail("other pieces"))
    capsys.readouterr()
    prepare(raw, tmp_path / "out", "--no-parse")
    said = capsys.readouterr().err
    for name in ("words/train.en", "words/train.de"):
        assert f"{name} …" in said
    assert "data-bin: done before" in said  # as the words came out the same
