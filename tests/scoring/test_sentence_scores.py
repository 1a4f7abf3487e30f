"""Scores of sentences out of files, and the order of linked words, compared with the same tests as
any metric."""

import itertools
import random
import statistics

import pytest
from scipy import stats
from translations import figures, noisy, refused, sentences, write

from syntax_nmt.cli import main
from syntax_nmt.scoring.word_order import places, swapped_pairs

COUNT = 80
REFERENCE = sentences(COUNT)


def quality(seed, mean):
    rng = random.Random(seed)
    return [rng.gauss(mean, 0.1) for _ in range(COUNT)]


@pytest.fixture
def files(tmp_path):
    write(tmp_path / "ref", REFERENCE)
    for name, seed in (("a", 1), ("b", 2)):
        write(tmp_path / name, noisy(REFERENCE, seed, 0.3))
        write(tmp_path / f"{name}.scores", [str(value) for value in quality(seed, 0.7 + seed / 10)])
    return tmp_path


def compared(capsys, files, a, b, *options):
    return figures(
        capsys, "compare", files / "a", files / "b", "-r", files / "ref", "-m", "bleu",
        "--resamples", 100, "--trials", 100, "--sentence-scores", "a", files / a,
        "--sentence-scores", "b", files / b, *options,
    )  # fmt: skip


def test_means_differences_and_tests(files, capsys):
    found = compared(capsys, files, "a.scores", "b.scores")
    first, second = (system["scores"]["sentence score"] for system in found["systems"])
    means = [statistics.mean(quality(seed, 0.7 + seed / 10)) for seed in (1, 2)]
    assert (first["score"], second["score"]) == pytest.approx(means)
    assert second["difference"] == pytest.approx(means[1] - means[0])
    for test in ("bootstrap", "randomisation", "sign_test"):
        assert second[test]["p_value"] < 0.05
    better = sum(y > x for x, y in zip(quality(1, 0.7 + 0.1), quality(2, 0.7 + 0.2)))
    assert second["sign_test"]["better"] == better
    assert found["metrics"]["sentence score"]["higher_is_better"]
    lower = compared(capsys, files, "a.scores", "b.scores", "--sentence-lower")
    signs = lower["systems"][1]["scores"]["sentence score"]["sign_test"]
    assert signs["worse"] == better


def test_what_comet_prints(files, capsys):
    scores = enumerate(quality(2, 0.7 + 0.2))
    lines = [f"b\tSegment {number}\tscore: {value}" for number, value in scores]
    write(files / "comet", [*lines, "b\tscore: 0.9"])
    expected = compared(capsys, files, "a.scores", "b.scores", "--sentence-metric", "COMET")
    assert expected == compared(capsys, files, "a.scores", "comet", "--sentence-metric", "COMET")
    message = refused(
        *("score", files / "a", files / "b", "-r", files / "ref"),
        *("--sentence-scores", "a", files / "a.scores", "--sentence-scores", "b", files / "comet"),
    )
    assert "sentence scores: sentence score and COMET" in message


def test_runs_are_averaged_and_small_scores_have_digits(files, capsys):
    main([*map(str, [
        "score", "--system", "x", files / "a", files / "b", "-r", files / "ref", "-m", "bleu",
        "--sentence-scores", "x", files / "a.scores", files / "b.scores", "--format", "tsv",
    ])])  # fmt: skip
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines() if "\t" in line]
    mean = statistics.mean(quality(1, 0.7 + 0.1) + quality(2, 0.7 + 0.2))
    assert rows[0][-1] == "sentence score"
    assert rows[1][-1].startswith(f"{mean:.3f} sd ")


def test_refusals(files):
    def message(*options):
        return refused("score", files / "a", "-r", files / "ref", *options)

    write(files / "short", ["1"])
    write(files / "odd", ["1"] * (COUNT - 1) + ["nan"])
    named = ["--sentence-scores", "a"]
    assert "short has 1 scores" in message(*named, files / "short")
    assert f"odd:{COUNT}: 'nan' is no score" in message(*named, files / "odd")
    assert "ref:1: '" in message(*named, files / "ref")
    assert "no system has this name" in message("--sentence-scores", "z", files / "short")
    assert "2 files for 1 runs" in message(*named, files / "a.scores", files / "b.scores")
    named = [*named, files / "a.scores", "--sentence-metric", "chrF2"]
    assert "chrF2 is computed here, too" in message(*named)
    order = links(files / "links", [range(len(line.split())) for line in REFERENCE])
    tau = [*named[:-1], "τ", "--output-links", "a", order]
    assert "τ is computed here, too: give their metric another name" in message(*tau)
    main([*map(str, ["score", files / "a", "-r", files / "ref", "-m", "bleu", *named])])


def test_word_order_by_hand():
    """Reference 0 1 2 3. Word 0 has places 0 and 2; word 4 has no link in the translation."""
    reference = places([(0, 0), (1, 1), (2, 2), (3, 3), (4, 0)])
    found = places([(0, 0), (0, 2), (1, 1), (2, 4), (3, 0)])
    assert found == {0: 1, 1: 1, 2: 4, 3: 0}
    # 0 and 1 stand at one place. Pairs: 02 right, 03 swapped, 12 right, 13 swapped, 23 swapped.
    assert swapped_pairs(reference, found) == (3, 5)


def test_tau_is_scipys_where_words_have_one_link():
    rng = random.Random(1)
    for _ in range(100):
        order = rng.sample(range(9), 7)
        swapped, pairs = swapped_pairs(places(enumerate(order)), places(enumerate(range(9))))
        expected = stats.kendalltau(order, range(7)).statistic
        assert 1 - 2 * swapped / pairs == pytest.approx(expected)


def links(path, orders):
    lines = [" ".join(f"{i}-{j}" for i, j in enumerate(order)) for order in orders]
    return write(path, lines)


@pytest.mark.parametrize("reference", [True, False])
def test_order_in_compare(tmp_path, capsys, reference):
    """A system that swaps half as many neighbours; sentences of one word have no pairs."""
    rng = random.Random(3)
    lines = sentences(200)
    target = [rng.sample(range(n), n) for n in (len(line.split()) for line in lines)]
    if not reference:
        target = [sorted(order) for order in target]
    runs = {}
    for name, share in {"base": 0.5, "ours": 0.25}.items():
        orders = [list(order) for order in target]
        for order in orders:
            for place in range(0, len(order) - 1, 2):
                if rng.random() < share:
                    order[place], order[place + 1] = order[place + 1], order[place]
        runs[name] = orders
    files = {name: write(tmp_path / name, lines) for name in ("ref", *runs)}
    arguments = ["compare", files["base"], files["ours"], "-r", files["ref"], "-m", "ribes"]
    for name, orders in runs.items():
        arguments += ["--output-links", name, links(tmp_path / f"{name}.links", orders)]
    if reference:
        arguments += ["--reference-links", links(tmp_path / "ref.links", target)]
    found = figures(capsys, *arguments, "--trials", 200, "--resamples", 100)
    for system, orders in zip(found["systems"], runs.values()):
        taus, swapped, pairs = [], 0, 0
        for order, right in zip(orders, target):
            if len(order) > 1:
                taus.append(stats.kendalltau(order, right).statistic)
                for i, j in itertools.combinations(range(len(order)), 2):
                    swapped += (order[i] < order[j]) != (right[i] < right[j])
                    pairs += 1
        scores = system["scores"]
        assert scores["τ"]["score"] == pytest.approx(sum(taus) / len(taus))
        assert scores["swapped"]["score"] == pytest.approx(100 * swapped / pairs)
    ours = found["systems"][1]["scores"]
    assert ours["τ"]["difference"] > 0 > ours["swapped"]["difference"]
    assert max(ours[name]["randomisation"]["p_value"] for name in ("τ", "swapped")) < 0.01
    assert found["systems"][1]["scores"]["RIBES"]["difference"] == 0
    # Other numbers of links make it wrong; the tables leave its columns out.
    assert [name for name, score in ours.items() if "sign_test" in score] == ["RIBES"]
    main([*map(str, arguments), "--trials", "50", "--resamples", "50"])
    heads = [x for x in capsys.readouterr().out.splitlines() if x.startswith(("RIBES ", "τ  "))]
    assert ["p sign" in head for head in heads] == [True, False]
    order = "reference" if reference else "source"
    assert found["metrics"]["τ"]["signature"].startswith(f"order of the {order}, mean over")


def test_links_that_count_from_one(tmp_path, capsys):
    """Against a reference from 0, they would be those of the next words."""
    write(tmp_path / "ref", ["a b c"])
    for first in (0, 1):
        pairs = [(0, 2), (1, 0), (2, 1)]
        line = " ".join(f"{i + first}-{j + first}" for i, j in pairs)
        write(tmp_path / f"from{first}", [line])
    command = ["score", tmp_path / "ref", "-r", tmp_path / "ref", "-m", "chrf"]
    for output, reference in ((1, 0), (0, 1), (1, 1)):
        given = ["--output-links", "ref", tmp_path / f"from{output}"]
        given += ["--reference-links", tmp_path / f"from{reference}"]
        if output:
            main([*map(str, [*command, *given])])
            assert "counts from 1, add --output-links-base 1" in capsys.readouterr().err
        bases = ["--output-links-base", output, "--reference-links-base", reference]
        found = figures(capsys, *command, *given, *bases)
        assert found["systems"][0]["scores"]["τ"]["score"] == 1


def test_sentences_without_pairs(tmp_path, capsys):
    """τ of two sentences: draws without them do not count. A group without any has no τ."""
    lines = ["a b c"] * 60
    files = {name: write(tmp_path / name, lines) for name in ("ref", "base", "ours")}
    arguments = ["compare", files["base"], files["ours"], "-r", files["ref"], "-m", "bleu"]
    for name in ("base", "ours"):
        orders = [[0, 1, 2]] * 2 + [[0]] * 58
        arguments += ["--output-links", name, links(tmp_path / f"{name}.links", orders)]
    source = write(tmp_path / "source", ["x"] * 30 + ["x y z"] * 30)
    arguments += ["--resamples", 100, "--trials", 50, "--source", source]
    arguments += ["--by", "length", "--bins", "2"]
    found = figures(capsys, *arguments)
    for system in found["systems"]:
        assert system["scores"]["τ"]["score"] == 1
        assert system["scores"]["τ"]["interval"]["low"] == 1
        assert system["scores"]["swapped"]["interval"]["half_width"] == 0
    table = next(each for each in found["groups"] if each["metric"] == "τ")
    short, long = (group["systems"] for group in table["groups"])
    assert short[1]["score"] == 1
    assert short[1]["randomisation"]["p_holm"] == short[1]["randomisation"]["p_value"]  # one group
    for system in long:
        assert system == {"name": system["name"], "score": None, "spread": None, "runs": []}
    assert not any("interaction" in system for system in (*short, *long))
    main([*map(str, arguments)])
    text = capsys.readouterr().out
    table = text[text.index("τ by length") :].splitlines()
    assert [line.split()[2:] for line in table if line.startswith("≥2")] == [["–"] * 9] * 2
    score = ["score", files["base"], "-r", files["ref"], "-m", "bleu", *arguments[7:10]]
    score += ["--source", source, "--bins", "2", "--confidence", "--confidence-n", 50]
    bins = figures(capsys, *score)["by_length"]["bins"]
    nothing = {"score": None, "spread": None, "interval": None}
    assert bins[1]["scores"]["τ"]["base"] == bins[1]["scores"]["swapped"]["base"] == nothing


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--output-links", "base", "base.links"], "--output-links ours: 0 files for 1 runs"),
        (["--reference-links", "base.links"], "--reference-links does nothing without --output-l"),
        (
            ["--output-links", "base", "short", "--output-links", "ours", "short"],
            "short has 1 sentences, ref 3: give parallel files",
        ),
        (
            ["--output-links", "base", "none", "--output-links", "ours", "none"],
            "none: no sentence has two linked words whose order could be compared",
        ),
    ],
)
def test_order_that_is_refused(tmp_path, monkeypatch, given, message):
    monkeypatch.chdir(tmp_path)
    for name in ("ref", "base", "ours"):
        write(tmp_path / name, ["a b", "b c d", "e"])
    links(tmp_path / "base.links", [[0, 1], [0, 1, 2], [0]])
    links(tmp_path / "short", [[0, 1]])
    links(tmp_path / "none", [[0], [], [0]])
    assert refused("compare", "base", "ours", "-r", "ref", *given).startswith(message)
