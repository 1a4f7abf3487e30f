"""Scores of given translations: against fairseq's scorer, and whatever the batches."""

import math
import shutil

import pytest
from fairseq.sequence_scorer import SequenceScorer
from forced_models import FAMILIES, checkpoint_of, forced_decoder
from parser_files import PIECES, TARGETS
from parsing_stand_in import parsing
from small_models import build, enlarge, save_checkpoint

from syntax_nmt.errors import UserError
from syntax_nmt.inference.forced_decoding import ForcedDecoder, load_forced_decoder, sentence_scores
from syntax_nmt.inference.settings import ModelFiles
from syntax_nmt.scoring.parallel_text import TokenPair

# The empty sentence, a pair twice, and lengths whose order differs between the sides.
PAIRS = [
    TokenPair(tuple(source.split()), tuple(target.split()))
    for source, target in zip([*PIECES, PIECES[0]], [*TARGETS, TARGETS[0]])
]


@pytest.fixture(scope="module", params=[*FAMILIES, "lstm"])
def decoder(request, parser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("forced")
    return forced_decoder(checkpoint_of(request.param, parser.data, folder), parser.data)


def test_scores_are_those_of_fairseqs_scorer(decoder):
    scorer = SequenceScorer(decoder.task.target_dictionary)
    expected = {}
    for batch in decoder.batches(PAIRS, 4000, batch_size=3):
        for index, hypotheses in zip(batch.indices, scorer.generate([decoder.model], batch.sample)):
            expected[index] = hypotheses[0]["positional_scores"].double().sum().item()
    found = sentence_scores(decoder, PAIRS, 4000)
    assert found == pytest.approx([expected[index] for index in range(len(PAIRS))], abs=1e-4)
    assert len(set(found)) == len(PAIRS) - 1  # no two pairs score alike, but for the equal ones


def test_the_size_of_batches_changes_nothing(decoder):
    expected = sentence_scores(decoder, PAIRS, 4000)
    assert not decoder.model.training
    for limits in ((4000, 1), (4000, 2), (20, None)):
        assert sentence_scores(decoder, PAIRS, *limits) == pytest.approx(expected, abs=1e-4)


def test_batches_stay_within_their_limits(decoder):
    sizes = []
    for batch in decoder.batches(PAIRS, 30):
        rows = batch.sample["net_input"]["src_tokens"].shape
        sizes.append(max(math.prod(rows), batch.sample["target"].numel()))
        assert batch.sources == sorted(batch.sources, reverse=True)
        assert batch.targets == [len(PAIRS[index].target) + 1 for index in batch.indices]
    assert len(sizes) > 2
    assert max(sizes) <= 30


def test_equal_pairs_are_scored_once(decoder, monkeypatch):
    """Other batches round otherwise: only so a tie is a tie to the last bit."""
    asked = []
    batches = decoder.batches
    monkeypatch.setattr(decoder, "batches", lambda *args: asked.append(args[0]) or batches(*args))
    scores = sentence_scores(decoder, [PAIRS[0], PAIRS[1], PAIRS[0]], 4000)
    assert asked == [PAIRS[:2]]
    assert scores[0] == scores[2] != scores[1]


def test_dropout_is_off(decoder):
    other = ForcedDecoder(decoder.model.train(), decoder.task)
    assert not other.model.training


def test_too_long_pairs_have_no_score(parser, tmp_path):
    limits = ["--max-source-positions", "8", "--max-target-positions", "10"]
    model, _, cfg = build(parser.data, "transformer", *limits, task="translation")
    checkpoint = save_checkpoint(tmp_path / "short.pt", model, cfg)
    decoder = forced_decoder(checkpoint, parser.data)
    pieces = ("▁the",)
    lengths = [(7, 9), (8, 1), (1, 10)]
    pairs = [TokenPair(pieces * source, pieces * target) for source, target in lengths]
    scores = sentence_scores(decoder, pairs, 4000)
    assert scores[0] < 0
    assert scores[1:] == [None, None]


READERS = [("phrase_transformer", "--phrase-segmentation=parsed"), ("pascal_transformer",)]


@pytest.mark.parametrize("arguments", READERS)
def test_a_model_that_reads_parses_needs_a_parser(parser, tmp_path, arguments):
    model, _, cfg = build(parser.data, *arguments)
    checkpoint = save_checkpoint(tmp_path / "parsed.pt", model, cfg)
    with pytest.raises(UserError, match=r"parsed.pt: .* give the parser's .* as --parser-config"):
        forced_decoder(checkpoint, parser.data)


@pytest.mark.parametrize("arguments", READERS)
def test_each_sentence_has_its_own_parse(parser, tmp_path, arguments):
    """Also among others of equal length, where a batch has another order than the pairs."""
    sources = ["▁we", "▁we ▁see ▁hou ses", "▁gar den ▁see ▁we", "▁gar den ▁see ▁we ▁."]
    targets = [("▁see",) * length for length in (9, 2, 2, 2)]
    pairs = [TokenPair(tuple(x.split()), target) for x, target in zip(sources, targets)]
    model, _, cfg = build(parser.data, *arguments)
    path = save_checkpoint(tmp_path / "reader.pt", enlarge(model, 2.0), cfg)
    with parsing(tmp_path) as (_, config):
        files = ModelFiles(str(path), str(parser.data), config, "cpu")
        decoder = load_forced_decoder(files)
        alone = [sentence_scores(decoder, [pair], 4000)[0] for pair in pairs]
        for size in (None, 2, 3):
            found = sentence_scores(decoder, pairs, 4000, size)
            assert found == pytest.approx(alone, rel=1e-5)


@pytest.mark.parametrize("family", ["stock", "heads", "lstm"])
def test_a_model_of_another_vocabulary_is_refused(family, parser, tmp_path):
    path = checkpoint_of(family, parser.data, tmp_path)
    other = shutil.copytree(parser.data, tmp_path / "other")
    for file in other.glob("dict.*.txt"):
        file.write_text(file.read_text() + "more 1\n")
    with pytest.raises(UserError, match=f"the model's vocabulary is not that of {other}: give"):
        forced_decoder(path, other)
