"""Gains over corpora: what counts as one, and a mean whose interval covers the truth as often as it
says."""

import numpy as np
import pytest

pytest.importorskip("jsonschema", reason="the extra `experiments` is not installed")
from declared import declaration, runs_of, write_record, write_test_set
from translations import noisy, sentences, write

from experiments.gains_picture import Gain, draw_gains, with_means
from experiments.measured_table import measure
from experiments.pooled import pooled_mean
from experiments.table_files import write_table

REFERENCE = sentences(20)


@pytest.mark.parametrize("corpora", [3, 4, 6])
@pytest.mark.parametrize("between", [0.0, 0.3, 1.0])
def test_coverage(corpora, between):
    """500 simulated collections; estimates of unequal precision, the truth differs by corpus."""
    random, covered, draws = np.random.default_rng(7), 0, 500
    for _ in range(draws):
        errors = random.uniform(0.2, 0.8, corpora)
        gains = 1 + between * random.standard_normal(corpora)
        seen = gains + errors * random.standard_normal(corpora)
        found = pooled_mean(seen.tolist(), (errors**2).tolist())
        covered += found.low <= 1 <= found.high
    assert 0.93 <= covered / draws <= 0.97


def test_by_hand():
    """Equal variances: the plain mean, and Student's interval of the mean."""
    found = pooled_mean([0.0, 1.0, 2.0], [0.25, 0.25, 0.25])
    assert found.mean == pytest.approx(1)
    assert found.high - found.mean == pytest.approx(4.302653 / 3**0.5, rel=1e-6)


def test_rows():
    """Only methods with enough corpora have a mean; controls and tables of an unknown corpus are
    left out of it, and two tables of one corpus count once."""

    def row(method, corpus, difference, is_control=False):
        ends = difference - 1.0, difference + 1.0
        return Gain(method, "", is_control, difference, *ends, corpus=corpus, variance=0.25)

    rows = [row("a", f"corpus {i}", float(i)) for i in range(2)]
    rows += [row("a", "corpus 2", 1.0), row("a", "corpus 2", 3.0), row("a", "corpus 3", 9.0, True)]
    rows += [row("a", "", 9.0)]
    rows += [row("b", f"corpus {i % 2}", 1.0) for i in range(4)]
    found = with_means(rows)
    assert [gain.label for gain in found if gain.is_mean] == ["mean over 3 corpora"]
    assert [gain.method for gain in found] == [*["a"] * 7, *["b"] * 4]
    assert found[6].difference == pytest.approx(1)


def test_a_corpus_is_known_by_its_training_text(tmp_path):
    """In either direction, whatever is prepared of it; another text is another corpus."""

    def corpus(name, training, **data):
        folder = tmp_path / name
        folder.mkdir()
        declared = declaration()
        declared["data"] |= data
        runs = runs_of(folder, declared)
        write_test_set(runs, folder, REFERENCE)
        (files,) = (folder / "data").iterdir()
        for lang, lines in training.items():
            write(files / "corpus" / f"train.{lang}", lines)
        for lang in ("src", "tgt"):
            write(files / "corpus" / f"test.{lang}", REFERENCE)
            write(files / "prepared" / "words" / f"test.{lang}", REFERENCE)
        write_record(runs, next(runs.rows()).runs[0], REFERENCE, data_checksum=name)
        return measure(runs, folder).tests[0].corpus

    text = {"src": ["a dog"], "tgt": ["ein Hund"]}
    found = corpus("features", text, prepare="--features deprel")
    assert found == corpus("reversed", text, source="tgt", target="src")
    assert found != corpus("other", {**text, "tgt": ["ein Hunt"]})


def test_gains_in_another_metric_stay_out_of_the_picture(tmp_path, capsys):
    """Its axis is BLEU."""
    for name, primary in (("a", "chrf"), ("b", "bleu")):
        declared = declaration() | {"primary": primary}
        declared["comparisons"] = [{"system": "heads", "against": "Transformer", "method": name}]
        folder = tmp_path / name
        folder.mkdir()
        runs = runs_of(folder, declared)
        write_test_set(runs, folder, REFERENCE)
        for row, share in zip(runs.rows(), (0.3, 0.2)):
            for run in row.runs:
                write_record(runs, run, noisy(REFERENCE, run.plan["seed"], share))
        write_table(measure(runs, folder), tmp_path / "results" / name)
        capsys.readouterr()
        picture = draw_gains(tmp_path / "results")
        file = tmp_path / "results" / "a" / "table.json"
        said = f"{file}: its figure is chrf: gains.svg, in BLEU, leaves it out\n"
        assert capsys.readouterr().out == said
        assert (picture is None) is (name == "a")
