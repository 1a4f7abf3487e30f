import gzip
import json
import os

import numpy as np
import pytest
import torch
from cut_corpus import CUTS, run_preprocess, write_texts
from fairseq.data import Dictionary
from fairseq.data.indexed_dataset import MMapIndexedDatasetBuilder
from prepared_corpus import task_of

from syntax_nmt.cli import main
from syntax_nmt.data import annotation, sentence_projection
from syntax_nmt.data.binarised_annotation import open_annotation
from syntax_nmt.data.conllu import format_conllu
from syntax_nmt.data.folder_lock import folder_lock
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.errors import UserError
from syntax_nmt.preparation import binarizing
from syntax_nmt.preparation.binarizing import binarize

# Words ("@": cut here into pieces), heads, bracketing; chunks of the target, the same words.
SENTENCES = [
    ("the ca@t sle@eps", [1, 2, 2], "(S (NP (D the) (N cat)) (VP (V sleeps)))", "B-NP I-NP B-VP"),
    ("go", [0], "(S (V go))", "B-VP"),
    ("a b c d e f", None, "()", ""),
    ("", None, "()", ""),
    (
        "a ca@t a@nd the b@i@g dog go",
        [1, 6, 5, 5, 5, 1, 6],
        "(S (NP (NP (D a) (N cat)) (C and) (NP (D the) (J big) (N dog))) (VP (V go)))",
        "B-NP I-NP O B-NP I-NP I-NP B-VP",
    ),
]
HEADS = [[1, 3, 1, 3, 3], [0], [-1] * 6, [], [1, 10, 1, 9, 3, 9, 9, 6, 6, 1, 10]]
PHRASES = [[3, 2], [1], [-1], [-1], [3, 2, 1, 3, 1, 1]]
TREES = [
    [3, 4, 1, 2, 0, 6, 7, 5],
    [0],
    [-1],
    [-1],
    # From the right: go; the big dog, b@ i@ g of which are one; a cat; its phrase; the root.
    [7, 8, 6, 11, 12, 9, 5, 13, 3, 4, 1, 2, 0, 16, 15, 14, 17, 18, 19, 10],
]
CHUNKS = [[1, 0, 0, 3, 0], [3], [-1] * 6, [], [1, 0, 0, 2, 0, 1, 0, 0, 0, 0, 3]]
ROWS = [("heads", "de", HEADS), ("phrases", "de", PHRASES), ("trees", "de", TREES)]
ROWS.append(("chunks", "en", CHUNKS))


def prefixes(folder, **names):
    """The options that name the texts of splits."""
    return {f"{split}pref": str(folder / "bpe" / name) for split, name in names.items()}


def preprocess_texts(folder, **given):
    return run_preprocess(folder, **(given or prefixes(folder, train="train")))


def rows_of(databin, kind, lang, split="train"):
    array = RaggedArray.open(databin / f"{split}.de-en.{lang}.{kind}")
    return [array[index].tolist() for index in range(len(array))]


@pytest.fixture
def corpus(tmp_path):
    write_texts(tmp_path, "train", SENTENCES)
    return tmp_path


def run(folder, **options):
    reported = []
    given = {**prefixes(folder, train="train"), "words": folder / "tok", **options}
    return binarize("de", "en", folder / "data-bin", report=reported.append, **given), reported


@pytest.mark.parametrize("scheme", list(CUTS))
def test_from_text_to_batch(tmp_path, scheme):
    write_texts(tmp_path, "train", SENTENCES, scheme)
    databin = preprocess_texts(tmp_path)
    written, reported = run(tmp_path)
    assert sorted(written) == [f"train.de-en.{lang}.{kind}" for kind, lang, _ in ROWS]
    assert all((entry.sentences, entry.annotated) == (5, 3) for entry in written.values())
    assert any("3 annotated, 2 without" in line and scheme in line for line in reported)
    assert (databin / "dict.chunks.txt").read_text() == "NP\nO\nVP\n"
    if scheme != "none":
        for kind, lang, rows in ROWS:
            assert rows_of(databin, kind, lang) == rows

    task = task_of(databin, "de", "en", **{kind.option: True for kind in annotation.TEXT_KINDS})
    task.load_dataset("train")
    dataset = task.dataset("train")
    batch = dataset.collater([dataset[0], dataset[3], dataset[4]])
    assert batch["id"].tolist() == [4, 0, 3]
    assert (batch["heads"][2] == -1).all()
    assert batch["phrase_lengths"].sum(1).tolist() == batch["net_input"]["src_lengths"].tolist()
    assert ((batch["chunk_tags"] == 4) == (batch["target"] == 2))[:2].all()
    heads, tokens = batch["heads"][0], batch["net_input"]["src_tokens"][0]
    assert torch.equal(heads >= 0, tokens > 2)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_ranges_of_any_size_give_the_same_bytes(tmp_path, monkeypatch, size, packed):
    """A worker reads its sentences alone, from where they begin in each file."""
    texts = [SENTENCES[i % 5] for i in range(7)]
    (tmp_path / "plain").mkdir()
    write_texts(tmp_path, "train", texts)
    for name in ("train.de.conllu", "train.de"):  # blank lines, a mark, ends of another system
        file = tmp_path / "tok" / name
        blank = "\n  \n\t\r\n" if name.endswith("conllu") else ""
        text = file.read_text().replace("\n\n", f"\n\n{blank}")
        file.write_bytes(f"\ufeff{text}".replace("\n", "\r\n").encode())
    preprocess_texts(tmp_path)
    whole, said = run(tmp_path)
    files = {path.name: path.read_bytes() for path in (tmp_path / "data-bin").iterdir()}
    if packed:
        for file in list((tmp_path / "tok").glob("train.*")):
            file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
            file.unlink()
    monkeypatch.setattr(binarizing, "_RANGE", size)
    monkeypatch.setattr(sentence_projection, "_BATCH", 2)  # rows written at a time
    parts, said_of_parts = run(tmp_path)
    assert [line.replace(".gz", "") for line in said_of_parts] == said
    for path in (tmp_path / "data-bin").iterdir():
        assert (packed and path.name == "syntax.json") or path.read_bytes() == files[path.name]
    assert {name: each.files for name, each in parts.items()} == {
        name: each.files for name, each in whole.items()
    }


@pytest.mark.dear
def test_workers_give_the_same_bytes(corpus):
    databin = preprocess_texts(corpus)
    run(corpus)
    files = {path.name: path.read_bytes() for path in databin.iterdir()}
    run(corpus, workers=2)
    assert {path.name: path.read_bytes() for path in databin.iterdir()} == files


def test_a_sentence_that_a_later_range_lacks_is_named(corpus, monkeypatch):
    preprocess_texts(corpus)
    monkeypatch.setattr(binarizing, "_RANGE", 1)
    file = corpus / "tok" / "train.de.conllu"
    blocks = file.read_text().split("\n\n")
    file.write_text("\n\n".join([*blocks[:1], *blocks[2:]]))
    with pytest.raises(UserError, match=r"conllu:15: sentence 4 is missing here"):
        run(corpus)


def test_only_the_annotation_files_that_are_named_are_taken(corpus):
    databin = preprocess_texts(corpus)
    written, _ = run(corpus, only=[corpus / "tok" / "train.de.conllu"])
    assert list(written) == ["train.de-en.de.heads"]
    assert not list(databin.glob("*phrases*"))


def test_each_language_may_have_its_own_segmentation(corpus):
    databin = preprocess_texts(corpus)
    run(corpus, subwords={"de": "subword-nmt", "en": "subword-nmt"})
    assert rows_of(databin, "heads", "de") == HEADS
    with pytest.raises(UserError, match=r"train\.en"):
        run(corpus, subwords={"de": "subword-nmt", "en": "none"})


def test_a_missing_sentence_is_named_among_parses_of_several_roots(corpus):
    preprocess_texts(corpus)
    file = corpus / "tok" / "train.de.conllu"
    blocks = file.read_text().split("\n\n")
    blocks[4] = blocks[4].replace("\tdep", "\troot").replace("\t2\troot", "\t0\troot", 1)
    assert blocks[4].count("\t0\t") == 2
    file.write_text("\n\n".join([blocks[0], *blocks[2:]]))
    with pytest.raises(UserError, match=r"conllu:\d+: sentence 4 is missing here"):
        run(corpus, attach_roots=True)


def test_the_command_says_what_it_found(corpus, capsys):
    preprocess_texts(corpus)
    (corpus / "tok" / "train.de.trees").unlink()
    command = ["binarize", "-s", "de", "-t", "en", "--destdir", str(corpus / "data-bin")]
    command += ["--trainpref", str(corpus / "bpe" / "train"), "--words"]
    main([*command, str(corpus / "tok")])
    printed = capsys.readouterr().out
    assert "train.de.trees, so no phrases" in printed
    assert "train.de-en.de.heads: 5 sentences" in printed
    with pytest.raises(SystemExit) as caught:
        main([*command, str(corpus / "bpe")])
    assert str(caught.value).startswith("syntax-nmt: error: no annotation found")


def test_a_language_with_a_dot(corpus):
    """The suffix of files that are called `train.de.tok`."""
    for path in [*corpus.glob("*/train.de"), *corpus.glob("*/train.de.*")]:
        path.rename(path.with_name(path.name.replace(".de", ".de.tok", 1)))
    run_preprocess(corpus, "-s", "de.tok", **prefixes(corpus, train="train"))
    given = {**prefixes(corpus, train="train"), "words": corpus / "tok"}
    written = binarize("de.tok", "en", corpus / "data-bin", report=lambda line: None, **given)
    assert len(written) == len(ROWS)
    assert "dict.de.tok.txt" in written["train.de.tok-en.de.tok.heads"].files


def test_words_may_be_compressed(corpus):
    preprocess_texts(corpus)
    words = corpus / "tok" / "train.de"
    words.with_name("train.de.gz").write_bytes(gzip.compress(words.read_bytes()))
    words.unlink()
    written, _ = run(corpus)
    assert len(written) == len(ROWS)
    words.with_name("train.de.gz").write_bytes(gzip.compress(b"another text\n" * 5))
    with pytest.raises(UserError, match=r"train\.de\.gz:1 has 2: segment this very text"):
        run(corpus)


def test_several_test_sets_gzip_and_annotation_files_beside_the_pieces(corpus):
    for name, part in (("dev", slice(2)), ("one", slice(2, None)), ("two", slice(1, 2))):
        write_texts(corpus, name, SENTENCES[part])
    for path in (corpus / "tok").glob("*.de.*"):
        (corpus / "bpe" / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    given = prefixes(corpus, train="train", valid="dev", test=f"one,{corpus}/bpe/two")
    databin = preprocess_texts(corpus, **given)
    written, _ = run(corpus, words=None, **given)
    assert len(written) == 12
    assert rows_of(databin, "heads", "de") == HEADS
    assert rows_of(databin, "heads", "de", "valid") == HEADS[:2]
    assert rows_of(databin, "phrases", "de", "test") == PHRASES[2:]
    assert rows_of(databin, "heads", "de", "test1") == HEADS[1:2]


def test_other_sides_too_if_their_files_are_there(corpus):
    databin = preprocess_texts(corpus)
    os.rename(corpus / "tok" / "train.de.conllu", corpus / "tok" / "train.en.conllu")
    os.rename(corpus / "tok" / "train.de.trees", corpus / "tok" / "train.en.trees")
    written, reported = run(corpus)
    assert "train.de-en.en.heads" in written
    assert rows_of(databin, "heads", "en") == HEADS
    assert any("train.de.conllu, so no heads" in line for line in reported)
    task = task_of(databin, "de", "en", load_target_dependencies=True, load_target_trees=True)
    task.load_dataset("train")
    batch = task.dataset("train").collater([task.dataset("train")[row] for row in range(5)])
    assert batch["target_heads"].shape == batch["target"].shape
    places = batch["id"].tolist()
    assert batch["target_heads"][places.index(0), :5].tolist() == HEADS[0]
    trees = batch["target_trees"][places.index(0)]
    merges = np.array(rows_of(databin, "trees", "en")[0]).reshape(-1, 2)
    beyond = np.where(merges < len(HEADS[0]), 0, batch["target"].size(1) - len(HEADS[0]))
    assert trees[: len(merges), :2].tolist() == (merges + beyond).tolist()
    assert not {"target_heads", "target_trees"} & batch["net_input"].keys()
    assert "heads" not in batch
    # A folder made for the other direction serves.
    options = {**prefixes(corpus, train="train"), "words": corpus / "tok"}
    assert written == binarize("en", "de", databin, report=lambda line: None, **options)


def test_unseen_chunk_types_count_as_no_annotation(corpus):
    write_texts(corpus, "dev", [SENTENCES[0], (*SENTENCES[1][:3], "B-UCP")])
    given = prefixes(corpus, train="train", valid="dev")
    databin = preprocess_texts(corpus, **given)
    written, reported = run(corpus, **given)
    assert rows_of(databin, "chunks", "en", "valid") == [CHUNKS[0], [-1]]
    assert written["valid.de-en.en.chunks"].annotated == 1
    assert any("UCP in 1" in line for line in reported)


def test_a_test_set_added_later_uses_the_tags_of_training(corpus):
    write_texts(corpus, "two", SENTENCES[1:2])
    databin = preprocess_texts(corpus, **prefixes(corpus, train="train", test="two"))
    later = {"trainpref": None, **prefixes(corpus, test="two")}
    with pytest.raises(UserError, match=r"two\.en\.chunks: the chunk types are those of the train"):
        run(corpus, **later)
    run(corpus)
    run(corpus, **later)
    assert rows_of(databin, "chunks", "en", "test") == [[3]]
    assert len(json.loads((databin / "syntax.json").read_text())["files"]) == 8


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


FIRST_BLOCK = format_conllu(["the", "cat", "sleeps"], SENTENCES[0][1])


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("tok/train.de.conllu", "\tgo\t", "\tstay\t", r"tok/train\.de\.conllu:5: sentence 2: .* "
         r"text \(.*tok/train\.de:2\): 'stay' .* 'go'"),
        ("tok/train.de.conllu", FIRST_BLOCK, "", r"tok/train\.de\.conllu:1: sentence 1 is missing "
         r"here .*annotation of sentence 2 \('go'"),
        ("bpe/train.de", "the ca@@ t", "the cat", r"bpe/train\.de:1: 4 subwords, but "
         r".*train\.de-en\.de\.idx has 5"),
        ("tok/train.de", "the cat", "thecat", r"bpe/train\.de:1: 3 words \(subword-nmt "
         r"segmentation\), but .*tok/train\.de:1 has 2"),
    ],
)  # fmt: skip
def test_mismatches_are_errors_and_leave_nothing_behind(corpus, file, old, new, message):
    databin = preprocess_texts(corpus)
    before = sorted(os.listdir(databin))
    edit(corpus / file, old, new)
    with pytest.raises(UserError, match=message) as caught:
        run(corpus)
    assert "\n" not in str(caught.value)
    assert sorted(os.listdir(databin)) == before


def test_a_missing_sentence_is_named_where_only_the_pieces_are_there(corpus):
    preprocess_texts(corpus)
    (corpus / "tok/train.de.conllu").rename(corpus / "bpe/train.de.conllu")
    edit(corpus / "bpe/train.de.conllu", FIRST_BLOCK, "")
    message = r"bpe/train\.de\.conllu:1: sentence 1 is missing here .* of sentence 2 \('go'"
    with pytest.raises(UserError, match=message):
        run(corpus, words=None)


def test_a_failure_later_leaves_what_was_there(corpus):
    databin = preprocess_texts(corpus)
    run(corpus)
    before = {path.name: path.read_bytes() for path in databin.iterdir()}
    edit(corpus / "tok/train.de.conllu", "\t2\tdep", "\t1\tdep")
    edit(corpus / "tok/train.en.chunks", "B-NP", "NP")
    with pytest.raises(UserError):
        run(corpus)
    assert {path.name: path.read_bytes() for path in databin.iterdir()} == before


def test_a_folder_of_links_leaves_the_other_folder_as_it_was(corpus):
    """As `cp -rs` makes one, for other annotation of the same text."""
    databin = preprocess_texts(corpus)
    run(corpus)
    databin.rename(corpus / "first")
    first = {path.name: path.read_bytes() for path in (corpus / "first").iterdir()}
    databin.mkdir()
    for name in first:
        (databin / name).symlink_to(corpus / "first" / name)
    (corpus / "tok/train.de.trees").write_text("()\n" * len(SENTENCES))
    run(corpus)
    assert (databin / "syntax.json").read_bytes() != first["syntax.json"]
    assert {path.name: path.read_bytes() for path in (corpus / "first").iterdir()} == first


def test_what_a_killed_process_left_goes_away(corpus):
    preprocess_texts(corpus)
    left = corpus / "data-bin" / ".binarize-killed"
    left.mkdir()
    (left / "train.de-en.de.heads.bin").write_bytes(b"half")
    run(corpus)
    assert not list((corpus / "data-bin").glob(".binarize-*"))


def test_two_at_once(corpus):
    preprocess_texts(corpus)
    with (
        folder_lock(corpus / "data-bin", "busy"),
        pytest.raises(UserError, match=r"another process binarises into .*data-bin: wait"),
    ):
        run(corpus)


def test_cut_off_between_the_files_and_the_manifest(corpus, monkeypatch):
    """Files that the manifest does not describe do not count."""
    databin = preprocess_texts(corpus)
    run(corpus)
    edit(corpus / "tok/train.de.conllu", "2\tcat\t_\t_\t_\t_\t3", "2\tcat\t_\t_\t_\t_\t1")
    edit(corpus / "tok/train.de.conllu", "1\tthe\t_\t_\t_\t_\t2", "1\tthe\t_\t_\t_\t_\t3")

    replace = os.replace

    def killed(source, destination):
        if destination == databin / "syntax.json":
            raise KeyboardInterrupt
        replace(source, destination)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        run(corpus)
    sizes = np.array([len(row) + 1 for row in HEADS])
    with pytest.raises(UserError, match=r"heads\.bin: damaged or not written by the last binarize"):
        open_annotation(databin / "train.de-en.de", annotation.HEADS, sizes)


def test_what_is_missing_is_named(corpus):
    with pytest.raises(UserError, match=r"train\.de-en\.de\.idx: not found: run fairseq-preproc"):
        run(corpus)
    preprocess_texts(corpus)
    with pytest.raises(UserError, match="give --trainpref, --validpref or --testpref"):
        run(corpus, trainpref=None)
    for prefix in ("bpe/train.de", "bpe/gone"):
        message = rf"{prefix}\.de: not found: give the prefixes .*which end"
        with pytest.raises(UserError, match=message):
            run(corpus, trainpref=f"{corpus}/{prefix}", validpref=f"{corpus}/bpe/train")


@pytest.mark.parametrize(
    ("implementation", "said"),
    [
        ("raw", r"train\.de-en\.de: is raw text: run fairseq-preprocess without --dataset"),
        (
            "lazy",
            r"train\.de-en\.de\.idx: made with --dataset-impl lazy or cached: leave it out",
        ),
    ],
)
def test_text_in_another_format(corpus, implementation, said):
    """The same line of fairseq-preprocess would write the same."""
    more = f"--dataset-impl={implementation}"
    run_preprocess(corpus, more, trainpref=corpus / "bpe" / "train")
    with pytest.raises(UserError, match=said):
        run(corpus)


def test_parts_of_the_training_text_with_the_chunk_types_of_all(tmp_path):
    """`train` and `train1`, which fairseq joins; fairseq-preprocess makes them one at a time."""
    write_texts(tmp_path, "one", SENTENCES[:2])
    write_texts(tmp_path, "two", SENTENCES[2:])
    databin = preprocess_texts(tmp_path, trainpref=tmp_path / "bpe" / "one")
    for lang in ("de", "en"):
        write_tokens(databin, lang, tmp_path / "bpe" / f"two.{lang}")
    written, reported = run(tmp_path, trainpref=f"{tmp_path}/bpe/one,{tmp_path}/bpe/two")
    assert len(written) == 8
    for kind, lang, rows in ROWS:
        assert rows_of(databin, kind, lang) == rows[:2]
        assert rows_of(databin, kind, lang, "train1") == rows[2:]
    # Both parts: O is in the second only.
    assert (databin / "dict.chunks.txt").read_text() == "NP\nO\nVP\n"
    assert not any("count as not annotated" in line for line in reported)


def write_tokens(databin, lang, pieces):
    """`train1` of a data-bin folder."""
    dictionary = Dictionary.load(str(databin / f"dict.{lang}.txt"))
    builder = MMapIndexedDatasetBuilder(str(databin / f"train1.de-en.{lang}.bin"), dtype=np.uint16)
    for line in pieces.read_text(encoding="utf-8").splitlines():
        builder.add_item(dictionary.encode_line(line, add_if_not_exist=False))
    builder.finalize(str(databin / f"train1.de-en.{lang}.idx"))


def test_other_subwords_of_the_same_number(corpus):
    """Two lines of a text exchanged after fairseq-preprocess: only the tokens tell."""
    preprocess_texts(corpus)
    path = corpus / "bpe" / "train.de"
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    changed = " ".join([first.split()[-1], *first.split()[1:-1], first.split()[0]])
    path.write_text("\n".join([changed, *rest]) + "\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"train\.de:1: subword 1 is '.+', but .*bin has '.+'"):
        run(corpus)


def test_wrong_forced_segmentation_is_noticed(corpus):
    preprocess_texts(corpus)
    with pytest.raises(UserError, match=r"5 words \(none segmentation\).* has 3.*--subwords"):
        run(corpus, subwords="none")


def test_sentences_of_other_words_are_skipped_where_that_was_asked_for(corpus):
    databin = preprocess_texts(corpus)
    edit(corpus / "tok/train.de.conllu", "\tgo\t", "\tstay\t")
    _, reported = run(corpus, on_mismatch="skip")
    assert rows_of(databin, "heads", "de") == [HEADS[0], [-1], *HEADS[2:]]
    assert any("1 of them skipped as their annotation has other words" in line for line in reported)
    assert any(".conllu:5: sentence 2: " in line for line in reported)


def test_annotation_that_is_cut_otherwise_is_carried_over(corpus):
    """`the big dog` of the last sentence is one word of its parse less: `thebig`."""
    databin = preprocess_texts(corpus)
    words = ["a", "cat", "and", "thebig", "dog", "go"]
    block = format_conllu(words, [1, 5, 1, 4, 1, 5])
    blocks = (corpus / "tok/train.de.conllu").read_text().split("\n\n")
    (corpus / "tok/train.de.conllu").write_text("\n\n".join([*blocks[:4], block]))
    _, reported = run(corpus)
    found = rows_of(databin, "heads", "de")
    assert found[:4] == HEADS[:4]
    # a ca@@ t a@@ nd the b@@ i@@ g dog go
    assert found[4] == [1, 10, 1, 1, 3, 9, 5, 6, 6, 1, 10]
    assert any("1 of 5 sentences are tokenised differently" in r for r in reported)
