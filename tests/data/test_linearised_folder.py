"""Typed text and output of models of linearised folders."""

import pytest

from syntax_nmt.data.linearised_folder import (
    MULTITASK,
    PARSED_SOURCE,
    PARSED_TARGET,
    LinearisedSubwords,
    cut_between_symbols,
    join_between_symbols,
    linearised_mode,
)
from syntax_nmt.errors import UserError


class Halves:
    """Cuts each word in two, in the form of fairseq's sentencepiece."""

    def encode(self, x):
        return " ".join(f"▁{word[:1]} {word[1:]}".strip() for word in x.split())

    def decode(self, x):
        return x.replace(" ", "").replace("▁", " ").strip()


def subwords(mode, **options):
    return LinearisedSubwords(
        options.pop("bpe", Halves()), mode, ready=False, in_pieces=True, **options
    )


def test_typed_text_gets_its_task_and_its_escapes():
    of = subwords(MULTITASK)
    assert of.encode("the (S") == "▁<TR> ▁t he ▁- LRB-S"
    assert of.encode("<TR> a") == "▁<TR> ▁\\ <TR> ▁a"
    assert of.encode("") == "▁<TR>"
    assert of.decode(of.encode("the (S <TR> a<PA>")) == "the (S <TR> a<PA>"


def test_targets_have_no_task():
    assert subwords(MULTITASK, source=False).encode("the") == "▁t he"


def test_output_has_no_brackets():
    of = subwords(PARSED_TARGET)
    assert of.decode("▁(S ▁(NP ▁t he ▁)NP ▁- LRB- ▁s its ▁)S") == "the ( sits"
    assert of.decode("▁(S ▁)NP ▁)") == ""
    # Its piece for unknown ones has no mark, and belongs to the word before.
    assert of.decode("▁t ▁)NP <unk> ▁b") == "t<unk> b"


def test_text_in_pieces_keeps_a_task_that_it_has():
    of = LinearisedSubwords(None, MULTITASK, ready=True, in_pieces=True)
    assert of.encode("▁t he") == "▁<TR> ▁t he"
    assert of.encode("▁<PA> ▁t he") == "▁<PA> ▁t he"
    assert of.decode("▁(S ▁t he ▁- LRB- ▁)") == "▁t he ▁- LRB-"


def test_words_as_tokens():
    of = LinearisedSubwords(None, MULTITASK, ready=False, in_pieces=False)
    assert of.encode("the (") == "<TR> the -LRB-"
    assert of.decode("(S the -LRB- )") == "the ("


def test_parsed_sources_are_not_typed():
    with pytest.raises(UserError, match="reads linearised parses, and typed text has none"):
        subwords(PARSED_SOURCE).encode("the cat")
    assert subwords(PARSED_SOURCE, source=False).encode("the") == "▁t he"
    ready = LinearisedSubwords(None, PARSED_SOURCE, ready=True, in_pieces=True)
    assert ready.encode("▁(S ▁the ▁)") == "▁(S ▁the ▁)"


def test_symbols_are_not_cut_and_words_are_cut_as_without_them():
    lines = ["<PA> (S (NP the cat )NP sleeps )S", "", "(S )S", "the cat"]
    seen = []

    def cut(texts):
        seen.extend(texts)
        return [Halves().encode(text).split() for text in texts]

    pieces = [" ".join(found) for found in cut_between_symbols(lines, cut)]
    assert pieces == [
        "▁<PA> ▁(S ▁(NP ▁t he ▁c at ▁)NP ▁s leeps ▁)S", "", "▁(S ▁)S", "▁t he ▁c at"
    ]  # fmt: skip
    assert seen == ["the cat", "sleeps", "the cat"]
    assert join_between_symbols(pieces) == lines
    assert join_between_symbols(lines) == lines


@pytest.mark.parametrize(
    ("record", "mode"),
    [
        ("{}", None),
        ('{"data-bin": {"report": {"unknown": {}}}}', None),
        ('{"data-bin": {"report": {"linearised": "target"}}}', PARSED_TARGET),
    ],
)
def test_the_record_says_what_a_folder_is(tmp_path, record, mode):
    assert linearised_mode(tmp_path) is None
    (tmp_path / "prepare.json").write_text(record)
    assert linearised_mode(tmp_path) == mode


@pytest.mark.parametrize(
    "record", ["{", "[]", '{"data-bin": 1}', '{"data-bin": {"report": {"linearised": "x"}}}']
)
def test_a_damaged_record_is_one_line(tmp_path, record):
    (tmp_path / "prepare.json").write_text(record)
    with pytest.raises(UserError, match=r"prepare\.json: damaged: run the same"):
        linearised_mode(tmp_path)
