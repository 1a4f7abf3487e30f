"""Lists of labels: counted by hand, of the text's words and not the treebank's; or given.

Multiword tokens make the difference: the `DET` inside German `am` is in no row.
"""

import shutil

import numpy as np
import pytest
from cut_corpus import CUTS, run_preprocess
from test_features import TRAIN, rows_of, run, write

from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.data.manifest import read_manifest
from syntax_nmt.data.ragged import IndexedFile, RaggedArray, RaggedWriter, open_indexed
from syntax_nmt.errors import UserError
from syntax_nmt.preparation import joining
from syntax_nmt.preparation.binarizing import binarize

# Each: the text ("@": cut there); the words with head, tag and relation, in a token of several
# within brackets. Then how many words of the text have each tag, and each relation.
TREEBANKS = {
    "german": (
        [
            ("am Ha@us steht er", "am[ an 3 ADP case | dem 3 DET det ] | Haus 4 NOUN obl "
             "| steht 0 VERB root | er 4 PRON nsubj"),
            ("zum Glück ja", "zum[ zu 3 ADP case | dem 3 DET det ] | Glück 4 NOUN obl "
             "| ja 0 INTJ root"),
        ],
        {"ADP": 2, "NOUN": 2, "VERB": 1, "PRON": 1, "INTJ": 1},
        {"case": 2, "obl": 2, "root": 2, "nsubj": 1},
    ),
    "french, the determiner once alone": (
        [
            ("du pa@in", "du[ de 3 ADP case | le 3 DET det ] | pain 0 NOUN root"),
            ("des mots", "des[ de 3 ADP case | les 3 DET det ] | mots 0 NOUN root"),
            ("le mot", "le 2 DET det | mot 0 NOUN root"),
        ],
        {"ADP": 2, "NOUN": 3, "DET": 1},
        {"case": 2, "root": 3, "det": 1},
    ),
    "spanish, pronouns in a verb": (
        [
            ("dá@melo", "dámelo[ da 0 VERB root | me 1 PRON iobj | lo 1 PRON obj ]"),
            ("dámelo ya", "dámelo[ da 0 VERB root | me 1 PRON iobj | lo 1 PRON obj ] "
             "| ya 1 ADV advmod"),
        ],
        {"VERB": 2, "ADV": 1},
        {"root": 2, "advmod": 1},
    ),
    "portuguese, the text has the words themselves": (
        [
            ("em a ca@sa", "na[ em 3 ADP case | a 3 DET det ] | casa 0 NOUN root"),
            ("na casa", "na[ em 3 ADP case | a 3 DET det ] | casa 0 NOUN root"),
        ],
        {"ADP": 2, "DET": 1, "NOUN": 2},
        {"case": 2, "det": 1, "root": 2},
    ),
    "arabic, the verb in the middle": (
        [
            ("wktbh", "wktbh[ w 2 CCONJ cc | ktb 0 VERB root | h 2 PRON obj ]"),
            ("w ktb", "w 2 CCONJ cc | ktb 0 VERB root"),
        ],
        {"VERB": 2, "CCONJ": 1},
        {"root": 2, "cc": 1},
    ),
    "english, cut and uncut": (
        [
            ("I do n't go", "I 4 PRON nsubj | don't[ do 4 AUX aux | n't 4 PART advmod ] "
             "| go 0 VERB root"),
            ("I don't go", "I 4 PRON nsubj | don't[ do 4 AUX aux | n't 4 PART advmod ] "
             "| go 0 VERB root"),
        ],
        {"PRON": 2, "AUX": 2, "PART": 1, "VERB": 2},
        {"nsubj": 2, "aux": 2, "advmod": 1, "root": 2},
    ),
    "turkish, the last nearest to the root": (
        [("ev@de@ki kedi", "evdeki[ ev 2 NOUN obl | de 3 ADP case | ki 4 ADJ amod ] "
          "| kedi 0 NOUN root"),
         ("evdeki", "evdeki[ ev 2 NOUN obl | de 3 ADP case | ki 0 ADJ root ]")],
        {"ADJ": 2, "NOUN": 1},
        {"amod": 1, "root": 2},
    ),
    "two words of the treebank in one of the text": (
        [("25% Ra@batt", "25 2 NUM nummod | % 3 SYM obl | Rabatt 0 NOUN root"),
         ("25 %", "25 2 NUM nummod | % 0 SYM root")],
        # Mere punctuation stands for a token where a word hangs on it.
        {"SYM": 2, "NOUN": 1, "NUM": 1},
        {"obl": 1, "root": 2, "nummod": 1},
    ),
    "sentences without a parse, and of other words": (
        [("a@b c", "ab 2 NOUN nsubj | c 0 VERB root"), ("x y", None),
         ("x y z", "other 0 SYM list"), ("ab", "ab 0 NOUN root")],
        {"NOUN": 2, "VERB": 1},
        {"nsubj": 1, "root": 2},
    ),
    "one token for all, and none": (
        [("ab@cd", "abcd[ a 2 X dep | b 3 PART mark | c 0 VERB root | d 3 PRON obj ]"),
         ("", None), ("abcd", "abcd[ a 0 X root | b 1 PART mark | c 2 VERB dep | d 1 PRON obj ]"),
         ("cd", "cd[ c 0 VERB root | d 1 PRON obj ]")],
        {"VERB": 2, "X": 1},
        {"root": 3},
    ),
}  # fmt: skip


def conllu(words):
    """A block; a token of several words has a line of its own before them."""
    if words is None:
        return "# parse = none\n\n"
    lines, first = [], None
    tokens = words.replace("[", " [ ").replace("]", " ] ").split("|")
    for number, token in enumerate(tokens, start=1):
        form, *fields = token.split()
        if "[" in fields:
            first, line = number, f"\t{form}" + "\t_" * 8 + "\n"
            lines.append("")
            _, form, *fields = fields
        head, tag, relation, *closes = fields
        lines.append(f"{number}\t{form}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_\n")
        if closes:
            lines[lines.index("")] = f"{first}-{number}{line}"
    return "".join(lines) + "\n"


@pytest.mark.parametrize("name", TREEBANKS)
def test_lists_are_counted_in_words_of_the_text(tmp_path, name):
    sentences, tags, relations = TREEBANKS[name]
    for folder, cut in (("tok", "none"), ("bpe", "subword-nmt")):
        (tmp_path / folder).mkdir()
        text = "".join(f"{CUTS[cut](sentence)}\n" for sentence, _ in sentences)
        for lang in ("de", "en"):
            (tmp_path / folder / f"train.{lang}").write_text(text)
    blocks = "".join(conllu(words) for _, words in sentences)
    (tmp_path / "tok/train.de.conllu").write_text(blocks)
    data_bin = run_preprocess(tmp_path, trainpref=tmp_path / "bpe/train")
    for threshold in (1, 2):
        binarize(
            "de", "en", data_bin, trainpref=str(tmp_path / "bpe/train"), words=tmp_path / "tok",
            features="upos,deprel", feature_threshold=threshold, on_mismatch="skip",
            report=lambda line: None,
        )  # fmt: skip
        for column, counts in (("upos", tags), ("deprel", relations)):
            found = (data_bin / f"dict.{column}.txt").read_text().split()
            frequent = sorted(label for label, count in counts.items() if count >= threshold)
            assert found == ["<unk>", *frequent, "_"], (column, threshold)
            rows = RaggedArray.open(data_bin / f"train.de-en.de.{column}")
            held = {number for index in range(len(rows)) for number in rows[index].tolist()}
            assert {*range(2, len(frequent) + 2)} <= held, "a label that no row has"


OTHER = [("go", "VERB", "root"), ("the X@Y", "DET SYM", "det root")]


@pytest.fixture
def folders(tmp_path):
    """A folder with lists of its own, and one whose text has other tags."""
    for name, sentences in (("first", TRAIN), ("second", OTHER)):
        (tmp_path / name).mkdir()
        write(tmp_path / name, "train", sentences)
        dictionaries = [f"--{side}dict={tmp_path}/first/data-bin/dict.{lang}.txt"
                        for side, lang in (("src", "de"), ("tgt", "en"))]  # fmt: skip
        more = dictionaries if name == "second" else []
        run_preprocess(tmp_path / name, *more, trainpref=tmp_path / name / "bpe/train")
    run(tmp_path / "first", splits=("train",))
    return tmp_path / "first", tmp_path / "second"


def lists(folder):
    return {path.name: path.read_bytes() for path in (folder / "data-bin").glob("dict.*.txt")}


@pytest.mark.parametrize("data_bin", [True, False])
def test_ids_are_those_of_the_folder_that_is_given(folders, data_bin):
    first, second = folders
    run(second, splits=("train",), labels=first / "data-bin" if data_bin else first)
    assert lists(first) == lists(second)
    assert (first / "data-bin/dict.upos.txt").read_text().split() == [
        "<unk>", "DET", "NOUN", "VERB", "_",
    ]  # fmt: skip
    assert rows_of(second, "upos") == [[4], [2, 1, 1]]


def test_one_list_alone(folders):
    first, second = folders
    run(second, splits=("train",), labels=first / "data-bin/dict.upos.txt", feature_threshold=1)
    assert rows_of(second, "upos") == [[4], [2, 1, 1]]
    assert (second / "data-bin/dict.deprel.txt").read_text().split() == [
        "<unk>",
        "det",
        "root",
        "_",
    ]


def test_rows_take_other_ids_some_at_a_time(tmp_path, monkeypatch):
    """Those of an empty row and of one without annotation stay; a label that is in no list takes
    its row's annotation away."""
    rows = [[1, 0, 2], [3], [], [-1, -1], [3], [1, 3], [3, 3], [2, 1], [1]]
    monkeypatch.setattr(joining, "_ROWS", 2)
    with RaggedWriter(tmp_path / "own") as writer:
        for row in rows:
            writer.write(np.array(row, dtype=np.int32), [len(row)])
    own = joining.blocks_of(open_indexed(tmp_path / "own"))
    text = IndexedFile(np.empty(0), np.array([len(row) + 1 for row in rows]), np.empty(0))
    taken = joining.Rows(own, ("NP", "VP", "PP"), annotated=7)
    joined = joining.join_rows([taken], CHUNKS, ["PP", "NP"], tmp_path / "joined", text)
    found = RaggedArray.open(tmp_path / "joined")
    assert [found[row].tolist() for row in range(len(found))] == [
        *([-1, -1, -1], [1], [], [-1, -1], [1], [2, 1], [1, 1], [-1, -1], [2]),
    ]
    assert (joined.sentences, joined.annotated, joined.unseen) == (9, 5, {"VP": 2})


def test_chunks_of_a_list(tmp_path, folders):
    """A sentence with a type that the list does not have counts as not annotated."""
    first, second = folders
    for folder, tags in (
        (first, ["B-NP I-NP B-VP"] * 2 + ["O", ""]),
        (second, ["B-VP", "B-NP B-X"]),
    ):
        (folder / "tok/train.en.chunks").write_text("".join(f"{line}\n" for line in tags))
    run(first, splits=("train",))
    said = []
    run(second, splits=("train",), labels=first, report=said.append)
    assert lists(first) == lists(second)
    found = read_manifest(second / "data-bin")["train.de-en.en.chunks"]
    assert (found.sentences, found.annotated) == (2, 1)
    assert any("chunk types that dict.chunks.txt does not have" in line for line in said)


def test_a_split_of_another_list_is_not_left_behind(folders):
    """Its ids would mean other labels."""
    first, second = folders
    run(second, splits=("train",), feature_threshold=1)
    before = lists(second)
    with pytest.raises(UserError, match=r"train\.de-en\.de\.upos was binarised with another"):
        binarize_valid(second, first)
    assert lists(second) == before


def test_a_list_of_the_training_text_leaves_no_split_behind(folders):
    """As of changed annotation, another threshold, or the other direction of a folder."""
    _, second = folders
    run(second, splits=("train",), feature_threshold=1)
    binarize_valid(second, None)
    before = lists(second)
    run(second, splits=("train",), feature_threshold=1)  # the same lists
    parses = second / "tok/train.de.conllu"
    parses.write_text(parses.read_text("utf-8").replace("\tDET\t", "\tPRON\t"), "utf-8")
    said = r"the training text: valid\.de-en\.de\.upos was binarised with another dict\.upos"
    with pytest.raises(UserError, match=said):
        run(second, splits=("train",), feature_threshold=1)
    assert lists(second) == before
    run(second, splits=("train", "valid"), feature_threshold=1)
    assert lists(second) != before


def binarize_valid(folder, labels):
    write(folder, "valid", OTHER)
    for lang in ("de", "en"):
        for end in ("bin", "idx"):
            name = f"data-bin/{{}}.de-en.{lang}.{end}"
            shutil.copy(folder / name.format("train"), folder / name.format("valid"))
    return run(folder, splits=("valid",), labels=labels)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: path.unlink(), r"has no dict\.upos\.txt, which .*conllu needs"),
        (lambda path: path.write_text("<unk>\nVERB\nDET\n_\n"), "no list that `syntax-nmt binar"),
        (lambda path: path.write_text("DET\nVERB\n"), "no list that `syntax-nmt binarize` writes"),
        (lambda path: path.write_text("<unk>\nDET\nDET\n_\n"), "no list that `syntax-nmt binariz"),
    ],
)
def test_what_is_no_list(folders, spoil, message):
    first, second = folders
    spoil(first / "data-bin/dict.upos.txt")
    before = sorted(path.name for path in (second / "data-bin").iterdir())
    with pytest.raises(UserError, match=message):
        run(second, splits=("train",), labels=first)
    assert sorted(path.name for path in (second / "data-bin").iterdir()) == before


@pytest.mark.parametrize("name", ["nowhere", "tok/train.de", "data-bin/dict.chunks.txt"])
def test_what_names_no_list(folders, name):
    first, second = folders
    (first / "data-bin/dict.chunks.txt").write_text("NP\n")
    with pytest.raises(UserError, match=r"no list of labels|no text has chunks"):
        run(second, splits=("train",), labels=first / name)


def test_a_list_without_annotation_is_refused_by_the_command(folders):
    with pytest.raises(UserError, match="no annotation found"):
        binarize(
            "de", "en", folders[1] / "data-bin", trainpref=str(folders[1] / "bpe/train"),
            labels=folders[0], report=lambda line: None,
        )  # fmt: skip
