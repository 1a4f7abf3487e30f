"""Parsing at inference, with a stand-in for Stanza: what it is given, and what comes of it."""

import json
import logging
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary
from fairseq.data.data_utils import collate_tokens
from fairseq_cli.interactive import make_batches
from phrase_loops import ngrams
from prepared_corpus import task_of
from trees_of import tree_of

from syntax_nmt.data.annotation import CHUNKS, HEADS, PHRASES, TREES
from syntax_nmt.data.annotation.columns import DEPREL, UPOS
from syntax_nmt.data.annotation.kind import BatchedText
from syntax_nmt.data.binarised_annotation import BinarisedAnnotation
from syntax_nmt.data.constituents import parse_tree
from syntax_nmt.data.manifest import AnnotationFile, Fingerprint, write_manifest
from syntax_nmt.data.phrases import parsed_lengths
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.errors import UserError
from syntax_nmt.parsing import config
from syntax_nmt.parsing.stanza.models import find_models
from syntax_nmt.task import source_parser

READER = SimpleNamespace(reads_annotation=(PHRASES,))
RETURNS_THE_BATCH = SimpleNamespace(generate=lambda models, sample, **_: sample)
SYMBOLS = {
    "sentencepiece": "▁the ▁cat ▁sat s ▁ ▁on ▁mat t ▁it",
    "subword-nmt": "the cat@@ s sat un@@ on@@ mat it",
    "none": "the cat sat on mat it a b c",
}


class Parser:
    """Stands in for one of Stanza's.

    A sentence with "fail" has no tree, one with "lose" a tree that lacks a word.
    """

    def __init__(self, tree):
        self.tree, self.calls = tree, []

    def analyse(self, sentences):
        self.calls.append([" ".join(words) for words in sentences])
        kept = [[word for word in words if word != "lose"] for words in sentences]
        return [None if "fail" in words else self.tree(words) for words in kept]


def constituents(words):
    """`(S (N a) (N b) (X (N c) …))`: the first words are phrases of their own.

    There is one for each letter of the last.
    """
    alone = len(words[-1])
    leaves = [f"(N {word})" for word in words]
    rest = f"(X {' '.join(leaves[alone:])})" if leaves[alone:] else ""
    return f"(S {' '.join(leaves[:alone])} {rest})"


def heads_of(words):
    """A word hangs on the one that stands its number of letters before it, or on the first."""
    return [max(0, place - len(word)) for place, word in enumerate(words)]


@pytest.fixture
def parser(monkeypatch):
    """That of constituents; it holds the one of dependencies."""
    parser = Parser(constituents)
    parser.dependencies = Parser(lambda words: tree_of(heads_of(words), words))
    of_task = {"dependencies": parser.dependencies, "constituents": parser}
    monkeypatch.setattr(config, "loaded_analyser", lambda models, *_: of_task[models.task])
    return parser


@pytest.fixture
def folder(tmp_path):
    for name in ("tagger.pt", "constituency.pt", "parser.pt"):
        (tmp_path / name).touch()
    return tmp_path


def write_config(folder, scheme="none", **values):
    path = folder / "parser.json"
    values = {"lang": "en", "subwords": scheme, "stanza_dir": str(folder), **values}
    path.write_text(json.dumps(values))
    return path


def dictionary(scheme, *more):
    symbols = Dictionary()
    for symbol in (*SYMBOLS[scheme].split(), *more):
        symbols.add_symbol(symbol)
    return symbols


def make_parser(folder, scheme="none", symbols=None, **values):
    path = write_config(folder, scheme, **values)
    symbols = dictionary(scheme) if symbols is None else symbols
    cfg = SimpleNamespace(source_lang="en", target_lang="xx", data=str(folder))
    task = SimpleNamespace(cfg=cfg, source_dictionary=symbols)
    return source_parser.SourceParser.read(path, task)


def parsed(parser, kind, tokens):
    """The tensor of one kind."""
    return parser.parse([kind], tokens)[kind.key]


def make_task(folder, scheme="none", source="src", target="tgt", **values):
    for language in (source, target):
        dictionary(scheme).save(str(folder / f"dict.{language}.txt"))
    return task_of(
        folder, source, target, parser_config=str(write_config(folder, scheme, **values))
    )


def batch(symbols, lines, left_pad=True):
    sentences = [symbols.encode_line(line, add_if_not_exist=False).long() for line in lines]
    return collate_tokens(sentences, symbols.pad(), left_pad=left_pad)


def rows_of(lengths):
    return [[length for length in row if length] for row in lengths.tolist()]


def expected(words, counts=None):
    """Phrases of the stand-in's tree for short sentences, EOS included; whole words by default."""
    tree = parse_tree(constituents(words.split()), "", 1)
    return [*parsed_lengths(tree, counts or [1] * len(tree)), 1]


def expected_heads(counts, words, width, left_pad):
    """The columns of the stand-in's heads, word by word; −1 at pads, at EOS and without words."""
    first = width - 1 - sum(counts) if left_pad else 0
    row, opens = [-1] * width, []
    for count in counts:
        opens.append(first)
        first += count
    for word, head in enumerate(heads_of(words)):
        for column in range(opens[word], opens[word] + counts[word]):
            row[column] = opens[word]
        row[opens[word]] = opens[head]
    return row


@pytest.mark.parametrize("left_pad", [True, False])
def test_same_rows_whatever_the_padding(parser, folder, left_pad):
    lines = ["the cat sat on the mat it", "the cat sat a", "", "a a a a a a a b a cat"]
    phrases = make_parser(folder)
    lengths = parsed(phrases, PHRASES, batch(dictionary("none"), lines, left_pad))
    assert lengths.dtype == torch.int32
    assert lengths[:, -1].any()
    assert rows_of(lengths) == [expected(line) if line else [1] for line in lines]
    assert len({tuple(row) for row in rows_of(lengths)}) == len(lines)


@pytest.mark.parametrize("left_pad", [True, False])
def test_trees_and_their_levels_are_those_of_an_annotation_file(parser, folder, left_pad):
    lines = ["▁the ▁cat s ▁sat", "▁it", "▁a ▁cat ▁sat ▁on ▁the ▁mat s"]
    counts = [[1, 2, 1], [1], [1, 1, 1, 1, 1, 2]]
    symbols = dictionary("sentencepiece")
    tokens = batch(symbols, lines, left_pad)
    found = make_parser(folder, "sentencepiece").parse([TREES], tokens)
    rows = []
    for line, pieces in zip(lines, counts):
        words = line.replace(" s", "s").replace("▁", "").split()
        rows.append(TREES.row(parse_tree(constituents(words), "", 1), pieces, {}))
    sizes = np.array([sum(pieces) + 1 for pieces in counts])
    text = BatchedText(np.arange(3), sizes, tokens.size(1), left_pad)
    expected = BinarisedAnnotation(TREES, RaggedArray.from_rows(rows)).batched(text)
    assert found["trees"].tolist() == expected["trees"].tolist()
    assert found["tree_levels"] == expected["tree_levels"] != ()
    task = make_task(folder)
    sample = {"net_input": {"src_tokens": batch(task.source_dictionary, ["the cat sat"])}}
    reader = SimpleNamespace(reads_annotation=(TREES,))
    filled = task.inference_step(RETURNS_THE_BATCH, [reader], sample)["net_input"]
    assert set(filled) == {"src_tokens", *TREES.keys}


def test_sentences_are_parsed_once_and_in_order_of_length(parser, folder):
    lines = ["the cat sat", "a", "the cat", "a"]
    phrases, symbols = make_parser(folder), dictionary("none")
    first = parsed(phrases, PHRASES, batch(symbols, lines))
    assert parser.calls == [["a", "the cat", "the cat sat"]]
    again = parsed(phrases, PHRASES, batch(symbols, [*lines[::-1], "it"]))
    assert parser.calls[1:] == [["it"]]
    assert rows_of(again)[:4] == rows_of(first)[::-1]


def test_what_was_parsed_long_ago_is_forgotten(parser, folder, monkeypatch):
    monkeypatch.setattr(source_parser, "_REMEMBERED", 2)
    phrases, symbols = make_parser(folder), dictionary("none")
    for line in ("a", "b", "a", "c", "a", "b"):
        parsed(phrases, PHRASES, batch(symbols, [line]))
    assert parser.calls == [["a"], ["b"], ["c"], ["b"]]
    together = parsed(phrases, PHRASES, batch(symbols, ["a", "b", "c", "it", "the cat"]))
    assert len(rows_of(together)) == 5  # more than are remembered


def test_sentences_without_parse_are_cut_as_those_without_annotation_file(parser, folder):
    lines = ["the cat sat on the mat", "the cat fail it", "the", "", "lose it a", "a b c the it"]
    symbols = dictionary("none", "fail", "lose")
    phrases = make_parser(folder, symbols=symbols, max_words=5)
    lengths = parsed(phrases, PHRASES, batch(symbols, lines))
    assert parser.calls == [["the", "lose it a", "the cat fail it", "a b c the it"]]
    unparsed = [ngrams(7), ngrams(5), [1, 1], [1], ngrams(4)]
    assert rows_of(lengths) == [*unparsed, expected(lines[-1])]
    assert expected(lines[-1]) != ngrams(6)


def test_nothing_is_loaded_for_nothing(folder, monkeypatch):
    monkeypatch.setattr(config, "loaded_analyser", lambda *_: pytest.fail("loaded"))
    tokens = batch(dictionary("none"), ["", "a b"])
    assert rows_of(parsed(make_parser(folder, max_words=1), PHRASES, tokens)) == [[1], ngrams(3)]


@pytest.mark.parametrize(
    ("scheme", "pieces", "words", "counts"),
    [
        ("sentencepiece", "▁the ▁cat s ▁sat", "the cats sat", [1, 2, 1]),
        ("sentencepiece", "▁the ☃ ▁sat", "the sat", [2, 1]),
        ("sentencepiece", "▁the ▁ ☃ ▁sat", "the <unk> sat", [1, 2, 1]),
        ("sentencepiece", "☃ ☃ ▁sat", "<unk> sat", [2, 1]),
        ("sentencepiece", "☃ s ▁sat", "s sat", [2, 1]),
        ("subword-nmt", "the cat@@ s sat", "the cats sat", [1, 2, 1]),
        ("subword-nmt", "the un@@ ☃ sat", "the un sat", [1, 2, 1]),
        ("subword-nmt", "the ☃ s un@@", "the <unk> s un@@", [1, 1, 1, 1]),
        ("none", "the ☃ sat", "the <unk> sat", [1, 1, 1]),
    ],
)
def test_words_of_pieces_some_of_them_unknown(parser, folder, scheme, pieces, words, counts):
    phrases, symbols = make_parser(folder, scheme), dictionary(scheme)
    lengths = parsed(phrases, PHRASES, batch(symbols, [pieces]))
    assert parser.calls == [[words]]
    assert rows_of(lengths) == [expected(words, counts)]
    assert int(lengths.sum()) == len(pieces.split()) + 1


def test_unknown_pieces_are_mentioned_once(parser, folder, caplog):
    for scheme, times in (("sentencepiece", 1), ("none", 0)):
        caplog.clear()
        phrases = make_parser(folder, scheme)
        for line in ("☃", "☃ ☃"):
            parsed(phrases, PHRASES, batch(dictionary(scheme), [line]))
        assert caplog.text.count("unknown pieces") == times


def test_piece_with_parts_of_two_words(parser, folder, caplog):
    symbols = dictionary("sentencepiece", "▁on▁the")
    phrases = make_parser(folder, "sentencepiece", symbols)
    lengths = parsed(phrases, PHRASES, batch(symbols, ["▁cat ▁on▁the ▁mat", "▁the ▁cat"]))
    assert parser.calls == [["the cat"]]
    assert rows_of(lengths)[0] == ngrams(4)
    assert "reaches over the end of a word" in caplog.text


@pytest.mark.parametrize("left_pad", [True, False])
def test_heads_of_pieces(parser, folder, left_pad):
    lines = ["▁the ▁cat s ▁sat s s ▁on", "▁it", "", "▁sat s ▁on ▁mat"]
    cut = [("the cats satss on", [1, 2, 3, 1]), ("it", [1]), ("", []), ("sats on mat", [2, 1, 1])]
    symbols = dictionary("sentencepiece")
    heads = parsed(make_parser(folder, "sentencepiece"), HEADS, batch(symbols, lines, left_pad))
    assert heads.dtype == torch.int32
    width = len(lines[0].split()) + 1
    wanted = [expected_heads(counts, words.split(), width, left_pad) for words, counts in cut]
    assert heads.tolist() == wanted
    assert parser.dependencies.calls == [["it", "sats on mat", "the cats satss on"]]
    assert parser.calls == []


TAGS = ("<unk>", "VERB", "NOUN")


def test_values_of_pieces(parser, folder):
    """In the model's own numbers; what it does not know is <unk>."""
    tagged = {"cats": "NOUN", "satss": "VERB"}
    parser.dependencies.tree = lambda words: tree_of(
        heads_of(words), words, [tagged.get(word, "X") for word in words]
    )
    symbols = dictionary("sentencepiece")
    found = make_parser(folder, "sentencepiece")
    tokens = batch(symbols, ["▁the ▁cat s ▁sat s s", "▁it"])
    rows = found.parse([UPOS], tokens, labels={UPOS: TAGS})["feature_upos"]
    assert rows.tolist() == [[1, 3, 3, 2, 2, 2, -1], [-1] * 5 + [1, -1]]
    other = found.parse([UPOS], tokens, labels={UPOS: ("<unk>", "NOUN")})["feature_upos"]
    assert other[0].tolist() == [1, 2, 2, 1, 1, 1, -1]


def test_a_sentence_is_parsed_once_for_all_that_take_the_same_analysis(parser, folder):
    labels = {UPOS: TAGS, DEPREL: ("<unk>", "dep")}
    found, symbols = make_parser(folder), dictionary("none")
    kinds = [UPOS, HEADS, PHRASES, DEPREL]
    first = found.parse(kinds, batch(symbols, ["the cat", "it"]), labels=labels)
    assert set(first) == {kind.key for kind in kinds}
    assert parser.dependencies.calls == parser.calls == [["it", "the cat"]]
    again = found.parse([DEPREL, HEADS], batch(symbols, ["it", "a", "the cat"]), labels=labels)
    assert parser.dependencies.calls[1:] == [["a"]]
    assert again["feature_deprel"].tolist() == [[-1, 2, -1], [-1, 2, -1], [2, 2, -1]]


def test_heads_without_parse(parser, folder):
    """No tree, a tree of other words, too long a sentence, and nothing to parse: −1 all over."""
    symbols = dictionary("none", "fail", "lose")
    parse = partial(parsed, make_parser(folder, symbols=symbols, max_words=4), HEADS)
    heads = parse(batch(symbols, ["the fail it", "lose it a", "a a a a a", "", "a b c"]))
    assert heads[:4].eq(-1).all()
    assert heads[4].tolist() == [-1, -1, 2, 2, 3, -1]
    assert parse(batch(symbols, [""])).tolist() == [[-1]]


def test_a_model_gets_every_kind_that_it_reads(parser, folder):
    task = make_task(folder)
    sample = {"net_input": {"src_tokens": batch(task.source_dictionary, ["the cat sat"])}}
    both = SimpleNamespace(reads_annotation=(HEADS, PHRASES))
    for reader in (both, READER, SimpleNamespace(reads_annotation=(HEADS, CHUNKS))):
        filled = task.inference_step(RETURNS_THE_BATCH, [reader], sample)["net_input"]
        read = {kind.key for kind in reader.reads_annotation if kind is not CHUNKS}
        assert set(filled) == {"src_tokens", *read}
    assert parser.calls == parser.dependencies.calls == [["the cat sat"]]  # each is parsed once


def typed_batches(task, lines, batch_size):
    cfg = SimpleNamespace(
        generation=SimpleNamespace(constraints=None),
        dataset=SimpleNamespace(
            max_tokens=None, batch_size=batch_size, skip_invalid_size_inputs_valid_test=False
        ),
    )
    for made in make_batches(list(lines), cfg, task, (1024, 1024), lambda line: line):
        inputs = {"src_tokens": made.src_tokens.clone(), "src_lengths": made.src_lengths}
        yield made.ids.tolist(), {"net_input": inputs}


@pytest.mark.parametrize("batch_size", [1, 2, 8])
def test_typed_sentences_of_the_same_tokens_are_told_apart(parser, folder, batch_size):
    task = make_task(folder)
    last = ["x", "yy", "zzz", "yy", "vvvv", "it"]
    lines = [*(f"the cat sat on {word}" for word in last), "the xx cat sat", ""]
    found = {}
    for ids, sample in typed_batches(task, lines, batch_size):
        for _ in range(2):  # asking again is no other answer
            filled = task.inference_step(RETURNS_THE_BATCH, [READER], sample)
        found.update(zip(ids, rows_of(filled["net_input"]["phrase_lengths"])))
    assert found == {i: expected(line) if line else [1] for i, line in enumerate(lines)}
    parsed = [sentence for call in parser.calls for sentence in call]
    assert sorted(parsed) == sorted(set(lines) - {""})


def test_other_batches_are_not_taken_for_typed_ones(parser, folder):
    """Tokens that did not come from typed lines have no strings but the vocabulary's."""
    task = make_task(folder)
    tokens, lengths = task.get_interactive_tokens_and_lengths(["the zzz"], str)
    task.build_dataset_for_inference(tokens, lengths).collater([])
    elsewhere = task.build_dataset_for_inference([tokens[0].clone()], lengths)
    sample = elsewhere.collater([elsewhere[0]])
    task.inference_step(RETURNS_THE_BATCH, [READER], sample)
    assert parser.calls == [["the <unk>"]]


# What a user can get wrong.


@pytest.mark.parametrize("fails", ["loading", "parsing"])
def test_a_parser_that_fails(parser, folder, monkeypatch, fails):
    def broken(*_):
        raise UserError("no good")

    if fails == "loading":
        monkeypatch.setattr(config, "loaded_analyser", broken)
    monkeypatch.setattr(parser, "analyse", broken)
    with pytest.raises(UserError, match=r"parser\.json: no good"):
        parsed(make_parser(folder), PHRASES, batch(dictionary("none"), ["a"]))


def test_a_gpu_that_is_not_there_is_the_configurations_matter(parser, folder, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    phrases = make_parser(folder, device="cuda")
    with pytest.raises(UserError, match=r"parser\.json: device cuda: torch sees no GPU") as caught:
        parsed(phrases, PHRASES, batch(dictionary("none"), ["a"]))
    assert "--device" not in str(caught.value)
    assert parser.calls == []


@pytest.mark.parametrize(("kind", "file"), [(PHRASES, "constituency.pt"), (HEADS, "parser.pt")])
def test_models_are_found_before_the_work(folder, kind, file):
    """Those of what the model reads: others may be missing."""
    (folder / file).unlink()
    parser = make_parser(folder)
    parser.find_models({HEADS, PHRASES, CHUNKS} - {kind})
    with pytest.raises(UserError, match=rf"^\S+parser\.json: no Stanza models .*{file}"):
        parser.find_models([kind])


def test_parser_of_the_target_language(folder):
    with pytest.raises(UserError, match=r"parser\.json: lang: .*'en'.*'de'"):
        make_task(folder, source="de", target="en")
    make_task(folder, source="en", target="de")
    make_task(folder, source="en_US", target="en")


@pytest.mark.parametrize("vocabulary", sorted(SYMBOLS))
@pytest.mark.parametrize("scheme", sorted(SYMBOLS))
def test_scheme_of_another_vocabulary_is_mentioned(folder, caplog, scheme, vocabulary):
    with caplog.at_level(logging.WARNING):
        make_parser(folder, scheme, dictionary(vocabulary))
    assert (f"looks like '{vocabulary}'" in caplog.text) == (scheme != vocabulary)


def test_typed_lines_are_cut_as_fairseq_cuts_them(parser, folder):
    task = make_task(folder)
    ((_, sample),) = typed_batches(task, [" the \t xx\u00a0cat\u3000 "], 1)
    task.inference_step(RETURNS_THE_BATCH, [READER], sample)
    assert parser.calls == [["the xx cat"]]


@pytest.mark.parametrize("recorded", ["of another", "the same", "none"])
def test_another_parser_than_that_of_the_training_text_is_said_once(folder, caplog, recorded):
    """With both names; a folder that does not know its parser says nothing."""
    own = find_models("dependencies", "en", folder).made_by
    made_by = {"of another": "UDPipe 1.4, en.udpipe (12345678)", "the same": own, "none": ""}
    text = ("train.en.conllu", Fingerprint(1, "00000001"))
    entry = AnnotationFile(1, 1, *text, parser=made_by[recorded])
    write_manifest(folder, {f"{split}.en-xx.en.heads": entry for split in ("train", "valid")})
    parser = make_parser(folder)
    for _ in range(2):
        parser.find_models([HEADS, PHRASES])
    said = [record.message for record in caplog.records if "training text" in record.message]
    assert len(said) == (recorded == "of another")
    for message in said:
        assert (
            f"dependencies are made by {own}, those of the training text by UDPipe 1.4" in message
        )
