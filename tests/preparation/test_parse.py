"""`syntax-nmt parse`: one block a line whatever the line holds, and resuming after SIGKILL."""

import gzip
from dataclasses import replace

import pytest
from translations import refused

from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.parsing.stanza.models import find_models
from syntax_nmt.preparation.annotators.annotate import Resources, annotate_file, describe
from syntax_nmt.preparation.annotators.annotator import ModelAnnotator

pytestmark = pytest.mark.dear

PARTS = Resources(part_size=50)


@pytest.fixture(scope="module")
def options(models) -> ModelAnnotator:
    return ModelAnnotator(find_models("dependencies", "en", models))


@pytest.fixture(scope="module")
def parsed(options, text, tmp_path_factory):
    """The text parsed in one go, and the counts."""
    output = tmp_path_factory.mktemp("parsed") / "text.en.conllu"
    return output, annotate_file(text, output, options, PARTS)


def test_every_line_has_its_block_with_its_own_words(text, parsed):
    output, counts = parsed
    lines = text.read_bytes().decode("utf-8").split("\n")[:-1]
    blocks = output.read_text(encoding="utf-8").split("\n\n")[:-1]
    assert len(blocks) == len(lines) == counts["lines"] == 308
    for line, block, tree in zip(lines, blocks, read_conllu(output)):
        rows = [row.split("\t") for row in block.split("\n") if not row.startswith("# ")]
        assert [row[1] for row in rows] == line.split()
        assert (tree is None) == (not 0 < len(line.split()) <= 250)

    assert counts["failed"] == 0
    said = describe(counts)
    assert said.startswith("308 lines, 305 annotated (99.03%); not annotated: 2 empty, 1 too long")


def test_trees_are_learnt(treebank, parsed, text):
    """The parser is real: most heads are those of the treebank."""
    gold = {tree.words: tree.heads for tree in read_conllu(treebank)}
    pairs = [
        (found, right)
        for tree in read_conllu(parsed[0])
        if tree is not None and tree.words in gold
        for found, right in zip(tree.heads, gold[tree.words])
    ]
    assert sum(found == right for found, right in pairs) > 0.6 * len(pairs)


def test_gzipped_text_gives_the_same(text, parsed, options, tmp_path):
    zipped = tmp_path / "text.en.gz"
    zipped.write_bytes(gzip.compress(text.read_bytes()))
    annotate_file(zipped, tmp_path / "out.conllu", options, PARTS)
    assert (tmp_path / "out.conllu").read_bytes() == parsed[0].read_bytes()


def test_parts_are_of_their_options(options):
    assert options.fingerprint() != replace(options, max_words=10).fingerprint()


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--lang", "de", "are of language 'en', the text is of language 'de'"),
        ("--stanza-dir", "nowhere", "models for dependencies of language 'en': looked for nowhere"),
        ("--stanza-model", "pos=gone.pt", "--stanza-model pos=gone.pt: no such file"),
        ("--device", "cuda:99", "--device cuda:99"),
    ],
)
def test_mistakes_are_one_line(text, models, tmp_path, option, value, message):
    arguments = ["parse", "--lang", "en", "--input", text, "--stanza-dir", models]
    assert message in refused(*arguments, "--output", tmp_path / "out.conllu", option, value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("output", ["file/x.conllu", "folder"])
def test_an_output_that_cannot_be_written_is_found_before_models_load(
    text, models, tmp_path, monkeypatch, output
):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    monkeypatch.setattr("syntax_nmt.preparation.annotators.annotator.loaded_analyser", pytest.fail)
    arguments = ["parse", "--lang", "en", "--input", text, "--stanza-dir", models]
    assert f"{output}: cannot be written" in refused(*arguments, "--output", tmp_path / output)


def test_contractions_of_moses_are_parsed_as_treebanks_cut_them(shared, tmp_path):
    """With the real models: `don 't` gets the tree of `do n't`, and keeps its spelling."""
    options = ModelAnnotator(find_models("dependencies", "en", shared / "models" / "en"))
    text, output = tmp_path / "text.en", tmp_path / "text.en.conllu"
    text.write_text(
        "We do n't know whether the well - known results can be reproduced .\n"
        "We don 't know whether the well @-@ known results can be reproduced .\n"
    )
    assert annotate_file(text, output, options)["annotated"] == 2
    treebank, moses = read_conllu(output)
    assert treebank.heads == moses.heads
    assert moses.words[1:3] == ("don", "'t")
    assert treebank.heads[treebank.words.index("do")] == treebank.words.index("know")
