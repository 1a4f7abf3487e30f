"""Phrase representation in the whole model."""

from argparse import Namespace

import pytest
import torch
from omegaconf import OmegaConf
from phrase_loops import ngrams, translate
from small_models import assert_same_gradients, batch, build, phrases_of_tokens, random_sentences

from syntax_nmt.errors import UserError
from syntax_nmt.inference.extraction.dependencies import parent_head
from syntax_nmt.inference.source_text import SourceText

PRE_NORM = ["--encoder-normalize-before", "--decoder-normalize-before"]
NGRAM = ["--phrase-segmentation=ngram"]
RELEASED = ["--phrase-residual-attention", "--transparent-token-attention"]

# Rows of the paper's Table 2 as options of syntax_transformer, and what released code differs in.
ROWS = {
    "mean": [*NGRAM, "--phrase-summary=mean"],
    "max": NGRAM,
    "max+attn": [*NGRAM, "--phrase-attention"],
    "max+attn+ta": [*NGRAM, "--phrase-attention", "--transparent-attention"],
    "max+attn+ta+parsed": [
        "--phrase-segmentation=parsed", "--phrase-attention", "--transparent-attention"
    ],
    "released": [*NGRAM, "--phrase-attention", "--transparent-attention", *RELEASED],
    "own-widths": [
        *NGRAM, "--phrase-attention", "--phrase-hidden-dim=6", "--phrase-combine-dim=10"
    ],
    "eos-apart": [*NGRAM, "--phrase-attention", "--phrase-eos-apart"],
    "literal": [*NGRAM, "--phrase-attention", "--phrase-literal-sigmoid"],
}  # fmt: skip


def model_of(folder, row, *more):
    model, task, _ = build(folder, "syntax_transformer", *ROWS[row], *more)
    with torch.no_grad():
        for parameter in model.parameters():  # biases and mixtures that begin at 0 count, too
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model, task


def sample_for(task, parsed=False, **options):
    sources, targets = random_sentences([9, 4, 19, 6]), random_sentences([5, 8, 3, 4], 4)
    sample = batch(task.source_dictionary, sources, targets, **options)
    if parsed:
        inputs = sample["net_input"]
        inputs["phrase_lengths"] = phrases_of_tokens(inputs["src_tokens"], task)
    return sample


def lengths_of(sample, row, size, eos_apart=False):
    """The phrases of a sentence as lists."""
    if "phrase_lengths" in sample["net_input"]:
        lengths = sample["net_input"]["phrase_lengths"][row].tolist()
        return [length for length in lengths if length]
    return ngrams(size, eos_apart)


@pytest.mark.parametrize("norm", [[], PRE_NORM], ids=["post-norm", "pre-norm"])
@pytest.mark.parametrize("row", ROWS)
def test_equals_the_equations(folder, row, norm):
    """The whole model and its gradients, one sentence at a time, from the equations as loops."""
    model, task = model_of(folder, row, *norm)
    model.double()
    sample = sample_for(task, parsed=row.endswith("parsed"))
    inputs = sample["net_input"]
    logits = model(**inputs)[0]
    pad, ours, theirs = task.source_dictionary.pad(), 0.0, 0.0
    for number, source in enumerate(inputs["src_tokens"]):
        source = source[source.ne(pad)]
        target = inputs["prev_output_tokens"][number]
        target = target[target.ne(pad)]
        lengths = lengths_of(sample, number, len(source), row == "eos-apart")
        expected = translate(model, source, target, lengths)
        found = logits[number, : len(target)]
        torch.testing.assert_close(found, expected, atol=1e-10, rtol=0)
        ours, theirs = ours + found.pow(2).sum(), theirs + expected.pow(2).sum()
    assert_same_gradients(model, ours, theirs)


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("row", ["max+attn+ta", "max+attn+ta+parsed", "released"])
@torch.no_grad()
def test_phrases_are_projected_once_a_sentence(folder, row, beam):
    """Whatever the number of steps: once each layer, and one row a sentence, not a hypothesis."""
    model, task = model_of(folder, row)
    sample = sample_for(task, parsed=row.endswith("parsed"))
    projected, mixed = [], []
    for layer in model.decoder.layers:
        layer.phrase_combination.attention.k_proj.register_forward_hook(
            lambda module, args, out: projected.append(args[0].size(1))
        )
    for name, mixture in model.decoder.named_children():
        if name.startswith("transparent"):
            mixture.register_forward_hook(lambda _, args, out: mixed.append(args[0][0].size(1)))
    generator = task.build_generator([model], Namespace(beam=beam, max_len_b=9, min_len=6))
    task.inference_step(generator, [model], sample)
    assert projected == [4] * len(model.decoder.layers)
    assert mixed == [4] * (2 if row == "released" else 1)


def test_supervision_reaches_the_phrases(folder):
    """The phrase sublayer comes before the supervised self-attention, and learns from it."""
    model, task, _ = build(folder, "dependency_transformer", *ROWS["max+attn"])
    extra = model.train()(**sample_for(task)["net_input"])[1]
    extra["supervised_heads"].exp().pow(2).sum().backward()
    top = model.encoder.layers[-1]
    for module in (top.phrase_combination.output, top.phrase_representation.hidden.first):
        assert module.weight.grad.abs().max() > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--phrase-summary=mean"], "--phrase-summary needs --phrase-segmentation"),
        (["--phrase-attention"], "--phrase-attention needs --phrase-segmentation"),
        (["--transparent-attention"], "--transparent-attention needs --phrase-segmentation"),
        ([*NGRAM, "--phrase-hidden-dim=8"], "--phrase-hidden-dim needs --phrase-attention"),
        ([*NGRAM, "--phrase-attention", "--phrase-hidden-dim=0"], "--phrase-hidden-dim 0: give a"),
        ([*NGRAM, "--phrase-combine-dim=-1"], "--phrase-combine-dim -1: give a number from 1 on"),
        ([*NGRAM, "--transparent-token-attention"], "needs --transparent-attention"),
        (
            [
                *[*NGRAM, "--transparent-attention", "--transparent-token-attention"],
                "--no-cross-attention",
            ],
            "--transparent-token-attention .* --no-cross-attention",
        ),
        (["--phrase-literal-sigmoid"], "--phrase-literal-sigmoid needs --phrase-segmentation"),
        (["--phrase-segmentation=parsed", "--phrase-eos-apart"], "EOS is a phrase of its own"),
        ([*NGRAM, "--encoder-layerdrop=0.1"], "with --encoder-layerdrop: leave --enc"),
        ([*NGRAM, "--decoder-layerdrop=0.1"], "--decoder-layerdrop"),
        ([*NGRAM, "--cross-self-attention", "--no-cross-attention"], "--cross-self-attention"),
    ],
)
def test_contradicting_options(folder, arguments, message):
    with pytest.raises(UserError, match=message):
        build(folder, "syntax_transformer", *arguments)


def test_hydra_options(folder):
    """`fairseq-hydra-train` hands over what its YAML says, unchecked."""
    _, task, _ = build(folder, "phrase_transformer_tiny")
    name = {"_name": "phrase_transformer_tiny"}
    model = task.build_model(OmegaConf.create({**name, "phrase_summary": "mean"}))
    assert model.encoder.phrase_representation.summary == "mean"
    cfg = OmegaConf.create(name)
    task.build_model(cfg)
    assert cfg.phrase_combine_dim == 3 * 64  # fairseq saves what the preset added
    for option, value in (("phrase_summary", "median"), ("phrase_segmentation", "trigram")):
        with pytest.raises(UserError, match=f"{value}: choose "):
            task.build_model(OmegaConf.create({**name, option: value}))


def test_parent_head_of_a_model_with_phrases(folder):
    """n-grams need no parser; parsed phrases do."""
    model, task = model_of(folder, "max+attn", "--supervised-layer=-1")
    assert parent_head(model, SourceText("text", [], task.source_dictionary, [])).encoder
    model, task = model_of(folder, "max+attn+ta+parsed", "--supervised-layer=-1")
    with pytest.raises(UserError, match=r"phrases .* --parser-config"):
        parent_head(model, SourceText("text", [], task.source_dictionary, []))


@pytest.mark.parametrize("size", ["", "_tiny", "_iwslt_de_en", "_wmt_en_de", "_wmt_en_de_big"])
def test_presets_have_the_full_method(folder, size):
    model, _, cfg = build(folder, f"phrase_transformer{size}")
    assert cfg.model.phrase_segmentation == "ngram"
    assert cfg.model.phrase_combine_dim == 3 * 16  # saved with every checkpoint
    assert model.decoder.transparent_phrases is not None
    for layer in [*model.encoder.layers, *model.decoder.layers]:
        assert layer.phrase_combination.output.in_features == 3 * 16
    for layer in model.encoder.layers:
        assert layer.phrase_representation.summary == "max"
        assert layer.phrase_representation.hidden is not None


@torch.no_grad()
def test_sides_of_different_width(folder):
    model, task = model_of(folder, "max+attn+ta", "--decoder-embed-dim=24")
    assert model(**sample_for(task)["net_input"])[0].shape[:2] == (4, 8)
