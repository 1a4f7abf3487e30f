"""Real corpora through `syntax-nmt prepare`: every line arrives, with its annotation."""

import gzip
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from syntax_nmt.cli import main
from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.data.manifest import read_manifest
from syntax_nmt.data.ragged import RaggedArray

pytestmark = pytest.mark.slow
LINES = 400


def write(folder: Path, name: str, lang: str, lines) -> None:
    folder.mkdir(exist_ok=True)
    with open(folder / f"{name}.{lang}", "w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{line}\n" for line in lines)


def head(path: Path) -> list[str]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="\n") as stream:
        return [line.rstrip("\n") for line in islice(stream, LINES)]


def prepare(folder: Path, source: str, target: str, *more: str) -> Path:
    arguments = ["prepare", "--source-lang", source, "--target-lang", target]
    arguments += ["--vocab-size", "3000", "--trainpref", f"{folder}/train"]
    arguments += ["--destdir", f"{folder}/out", *more]
    main(arguments)
    main(["inspect", f"{folder}/out/data-bin", "--samples", "1"])
    return folder / "out"


def check_lines(folder: Path, out: Path, *languages: str) -> None:
    for lang in languages:
        raw = (folder / f"train.{lang}").read_bytes().count(b"\n")
        for made in ("words", "pieces"):
            assert (out / made / f"train.{lang}").read_bytes().count(b"\n") == raw


@pytest.mark.parametrize(
    ("source", "target"), [("en", "de"), ("de", "ja"), ("ja", "zh"), ("zh", "en")]
)
def test_pud_with_its_gold_trees(shared, tmp_path, source, target):
    folder = tmp_path / "pud"
    for lang in (source, target):
        treebank = shared / "data" / "ud" / "PUD" / f"{lang}_pud-ud-test.conllu.gz"
        trees = list(read_conllu(treebank))
        surface = [tree.collapse(tree.num_surface_tokens) for tree in trees]
        words = ([word.replace(" ", "\xa0") for word in tree.words] for tree in surface)
        write(folder, "train", lang, (" ".join(line) for line in words))
    gold = shared / "data" / "ud" / "PUD" / f"{source}_pud-ud-test.conllu.gz"
    (folder / f"train.{source}.conllu.gz").write_bytes(gold.read_bytes())
    none = ["--source-tokenizer", "none", "--target-tokenizer", "none", "--no-parse"]
    out = prepare(folder, source, target, *none)
    check_lines(folder, out, source, target)
    (name,) = read_manifest(out / "data-bin")
    assert name == f"train.{source}-{target}.{source}.heads"
    heads = RaggedArray.open(out / "data-bin" / name)
    assert len(heads) == 1000
    assert all(np.all(block.values >= 0) for block in heads.blocks())


def test_tatoeba_english_to_unsegmented_chinese(shared, tmp_path):
    pairs = [line.split("\t") for line in head(shared / "data" / "tatoeba" / "cmn.txt.gz")]
    for column, lang in enumerate(("en", "zh")):
        write(tmp_path / "tatoeba", "train", lang, (pair[column] for pair in pairs))
    models = str(shared / "models" / "en")
    out = prepare(tmp_path / "tatoeba", "en", "zh", "--stanza-dir", models, "--constituents")
    check_lines(tmp_path / "tatoeba", out, "en", "zh")
    counted = {name: entry.annotated for name, entry in read_manifest(out / "data-bin").items()}
    prefix = "train.en-zh.en"
    assert counted == {f"{prefix}.{kind}": LINES for kind in ("heads", "phrases", "trees")}
    assert (out / "parser.json").is_file()


@pytest.mark.parametrize(("source", "target"), [("en", "de"), ("de", "en")])
def test_multi30k_with_the_english_side_annotated(shared, tmp_path, source, target):
    folder = tmp_path / "multi30k"
    for lang in (source, target):
        write(folder, "train", lang, head(shared / "data" / "multi30k" / f"train.{lang}.gz"))
    chunks = ["--no-parse", "--chunks", "tagger"]
    more = ["--workers", "2", "--part-size", "100"] if source == "en" else chunks
    out = prepare(folder, source, target, "--stanza-dir", str(shared / "models" / "en"), *more)
    check_lines(folder, out, source, target)
    (entry,) = read_manifest(out / "data-bin").values()
    assert (entry.sentences, entry.annotated) == (LINES, LINES)


def test_tanaka_that_is_cut_already(shared, tmp_path):
    folder = tmp_path / "tanaka"
    for lang in ("en", "ja"):
        write(folder, "train", lang, head(shared / "data" / "tanaka" / f"train.{lang}.gz"))
    models = ["--stanza-dir", str(shared / "models" / "en"), "--source-tokenizer", "none"]
    out = prepare(folder, "en", "ja", *models, "--target-tokenizer", "none")
    check_lines(folder, out, "en", "ja")
    assert (out / "words" / "train.ja").read_bytes() == (folder / "train.ja").read_bytes()
