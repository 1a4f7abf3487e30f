"""Annotation beside the raw text under a name that nothing reads is told of."""

from syntax_nmt.preparation.given_annotation import unused_annotation
from syntax_nmt.preparation.splits import Split


def test_names_of_another_side_or_without_a_language(tmp_path):
    split = Split("train", f"{tmp_path}/train", tmp_path / "train.en", tmp_path / "train.de", 5)
    for name in ("train.en.conllu", "train.de.conllu", "train.de.chunks"):
        (tmp_path / name).touch()
    assert list(unused_annotation([split], "en", "de")) == []
    for name in ("train.de.trees", "train.en.chunks", "train.conllu"):
        (tmp_path / name).touch()
    assert list(unused_annotation([split], "en", "de")) == [
        f"{tmp_path}/train.conllu is not used: its name lacks the language: call it "
        f"{tmp_path}/train.en.conllu",
        f"{tmp_path}/train.de.trees is not used: it would be phrases of the source's constituency "
        "trees, which is en",
        f"{tmp_path}/train.en.chunks is not used: it would be chunks of the target, which is de",
    ]
