"""`syntax-nmt report`: the page holds what it should, loads nothing, and errors are one line."""

import argparse
import re

import pytest
from nonempty import some
from page_check import Page
from report_files import EVIL, OURS, QUICK, REFERENCE, SOURCE, arguments, words, write_all
from translations import figures, refused, write

from syntax_nmt.cli import main
from syntax_nmt.commands.report import add_arguments, read_report
from syntax_nmt.data.conllu import format_conllu

SECTIONS = ("scores", "comparison", "length", "training", "samples")
SHOWN = ("--sentences", "2,1,9", "--title", "Tom & <Jerry>")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All files, and the report about them."""
    folder = tmp_path_factory.mktemp("report")
    write_all(folder)
    main([*map(str, ["report", *arguments(folder), *SHOWN])])
    return folder


@pytest.fixture(scope="module")
def page(folder):
    return Page(folder / "report.html")


@pytest.fixture(scope="module")
def data(folder):
    return data_of(*arguments(folder), *SHOWN)


def data_of(*options):
    """What the page is made of."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return read_report(parser.parse_args([*map(str, options)]))


def report(output, *options):
    """The page of a report."""
    main([*map(str, ["report", *options, *QUICK, "--output", output])])
    return Page(output)


def systems_of(folder):
    """The options that name systems, references and source."""
    given = arguments(folder)
    return given[: given.index("--log")]


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
    # 4 metrics by length, 3 curves; sentence 1 has no tree: 3 pictures, the others 4
    assert page.tags["svg"] == 4 + 3 + 3 + 4 + 4


def test_text_of_users_is_escaped(page, folder):
    assert "Tom & <Jerry>" in page.text
    assert "".join(EVIL.split()) in page.text.replace(" ", "")
    assert "<script" not in (folder / "report.html").read_text(encoding="utf-8")


def test_samples_show_source_reference_and_translations(page, data):
    assert [sample.position for sample in data.samples] == [1, 0, 8]
    first = data.samples[0]
    assert first.source == " ".join(words(SOURCE[1]))
    assert list(first.references) == [REFERENCE[1]]
    assert [each.system for each in first.translations] == ["base", "ours"]
    assert "".join(run.text for run in first.translations[1].runs) == OURS[1]
    assert first.length == len(words(SOURCE[1]))
    assert f"Sentence 9 ({data.samples[2].length} words)" in page.text
    assert first.source in page.text
    assert f"NP {OURS[1].split()[0]}" in page.text


def test_chrf_of_samples_is_sacrebleus(data):
    from sacrebleu import sentence_chrf

    for sample in some(data.samples):
        for translation in sample.translations:
            text = "".join(run.text for run in translation.runs)
            expected = sentence_chrf(text, sample.references).score
            assert translation.score == pytest.approx(expected)


def test_figures_are_those_of_score_and_compare(folder, data, page, capsys):
    given = systems_of(folder)
    scores = data.scores.to_json()
    assert scores == figures(capsys, "score", *given, "--confidence", "--confidence-n", 40)
    compared = figures(capsys, "compare", *given[: given.index("--source") + 2], *QUICK)
    assert compared.pop("longer") == scores["longer"]  # which the page has once
    assert data.comparison.to_json() == compared
    for system in compared["systems"]:
        for item in system["scores"].values():
            assert f"{item['score']:.1f}" in page.text
    for metric in [*scores["metrics"].values(), *compared["metrics"].values()]:
        assert metric["signature"] in page.text
    assert "sd" in page.text


def test_words_by_bucket(folder, tmp_path, capsys):
    """Tables as `compare` has them, and a picture for each kind; with one system as `score`."""
    options = [
        *("--words-by", "frequency", "seen", "--training-text", folder / "ref"),
        *("--least-words", 20),
    ]
    given = systems_of(folder)
    whole = report(tmp_path / "two.html", *given, *options, "--sentences", "1")
    assert whole.ids["words"] == 1
    assert "words" in whole.targets
    assert whole.without_label == []
    plain = report(tmp_path / "plain.html", *given, "--sentences", "1")
    assert whole.tags["svg"] == plain.tags["svg"] + 2
    assert "Words by bucket" not in plain.text
    compared = figures(capsys, "compare", *given[: given.index("--source")], *QUICK, *options)
    for table in compared["words_by"]:
        for bucket in table["buckets"]:
            name, words = bucket["bucket"], bucket["words"]
            scores = " ".join(f"{system['score']:.1f}" for system in bucket["systems"])
            assert (
                f"{name} {words} {scores} {bucket['systems'][1]['difference']:+.1f}" in whole.text
            )
    one = report(tmp_path / "one.html", folder / "ours.1", "-r", folder / "ref", *options)
    assert "words by seen: ours.1" in one.text
    assert "--training-text does nothing" in refused("report", *given, *options[3:5])


def test_trainings(data, page):
    (log,) = data.logs["ours"]
    assert f"{log.best().values['loss']:.3f} after 500" in page.text
    assert "UAS of supervised heads" in page.text
    assert "not finished" in page.text


def test_same_input_same_page(folder, tmp_path):
    given = [*arguments(folder), *SHOWN, "--output", tmp_path / "again.html"]
    main([*map(str, ["report", *given])])
    assert (tmp_path / "again.html").read_bytes() == (folder / "report.html").read_bytes()


def test_one_system_and_nothing_else(folder, tmp_path, capsys):
    given = (folder / "ours.1", "-r", folder / "ref", "-m", "bleu")
    page = report(tmp_path / "one.html", *given)
    assert "one.html: 1 system, 8 samples" in capsys.readouterr().err
    assert "From each of 8 length groups, the sentence whose chrF is in the middle." in page.text
    assert "chrF2" in page.text
    assert "TER" not in page.text
    assert [page.ids[section] for section in SECTIONS] == [1, 0, 0, 0, 1]
    assert page.tags["svg"] == 0
    assert page.fetched == []


def test_some_tests_only(folder, tmp_path):
    page = report(tmp_path / "x.html", *systems_of(folder), "--tests", "bootstrap", "-m", "ter")
    assert "From each of 8 length groups, the sentence on which the systems differ most (chrF)" in (
        page.text
    )
    assert "p bootstrap" in page.text
    assert "sign test" not in page.text
    assert "better / worse / equal" not in page.text


def test_a_metric_without_a_sign_test(folder, tmp_path):
    """Its cells are empty."""
    links = folder / "ours.links"
    given = ("--output-links", "base", links, "--output-links", "ours", links, links)
    page = report(tmp_path / "x.html", *systems_of(folder), *given, "--tests", "sign", "-m", "ter")
    assert re.search(r"TER.*? ours [\d.]+ [+−\d.]+ [<\d. ]+\*? \d+ / \d+ / \d+", page.text)
    compared = page.text.partition("Comparison with base")[2]
    assert re.search("τ.{,30} ours 1.000 0.000 – swapped", compared)


def test_hyphens_that_a_tokeniser_marked_are_hyphens(tmp_path):
    """In the sentence, and in the trees, links and chunks and what is said of them."""
    words = ["right", "@-@", "click"]
    write(tmp_path / "hyp", ["Rechts @-@ Klick"])
    write(tmp_path / "ref", ["Rechts-Klick"])
    write(tmp_path / "src", [" ".join(words)])
    write(tmp_path / "tree", [f"(S {' '.join(f'(N {word})' for word in words)})"])
    (tmp_path / "conllu").write_text(format_conllu(words, [0, 0, 1]), encoding="utf-8")
    write(tmp_path / "links", ["0-0 1-1"])
    write(tmp_path / "tags", ["B-NP I-NP I-NP"])
    page = report(
        tmp_path / "x.html",
        *("--system", "a", tmp_path / "src", "--reference", tmp_path / "ref"),
        *("--source", tmp_path / "src", "--dependencies", "a", tmp_path / "conllu"),
        *("--constituents", "a", tmp_path / "tree", "--chunks", "a", tmp_path / "tags"),
        *("--alignments", "a", tmp_path / "links", tmp_path / "src", tmp_path / "hyp"),
    )
    assert "source right-click reference" in page.text
    assert "NP right-click" in page.text
    # The translation is as the system wrote it.
    html = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert html.count("@-@") == 1
    assert "click depends on -" in html


def test_empty_translations_and_one_sentence(tmp_path):
    for name, line in (("hyp", ""), ("ref", "one word"), ("src", "▁ein ▁wort")):
        write(tmp_path / name, [line])
    given = (tmp_path / "hyp", "-r", tmp_path / "ref", "--source", tmp_path / "src")
    assert "(empty)" in report(tmp_path / "x.html", *given).text


def test_alignments_of_other_texts(folder, tmp_path, capsys):
    write(tmp_path / "short", [links.split()[0] for links in OURS])
    write(tmp_path / "outside", ["0-0 0-99"] * len(OURS))
    aligned = (tmp_path / "outside", folder / "src", tmp_path / "short")
    report(tmp_path / "x.html", *systems_of(folder), "--alignments", "ours", *aligned)
    assert f"{len(OURS)} links to words" in capsys.readouterr().err


def test_alignments_that_count_from_1(folder, tmp_path, capsys):
    names = {"ours": "--hypothesis-base", "reference": "--gold-base"}
    for name, option in names.items():
        write(tmp_path / name, ["1-1 2-2"] * len(OURS))
        given = (*systems_of(folder), "--alignments", name, tmp_path / name)
        report(tmp_path / "x.html", *given)
        assert f"if it counts from 1, add {option} 1\n" in capsys.readouterr().err
        report(tmp_path / "y.html", *given, option, 1)
        assert "from 1" not in capsys.readouterr().err
        assert f"{name}: 0-0 1-1" in (tmp_path / "y.html").read_text("utf-8")
    assert "--gold-base does nothing without" in refused("report", *systems_of(folder), *(
        "--gold-base", 1, "--output", tmp_path / "z.html"))  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--log", "theirs", "ours.log"), "--log theirs: no system has this name; the names are "
         "base, ours"),
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
        (("--sentences", "25"), "--sentences 25: "),
        (("--output", "ref"), "is the input as well"),
        (("--output", "ours.log"), "is the input as well"),
    ],
)  # fmt: skip
def test_errors(folder, options, message):
    write(folder / "few.trees", ["()", "()"])
    (folder / "few.conllu").write_text("# parse = none\n", encoding="utf-8")
    files = {path.name for path in folder.iterdir()}
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


def test_a_failed_run_leaves_the_old_page(folder, tmp_path):
    output = write(tmp_path / "old.html", ["old"])
    refused("report", folder / "ours.1", "-r", folder / "ref", "--sentences", "99", "--output",
            output)  # fmt: skip
    assert output.read_text(encoding="utf-8") == "old\n"
    assert list(tmp_path.iterdir()) == [output]
