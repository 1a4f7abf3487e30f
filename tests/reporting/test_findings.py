"""Figures in every form: the same table as text, Markdown, LaTeX, TSV and JSON."""

import json

import pytest
from nonempty import some
from translations import figures, noisy, refused, sentences, write

from syntax_nmt.cli import main
from syntax_nmt.data.text_columns import decimal_text
from syntax_nmt.reporting.findings import (
    FORMATS,
    GITHUB,
    PLAIN,
    Findings,
    Table,
    bound_text,
    markdown_lines,
    number,
    p_value_text,
)

TABLE = Table(["system_1", "BLEU ↓", "Δ"], [["a & b|c", "35.1 ±1.2", "-1.5"], ["50%", "–", ""]])


def test_text_is_aligned():
    lines = TABLE.render().split("\n")
    assert lines[0] == "system_1       BLEU ↓     Δ"
    assert lines[2] == "a & b|c     35.1 ±1.2  -1.5"
    assert lines[3] == "50%                 –"


def test_markdown_has_no_stray_column():
    lines = TABLE.render("markdown").split("\n")
    assert [line.replace(r"\|", "").count("|") for line in lines] == [4] * 4
    assert r"a & b\|c" in lines[2]
    assert lines[1].startswith("|:--")
    assert lines[1].endswith("-:|")


def test_plain_columns_are_as_wide_as_their_cells():
    table = Table(["split", "lang", "lines"], [["train", "en", "1,500"], ["test", "de", "30"]])
    assert Table(table.head, table.rows, names=2).render(PLAIN).split("\n") == [
        "split  lang  lines",
        "train  en    1,500",
        "test   de       30",
    ]


@pytest.mark.parametrize("form", ["text", PLAIN])
def test_wide_characters_are_two_columns_in_a_terminal(form):
    *_, wide, narrow = (
        Table(["name", "lines"], [["猫猫", "1"], ["aa", "10"]]).render(form).split("\n")
    )
    assert wide.split("猫猫")[1] == " " * (narrow.index("10") - 3) + "1"


def test_github_tables_do_not_say_how_columns_are_aligned():
    assert set(TABLE.render(GITHUB).split("\n")[1]) == {"|", "-"}
    assert r"a & b\|c" in TABLE.render(GITHUB)


def test_lines_of_markdown_come_as_their_rows_do():
    def rows():
        yield "option", "meaning"
        yield "`--x`", "a|b"
        raise AssertionError("not asked for")

    lines = markdown_lines(rows())
    assert [next(lines) for _ in range(3)] == [
        "| option | meaning |",
        "|---|---|",
        r"| `--x` | a\|b |",
    ]


def test_names_of_any_form():
    """Numbers with commas are names of systems, such as sizes of data; so are others with bars."""
    table = Table(["", "1,000|2"], [["2,000", "1"], ["007", "2"]])
    assert [line.split()[0] for line in table.render().split("\n")[2:]] == ["2,000", "007"]
    assert r"1,000\|2" in table.render("markdown").split("\n")[0]


def test_latex_is_escaped_and_plain():
    text = TABLE.render("latex")
    assert r"system\_1" in text
    assert r"a \& b\textbar{}c" in text
    assert r"50\%" in text
    assert r"35.1 $\pm$1.2" in text
    assert "$-$1.5" in text
    assert text.startswith("\\begin{tabular}{lrr}\n\\toprule")
    assert text.isascii()
    options = Table(["--lr 1e-3 × 2", "–"], [["β ← κ", "1"]]).render("latex")
    assert options.isascii()
    assert r"-{}-lr 1e-3 $\times$ 2" in options
    assert "--" in options.split()  # the sign for no figure


def test_tsv_has_every_cell():
    rows = [line.split("\t") for line in TABLE.render("tsv").split("\n")]
    assert rows == [list(TABLE.head), *map(list, TABLE.rows)]


def test_what_is_no_table_is_a_comment():
    findings = Findings([TABLE], "all sentences", ["a note", "another"])
    for form, sign in (("latex", "% "), ("tsv", "# ")):
        text = findings.text(form)
        for line in ("all sentences", "a note", "another"):
            assert f"{sign}{line}\n" in text
    assert "a note\nanother\n" in findings.text()


HOSTILE = {  # label: in text, Markdown, LaTeX and TSV; None = as in text
    "\x1b[2Ja\rb\x9b": ("\ufffd[2Ja\ufffdb\ufffd", None, None, None),
    "a\u202eb\u2066\n\tc\x1cd": ("a\ufffdb\ufffd\ufffd\ufffdc\ufffdd", None, None, None),
    "=HYPERLINK(1)": ("=HYPERLINK(1)", None, None, "'=HYPERLINK(1)"),
    "@SUBJ": ("@SUBJ", None, None, "'@SUBJ"),
    "+1+cmd|x!A": ("+1+cmd|x!A", r"+1+cmd\|x!A", r"+1+cmd\textbar{}x!A", "'+1+cmd|x!A"),
    "-LRB-": ("-LRB-", None, None, "'-LRB-"),
    '"=1+1"': ('"=1+1"', None, None, '\'"=1+1"'),
    "<script>": ("<script>", r"\<script>", r"\ensuremath{<}script\ensuremath{>}", None),
    "[a](b)": ("[a](b)", r"[a\](b)", None, None),
    r"a\|b": (r"a\|b", r"a\\\|b", r"a\textbackslash{}\textbar{}b", None),
    "می\u200cروم\xa0x": ("می\u200cروم\xa0x", None, None, None),
}


@pytest.mark.parametrize("label", HOSTILE)
@pytest.mark.parametrize(
    ("place", "form"), enumerate(["text", "markdown", "latex", "tsv", PLAIN, GITHUB])
)
def test_labels_out_of_files(label, place, form):
    """In cells, in the head, and in the lines around a table."""
    wanted = HOSTILE[label][{4: 0, 5: 1}.get(place, place)] or HOSTILE[label][0]
    table = Table(["", label], [[label, "1"], ["x", label]], label)
    assert table.render(form).count(wanted) == 3
    assert len(table.render(form).splitlines()) == len(TABLE.render(form).splitlines())
    if form in FORMATS:
        text = Findings([table], label, [label]).text(form)
        assert not {"\x1b", "\r", "\x9b", "\x1c", "\u202e", "\u2066"} & {*text}
        around = text.replace(table.render(form), "").split("\n")
        sign = {"latex": "%", "tsv": "#"}.get(form, "")
        assert len([*filter(None, around)]) == 3 + (form == "latex")
        assert all(line.startswith(sign) for line in around if line)


def test_figures_with_a_sign_are_no_formulas():
    row = ["-1.5", "+0.4 to +4.5", "+1.0 ±0.3", "-1.5 (-2, 3)", "−1", "–", "+10,000", "-50%"]
    assert Table(row, []).render("tsv") == "\t".join(row)


def test_long_names_are_wrapped_in_text_alone():
    table = Table(["system", "x"], [["a name " * 12, "1"]])
    assert max(map(len, table.render().split("\n"))) < 40
    assert "a name " * 11 in table.render("tsv")


def test_numbers():
    assert (number(1.5), number(float("nan"))) == (1.5, None)
    assert [decimal_text(each, 1) for each in (1.005, float("nan"), None)] == ["1.0", "–", "–"]
    assert [p_value_text(p) for p in (0.0, 0.0009, 0.001, 0.0512, 1.0)] == [
        "< 0.001", "< 0.001", "0.001", "0.051", "1.000",
    ]  # fmt: skip
    assert [p_value_text(p) for p in (0.0494, 0.0496, 0.05, 0.0504)] == [
        "0.049", "< 0.050", "0.050", "0.050",
    ]  # fmt: skip


@pytest.fixture
def commands(tmp_path):
    """A command line of each command that needs no model."""
    reference = sentences(30)
    lines = {"ref": reference, "a": noisy(reference, 1, 0.3), "b": noisy(reference, 2, 0.2)}
    lines |= {"links": ["0-0 1-1"] * 3, "tags": ["B-NP I-NP O"] * 3}
    lines["trees"] = ["(S (NP (D a) (N b)) (V c))"] * 3
    lines["conllu"] = ["1\ta\t_\t_\t_\t_\t0\troot\t_\t_", ""]
    files = {name: write(tmp_path / name, text) for name, text in lines.items()}
    texts = [files["a"], files["b"], "--reference", files["ref"]]
    return {
        "score": texts,
        "compare": [*texts, "--resamples", 50, "--trials", 50],
        "align": ["--hypothesis", files["links"], "--score", files["links"]],
        "chunks": ["--hypothesis", files["tags"], "--score", files["tags"]],
        "trees": ["--hypothesis", files["conllu"], "--conllu", files["conllu"]],
        "trees constituents": [
            "--kind", "constituents", "--hypothesis", files["trees"], "--trees", files["trees"],
        ],
    }  # fmt: skip


def test_every_command_has_every_form(commands, capsys):
    for name, arguments in some(commands.items()):
        command = [name.split()[0], *map(str, arguments)]
        capsys.readouterr()
        texts = {}
        for form in FORMATS:
            main([*command, "--format", form])
            texts[form] = capsys.readouterr().out
        assert json.loads(texts["json"]) == figures(capsys, *command)
        assert r"\begin{tabular}" in texts["latex"]
        assert "| " in texts["markdown"]
        assert "\t" in texts["tsv"]
        assert max(map(len, texts["text"].split("\n"))) <= 100


def test_labels_of_a_file_through_a_command(tmp_path, capsys):
    labels = ["\x1b[2J", "a\u202eb\x9b", "=1+1", "@SUM|x", "<img"]
    tags = write(tmp_path / "tags", [f"B-{label} I-{label} O" for label in labels])
    shown = ["\ufffd[2J", "a\ufffdb\ufffd"]
    expected = {
        "text": [*shown, "=1+1", "@SUM|x", "<img"],
        "markdown": [*shown, "=1+1", r"@SUM\|x", r"\<img"],
        "latex": [*shown, "=1+1", r"@SUM\textbar{}x", r"\ensuremath{<}img"],
        "tsv": [*shown, "'=1+1", "'@SUM|x", "<img"],
    }
    for form, cells in expected.items():
        main(["chunks", "--hypothesis", str(tags), "--score", str(tags), "--format", form])
        printed = capsys.readouterr().out
        assert {*cells} <= {
            line.strip("| ").replace("\t", " ").split(" ")[0] for line in printed.split("\n")
        }


def test_two_outputs_cannot_share_stdout(commands):
    for name, arguments in some(commands.items()):
        message = refused(name.split()[0], *arguments, "--format", "latex", "--json", "-")
        assert "stdout cannot take two outputs" in message


def test_a_p_value_at_the_floor_of_its_test_is_a_bound():
    assert [p_value_text(1 / 10_001, 1 / n) for n in (10_001, 1_000_001)] == ["≤ 0.0001", "< 0.001"]
    assert [p_value_text(p, 1 / 1001) for p in (1 / 1001, 2 / 1001)] == ["≤ 0.001", "0.002"]


@pytest.mark.parametrize(
    ("p_value", "text"),
    [(1 / 100_001, "0.00001"), (4 / 100_001, "0.00004"), (1 / 101, "0.010"), (0.0004001, "0.0005")],
)
def test_bounds_are_rounded_up(p_value, text):
    assert bound_text(p_value) == text
