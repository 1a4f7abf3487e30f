"""What is parsed during translation is what binarize writes, on real text."""

import contextlib
import gzip
import io
import re
import shutil
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pytest
import sentencepiece
import torch
from commands import fairseq, succeed, syntax_nmt
from fairseq import options, tasks
from fairseq_cli import preprocess
from fairseq_cli.interactive import make_batches
from phrase_loops import ngrams
from small_models import build, enlarge, save_checkpoint

from syntax_nmt import load
from syntax_nmt.data.annotation import HEADS, PHRASES
from syntax_nmt.data.annotation.columns import DEPREL, UPOS, XPOS, Column, loading_options
from syntax_nmt.parsing.config import ParserConfig
from syntax_nmt.parsing.stanza.models import find_models
from syntax_nmt.parsing.word_tokenizer import WordTokenizer
from syntax_nmt.preparation.annotators.annotate import annotate_file
from syntax_nmt.preparation.annotators.annotator import ModelAnnotator
from syntax_nmt.preparation.binarizing import binarize

pytestmark = pytest.mark.dear

KINDS = (HEADS, PHRASES, UPOS, XPOS, DEPREL)
FEATURES = "upos,xpos,deprel"  # the models give no others
SENTENCES = 200
EMPTY = 3  # this line is
MAX_WORDS = 22  # some captions are longer
UNPARSED_AT_LEAST = 5
RETURNS_THE_BATCH = SimpleNamespace(generate=lambda models, sample, **_: sample)


@dataclass(frozen=True)
class Corpus:
    """Multi30k captions in words, and in pieces that a cut vocabulary lacks some of.

    Attributes:
        words: tokenised text.
        model: sentencepiece.
        data: data-bin folder with annotation files and parser.json; its vocabulary has every piece.
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
    own = (HEADS, PHRASES)  # with files of their own
    models = [find_models(kind.parsed_by, "en", shared / "models" / "en") for kind in own]
    for kind, found in zip(own, models):
        annotator = ModelAnnotator(found, max_words=MAX_WORDS)
        annotate_file(words, Path(f"{words}.{kind.ending}"), annotator)
    made = Corpus(words, model, folder / "data-bin", folder / "cut-bin")
    for data, extra in ((made.data, []), (made.cut, ["--nwordssrc", "240"])):
        prefix = str(pieces.with_suffix(""))
        command = ["-s", "src", "-t", "tgt", "--trainpref", prefix, "--testpref", prefix]
        command += ["--destdir", str(data), *extra]
        with contextlib.redirect_stdout(io.StringIO()):
            preprocess.main(options.get_preprocessing_parser().parse_args(command))
            binarize(
                *("src", "tgt", data),
                trainpref=prefix, testpref=prefix, words=words.parent, features=FEATURES,
            )  # fmt: skip
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
        options.get_generation_parser(default_task="syntax_translation"), [*command, *arguments]
    )
    task = tasks.setup_task(args)
    task.load_dataset("test")
    return task


def of_annotation_file(data, kind):
    """What training reads of each sentence."""
    dataset = make_task(data, *loading_options((kind,))).dataset("test")
    sample = dataset.collater([dataset[index] for index in range(len(dataset))])
    return by_sentence(kind, sample["id"], sample)


def by_sentence(kind, ids, inputs):
    """Phrase lengths, ids, or heads counted from the sentence's first piece; EOS has none."""
    tensor = inputs[kind.key]
    assert tensor.dtype == torch.int32
    if kind is PHRASES:
        rows = [[length for length in row if length] for row in tensor.tolist()]
    elif isinstance(kind, Column):
        rows = [[i for i in row if i >= 0] or None for row in tensor.tolist()]
    else:
        rows = [heads_of(row) for row in tensor.tolist()]
    return dict(zip(torch.as_tensor(ids).tolist(), rows))


def heads_of(row):
    """Of a row of columns, padded on the left; None where there is no parse."""
    assert row[-1] == -1
    first = next((column for column, head in enumerate(row) if head >= 0), None)
    return None if first is None else [head - first for head in row[first:-1]]


def read_by_a_model(task, kind, batches):
    """What a model gets of each sentence during translation."""
    labels = {kind: task.labels(kind)} if kind.labels_file else {}
    reader, found = SimpleNamespace(reads_annotation=(kind,), annotation_labels=labels), {}
    for sample in batches:
        filled = task.inference_step(RETURNS_THE_BATCH, [reader], sample)
        found.update(by_sentence(kind, sample["id"], filled["net_input"]))
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


@pytest.fixture(params=KINDS, ids=str)
def kind(request):
    return request.param


def unparsed(kind, row, size):
    """Whether a sentence has no parse: of phrases it has n-grams then."""
    return row == ngrams(size) if kind is PHRASES else row is None


@pytest.mark.parametrize(("batch_size", "batches"), [(1, 12), (7, 5), (64, None)])
def test_generate_parses_what_binarize_wrote(corpus, kind, batch_size, batches):
    task = make_task(corpus.data, "--parser-config", str(corpus.data / "parser.json"))
    wanted = of_annotation_file(corpus.data, kind)
    found = read_by_a_model(task, kind, islice(batches_of(task, batch_size), batches))
    assert len(found) == (SENTENCES if batches is None else batch_size * batches)
    assert found == {sentence: wanted[sentence] for sentence in found}


def test_the_captions_test_what_they_should(corpus, kind):
    """Parsed phrases are not n-grams; some sentences are too long, one is empty."""
    sizes = make_task(corpus.data).dataset("test").src_sizes
    wanted = of_annotation_file(corpus.data, kind)
    without = [i for i, row in wanted.items() if unparsed(kind, row, int(sizes[i]))]
    assert EMPTY in without
    assert UNPARSED_AT_LEAST <= len(without) < SENTENCES // 4


def test_interactive_parses_unknown_pieces_as_the_words_they_are(corpus, kind):
    """With a vocabulary that lacks pieces of most sentences, parses are still binarize's."""
    task = make_task(corpus.cut, "--parser-config", str(corpus.cut / "parser.json"))
    unknown = task.source_dictionary.unk()
    assert sum(unknown in tokens.tolist() for tokens in task.dataset("test").src) > SENTENCES // 2
    wanted = of_annotation_file(corpus.cut, kind)
    assert read_by_a_model(task, kind, typed(task, corpus, 64)) == wanted


# Models that read parses, and the options that load them.
READERS = {
    "pascal_transformer": ("--load-dependencies",),
    "feature_transformer": ("--load-features", "upos,deprel"),
}


@pytest.fixture(scope="module", params=READERS)
def reader(request, corpus, tmp_path_factory):
    """An architecture, and a checkpoint of it, untrained, with larger numbers."""
    path = tmp_path_factory.mktemp(request.param) / "checkpoint.pt"
    model, _, cfg = build(corpus.cut, request.param)
    return request.param, save_checkpoint(path, enlarge(model), cfg)


def translations(name, corpus, checkpoint, *arguments):
    """What one of fairseq's programs makes of each sentence."""
    search = ("-s", "src", "-t", "tgt", "--beam", "2", "--max-len-b", "6")
    cut = ("--bpe", "sentencepiece", "--sentencepiece-model", corpus.model)
    command = fairseq(name, corpus.cut, "--path", checkpoint, *search, *cut, *arguments)
    printed = succeed(*command).stdout
    return {int(n): text for n, text in re.findall(r"^D-(\d+)\t\S+\t(.*)$", printed, re.MULTILINE)}


def test_parses_wherever_text_is_translated(corpus, reader):
    """Annotation files, typed text and `syntax_nmt.load`: the same translations.

    Pieces are unknown in most sentences: only who knows the words parses them rightly.
    """
    arch, checkpoint = reader
    config, lines = corpus.cut / "parser.json", corpus.words.read_text(encoding="utf-8").split("\n")
    wanted = translations("generate", corpus, checkpoint, *READERS[arch])
    assert len(set(wanted.values())) > SENTENCES // 4
    if arch == "pascal_transformer":
        plain = ("--model-overrides", "{'parent_scaled_layer': None}")
        without = translations("generate", corpus, checkpoint, *plain)
        assert sum(wanted[i] != without[i] for i in wanted) > SENTENCES // 4  # the parses matter

    typed = ("--parser-config", config, "--input", corpus.words, "--buffer-size", "50")
    assert translations("interactive", corpus, checkpoint, *typed) == wanted
    bpe = {"bpe": "sentencepiece", "sentencepiece_model": str(corpus.model)}
    model = load(checkpoint, corpus.cut, device="cpu", parser_config=config, **bpe)
    loaded = model.translate(lines[:-1], beam=2, max_len_b=6)
    assert dict(enumerate(loaded)) == wanted


def test_exported_features_of_typed_text(corpus, tmp_path):
    """CTranslate2 with the same parser and the same words, whose pieces are often unknown."""
    pytest.importorskip("ctranslate2", reason="CTranslate2 is not installed")
    config, lines = corpus.cut / "parser.json", corpus.words.read_text(encoding="utf-8").split("\n")
    limits = ("--max-source-positions", "80", "--max-target-positions", "20")
    model, _, cfg = build(
        corpus.cut, "feature_transformer", "--source-features=upos,xpos,deprel,subword", *limits
    )
    checkpoint = save_checkpoint(tmp_path / "model.pt", enlarge(model, 1.5), cfg)
    syntax_nmt("export", checkpoint, "--data", corpus.cut, "--to", "ctranslate2",
               "--output", tmp_path / "exported")  # fmt: skip
    loaded = load(checkpoint, corpus.cut, device="cpu", parser_config=config, segmented=True)
    segmented = list(map(cut(corpus.model), lines[:-1]))
    expected = loaded.translate(segmented, beam=1, max_len_a=0, max_len_b=200)
    command = ("syntax_nmt.export.translate", "--segmented", "--beam", "1")
    command = (*command, "--parser-config", config, tmp_path / "exported")
    found = succeed(*command, stdin="".join(f"{line}\n" for line in segmented)).stdout
    assert found.split("\n")[:-1] == expected
    assert len(set(expected)) > SENTENCES // 4
