"""Given annotation: what is in order, what is of other words, and what is malformed."""

import gzip
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from syntax_nmt.cli import main
from syntax_nmt.data.annotation import TEXT_KINDS
from syntax_nmt.data.conllu import conllu_blocks, format_conllu, read_conllu
from syntax_nmt.data.word_annotation import WordAnnotation
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.given_annotation import GivenAnnotation, unused_annotation
from syntax_nmt.preparation.splits import Split

ROW = "{}\t{}\t_\t_\t_\t_\t{}\t_\t_\t_\n"
MULTIWORD = (
    ROW.format("1-2", "zum", "_")
    + ROW.format(1, "zu", 3)
    + ROW.format(2, "dem", 3)
    + ROW.format(3, "Haus", 0)
    + "\n"
)
SINGLE = ROW.format(1, "geh", 0) + "\n"
CYCLE = ROW.format(1, "zum", 2) + ROW.format(2, "Haus", 1) + "\n"


def write(folder, ending, content, text="zum Haus\ngeh\n"):
    words, annotation = folder / "train.de", folder / f"raw.de.{ending}"
    words.write_text(text, encoding="utf-8")
    annotation.write_text(content, encoding="utf-8")
    (kind,) = (kind for kind in TEXT_KINDS if kind.ending == ending)
    return GivenAnnotation(WordAnnotation(annotation, kind), words)


@pytest.mark.parametrize("text", ["zum Haus\ngeh\n", "zu dem Haus\ngeh\n"])
def test_the_words_may_be_surface_tokens_or_syntactic_words(tmp_path, text):
    findings = write(tmp_path, "conllu", MULTIWORD + SINGLE, text).fit()
    assert (findings.sentences, findings.realigned, findings.mismatched) == (2, 0, [])


def of_raw_text(words):
    heads = [len(words), *[1] * (len(words) - 1)]
    rows = (
        ROW.format(place, word, head) for place, (word, head) in enumerate(zip(words, heads), 1)
    )
    return "".join(rows).replace(f"\t{heads[0]}\t", "\t0\t", 1) + "\n"


RAW = ["Hier, (im Haus), geht es.", "Ja, so geht es gut.", "Nein!"]
CUT = "Hier , ( im Haus ) , geht es .\nJa , so geht es gut .\nNein !\n"


def test_parses_of_raw_text_are_told_of(tmp_path):
    blocks = "".join(of_raw_text(line.split()) for line in RAW)
    given = write(tmp_path, "conllu", blocks, CUT)
    carried, told = given.fit().notes(given.annotation.file, given.words)
    assert "3 of 3 sentences" in carried
    assert re.search(
        rf"^{given.annotation.file}: 8 of 19 words .* before it was tokenised: "
        f"annotate {given.words}, and",
        told,
    )
    trees = "".join(f"(X {' '.join(f'(W {word})' for word in line.split())})\n" for line in RAW)
    trees = trees.replace("(W (im)", "(W -LRB-im)").replace("(W Haus),)", "(W Haus-RRB-,)")
    given = write(tmp_path, "trees", trees, CUT)
    [_, told] = given.fit().notes(given.annotation.file, given.words)
    assert "8 of 19 words" in told


def test_tokens_cut_within_words_are_not(tmp_path):
    """Hyphens, and a word a character: the parse is of words, as it should be."""
    words = "die well-known U.S.-Firma , 北京 大学 ."
    given = write(
        tmp_path,
        "conllu",
        of_raw_text(words.split()),
        ("die well @-@ known U.S. @-@ Firma , 北 京 大 学 .\n"),
    )
    assert len(list(given.fit().notes(given.annotation.file, given.words))) == 1


@pytest.mark.parametrize(
    ("kind", "content", "place"),
    [
        (
            "conllu",
            MULTIWORD + SINGLE.replace("geh", "steh"),
            "conllu:6: sentence 2: .*e:2.* 'geh' ",
        ),
        (
            "trees",
            "(X a)\n(X geh)\n",
            r"trees:1: sentence 1: the parse has 1 words, .*train\.de:1\)",
        ),
        ("chunks", "O O\nO B-NP\n", r"chunks:2: sentence 2: 2 tags, but .*train\.de:2 has 1 words"),
    ],
)
def test_other_words_name_both_places_and_the_next_step(tmp_path, kind, content, place):
    findings = write(tmp_path, kind, content).fit()
    assert len(findings.mismatched) == 1
    error = findings.refusal("or do that")
    assert re.search(rf"raw\.de\.{place}.*\(1 of 2 sentences .*or do that$", str(error))


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        ("chunks", "O O\nNP\n", r"raw\.de\.chunks:2: tag 'NP'"),
        ("chunks", "O\nNP\n", r"raw\.de\.chunks:2: tag 'NP'"),  # behind a line of other words
        ("chunks", "O O\n", r"chunks: sentence 2: the file ends before .* one entry a sentence"),
        ("chunks", "O\nO\nO\n", r"train\.de: sentence 3: the file ends before the others"),
        ("conllu", CYCLE + SINGLE, r"raw\.de\.conllu:\d: "),
        ("trees", "(X a b)\n(X geh\n", r"raw\.de\.trees:2: the line ends before 1 of its brackets"),
    ],
)
def test_malformed_is_not_other_words(tmp_path, kind, content, message):
    with pytest.raises(UserError, match=message):
        write(tmp_path, kind, content).fit()


@pytest.mark.parametrize("packed", [False, True])
def test_annotation_of_the_same_words_does_not_change(tmp_path, packed):
    given = write(tmp_path, "conllu", "# text = a comment\n" + MULTIWORD + SINGLE)
    file = given.annotation.file
    content = file.read_text(encoding="utf-8")
    if packed:
        file.write_bytes(gzip.compress(file.read_bytes()))
        file = file.rename(file.with_name(file.name + ".gz"))
        given = GivenAnnotation(WordAnnotation(file, given.annotation.kind), given.words)
    out = io.StringIO()
    assert given.fit(out).mismatched == []
    assert out.getvalue() == content


SHORT = ROW.format(1, "a", 0) + "\n", ROW.format(1, "b", 0) + "\n", ROW.format(1, "c", 0) + "\n"


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (SHORT[1:] + SHORT[:1], "conllu:1: sentence 1 is missing here .* of sentence 2 .'b'"),
        (SHORT[2:], "conllu:1: sentences 1 to 2 are missing here .* of sentence 3 .'c'"),
        (SHORT[:1] + SHORT[2:], "conllu:3: sentence 2 is missing here .* of sentence 3 .'c'"),
        (SHORT[:2] + SHORT, r"conllu:5: 2 entries too many: .* sentence 3 .* at line 9: remove"),
    ],
)
def test_a_sentence_that_is_missing_is_named(tmp_path, entries, message):
    given = write(tmp_path, "conllu", "".join(entries), text="a\nb\nc\n")
    with pytest.raises(UserError, match=message):
        given.fit()


def attaching(given):
    """The same, which attaches further roots."""
    return replace(given, annotation=replace(given.annotation, attach_roots=True))


TWO_ROOTS = ROW.format(1, "a", 0) + ROW.format(2, "b", 0) + "\n"


@pytest.mark.parametrize("behind", [SHORT[2], ""])
def test_a_missing_sentence_is_named_among_parses_of_several_roots(tmp_path, behind):
    """Behind it the others are shifted, or the file ends early."""
    text = "x y\na b\nb\n" + ("c\n" if behind else "")
    entries = "".join((TWO_ROOTS, SHORT[1], behind))
    given = attaching(write(tmp_path, "conllu", entries, text))
    with pytest.raises(UserError, match=r"conllu:1: sentence 1 is missing here .* of sentence 2"):
        given.fit()


def test_carried_over_entries_are_written_and_others_stay_as_they_are(tmp_path):
    comment = "# text = geh\n"
    given = write(tmp_path, "conllu", MULTIWORD + comment + SINGLE, "zum Ha us\ngeh\n")
    out = io.StringIO()
    findings = given.fit(out)
    assert (findings.realigned, findings.non_constituent) == (1, 0)
    blocks = out.getvalue().split("\n\n")
    assert [row.split("\t")[1::5] for row in blocks[0].splitlines()] == [
        *(["zum", "2"], ["Ha", "0"], ["us", "2"])
    ]
    assert blocks[1] == (comment + SINGLE).strip()


def test_several_roots(tmp_path):
    given = write(tmp_path, "conllu", MULTIWORD.replace("\t3\t_", "\t0\t_", 1) + SINGLE)
    with pytest.raises(UserError, match=r"conllu:\d: a second root .*--attach-roots"):
        given.fit()
    with (tmp_path / "new").open("w") as out:
        assert attaching(given).fit(out).mismatched == []
    tree = next(read_conllu(tmp_path / "new"))
    assert tree.collapse(2).heads == (0, 0)


def test_names_of_another_side_or_without_a_language(tmp_path):
    split = Split("train", f"{tmp_path}/train", tmp_path / "train.en", tmp_path / "train.de", 5)
    for name in ("train.en.conllu", "train.de.conllu", "train.de.chunks", "train.de.trees"):
        (tmp_path / name).touch()
    assert list(unused_annotation([split], "en", "de")) == []
    for name in ("train.en.chunks", "train.conllu"):
        (tmp_path / name).touch()
    assert list(unused_annotation([split], "en", "de")) == [
        f"{tmp_path}/train.conllu is not used: its name lacks the language: call it "
        f"{tmp_path}/train.en.conllu",
        f"{tmp_path}/train.en.chunks is not used: it would be chunks of the target, which is de",
    ]


OTHER = (7, 30)  # sentences, from 0, whose parse is of other words


def blocks_of(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8-sig").splitlines()
    return ["\n".join(block) for _, block in conllu_blocks(text)]


@pytest.fixture(scope="module")
def corpus(treebank, tmp_path_factory) -> Path:
    """Raw text with gold parses, two of them of other words."""
    folder = tmp_path_factory.mktemp("gold")
    trees = list(read_conllu(treebank))[:60]
    blocks = blocks_of(treebank)[:60]
    text = [" ".join(tree.words[:-1]) + "." for tree in trees]
    blocks[OTHER[0]] = format_conllu(["quite", "other"], [1, 1]).strip()
    blocks[OTHER[1]] = format_conllu(["words", "again", "here"], [0, 0, 0]).strip()
    # Typographic, escaped and cut otherwise: no mismatch.
    text[2] = "the “old” cat don't see the well-known dog."
    words = ["the", "``", "old", "''", "cat", "do", "n't", "see", "the", "well-known", "dog", "."]
    heads = [4, 2, 4, 2, 7, 7, 7, 7, 10, 10, 7, 7]
    blocks[2] = format_conllu(words, heads).strip()
    (folder / "train.en").write_text("".join(f"{line}\n" for line in text))
    (folder / "train.de").write_text("".join(f"{line}\n" for line in text))
    gold = "".join(f"{block}\n\n" for block in blocks)
    (folder / "train.en.conllu").write_text(gold, encoding="utf-8-sig")
    return folder


def prepare(corpus: Path, folder: Path, *more: str) -> None:
    arguments = ["prepare", "--source-lang", "en", "--target-lang", "de", "--vocab-size", "80"]
    main([*arguments, "--trainpref", f"{corpus}/train", "--destdir", str(folder), *more])


@pytest.mark.dear
@pytest.mark.parametrize("more", [["--no-parse"], []])
def test_prepare_stops_at_other_words(corpus, models, tmp_path, more):
    message = (
        r"train\.en\.conllu:\d+: sentence 8: the parse has 2 words, the text "
        r"\(.*words/train\.en:8\) has \d+: 'quite other' against '.*' "
        r"\(2 of 60 sentences have other words\): .*"
        r"--on-mismatch skip"
    )
    with pytest.raises(SystemExit, match=message):
        prepare(corpus, tmp_path, "--stanza-dir", str(models), *more)
    assert not (tmp_path / "words" / "train.en.conllu").exists()
    assert not (tmp_path / "data-bin").exists()


@pytest.mark.dear
def test_prepare_skips_other_words(corpus, tmp_path, capfd):
    prepare(corpus, tmp_path, "--no-parse", "--on-mismatch", "skip")
    out, err = capfd.readouterr()
    assert "conllu given, 2 skipped" in out
    assert "1 of 60 sentences are tokenised differently, and were transferred" in err
    assert "2 sentences skipped, the first is " in err
    gold, found = (blocks_of(f / "train.en.conllu") for f in (corpus, tmp_path / "words"))
    for number, (given, block) in enumerate(zip(gold, found)):
        if number in OTHER:
            assert block.startswith("# parse = none")
        elif number != 2:
            assert block == given  # as it stood
    tree = list(read_conllu(tmp_path / "words" / "train.en.conllu"))[2]
    text = (tmp_path / "words" / "train.en").read_text().splitlines()
    assert " ".join(tree.words) == text[2] == "the “ old ” cat do n't see the well @-@ known dog ."
    assert tree.heads == (4, 2, 4, 2, 7, 7, 7, 7, 12, 12, 9, 9, 7, 7)
    manifest = json.loads((tmp_path / "data-bin" / "syntax.json").read_text())
    assert manifest["files"]["train.en-de.en.heads"]["annotated"] == 58
