"""`syntax-nmt score` against sacrebleu's own program, and on files that are odd or broken."""

import json
import os
import shutil

import pytest
from commands import succeed
from nonempty import some
from sacrebleu.metrics import BLEU, CHRF, TER
from translations import figures, generated, noisy, refused, sentences, write

from syntax_nmt.cli import main
from syntax_nmt.scoring.translations import metrics

REFERENCE = sentences(60)
OTHER_REFERENCE = noisy(REFERENCE, 9, 0.2)
SOURCE = sentences(60, seed=5)
OUTPUT = noisy(REFERENCE, 2, 0.3)


@pytest.fixture
def files(tmp_path):
    for name, lines in {
        "ref": REFERENCE,
        "ref2": OTHER_REFERENCE,
        "src": SOURCE,
        "out": OUTPUT,
        "better": noisy(REFERENCE, 3, 0.1),
    }.items():
        write(tmp_path / name, lines)
    return tmp_path


def sacrebleu(*arguments):
    return json.loads(succeed("sacrebleu", *arguments, "-w", 10).stdout)


def score(capsys, files, *arguments):
    return figures(capsys, "score", files / "out", "--reference", files / "ref", *arguments)


def scores_of(found, system=0):
    return {name: item["score"] for name, item in found["systems"][system]["scores"].items()}


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--tokenize", "none", "--lowercase", "--force"),
        ("-tok", "intl", "-lc", "--chrf-word-order", "2"),
        ("-tok", "zh", "-cw", "1"),
        ("-tok", "char"),
        ("-tok", "zh", "--ter-normalized", "--ter-asian-support"),
    ],
)
def test_scores_and_signatures_of_sacrebleus_own_program(files, capsys, options):
    reference = sacrebleu(
        files / "ref", files / "ref2", "-i", files / "out", "-m", "bleu", "chrf", "ter", *options
    )
    found = figures(capsys, "score", files / "out", "-r", files / "ref", files / "ref2", *options)
    assert len(reference) == 3
    for item in reference:
        assert scores_of(found)[item["name"]] == pytest.approx(item["score"], abs=1e-9)
        assert found["metrics"][item["name"]]["signature"] == item["signature"]


def test_intervals_of_sacrebleus_own_program(files, capsys):
    options = ("--confidence", "--confidence-n", "200")
    reference = sacrebleu(files / "ref", "-i", files / "out", "-m", "bleu", "chrf", "ter", *options)
    found = score(capsys, files, *options)
    for item in some(reference):
        interval = found["systems"][0]["scores"][item["name"]]["interval"]
        assert interval["mean"] == pytest.approx(item["confidence_mean"], abs=1e-3)
        assert interval["half_width"] == pytest.approx(item["confidence_var"], abs=1e-3)
        assert interval["low"] < item["score"] < interval["high"]
        assert found["metrics"][item["name"]]["signature"] == item["signature"]


def test_character_bleu_is_sacrebleus_char_tokeniser(files, capsys):
    reference = sacrebleu(files / "ref", "-i", files / "out", "-tok", "char")
    found = score(capsys, files, "--metrics", "char-bleu", "bleu")
    assert scores_of(found)["char-BLEU"] == pytest.approx(reference["score"], abs=1e-9)
    assert found["metrics"]["char-BLEU"]["signature"] == reference["signature"]
    assert "tok:13a" in found["metrics"]["BLEU"]["signature"]


def test_scores_by_length_are_those_of_the_sentences_alone(files, capsys):
    found = score(capsys, files, "--source", files / "src", "--bins", "8,20")
    groups = found["by_length"]["bins"]
    assert found["by_length"]["tokens_of"] == str(files / "src")
    assert [group["label"] for group in groups] == ["<8", "8–19", "≥20"]
    lengths = [len(line.split()) for line in SOURCE]
    for group, (low, high) in zip(groups, [(0, 8), (8, 20), (20, 99)]):
        chosen = [i for i, length in enumerate(lengths) if low <= length < high]
        assert group["sentences"] == len(chosen) > 5
        ours, theirs = [OUTPUT[i] for i in chosen], [[REFERENCE[i] for i in chosen]]
        for name, metric in {"BLEU": BLEU(), "chrF2": CHRF(), "TER": TER()}.items():
            expected = metric.corpus_score(ours, theirs).score
            assert group["scores"][name]["out"]["score"] == pytest.approx(expected), name


def test_default_bins_are_the_papers_and_an_empty_one_has_no_score(files, capsys):
    write(files / "short", ["a b"] * 60)
    found = score(capsys, files, "--source", files / "short", "-m", "bleu")
    groups = found["by_length"]["bins"]
    assert [(group["label"], group["sentences"]) for group in groups] == [
        ("<15", 60),
        ("15–29", 0),
        ("30–44", 0),
        ("≥45", 0),
    ]
    assert groups[0]["scores"]["BLEU"]["out"]["score"] == scores_of(found)["BLEU"]
    assert groups[1]["scores"]["BLEU"]["out"] == {"score": None, "spread": None, "interval": None}


def test_fairseq_output_is_put_in_order_and_brings_references_and_source(files, capsys):
    write(files / "out.gen", generated(OUTPUT, REFERENCE, SOURCE))
    plain = score(capsys, files, "--source", files / "src")
    found = figures(capsys, "score", files / "out.gen")
    assert scores_of(found) == scores_of(plain)
    assert found["references"] == [f"the T- lines of {files / 'out.gen'}"]
    assert found["by_length"]["tokens_of"] == f"the S- lines of {files / 'out.gen'}"
    for ours, theirs in zip(found["by_length"]["bins"], plain["by_length"]["bins"]):
        assert ours["scores"]["BLEU"]["out.gen"] == theirs["scores"]["BLEU"]["out"]


def test_several_systems_and_seeds_in_one_table(files, capsys):
    arguments = ["--system", "base", files / "out", "--system", "ours", files / "better"]
    arguments += [files / "out", "--reference", files / "ref", "--source", files / "src"]
    found = figures(capsys, "score", *arguments)
    base, ours = scores_of(found), scores_of(found, 1)
    single = scores_of(figures(capsys, "score", files / "better", "-r", files / "ref"))
    for name in base:
        assert ours[name] == pytest.approx((single[name] + base[name]) / 2)
        item = found["systems"][1]["scores"][name]
        assert item["spread"] == pytest.approx(abs(single[name] - base[name]) / 2**0.5)
        assert item["runs"] == [single[name], base[name]]
        assert found["systems"][0]["scores"][name]["spread"] is None
    main(["score", *map(str, arguments), "--width", "2"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "60 sentences, 1 reference"
    assert " ".join(lines[2].split()) == "system runs BLEU BP length ratio chrF2 TER ↓ RIBES"
    row = next(line for line in lines if line.startswith("ours")).split()
    assert row[:5] == ["ours", "2", f"{ours['BLEU']:.2f}", "sd", row[4]]
    assert float(row[4]) == pytest.approx(found["systems"][1]["scores"]["BLEU"]["spread"], abs=0.01)
    assert f"BLEU by length, in tokens of {files / 'src'}" in lines
    for item in found["metrics"].values():
        assert any(line.endswith(item["signature"]) for line in lines)


def test_brevity_penalty_is_told(files, capsys):
    write(files / "out", [" ".join(line.split()[:-1]) for line in REFERENCE])
    details = score(capsys, files)["systems"][0]["scores"]["BLEU"]["details"][0]
    expected = BLEU().corpus_score((files / "out").read_text().splitlines(), [REFERENCE])
    assert details["brevity_penalty"] == expected.bp < 1
    assert details["length_ratio"] == expected.ratio
    assert details["precisions"] == pytest.approx(expected.precisions)


@pytest.mark.parametrize("block", [1, 7, 30, 60])
def test_blocks_do_not_matter(files, capsys, monkeypatch, block):
    whole = score(capsys, files)
    monkeypatch.setattr(metrics, "_BLOCK", block)
    assert score(capsys, files) == whole


@pytest.mark.parametrize(
    ("output", "reference"),
    [([""], ["a b"]), (["a b"], [""]), ([""], [""]), (["", "a b c d e"], ["x y", "a b c d e"])],
)
def test_empty_sentences(tmp_path, capsys, output, reference):
    write(tmp_path / "ref", reference)
    write(tmp_path / "out", output)
    found = scores_of(
        figures(
            capsys, "score", tmp_path / "out", "-r", tmp_path / "ref", "--confidence", "-cin", 40
        )
    )
    assert found["RIBES"] == (50 if len(output) == 2 else 0)
    for name, metric in {"BLEU": BLEU(), "chrF2": CHRF(), "TER": TER()}.items():
        assert found[name] == pytest.approx(metric.corpus_score(output, [reference]).score)


@pytest.mark.parametrize("broken", ["out", "ref2", "src"])
def test_unequal_files_are_named_with_their_counts(files, broken):
    write(files / broken, (files / broken).read_text().splitlines()[:-1])
    options = ("-r", files / "ref", files / "ref2", "--source", files / "src")
    message = refused("score", files / "out", *options)
    assert message.startswith(f"{files / broken} has 59 sentences, {files / 'ref'} 60: ")


def test_names_that_are_not_utf8(files):
    """Text and JSON have them with escapes, which JSON reads back."""
    name, figures = (os.fsdecode(os.fsencode(files / name) + b"\xff") for name in ("a", "json"))
    shutil.copy(files / "out", name)
    command = ("syntax_nmt.cli", "score", name, "-r", files / "ref")
    assert os.path.basename(name).encode(errors="backslashreplace").decode() in (
        succeed(*command, "--json", figures, "--format", "text").stdout
    )
    with open(figures, encoding="utf-8") as stream:
        assert json.load(stream)["systems"][0]["files"] == [name]


def test_what_cannot_be_done_is_refused_in_one_line(files, tmp_path):
    out, reference = files / "out", files / "ref"
    empty = write(files / "empty", [])
    gen = write(files / "a.gen", generated(OUTPUT, REFERENCE, SOURCE))
    other = write(files / "b.gen", generated(OUTPUT, [*REFERENCE[:-1], "x"], SOURCE))
    incomplete = write(
        files / "c.gen",
        [line for line in gen.read_text().splitlines() if not line.startswith("D-17\t")],
    )
    for arguments, said in [
        ((files / "nowhere", "-r", reference), "nowhere: cannot be read"),
        ((out,), "no --reference: give one"),
        (("-r", reference), "no translations: "),
        ((empty, "-r", empty), "is empty"),
        ((out, "--system", "x", out, "-r", reference), "FILE and --system exclude each other"),
        (("--system", "x", "-r", reference), "--system x: a name and at least one file"),
        ((out, out, "-r", reference), "two systems of this name"),
        ((gen, other), "b.gen: T-59 is not that of"),
        ((incomplete,), "c.gen: D-17 is missing, 59 of 60"),
    ]:
        assert said in refused("score", *arguments, "--metrics", "bleu")


def test_json_beside_the_tables(files, capsys):
    arguments = ["score", files / "out", "-r", files / "ref", "--json", files / "scores.json"]
    main([*map(str, arguments)])
    said = capsys.readouterr()
    assert "BLEU: nrefs:1|case:mixed" in said.out
    assert "no scores by length" in said.err
    assert json.loads((files / "scores.json").read_text())["sentences"] == 60


def test_a_reference_of_another_text_is_noted(files, capsys):
    """As one in another language, whose scores are near 0; spaces and case say nothing."""
    gen = write(files / "a.gen", generated(OUTPUT, REFERENCE, SOURCE))
    cased = write(files / "cased", [line.upper().replace(" ", "  ") for line in REFERENCE])
    joined = write(files / "joined", [line.replace(" .", ".") for line in REFERENCE])
    for reference in (files / "ref", cased, joined):
        main(["score", str(gen), "--reference", str(reference)])
        assert "T- lines" not in capsys.readouterr().err
    for command in (["score", str(gen)], ["compare", str(gen), str(files / "out")]):
        main([*command, "--reference", str(files / "src")])
        said = capsys.readouterr().err
        assert f"note: {gen}: 0 of its 60 T- lines are those of {files / 'src'}: is it the" in said
        main([*command, "--reference", str(files / "src"), str(files / "ref")])
        assert "T- lines" not in capsys.readouterr().err
        main([*command, "--reference", str(files / "src"), "--force"])
        assert "T- lines" not in capsys.readouterr().err


def test_unknown_words_of_references_are_no_other_text(files, capsys):
    """fairseq prints those of a vocabulary of words as <<unk>>."""
    written = ["<<unk>> a", *REFERENCE[1:]]
    unknown = ["<<unk>> b"] * len(written)
    for lines, noted in ((unknown, False), ([*unknown[:-1], "another"], True), (written, False)):
        gen = write(files / "a.gen", generated(OUTPUT, lines, SOURCE))
        main(["score", str(gen), "--reference", str(files / "ref")])
        assert ("0 of its 1 T- lines" in capsys.readouterr().err) == noted


@pytest.mark.parametrize(
    "source", ["他喜欢你们大家。", "The<unk>Policesaid<unk>were<unk>thereinthemorning", "(▁Dr ▁a"]
)
def test_a_source_that_is_not_in_words_has_no_lengths(files, capsys, source):
    """fairseq-generate prints S- lines by the rules of the target's language and pieces."""
    gen = write(files / "a.gen", generated(OUTPUT, REFERENCE, [source] * len(OUTPUT)))
    other = str(files / "better")
    main(["compare", str(gen), other])
    said = capsys.readouterr()
    assert f"note: the S- lines of {gen} are not in words, so that lengths of the" in said.err
    assert "translations longer than" not in said.out
    assert "give the source text" in refused("compare", gen, other, "--cut", "1.5,5")
    capsys.readouterr()
    main(["compare", str(gen), other, "--source", str(files / "src")])
    said = capsys.readouterr()
    assert "not in words" not in said.err
    assert "translations longer than" in said.out


def test_sentences_that_the_default_tokeniser_takes_for_words_are_noted(files, capsys):
    chinese = ["他们在公园里踢足球。", "一个女人在街上骑自行车。"] * 20
    reference = str(write(files / "zh", chinese))
    command = ["score", reference, "--reference", reference]
    main([*command])
    assert f"{reference} has no spaces between words, so that words of" in capsys.readouterr().err
    for option in (["--tokenize", "zh"], ["--tokenize", "char"], ["-m", "chrf"], ["--force"]):
        main([*command, *option])
        assert "has no spaces" not in capsys.readouterr().err
    write(files / "zh", [" ".join(line) for line in chinese])
    main([*command])
    assert "has no spaces" not in capsys.readouterr().err


def test_notes_on_text_that_needs_care(files, capsys):
    tokenised = write(files / "tok", ["a b ."] * 100)
    arguments = ["score", str(tokenised), "-r", str(tokenised)]
    main([*arguments])
    assert "100 lines end in ' .'" in capsys.readouterr().err
    for option in (["--tokenize", "none"], ["--force"], ["-m", "ter"]):
        main([*arguments, *option])
        assert "end in" not in capsys.readouterr().err
    gen = write(files / "a.gen", generated(OUTPUT, ["<<unk>> a", *REFERENCE[1:]], SOURCE))
    main(["score", str(gen)])
    assert "1 references (T- lines)" in capsys.readouterr().err
