"""The bi-scale decoder against its equations, in training and in search."""

import shutil
from argparse import Namespace

import pytest
import torch
from bi_scale_loops import EqualOutputs, translate
from fairseq.models import ARCH_MODEL_REGISTRY
from omegaconf import OmegaConf
from small_models import assert_same_gradients, batch, build, enlarge, open_gate, random_sentences

from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.errors import UserError
from syntax_nmt.models.syntax_rnn import SyntaxRNNModel

TAGS = ("NP", "VP", "O")
LENGTHS = [4, 6, 3, 5]
# What the annotation may say: word by word, and nothing at all for the third sentence.
CHUNK_TAGS = [[1, 0, 2, 4], [3, 1, 0, 0, 2, 4], [-1, -1, -1], [2, 0, 0, 1, 4]]
BOUNDARY = "--chunk-context=boundary"
ROWS = {
    "paper": [BOUNDARY],
    "step": [],
    "word": ["--chunk-attention=word", BOUNDARY],
    "word-step": ["--chunk-attention=word"],
    "two-layers": ["--decoder-layers=2", "--readout=maxout", BOUNDARY],
    "relation": ["--relation-kernels=1:6,3:8", "--relation-hidden-dim=10", "--readout=linear"],
    "own-widths": [
        *("--encoder-embed-dim=10", "--encoder-hidden-size=7", "--decoder-embed-dim=9"),
        *("--decoder-hidden-size=11", "--attention-dim=5", "--decoder-out-embed-dim=13"),
        *("--chunk-attention=word", BOUNDARY),
    ],
    "state": ["--chunk-readout=state", BOUNDARY],
    "both": [
        *("--chunk-readout=both", "--chunk-attention=word", "--decoder-hidden-size=11"),
        BOUNDARY,
    ],
    "shared": ["--share-all-embeddings"],
}


def model_of(folder, row, *more):
    model, task, _ = build(folder, "bi_scale_rnn_tiny", *ROWS[row], *more)
    return open_gate(enlarge(model)), task


def sample_for(task, lengths=LENGTHS, **options):
    sources, targets = random_sentences([6, 3, 8, 1]), random_sentences(lengths, 4)
    return batch(task.source_dictionary, sources, targets, **options)


def padded(rows, width):
    return torch.tensor([row + [-1] * (width - len(row)) for row in rows], dtype=torch.int32)


def loops(model, inputs, number, tags, row):
    """The equations over one sentence of a batch."""
    pad = model.encoder.dictionary.pad()
    source, target = inputs["src_tokens"][number], inputs["prev_output_tokens"][number]
    target = target[target.ne(pad)]
    given = [tag if tag < 0 else int(tag > 0) for tag in tags[: len(target)]]
    return translate(model, source[source.ne(pad)], target, given, BOUNDARY not in ROWS[row])


@pytest.mark.parametrize("given", [True, False], ids=["annotated", "own-choice"])
@pytest.mark.parametrize("row", ROWS)
def test_equals_the_equations(folder, row, given):
    """What the model gives and its gradients, under the annotation or its own choice of chunks."""
    model, task = model_of(folder, row)
    model.double()
    inputs = sample_for(task)["net_input"]
    tags = CHUNK_TAGS if given else [[-1] * 6] * 4
    logits, extra = model(**inputs, chunk_tags=padded(tags, 6) if given else None)
    real = inputs["src_tokens"].ne(task.source_dictionary.pad())
    opened = extra["opened"][0]
    choices, outputs = set(), EqualOutputs()
    for number, length in enumerate(LENGTHS):
        expected = loops(model, inputs, number, tags[number], row)
        outputs.compare(logits[number, :length], expected.logits)
        assert opened[number, :length].tolist() == expected.opened
        outputs.compare(extra["boundary_logits"][0][number, :length].log_softmax(-1), expected.gate)
        for key in ("attn", "chunk_attn"):
            weights = extra[key][0][number, :length]
            outputs.compare(weights[:, real[number]], getattr(expected, key))
            assert not weights[:, ~real[number]].any()
        for t, log_probabilities in expected.tags.items():
            found = extra["tag_logits"][0][number, t]
            outputs.compare(found.log_softmax(-1), log_probabilities)
        choices |= set(expected.opened[1:])
    assert given or choices == {True, False}  # otherwise the gate has not been tested
    assert_same_gradients(model, outputs.found, outputs.expected)


@torch.no_grad()
def test_word_attention_without_chunk_weights_is_rnnsearch(folder):
    """Whatever the boundaries are, word for word with the same parameters."""
    model, task = model_of(folder, "word")
    plain, _, _ = build(folder, "rnn_search_cgru_tiny", "--readout=tanh")
    states = model.state_dict()
    plain.load_state_dict({name: states[name] for name in plain.state_dict()}, strict=True)
    inputs = sample_for(task)["net_input"]
    expected = plain(**inputs)[0]
    assert (model(**inputs)[0] - expected).abs().max() > 1e-3
    model.decoder.recurrence.chunk_projection.weight.zero_()
    for tags in (None, padded(CHUNK_TAGS, 6), torch.ones(4, 6), torch.zeros(4, 6)):
        torch.testing.assert_close(model(**inputs, chunk_tags=tags)[0], expected)


@torch.no_grad()
def test_sampling_scores_words_alone(folder):
    """Top-p counts on probabilities that add up to 1; of less than p it would keep every word."""
    model, task = model_of(folder, "paper")
    plain, _ = model_of(folder, "paper", "--no-joint-score")
    sample = sample_for(task)
    search = Namespace(beam=1, max_len_b=5, sampling=True, sampling_topp=0.6)

    def scores_and_kept(model):
        generator, kept = task.build_generator([model], search), []
        trim = generator.search._sample_topp

        def counted(lprobs):
            probabilities, indices = trim(lprobs)
            kept.append(probabilities.ne(0).sum(-1).flatten().tolist())
            return probabilities, indices

        generator.search._sample_topp = counted
        torch.manual_seed(0)
        found = task.inference_step(generator, [model], sample)
        return [nbest[0]["score"].item() for nbest in found], kept

    scores, kept = scores_and_kept(model)
    assert max(map(max, kept)) < len(task.target_dictionary) - 1
    assert (scores, kept) == scores_and_kept(plain)
    assert model.decoder.joint_score


@torch.no_grad()
def test_ensembles(folder):
    """With a model that has no joint score, words alone count; otherwise each adds its own."""
    model, task = model_of(folder, "paper")
    silent, _ = model_of(folder, "paper", "--no-joint-score")
    other, _ = model_of(folder, "word")
    plain, _, _ = build(folder, "rnn_search_cgru_tiny")
    sample = sample_for(task)

    def scores(*models):
        generator = task.build_generator(models, Namespace(beam=3, max_len_b=9))
        found = task.inference_step(generator, models, sample)
        return [each["score"].item() for nbest in found for each in nbest]

    assert scores(model, plain) == scores(silent, plain)
    assert scores(model, other) != scores(silent, other)
    assert scores(model, model) == pytest.approx(scores(model), abs=1e-5)
    assert model.decoder.joint_score
    assert not silent.decoder.joint_score


def test_checkpoints_keep_the_tags(folder, tmp_path):
    model, _, cfg = build(folder, "bi_scale_rnn_tiny")
    assert model.annotation_labels[CHUNKS] == TAGS
    assert cfg.model.chunk_tags == "NP VP O"
    assert model.decoder.tag_classifier.output.out_features == len(TAGS) + 1
    bare = shutil.copytree(folder, tmp_path / "bare")
    (bare / "dict.chunks.txt").unlink()
    other, task, _ = build(bare, "bi_scale_rnn_tiny", "--chunk-tags", cfg.model.chunk_tags)
    assert other.annotation_labels[CHUNKS] == TAGS
    none, _, _ = build(bare, "bi_scale_rnn_tiny")
    assert none.annotation_labels[CHUNKS] == ()
    hydra = OmegaConf.create({"_name": "bi_scale_rnn_tiny", "chunk_tags": "A B"})
    assert task.build_model(hydra).annotation_labels[CHUNKS] == ("A", "B")
    hydra = OmegaConf.create({"_name": "bi_scale_rnn_tiny"})
    task.build_model(hydra)
    assert hydra.chunk_tags == ""


def test_sizes_of_the_paper(folder):
    for size in ("", "_nist_zh_en", "_wmt_de_en"):
        arch = "bi_scale_rnn" + size
        assert ARCH_MODEL_REGISTRY[arch] is SyntaxRNNModel
    _, task, _ = build(folder, "rnn_search")
    model = task.build_model(OmegaConf.create({"_name": "bi_scale_rnn_nist_zh_en"}))
    recurrence = model.decoder.recurrence
    assert model.encoder.embed_tokens.embedding_dim == 600
    assert model.decoder.embed_tokens.embedding_dim == 600
    assert model.encoder.output_dim == 2000
    assert recurrence.state_dim == recurrence.clock.chunk_dim == recurrence.attention_dim == 1000
    assert model.decoder.output_projection.in_features == 1000
    assert model.decoder.readout.kind == "tanh"


@pytest.mark.parametrize(
    "option",
    [
        *("--chunk-context=step", "--chunk-attention=word", "--chunk-readout=state"),
        *("--no-joint-score", "--chunk-tags=NP"),
    ],
)
def test_options_of_chunks_need_them(folder, option):
    with pytest.raises(UserError, match=f"{option.partition('=')[0]} needs --bi-scale"):
        build(folder, "rnn_search", option)
