"""Translations that run away are counted, and cut from files as by hand; groups of lengths."""

import argparse

import pytest
from translations import figures, generated, noisy, refused, sentences, write

from syntax_nmt.arguments import ascending_numbers
from syntax_nmt.cli import main
from syntax_nmt.scoring.translations.lengths import LengthBins, LengthLimit


@pytest.mark.parametrize(
    ("limit", "source", "most"),
    [("1.5,5", 0, 5), ("1.5,5", 1, 6), ("1.5,5", 2, 8), ("1.2,0", 5, 6), ("0,3", 9, 3)],
)
def test_the_most_words(limit, source, most):
    text = "w  " * (most + 1)
    found = LengthLimit.of(limit)
    assert found.cut([text], ["s " * source]) == (" ".join("w" * most),)
    assert found.longer([text], ["s " * source]) == 1
    shorter = "w  " * most  # its spaces stay
    assert found.cut([shorter], ["s " * source]) == (shorter,)
    assert found.longer([shorter], ["s " * source]) == 0


REFERENCE = sentences(40)
SOURCE = [" ".join("s" for _ in line.split()) for line in REFERENCE]
ALWAYS = [3, 17, 30]  # run away


@pytest.fixture
def files(tmp_path):
    """Two runs of a baseline, one of a system; the second baseline's run away in three places."""
    write(tmp_path / "ref", REFERENCE)
    write(tmp_path / "src", SOURCE)
    for seed, name in enumerate(("base1", "base2", "ours")):
        lines = noisy(REFERENCE, seed, 0.2)
        if name == "base2":
            lines = [f"{x} {'und ' * 40}" if i in ALWAYS else x for i, x in enumerate(lines)]
        write(tmp_path / name, lines)
    return tmp_path


def systems(files):
    base = ("--system", "base", files / "base1", files / "base2")
    return [*base, "--system", "ours", files / "ours"]


def test_compare_cuts(files, capsys):
    options = ["-r", files / "ref", "-m", "bleu", "--tests", "sign"]
    found = figures(
        capsys, "compare", *systems(files), *options, "--cut", "1.5,5", "--source", files / "src"
    )
    lines = (files / "base2").read_text(encoding="utf-8").splitlines()
    for i in ALWAYS:
        words = len(SOURCE[i].split())
        lines[i] = " ".join(lines[i].split()[: words + words // 2 + 5])
    write(files / "base2", lines)
    by_hand = figures(capsys, "compare", *systems(files), *options)
    assert found["cut"]["limit"] == "1.5 × source + 5 words"
    assert [system["runs"] for system in found.pop("cut")["systems"]] == [[0, 3], [0]]
    assert found == by_hand
    main([*map(str, ["compare", *systems(files), *options, "--cut", "0,4", "--source"]),
          str(files / "src")])  # fmt: skip
    assert "cut: translations longer than 0 × source + 4 words: base " in capsys.readouterr().out


def test_score_counts(files, capsys):
    pieces = [" ".join(f"▁{word} x" for word in line.split()) for line in SOURCE]
    write(files / "pieces", pieces)
    arguments = ["score", *systems(files), "-r", files / "ref", "-m", "bleu", "--source"]
    main([*map(str, [*arguments, files / "src"])])
    line = "translations longer than 1.5 × source + 5 words: base 0, 3; ours 0"
    assert line in capsys.readouterr().out
    main([*map(str, [*arguments, files / "pieces"])])
    assert line in capsys.readouterr().out  # words, not pieces
    main([*map(str, arguments[:-1])])
    assert "longer than" not in capsys.readouterr().out


def test_the_source_of_fairseq_generate(files, capsys):
    write(files / "gen", generated(REFERENCE, REFERENCE, SOURCE))
    arguments = ["compare", files / "gen", files / "ours", "-m", "bleu", "--tests", "sign"]
    found = figures(capsys, *arguments, "--cut", "0,1")
    assert found["cut"]["systems"][0]["runs"] == [sum(len(line.split()) > 1 for line in REFERENCE)]


def test_refusals(files, capsys):
    both = ["compare", files / "base1", files / "ours", "-r", files / "ref"]
    assert refused(*both, "--cut", "1.5,5").startswith("cut: no lengths are known")
    write(files / "short", SOURCE[:-1])
    message = refused(*both, "--cut", "1.5,5", "--source", files / "short")
    assert message.startswith(f"{files / 'short'} has 39 sentences, {files / 'ref'} 40")
    write(files / "scores", ["0.5"] * 40)
    given = ["--cut", "1,1"]
    for name in ("base1", "ours"):
        given += ["--sentence-scores", name, files / "scores"]
    assert "of translations that are not cut" in refused(*both, *given, "--source", files / "src")
    given = ["--words-by", "deprel", "--reference-conllu", "x", "--hypothesis-conllu", "ours", "x"]
    message = refused(*both, "--cut", "1,1", "--source", files / "src", *given)
    assert "parses (hypothesis_conllu) are of translations that are not cut: leave one" in message
    for wrong in ("1.5", "a,b", "-1,2", "1,2,3"):
        with pytest.raises(SystemExit):
            main([*map(str, both), f"--cut={wrong}"])
        assert "such as 1.5,5" in capsys.readouterr().err


@pytest.mark.parametrize("unspaced", ["src", "base1"])
def test_without_spaces_words_are_not_counted(files, capsys, unspaced):
    """Chinese as it is written: every sentence would be one word."""
    write(files / unspaced, ["狗在房子里跑得很快。" * (1 + len(line) // 20) for line in REFERENCE])
    both = [files / "base1", files / "ours", "-r", files / "ref", "-m", "bleu"]
    source = ["--source", files / "src"]
    found = figures(capsys, "score", *both, *source)
    assert "longer" not in found
    assert ("by_length" in found) is (unspaced != "src")
    main(["score", *map(str, [*both, *source])])
    said = f"note: {files / 'src'} has no spaces between words, so that lengths in words are not"
    assert (said in capsys.readouterr().err) is (unspaced == "src")
    few = ["--tests", "sign"]
    assert "longer" not in figures(capsys, "compare", *both, *source, *few)
    message = refused("compare", *both, *source, "--cut", "1.5,5")
    assert message.startswith(f"cut: {files / unspaced} has no spaces between words, so that its")
    options = ["compare", *both, *source, *few, "--by", "length"]
    if unspaced == "src":
        assert refused(*options).startswith("--by length: no lengths are known: give the source")
    else:
        assert [each["by"] for each in figures(capsys, *options)["groups"]] == ["length"]


def test_compare_counts(files, capsys):
    """Without --cut it says how many run away; where none does, nothing."""
    options = ["-r", files / "ref", "-m", "bleu", "--tests", "sign", "--source", files / "src"]
    main(["compare", *map(str, [*systems(files), *options])])
    counted = "longer than 1.5 × source + 5 words: base 0, 3; ours 0"
    assert counted in capsys.readouterr().out
    write(files / "scores", ["0.5"] * 40)
    for name, runs in (("base", 2), ("ours", 1)):
        options += ["--sentence-scores", name, *[files / "scores"] * runs]
    main(["compare", *map(str, [*systems(files), *options])])
    assert counted in capsys.readouterr().out
    options = options[:-7]
    write(files / "base2", (files / "base1").read_text(encoding="utf-8").splitlines())
    main(["compare", *map(str, [*systems(files), *options])])
    assert "longer than" not in capsys.readouterr().out


def test_compare_shows_runs(files, capsys):
    options = ["-r", files / "ref", "-m", "bleu", "--tests", "sign"]
    found = figures(capsys, "compare", *systems(files), *options)
    main(["compare", *map(str, [*systems(files), *options]), "--verbose"])
    first, second = found["systems"][0]["scores"]["BLEU"]["runs"]
    out = capsys.readouterr().out
    assert f"BLEU of the runs of base: {first:.1f}, {second:.1f}" in out
    assert "runs of ours" not in out


def by_definition(bins, length):
    """The label of the group that a length falls into, by the groups' own bounds."""
    found = [
        label
        for label, (low, high) in zip(bins.labels, bins.bounds())
        if low <= length and (high is None or length <= high)
    ]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("bins", "labels"),
    [
        (LengthBins(), ("<15", "15–29", "30–44", "≥45")),
        (LengthBins((10, 20, 30), upper_inclusive=True), ("≤10", "11–20", "21–30", ">30")),
        (LengthBins((1, 2, 4)), ("<1", "1", "2–3", "≥4")),
        (LengthBins((1, 2, 4), upper_inclusive=True), ("≤1", "2", "3–4", ">4")),
        (LengthBins((7,)), ("<7", "≥7")),
    ],
)
def test_labels_bounds_and_members_agree(bins, labels):
    assert bins.labels == labels
    lengths = [44, 0, 1, 2, 3, 4, 7, 9, 10, 11, 14, 15, 16, 20, 21, 29, 30, 31, 45, 100]
    members = bins.members(lengths)
    for label, positions in zip(labels, members):
        assert [by_definition(bins, lengths[i]) for i in positions] == [label] * len(positions)
    assert sorted(int(i) for group in members for i in group) == list(range(len(lengths)))


def test_edges_as_typed():
    assert ascending_numbers("10, 20,30", least=1) == (10, 20, 30)


@pytest.mark.parametrize("text", ["", "10,", "a", "20,10", "10,10", "0,5", "-1", "1.5", "१"])
def test_other_edges_are_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="ascending whole numbers"):
        ascending_numbers(text, least=1)
