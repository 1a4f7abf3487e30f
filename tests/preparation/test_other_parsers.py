"""UDPipe, spaCy and programs of the user: toys of them from raw text to translations."""

import json
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from commands import fairseq, succeed
from served import post, served
from translations import refused

from syntax_nmt import load
from syntax_nmt.cli import main
from syntax_nmt.data.conllu import attach_roots, read_conllu
from syntax_nmt.data.manifest import read_manifest
from syntax_nmt.serve.systems import ServedSystem

pytestmark = pytest.mark.slow

SPLITS = {"train": 240, "val": 30, "test": 30}
READER = ("--arch", "pascal_transformer_tiny", "--load-dependencies")
SEARCH = ("--beam", "2", "--max-len-b", "8")


@dataclass(frozen=True)
class Toy:
    """A model that has learned little.

    Attributes:
        parser: as `--parser` has it.
        path: of the model.
        program: parses lines of words with the same model, by the package alone.
    """

    parser: str
    path: Path
    program: Path

    @property
    def options(self) -> list[str]:
        return ["--parser", self.parser, "--parser-model", str(self.path)]

    @property
    def command(self) -> str:
        return f"{sys.executable} {self.program} {self.path}"


# What a user writes for --parse-command: words in, CoNLL-U out.
UDPIPE_PROGRAM = """
import sys
from ufal.udpipe import Model, OutputFormat, ProcessingError, Sentence

model, error = Model.load(sys.argv[1]), ProcessingError()
write = OutputFormat.newOutputFormat("conllu").writeSentence
for line in sys.stdin:
    sentence = Sentence()
    for word in line.split():
        sentence.addWord(word)
    model.tag(sentence, Model.DEFAULT, error)
    model.parse(sentence, Model.DEFAULT, error)
    sys.stdout.write(write(sentence))
"""
SPACY_PROGRAM = """
import sys, spacy
from spacy.tokens import Doc

parser = spacy.load(sys.argv[1])
for line in sys.stdin:
    words = line.split()
    starts = [place == 0 for place in range(len(words))]
    doc = parser(Doc(parser.vocab, words=words, sent_starts=starts))
    for word in doc:
        head = 0 if word.head.i == word.i else word.head.i + 1
        columns = (word.lemma_, word.pos_, word.tag_, word.morph, head, word.dep_, "_", "_")
        print(word.i + 1, word.text, *(str(x) or "_" for x in columns), sep="\\t")
    print()
"""


def train_udpipe(treebank: Path, path: Path) -> Path:
    udpipe = pytest.importorskip("ufal.udpipe", reason="needs UDPipe: pip install ufal.udpipe")
    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText(treebank.read_text(encoding="utf-8"))
    sentences, sentence, error = udpipe.Sentences(), udpipe.Sentence(), udpipe.ProcessingError()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
        sentence = udpipe.Sentence()
    options = ("models=1;iterations=2", "iterations=3;embedding_upostag=9;hidden_layer=20")
    made = udpipe.Trainer.train(
        "morphodita_parsito", sentences, udpipe.Sentences(), "none", *options, error
    )
    path.write_bytes(made)
    return path


def train_spacy(treebank: Path, path: Path) -> Path:
    spacy = pytest.importorskip("spacy", reason="needs spaCy: pip install spacy")
    from spacy.training import Example

    parser = spacy.blank("en")
    for name in ("tagger", "morphologizer"):
        parser.add_pipe(name)
    parser.add_pipe("parser", config={"min_action_freq": 1})
    parser.add_pipe("ner")  # left out when it is loaded
    examples = []
    for tree in list(read_conllu(treebank))[:100]:
        doc = spacy.tokens.Doc(parser.vocab, words=tree.words)
        deps = [
            "ROOT" if word == head else tree.relations[word] for word, head in enumerate(tree.heads)
        ]
        gold = {"heads": tree.heads, "deps": deps, "tags": tree.upos, "pos": tree.upos}
        examples.append(Example.from_dict(doc, {**gold, "entities": ["O"] * len(tree)}))
    optimizer = parser.initialize(lambda: examples)
    for start in (*range(0, 100, 10), *range(0, 100, 10), *range(0, 100, 10)):
        parser.update(examples[start : start + 10], sgd=optimizer)
    parser.to_disk(path)
    return path


@pytest.fixture(scope="module", params=["udpipe", "spacy"])
def toy(request, treebank, tmp_path_factory) -> Toy:
    folder = tmp_path_factory.mktemp(request.param)
    train, program = {
        "udpipe": (train_udpipe, UDPIPE_PROGRAM),
        "spacy": (train_spacy, SPACY_PROGRAM),
    }[request.param]
    (folder / "program.py").write_text(program)
    path = train(treebank, folder / "model")
    return Toy(request.param, path, folder / "program.py")


@pytest.fixture(scope="module")
def raw(treebank, tmp_path_factory) -> Path:
    """The treebank's sentences, and themselves reversed."""
    folder, trees = tmp_path_factory.mktemp("raw"), read_conllu(treebank)
    for name, count in SPLITS.items():
        lines = [next(trees).words for _ in range(count)]
        for lang, words in (("en", lines), ("de", [line[::-1] for line in lines])):
            text = "".join(f"{' '.join(line)}\n" for line in words)
            (folder / f"{name}.{lang}").write_text(text, encoding="utf-8")
    return folder


def prepare(raw: Path, folder: Path, *more: str) -> Path:
    languages = ["--source-lang", "en", "--target-lang", "de", "--vocab-size", "100"]
    texts = [f"--{name}{'id' if name == 'val' else ''}pref={raw / name}" for name in SPLITS]
    words = ["--source-tokenizer", "none", "--target-tokenizer", "none"]
    main(["prepare", *languages, *texts, *words, "--destdir", str(folder), *more])
    return folder


@pytest.fixture(scope="module")
def prepared(raw, toy, tmp_path_factory) -> Path:
    return prepare(raw, tmp_path_factory.mktemp("prepared") / "out", *toy.options)


def parse(text: Path, output: Path, *more: str) -> Path:
    main(["parse", "--lang", "en", "--input", str(text), "--output", str(output), *more])
    return output


def test_odd_lines_have_their_blocks(text, toy, tmp_path):
    found = parse(text, tmp_path / "text.conllu", *toy.options)
    lines = text.read_bytes().decode("utf-8").split("\n")[:-1]
    trees = list(read_conllu(found))
    assert [tree is not None for tree in trees] == [0 < len(line.split()) <= 250 for line in lines]
    for tree, line in zip(trees, lines):
        assert tree is None or list(tree.words) == line.split()


def test_trees_are_learnt(toy, treebank, prepared):
    gold = {tree.words: tree.heads for tree in read_conllu(treebank)}
    found = [tree for tree in read_conllu(prepared / "words" / "test.en.conllu")]
    pairs = [pair for tree in found for pair in zip(tree.heads, gold[tree.words])]
    assert sum(head == right for head, right in pairs) > 0.6 * len(pairs)
    assert {upos for tree in found for upos in tree.upos} > {"NOUN", "VERB", "DET"}


def test_same_trees_by_a_program_and_by_files(raw, toy, prepared, tmp_path):
    """The package's own output, as a program and as a file beside the text."""
    lines = (raw / "train.en").read_text(encoding="utf-8")
    printed = succeed_with(lines, toy)
    blocks = [attach_roots(block.split("\n")) for block in printed.strip().split("\n\n")]
    given = tmp_path / "given"
    shutil.copytree(raw, given)
    text = "".join("\n".join(block) + "\n\n" for block in blocks)
    (given / "train.en.conllu").write_text(text, encoding="utf-8")
    by_file = prepare(given, tmp_path / "by file", "--no-parse") / "data-bin"
    program = ("--parse-command", toy.command, "--workers", "2", "--part-size", "50")
    by_program = prepare(raw, tmp_path / "by program", *program)
    for folder in (by_file, by_program / "data-bin"):
        for ending in ("bin", "idx"):
            name = f"train.en-de.en.heads.{ending}"
            assert (folder / name).read_bytes() == (prepared / "data-bin" / name).read_bytes()
    assert (by_program / "words/train.en.conllu").read_bytes() == (
        prepared / "words/train.en.conllu"
    ).read_bytes()
    assert not (by_program / "parser.json").exists()  # no file names a program


def succeed_with(lines: str, toy: Toy) -> str:
    import subprocess

    command = [sys.executable, toy.program, toy.path]
    return subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout


def test_the_parser_stands_in_the_folder(toy, prepared, capsys):
    title = {"udpipe": "UDPipe", "spacy": "spaCy"}[toy.parser]
    names = {entry.parser for entry in read_manifest(prepared / "data-bin").values()}
    (name,) = names
    assert re.fullmatch(rf"{title} [\d.]+, .+ \([0-9a-f]{{8}}\)", name)
    main(["inspect", str(prepared), "--samples", "0"])
    assert f"train.en.conllu: made by {name}" in capsys.readouterr().out
    config = json.loads((prepared / "parser.json").read_text())
    assert (config["parser"], Path(config["model"])) == (toy.parser, toy.path)


@pytest.fixture(scope="module")
def checkpoint(prepared, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    training = ("--optimizer", "adam", "--lr", "1e-2", "--max-tokens", "1000", "--max-update", "4")
    shared = ("--share-all-embeddings", "--save-dir", folder)
    succeed(*fairseq("train", prepared / "data-bin", *READER, *training, *shared))
    return folder / "checkpoint_last.pt"


def translated(printed: str) -> dict[int, tuple[str, str]]:
    """Score and text of each sentence."""
    rows = re.findall(r"^D-(\d+)\t(\S+)\t(.*)$", printed, re.MULTILINE)
    return {int(number): (score[:7], text) for number, score, text in rows}


def test_from_text_to_translations(raw, toy, prepared, checkpoint):
    """Trees of files, of typed text, and of `load` and `serve`: the same translations."""
    data, config = prepared / "data-bin", prepared / "parser.json"
    text = ("--tokenizer", "syntax_words", "--source-tokenizer", "none", "--target-tokenizer")
    pieces = ("--bpe", "sentencepiece", "--sentencepiece-model", prepared / "sentencepiece.model")
    options = ("--path", checkpoint, *SEARCH, *text, "none", *pieces)
    files = succeed(*fairseq("generate", data, *options, "--load-dependencies")).stdout
    wanted = translated(files)
    lines = (raw / "test.en").read_text(encoding="utf-8").splitlines()
    assert set(wanted) == set(range(len(lines)))
    typed = ("--parser-config", config, "--input", raw / "test.en", "--buffer-size", "16")
    done = succeed(*fairseq("interactive", data, *options, *typed))
    assert translated(done.stdout) == wanted
    assert "those of the training text by" not in done.stdout + done.stderr
    model = load(checkpoint, prepared, device="cpu")
    found = model.translate(lines, beam=2, max_len_b=8)
    assert found == [wanted[number][1] for number in range(len(lines))]
    trees = list(read_conllu(prepared / "words" / "test.en.conllu"))
    assert model.parses(lines[0]).heads == trees[0].heads
    with served([ServedSystem("toy", model, 2)]) as address:
        status, answer = post(f"{address}/translate", {"text": lines[0], "system": "toy"})
    assert status == 200
    assert answer


def test_another_parser_is_said_with_both_names(prepared, checkpoint, models, tmp_path):
    (name,) = {entry.parser for entry in read_manifest(prepared / "data-bin").values()}
    config = tmp_path / "parser.json"
    config.write_text(
        json.dumps({"lang": "en", "subwords": "sentencepiece", "stanza_dir": str(models)})
    )
    pieces = ("--bpe", "sentencepiece", "--sentencepiece-model", prepared / "sentencepiece.model")
    options = ("--path", checkpoint, *SEARCH, *pieces, "--parser-config", config)
    done = succeed(*fairseq("interactive", prepared / "data-bin", *options), stdin="the cat sees\n")
    printed = (done.stdout + done.stderr).splitlines()
    said = [line for line in printed if "those of the training text by" in line]
    assert len(said) == 1
    assert f"by {name}: " in said[0]
    assert "dependencies are made by Stanza " in said[0]


# ---- programs that break


BROKEN = """
import os, signal, sys, time

if os.path.exists({flag!r}):  # the second time it works
    mode = "well"
else:
    open({flag!r}, "w").close()
    mode = {mode!r}
for number, line in enumerate(sys.stdin, start=1):
    words = line.split()
    for place, word in enumerate(words, start=1):
        print(place, word, "_\\t_\\t_\\t_", place - 1, "dep\\t_\\t_", sep="\\t")
    print(flush=True)
    if number == 120 and mode == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 120 and mode == "hangs":
        time.sleep(1000)
"""


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("killed", "was killed (SIGKILL) after 120 sentences"),
        ("hangs", "has been silent for 3 seconds after 120 sentences"),
    ],
)
def test_a_broken_program_is_one_line_and_is_resumed(raw, tmp_path, mode, said, capsys):
    program, flag = tmp_path / "program.py", tmp_path / "began"
    program.write_text(BROKEN.format(flag=str(flag), mode=mode))
    options = ["--parse-command", f"{sys.executable} {program}", "--parse-seconds", "3"]
    arguments = ["prepare", "--source-lang", "en", "--target-lang", "de", "--vocab-size", "100"]
    arguments += ["--trainpref", f"{raw}/train", "--destdir", str(tmp_path / "out"), *options]
    assert said in refused(*arguments, "--part-size", "50")
    trees = tmp_path / "out" / "words" / "train.en.conllu"
    assert not trees.exists()
    assert len(list(trees.with_name("train.en.conllu.parts").glob("*.part"))) == 2
    capsys.readouterr()
    main([*arguments, "--part-size", "50"])
    assert "100 from an earlier run" in capsys.readouterr().err
    assert sum(1 for _ in read_conllu(trees)) == 240
