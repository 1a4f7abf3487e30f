"""`syntax-nmt compare` against sacrebleu's own program, and within groups of sentences."""

import re
import statistics
from pathlib import Path

import numpy as np
import pytest
from commands import succeed
from sacrebleu import corpus_bleu
from scipy import stats
from translations import (
    assert_holm,
    figures,
    noisy,
    refused,
    row_of,
    run_statistics,
    sentences,
    write,
)
from word_buckets import write_conllu

from syntax_nmt.cli import main
from syntax_nmt.scoring.translations.metrics import MetricSet, MetricSettings
from syntax_nmt.scoring.translations.resampling import (
    bootstrap_p_value,
    bootstrap_scores,
    randomisation_p_values,
)

REFERENCE = sentences(120)
OUTPUTS = {
    "base": noisy(REFERENCE, 2, 0.30),
    "ours": noisy(REFERENCE, 3, 0.28),
    "worse": noisy(REFERENCE, 4, 0.45),
}


@pytest.fixture
def files(tmp_path):
    write(tmp_path / "ref", REFERENCE)
    for name, lines in OUTPUTS.items():
        write(tmp_path / name, lines)
    return tmp_path


@pytest.mark.parametrize(
    ("flags", "test", "metrics"),
    [
        (("--paired-bs", "--paired-bs-n", 300), "bootstrap", ("bleu", "chrf", "ter")),
        # TER has ties, which sacrebleu does not count.
        (("--paired-ar", "--paired-ar-n", 300), "randomisation", ("bleu", "chrf")),
    ],
)
def test_figures_of_sacrebleus_own_program(files, capsys, flags, test, metrics):
    outputs = [files / name for name in OUTPUTS]
    options = ("-m", *metrics)
    done = succeed(
        "sacrebleu", files / "ref", "-i", *outputs, *options, *flags, "-f", "text", "-w", 4
    )
    found = figures(
        capsys, "compare", *outputs, "-r", files / "ref", *options, "--tests", test,
        "--resamples" if test == "bootstrap" else "--trials", 300,
    )  # fmt: skip
    items = [item for system in found["systems"] for item in system["scores"].values()]
    p_values = [f"{item[test]['p_value']:.4f}" for item in items[len(metrics) :]]
    assert len(set(p_values)) > 2
    assert p_values == re.findall(r"p = (\d\.\d+)\)", done.stdout)
    for item in items:
        assert f"{item['score']:.4f}" in done.stdout
    if test == "bootstrap":
        intervals = re.findall(r"\((\S+) ± (\S+)\)", done.stdout)
        assert len(intervals) == len(items)
        for item, (mean, half_width) in zip(items, intervals):
            assert item["interval"]["mean"] == pytest.approx(float(mean), abs=2e-4)
            assert item["interval"]["half_width"] == pytest.approx(float(half_width), abs=2e-4)
    for metric in found["metrics"].values():
        assert metric["signature"] in done.stdout


def test_all_tests_of_a_clear_and_of_an_unclear_difference(files, capsys):
    found = figures(
        capsys, "compare", *(files / name for name in OUTPUTS), "-r", files / "ref",
        "--resamples", 200, "--trials", 200,
    )  # fmt: skip
    _, ours, worse = found["systems"]
    for name, metric in found["metrics"].items():
        sign = 1 if metric["higher_is_better"] else -1
        assert (name == "TER") == (sign == -1)
        assert "bs:200|ar:200|seed:12345" in metric["signature"]
        item = worse["scores"][name]
        assert sign * item["difference"] < 0
        for test in ("bootstrap", "randomisation", "sign_test"):
            assert item[test]["p_value"] < 0.05
        signs = item["sign_test"]
        assert signs["worse"] > signs["better"]
        assert signs["worse"] + signs["better"] + signs["equal"] == 120
        for test in ("bootstrap", "randomisation", "sign_test"):
            assert_holm([system["scores"][name][test] for system in (ours, worse)])
    assert ours["scores"]["TER"]["randomisation"]["p_value"] > 0.05


def test_seeds_as_blocks_of_two_systems_are_the_paired_t_test(tmp_path, capsys):
    arguments = ["compare", "-r", write(tmp_path / "ref", REFERENCE), "-m", "bleu"]
    for place, (name, share) in enumerate({"base": 0.30, "ours": 0.28}.items()):
        texts = [noisy(REFERENCE, 10 * place + run, share) for run in range(3)]
        files = [write(tmp_path / f"{name}{run}", text) for run, text in enumerate(texts)]
        arguments += ["--system", name, *files]
    base, ours = figures(capsys, *arguments, "--tests", "blocks")["systems"]
    base, ours = base["scores"]["BLEU"], ours["scores"]["BLEU"]
    wanted = stats.ttest_rel(ours["runs"], base["runs"])
    interval, found = wanted.confidence_interval(), ours["blocks"]
    assert (found["seeds"], found["degrees"]) == ([3], 2)
    assert found["p_value"] == pytest.approx(wanted.pvalue)
    assert [found["low"], found["high"]] == pytest.approx([interval.low, interval.high])
    text = "\n".join(main_text(capsys, *arguments, "--tests", "blocks"))
    assert f"{found['low']:+.1f} to {found['high']:+.1f}" in text
    assert "95 %: interval of Δ over seeds\n" in text
    message = refused(*arguments[:-1], "--tests", "blocks")
    assert message.startswith("blocks: base has 3 runs, ours 2: give all systems the runs of the")


def test_one_sentence(tmp_path, capsys):
    write(tmp_path / "ref", ["a b c d e"])
    write(tmp_path / "one", ["a b c d"])
    write(tmp_path / "two", [""])
    arguments = ["compare", tmp_path / "one", tmp_path / "two", "-r", tmp_path / "ref"]
    found = figures(capsys, *arguments, "--resamples", 40, "--trials", 9)
    signs = found["systems"][1]["scores"]["BLEU"]["sign_test"]
    assert signs == {"better": 0, "worse": 1, "equal": 0, "p_value": 1}
    note = "on 1 sentences the p-values of resampling mean little"
    main([*map(str, arguments), "--trials", "9", "--resamples", "40"])
    assert note in capsys.readouterr().err
    main([*map(str, arguments), "--tests", "sign", "seeds", "blocks"])
    assert note not in capsys.readouterr().err
    few = "39 resamples: give 40 or more, as an interval leaves out the outermost fortieth"
    assert refused(*arguments, "--resamples", 39).startswith(few)
    score = ["score", tmp_path / "one", "-r", tmp_path / "ref", "--confidence"]
    assert refused(*score, "--confidence-n", 39).startswith(few)


def test_one_system_is_refused(files):
    assert refused("compare", files / "base", "-r", files / "ref").startswith("one system: ")


def test_the_table(files, capsys):
    arguments = ["compare", files / "base", files / "worse", "-r", files / "ref", "-m", "bleu"]
    main([*map(str, arguments), "--trials", "99", "--resamples", "99"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "120 sentences; Δ: difference from base; * marks p < 0.05"
    row = next(line for line in lines if line.startswith("worse")).split()
    assert row[4:8] == ["≤", "0.010*", "≤", "0.010*"]
    assert row[-5].endswith("*")
    assert row[-4:-1] == ["needs", "3", "seeds"]
    assert sum(map(int, row[-1].split("/"))) == 120
    assert max(map(len, lines)) <= 100


def test_a_lower_ter_is_better(files, capsys):
    arguments = ["compare", files / "worse", files / "base", "-r", files / "ref", "-m", "ter"]
    main([*map(str, arguments), "--tests", "sign"])
    lines = capsys.readouterr().out.splitlines()
    head = next(line for line in lines if line.startswith("TER"))
    assert head.split()[-1] == "better/worse/equal"
    counts = next(line for line in lines if line.startswith("base")).split()[-1].split("/")
    better, worse, _ = map(int, counts)
    assert better > worse
    assert any(line.startswith("better/worse/equal: the baseline's corpus") for line in lines)


GROUP_OPTIONS = ["-m", "bleu", "--tokenize", "none", "--resamples", 40, "--trials", 50]


def bleu(lines, members):
    chosen = [[each[place] for place in members] for each in (lines, REFERENCE)]
    return corpus_bleu(chosen[0], [chosen[1]], tokenize="none", force=True).score


def contrast(lines, group, chosen):
    """The score in a group minus that in all others, of the sentences of a draw."""
    sides = [[place for place in chosen if group(place) == inside] for inside in (True, False)]
    return bleu(lines, sides[0]) - bleu(lines, sides[1])


@pytest.mark.parametrize("seeds", [1, 3])
def test_interactions_by_loops(tmp_path, capsys, seeds):
    """Groups by the length of the trees; p over seeds and sentences, or over sentences alone."""
    runs = {
        name: [noisy(REFERENCE, 10 * place + run, share) for run in range(seeds)]
        for place, (name, share) in enumerate({"base": 0.3, "ours": 0.22}.items())
    }
    arguments = ["compare", "-r", write(tmp_path / "ref", REFERENCE), *GROUP_OPTIONS]
    for name, texts in runs.items():
        files = [write(tmp_path / f"{name}{run}", text) for run, text in enumerate(texts)]
        arguments += ["--system", name, *files]
    trees = write_conllu(tmp_path / "trees", REFERENCE)
    arguments += ["--by", "length", "--conllu", trees, "--bins", "8,16"]
    (table,) = figures(capsys, *arguments)["groups"]
    lengths = [len(line.split()) for line in REFERENCE]
    bounds = {"<8": (0, 7), "8–15": (8, 15), "≥16": (16, 99)}
    assert [group["label"] for group in table["groups"]] == list(bounds)
    draws = np.random.default_rng(12345).choice(120, size=(40, 120), replace=True)
    for group, (low, high) in zip(table["groups"], bounds.values()):

        def inside(place, low=low, high=high):
            return low <= lengths[place] <= high

        members = list(filter(inside, range(120)))
        base, ours = group["systems"]
        assert group["sentences"] == len(members)
        means = [statistics.mean(bleu(run, members) for run in runs[name]) for name in runs]
        assert [base["score"], ours["score"]] == pytest.approx(means)
        on_all = [[contrast(run, inside, range(120)) for run in runs[name]] for name in runs]
        drawn = [
            np.array([[contrast(run, inside, draw) for run in runs[name]] for draw in draws])
            for name in runs
        ]
        gain = statistics.mean(on_all[1]) - statistics.mean(on_all[0])
        assert ours["interaction"] == pytest.approx(gain)
        if seeds == 1:
            variance = float(np.var(drawn[1][:, 0] - drawn[0][:, 0], ddof=1))
            p_value = 2 * stats.norm.sf(abs(gain) / variance**0.5)
            half = stats.norm.ppf(0.975) * variance**0.5
        else:
            parts = [statistics.variance(scores) / seeds for scores in on_all]
            cov = np.cov(np.hstack(drawn), rowvar=False)
            shared = -2 * cov[:3, 3:].mean()
            shared += sum(cov[i, j] for i in range(3) for j in range(3) if i != j) / 6
            shared += sum(cov[i, j] for i in range(3, 6) for j in range(3, 6) if i != j) / 6
            variance = sum(parts) + max(0, shared)
            degrees = variance**2 / sum(part**2 / 2 for part in parts)
            p_value = 2 * stats.t.sf(abs(gain) / variance**0.5, degrees)
            half = stats.t.ppf(0.975, degrees) * variance**0.5
        test = ours["interaction_test"]
        assert test["p_value"] == pytest.approx(p_value)
        assert (test["low"], test["high"]) == pytest.approx((gain - half, gain + half))
    assert_holm([group["systems"][1]["interaction_test"] for group in table["groups"]])


def test_a_group_is_tested_on_the_draws_of_all_sentences(files, capsys):
    """The other sentences count as nothing."""
    command = ["compare", files / "base", files / "ours", "-r", files / "ref", *GROUP_OPTIONS]
    trees = write_conllu(files / "trees", REFERENCE)
    options = ["--by", "length", "--conllu", trees, "--bins", "8,16"]
    (table,) = figures(capsys, *command, *options)["groups"]
    lengths = np.array([len(line.split()) for line in REFERENCE])
    metrics = MetricSet(["bleu"], MetricSettings("none"))
    rows = run_statistics(metrics, [OUTPUTS["base"], OUTPUTS["ours"]], [REFERENCE])
    for group, (low, high) in zip(table["groups"], [(0, 8), (8, 16), (16, 99)], strict=True):
        inside = ((low <= lengths) & (lengths < high))[:, None]
        sides, ours = [[run * inside] for run in rows], group["systems"][1]
        shuffled = randomisation_p_values(*sides, metrics.score_rows, trials=50)
        assert ours["randomisation"]["p_value"] == pytest.approx(shuffled[0])
        drawn = [bootstrap_scores(side, metrics.score_rows, 40)[:, 0, 0] for side in sides]
        p_value = bootstrap_p_value(*drawn, ours["difference"])
        assert ours["bootstrap"]["p_value"] == pytest.approx(p_value)
    for test in ("randomisation", "bootstrap"):
        assert_holm([group["systems"][1][test] for group in table["groups"]])


@pytest.mark.parametrize("trees", [False, True])
def test_lengths_are_words_of_the_trees_or_else_of_the_source(files, capsys, trees):
    source = [" ".join(f"▁{word} x" for word in line.split()) for line in REFERENCE]
    options = ["--source", write(files / "pieces", source), "--by", "length", "--bins", "12"]
    lengths = [len(line.split()) for line in REFERENCE]
    if trees:
        lengths = lengths[::-1]
        options += ["--conllu", write_conllu(files / "trees", REFERENCE[::-1])]
    command = ["compare", files / "base", files / "ours", "-r", files / "ref", *GROUP_OPTIONS]
    found = figures(capsys, *command, *options, "--tests", "randomisation")
    assert "|bs:40|ar:50|seed:12345|" in found["metrics"]["BLEU"]["signature"]
    (table,) = found["groups"]
    members = [i for i, length in enumerate(lengths) if length < 12]
    assert table["groups"][0]["sentences"] == len(members)
    score = table["groups"][0]["systems"][0]["score"]
    assert score == pytest.approx(bleu(OUTPUTS["base"], members))


def test_the_interactions_of_two_groups_are_one(files, capsys):
    """So nothing is adjusted for a second."""
    command = ["compare", files / "base", files / "ours", "-r", files / "ref", *GROUP_OPTIONS]
    trees = write_conllu(files / "trees", REFERENCE)
    options = ["--by", "length", "--conllu", trees, "--bins", "13"]
    (table,) = figures(capsys, *command, *options)["groups"]
    short, long = (group["systems"][1] for group in table["groups"])
    assert short["interaction"] == pytest.approx(-long["interaction"])
    for test in (short["interaction_test"], long["interaction_test"]):
        assert test["p_value"] == pytest.approx(short["interaction_test"]["p_value"])
        assert test["p_holm"] == test["p_value"] < 0.9


def test_groups_without_a_difference(files, capsys):
    """One run of each is enough for the test over sentences: it is the spread that lacks."""
    write(files / "same", OUTPUTS["base"])
    command = ["compare", files / "base", files / "same", "-r", files / "ref", "-m", "ter"]
    trees = write_conllu(files / "trees", REFERENCE)
    options = ["--by", "length", "--conllu", trees, "--bins", "13", "--resamples", 40]
    text = main_text(capsys, *command, *options, "--trials", 9)
    assert any(line.startswith("TER ↓ by length; p after") for line in text)
    rows = [line for line in text if line.startswith(("<13", "≥13"))]
    assert [row.endswith("no spread") for row in rows] == [True, True]


def test_why_a_group_is_not_tested(files, capsys):
    """All sentences are in one group: there are too few others."""
    command = ["compare", files / "base", files / "ours", "-r", files / "ref", *GROUP_OPTIONS]
    trees = write_conllu(files / "trees", REFERENCE)
    text = main_text(capsys, *command, "--by", "length", "--conllu", trees, "--bins", "99")
    assert "length: no test of groups with fewer than 30 sentences, or with fewer others" in text
    assert row_of("\n".join(text), "<99")[0] == "120"


def test_groups_by_trees(tmp_path, capsys):
    """Depth, longest arc and a relation, of trees whose heads are those of a heap or a chain."""
    reference = [*REFERENCE[:60], *REFERENCE[:60]]
    files = {
        name: write(tmp_path / name, lines)
        for name, lines in {"ref": reference, "one": reference, "two": reference[::-1]}.items()
    }
    heap = write_conllu(tmp_path / "heap", reference[:60])
    chain = write_conllu(tmp_path / "chain", reference[60:], head=lambda word: max(0, word - 1))
    blocks = [Path(path).read_text(encoding="utf-8").split("\n\n")[:60] for path in (heap, chain)]
    blocks[1][0] = "# parse = none"
    (tmp_path / "trees").write_text("\n\n".join([*blocks[0], *blocks[1]]) + "\n\n")
    command = ["compare", files["one"], files["two"], "-r", files["ref"], *GROUP_OPTIONS]
    trees = ["--conllu", tmp_path / "trees"]
    options = ["--by", "depth", "distance", "relation", "--relations", "dep", "dep"]
    found = figures(capsys, *command, *options, *trees)["groups"]
    sizes = {table["by"]: {g["label"]: g["sentences"] for g in table["groups"]} for table in found}
    lengths = [len(line.split()) for line in reference]
    in_chain = [n - 1 for n in lengths[61:]]
    depths = [*(sum(1 for _ in iter_up(n - 1)) for n in lengths[:60]), *in_chain]
    assert sizes["depth"] == counted(depths, (4, 6, 8))
    arcs = [*((n - 1) - (n - 1) // 2 for n in lengths[:60]), *(min(1, n) for n in in_chain)]
    assert sizes["distance"] == counted(arcs, (5, 10, 20))
    single = [n == 1 for n in lengths].count(True) - (lengths[60] == 1)
    assert sizes["dep"] == {"with dep": 119 - single, **({"without": single} if single else {})}
    assert {table["sentences_without_group"] for table in found} == {1}
    text = "\n".join(main_text(capsys, *command, *options, *trees))
    assert "depth: 1 sentences have no tree" in text
    assert row_of(text, "with dep")[0] == str(119 - single)


def iter_up(word):
    while word // 2 != word:
        word //= 2
        yield word


def counted(values, edges):
    labels = [f"<{edges[0]}", f"{edges[0]}–{edges[1] - 1}", f"{edges[1]}–{edges[2] - 1}"]
    labels.append(f"≥{edges[2]}")
    places = [sum(value >= edge for edge in edges) for value in values]
    return {label: places.count(i) for i, label in enumerate(labels) if i in places}


def main_text(capsys, *arguments):
    main([*map(str, arguments)])
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--by", "depth"], "--by depth needs trees of the sentences: give --conllu"),
        (
            ["--by", "length"],
            "--by length: no lengths are known: give the source text in words, or --conllu",
        ),
        (["--conllu", "trees"], "--conllu does nothing without --by: add it"),
        (["--by", "relation", "--conllu", "trees"], "--by relation needs --relations: give both"),
        (
            ["--by", "depth", "distance", "--conllu", "trees", "--bins", "2"],
            "--bins is of one kind of numbers, and --by has 2: give one of length, depth, distance",
        ),
        (
            ["--by", "relation", "--relations", "dep", "depp", "--conllu", "trees"],
            "--relations depp: no tree of trees has it: did you mean dep?",
        ),
        (
            ["--by", "relation", "--relations", "x", "--conllu", "trees"],
            "--relations x: no tree of trees has it: choose of dep, root",
        ),
        (["--by", "depth", "--conllu", "short"], "short has 1 sentences, ref 120: give the parses"),
        (["--by", "depth", "--conllu", "none"], "none: no sentence has a parse: give the parses"),
        (
            ["--by", "relation", "--relations", "dep", "--conllu", "none"],
            "none: no sentence has a parse: give the parses",
        ),
    ],
)
def test_groups_that_are_refused(files, monkeypatch, options, message):
    monkeypatch.chdir(files)
    write_conllu(files / "trees", REFERENCE)
    write_conllu(files / "short", REFERENCE[:1])
    write(files / "none", ["# parse = none", ""] * len(REFERENCE))
    found = refused("compare", "base", "ours", "-r", "ref", "-m", "bleu", "--trials", 9, *options)
    assert found.startswith(message)
