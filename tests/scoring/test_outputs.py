"""What every command of the evaluation keeps to: no input is lost, no output is written twice."""

import pytest
from translations import refused

from syntax_nmt.data.conllu import format_conllu

FILES = {
    "text": "a b\nc d\n",
    "other": "a c\nc d\n",
    "links": "0-0\n1-1\n",
    "tags": "B-NP I-NP\nB-VP O\n",
    "trees": "(S (A a) (B b))\n(S (C c) (D d))\n",
    "parses": format_conllu(["a", "b"], [1, 1]) + format_conllu(["c", "d"], [0, 0]),
    "models": "nothing that can be loaded\n",
}
SCORE = ("score", "text", "--reference", "other")
COMPARE = ("compare", "--system", "x", "text", "--system", "y", "other", "--reference", "text")
ALIGN = ("align", "--hypothesis", "links", "--score", "links")
ALIGN_BY_MODEL = ("align", ".", "--path", "models", "--source", "text", "--target", "tags")
ALIGN_BY_MODEL = (*ALIGN_BY_MODEL, "--segmented")
CHUNKS = ("chunks", "--hypothesis", "tags", "--score", "tags")
CHUNKS_BY_MODEL = ("chunks", ".", "--path", "models", "--source", "text", "--target", "tags")
PARSES = ("trees", "--hypothesis", "parses", "--conllu", "parses")
TREES = ("trees", "--kind", "constituents", "--hypothesis", "trees", "--trees", "trees")
CONTRAST = ("contrast", ".", "--path", "models", "--source", "text", "--correct", "text")
CONTRAST = (*CONTRAST, "--incorrect", "tags")
REPORT = ("report", "text", "--reference", "other", "--chunks", "text", "tags")


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    yield
    found = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert found == FILES


@pytest.mark.parametrize(
    ("command", "output", "lost"),
    [
        (SCORE, "--json", "text"),
        (SCORE, "--json", "other"),
        ((*SCORE, "--source", "links"), "--json", "links"),
        (COMPARE, "--json", "other"),
        (ALIGN, "--json", "links"),
        (ALIGN_BY_MODEL, "--output", "models"),
        (CHUNKS, "--output", "tags"),
        (PARSES, "--json", "parses"),
        (("trees", ".", "--path", "models", "--conllu", "parses"), "--output", "parses"),
        (TREES, "--output", "trees"),
        (CONTRAST, "--output", "text"),
        (CONTRAST, "--json", "models"),
        *(
            ((*command, *given), "--output", "other")
            for command in (ALIGN_BY_MODEL[:-1], CONTRAST, CHUNKS_BY_MODEL)
            for given in (
                ("--bpe", "subword_nmt", "--bpe-codes", "other"),
                ("--segmented", "--parser-config", "other"),
            )
        ),
        (REPORT, "--output", "tags"),
    ],
)
def test_no_input_is_overwritten(command, output, lost):
    message = refused(*command, output, lost)
    assert message.startswith(f"{lost}: is the input as well")


@pytest.mark.parametrize("command", [ALIGN, CHUNKS, PARSES, TREES, CONTRAST])
def test_two_outputs_are_two_files(command):
    message = refused(*command, "--output", "both", "--json", "./both")
    assert message == "both: would be written twice: give each output a file of its own"
