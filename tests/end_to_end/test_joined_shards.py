"""Text in several parts: fairseq joins `train`, `train1`, …, and annotation follows."""

import shutil

import pytest
from commands import succeed, syntax_nmt
from prepared_corpus import task_of

from syntax_nmt.data.annotation import HEADS
from syntax_nmt.data.binarised_annotation import open_annotation
from syntax_nmt.errors import UserError


@pytest.fixture(scope="module")
def joined(prepared, tmp_path_factory):
    """A data-bin folder whose splits `test` and `test1` are the corpus's test and valid text."""
    data = tmp_path_factory.mktemp("joined") / "data-bin"
    parts = f"{prepared.folder}/pieces/test,{prepared.folder}/pieces/valid"
    languages = ("--source-lang", "src", "--target-lang", "tgt")
    dictionaries = [f"{prepared.data}/dict.{language}.txt" for language in ("src", "tgt")]
    succeed(
        *("fairseq_cli.preprocess", *languages, "--testpref", parts, "--destdir", data),
        *("--srcdict", dictionaries[0], "--tgtdict", dictionaries[1]),
    )
    words = data.parent / "words"  # with parses alone: chunk types are those of training text
    words.mkdir()
    for name in ("test.src", "test.src.conllu", "valid.src", "valid.src.conllu"):
        shutil.copy(prepared.folder / "words" / name, words)
    syntax_nmt("binarize", *languages, "--testpref", parts, "--words", words, "--destdir", data)
    return data


def load(data, **options):
    """The joined split as the task loads what it trains on."""
    task = task_of(data, "src", "tgt", train_subset="test", load_dependencies=True, **options)
    task.load_dataset("test", combine=True)
    return task.datasets["test"]


@pytest.mark.parametrize(("upsample", "repeats"), [(-1, 1), (1, 1), (3, 3)])
def test_heads_follow_their_sentences(joined, upsample, repeats):
    """fairseq's own default, −1, fails where it joins texts."""
    dataset = load(joined, upsample_primary=upsample, left_pad_source=False)
    rows = []
    for number, times in (("", repeats), (1, 1)):
        text = load(joined, upsample_primary=1).src.datasets[bool(number)]
        prefix = joined / f"test{number}.src-tgt.src"
        annotation = open_annotation(prefix, HEADS, text.sizes).rows
        rows += [annotation[row].tolist() for row in range(len(annotation))] * times
    assert len(dataset) == len(rows)
    batch = dataset.collater([dataset[index] for index in range(len(dataset))])
    for index, heads in zip(batch["id"].tolist(), batch["heads"].tolist()):
        expected = rows[index]
        assert heads == expected + [-1] * (len(heads) - len(expected))


def test_a_part_without_annotation_files(joined, tmp_path):
    for path in joined.glob("test1.*.heads.*"):
        path.rename(tmp_path / path.name)
    try:
        with pytest.raises(UserError, match=r"test1\.src-tgt\.src\.heads"):
            load(joined, upsample_primary=1)
    finally:
        for path in tmp_path.iterdir():
            path.rename(joined / path.name)
