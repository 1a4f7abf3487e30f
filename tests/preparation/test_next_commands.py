"""The commands that `syntax-nmt prepare` prints in the end are those of what the folder holds."""

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from fairseq import options
from nonempty import some
from translations import refused

from syntax_nmt.cli import main
from syntax_nmt.data.annotation import (
    CHUNKS,
    HEADS,
    KINDS,
    PHRASES,
    TARGET_COLUMNS,
    TARGET_HEADS,
    TARGET_TREES,
)
from syntax_nmt.data.annotation.columns import DEPREL, LEMMA, UPOS
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.prepared_text import TextSegmentation
from syntax_nmt.methods.method import RNN
from syntax_nmt.models.presets import LINES
from syntax_nmt.preparation import training_commands
from syntax_nmt.preparation.training_commands import named_method, next_commands, train_command
from syntax_nmt.preparation.training_data import TrainingData

PARSERS = {
    "fairseq-train": options.get_training_parser,
    "fairseq-interactive": options.get_interactive_generation_parser,
    "fairseq-generate": options.get_generation_parser,
}


SPLITS = ("train", "valid", "test")
ALL = (HEADS, PHRASES, CHUNKS)


def folder_of(
    folder: Path,
    *kinds: AnnotationKind,
    of: Sequence[str] = SPLITS,
    parsed: Sequence[AnnotationKind] = (),
    pairs: int = 3,
) -> TrainingData:
    """A prepared folder with such annotation.

    Args:
        parsed: what was made by a parser, and not given.
    """
    text = TextSegmentation("none", folder / "sentencepiece.model")
    return TrainingData(
        folder, [folder / "data-bin"], ("en", "de"), pairs, 17.5, of, dict.fromkeys(of, kinds),
        parsed, True, {"en": text, "de": text},
    )  # fmt: skip


def said_of(data: TrainingData) -> str:
    return next_commands(data, Path("syntax_nmt"))


def commands(data: TrainingData) -> list[tuple[str, SimpleNamespace]]:
    """Program and options of each command that is printed."""
    # Options are checked while they are parsed: what the commands translate with has been trained.
    said = said_of(data)
    lines = said.replace(" \\\n", " ").split("\n")
    for path in re.findall(r"--path (\S+)", said.replace(" \\\n", " ")):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()
    (data.folder / "parser.json").touch()
    assert all(len(line) <= 100 or "/" in line for line in said.split("\n"))
    found = []
    for line in lines:
        if line.startswith("  fairseq"):
            program, *arguments = shlex.split(line)
            found.append((program, options.parse_args_and_arch(PARSERS[program](), arguments)))
    return found


def trained(data: TrainingData) -> dict[str, SimpleNamespace]:
    """The options of each training, by the folder of its checkpoints."""
    found = [chosen for program, chosen in commands(data) if program == "fairseq-train"]
    assert len({chosen.save_dir for chosen in found}) == len(found)
    return {Path(chosen.save_dir).name: chosen for chosen in found}


def translated(data: TrainingData) -> dict[str, tuple[str, SimpleNamespace]]:
    """Program and options of each translation, by the folder of its checkpoint."""
    found = [pair for pair in commands(data) if pair[0] != "fairseq-train"]
    return {Path(chosen.path).parent.name: (program, chosen) for program, chosen in found}


PLAIN = {"baseline", "latent", "ngrams", "rnn_baseline", "relation"}
RNNS = {line.save_dir for line in LINES if line.family == RNN}


@pytest.mark.parametrize(
    ("kinds", "methods"),
    [
        ((), PLAIN),
        ((HEADS,), PLAIN | {"heads", "lisa", "pascal", "tree_distance"}),
        ((TARGET_HEADS,), PLAIN),
        ((HEADS, TARGET_HEADS), PLAIN | {"heads", "dbsa"}),
        ((PHRASES,), PLAIN | {"phrases"}),
        ((CHUNKS,), PLAIN | {"bi_scale"}),
        (ALL, PLAIN | {"heads", "pascal", "phrases", "bi_scale"}),
        ((UPOS, DEPREL), PLAIN | {"features"}),
        ((LEMMA, UPOS, DEPREL), PLAIN | {"features", "features_rnn"}),
    ],
)
def test_a_line_for_each_method_that_fits(tmp_path, kinds, methods):
    found = trained(folder_of(tmp_path, *kinds))
    assert found.keys() >= methods
    assert found.keys() - methods <= {line.save_dir for line in LINES}
    for name, chosen in found.items():
        (line,) = (line for line in LINES if line.save_dir == name)
        assert chosen.arch.removesuffix("_tiny") == line.arch
        assert chosen.load_dependencies == (HEADS in line.needs)
        assert chosen.load_phrases == (PHRASES in line.needs)
        assert chosen.load_chunks == (CHUNKS in line.needs)
        assert chosen.load_target_dependencies == (TARGET_HEADS in line.needs)
        assert chosen.max_epoch % chosen.validate_interval == 0
        assert chosen.patience == 5
    assert found["ngrams"].phrase_segmentation == "ngram"
    assert "phrases" not in found or found["phrases"].phrase_segmentation == "parsed"
    shown = "heads" if HEADS in kinds else "baseline"
    program, chosen = translated(folder_of(tmp_path, *kinds))[shown]
    assert program == "fairseq-interactive"
    assert chosen.tokenizer == "syntax_words"


def test_no_method_gets_the_folder_of_another():
    assert len({line.save_dir for line in LINES}) == len(LINES)


def test_the_baselines_come_first(tmp_path):
    folders = re.findall(r"--save-dir \S+/(\S+)", said_of(folder_of(tmp_path, *ALL)))
    assert folders[:2] == ["baseline", "rnn_baseline"]
    assert len(folders) > 10


@pytest.mark.parametrize("pairs", [100, 6_000, 29_000, 160_000, 4_500_000])
def test_every_size_of_corpus_has_models_of_its_size(tmp_path, pairs):
    found = trained(folder_of(tmp_path, *ALL, pairs=pairs))
    widths = {chosen.encoder_embed_dim for name, chosen in found.items() if name not in RNNS}
    assert len(widths) == 1
    if pairs < 100_000:
        assert {found[name].encoder_embed_dim for name in RNNS & found.keys()} == widths


def test_annotation_of_a_parser(tmp_path):
    """Typed text is parsed by the same one."""
    found = translated(folder_of(tmp_path, HEADS, PHRASES, parsed=(HEADS, PHRASES)))
    assert found.keys() >= {"heads", "phrases", "pascal", "tree_distance"}
    assert found.keys() - {line.save_dir for line in LINES if line.reads} == {"heads"}
    for name in ("phrases", "pascal", "tree_distance"):
        program, chosen = found[name]
        assert program == "fairseq-interactive"
        assert chosen.parser_config == str(tmp_path / "parser.json")


def test_annotation_that_was_given(tmp_path):
    """No parser is known: a split that has it is translated."""
    given = folder_of(tmp_path, PHRASES, parsed=(HEADS,))
    annotated = {"train": [PHRASES], "valid": [PHRASES], "test": []}
    program, chosen = translated(replace(given, annotated=annotated))["phrases"]
    assert (program, chosen.load_phrases, chosen.gen_subset) == ("fairseq-generate", True, "valid")
    assert chosen.tokenizer == "syntax_words"  # as typed text: translations come out as text
    assert (chosen.source_tokenizer, chosen.target_tokenizer) == ("none", "none")


def test_the_first_of_several_test_sets_is_translated(tmp_path):
    """It is the one whose reference `prepare` names."""
    data = folder_of(tmp_path, PHRASES, of=(*SPLITS, "test1", "test2"))
    program, chosen = translated(data)["phrases"]
    assert (program, chosen.gen_subset) == ("fairseq-generate", "test")


@pytest.mark.parametrize("of", [SPLITS, ("train", "test"), ("train",)])
def test_without_validation_text_there_is_no_best_checkpoint(tmp_path, of):
    validated = "valid" in of
    data = folder_of(tmp_path, PHRASES, of=of)
    for train in some(trained(data).values()):
        assert train.disable_validation != validated
        assert (train.patience > 0) == validated
    for program, translate in some(translated(data).values()):
        assert Path(translate.path).name == f"checkpoint_{'best' if validated else 'last'}.pt"
        if program == "fairseq-generate":
            assert translate.gen_subset == of[-1]


@pytest.mark.parametrize("more", [(), ("valid1",)])
def test_several_validation_sets_are_read_together(tmp_path, more):
    """fairseq-train refuses a line that leaves one out."""
    data = folder_of(tmp_path, of=("train", "valid", *more, "test"))
    for train in some(trained(data).values()):
        assert train.combine_valid_subsets == (True if more else None)


def test_how_long_it_takes_is_english(tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert "(about 1 minute on one core)" in said_of(folder_of(tmp_path))
    data = folder_of(tmp_path, pairs=2900)
    assert "(about 6 minutes on one core)" in said_of(data)
    assert "(about 12 minutes on one core)" in said_of(replace(data, tokens=35.0))


def test_options_prints_what_prepare_printed(prepared, tmp_path, capsys):
    folder = tmp_path / "moved"
    shutil.copytree(prepared.folder, folder)
    data = TrainingData.of(folder)
    assert data == TrainingData.of(folder / "data-bin")
    assert (data.languages, data.pairs, data.splits) == (("src", "tgt"), 300, list(SPLITS))
    empty = {x for x in TARGET_COLUMNS if x.column not in ("upos", "deprel")}  # in that corpus
    empty.add(TARGET_TREES)
    assert all(set(kinds) == set(KINDS) - empty for kinds in data.annotated.values())
    assert (data.parsed, data.joined, data.takes_typed_text) == ([], True, True)
    main(["options", "--training", str(folder)])
    assert "--arch bi_scale_rnn_tiny --load-chunks" in capsys.readouterr().out


def test_what_no_sentence_has_is_no_annotation(prepared, tmp_path):
    """As after --on-mismatch skip, where all of it was of other words."""
    data_bin = tmp_path / "data-bin"
    shutil.copytree(prepared.data, data_bin)
    manifest = json.loads((data_bin / "syntax.json").read_text())
    manifest["files"]["train.src-tgt.src.heads"]["annotated"] = 0
    (data_bin / "syntax.json").write_text(json.dumps(manifest))
    (data_bin.parent / "segmentation.json").unlink(missing_ok=True)
    data = TrainingData.of(data_bin)
    assert HEADS not in data.annotated["train"]
    assert "dependency" not in said_of(data)
    assert "fairseq-generate" in said_of(data)  # nothing says how typed text is segmented


def test_a_parser_that_the_user_names_translates_typed_text(prepared, tmp_path):
    """Of trees that were given."""
    folder = shutil.copytree(prepared.folder, tmp_path / "prepared")
    assert TrainingData.of(folder).parsed == []
    names = {"pos_model_path": "tagger.pt", "depparse_model_path": "parser.pt"}
    for name in names.values():
        (folder / name).touch()
    config = {"lang": "en", "subwords": "sentencepiece", **names}
    (folder / "parser.json").write_text(json.dumps(config))
    assert HEADS in TrainingData.of(folder).parsed


@pytest.mark.parametrize("gpu", [False, True])
def test_the_page_of_training_shows_the_printed_line(monkeypatch, gpu):
    """Of Multi30k, which has 1,014 pairs of validation text."""
    monkeypatch.setattr(training_commands.torch.cuda, "is_available", lambda: gpu)
    monkeypatch.setattr(TrainingData, "number_of_pairs", lambda *_: 1014)
    data = folder_of(Path("prepared"), HEADS, pairs=29_000)
    printed = train_command(data, named_method(data, "heads"), Path("$(syntax-nmt user-dir)"))
    page = (Path(__file__).parents[2] / "docs/training.md").read_text("utf-8")
    shown = re.findall(r"```bash\n(fairseq-train .*?)```", page.replace(" \\\n", ""), re.S)
    assert printed == shlex.split(shown[gpu])


def test_no_data_folder(tmp_path):
    assert "no such folder" in refused("options", "--training", tmp_path / "nowhere")
    assert "no data-bin folder" in refused("options", "--training", tmp_path)


@pytest.mark.parametrize("name", ["$(touch x)`touch x`;touch x", "'\"\\ *", "a\nb", "#~&|<>!%s"])
def test_any_folder_may_be_pasted_into_a_shell(tmp_path, name):
    """Every program gets the folder as it is, and nothing else runs."""
    folder = tmp_path / name
    text = said_of(folder_of(folder, PHRASES, parsed=(PHRASES,)))
    said = r"^(train .*|[\w ',*-]+:|  and translate .*|then translate .*)$"
    pasted = re.sub(said, "", text, flags=re.MULTILINE)
    programs = "".join(f"{program}() {{ printf '%s\\0' \"$@\"; }}\n" for program in PARSERS)
    done = subprocess.run(
        ["bash", "-c", programs + pasted], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0
    assert done.stderr == ""
    arguments = done.stdout.split("\0")
    printed = len(re.findall("^  fairseq-", text, flags=re.MULTILINE))
    assert arguments.count(str(folder / "data-bin")) == printed > 7
    assert arguments.count(str(folder / "phrases")) == 1
    assert not (tmp_path / "x").exists()


def test_other_splits_of_a_folder(prepared, tmp_path):
    """Only numbers follow the names of those that fairseq knows."""
    data = shutil.copytree(prepared.data, tmp_path / "data-bin")
    for split in ("train-old", "train_2", "valid1", "test٣"):
        for path in prepared.data.glob("test.src-tgt.*"):
            shutil.copy(path, data / path.name.replace("test", split, 1))
    found = TrainingData.of(data)
    assert list(found.splits) == ["train", "valid", "valid1", "test"]
    main(["options", "--training", str(data)])


@pytest.mark.parametrize("split", ["train", "valid"])
def test_a_damaged_text(prepared, tmp_path, split):
    folder = shutil.copytree(prepared.folder, tmp_path / "damaged")
    file = folder / f"data-bin/{split}.src-tgt.src.idx"
    file.write_bytes(file.read_bytes()[:40])
    said = refused("options", "--training", folder)
    assert said.startswith(str(file))
    assert said.endswith("run fairseq-preprocess again")


def test_languages_that_are_no_names(prepared, tmp_path):
    data = shutil.copytree(prepared.data, tmp_path / "data-bin")
    for path in list(data.glob("*tgt*")):
        path.rename(path.with_name(path.name.replace("tgt", "a b")))
    assert "language 'a b' is no plain name" in refused("options", "--training", data)


def test_a_language_with_a_hyphen(prepared, tmp_path, capsys):
    """fairseq alone takes `dict.pt-BR.txt` for a text of `pt` and `BR`."""
    data = shutil.copytree(prepared.data, tmp_path / "data-bin")
    for path in list(data.glob("*src*")):
        path.rename(path.with_name(path.name.replace("src", "pt-BR")))
    main(["options", "--training", str(data)])
    assert "--source-lang pt-BR" in capsys.readouterr().out
