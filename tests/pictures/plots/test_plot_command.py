"""`syntax-nmt plot` from end to end: each kind on small files, and what it refuses."""

import importlib
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from forced_models import checkpoint_of, latent_checkpoint
from methods import MIXED
from parser_files import PIECES, TARGETS, WORDS
from translations import refused as refused_command
from translations import write as write_lines

from syntax_nmt.cli import main
from syntax_nmt.data.conllu import format_conllu, format_no_parse
from syntax_nmt.inference.checkpoint import choose_device, load_model
from syntax_nmt.inference.extraction.model_distances import encoder_distances
from syntax_nmt.inference.source_text import read_segmented
from syntax_nmt.pictures.plots.group_curves import Group, Point
from syntax_nmt.scoring.accuracy import AccuracyFigures, Bounds
from syntax_nmt.scoring.contrast.contrast_report import Contrast, DistanceAccuracy, ModelAccuracy
from syntax_nmt.scoring.scores import LengthGroup, Scores, ScoresByLength
from syntax_nmt.scoring.translations.metrics import MetricDescription
from syntax_nmt.scoring.translations.resampling import Interval
from syntax_nmt.scoring.translations.results import Score
from syntax_nmt.scoring.translations.significance import SeedTest
from syntax_nmt.scoring.words.bucket_tables import Bucket, BucketScore, BucketTable

DRAWN_BY = {
    "alignment": "alignment_matrix.draw_alignment",
    "attention": "attention_panels.draw_attention",
    "chunks": "chunk_strips.draw_chunks",
    "constituents": "constituency_tree.draw_constituents",
    "dependencies": "dependency_arcs.draw_dependencies",
    "distances": "distance_bars.draw_distances",
    "length": "group_curves.draw_curves",
    "contrast": "group_curves.draw_curves",
    "words": "dot_rows.draw_dots",
}


def shown(pieces):
    """`▁gar den` as `gar`, `·den`."""
    return [piece[1:] if piece[0] == "▁" else f"·{piece}" for piece in pieces.split()]


@pytest.fixture
def write(tmp_path):
    return lambda name, *lines: write_lines(tmp_path / name, lines)


@pytest.fixture
def plot(tmp_path, capsys, monkeypatch):
    """Runs the command; gives what it draws with, and stderr."""

    def run(kind, *arguments, output="picture.svg"):
        seen = []
        module, name = DRAWN_BY[kind].split(".")
        module = importlib.import_module(f"syntax_nmt.pictures.plots.{module}")
        draw = getattr(module, name)

        def spy(*args, **kwargs):
            seen.append((args, kwargs))
            return draw(*args, **kwargs)

        with monkeypatch.context() as patched:
            patched.setattr(module, name, spy)
            main([str(x) for x in ["plot", kind, *arguments, "--output", tmp_path / output]])
        assert (tmp_path / output).stat().st_size > 1000
        ((args, kwargs),) = seen
        return args, kwargs, capsys.readouterr().err

    return run


@pytest.fixture
def refused(tmp_path):
    """Runs the command, which must end with one line and without a picture; gives that line."""

    def run(*arguments, output="refused.svg"):
        message = refused_command("plot", *arguments, "--output", tmp_path / output)
        assert not (tmp_path / output).is_file()
        return message

    return run


class TestModels:
    @pytest.fixture(scope="class")
    def files(self, parser, tmp_path_factory):
        folder = tmp_path_factory.mktemp("plotted")
        for name, lines in (("source", PIECES), ("target", TARGETS)):
            write_lines(folder / name, lines)
        chains = [[max(i - 1, 0) for i in range(len(words))] for words in WORDS]
        blocks = [
            format_conllu(*each) if each[0] else format_no_parse([]) for each in zip(WORDS, chains)
        ]
        (folder / "gold").write_text("".join(blocks), encoding="utf-8")
        heads = checkpoint_of("heads", parser.data, folder)
        latent = latent_checkpoint(parser.data, folder / "latent.pt")
        mixed = {name: checkpoint_of(name, parser.data, folder) for name in MIXED}
        return {"folder": folder, "data": parser.data, "heads": heads, "latent": latent, **mixed}

    def options(self, files, model, target=True):
        command = [files["data"], "--path", files[model], "--segmented", "--cpu"]
        command += ["--source", files["folder"] / "source"]
        return [*command, "--target", files["folder"] / "target"] if target else command

    def test_supervised_heads_stand_beside_free_ones_with_gold_heads(self, plot, files):
        options = self.options(files, "heads", target=False)
        gold = ["--gold", files["folder"] / "gold", "--sentence", 2]
        (panels, rows, columns, *_), _, _ = plot("attention", *options, *gold)
        assert rows == columns == ["gardens", "</s>"]
        assert len(panels) == 4
        assert "children (supervised)" in panels[0].caption
        assert "parents (supervised)" in panels[1].caption
        gold[-1] = 6
        (panels, rows, *_), _, _ = plot("attention", *options, *gold)
        assert rows == ["old", "houses", "see", "we", ".", "</s>"]
        chain = {(0, 0), (1, 0), (2, 1), (3, 2), (4, 3)}
        assert panels[0].marked == {(head, word) for word, head in chain if word} | {(4, 4)}
        assert panels[1].marked == panels[2].marked == panels[3].marked == chain
        np.testing.assert_allclose(panels[1].weights.sum(axis=1), 1, atol=1e-5)

    def test_cross_and_decoder_attention_of_pieces(self, plot, files):
        options = [*self.options(files, "heads"), "--layer", -1, "--sentence", 1]
        (panels, rows, columns, *_), _, _ = plot("attention", *options, "--head", 2)
        assert (len(panels), panels[0].caption) == (1, "layer 1, head 2")
        assert rows == [*shown(TARGETS[0]), "</s>"]
        assert columns == [*shown(PIECES[0]), "</s>"]
        (_, rows, columns, *_), _, _ = plot("attention", *options, "--attention", "decoder")
        assert rows == [*shown(TARGETS[0]), "</s>"]
        assert columns == ["</s>", *shown(TARGETS[0])]

    def test_words_of_the_decoder_read_eos_first(self, plot, files):
        options = [*self.options(files, "heads"), "--attention", "decoder", "--words"]
        (panels, rows, columns, *_), _, _ = plot("attention", *options)
        assert rows == [*WORDS[3], "</s>"]
        assert columns == ["</s>", *WORDS[3]]
        weights = panels[0].weights
        # `garden` is two pieces, and the second may look at the first, but no further.
        assert np.triu(weights, 2).max() == 0
        np.testing.assert_allclose(weights[0], [1, *[0] * (len(columns) - 1)], atol=1e-6)

    def test_distances_of_both_sides(self, plot, files):
        options = self.options(files, "latent")
        (sides, _), _, _ = plot("distances", *options, "--layer", 1)
        assert [side.name for side in sides] == ["source", "target"]
        assert list(sides[0].rows) == ["mean", *(f"head {i}" for i in range(4))]
        assert list(sides[1].tokens) == shown(TARGETS[0])
        assert sides[0].opens_word == [piece[0] == "▁" for piece in PIECES[0].split()]
        model, task, _ = load_model(files["latent"], files["data"], choose_device("cpu"))
        text = read_segmented(files["folder"] / "source", task.source_dictionary)
        ((_, mean),) = encoder_distances(model, text, layer=1).of([0], 100, None)
        np.testing.assert_allclose(sides[0].rows["mean"], mean, atol=1e-6)
        (sides, _), _, _ = plot("distances", *options, "--head", 3)
        assert list(sides[0].rows) == ["head 3"]

    @pytest.mark.parametrize(("model", "side"), zip(MIXED, ["source", "target"]))
    def test_distances_of_the_side_that_has_them(self, plot, files, model, side):
        """Of a Transformer under an RNN decoder, or over an RNN encoder."""
        (sides, _), _, _ = plot("distances", *self.options(files, model))
        assert [found.name for found in sides] == [side]
        pieces = shown((TARGETS if side == "target" else PIECES)[0])
        assert list(sides[0].tokens) == pieces
        assert len(sides[0].rows["mean"]) == len(pieces)

    @pytest.mark.parametrize(
        ("model", "kind", "more", "message"),
        [
            ("heads", "distances", [], "syntactic distances: train one"),
            ("latent", "distances", ["--head", "4"], "--head 4: the layer has 4 heads, 0 to 3"),
            ("latent", "distances", ["--layer", "2"], "--layer 2"),
            ("heads", "attention", ["--head", "9"], "--head 9"),
            ("heads", "attention", ["--layer", "5"], "--layer 5: the decoder has 2 layers"),
            ("heads", "attention", ["--sentence", "8"], "--sentence 8"),
            ("heads", "attention", ["--sentence", "3"], "source:3: no words"),
            ("heads", "attention", ["--sentence", "7"], "target:7: no words"),
            ("heads", "attention", ["--gold", "x"], "--gold is about --attention encoder"),
            ("heads", "attention", ["--entropy", "--head", "1"], "leave out --head"),
            ("heads", "attention", ["--entropy", "--sentence", "2"], "leave out --sentence"),
        ],
    )
    def test_what_models_cannot_show_is_refused(self, refused, files, model, kind, more, message):
        assert message in refused(kind, *self.options(files, model), *more)

    def test_entropy_of_all_heads(self, files, tmp_path, capsys):
        """Sentences 3 and 7 have no words on one side."""
        options = [*self.options(files, "heads"), "--entropy", "--output", tmp_path / "e.svg"]
        main(["plot", "attention", *map(str, options)])
        assert "2 sentences left out, empty or too long" in capsys.readouterr().err
        picture = (tmp_path / "e.svg").read_text(encoding="utf-8")
        assert "attention of the decoder to the source, 5 sentences" in picture
        assert len(re.findall(r">\d\.\d\d</text>", picture)) == 8

    def test_an_attention_over_a_translation_needs_one(self, refused, files, write):
        options = self.options(files, "heads", target=False)
        assert "add --target" in refused("attention", *options, "--attention", "cross")
        gold = ["--gold", files["folder"] / "gold", "--sentence", 3]
        assert "source:3: no words" in refused("attention", *options, *gold)
        other = write("other", format_conllu(["zz"], [0]))
        assert ": give the parses of this very" in refused("attention", *options, "--gold", other)


class TestFiles:
    def test_alignment_of_pieces_is_between_words(self, plot, write):
        args, kwargs, err = plot(
            "alignment", "--source", write("s", "▁x", "▁a b ▁c"),
            "--target", write("t", "x", "y z"),
            "--hypothesis", write("h", "", "0-0 1-1 5-0"), "--gold", write("g", "", "1-1 2?2"),
            "--gold-base", 1, "--sentence", 2, "--title", "a title",
        )  # fmt: skip
        source, target, links, gold = args
        assert (list(source), list(target)) == (["ab", "c"], ["y", "z"])
        assert (0, 0) in links
        assert gold.sure == {(0, 0)}
        assert gold.possible == {(0, 0), (1, 1)}
        assert kwargs == {"title": "a title"}
        assert "--hypothesis: 1 links" in err

    def test_alignments_that_count_from_1(self, plot, write):
        options = "--source", write("s", "a b"), "--target", write("t", "x y"), "--hypothesis"
        *_, err = plot("alignment", *options, write("h", "1-1 2-2"))
        assert "add --hypothesis-base 1" in err
        (_, _, links, *_), _, _ = plot("alignment", *options, write("h", "1-1 2-2"), *(
            "--hypothesis-base", 1))  # fmt: skip
        assert links == {(0, 0), (1, 1)}

    def test_a_base_without_its_file_is_refused(self, refused, write):
        options = "--source", write("s", "a"), "--target", write("t", "x"), "--gold", write("g", "")
        message = refused("alignment", *options, "--hypothesis-base", 1)
        assert "--hypothesis-base does nothing without --hypothesis" in message

    def test_dependencies_with_a_reference(self, plot, write):
        trees = write("t", format_conllu(["a"], [0]) + format_conllu(["b", "c"], [0, 0]))
        gold = write("g", format_conllu(["a"], [0]) + format_conllu(["b", "c"], [1, 1]))
        args, _, _ = plot("dependencies", trees, "--gold", gold, "--sentence", 2)
        assert args[0].heads == (0, 0)
        assert args[1].heads == (1, 1)
        args, _, _ = plot("dependencies", trees, "--no-relations")
        assert args[1:3] == (None, False)

    def test_constituents_with_a_gold_tree(self, plot, write):
        trees = write("t", "(X (W a) (W b))", "()")
        args, _, err = plot("constituents", trees, "--gold", write("g", "(S (N a) (V b))", "()"))
        assert args[0].words == args[1].words == ("a", "b")
        args, _, err = plot("constituents", trees, "--gold", write("g", "()", "()"))
        assert args[1] is None
        assert "nothing is compared" in err

    def test_chunks_beside_gold_ones(self, plot, write):
        words, gold = write("w", "a b", "c"), write("g", "B-NP B-NP", "O")
        hypothesis = write("h", "B-NP I-NP", "O")
        both = ["--hypothesis", hypothesis, "--gold", gold]
        args, _, _ = plot("chunks", "--target", words, *both)
        assert list(args[1]) == ["model", "reference"]
        assert args[2] == "reference"
        args, _, _ = plot("chunks", "--target", words, "--gold", gold, output="p.pdf")
        assert args[2] is None

    def test_attention_of_chunks(self, plot, refused, monkeypatch, write):
        sentence = {
            "source": ["a", "@-@"],
            "chunks": [{"tag": "NP", "words": ["x", "@-@", "y"]}, {"tag": "O", "words": ["."]}],
            "attention": [[0.25, 0.75], [1, 0]],
        }
        empty = {"source": ["a"], "chunks": [], "attention": []}
        path = write("j", json.dumps(empty), json.dumps(sentence), "{")
        monkeypatch.setitem(DRAWN_BY, "chunks", DRAWN_BY["attention"])
        (panels, rows, columns, *_), _, _ = plot("chunks", "--alignments", path, "--sentence", 2)
        assert rows == ["[NP x-y]", "."]
        assert columns == ["a", "-"]
        assert panels[0].weights.tolist() == sentence["attention"]
        assert ":1: the sentence has no chunks" in refused("chunks", "--alignments", path)
        message = refused("chunks", "--alignments", path, "--sentence", 3)
        assert "j:3: is not what" in message

    def test_scores_by_length_of_several_files(self, plot, refused, write):
        first, second = scores({"one": 30.0, "two": None}), scores({"one": 20.0}, spread=1.5)
        paths = [write("1.json", json.dumps(first)), write("2.json", json.dumps(second))]
        (groups, systems, x_label, y_label, *_), _, _ = plot("length", *paths, "--metric", "ter")
        assert [(group.label, group.size) for group in groups] == [("<15", 4), ("≥15", 2)]
        assert list(systems) == ["one", "two", f"one ({paths[1]})"]
        assert systems["two"] == [None, None]
        assert systems["one"][1] == Point(31.0)
        assert systems[f"one ({paths[1]})"][0] == Point(20.0, 18.5, 21.5)
        assert y_label == "TER (lower is better)"
        assert x_label.startswith("length in tokens of test.src\n(bars: standard deviation")
        assert "given twice" in refused("length", *paths, paths[1])
        third = scores({"new": 1.0})
        del third["metrics"]["BLEU"]  # the first file's metric
        assert "--metric BLEU" in refused("length", paths[0], write("3.json", json.dumps(third)))
        other = write("3.json", json.dumps(scores({"one": 1.0}, sentences=5)))
        assert "other lengths or sentences" in refused("length", paths[0], other)
        signed = []
        for place, text in enumerate(("bs:40|seed:1|tok:13a", "tok:13a", "tok:none")):
            signed.append(scores({f"s{place}": 1.0}))
            signed[-1]["metrics"]["BLEU"]["signature"] = text
            signed[-1] = write(f"s{place}.json", json.dumps(signed[-1]))
        assert len(plot("length", *signed[:2])[0][1]) == 2
        message = refused("length", *signed)
        assert f"s2.json: BLEU is tok:none, in {signed[0]} tok:13a: score all systems" in message

    def test_accuracy_by_distance_of_several_models(self, plot, refused, write):
        path = write("1.json", contrasted(accuracies("m", 0, 3), accuracies("n", 3)))
        (groups, models, *_), _, _ = plot("contrast", path)
        assert [(group.label, group.size) for group in groups] == [("0", 10), ("3", 10)]
        assert models["n"] == [None, Point(90.0, 60.0, 98.0)]
        same = write("3.json", contrasted(accuracies("m", 0), accuracies("m", 3)))
        assert list(plot("contrast", same)[0][1]) == ["m", f"m ({same})"]
        more = write(
            "4.json", json.dumps(json.loads(contrasted(accuracies("x", 0))) | {"pairs": 9})
        )
        assert f"4.json: 9 pairs, {path} 10: measure all models on" in refused(
            "contrast", path, more
        )
        none = write("2.json", contrasted(accuracies("m")))
        assert "no accuracy by distance" in refused("contrast", none)

    def test_words_by_bucket_and_their_differences(self, plot, refused, write):
        path = write("1.json", json.dumps(bucket_figures("base", "ours")))
        (groups, systems, about, *_), _, _ = plot("words", path)
        assert groups == [Group("det", 300), Group("case", 200)]
        assert systems["base"] == [Point(50.0, 48.0, 52.0), Point(40.0, 38.0, 42.0)]
        assert systems["ours"] == [Point(51.0, 49.0, 53.0), Point(41.0, 39.0, 43.0)]
        assert about.startswith("F1 of words by deprel (%)\n")
        assert about.endswith("left out: 1 with fewer than 100")
        (_, systems, *_, zero), _, _ = plot("words", path, "--differences", "--words-by", "deprel")
        assert systems == {"ours − base": [Point(1.0, -0.5, 2.5)] * 2}
        assert zero is True
        few = bucket_figures("base", "ours")
        for bucket in few["words_by"][0]["buckets"]:
            for system in bucket["systems"][1:]:
                system["seeds"] = SeedTest.without_p(1, 1).to_json()
        (_, systems, about, *_), _, _ = plot("words", write("f", json.dumps(few)), "--differences")
        assert systems == {"ours − base": [Point(1.0), Point(1.0)]}
        assert "bars" not in about
        assert "\nintervals need a test over seeds, and three of each system\n" in about
        for bucket in few["words_by"][0]["buckets"]:
            for system in bucket["systems"][1:]:
                del system["seeds"]
                system["blocks"] = SeedTest((3,), 0.2, 2, -0.5, 2.5).to_json()
        (_, systems, about, *_), _, _ = plot("words", write("f", json.dumps(few)), "--differences")
        assert systems == {"ours − base": [Point(1.0, -0.5, 2.5)] * 2}
        assert "\nbars: 95 % intervals over seeds\n" in about
        other = write("2.json", json.dumps(bucket_figures("base", "more")))
        (_, systems, *_), _, _ = plot("words", path, other)
        assert list(systems) == ["base", "ours", f"base ({other})", "more"]

    def test_words_by_bucket_that_do_not_go_together(self, refused, write):
        figures = bucket_figures("base", "ours")
        path = write("1.json", json.dumps(figures))
        assert "given twice" in refused("words", path, path, path)
        assert "has deprel" in refused("words", path, "--words-by", "upos")
        single = write("2.json", json.dumps(bucket_figures("base")))
        assert "--differences needs two systems" in refused("words", single, "--differences")
        assert "has no words by bucket" in refused("words", write("3.json", "{}"))
        figures["words_by"][0]["buckets"][0]["words"] = 301
        other = write("4.json", json.dumps(figures))
        assert f"{other}: other buckets or words" in refused("words", path, other)
        for bucket in figures["words_by"][0]["buckets"]:
            bucket["tested"] = False
        none = write("5.json", json.dumps(figures))
        assert "no bucket has enough words" in refused("words", none)

    @pytest.mark.parametrize("kind", ["length", "contrast", "words"])
    @pytest.mark.parametrize(
        "text", ['{"models": [1], "metrics": {"BLEU": 1}, "words_by": [{"by": 1}]}', "[]", "{"]
    )
    def test_json_of_something_else_is_refused(self, refused, write, kind, text):
        path = write("x.json", text)
        assert f"{path}:" in refused(kind, path)

    def test_scores_without_lengths_or_metric_are_refused(self, refused, write):
        figures = scores({"one": 1.0})
        path = write("x.json", json.dumps(figures))
        assert "--metric ribes" in refused("length", path, "--metric", "ribes")
        del figures["by_length"]
        assert "--source" in refused("length", write("x.json", json.dumps(figures)))

    def test_files_that_do_not_go_together_are_refused(self, refused, write):
        one, two = write("one", "a b"), write("two", "a b", "c")
        links = write("links", "0-0")
        pair = ["--source", one, "--target", two]
        assert "parallel" in refused("alignment", *pair, "--hypothesis", links)
        pair[-1] = one
        assert "--hypothesis or --gold" in refused("alignment", *pair)
        assert "--sentence 2" in refused("alignment", *pair, "--gold", links, "--sentence", 2)
        trees = write("t", format_conllu(["a"], [0]) + format_no_parse(["b"]))
        assert f"{trees}: sentence 2" in refused("dependencies", trees, "--sentence", 2)
        other = write("o", format_conllu(["z"], [0]) + format_no_parse(["b"]))
        refused("dependencies", trees, "--gold", other)
        brackets = write("b", "(X (W a) (W b))", "()")
        assert "no tree" in refused("constituents", brackets, "--sentence", 2)
        longer = write("l", "(X (W a) (W b) (W c))", "()")
        assert "3 words" in refused("constituents", brackets, "--gold", longer)
        tags = write("tags", "B-NP")
        assert "1 words" in refused("chunks", "--target", one, "--gold", tags)
        assert "--alignments" in refused("chunks", "--target", one)


def test_other_formats_and_inputs_are_refused_before_anything_is_read(refused, tmp_path):
    missing = tmp_path / "missing"
    assert ".svg, .png or .pdf" in refused("constituents", missing, output="picture.gif")
    assert "missing: cannot be read" in refused("constituents", missing)
    assert "the input as well" in refused("length", tmp_path / "a.svg", output="a.svg")
    (tmp_path / "refused.svg").mkdir()
    assert "it is a folder" in refused("length", missing)


def test_nothing_loads_matplotlib_before_a_picture_is_drawn():
    code = (
        "import sys, argparse, syntax_nmt.commands.plot as plot; "
        "parser = argparse.ArgumentParser(); plot.add_arguments(parser); "
        "parser.parse_args(['length', 'a.json', '--output', 'a.svg']); "
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_libraries_that_draw_are_silent_where_fairseq_turned_messages_on():
    code = (
        "import logging; logging.basicConfig(level=logging.DEBUG); "
        "import syntax_nmt.pictures.report_page.page"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr == ""


def scores(systems, spread=None, sentences=4):
    """What `syntax-nmt score --json` writes."""

    def group(label, size, more):
        values = {
            name: Score(score and score + more, spread, None) for name, score in systems.items()
        }
        return LengthGroup(label, 0, None, size, {"BLEU": values, "TER": values})

    metrics = {"BLEU": MetricDescription("", True, 0), "TER": MetricDescription("", False, 0)}
    groups = [group("<15", sentences, 0), group("≥15", 2, 1)]
    by_length = ScoresByLength("some/folder/test.src", groups)
    return Scores(sentences + 2, ["ref"], metrics, [], by_length).to_json()


def accuracies(name, *distances):
    """A model of what `syntax-nmt contrast --json` writes."""
    figures = vars(AccuracyFigures(90.0, Bounds(60.0, 98.0), 9, 10))
    parts = [DistanceAccuracy(distance=str(x), least=x, most=x, **figures) for x in distances]
    rest = {"ties": 0, "pairs_too_long": 0, "by_distance": parts, "by_category": []}
    return ModelAccuracy(name=name, path="", **figures, **rest)


def contrasted(*models):
    return json.dumps(Contrast(10, 0.95, list(models)).to_json())


def bucket_figures(*systems):
    """The words by bucket that `syntax-nmt compare --words-by deprel --json` writes."""

    def found(place, score, tested):
        shares = {"precision": score, "recall": score, "f1": score, "correct": [], "predicted": []}
        low, mean, high = (score + place + more for more in (-2, 0, 2))
        return BucketScore(
            name=systems[place],
            **shares,
            score=score + place,
            spread=None,
            runs=[],
            difference=float(place) if place else None,
            interval=Interval(mean, low, high, 2.0) if tested else None,
            seeds=SeedTest((3, 3), 0.5, 2.0, -0.5, 2.5) if tested and place else None,
        )

    buckets = [
        Bucket(
            name, words, words >= 100, [found(i, score, words >= 100) for i in range(len(systems))]
        )
        for name, words, score in (("det", 300, 50.0), ("case", 200, 40.0), ("obj", 20, 40.0))
    ]
    table = BucketTable("deprel", "reference", "f1", None, 100, 0, buckets)
    return {"words_by": [table.to_json()]}
