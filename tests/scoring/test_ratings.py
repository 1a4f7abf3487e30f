"""The blind sheet: what is on it, filled in by a script and on the page, and read back."""

import csv
import json
import random
from itertools import product

import pytest
from browser import BROWSER, Browser
from nltk.metrics.agreement import AnnotationTask
from translations import figures, noisy, refused, sentences, write

from syntax_nmt.cli import main
from syntax_nmt.scoring.rating_sheet import CRITERIA, Key, KeyItem
from syntax_nmt.scoring.ratings import TESTS, cohens_kappa, rate
from syntax_nmt.scoring.translations.paired_tests import SIGN, SignificanceTests

REFERENCE = sentences(60)
COLUMNS = [criterion.column for criterion in CRITERIA]


@pytest.fixture
def sheet(tmp_path):
    """A sheet of 40 sentences and three systems; `same` writes often what `base` does."""
    base = noisy(REFERENCE, 1, 0.3)
    texts = {
        "source": [f"{line} <b>&" for line in REFERENCE],
        "ref": REFERENCE,
        "base": base,
        "ours": noisy(REFERENCE, 2, 0.1),
        "same": [line if i % 2 else "=1+1\tx" for i, line in enumerate(base)],
    }
    for name, lines in texts.items():
        write(tmp_path / name, lines)
    command = ["rate", "--source", tmp_path / "source", "--reference", tmp_path / "ref"]
    for name in ("base", "ours", "same"):
        command += ["--system", name, tmp_path / name]
    main([*map(str, [*command, "--sentences", 40, "--destdir", tmp_path / "sheet"])])
    key = json.loads((tmp_path / "sheet/key.json").read_text())
    return tmp_path, key, texts


def rows_of(folder):
    with (folder / "sheet/sheet.tsv").open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream, dialect="excel-tab"))


def test_what_is_on_the_sheet(sheet):
    folder, key, texts = sheet
    rows = rows_of(folder)
    assert list(rows[0]) == ["item", "source", "reference", "translation", *COLUMNS]
    assert [row["item"] for row in rows] == [each["item"] for each in key["items"]]
    assert len({each["item"] for each in key["items"]}) == len(rows)
    shown = {}
    for row, each in zip(rows, key["items"]):
        line = each["line"] - 1
        assert (row["source"], row["reference"]) == (texts["source"][line], REFERENCE[line])
        for system in each["systems"]:
            translation = " ".join(texts[system][line].split())
            assert row["translation"] in (translation, f"'{translation}")  # no formula
            shown.setdefault(line, []).append(system)
        assert not any(row[column] for column in COLUMNS)
    assert len(shown) == 40
    assert all(sorted(systems) == ["base", "ours", "same"] for systems in shown.values())
    firsts = {each["systems"][0] for each in key["items"] if each["item"].endswith("-1")}
    assert len(firsts) > 1  # no system is always first
    assert list(shown) != sorted(shown)
    page = (folder / "sheet/sheet.html").read_text()
    names = [f'"{name}"' for name in ("base", "ours", "same")]
    assert not any(name in page for name in names)
    assert "&lt;b&gt;&amp;" in page
    assert page.count("<article") == len(rows)


def test_raters_see_words(tmp_path):
    """The sheet is that of the same texts in words."""
    sheets = []
    for name, form in (("words", "{}"), ("pieces", "▁{} x")):
        folder = tmp_path / name
        folder.mkdir()
        command = ["rate", "--destdir", folder / "sheet"]
        for text, seed in (("source", 1), ("reference", 2), ("base", 3), ("ours", 4)):
            lines = noisy(REFERENCE, seed, 0.3)
            if name == "words":
                lines = [" ".join(f"{word}x" for word in line.split()) for line in lines]
            write(folder / text, [" ".join(map(form.format, line.split())) for line in lines])
            option = ["--system", text] if text in ("base", "ours") else [f"--{text}"]
            command += [*option, folder / text]
        main([*map(str, command)])
        sheets.append((folder / "sheet/sheet.tsv").read_text(encoding="utf-8"))
    assert sheets[0] == sheets[1]
    assert "▁" not in sheets[1]


def test_raters_see_raw_text_as_it_is(tmp_path):
    """A word of many sentences that ends in `@@` makes no pieces of them."""
    command = ["rate", "--destdir", tmp_path / "sheet"]
    for text in ("source", "base", "ours"):
        lines = [f"{line} foo@@ {text}" * (n == 0) or line for n, line in enumerate(REFERENCE)]
        write(tmp_path / text, lines)
        option = ["--system", text] if text in ("base", "ours") else [f"--{text}"]
        command += [*option, tmp_path / text]
    main([*map(str, command)])
    sheet = (tmp_path / "sheet/sheet.tsv").read_text(encoding="utf-8")
    for text in ("source", "base", "ours"):
        assert f"foo@@ {text}" in sheet


def test_spaces_make_no_other_translation(tmp_path):
    texts = {"source": ["a b"], "base": ["ja nein"], "ours": ["ja  nein "]}
    command = ["rate", "--destdir", tmp_path / "sheet"]
    for name, lines in texts.items():
        write(tmp_path / name, lines)
        command += [*(["--source"] if name == "source" else ["--system", name]), tmp_path / name]
    main([*map(str, command)])
    (item,) = json.loads((tmp_path / "sheet/key.json").read_text())["items"]
    assert sorted(item["systems"]) == ["base", "ours"]


def test_a_sheet_is_not_replaced_by_another(sheet):
    """Marks go with one key alone, and may stand in the sheet itself."""
    folder, _, _ = sheet
    made = folder / "sheet"
    command = ["rate", "--source", folder / "source", "--reference", folder / "ref"]
    for name in ("base", "ours", "same"):
        command += ["--system", name, folder / name]
    command += ["--destdir", made, "--sentences"]
    before = {path: path.read_bytes() for path in made.iterdir()}
    assert len(before) == 3
    assert refused(*command, 39).startswith(f"{made / 'sheet.tsv'}: is of another sheet, or marked")
    assert refused(*command, 40, "--seed", 2).startswith(f"{made / 'sheet.tsv'}: is of another")
    assert {path: path.read_bytes() for path in made.iterdir()} == before
    (made / "sheet.tsv").unlink()
    assert refused(*command, 39).startswith(f"{made / 'sheet.html'}: is of another sheet")
    main([*map(str, command), "40"])
    assert {path: path.read_bytes() for path in made.iterdir()} == before
    marked = before[made / "sheet.tsv"] + b"1-1\t5\n"
    (made / "sheet.tsv").write_bytes(marked)
    assert "or marked: give a new --destdir" in refused(*command, 40)
    assert (made / "sheet.tsv").read_bytes() == marked


def filled(folder, name, mark):
    """Writes the marks of a rater; `mark` gives them by the systems of an item."""
    key = json.loads((folder / "sheet/key.json").read_text())
    lines = ["\t".join(["item", *COLUMNS])]
    for each in key["items"]:
        lines.append("\t".join([each["item"], *map(str, mark(each))]))
    return write(folder / f"{name}.tsv", lines)


def test_marks_of_a_script_are_read_back(sheet, capsys):
    """Ours is better by a point, and never under-translates; base and same are as good."""
    folder, key, _ = sheet

    def marks_of(rater):
        rng = random.Random(rater)

        def mark(each):
            ours = "ours" in each["systems"]
            adequacy = 2 + ours + rng.randint(0, 2)
            unmarked = rater == "anna" and each["item"].endswith("-3")
            fluency = "" if unmarked else rng.randint(0, 5)
            return adequacy, fluency, int(not ours and rng.random() < 0.6), 0

        return mark

    files = [filled(folder, rater, marks_of(rater)) for rater in ("anna", "bert", "cora")]
    found = figures(capsys, "rate", "--key", folder / "sheet/key.json", *files)
    assert found["items"] == len(key["items"])
    assert found["marked"] == dict.fromkeys(("anna", "bert", "cora"), len(key["items"]))
    read = {file.stem: list(csv.reader(file.open(), "excel-tab"))[1:] for file in files}
    assert all(len(rows) == len(key["items"]) for rows in read.values())
    fewer = {each["line"] for each in key["items"] if each["item"].endswith("-3")}
    assert 0 < len(fewer) < 40
    systems = {each["name"]: each["scores"] for each in found["comparison"]["systems"]}
    for name, (place, criterion) in product(systems, enumerate(CRITERIA)):
        means = []
        for each in key["items"]:
            incomplete = "anna" if criterion.name == "fluency" and each["line"] in fewer else None
            marks = [
                int(row[1 + place])
                for rater, rows in read.items()
                for row in rows
                if row[0] == each["item"] and rater != incomplete
            ]
            if name in each["systems"]:
                means.append(sum(marks) / len(marks))
        unit = 100 if criterion.highest == 1 else 1
        mean = unit * sum(means) / len(means)
        assert systems[name][criterion.name]["score"] == pytest.approx(mean)
    ours, same = systems["ours"], systems["same"]
    assert ours["adequacy"]["randomisation"]["p_holm"] < 0.01
    signs = ours["adequacy"]["sign_test"]
    assert signs["better"] > 3 * signs["worse"]
    assert ours["under-translation"]["difference"] < -30
    assert ours["over-translation"]["difference"] == 0
    assert same["fluency"]["randomisation"]["p_value"] > 0.05
    pairs = {(each["criterion"], *each["raters"]): each for each in found["agreement"]}
    assert len(pairs) == 4 * 3
    over = pairs["over-translation", "anna", "bert"]
    assert (over["same"], over["kappa"], over["weighted_kappa"]) == (100, None, None)
    assert pairs["adequacy", "anna", "cora"]["weighted_kappa"] > 0.1
    main(["rate", "--key", str(folder / "sheet/key.json"), *map(str, files)])
    text = capsys.readouterr().out
    assert "under-translation ↓" in text
    assert "weighted κ" in text


def test_equal_systems_with_unmarked_translations():
    """Marks that are missing of one system alone make no difference, nor does a strict rater."""
    rng = random.Random(1)
    lines = range(1, 61)
    items = [KeyItem(f"{line}{name}", line, [name]) for line in lines for name in "ab"]
    key = Key("sheet", ["a", "b"], items)
    p_values = []
    for _ in range(500):
        marks = {
            rater: {
                each.item: {"adequacy": rng.choice(scale)}
                for each in items
                if each.systems == ["a"] or rng.random() < share
            }
            for rater, scale, share in (("anna", [5, 5, 5, 4, 1], 0.6), ("bert", [1, 2, 2], 0.9))
        }
        found = rate(key, marks, SignificanceTests((SIGN,))).comparison
        assert list(found.metrics) == ["adequacy"]
        p_values.append(found.systems[1].scores["adequacy"].sign_test.p_value)
    share = sum(p < 0.05 for p in p_values) / len(p_values)
    assert share < 0.05 + 3 * (0.05 * 0.95 / len(p_values)) ** 0.5


def test_tests_draw_among_the_sentences_that_have_marks():
    """Fluency of two sentences: no resample is without them, as if nothing were worth 0."""
    items = [KeyItem(f"{line}{name}", line, [name]) for line in range(30) for name in "ab"]
    marks = {each.item: {"adequacy": 4} for each in items}
    for each in items[:4]:
        marks[each.item]["fluency"] = 4
    found = rate(Key("sheet", ["a", "b"], items), {"anna": marks}, SignificanceTests(TESTS))
    assert found.comparison.sentences == 30
    for system in found.comparison.systems:
        bounds = system.scores["fluency"].interval
        assert (bounds.low, bounds.high) == (4, 4)
    signs = found.comparison.systems[1].scores["fluency"].sign_test
    assert (signs.better, signs.worse, signs.equal) == (0, 0, 2)
    written = found.to_json()["comparison"]
    assert written["references"] == written["systems"][0]["files"] == []


def test_criteria_without_a_whole_sentence(sheet, capsys):
    folder, key, _ = sheet
    first = key["items"][0]["line"]
    alone = filled(folder, "anna", lambda each: (3, "", 0, "" if each["line"] == first else 1))
    main(["rate", "--key", str(folder / "sheet/key.json"), str(alone)])
    said = capsys.readouterr().out
    assert "\nfluency: no rater has marked all translations of a sentence" in said
    assert "adequacy: mean of the raters over 40 sentences, 0 to 5" in said
    assert "over-translation: mean of the raters over 39 sentences, percent" in said
    assert "40 sentences; " in said
    lines = alone.read_text().splitlines()
    half = filled(folder, "half", lambda each: [3, "", "", ""] if each["line"] % 2 else [""] * 4)
    found = figures(capsys, "rate", "--key", folder / "sheet/key.json", half)["comparison"]
    signs = found["systems"][1]["scores"]["adequacy"]["sign_test"]
    assert signs["better"] + signs["worse"] + signs["equal"] == found["sentences"] < 40
    write(alone, [line if i < 2 else line.split("\t")[0] for i, line in enumerate(lines)])
    message = refused("rate", "--key", folder / "sheet/key.json", alone)
    assert message.startswith("anna: no rater has marked all translations of a sentence: fill in")


@pytest.mark.parametrize("quadratic", [False, True])
def test_kappa_is_nltks(quadratic):
    rng = random.Random(1)
    for _ in range(50):
        marks = [(rng.randint(0, 5), rng.randint(0, 5)) for _ in range(rng.randint(2, 30))]
        data = [(rater, item, each[rater]) for item, each in enumerate(marks) for rater in (0, 1)]
        distance = (lambda a, b: (a - b) ** 2) if quadratic else (lambda a, b: float(a != b))
        task = AnnotationTask(data, distance=distance)
        found = cohens_kappa(marks, quadratic)
        try:
            expected = (
                task.weighted_kappa_pairwise(0, 1) if quadratic else task.kappa_pairwise(0, 1)
            )
        except ZeroDivisionError:
            expected = None
        assert found == (None if expected is None else pytest.approx(expected))


def test_kappa_by_hand():
    """Cohen (1960): both say yes to 20 of 50, no to 15, 5 and 10 are told apart: κ = 0.4."""
    assert cohens_kappa([(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15) == (
        pytest.approx(0.4)
    )
    assert cohens_kappa([(1, 1)] * 3) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: [lines[0].replace("over", "other"), *lines[1:]], ":1: has no column over"),
        (lambda lines: [f"{lines[0]}\tover", *lines[1:]], ":1: has the column over twice"),
        (lambda lines: [*lines, "other-001-1\t1\t1\t1\t1"], "the key has no item 'other-001-1'"),
        (lambda lines: [*lines, lines[1]], " is there for the second time: leave one out"),
        (
            lambda lines: [lines[0], lines[1].replace("\t3\t", "\t6\t"), *lines[2:]],
            ":2: adequacy is '6': give a whole number from 0 to 5, or nothing",
        ),
        (
            lambda lines: [lines[0], lines[1].removesuffix("0") + "2", *lines[2:]],
            ":2: over is '2': give a whole number from 0 to 1, or nothing",
        ),
        (lambda lines: [lines[0], lines[1].partition("\t")[0]], "anna.tsv: has no marks: fill in"),
        (lambda lines: [], ":1: has no column item"),
        (lambda lines: ["\r".join(lines)], "anna.tsv:1: no row of a table (new-line character"),
    ],
)
def test_marks_that_are_none(sheet, change, message):
    folder, _, _ = sheet
    file = filled(folder, "anna", lambda each: (3, 3, 0, 0))
    write(file, change(file.read_text().splitlines()))
    assert message in refused("rate", "--key", folder / "sheet/key.json", file)


def test_empty_rows_of_a_spreadsheet(sheet, capsys):
    folder, key, _ = sheet
    file = filled(folder, "anna", lambda each: (3, 3, 0, 0))
    file.write_text(file.read_text() + "\n" + "\t" * len(COLUMNS) + "\r\n")
    found = figures(capsys, "rate", "--key", folder / "sheet/key.json", file)
    assert found["marked"] == {"anna": len(key["items"])}


@pytest.mark.parametrize("systems", [["nobody"], [], ["ours", "ours"]])
def test_an_edited_key(sheet, systems):
    """Marks of one system would count for another, or for none."""
    folder, key, _ = sheet
    file = filled(folder, "anna", lambda each: (3, 3, 0, 0))
    one = next(each for each in key["items"] if each["systems"] == ["ours"])
    one["systems"] = systems
    (folder / "edited.json").write_text(json.dumps(key))
    message = f"edited.json: not a key (sentence {one['line']} has translations of "
    assert message in refused("rate", "--key", folder / "edited.json", file)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--system is missing"),
        (["--system", "a", "base", "--json", "x"], "--json is of filled sheets: give their --key"),
        (["--format", "tsv"], "--format is of filled sheets: give their --key"),
        (["marks.tsv"], "marks.tsv: marks need the key of their sheet: give --key"),
        (["--key", "sheet/key.json"], "no marks: give the file of each rater"),
        (["--key", "sheet/key.json", "--seed", 3], "--seed is of a new sheet, --key of a filled"),
        (["--key", "sheet/key.json", "a/x.tsv", "b/x.tsv"], "b/x.tsv: two raters called x"),
        (
            ["--key", "ref", "x.tsv"],
            "ref:1: is not JSON (Expecting value): give key.json",
        ),
        (
            ["--system", "base", "base", "--source", "source", "--destdir", "d"],
            "one system: give the baseline first",
        ),
        (
            [
                *("--system", "a", "base", "--system", "a", "ours", "--system", "b", "ours"),
                *("--source", "source", "--destdir", "d"),
            ],
            "--system a: has several files: give one of them",
        ),
    ],
)
def test_what_is_refused(sheet, monkeypatch, arguments, message):
    monkeypatch.chdir(sheet[0])
    assert refused("rate", *arguments).startswith(message)


@pytest.mark.skipif(BROWSER is None, reason="no Chromium")
def test_marks_on_the_page(sheet, capsys):
    """Marks survive a reload, and the saved file is read back."""
    folder, key, _ = sheet
    browser = Browser(folder / "profile")
    try:
        browser.open((folder / "sheet/sheet.html").as_uri())
        count = "document.getElementById('count').textContent"
        assert browser.value(count) == f"0 of {len(key['items'])} are marked"
        browser.value(
            "document.querySelectorAll('article').forEach((article, place) => "
            "article.querySelectorAll('fieldset').forEach((field, column) => "
            "field.querySelectorAll('input')[column < 2 ? place % 6 : place % 2].click()))"
        )
        browser.open((folder / "sheet/sheet.html").as_uri())
        assert browser.value(count) == f"{len(key['items'])} of {len(key['items'])} are marked"
        browser.value(
            "window.saved = []; URL.createObjectURL = (blob) => "
            "{ blob.text().then((text) => saved.push(text)); return '#'; };"
            "document.getElementById('save').click()"
        )
        browser.wait("saved.length > 0")
        (folder / "marks.tsv").write_text(browser.value("saved[0]"), encoding="utf-8")
    finally:
        browser.close()
    rows = list(csv.reader((folder / "marks.tsv").open(), "excel-tab"))[1:]
    expected = [[i % 6, i % 6, i % 2, i % 2] for i in range(len(key["items"]))]
    assert [list(map(int, row[1:])) for row in rows] == expected
    found = figures(capsys, "rate", "--key", folder / "sheet/key.json", folder / "marks.tsv")
    assert found["marked"] == {"marks": len(key["items"])}
    assert found["agreement"] == []
