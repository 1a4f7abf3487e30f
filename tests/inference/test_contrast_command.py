"""`syntax-nmt contrast` from end to end, with untrained models."""

import json
import math

import pytest
import sentencepiece
from forced_models import checkpoint_of
from parser_files import PIECES, WORDS
from translations import write

from syntax_nmt.cli import main
from syntax_nmt.data.prepared_text import TextSegmentation, write_segmentation
from syntax_nmt.scoring.words.bits import read_bits

SOURCE = [" ".join(words) for words in WORDS]
CORRECT = [*SOURCE[1:], SOURCE[0]]
INCORRECT = [f"{line} houses" for line in CORRECT]
INCORRECT[2] = "houses"
DISTANCES = ["0", "1", "4", "", "12", "5", "1"]


COMMAND = "contrast"  # the fixture that runs it


@pytest.fixture(scope="module")
def checkpoints(parser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("contrast")
    return {name: checkpoint_of(name, parser.data, folder) for name in ("stock", "lstm")}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The pairs as words and as pieces, as JSON, and a model of sentencepiece."""
    folder = tmp_path_factory.mktemp("pairs")
    model = folder / "pieces"
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SOURCE * 20), model_prefix=str(model), vocab_size=40,
        hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    cutter = sentencepiece.SentencePieceProcessor(model_file=f"{model}.model")
    columns = {"source": SOURCE, "correct": CORRECT, "incorrect": INCORRECT}
    paths = {"model": folder / "pieces.model", "distance": write(folder / "distance", DISTANCES)}
    for name, lines in columns.items():
        cut = [" ".join(cutter.encode(line, out_type=str)) for line in lines]
        for kind, text in ((name, lines), (f"{name}.pieces", cut)):
            paths[kind] = write(folder / kind, text)
    sentences = [
        {"source": source, "reference": correct, "errors": [
            {"type": "long" if len(wrong) > 30 else "short", "contrastive": wrong}
        ] * 2}
        for source, correct, wrong in zip(SOURCE, CORRECT, INCORRECT)
    ]  # fmt: skip
    paths["json"] = folder / "pairs.json"
    paths["json"].write_text(json.dumps(sentences), encoding="utf-8")
    return paths


@pytest.fixture
def contrast(parser, checkpoints, files, tmp_path, capsys):
    """Runs the command; gives the table, the figures and the rows of each pair."""

    def run(*arguments, kind=".pieces", model="stock", distance=True, data=parser.data):
        command = ["contrast", data, "--cpu", "--path", checkpoints[model]]
        if kind is not None:
            for name in ("source", "correct", "incorrect"):
                command += [f"--{name}", files[f"{name}{kind}"]]
            command += ["--distance", files["distance"]] if distance else []
            command += ["--segmented"] if kind else []
        outputs = tmp_path / "pairs.tsv", tmp_path / "figures.json"
        command += ["--output", outputs[0], "--json", outputs[1], *arguments]
        main([str(argument) for argument in command])
        rows = [line.split("\t") for line in outputs[0].read_text().splitlines()]
        assert rows[0] == [
            "model", "pair", "category", "distance", "correct", "incorrect", "right"
        ]  # fmt: skip
        return capsys.readouterr().out, json.loads(outputs[1].read_text()), rows[1:]

    return run


def test_figures_are_those_of_the_pairs(contrast):
    table, figures, rows = contrast("--bins", "0,1,4", "--name", "tiny")
    right = [int(float(row[4]) > float(row[5])) for row in rows]
    assert [int(row[6]) for row in rows] == right
    assert 0 < sum(right) < len(right)
    (model,) = figures["models"]
    assert (model["name"], model["correct"], model["total"]) == ("tiny", sum(right), 7)
    assert model["accuracy"] == pytest.approx(100 * sum(right) / 7)
    by_distance = {
        part["distance"]: (part["correct"], part["total"]) for part in model["by_distance"]
    }
    assert by_distance == {
        "0": (right[0], 1),
        "1–3": (right[1] + right[6], 2),
        "≥4": (right[2] + right[4] + right[5], 3),
    }
    assert [row[3] for row in rows] == DISTANCES
    low, high = model["interval"].values()
    expected = f"{model['accuracy']:.1f} [{low:.1f}, {high:.1f}] {sum(right)}/7"
    assert table.splitlines()[2].split("  ", 1)[1].strip() == expected
    assert "a tie is wrong" in table


@pytest.mark.parametrize("model", ["stock", "lstm"])
def test_bits_of_words_add_up_to_the_scores_of_pairs(
    contrast, parser, checkpoints, files, tmp_path, model
):
    """`syntax-nmt likelihood` and `contrast` read the same probabilities."""
    text = ["--source", files["source.pieces"], "--reference", files["correct.pieces"]]
    command = [parser.data, "--path", checkpoints[model], "--cpu", "--segmented", *text]
    outputs = ["--output", tmp_path / "bits", "--json", tmp_path / "likelihood.json"]
    main(["likelihood", *map(str, [*command, *outputs])])
    found = read_bits(str(tmp_path / "bits"))
    assert [[word for word, _ in sentence] for sentence in found] == [
        [*line.split(), "</s>"] for line in CORRECT
    ]
    sums = [-sum(bits for _, bits in sentence) * math.log(2) for sentence in found]
    rows = contrast(model=model)[2]
    assert sums == pytest.approx([float(row[4]) for row in rows], abs=1e-4)
    figures = json.loads((tmp_path / "likelihood.json").read_text())
    words = sum(len(line.split()) for line in CORRECT)
    assert (figures["sentences"], figures["words"]) == (len(CORRECT), words)
    mean = -sum(sums) / math.log(2) / (words + len(CORRECT))
    assert figures["perplexity"] == pytest.approx(2**mean, rel=1e-4)


def test_raw_text_is_segmented_as_the_files_were(contrast, files):
    expected = scores(contrast()[2])
    subwords = ["--bpe", "sentencepiece", "--sentencepiece-model", files["model"]]
    assert scores(contrast(*subwords, kind="")[2]) == pytest.approx(expected, abs=1e-4)
    moses = ["--tokenizer", "moses"]
    assert scores(contrast(*subwords, *moses, kind="")[2]) == pytest.approx(expected, abs=1e-4)


def test_raw_text_is_segmented_as_prepared(contrast, parser, files, tmp_path):
    raw = write(tmp_path / "raw", [line.replace(" .", ".") for line in CORRECT])
    (tmp_path / "data-bin").symlink_to(parser.data)
    model = tmp_path / "sentencepiece.model"
    model.symlink_to(files["model"])

    def scored(target: str):
        modes = {"src": "none", "tgt": target}
        languages = {lang: TextSegmentation(mode, model) for lang, mode in modes.items()}
        write_segmentation(tmp_path, languages)
        rows = contrast("--correct", raw, kind="", data=tmp_path / "data-bin")[2]
        return [row[4] for row in rows]

    expected = [row[4] for row in contrast()[2]]
    assert scored("char") == expected  # leaves words of Latin letters whole
    assert scored("none") != expected


def test_what_looks_like_another_text_is_said(parser, checkpoints, files, capsys):
    """The figures come out all the same, with a word about the option that is likely meant."""

    def said(kind: str, *options) -> str:
        command = ["contrast", parser.data, "--cpu", "--path", checkpoints["stock"], *options]
        for name in ("source", "correct", "incorrect"):
            command += [f"--{name}", files[f"{name}{kind}"]]
        main([*map(str, command)])
        return capsys.readouterr().err

    subwords = ["--bpe", "sentencepiece", "--sentencepiece-model", files["model"]]
    assert "note:" not in said(".pieces", "--segmented")
    assert "note:" not in said("", *subwords)
    assert said("", "--segmented").count("sentencepiece, as the model's vocabulary is: leave") == 2
    assert said(".pieces", *subwords).count("which were cut again: add --segmented") == 2


def test_models_side_by_side(contrast, checkpoints):
    table, figures, rows = contrast("--path", checkpoints["lstm"], "--name", "a", "--name", "b")
    alone = contrast(model="lstm")
    assert [model["name"] for model in figures["models"]] == ["a", "b"]
    assert [row[1:] for row in rows[7:]] == [row[1:] for row in alone[2]]
    assert figures["models"][1]["by_distance"] == alone[1]["models"][0]["by_distance"]
    assert table.splitlines()[0].split() == ["pairs", "a", "b"]


def test_json_of_lingeval(contrast, files):
    cut = ["--bpe", "sentencepiece", "--sentencepiece-model", files["model"]]
    parallel = scores(contrast()[2])
    _, figures, rows = contrast("--pairs", files["json"], *cut, kind=None)
    assert scores(rows)[::4] == pytest.approx(parallel[::2], abs=1e-4)
    assert len(rows) == 14
    categories = {part["category"]: part["total"] for part in figures["models"][0]["by_category"]}
    assert sum(categories.values()) == 14
    assert set(categories) == {"long", "short"}
    assert figures["models"][0]["by_distance"] == []


def test_categories_out_of_files_disturb_nothing(contrast, files, tmp_path):
    """Neither a terminal nor a spreadsheet."""
    text = files["json"].read_text().replace('"long"', '"=1+1\\u001b[2J"')
    assert "=1+1" in text
    pairs = write(tmp_path / "odd.json", text.splitlines())
    cut = ["--bpe", "sentencepiece", "--sentencepiece-model", files["model"]]
    table, _, rows = contrast("--pairs", pairs, *cut, kind=None)
    assert "\x1b" not in table
    assert "=1+1\ufffd[2J" in table
    assert {row[2] for row in rows} == {"'=1+1\ufffd[2J", "short"}


def test_unknown_pieces_make_ties(contrast, tmp_path):
    rare, odd = (
        write(tmp_path / word, [f"{line} ▁{word}" for line in PIECES]) for word in ("zebra", "gnu")
    )
    table, figures, _ = contrast("--correct", rare, "--incorrect", odd, "--batch-size", 1)
    assert (figures["models"][0]["ties"], figures["models"][0]["correct"]) == (7, 0)
    assert "7 ties" in table


def test_errors_are_one_line(refused, files, parser, tmp_path):
    short, broken = write(tmp_path / "short", ["a"]), write(tmp_path / "broken.json", ["["])
    assert "short has 1 lines" in refused("--incorrect", short)
    assert "short has 1 lines" in refused("--distance", short)
    assert "is not JSON" in refused("--pairs", broken, "--segmented", kind=None)
    assert "no such checkpoint" in refused("--path", tmp_path / "none.pt")
    again = ("--path", tmp_path / "none.pt", "--name", "m", "--name", "m")
    assert "two models of one name" in refused(*again)
    cut = ["--bpe", "sentencepiece", "--sentencepiece-model"]
    assert "no such file" in refused(*cut, tmp_path / "none", kind="")
    assert "the text cannot be segmented" in refused(*cut, short, kind="")
    write(short, [])
    arguments = [f"--{name}={short}" for name in ("source", "correct", "incorrect", "distance")]
    assert "has no pairs" in refused(*arguments)


def test_options_that_do_not_go_together(refused, files):
    assert "--source and --pairs exclude each other" in refused("--pairs", files["json"])
    assert "--source and --correct and --incorrect missing" in refused("--segmented", kind=None)
    assert "2 --name for 1 --path" in refused("--name", "a", "--name", "b")
    assert "did not make it, so how text is segmented" in refused(kind="")
    assert "--bpe and --segmented exclude each other" in refused("--bpe", "sentencepiece")
    assert "add --sentencepiece-model" in refused("--bpe", "sentencepiece", kind="")
    assert "without --bpe" in refused("--sentencepiece-model", files["model"])


def test_bins_must_rise(contrast, capsys):
    for value in ("0,3,2", "0,,1", "a"):
        with pytest.raises(SystemExit):
            contrast("--bins", value)
        assert "--bins" in capsys.readouterr().err


def scores(rows):
    """Both scores of each pair, in order."""
    found = [float(value) for row in rows for value in row[4:6]]
    assert all(math.isfinite(value) and value < 0 for value in found)
    return found
