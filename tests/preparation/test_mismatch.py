"""Given annotation of other words than the text's: told once, and never replaced in silence."""

import json
from pathlib import Path

import pytest

from syntax_nmt.cli import main
from syntax_nmt.data.conllu import conllu_blocks, format_conllu, read_conllu

pytestmark = pytest.mark.dear

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


@pytest.mark.parametrize("more", [["--no-parse"], []])
def test_it_stops(corpus, models, tmp_path, more):
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


def test_it_skips_these(corpus, tmp_path, capfd):
    prepare(corpus, tmp_path, "--no-parse", "--on-mismatch", "skip")
    out, err = capfd.readouterr()
    assert "conllu given, 2 skipped" in out
    assert "1 of 60 sentences have the text's characters in other words, and were carried" in err
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
