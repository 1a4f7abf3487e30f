"""Phrases parsed during translation are those that binarize writes, on real text."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
import shutil
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import phrase_reader
import pytest
import sentencepiece
import torch
from commands import refuse, succeed
from fairseq import options, tasks
from fairseq_cli import preprocess
from fairseq_cli.interactive import make_batches
from phrase_loops import ngrams
from small_models import build, save_checkpoint

from syntax_nmt.data.sides import PHRASES
from syntax_nmt.parsing.config import ParserConfig
from syntax_nmt.parsing.models import find_models
from syntax_nmt.preparation.annotation.annotate import annotate_file
from syntax_nmt.preparation.annotation.annotator import StanzaAnnotator
from syntax_nmt.preparation.binarizing import binarize
from syntax_nmt.task.word_tokenizer import WordTokenizer

SENTENCES = 200
EMPTY = 3  # this line is
MAX_WORDS = 22  # some captions are longer
UNPARSED_AT_LEAST = 5
READER = SimpleNamespace(reads_sides=(PHRASES,))
RETURNS_THE_BATCH = SimpleNamespace(generate=lambda models, sample, **_: sample)


@dataclass(frozen=True)
class Corpus:
    """Multi30k captions in words, and in pieces that a cut vocabulary lacks some of.

    Attributes:
        words: tokenised text.
        model: sentencepiece.
        data: data-bin folder with phrases and parser.json; its vocabulary has every piece.
        cut: another one, whose vocabulary has only the most frequent pieces.
    """

    words: Path
    model: Path
    data: Path
    cut: Path


@pytest.fixture(scope="module")
def corpus(shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("captions")
    for name in ("words", "pieces"):
        (folder / name).mkdir()
    words, pieces = folder / "words" / "test.src", folder / "pieces" / "test.src"
    with gzip.open(shared / "data/multi30k/test_2016_flickr.en.gz", "rt", encoding="utf-8") as raw:
        lines = WordTokenizer("penn", "en").tokenize_lines(islice(raw, SENTENCES))
    lines[EMPTY] = ""
    words.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    model = folder / "sentencepiece.model"
    sentencepiece.SentencePieceTrainer.train(
        **{"input": str(words), "model_prefix": str(model.with_suffix(""))},
        **{"vocab_size": 700, "model_type": "bpe", "minloglevel": 2},
        **{"character_coverage": 1.0, "normalization_rule_name": "identity"},
    )
    pieces.write_text("".join(f"{line}\n" for line in map(cut(model), lines)), encoding="utf-8")
    for text in (words, pieces):
        shutil.copy(text, text.with_suffix(".tgt"))
    models = find_models("constituents", "en", shared / "models" / "en")
    annotator = StanzaAnnotator(models, max_words=MAX_WORDS)
    annotate_file(words, Path(f"{words}.trees"), annotator)
    made = Corpus(words, model, folder / "data-bin", folder / "cut-bin")
    for data, extra in ((made.data, []), (made.cut, ["--nwordssrc", "240"])):
        prefix = str(pieces.with_suffix(""))
        command = ["-s", "src", "-t", "tgt", "--trainpref", prefix, "--testpref", prefix]
        command += ["--destdir", str(data), *extra]
        with contextlib.redirect_stdout(io.StringIO()):
            preprocess.main(options.get_preprocessing_parser().parse_args(command))
            binarize("src", "tgt", data, testpref=prefix, words=words.parent)
        config = ParserConfig.of(models, "sentencepiece", max_words=MAX_WORDS)
        config.write(data / "parser.json")
    return made


def cut(model):
    """What cuts a line into pieces."""
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(model))
    return lambda line: " ".join(pieces.encode(line, out_type=str))


def make_task(data, *arguments):
    """The task and its test set."""
    command = [str(data), "--task", "syntax_translation", "-s", "src", "-t", "tgt"]
    args = options.parse_args_and_arch(
        options.get_generation_parser(default_task="syntax_translation"),
        [*command, *arguments],
    )
    task = tasks.setup_task(args)
    task.load_dataset("test")
    return task


def of_side_file(data):
    """Phrases of each sentence as training reads them."""
    dataset = make_task(data, "--load-phrases").dataset("test")
    sample = dataset.collater([dataset[index] for index in range(len(dataset))])
    return by_sentence(sample["id"], sample["phrase_lengths"])


def by_sentence(ids, lengths):
    assert lengths.dtype == torch.int32
    rows = [[length for length in row if length] for row in lengths.tolist()]
    return dict(zip(torch.as_tensor(ids).tolist(), rows))


def read_by_a_model(task, batches):
    """Phrases of each sentence as a model gets them during translation."""
    found = {}
    for sample in batches:
        filled = task.inference_step(RETURNS_THE_BATCH, [READER], sample)
        found.update(by_sentence(sample["id"], filled["net_input"]["phrase_lengths"]))
    return found


def batches_of(task, batch_size):
    iterator = task.get_batch_iterator(task.dataset("test"), max_sentences=batch_size)
    return iterator.next_epoch_itr(shuffle=False)


def typed(task, corpus, batch_size):
    """Batches as fairseq-interactive makes them of the words."""
    cfg = SimpleNamespace(
        generation=SimpleNamespace(constraints=None),
        dataset=SimpleNamespace(
            max_tokens=None, batch_size=batch_size, skip_invalid_size_inputs_valid_test=False
        ),
    )
    lines = corpus.words.read_text(encoding="utf-8").splitlines()
    for made in make_batches(lines, cfg, task, (1024, 1024), cut(corpus.model)):
        inputs = {"src_tokens": made.src_tokens, "src_lengths": made.src_lengths}
        yield {"id": made.ids, "net_input": inputs}


@pytest.mark.parametrize(("batch_size", "batches"), [(1, 12), (7, 5), (64, None)])
def test_generate_parses_what_binarize_wrote(corpus, batch_size, batches):
    task = make_task(corpus.data, "--parser-config", str(corpus.data / "parser.json"))
    wanted = of_side_file(corpus.data)
    found = read_by_a_model(task, islice(batches_of(task, batch_size), batches))
    assert len(found) == (SENTENCES if batches is None else batch_size * batches)
    assert found == {sentence: wanted[sentence] for sentence in found}


def test_the_captions_test_what_they_should(corpus):
    """Parsed phrases are not n-grams; some sentences are too long, one is empty."""
    dataset = make_task(corpus.data).dataset("test")
    wanted = of_side_file(corpus.data)
    unparsed = [i for i in wanted if wanted[i] == ngrams(int(dataset.src_sizes[i]))]
    assert EMPTY in unparsed
    assert UNPARSED_AT_LEAST < len(unparsed) < SENTENCES // 4


def test_interactive_parses_unknown_pieces_as_the_words_they_are(corpus):
    """With a vocabulary that lacks pieces of most sentences, phrases are still binarize's."""
    task = make_task(corpus.cut, "--parser-config", str(corpus.cut / "parser.json"))
    unknown = task.source_dictionary.unk()
    assert sum(unknown in tokens.tolist() for tokens in task.dataset("test").src) > SENTENCES // 2
    assert read_by_a_model(task, typed(task, corpus, 64)) == of_side_file(corpus.cut)


def test_generate_with_unknown_pieces(corpus):
    """Words are unsure there; lengths add up, and sentences without unknown pieces are right."""
    task = make_task(corpus.cut, "--parser-config", str(corpus.cut / "parser.json"))
    dataset, wanted = task.dataset("test"), of_side_file(corpus.cut)
    found = read_by_a_model(task, batches_of(task, 64))
    assert all(sum(found[i]) == int(dataset.src_sizes[i]) for i in range(SENTENCES))
    unknown = task.source_dictionary.unk()
    sure = [i for i in range(SENTENCES) if unknown not in dataset.src[i].tolist()]
    assert len(sure) > 10
    assert all(found[i] == wanted[i] for i in sure)
    assert sum(found[i] == wanted[i] for i in range(SENTENCES)) > len(sure)


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_no_sentence_depends_on_its_companions(corpus, batch_size):
    """Every sentence, in other company than binarize's parser had, and in any order."""
    task = make_task(corpus.data, "--parser-config", str(corpus.data / "parser.json"))
    dataset, order = task.dataset("test"), list(range(SENTENCES))
    random.Random(batch_size).shuffle(order)
    groups = [order[start : start + batch_size] for start in range(0, SENTENCES, batch_size)]
    batches = (dataset.collater([dataset[i] for i in group]) for group in groups)
    assert read_by_a_model(task, batches) == of_side_file(corpus.data)


@pytest.fixture(scope="module")
def reader(corpus, tmp_path_factory):
    """A checkpoint, untrained, of the model that writes down what it reads."""
    path = tmp_path_factory.mktemp("reader") / "checkpoint.pt"
    model, _, cfg = build(corpus.data, "phrase_reader")
    return save_checkpoint(path, model, cfg)


def program(name, data, checkpoint, *arguments):
    plugin = ("--user-dir", Path(phrase_reader.__file__).parent, "--task", "syntax_translation")
    beam = ("--beam", "1", "--max-len-b", "1", "-s", "src", "-t", "tgt")
    path = ("--path", checkpoint, "--cpu")
    return (f"fairseq_cli.{name}", data, *plugin, *path, *beam, *arguments)


def what_was_read(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return sorted(json.loads(line) for line in lines)


@pytest.mark.slow
def test_fairseqs_own_programs(corpus, reader, tmp_path, monkeypatch):
    """Parsing in generate, typed text in interactive and side files: the model reads the same."""
    seen = {}
    parsing = ("--parser-config", corpus.data / "parser.json")
    typing = ("--bpe", "sentencepiece", "--sentencepiece-model", corpus.model)
    typing += ("--buffer-size", "50", "--batch-size", "7")
    commands = {
        "side files": program("generate", corpus.data, reader, "--load-phrases"),
        "generate": program("generate", corpus.data, reader, *parsing, "--batch-size", "16"),
        "scores": program("generate", corpus.data, reader, *parsing, "--score-reference"),
        "interactive": program("interactive", corpus.data, reader, *parsing, *typing),
    }
    typed_text = corpus.words.read_text(encoding="utf-8")
    for name, command in commands.items():
        path = tmp_path / name.replace(" ", "_")
        monkeypatch.setenv("PHRASES_READ", str(path))
        done = succeed(*command, stdin=typed_text if name == "interactive" else "")
        assert name == "scores" or done.stdout.count("H-") == SENTENCES
        seen[name] = what_was_read(path)
        assert len(seen[name]) == SENTENCES
    assert seen["generate"] == seen["side files"]
    assert seen["scores"] == seen["side files"]
    assert seen["interactive"] == seen["side files"]


@pytest.mark.slow
def test_mistakes_are_one_line(corpus, reader, tmp_path):
    config = tmp_path / "parser.json"
    config.write_text('{"lang": "en", "subwords": "sentencepiece", "stanza_dir": "."}')
    message = refuse(*program("generate", corpus.data, reader, "--parser-config", config))
    assert str(config) in message
    assert "tagger.pt" in message
    broken = ("tagger.pt", "constituency.pt")
    for name in broken:
        (tmp_path / name).write_bytes(b"no model")
    message = refuse(*program("generate", corpus.data, reader, "--parser-config", config))
    assert str(config) in message
    assert "cannot load" in message
