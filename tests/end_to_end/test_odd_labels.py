"""Values of annotation that look like references or code, from `prepare` to a translation."""

import random

import pytest
import torch
from commands import fairseq, succeed, syntax_nmt

from syntax_nmt.checkpoints.label_text import split_labels

pytestmark = pytest.mark.dear

ODD = ("${HOME}", "${oc.env:PATH}", "${", "f(x)", "a=b", "%24", "${model.arch}")
WORDS = ("lo", "dostam", "un", "no", *ODD)
SMALL = ("--optimizer", "adam", "--lr", "1e-3", "--max-tokens", "2000", "--no-epoch-checkpoints")
SYSTEMS = {
    "lemma": ("feature_transformer_tiny", "--load-features", "lemma"),
    "deprel": ("gcn_transformer_tiny", "--load-dependencies", "--load-features", "deprel"),
    "chunks": ("bi_scale_rnn_tiny", "--load-chunks"),
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A corpus whose lemmas, relations and types of target chunks are its words."""
    folder, draw = tmp_path_factory.mktemp("odd"), random.Random(1)
    for split, number in (("train", 100), ("valid", 5), ("test", 5)):
        sentences = [draw.choices(WORDS, k=6) for _ in range(number)]
        texts = {
            "en": [" ".join(words) for words in sentences],
            "xx": [" ".join(words) for words in sentences],
            "en.conllu": ["".join(map(_row, range(6), words)) for words in sentences],
            "xx.chunks": [" ".join(f"B-{word}" for word in words) for words in sentences],
        }
        for name, lines in texts.items():
            content = "".join(f"{line}\n" for line in lines)
            (folder / f"{split}.{name}").write_text(content, encoding="utf-8")
    given = ["--source-tokenizer", "none", "--target-tokenizer", "none", "--vocab-size", "60"]
    for split in ("train", "valid", "test"):
        given += [f"--{split}pref", folder / split]
    syntax_nmt(
        *("prepare", "--source-lang", "en", "--target-lang", "xx", *given),
        *("--features", "lemma,deprel", "--destdir", folder / "prepared"),
    )
    return folder / "prepared"


def _row(place: int, word: str) -> str:
    return f"{place + 1}\t{word}\t{word}\tX\t_\t_\t{place}\t{word if place else 'root'}\t_\t_\n"


@pytest.mark.parametrize("kind", SYSTEMS)
def test_a_training_is_resumed_and_translates(prepared, tmp_path, kind):
    """The labels of its model are those of the folder to the letter."""
    arch, *reads = SYSTEMS[kind]
    data = prepared / "data-bin"
    train = fairseq("train", data, "--arch", arch, *reads, *SMALL, "--save-dir", tmp_path)
    if kind == "lemma":
        train = (*train, "--source-features", "lemma")
    for updates in ("2", "4"):
        succeed(*train, "--max-update", updates)
    best = tmp_path / "checkpoint_best.pt"
    succeed(*fairseq("generate", data, *reads, "--path", best, "--max-len-b", "5"))
    model = vars(torch.load(best, weights_only=False)["cfg"]["model"])
    labels = split_labels(model["chunk_tags" if kind == "chunks" else f"feature_{kind}"])
    assert list(labels) == (data / f"dict.{kind}.txt").read_text("utf-8").split()
    assert set(ODD) <= set(labels)
