"""Raw text where `prepare` made words the tokens of one side, or of both."""

import re
import shlex
from types import SimpleNamespace

import pytest
from commands import USER_DIR, succeed
from forced_models import hypotheses
from small_models import build, enlarge, save_checkpoint

from syntax_nmt.cli import main
from syntax_nmt.inference.loading import load
from syntax_nmt.parsing.word_tokenizer import WordTokenizer
from syntax_nmt.serve.systems import ServedSystem

pytestmark = pytest.mark.dear

SENTENCES = 4
LANGUAGES = ("src", "tgt")
ARCHITECTURES = ("dependency_transformer", "bi_scale_rnn")


@pytest.fixture(
    scope="module", params=["both", "target", pytest.param("source", marks=pytest.mark.slow)]
)
def words(request, prepared, tmp_path_factory):
    """A prepared folder, raw sentences with a reference, and models for it."""
    folder = tmp_path_factory.mktemp(request.param)
    sides = ("source", "target") if request.param == "both" else (request.param,)
    main(
        ["prepare", "--source-lang=src", "--target-lang=tgt", f"--destdir={folder}"]
        + [f"--{name}pref={prepared.corpus / name}" for name in ("train", "valid", "test")]
        + ["--source-tokenizer=none", "--target-tokenizer=moses", "--vocab-size=400"]
        + [f"--{side}-words=300" for side in sides]
    )
    raw, pieces = {}, {}
    for lang in LANGUAGES:
        lines = (prepared.corpus / f"test.{lang}").read_text("utf-8").splitlines()
        raw[lang] = [line.replace(" .", ".") if lang == "tgt" else line for line in lines]
        pieces[lang] = (folder / f"pieces/test.{lang}").read_text("utf-8").splitlines()
    models = {arch: build(folder / "data-bin", arch) for arch in ARCHITECTURES}
    for arch, (model, _, cfg) in models.items():
        save_checkpoint(folder / f"{arch}.pt", enlarge(model, 1.5), cfg)
    return SimpleNamespace(folder=folder, sides=sides, raw=raw, pieces=pieces, models=models)


def translations(words, beam):
    """By fairseq's search in pieces, which are joined here."""
    model, task, _ = words.models["dependency_transformer"]
    found = []
    for (best, _), *_ in hypotheses(model, task, words.pieces["src"][:SENTENCES], beam=beam):
        text = task.target_dictionary.string(best)
        if "target" not in words.sides:
            text = text.replace(" ", "").replace("▁", " ")
        found.append(WordTokenizer("moses", "tgt").detokenize(text))
    assert len(set(found)) > 1
    return found


@pytest.mark.parametrize(
    ("name", "arch"),
    [
        (["align"], "dependency_transformer"),
        (["chunks"], "bi_scale_rnn"),
        (["plot", "attention", "--sentence=2"], "dependency_transformer"),
    ],
)
def test_commands_segment_raw_text_as_prepared(words, tmp_path, name, arch):
    def written(texts, *more):
        for lang in LANGUAGES:
            lines = texts[lang][:SENTENCES]
            (tmp_path / lang).write_text("".join(f"{line}\n" for line in lines), "utf-8")
        output = tmp_path / "output.svg"
        files = [
            f"--{side}={tmp_path / lang}" for side, lang in zip(("source", "target"), LANGUAGES)
        ]
        path = f"--path={words.folder / arch}.pt"
        main([*name, str(words.folder / "data-bin"), path, *files, f"--output={output}", *more])
        return output.read_text("utf-8")

    assert written(words.raw) == written(words.pieces, "--segmented")


def test_load(words):
    path = words.folder / "dependency_transformer.pt"
    model = load(path, words.folder, device="cpu")
    assert model.translate(words.raw["src"][:SENTENCES], beam=2) == translations(words, 2)
    # A word that looks like a piece is one nevertheless.
    source = "un@@ mubrivertrir deruta ."
    found = ServedSystem("name", model, 2).structures(source, "köshatedun kipesnuno.")
    assert tuple(found.attention.source) == tuple(source.split())
    assert tuple(found.attention.target) == ("köshatedun", "kipesnuno", ".")
    assert list(model.trees(source).words) == source.split()


def test_export_to_fairseq(words, tmp_path, capsys):
    capsys.readouterr()
    path, output = words.folder / "dependency_transformer.pt", tmp_path / "out"
    main(["export", str(path), f"--data={words.folder}", "--to=fairseq", f"--output={output}"])
    line = capsys.readouterr().out.split("\n", 1)[1].replace("\\\n", " ")
    command, _, text = line.partition(" < ")
    command = command.replace("$(syntax-nmt user-dir)", USER_DIR)
    source_alone = words.sides == ("target",)
    assert text.startswith("pieces" if source_alone else "text")
    lines = (words.pieces if source_alone else words.raw)["src"][:SENTENCES]
    _, *arguments = shlex.split(command)
    done = succeed("fairseq_cli.interactive", *arguments, stdin="".join(f"{x}\n" for x in lines))
    found = re.findall(r"^D-\d+\t\S+\t(.*)$", done.stdout, re.MULTILINE)
    if source_alone:  # no tokenizer either: it would take the pieces for words
        found = [WordTokenizer("moses", "tgt").detokenize(line) for line in found]
    assert found == translations(words, 5)


def test_export_to_ctranslate2(words, tmp_path):
    pytest.importorskip("ctranslate2", reason="CTranslate2 is not installed")
    path, output = words.folder / "dependency_transformer.pt", tmp_path / "out"
    main(["export", str(path), f"--data={words.folder}", "--to=ctranslate2", f"--output={output}"])
    text = "".join(f"{line}\n" for line in words.raw["src"][:SENTENCES])
    line = ("syntax_nmt.export.translate", output, "--beam", "1")
    found = succeed(*line, stdin=text).stdout.splitlines()
    assert found == translations(words, 1)
