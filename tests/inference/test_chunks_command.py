"""`syntax-nmt chunks`, with an untrained model and with files alone."""

import json
import re

import numpy as np
import pytest
import torch
from forced_models import forced_decoder
from nonempty import some
from parser_files import PIECES, TARGET_WORDS, TARGETS, WORDS
from small_models import build, enlarge, open_gate, save_checkpoint
from translations import write

from syntax_nmt.cli import main
from syntax_nmt.data.chunks import Chunk
from syntax_nmt.inference.extraction.chunks import ChunkPredictor, PieceChunks
from syntax_nmt.methods.bi_scale.loss import ChunkObjective
from syntax_nmt.scoring.chunks.chunk_report import chunk_report
from syntax_nmt.scoring.chunks.chunked_corpus import ChunkedCorpus
from syntax_nmt.scoring.parallel_text import TokenPair

TAGS = ("NP", "VP", "O")
# IOB2 over the words of TARGETS; the first and the empty line have no annotation.
GOLD = [
    "",
    "B-VP",
    "B-NP I-NP B-VP B-NP O",
    "B-NP I-NP I-NP",
    "B-NP I-NP B-VP B-NP I-NP O",
    "B-XP",
    "",
]


COMMAND = "chunks"  # the fixture that runs it


@pytest.fixture(scope="module")
def checkpoint(parser, tmp_path_factory):
    arguments = ["--chunk-tags", " ".join(TAGS)]
    model, _, cfg = build(parser.data, "bi_scale_rnn", *arguments)
    path = tmp_path_factory.mktemp("chunks") / "model.pt"
    return save_checkpoint(path, open_gate(enlarge(model)), cfg)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    lines = {"source": PIECES, "target": TARGETS, "gold": GOLD}
    lines["words"] = [" ".join(words) for words in TARGET_WORDS]
    for name, text in lines.items():
        write(folder / name, text)
    return folder


@pytest.fixture
def chunks(parser, checkpoint, files, capsys):
    """Runs the command; gives stdout and stderr."""

    def run(*arguments, model=True, path=None):
        command = ["chunks"]
        if model:
            command += [parser.data, "--cpu", "--path", path or checkpoint, "--segmented"]
            command += ["--source", files / "source", "--target", files / "target"]
        main([str(argument) for argument in [*command, *arguments]])
        captured = capsys.readouterr()
        return captured.out, captured.err

    return run


def test_pieces_to_words():
    # Words of 2, 1, 1 and 3 pieces; a chunk that opens within a word opens none.
    pieces = PieceChunks(
        np.array([2, 1, 0, 1, 3, 0, 1]), np.arange(21).reshape(7, 3) / 1.0, np.zeros(7)
    )
    found = pieces.of_words([2, 1, 1, 3], TAGS)
    assert found == (Chunk("VP", 0, 2), Chunk("NP", 2, 3), Chunk("O", 3, 4))
    matrix = pieces.alignment(found, [1, 2], [2, 1, 1, 3])
    expected = [[3, 9], [9, 21], [15, 33]]  # mean over the pieces of a chunk, sums over sources
    np.testing.assert_allclose(matrix, expected)
    assert PieceChunks(np.zeros(0), np.zeros((0, 3)), np.zeros(0)).of_words([], TAGS) == ()


@pytest.mark.parametrize("scored", [True, False], ids=["reference", "own chunks"])
def test_losses_by_position(parser, checkpoint, chunks, files, tmp_path, scored):
    """Piece by piece under the model's own boundaries, by the place in a gold or in its chunk."""
    gold = ["--score", files / "gold"] if scored else []
    chunks("--json", tmp_path / "figures", "--output", tmp_path / "out", *gold)
    figures = json.loads((tmp_path / "figures").read_text())["nll_by_position"]
    decoder = forced_decoder(checkpoint, parser.data)
    dictionary, losses = decoder.task.target_dictionary, {}
    for number, (source, target) in enumerate(zip(PIECES, TARGETS)):
        if scored and not GOLD[number]:
            continue
        tokens = dictionary.encode_line(source, add_if_not_exist=False).long()[None]
        ids = dictionary.encode_line(target, add_if_not_exist=False).long()
        before = torch.cat([torch.tensor([2]), ids[:-1]])[None]
        with torch.no_grad():
            logits, extra = decoder.model(tokens, torch.tensor([tokens.size(1)]), before)
        nll = -logits[0].log_softmax(-1).gather(1, ids[:, None]).squeeze(1)
        tags, place = iter(GOLD[number].split()), 0
        for index, piece in enumerate(target.split()):
            opens = bool(extra["opened"][0][0, index])
            if scored:
                opens = piece.startswith("▁") and next(tags)[0] in "BO"
            place = 1 if opens else place + 1
            losses.setdefault(min(place, 5), []).append(float(nll[index]))
    assert [figure["position"] for figure in figures] == sorted(losses)
    for figure in figures:
        of_place = losses[figure["position"]]
        assert figure["pieces"] == len(of_place)
        assert figure["nll"] == pytest.approx(sum(of_place) / len(of_place), abs=1e-4)


def test_the_models_own_choice(parser, checkpoint, chunks):
    """The same as one pair after the other, token by token, out of the decoder's search."""
    stdout, stderr = chunks()
    lines = stdout.splitlines()
    assert [len(line.split()) for line in lines] == [len(words) for words in TARGET_WORDS]
    assert stderr.startswith("7 sentences, ")
    decoder = forced_decoder(checkpoint, parser.data)
    model, dictionary = decoder.model, decoder.task.target_dictionary
    opened_any = set()
    for source, target, line in zip(PIECES, TARGETS, lines):
        tokens = dictionary.encode_line(source, add_if_not_exist=False).long()[None]
        ids = dictionary.encode_line(target, add_if_not_exist=False).long()
        state, opened = {}, []
        with torch.no_grad():
            encoder_out = model.encoder(tokens)
            for step in range(len(ids) - 1):
                before = torch.cat([torch.tensor([2]), ids[:step]])[None]
                _, extra = model.decoder(before, encoder_out, incremental_state=state)
                opened.append(bool(extra["opened"][0]))
        firsts = [o for o, piece in zip(opened, target.split()) if piece.startswith("▁")]
        opened_any |= set(firsts[1:])
        for tag, first in zip(line.split(), firsts):
            assert first or tag[0] in "IO"
            assert tag == "O" or first == tag.startswith("B-")
    assert opened_any == {True, False}


def test_accuracies_are_those_of_training(parser, checkpoint, chunks, files):
    """Over known types; by the objective that logs them."""
    figures = json.loads(chunks("--score", files / "gold", "--json", "-")[0])
    assert figures["sentences_scored"] == 5
    decoder = forced_decoder(checkpoint, parser.data)
    pairs = [TokenPair(tuple(x.split()), tuple(y.split())) for x, y in zip(PIECES, TARGETS)]
    predictor = ChunkPredictor(decoder, 4000, 1)
    totals = np.zeros(4)
    for index in (1, 2, 3, 4, 5):
        gold, ids = iter(GOLD[index].split()), dict(zip(TAGS, (1, 2, 3)))
        tags = []
        for piece in pairs[index].target:
            tag = next(gold) if piece.startswith("▁") else "I-"
            tags.append(0 if tag.startswith("I-") else ids.get(tag.removeprefix("B-"), 5))
        (batch,) = decoder.batches([pairs[index]], 4000)
        known = torch.tensor([[*(tag if tag < 5 else 4 for tag in tags), 4]])
        _, extra = decoder.forward(batch, chunk_tags=known)
        with torch.no_grad():
            _, logs = ChunkObjective(1, 1)(extra, {"chunk_tags": known})
        counted = [float(logs[k]) for k in ("boundaries", "boundaries_right", "tags")]
        right = float(logs["tags_right"])
        if 5 in tags:  # an unknown type: here the end of the sentence stood for it
            right -= float(extra["tag_logits"][0][0, 0].argmax() == 3)
        totals += [*counted, right]
        found = predictor.accuracies([pairs[index]], {0: np.array(tags)})
        assert [n for each in found for n in (each.total, each.correct)] == [*counted, right]
    names = ("boundary_total", "boundary_correct", "tag_total", "tag_correct")
    assert [figures[name] for name in names] == totals.tolist()
    assert figures["boundary_accuracy"] == pytest.approx(100 * totals[1] / totals[0])


def test_alignments(chunks, tmp_path):
    path = tmp_path / "alignments"
    stdout, _ = chunks("--alignments", path, "--format", "brackets")
    for line, source, target, text in some(
        zip(path.read_text(encoding="utf-8").splitlines(), WORDS, TARGET_WORDS, stdout.split("\n"))
    ):
        sentence = json.loads(line)
        assert sentence["source"] == source
        assert [word for chunk in sentence["chunks"] for word in chunk["words"]] == target
        assert len(sentence["attention"]) == len(sentence["chunks"])
        assert all(len(row) == len(source) for row in sentence["attention"])
        for chunk in sentence["chunks"]:
            if chunk["tag"] != "O":
                assert f"[{chunk['tag']} {' '.join(chunk['words'])}]" in text


def test_files_alone(chunks, files, tmp_path):
    # For B-NP I-NP B-VP B-NP O.
    hypothesis = write(tmp_path / "found", [*GOLD[:2], "B-NP B-NP B-VP I-VP O", *GOLD[3:]])
    arguments = ("--hypothesis", hypothesis, "--score", files / "gold")
    stdout, stderr = chunks(*arguments, "--json", "-", model=False)
    figures = json.loads(stdout)
    assert figures["chunks"] == 9  # words outside do not count
    # Words but the first of 1, 5, 3, 6 and 1 words; two boundaries are wrong.
    assert (figures["boundary_total"], figures["boundary_correct"]) == (11, 9)
    # Gold chunks: 1, 4, 1, 4 and 1; only the second NP of the third line is in a VP.
    assert (figures["tag_total"], figures["tag_correct"]) == (11, 10)
    noun = figures["types"]["NP"]
    assert (noun["correct"], noun["predicted"], noun["gold"]) == (3, 5, 5)
    assert re.search(r"boundary accuracy +81\.82 +9 +11\n", stderr)
    assert re.search(r"tag accuracy +90\.91 +10 +11\n", stderr)
    text, _ = chunks(
        *("--hypothesis", hypothesis, "--target", files / "words", "--format", "brackets"),
        model=False,
    )
    assert text.splitlines()[2] == "[NP old] [NP houses] [VP see we] ."


def test_what_the_hypothesis_lacks_is_not_found(chunks, files, tmp_path):
    """As `trees` counts it; the command writes empty lines for sentences that are too long."""
    hypothesis = write(tmp_path / "other_half", ["" if line else "B-NP" for line in GOLD])
    arguments = ("--hypothesis", hypothesis, "--score", files / "gold", "--json", "-")
    stdout, stderr = chunks(*arguments, model=False)
    figures = json.loads(stdout)
    counts = [figures[f"sentences_{name}"] for name in ("scored", "without_gold", "without_chunks")]
    assert counts == [5, 2, 5]
    assert (figures["f1"], figures["correct"], figures["predicted"]) == (0, 0, 0)
    assert figures["gold"] == sum(line.count("B-") for line in GOLD)
    assert figures["tag_total"] == sum(len(line.split()) - line.count("I-") for line in GOLD)
    assert "5 without chunks: those of the reference count as not found\n" in stderr


def test_words_outside_are_no_chunks():
    """Whether the model groups them or a file, which cannot, the number of chunks is the same."""
    for outside in ((Chunk("O", 0, 2),), (Chunk("O", 0, 1), Chunk("O", 1, 2))):
        found, said = chunk_report(ChunkedCorpus("text", [(*outside, Chunk("NP", 2, 3)), None]))
        assert found.chunks == 1
        assert said.text() == "2 sentences, 1 chunks\n"


def test_alignments_are_made_on_demand(chunks, monkeypatch):
    def refuse(*_):
        raise AssertionError("nobody asked for alignments")

    monkeypatch.setattr(PieceChunks, "alignment", refuse)
    chunks()


def test_refused(parser, refused, files, tmp_path):
    assert "give DATABIN" in refused(model=False)
    gold = ("--hypothesis", files / "gold")
    assert "--hypothesis alone does nothing" in refused(*gold, model=False)
    assert "add --target" in refused(*gold, "--format", "brackets", model=False)
    assert "--path and --hypothesis" in refused(*gold, "--path", "x", model=False)
    for option in (["--segmented"], ["--bpe", "fastbpe"], ["--parser-config", "x"]):
        assert "and --hypothesis exclude each other" in refused(*gold, *option, model=False)
    assert "cannot take two outputs" in refused("--json", "-", "--alignments", "-")
    short = write(tmp_path / "short", ["B-NP"])
    assert "short has 1 sentences" in refused("--score", short)
    other = write(tmp_path / "other", ["B-NP", *GOLD[1:]])
    assert "other:1: 1 words" in refused("--score", other)
    assert "no sentence is annotated" in refused("--score", write(tmp_path / "empty", [""] * 7))
    assert "chooses no chunks" in refused(path=parser.checkpoint)


def test_a_model_without_tags_is_refused(parser, refused, tmp_path):
    model, _, cfg = build(parser.data, "bi_scale_rnn")
    path = save_checkpoint(tmp_path / "none.pt", model, cfg)
    assert "knows no types of chunks" in refused(path=path)
