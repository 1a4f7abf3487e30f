"""`syntax-nmt align` from end to end, with untrained models and with files alone."""

import json
import shutil
from pathlib import Path

import pytest
from forced_models import checkpoint_of
from parser_files import PIECES, TARGET_WORDS, TARGETS, WORDS
from sentencepiece import SentencePieceTrainer
from small_models import build, save_checkpoint
from translations import row_of, write

from syntax_nmt import load
from syntax_nmt.cli import main
from syntax_nmt.data.prepared_text import prepared_folder
from syntax_nmt.scoring.alignments.alignment import (
    flipped,
    format_alignment,
    read_alignments,
    read_gold,
)
from syntax_nmt.scoring.alignments.alignment_report import score_alignments
from syntax_nmt.scoring.alignments.symmetrisation import symmetrise

COMMAND = "align"  # the fixture that runs it


@pytest.fixture(scope="module")
def checkpoints(parser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("align")
    back = folder / "back"
    back.mkdir()
    found = {name: checkpoint_of(name, parser.data, folder) for name in ("stock", "lstm")}
    found["back"] = checkpoint_of("stock", parser.data, back, "-s", "tgt", "-t", "src")
    return found


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    return {"source": write(folder / "source", PIECES), "target": write(folder / "target", TARGETS)}


@pytest.fixture
def align(parser, checkpoints, text, tmp_path, capsys):
    """Runs the command; gives the alignments that it wrote, and stderr."""

    def run(*arguments, model="stock"):
        command = ["align", "--output", tmp_path / "links"]
        if model:
            command += [parser.data, "--cpu", "--path", checkpoints[model], "--segmented"]
            command += [f"--{name}={path}" for name, path in text.items()]
        main([str(argument) for argument in [*command, *arguments]])
        captured = capsys.readouterr()
        return read_alignments(tmp_path / "links"), captured.err

    return run


@pytest.mark.parametrize("model", ["stock", "lstm"])
def test_each_target_word_has_a_link(align, model):
    alignments, stderr = align(model=model)
    for links, source, target in zip(alignments, WORDS, TARGET_WORDS):
        assert sorted(j for _, j in links) == list(range(len(target) if source else 0))
        assert all(i < len(source) for i, _ in links)
    assert stderr.startswith("7 sentences\n")
    assert row_of(stderr, "forward") == [str(sum(map(len, alignments)))]
    assert len({i for links in alignments for i, _ in links}) > 1
    for arguments in (["--batch-size", 1], ["--max-tokens", 20]):
        assert align(*arguments, model=model)[0] == alignments


def test_both_directions(align, checkpoints, text, tmp_path):
    forward = align()[0]
    turned = ["--source", text["target"], "--target", text["source"]]
    reverse = align("--path", checkpoints["back"], *turned)[0]
    file = write(tmp_path / "reverse", [*map(format_alignment, reverse)])
    in_order = write(tmp_path / "in_order", [*map(format_alignment, map(flipped, reverse))])
    assert reverse != [flipped(links) for links in forward]
    for method in ("grow-diag", "union", "grow-diag-final-and"):
        expected = [
            symmetrise(there, flipped(back), method) for there, back in zip(forward, reverse)
        ]
        options = ["--symmetrise", method]
        assert align("--reverse-path", checkpoints["back"], *options)[0] == expected
        assert align("--reverse", file, *options)[0] == expected
        assert align("--reverse", in_order, "--reverse-in-order", *options)[0] == expected
    default = align("--reverse", file)
    assert row_of(default[1], "grow-diag")
    strict = align("--reverse", file, "--strict")
    assert row_of(strict[1], "grow-diag (strict)")


def test_a_loaded_rnn_of_fairseq_attends(align, parser, checkpoints):
    """fairseq's hub has it leave attention out in a search."""
    model = load(checkpoints["lstm"], parser.data, device="cpu", segmented=True)
    found = [pair and pair.links for pair in model.align(PIECES, TARGETS)]
    assert [links or frozenset() for links in found] == align(model="lstm")[0]


def test_a_prepared_folder_is_found_from_within(parser, prepared, monkeypatch):
    folder = prepared("a", 40)
    monkeypatch.chdir(folder / "data-bin")
    assert prepared_folder(Path(".")) == (folder, folder / "data-bin")
    assert prepared_folder(Path("..")) == (folder, folder / "data-bin")


@pytest.fixture
def prepared(parser, tmp_path):
    """Makes a folder as of `prepare`, with a model of subwords of its own."""

    def make(name, pieces, tokenizer="none"):
        folder = tmp_path / name
        shutil.copytree(parser.data, folder / "data-bin")
        how = {"tokenizer": tokenizer, "sentencepiece_model": "sentencepiece.model"}
        (folder / "segmentation.json").write_text(json.dumps({"src": how, "tgt": how}))
        SentencePieceTrainer.train(
            sentence_iterator=map(" ".join, WORDS * 20),
            model_prefix=str(folder / "sentencepiece"),
            vocab_size=pieces,
            model_type="bpe",
            minloglevel=2,
        )
        return folder

    return make


def test_the_reverse_model_has_text_as_its_own_folder_cuts_it(
    align, checkpoints, prepared, tmp_path
):
    folder, other, tokenised = prepared("a", 40), prepared("b", 24), prepared("c", 40, "moses")
    source, target = (
        write(tmp_path / name, [" ".join(words).replace("gardener", "gardener,") for words in text])
        for name, text in (("source.raw", WORDS), ("target.raw", TARGET_WORDS))
    )

    def links(data, checkpoint, *arguments, turned=False):
        texts = (target, source) if turned else (source, target)
        named = ["--source", texts[0], "--target", texts[1], "--path", checkpoints[checkpoint]]
        return align(data, "--cpu", *named, *arguments, model=None)[0]

    reverse = links(other, "back", turned=True)
    assert reverse != links(folder, "back", turned=True)
    expected = [
        symmetrise(there, flipped(back), "union")
        for there, back in zip(links(folder, "stock"), reverse)
    ]
    both = ["--reverse-path", checkpoints["back"], "--symmetrise", "union", "--reverse-databin"]
    assert links(folder, "stock", *both, other) == expected
    with pytest.raises(SystemExit, match=r"--reverse-databin .*c: makes other words of these"):
        links(folder, "stock", *both, tokenised)


def test_figures(align, checkpoints, tmp_path):
    gold = write(tmp_path / "gold", ["0-0 1-1 2p2", "0-0", "", "0-0 3-3", "0-1", "1-1", "0-0 1-1"])
    figures = tmp_path / "figures.json"
    arguments = ["--reverse-path", checkpoints["back"], "--score", gold, "--json", figures]
    alignments, stderr = align(*arguments)
    score = score_alignments(alignments, read_gold(gold))
    scored = json.loads(figures.read_text())
    assert [entry["name"] for entry in scored["alignments"]] == ["forward", "reverse", "grow-diag"]
    entry = scored["alignments"][2]
    assert entry["aer"] == pytest.approx(score.aer)
    assert (entry["links"], entry["sure"], entry["possible"]) == (score.links, 9, 10)
    assert scored["sentences"] == 7
    shares = [f"{share:.2f}" for share in (score.aer, score.precision, score.recall)]
    assert row_of(stderr, "grow-diag") == [str(score.links), "9", "10", *shares]


def test_files_alone(align, tmp_path):
    forward = write(tmp_path / "forward", ["0-0 1-0 2-2 4-4", "0-0"])
    reverse = write(tmp_path / "reverse", ["0-0 1-0 2-2 2-4", ""])
    gold = write(tmp_path / "gold", ["1-1 1-2 2p1 3?3", "2-2-P 1-1"])
    files = ["--hypothesis", forward, "--score", gold, "--gold-base", 1]
    alignments, stderr = align(*files, model=None)
    assert alignments == read_alignments(forward)
    # 5 links; of 3 sure ones 2 are there, of 6 possible ones 4.
    assert row_of(stderr, "forward") == ["5", "3", "6", "25.00", "80.00", "66.67"]
    alignments, stderr = align(*files, "--reverse", reverse, model=None)
    assert alignments == [{(0, 0), (1, 0), (0, 1), (2, 2)}, set()]
    assert row_of(stderr, "grow-diag") == ["4", "3", "6", "14.29", "100.00", "66.67"]


def test_without_anything_new_nothing_is_printed(tmp_path, capsys):
    forward = write(tmp_path / "forward", ["0-0"])
    main(["align", "--hypothesis", str(forward), "--score", str(forward)])
    captured = capsys.readouterr()
    assert captured.out == ""
    assert row_of(captured.err, "forward")[3] == "0.00"
    main(["align", "--hypothesis", str(forward), "--reverse", str(forward)])
    assert capsys.readouterr().out == "0-0\n"
    main(["align", "--hypothesis", str(forward), "--score", str(forward), "--json", "-"])
    assert json.loads(capsys.readouterr().out)["alignments"][0]["aer"] == 0


def test_nothing_to_count_is_null(tmp_path, capsys):
    empty = write(tmp_path / "empty", [""])
    main(["align", "--hypothesis", str(empty), "--score", str(empty), "--json", "-"])
    captured = capsys.readouterr()
    assert json.loads(captured.out)["alignments"][0]["aer"] is None
    assert row_of(captured.err, "forward")[3:] == ["–"] * 3


def test_oddities_are_reported(align, text, tmp_path):
    forward = write(tmp_path / "forward", ["0-0 9-0", "2-0 0-99", *[""] * 5])
    gold = write(tmp_path / "gold", ["1-1", "1-1 50-1", *[""] * 5])
    words = [f"--{name}={path}" for name, path in text.items()]
    _, stderr = align("--hypothesis", forward, "--score", gold, *words, model=None)
    assert "5 links outside their sentences" in stderr
    first = f"{forward}, sentence 1: source word 10 of 6, target word 1 of 12"
    assert f"the first in {first}" in stderr
    assert "no link has a word 0: if it counts from 1, add --gold-base 1" in stderr
    _, stderr = align("--score", gold, "--gold-base", 1)
    assert "1 links outside their sentences" in stderr
    assert f"the first in {gold}, sentence 2: source word 50" in stderr
    assert "no link has" not in stderr
    naacl = write(tmp_path / "naacl", ["1 2 2 S", "2 2 2 S", "7 0 0"])  # which counts from 1
    _, stderr = align("--score", naacl)
    assert "no link has" not in stderr


def test_errors_are_one_line(refused, parser, checkpoints, text, tmp_path):
    short = write(tmp_path / "short", ["0-0"])
    broken = write(tmp_path / "broken", [*["0-0"] * 6, "0:0"])
    assert "source 7: give parallel files" in refused("--target", short)
    assert "short has 1 lines, " in refused("--reverse", short)
    assert "short has 1 sentences, " in refused("--score", short)
    assert "broken:7: '0:0' is no link" in refused("--score", broken)
    assert "broken:7: '0:0' is no link" in refused("--reverse", broken)
    assert "--layer 7: the decoder has 2 layers" in refused("--layer", 7)
    assert "the model's attention is one" in refused("--layer", 1, model="lstm")
    message = refused("--reverse-path", checkpoints["stock"])
    assert "translates src-tgt" in message
    assert "a model of the other direction" in message
    model, _, cfg = build(parser.data, "pascal_transformer", "-s", "tgt", "-t", "src")
    reads = save_checkpoint(tmp_path / "reads.pt", model, cfg)
    message = refused("--reverse-path", reads)
    assert f"{reads}: the model reads dependency trees" in message
    assert "as --reverse-parser-config" in message
    words = [f"--{name}={path}" for name, path in text.items()]
    assert "has 7 lines" in refused("--hypothesis", short, "--score", short, *words, model=None)


def test_options_that_do_not_go_together(refused, parser, text):
    one = text["source"]
    assert "give DATABIN" in refused(model=None)
    assert "--source does nothing without --target" in refused("--source", one, model=None)
    assert "--path and --hypothesis" in refused("--hypothesis", one, "--path", one, model=None)
    assert "--layer and --hypothesis" in refused("--hypothesis", one, "--layer", 1, model=None)
    assert "without --reverse-path or --reverse: add it" in refused("--symmetrise", "union")
    assert "--strict is about" in refused("--reverse", one, "--symmetrise", "union", "--strict")
    assert "--gold-base does nothing without --score" in refused("--gold-base", 1)
    for option in ("--reverse-databin", "--reverse-parser-config"):
        assert f"{option} does nothing without --reverse-path" in refused(option, parser.data)
    assert "would be lost" in refused("--score", one, "--output", one)
    assert "exclude each other" in refused("--bpe", "sentencepiece")


def test_hypotheses_alone_do_nothing(tmp_path):
    forward = write(tmp_path / "forward", ["0-0"])
    with pytest.raises(SystemExit, match="--hypothesis alone does nothing"):
        main(["align", "--hypothesis", str(forward)])
