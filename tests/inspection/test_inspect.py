import json
import os
import shutil

import numpy as np
import pytest
from cut_corpus import words_of
from inspected_data import (
    CORPUS,
    TRAIN,
    plain_text_counts,
    plain_tree_counts,
    preprocess_corpus,
    write_corpus,
)

from syntax_nmt.cli import main
from syntax_nmt.data.figures import text_figures
from syntax_nmt.data.manifest import Fingerprint, read_manifest, write_manifest
from syntax_nmt.data.ragged import RaggedArray, RaggedWriter
from syntax_nmt.data.subwords import SCHEMES
from syntax_nmt.data.text_columns import share_text

DE = "train.de-en.de"


@pytest.fixture(scope="module", params=SCHEMES)
def corpus(request, tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus") / "it", request.param), request.param


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("sound") / "it", "sentencepiece")


@pytest.fixture
def folder(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "data-bin")


@pytest.fixture
def inspect(capsys):
    """Runs the command in this process: exit status, stdout, lines of stderr."""

    def run(*arguments):
        code = 0
        try:
            main(["inspect", *map(str, arguments)])
        except SystemExit as end:
            code = end.code
        said = [code] if isinstance(code, str) else []  # Python prints it, and its status is 1
        captured = capsys.readouterr()
        return 1 if said else code, captured.out, [*captured.err.splitlines(), *said]

    return run


@pytest.fixture
def fault(inspect):
    """The one line about what is wrong, and the report."""

    def run(*arguments):
        status, out, err = inspect(*arguments)
        assert (status, len(err)) == (1, 1)
        return err[0], out

    return run


@pytest.fixture
def figures(inspect):
    def run(databin, *arguments):
        status, out, err = inspect(databin, "--json", "-", *arguments)
        assert (status, err) == (0, [])
        content = json.loads(out)
        texts = {(text["split"], text["language"]): text for text in content["texts"]}
        return content, texts

    return run


def test_figures_are_those_of_a_plain_count(corpus, figures):
    databin, scheme = corpus
    content, texts = figures(databin, "--words", databin.parent / "tok")
    assert list(texts) == [(split, lang) for split in CORPUS for lang in ("de", "en")]
    assert content["sound"] is True
    assert content["files_checked"] == 2 * (4 + 8) + 1 + 2  # the tag list and two dictionaries
    for (split, _), text in texts.items():
        expected = plain_text_counts(split, scheme)
        assert {key: text[key] for key in expected} == expected
        assert text["pair"] == "de-en"
        assert text["segmentation"] == scheme
    words = sum(len(words_of(line)) for line, *_ in TRAIN)
    assert texts["train", "en"]["words"] == words
    assert texts["train", "en"]["subwords_per_word"] == texts["train", "en"]["subwords"] / words
    # The unknown word has lost its ▁, so that it seems to go on with the word before.
    assert texts["valid", "de"]["words"] == 10 - (scheme == "sentencepiece")
    assert texts["valid", "de"]["words_unsure"] == (scheme != "none")


def test_trees_phrases_and_chunks_are_those_of_a_plain_count(corpus, figures):
    databin, scheme = corpus
    _, texts = figures(databin)
    trees = texts["train", "de"]["annotation"]["heads"]
    expected = plain_tree_counts("train")
    assert {key: trees[key] for key in expected} == pytest.approx(expected)
    assert trees["annotated_share"] == 5 / 7
    assert trees["projective_share"] == 2 / 5
    assert (trees["deepest_line"], trees["made_from"]) == (5, "train.de.conllu")
    # Where an unknown subword hides the words, the tree is not measured.
    valid = texts["valid", "de"]["annotation"]["heads"]
    assert valid["annotated"] == 2
    assert valid["sentences_with_unsure_words"] == (scheme != "none")
    assert valid["trees_measured"] == 2 - (scheme != "none")

    array = RaggedArray.open(databin / f"{DE}.phrases")
    rows = [array[index].tolist() for index in range(7)]
    rows = [(line, row) for line, row in enumerate(rows, start=1) if row != [-1]]
    lengths = [length for _, row in rows for length in row]
    phrases = texts["train", "de"]["annotation"]["phrases"]
    assert phrases["annotated"] == len(rows) == 5
    assert phrases["phrases"] == len(lengths)
    assert phrases["phrases_per_sentence"] == len(lengths) / 5
    assert phrases["mean_subwords"] == pytest.approx(np.mean(lengths))
    assert phrases["longest_subwords"] == max(lengths)
    assert phrases["longest_line"] == next(line for line, row in rows if max(lengths) in row)

    chunks = texts["train", "en"]["annotation"]["chunks"]
    tags = [tag for *_, line in TRAIN for tag in line.split()]
    opened = [tag[2:] for tag in tags if tag.startswith("B-")]
    assert chunks["annotated"] == 5
    assert chunks["tags"] == {tag: opened.count(tag) for tag in ("NP", "VP")}
    assert chunks["chunks_per_sentence"] == len(opened) / 5
    assert chunks["mean_words"] == (len(tags) - tags.count("O")) / len(opened)
    assert chunks["words_outside_share"] == tags.count("O") / len(tags)
    assert "chunks" not in texts["train", "de"]["annotation"]


def test_blocks_change_nothing(corpus, figures, monkeypatch):
    whole = figures(corpus[0])
    for limit in (1, 7, 20):
        monkeypatch.setattr(text_figures, "_BLOCK", limit)
        assert figures(corpus[0]) == whole


def test_the_report(sound, inspect, tmp_path):
    status, out, err = inspect(sound, "--json", tmp_path / "figures.json")
    assert (status, err) == (0, [])
    lines = out.splitlines()
    assert lines[1:5] == [
        "languages  de → en",
        "splits     train, valid",
        "subwords   sentencepiece",
        "entries    dict.de.txt 24, dict.en.txt 24 (the same)",
    ]
    assert lines[6].split()[:5] == ["split", "language", "sentences", "empty", "subwords"]
    assert lines[7].split() == ["train", "de", "7", "1", "38", "27", "1.407", "11", "5", "0%"]
    assert len({len(line) for line in lines[6:11]}) == 1  # numbers stand under one another
    assert lines[9].split()[5] == "~9"
    assert lines[11] == "~ sentences with unknown subwords, which do not tell where words end: 2"
    assert "trees left out, as unknown subwords hide where words end: 1" in lines
    assert "27 files checked: each is as syntax.json says" in lines
    assert json.loads((tmp_path / "figures.json").read_text())["sound"]


def test_samples_are_drawn(sound, inspect):
    _, out, _ = inspect(sound, "--split", "train", "--samples", 9)
    samples = out.split("train, sentence ")[1:]
    assert [sample.splitlines()[0] for sample in samples] == ["1", "2", "3", "5", "6", "7"]
    assert samples[1].splitlines()[1:] == [
        "  de        the cat sleeps",
        "    1    ╭─╼ the",
        "    2  ╭─┶ cat",
        "    3 ─┶ sleeps",
        "  phrases   [the cat] [sleeps]",
        "  trees     [[▁the [▁ca t]] [▁sle eps]]",
        "  en        the cat sleeps",
        "  chunks    [NP the cat] [VP sleeps]",
        "",
    ]
    assert "  chunks    [NP a cat] and [NP the big dog] [VP go]" in samples[3]
    assert "heads     not annotated" in samples[2]
    assert "猫 は ねる" in samples[4]


def test_the_choice_of_samples(sound, inspect, fault):
    chosen = inspect(sound, "--samples", 1)
    assert chosen == inspect(sound, "--samples", 1)
    for seed in range(9):  # the only one with all there is
        assert "\nvalid, sentence 1\n" in inspect(sound, "--samples", 1, "--seed", seed)[1]
    assert "sentence 1\n" not in inspect(sound, "--samples", 0)[1]
    seeds = {inspect(sound, "--split=train", "--samples=2", f"--seed={n}")[1] for n in range(9)}
    assert len(seeds) > 1
    assert "--split test: the folder has train, valid" in fault(sound, "--split", "test")[0]


def test_short_sentences_are_drawn_first(sound, inspect, monkeypatch):
    monkeypatch.setattr("syntax_nmt.inspection.data_samples._FITS_A_SCREEN", 8)
    for seed in range(9):
        _, out, _ = inspect(sound, "--split", "train", "--samples", 3, "--seed", seed)
        assert [part.split("\n")[0] for part in out.split("sentence ")[-3:]] == ["1", "2", "6"]


def test_sentences_without_unknown_words_are_drawn_first(bare, inspect):
    for seed in range(9):
        _, out, _ = inspect(bare, "--samples", 2, "--seed", seed)
        assert [part.split("\n")[0] for part in out.split("sentence ")[1:]] == ["1", "3"]


def test_an_unknown_word_is_drawn_over_subwords(sound, inspect):
    _, out, _ = inspect(sound, "--samples", 3)
    sample = out.split("valid, sentence 2\n")[1]
    assert "de        ▁dog <unk> ▁go ▁the ▁dog\n" in sample
    assert "╼ <unk>\n" in sample


def flip(path):
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.write_bytes(content)


def cut(path):
    path.write_bytes(path.read_bytes()[:-3])


@pytest.fixture
def bare(tmp_path):
    """A data-bin folder without annotation, so that nothing has a checksum."""
    return write_corpus(tmp_path / "bare", "subword-nmt", kinds=())


@pytest.mark.parametrize("damage", [cut, os.remove, lambda path: path.write_bytes(b"MMIDIDX")])
@pytest.mark.parametrize("ending", ["bin", "idx"])
def test_a_damaged_text_without_checksums(bare, fault, damage, ending):
    damage(bare / f"train.de-en.en.{ending}")
    err, out = fault(bare)
    assert err.startswith(f"syntax-nmt: error: {bare / 'train.de-en.en.'}")
    assert "run fairseq-preprocess again" in err
    assert "train  de " in out
    assert "train  en " not in out


def test_a_text_without_end_of_sentence(bare, fault, monkeypatch):
    path = bare / "train.de-en.en.bin"
    content = np.fromfile(path, dtype=np.uint16)
    content[-1] = 5
    content.tofile(path)
    monkeypatch.setattr(text_figures, "_BLOCK", 30)  # five sentences, and two
    err = fault(bare)[0]
    assert f"{path}: sentence 7 does not end in the end-of-sentence token" in err


@pytest.mark.parametrize("damage", [os.remove, lambda path: path.write_bytes(b"\xff 1\n")])
def test_a_damaged_dictionary(bare, fault, damage):
    damage(bare / "dict.de.txt")
    err, out = fault(bare)
    assert err.startswith(f"syntax-nmt: error: {bare / 'dict.de.txt'}: ")
    assert "train  en " in out


def test_a_split_without_sentences(tmp_path, figures, inspect):
    databin = write_corpus(tmp_path / "it", "none", kinds=())
    shutil.rmtree(databin)
    for lang in ("de", "en"):
        (tmp_path / "it" / "bpe" / f"valid.{lang}").write_text("")
    preprocess_corpus(tmp_path / "it")
    _, texts = figures(databin)
    assert texts["valid", "de"]["sentences"] == 0
    assert texts["valid", "de"]["subwords_per_word"] is None
    assert inspect(databin)[::2] == (0, [])


@pytest.mark.parametrize("name", ["syntax.json", "dict.*.txt", "figures.json"])
def test_the_json_file_is_none_of_the_data(folder, inspect, name):
    """But figures of another time may be replaced."""
    path = next(folder.glob(name), folder / name)
    before = path.read_bytes() if path.exists() else None
    for _ in range(2):
        status, _, err = inspect(folder, "--json", path)
        assert (status == 0) == (name == "figures.json")
    if before is not None:
        assert "is the input as well, and would be lost" in err[0]
        assert path.read_bytes() == before


@pytest.mark.parametrize("damage", [flip, cut, os.remove])
def test_every_damaged_file_is_named(folder, inspect, damage):
    names = [f"{DE}.heads.bin", f"{DE}.heads.idx", f"{DE}.bin", "valid.de-en.en.chunks.idx"]
    for name in names:
        damage(folder / name)
    status, out, err = inspect(folder, "--json", "-")
    assert status == 1
    assert len(err) == 4
    assert all(any(f"{folder / name}: " in line for line in err) for name in names)
    content = json.loads(out)
    assert content["sound"] is False
    assert [f"syntax-nmt: error: {problem}" for problem in content["problems"]] == err
    sides = {text["language"]: text["annotation"] for text in content["texts"][:2]}
    assert sides["en"]["chunks"]["sound"] is True
    if damage is flip:
        assert sides["de"]["heads"] == {"sound": False, "made_from": "train.de.conllu"}


@pytest.mark.parametrize("name", ["valid.de-en.en.chunks.bin", "dict.chunks.txt"])
def test_what_is_sound_is_still_reported(folder, fault, name):
    cut(folder / name)
    err, out = fault(folder)
    assert err.startswith(f"syntax-nmt: error: {folder / name}: ")
    assert "syntax-nmt binarize" in err
    assert "not sound" in out
    assert "phrases, in subwords" in out
    assert "27 files checked, problems: 1" in out


def test_another_text_with_the_right_checksums(folder, fault):
    """Lengths are compared even where every file is the one that was recorded."""
    manifest = json.loads((folder / "syntax.json").read_text())
    files = manifest["files"]
    entries = [files[f"{split}.de-en.de.heads"]["files"] for split in ("train", "valid")]
    for ending in ("bin", "idx"):
        shutil.copy(folder / f"valid.de-en.de.heads.{ending}", folder / f"{DE}.heads.{ending}")
        entries[0][f"{DE}.heads.{ending}"] = entries[1][f"valid.de-en.de.heads.{ending}"]
    (folder / "syntax.json").write_text(json.dumps(manifest))
    err = fault(folder)[0]
    assert "heads: 3 sentences, the dataset has 7" in err


def test_a_changed_source_of_a_annotation_file(sound, inspect, tmp_path):
    words = shutil.copytree(sound.parent / "tok", tmp_path / "tok")
    (words / "valid.de.trees").write_text("()\n()\n()\n")
    (words / "train.en.chunks").unlink()
    status, out, err = inspect(sound, "--words", words)
    assert (status, len(err)) == (1, 3)
    changed = [line for line in err if f"{words / 'valid.de.trees'}: damaged, or changed" in line]
    assert len(changed) == 2  # phrases and trees were made from it
    assert any(f"{words / 'train.en.chunks'}: cannot be read" in line for line in err)
    assert "not sound" not in out  # what was binarised is what it was


@pytest.mark.parametrize("content", ['{"version": 3, "files": {}}', '{"version": 1'])
def test_a_manifest_that_cannot_be_read(folder, fault, content):
    (folder / "syntax.json").write_text(content)
    err, out = fault(folder)
    assert "format version 3, this program reads up to 2" in err or "damaged" in err
    assert "annotation: syntax.json cannot be read" in out
    assert "train  de " in out


def test_what_nothing_loads_is_a_warning(folder, inspect):
    for ending in ("bin", "idx"):
        shutil.copy(folder / f"{DE}.heads.{ending}", folder / f"test.de-en.de.heads.{ending}")
    status, out, err = inspect(folder)
    assert (status, len(err)) == (0, 1)
    assert err[0].startswith("syntax-nmt: warning: ")
    assert "test.de-en.de.heads.bin, .idx: not in syntax.json" in err[0]
    assert "test " not in out


def rewrite(folder, kind, lang, second):
    """Writes an annotation file anew with another second row, under a manifest that knows it."""
    prefix = folder / f"train.de-en.{lang}.{kind}"
    array = RaggedArray.open(prefix)
    rows = [np.array(array[index]) for index in range(len(array))]
    rows[1] = np.array(second, dtype=np.int32)
    with RaggedWriter(prefix) as writer:
        for row in rows:
            writer.write(row, [len(row)])
    manifest = read_manifest(folder)
    for name in (f"{prefix.name}.bin", f"{prefix.name}.idx"):
        manifest[prefix.name].files[name] = Fingerprint.of(folder / name)
    write_manifest(folder, manifest)


@pytest.mark.parametrize(
    ("kind", "lang", "row", "message"),
    [
        ("heads", "de", [1, 3, 1, 1, 3], "1 sentence whose heads are no tree"),
        ("heads", "de", [0, 3, 1, 3, 3], "1 sentence whose heads are no tree"),
        ("heads", "de", [1, 4, 1, 3, 3], "1 sentence whose heads do not follow"),
        ("heads", "de", [1, 3, 3, 3, 3], "1 sentence whose heads do not follow"),
        ("chunks", "en", [0, 0, 0, 3, 0], "1 sentence that no chunk opens"),
        ("heads", "de", [1, 9, 1, 3, 3], "holds 9, its numbers can be 0 to 4"),
        ("phrases", "de", [5, 0], "holds 0, its numbers can be 1 to 5"),
        ("chunks", "en", [1, 0, 0, 4, 0], "holds 4, its numbers can be 0 to 3"),
    ],
)
@pytest.mark.parametrize("block", [1, 100])
def test_what_cannot_be_right(folder, inspect, fault, monkeypatch, kind, lang, row, message, block):
    monkeypatch.setattr(text_figures, "_BLOCK", block)
    rewrite(folder, kind, lang, row)
    err, out = fault(folder, "--split", "train", "--samples", 5)
    assert message in err
    assert "train, sentence 2" in out
    if message.startswith("holds"):
        assert f"train.de-en.{lang}.{kind}: sentence 2 (line 2 of the text;" in err
        assert "not sound" in out
        return
    assert f"train.de-en.{lang}.{kind}.bin: {message}" in err
    assert "(line 2)" in err
    if kind == "heads":  # what is wrong is not measured
        content = json.loads(inspect(folder, "--json", "-")[1])
        trees = content["texts"][0]["annotation"]["heads"]
        assert trees["trees_measured"] == trees["annotated"] - 1


def test_without_annotation(bare, inspect):
    status, out, err = inspect(bare)
    assert (status, err) == (0, [])
    assert "annotation: none (no syntax.json); to add some, run `syntax-nmt bin" in out
    assert "dependencies" not in out
    assert "  de        the cat go\n" in out


def test_only_a_source(tmp_path, figures):
    databin = write_corpus(tmp_path / "it", "sentencepiece", kinds=())
    shutil.rmtree(databin)
    preprocess_corpus(tmp_path / "it", "--only-source")
    _, texts = figures(databin)
    assert list(texts) == [("train", "de"), ("valid", "de")]


def test_another_dictionary(folder, inspect, fault):
    entries = (folder / "dict.de.txt").read_text().splitlines()
    (folder / "dict.de.txt").write_text("\n".join(entries[:3]) + "\n")
    err, out = fault(folder)
    assert "dict.de.txt: damaged, or changed since train.de-en.de.heads" in err
    assert "train  en " in out
    (folder / "syntax.json").unlink()
    status, out, err = inspect(folder)
    err = [line for line in err if ": error: " in line]
    assert (status, len(err)) == (1, 2)  # one a split
    assert "the dictionary has 7 entries" in err[0]
    assert "train  en " in out


def test_texts_that_are_not_parallel(tmp_path, fault):
    databin = write_corpus(tmp_path / "it", "none", kinds=())
    for ending in ("bin", "idx"):
        shutil.copy(databin / f"valid.de-en.en.{ending}", databin / f"train.de-en.en.{ending}")
    err = fault(databin)[0]
    assert "train.de-en.de.idx has 7 sentences, train.de-en.en.idx 3" in err


@pytest.mark.parametrize("name", ["nowhere", ""])
def test_no_data_bin_folder(tmp_path, fault, name):
    (tmp_path / "train.en").touch()
    err, out = fault(tmp_path / name)
    assert out == ""
    assert err.startswith(f"syntax-nmt: error: {tmp_path / name}: no ")


@pytest.mark.parametrize(
    ("share", "text"),
    [(None, "–"), (0.0, "0%"), (1.0, "100%"), (0.5, "50.00%"), (1e-6, "<0.01%"), (1 - 1e-6, None)],
)
def test_nothing_is_all_or_nothing_by_rounding(share, text):
    assert share_text(share) == (text or ">99.99%")


def test_the_folder_above(folder, inspect):
    assert inspect(folder.parent) == inspect(folder)
    assert inspect(folder.parent)[0] == 0
