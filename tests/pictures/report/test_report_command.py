"""`syntax-nmt report`: the page holds what it should, loads nothing, and errors are one line."""

import json
import re

import pytest
from page_check import Page
from report_files import EVIL, OURS, QUICK, REFERENCE, SOURCE, arguments, words, write_all
from translations import figures, refused, write

from syntax_nmt.cli import main

SECTIONS = ("scores", "comparison", "length", "contrast", "training", "samples")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All files, and the report about them."""
    folder = tmp_path_factory.mktemp("report")
    write_all(folder)
    shown = ["--sentences", "2,1,9", "--json", folder / "report.json", "--title", "Tom & <Jerry>"]
    main([*map(str, ["report", *arguments(folder), *shown])])
    return folder


@pytest.fixture(scope="module")
def page(folder):
    return Page(folder / "report.html")


@pytest.fixture(scope="module")
def numbers(folder):
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))


def report(capsys, *options):
    """The figures and the page of a report."""
    found = figures(capsys, "report", *options, *QUICK)
    (path,) = [options[i + 1] for i, option in enumerate(options) if option == "--output"]
    return found, Page(path)


def test_page_loads_nothing_and_has_no_script(page, folder):
    assert page.fetched == []
    assert page.tags["script"] == page.tags["iframe"] == page.tags["object"] == page.tags["b"] == 0
    assert "default-src 'none'" in (folder / "report.html").read_text(encoding="utf-8")


def test_every_section_is_there_and_linked(page):
    for section in SECTIONS:
        assert page.ids[section] == 1
        assert section in page.targets


def test_ids_are_unique_and_references_resolve(page):
    assert [name for name, count in page.ids.items() if count > 1] == []
    assert page.targets <= set(page.ids)


def test_headings_tables_and_pictures_are_accessible(page):
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(page.headings, page.headings[1:]))
    assert page.without_label == []
    # 4 metrics by length, contrast, 3 curves; sentence 1 has no tree: 3 pictures, the others 4
    assert page.tags["svg"] == 4 + 1 + 3 + 3 + 4 + 4


def test_text_of_users_is_escaped(page, folder):
    assert "Tom & <Jerry>" in page.text
    assert "".join(EVIL.split()) in page.text.replace(" ", "")
    assert "<script" not in (folder / "report.html").read_text(encoding="utf-8")


def test_samples_show_source_reference_and_translations(page, numbers):
    assert [sample["sentence"] for sample in numbers["samples"]] == [2, 1, 9]
    first = numbers["samples"][0]
    assert first["source"] == " ".join(words(SOURCE[1]))
    assert first["references"] == [REFERENCE[1]]
    assert first["translations"][1] == {"system": "ours", "text": OURS[1], "chrf": pytest.approx(
        first["translations"][1]["chrf"])}  # fmt: skip
    assert first["length"] == len(words(SOURCE[1]))
    assert f"Sentence 9 ({numbers['samples'][2]['length']} words)" in page.text
    assert first["source"] in page.text
    found = first["structures"]
    assert set(found) == {"dependencies", "constituents", "alignments", "chunks"}
    assert found["alignments"]["ours"].startswith("0-0")
    assert found["chunks"]["ours"].startswith(f"[NP {OURS[1].split()[0]}]")
    assert set(found["dependencies"]) == {"reference", "ours"}
    assert numbers["samples"][1]["structures"]["constituents"] == {}


def test_chrf_of_samples_is_sacrebleus(numbers):
    from sacrebleu import sentence_chrf

    for sample in numbers["samples"]:
        for translation in sample["translations"]:
            expected = sentence_chrf(translation["text"], sample["references"]).score
            assert translation["chrf"] == pytest.approx(expected)


def test_figures_are_those_of_score_and_compare(folder, numbers, page, capsys):
    given = arguments(folder)[: arguments(folder).index("--log")]
    sampling = ("--confidence", "--confidence-n", 20)
    assert numbers["scores"] == figures(capsys, "score", *given, *sampling)
    source = given.index("--source")
    compared = figures(capsys, "compare", *given[:source], *QUICK)
    assert numbers["comparison"] == compared
    for system in compared["systems"]:
        for item in system["scores"].values():
            assert f"{item['score']:.1f}" in page.text
    for metric in [*numbers["scores"]["metrics"].values(), *compared["metrics"].values()]:
        assert metric["signature"] in page.text
    assert "sd" in page.text


def test_trainings(numbers, page):
    (training,) = numbers["trainings"]["ours"]
    assert (training["epochs"], training["updates"]) == (5, 500)
    assert f"{training['best']['loss']:.3f} after 500" in page.text
    assert "UAS of supervised heads" in page.text
    assert "not finished" in page.text


def test_contrast_takes_the_model_of_the_name(numbers, page):
    assert numbers["contrast"]["ours"]["name"] == "ours"
    assert "75.0 [60.5, 85.2]" in page.text


def test_same_input_same_page(folder, tmp_path):
    given = arguments(folder)
    given[given.index("--output") + 1] = tmp_path / "again.html"
    shown = ["--sentences", "2,1,9", "--title", "Tom & <Jerry>"]
    main([*map(str, ["report", *given, *shown])])
    assert (tmp_path / "again.html").read_bytes() == (folder / "report.html").read_bytes()


def test_one_system_and_nothing_else(folder, tmp_path, capsys):
    output = tmp_path / "one.html"
    found, page = report(
        capsys, folder / "ours.1", "-r", folder / "ref", "--output", output, "-m", "bleu"
    )
    assert found["comparison"] is None
    assert len(found["samples"]) == 8
    assert set(found["scores"]["metrics"]) == {"BLEU", "chrF2"}
    assert found["samples"][0]["source"] is None
    assert [page.ids[section] for section in SECTIONS] == [1, 0, 0, 0, 0, 1]
    assert page.tags["svg"] == 0
    assert page.fetched == []


def test_some_tests_only(folder, tmp_path, capsys):
    given = arguments(folder)[: arguments(folder).index("--log")]
    output = tmp_path / "some.html"
    _, page = report(capsys, *given, "--tests", "bootstrap", "--output", output, "-m", "ter")
    assert "p bootstrap" in page.text
    assert "sign test" not in page.text
    assert "better / worse / equal" not in page.text


def test_empty_translations_and_one_sentence(tmp_path, capsys):
    for name, line in (("hyp", ""), ("ref", "one word"), ("src", "▁ein ▁wort")):
        write(tmp_path / name, [line])
    output = tmp_path / "empty.html"
    given = ("-r", tmp_path / "ref", "--source", tmp_path / "src", "--output", output)
    found, page = report(capsys, tmp_path / "hyp", *given)
    assert found["samples"][0]["translations"][0]["text"] == ""
    assert "(empty)" in page.text


def test_samples_are_spread_over_lengths(folder, tmp_path, capsys):
    given = arguments(folder)[: arguments(folder).index("--log")]
    found, _ = report(capsys, *given, "--samples", 4, "--output", tmp_path / "x.html")
    lengths = [sample["length"] for sample in found["samples"]]
    assert len(lengths) == 4
    assert lengths == sorted(lengths)
    assert lengths[-1] > 2 * lengths[0]


def test_alignments_of_other_texts(folder, tmp_path, capsys):
    given = arguments(folder)[: arguments(folder).index("--log")]
    write(tmp_path / "short", [links.split()[0] for links in OURS])
    write(tmp_path / "outside", ["0-0 0-99"] * len(OURS))
    texts = (folder / "src", tmp_path / "short")
    report(capsys, *given, "--alignments", "ours", tmp_path / "outside", *texts, "--output",
           tmp_path / "x.html")  # fmt: skip
    main([*map(str, ["report", *given, "--alignments", "ours", tmp_path / "outside", *texts,
                     "--output", tmp_path / "x.html", *QUICK])])  # fmt: skip
    assert f"{len(OURS)} links to words" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--log", "theirs", "ours.log"), "--log theirs: no system has this name; the names are "
         "base, ours"),
        (("--log", "reference", "ours.log"), "--log reference: no system has this name"),
        (("--log", "base", "base.log"), "--log base: for the second time"),
        (("--alignments", "theirs", "ours.links"), "no system has this name; the names are base, "
         "ours, reference"),
        (("--chunks", "base"), "--chunks base: 0 files instead of 1 or 2"),
        (("--alignments", "base", "ours.links", "src"), "2 files instead of 1 or 3"),
        (("--dependencies", "base", "ours.trees"), "ours.trees:1: "),
        (("--dependencies", "base", "few.conllu"), "few.conllu has 1 sentences"),
        (("--constituents", "base", "ref"), "ref:1: "),
        (("--constituents", "base", "few.trees"), "few.trees has 2 sentences"),
        (("--alignments", "base", "ref"), "is no link such as"),
        (("--alignments", "base", "ours.links", "few.trees", "ref"), "few.trees has 2 sentences"),
        (("--chunks", "base", "ours.chunks"), "ours.chunks:1: "),
        (("--contrast", "base", "contrast.json"), "has no model base but ours, other"),
        (("--contrast", "base", "ref"), "give what `syntax-nmt contrast --json`"),
        (("--contrast", "base", "report.json"), "not the figures of `syntax-nmt contrast`"),
        (("--sentences", "25"), "--sentences 25: "),
        (("--log", "base2", "missing.log"), "no system has this name"),
        (("--output", "ref"), "is the input as well"),
        (("--output", "ours.log"), "is the input as well"),
        (("--json", "-", "--output", "-"), "cannot take two outputs"),
        (("--json", "x.html", "--output", "x.html"), "would be written twice"),
    ],
)  # fmt: skip
def test_errors(folder, options, message):
    write(folder / "few.trees", ["()", "()"])
    (folder / "few.conllu").write_text("# parse = none\n", encoding="utf-8")
    files = {path.name for path in folder.iterdir()} | {"missing.log", "x.html"}
    named = [folder / option if option in files else option for option in options]
    assert message in refused("report", *arguments(folder), *named)


@pytest.mark.parametrize("missing", ["no.log", "empty.log"])
def test_a_log_that_says_nothing(folder, missing):
    write(folder / "empty.log", ["nothing"])
    given = arguments(folder)
    given[given.index("--log") + 2] = folder / missing
    message = refused("report", *given)
    assert missing in message
    assert re.search("cannot be read|no losses of a training", message)


def test_alignments_need_a_source(folder):
    given = ["--system", "ours", folder / "ours.1", "-r", folder / "ref"]
    message = refused("report", *given, "--alignments", "ours", folder / "ours.links")
    assert "the source is not known" in message


def test_unequal_files(folder, tmp_path):
    write(tmp_path / "short", OURS[1:])
    assert "has 23 sentences" in refused("report", tmp_path / "short", "-r", folder / "ref")


def test_a_failed_run_leaves_the_old_page(folder, tmp_path):
    output = write(tmp_path / "old.html", ["old"])
    refused("report", folder / "ours.1", "-r", folder / "ref", "--sentences", "99", "--output",
            output)  # fmt: skip
    assert output.read_text(encoding="utf-8") == "old\n"
    assert list(tmp_path.iterdir()) == [output]


def test_a_section_that_fails_is_named_and_the_others_are_there(folder, tmp_path, monkeypatch):
    from syntax_nmt.pictures.report_page import score_pictures

    def fails(*_):
        raise ValueError("'yerr' must not contain <negative> values")

    monkeypatch.setattr(score_pictures, "contrast_picture", fails)
    given = arguments(folder)
    given[given.index("--output") + 1] = tmp_path / "report.html"
    message = refused("report", *given, "--samples", "1")
    assert "report.html: written without what could not be drawn: contrastive pairs (Val" in message
    page = Page(tmp_path / "report.html")
    for section in SECTIONS:
        assert page.ids[section] == 1
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "contrastive pairs: could not be drawn (ValueError" in text
    assert "&lt;negative&gt;" in text


def test_where_all_pairs_are_right_the_report_stands(folder, tmp_path, capsys):
    part = {"accuracy": 100.0, "interval": {"low": 90.6, "high": 100.0}, "correct": 37, "total": 37}
    model = {"name": "x", **part, "by_distance": [{"distance": "1", "least": 1, **part}]}
    write(tmp_path / "contrast.json", [json.dumps({"pairs": 37, "models": [model]})])
    found, page = report(
        capsys, "--system", "ours", folder / "ours.1", "-r", folder / "ref", "--contrast", "ours",
        tmp_path / "contrast.json", "--output", tmp_path / "x.html", "--samples", "0",
    )  # fmt: skip
    assert found["contrast"]["ours"]["correct"] == 37
    assert page.ids["contrast"] == 1


def test_one_system_is_no_systems(folder, tmp_path, capsys):
    options = ["--output", tmp_path / "x.html", "--samples", "0", *QUICK]
    main([*map(str, ["report", folder / "ours.1", "-r", folder / "ref", *options])])
    assert "x.html: 1 system, 0 samples" in capsys.readouterr().err
