"""Analysers: odd sentences, broken devices, wrong files, and words as parsers expect them."""

import logging
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from syntax_nmt.errors import UserError
from syntax_nmt.parsing.analyser import (
    LONGEST_WORD,
    check_device,
    first_sentence,
    is_device,
    parser_words,
    penn_words,
)
from syntax_nmt.parsing.stanza import analysers
from syntax_nmt.parsing.stanza.analysers import DependencyParser, StanzaAnalyser
from syntax_nmt.parsing.stanza.models import TASKS, StanzaModels, find_models
from syntax_nmt.parsing.stanza.offline import one_thread

GOOD, BAD = ["good"], ["boom"]


class Pipeline:
    """Fails on whatever comes beside `boom`, and on everything once `break` has come in few."""

    def __init__(self):
        self.processors = {}
        self.broken = False
        self.given = []

    def __call__(self, sentences):
        self.given += sentences
        words = {word for sentence in sentences for word in sentence}
        self.broken = self.broken or ("break" in words and len(sentences) < 40)
        if self.broken or words & {"boom", "break"}:
            raise RuntimeError("CUDA error: boom. And more.\nAnd lines.")
        return SimpleNamespace(sentences=sentences)


class Lengths(StanzaAnalyser[tuple]):
    """A sentence of n words has n - 1 things in its analysis: that of one word is empty."""

    def _analysis(self, sentence, words):
        return tuple(words[1:])


@pytest.fixture
def lengths(monkeypatch):
    monkeypatch.setattr(analysers, "_load", lambda *_: Pipeline())
    return Lengths(StanzaModels("chunks", "en", None, ()))


def test_sentences_that_fail_do_not_end_the_run(lengths):
    for _ in range(3):
        assert lengths.analyse([BAD] * 30) == [None] * 30
    assert lengths.analyse([GOOD, BAD]) == [(), None]


def test_an_empty_analysis_is_one(lengths):
    assert lengths.analyse([GOOD] * 20) == [()] * 20
    assert lengths._pipeline.given == [GOOD] * 20  # nothing had to be tried


@pytest.mark.parametrize("sizes", [[8], [300], [1] * 8, [7, 1]])
def test_a_broken_device_is_an_error(lengths, sizes):
    lengths._pipeline.broken = True
    for size in sizes[:-1]:
        assert lengths.analyse([GOOD] * size) == [None] * size
    said = r"^Stanza fails on every sentence: RuntimeError: CUDA error: boom; check"
    for _ in range(2):
        with pytest.raises(UserError, match=said):
            lengths.analyse([GOOD] * sizes[-1])


def test_a_device_that_breaks_on_the_way_is_an_error(lengths):
    assert lengths.analyse([GOOD] * 50) == [()] * 50
    with pytest.raises(UserError, match="fails on every sentence"):
        lengths.analyse([*[GOOD] * 50, ["break"], *[GOOD] * 60])  # which is cut at 27 and at 55


def test_failures_are_counted_in_a_row_only(lengths):
    for _ in range(5):
        assert lengths.analyse([BAD, BAD, BAD, GOOD, BAD, BAD, BAD, BAD])[3] == ()
    assert {tuple(words) for words in lengths._pipeline.given} == {tuple(GOOD), tuple(BAD)}


def test_monsters_are_not_given_to_stanza(lengths):
    longest = "x" * LONGEST_WORD
    monster = [longest, longest + "x"]
    found = lengths.analyse([GOOD, monster, [longest] * 2, ["x" * 300_000], GOOD])
    assert found == [(), None, (longest,), None, ()]
    assert lengths.analyse([monster] * 100) == [None] * 100
    assert lengths._pipeline.given == [GOOD, [longest] * 2, GOOD]


def test_one_lock_for_all():
    """A thread that comes in meanwhile waits, and the number of threads is the caller's after."""
    inside, leave, order = threading.Event(), threading.Event(), []

    def first():
        with one_thread():
            inside.set()
            leave.wait(10)
            order.append("first leaves")

    def second():
        with one_thread():
            order.append("second is in")

    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        threads = [threading.Thread(target=first), threading.Thread(target=second)]
        threads[0].start()
        assert inside.wait(10)
        threads[1].start()
        threads[1].join(0.2)
        leave.set()
        for thread in threads:
            thread.join(10)
        assert order == ["first leaves", "second is in"]
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyError("lemma"), "KeyError: 'lemma'"),
        (ValueError("One. Two"), "ValueError: One"),
        (RuntimeError("CUDA error\nCUDA kernel"), "RuntimeError: CUDA error"),
        (OSError("\n\nNo 3.5 here!"), "OSError: No 3.5 here!"),
        (AssertionError(), "AssertionError"),
    ],
)
def test_first_sentence(error, said):
    assert first_sentence(error) == said


def refused(**files: Path) -> str:
    named = tuple((f"{name}_model_path", path) for name, path in files.items())
    with pytest.raises(UserError) as caught:
        DependencyParser(StanzaModels("dependencies", "en", None, named))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_files_that_do_not_load_are_all_named(tmp_path):
    for name in ("pos.pt", "parse.pt"):
        torch.save({"model": {}}, tmp_path / name)
    message = refused(pos=tmp_path / "pos.pt", depparse=tmp_path / "parse.pt")
    assert f"load {tmp_path / 'pos.pt'} and {tmp_path / 'parse.pt'}: " in message


def test_stanza_says_nothing_of_its_own(tmp_path, caplog):
    (tmp_path / "model.pt").write_text("this is text")
    logger = logging.getLogger("stanza")
    logger.addHandler(caplog.handler)
    try:
        refused(pos=tmp_path / "model.pt", depparse=tmp_path / "model.pt")
    finally:
        logger.removeHandler(caplog.handler)
    assert caplog.text == ""


def test_a_device_that_is_none_is_not_the_models_fault(tmp_path):
    with pytest.raises(UserError, match=r"^--device foo: no such device"):
        DependencyParser(StanzaModels("dependencies", "en", None, ()), "foo")


def test_models_in_a_folder_of_the_language_are_found_for_the_message(tmp_path):
    (tmp_path / "en").mkdir()
    for file in TASKS["dependencies"].values():
        (tmp_path / "en" / file.file_name).touch()
    with pytest.raises(UserError, match=rf"they are in {tmp_path}/en: give --stanza-dir"):
        find_models("dependencies", "en", tmp_path)


# ---- devices: which texts name one, and what is said where there is none


@pytest.mark.parametrize(
    "device", ["foo", "", "cuda:", "cuda:x", "cuda:-1", "CPU", "cuda:0 ", "mps"]
)
def test_what_is_no_device(device):
    assert not is_device(device)
    with pytest.raises(UserError, match=f"^--device {device}: no such device; give cpu, cuda or"):
        check_device(device, "--device")


@pytest.mark.parametrize(
    ("gpus", "device", "said"),
    [
        (0, "cpu", None),
        (0, "cuda", "no GPU"),
        (1, "cuda:0", None),
        (1, "cuda:1", "one GPU"),
        (2, "cuda:2", "2 GPUs"),
    ],
)
def test_gpus_that_are_there_and_not(monkeypatch, gpus, device, said):
    monkeypatch.setattr("torch.cuda.is_available", lambda: gpus > 0)
    monkeypatch.setattr("torch.cuda.device_count", lambda: gpus)
    assert is_device(device)
    if said is None:
        check_device(device, "--device")
    else:
        with pytest.raises(UserError, match=f"^a.json: device {device}: torch sees {said}.* cpu$"):
            check_device(device, "a.json: device")


# ---- words as parsers expect them: same number, same order


@pytest.mark.parametrize("lang", ["en", "en_US", "en-GB", "EN"])
def test_every_english_is_cut_as_treebanks_do(lang):
    assert parser_words(["don", "'t"], lang) == ["do", "n't"]


@pytest.mark.parametrize(
    ("corpus", "parser"),
    [
        ("I don 't know", "I do n't know"),
        *(("CAN 'T", "CA N'T"), ("don &apos;t", "do n't"), ("don ’t", "do n't")),
        *((same, same) for same in ("do n't", "the man 's hat", "n 't", "@ - @ a@-@b", "")),
        ("well @-@ known and @/@ or", "well - known and / or"),
        ("&lt; &amp;lt; &quot; &#91; &#124; R&amp;D", '< &lt; " [ | R&D'),
        ("-LRB- a -RRB- `` b ''", '( a ) " b "'),
    ],
)
def test_spelling_changes_and_nothing_else(corpus, parser):
    assert parser_words(corpus.split(), "en") == parser.split()
    assert len(corpus.split()) == len(parser.split())


def test_other_languages_keep_their_apostrophes():
    assert parser_words(["den", "'t", "l’", "&apos;"], "nl") == ["den", "'t", "l’", "'"]


def test_names_of_the_penn_treebank():
    assert penn_words(['"', "(", "x", ")", '"', '"']) == ["``", "-LRB-", "x", "-RRB-", "''", "``"]
    assert penn_words(parser_words(["``", "-LCB-", "''"], "en")) == ["``", "-LCB-", "''"]
