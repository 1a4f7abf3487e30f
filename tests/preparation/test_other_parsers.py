"""The programs of docs/data.md for other parsers: what they write fits the text, line by line."""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from commands import REPOSITORY

from syntax_nmt.cli import main
from syntax_nmt.data.conllu import read_conllu

# Empty lines and what looks like one, several spaces, a tab, a carriage return within a line and at
# the end of one, a sentence that is two.
LINES = (
    "go home .",
    "",
    "I  saw\ta dog",
    "one\rtwo\r",
    "   ",
    "stay ! go !",
    "\u00a0\u3000",
    "end",
)


def programs() -> list[str]:
    """The Python programs of the page."""
    page = (REPOSITORY / "docs" / "data.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)


def program(of: str) -> str:
    (found,) = [text for text in programs() if text.startswith(f"# {of}")]
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """With the text where the page has it, and its translation."""
    for name in ("raw", "tok"):
        (tmp_path / name).mkdir()
    text = "".join(f"{line}\n" for line in LINES)
    (tmp_path / "raw" / "train.en").write_text(text, encoding="utf-8", newline="\n")
    (tmp_path / "raw" / "train.xx").write_text("y\n" * len(LINES), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(folder: Path) -> None:
    """Each line has its block, and `prepare` takes them all."""
    written = folder / "tok" / "train.en.conllu"
    trees = list(read_conllu(written, one_root=False))
    assert [tree is None for tree in trees] == [not line.split() for line in LINES]
    written.rename(folder / "raw" / "train.en.conllu")
    languages = ("--source-lang", "en", "--target-lang", "xx", "--source-words", "99")
    words = ("--target-words", "99", "--source-tokenizer", "none", "--target-tokenizer", "none")
    files = ("--trainpref", "raw/train", "--destdir", "prepared", "--no-parse", "--attach-roots")
    main(["prepare", *languages, *words, *files])


@dataclass(frozen=True)
class Word:
    """As spaCy has it: the head is an equal object, but another one."""

    words: tuple[str, ...]
    i: int
    pos_ = ""
    dep_ = "dep"

    @property
    def text(self) -> str:
        return self.words[self.i]

    @property
    def head(self) -> "Word":
        return Word(self.words, 0)


class Parser:
    """spaCy's: tabs, carriage returns and further spaces are words."""

    def pipe(self, texts) -> Iterator[list[Word]]:
        for text in texts:
            words = tuple(re.findall(r"\S+|(?<=\s)\s+|^\s+|[\t\r\n]", text))
            yield [Word(words, place) for place in range(len(words))]


def test_spacy(folder, monkeypatch):
    stand_in = ModuleType("spacy")
    stand_in.load = lambda name: Parser()
    monkeypatch.setitem(sys.modules, "spacy", stand_in)
    exec(program("spaCy"), {})
    check(folder)


@pytest.mark.slow
def test_spacy_itself(folder):
    """A parser that has learned next to nothing."""
    spacy = pytest.importorskip("spacy", reason="needs spaCy: pip install spacy")
    from spacy.training import Example

    parser = spacy.blank("en")
    parser.add_pipe("parser", config={"min_action_freq": 1})
    gold = {"heads": [1, 1, 1], "deps": ["a", "ROOT", "b"]}
    example = Example.from_dict(parser.make_doc("I go home"), gold)
    parser.initialize(lambda: [example])
    parser.update([example])
    parser.to_disk(folder / "model")
    exec(program("spaCy").replace("en_core_web_sm", str(folder / "model")), {})
    check(folder)


GOLD = """\
1\tI\tI\tPRON\tP\t_\t2\tnsubj\t_\t_
2\tgo\tgo\tVERB\tV\t_\t0\troot\t_\t_
3\thome\thome\tNOUN\tN\t_\t2\tobl\t_\t_

"""


@pytest.mark.slow
def test_udpipe_itself(folder):
    """Its command line is that of the page; here its library runs."""
    udpipe = pytest.importorskip("ufal.udpipe", reason="needs UDPipe: pip install ufal.udpipe")
    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText(GOLD * 20)
    sentences, sentence, error = udpipe.Sentences(), udpipe.Sentence(), udpipe.ProcessingError()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
        sentence = udpipe.Sentence()
    options = ("models=1;iterations=1", "iterations=1;embedding_upostag=9;hidden_layer=9")
    trained = udpipe.Trainer.train(
        "morphodita_parsito", sentences, udpipe.Sentences(), "epochs=1", *options, error
    )
    (folder / "english.udpipe").write_bytes(trained)
    model = udpipe.Model.load(str(folder / "english.udpipe"))
    default = udpipe.Pipeline.DEFAULT
    pipeline = udpipe.Pipeline(model, "tokenizer=presegmented", default, default, "conllu")
    text = (folder / "raw" / "train.en").read_bytes().decode().replace("\r", " ")
    blocks = pipeline.process(text, error)
    (folder / "udpipe.conllu").write_text(blocks, encoding="utf-8", newline="\n")
    assert blocks.count("# sent_id") == sum(bool(line.split()) for line in LINES)
    exec(program("UDPipe"), {})
    check(folder)
