"""Phrase representation in the whole model."""

from argparse import Namespace

import pytest
import torch
from omegaconf import OmegaConf
from phrase_loops import decoder_layer, encoder_layer, ngrams, translate
from small_models import (
    WIDTH,
    assert_supervised_heads_are_the_layers_own,
    assert_trains,
    batch,
    build,
    chain_heads,
    phrases_of_tokens,
    random_sentences,
    write_dictionaries,
)

from syntax_nmt.criterions.cross_entropy import DependencyCrossEntropyCriterion
from syntax_nmt.data.annotation import PHRASES
from syntax_nmt.errors import UserError
from syntax_nmt.inference.extraction.dependencies import ParentHead
from syntax_nmt.inference.source_text import SourceText
from syntax_nmt.methods.dependency_heads.loss import DependencyObjective
from syntax_nmt.methods.phrases.segmentation import ngram_phrases

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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_dictionaries(tmp_path_factory.mktemp("dictionaries"))


def model_of(folder, row, *more):
    model, task, _ = build(folder, "syntax_transformer", *ROWS[row], *more)
    with torch.no_grad():
        for parameter in model.parameters():  # biases and mixtures that begin at 0 count, too
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model, task


def sample_for(task, parsed=False, **options):
    sources, targets = random_sentences([9, 4, 26, 6]), random_sentences([5, 8, 3, 4], 4)
    sample = batch(task.source_dictionary, sources, targets, **options)
    if parsed:
        inputs = sample["net_input"]
        inputs["phrase_lengths"] = phrases_of_tokens(inputs["src_tokens"], task)
        assert inputs["phrase_lengths"].min() == -1  # parsed and unparsed sentences
    return sample


def lengths_of(sample, row, size, eos_apart=False):
    """The phrases of a sentence as lists."""
    if "phrase_lengths" in sample["net_input"]:
        lengths = sample["net_input"]["phrase_lengths"][row].tolist()
        if lengths[0] > 0:
            return [length for length in lengths if length]
    return ngrams(size, eos_apart)


@pytest.mark.parametrize("norm", [[], PRE_NORM], ids=["post-norm", "pre-norm"])
@pytest.mark.parametrize("row", ROWS)
@torch.no_grad()
def test_equals_the_equations(folder, row, norm):
    """The whole model, one sentence at a time, from the equations as loops."""
    model, task = model_of(folder, row, *norm)
    model.double()
    sample = sample_for(task, parsed=row.endswith("parsed"))
    inputs = sample["net_input"]
    logits = model(**inputs)[0]
    pad = task.source_dictionary.pad()
    for number in range(len(logits)):
        source = inputs["src_tokens"][number]
        source = source[source.ne(pad)]
        target = inputs["prev_output_tokens"][number]
        target = target[target.ne(pad)]
        lengths = lengths_of(sample, number, len(source), row == "eos-apart")
        expected = translate(model, source, target, lengths)
        torch.testing.assert_close(logits[number, : len(target)], expected, atol=1e-10, rtol=0)


@pytest.mark.parametrize("norm", [[], PRE_NORM], ids=["post-norm", "pre-norm"])
def test_layers_and_their_gradients_equal_the_equations(folder, norm):
    model, _ = model_of(folder, "max+attn", *norm)
    encoder, decoder = (half.layers[0].double() for half in (model.encoder, model.decoder))
    x, y = (torch.randn(n, 1, 16, dtype=torch.float64, requires_grad=True) for n in (11, 5))
    phrases = ngram_phrases(torch.zeros(1, 11, dtype=torch.bool))
    future = torch.full((5, 5), float("-inf"), dtype=torch.float64).triu(1)

    def ours():
        memory, vectors, *_ = encoder(x, None, phrases=phrases)
        out, _, _ = decoder(
            y, memory, self_attn_mask=future, phrases=vectors, phrase_padding=phrases.padding
        )
        return memory[:, 0], out[:, 0]

    def loops():
        memory, vectors = encoder_layer(encoder, x[:, 0], ngrams(11))
        return memory, decoder_layer(decoder, y[:, 0], memory, vectors)

    leaves = [x, y, *encoder.parameters(), *decoder.parameters()]
    results = []
    for function in (ours, loops):
        memory, out = function()
        gradients = torch.autograd.grad((memory.pow(2).sum() + out.pow(3).sum()), leaves)
        results.append([memory, out, *gradients])
    for actual, expected in zip(*results):
        torch.testing.assert_close(actual, expected, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("row", ROWS)
def test_every_row_of_the_ablation_trains(folder, row):
    model, task, _ = build(folder, "syntax_transformer", *ROWS[row])
    assert_trains(model, task, sample_for(task, parsed=row.endswith("parsed")), updates=4)


@pytest.mark.parametrize("row", ["max+attn+ta", "max+attn+ta+parsed", "released"])
def test_checkpointed_activations_change_nothing(folder, row):
    plain, task = model_of(folder, row, "--supervised-layer=1")
    checkpointed, _ = model_of(folder, row, "--supervised-layer=1", "--checkpoint-activations")
    checkpointed.load_state_dict(plain.state_dict())
    sample = sample_for(task, parsed=row.endswith("parsed"))
    for model in (plain, checkpointed):
        logits, extra = model.train()(**sample["net_input"])
        heads = extra["supervised_heads"].exp().pow(2).sum()
        (logits.pow(2).mean() + heads).backward()
    for (name, a), b in zip(checkpointed.named_parameters(), plain.parameters()):
        torch.testing.assert_close(a.grad, b.grad, atol=1e-5, rtol=1e-4, msg=name)


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
    model.decoder.transparent_phrases.register_forward_hook(lambda *_: mixed.append(1))
    generator = task.build_generator([model], Namespace(beam=beam, max_len_b=9, min_len=6))
    task.inference_step(generator, [model], sample)
    assert projected == [4] * len(model.decoder.layers)
    assert mixed == [1]


@pytest.mark.parametrize("row", ["max+attn+ta", "max+attn+ta+parsed", "released"])
@torch.no_grad()
def test_search_scores_are_those_of_teacher_forcing(folder, row):
    model, task = model_of(folder, row)
    sample = sample_for(task, parsed=row.endswith("parsed"))
    generator = task.build_generator([model], Namespace(beam=3, max_len_b=9, unnormalized=True))
    hypotheses = task.inference_step(generator, [model], sample)
    inputs, eos = sample["net_input"], torch.tensor([2])
    for number, nbest in enumerate(hypotheses):
        source = {key: x[number : number + 1] for key, x in inputs.items()}
        for hypothesis in nbest:
            tokens = hypothesis["tokens"]
            source["prev_output_tokens"] = torch.cat([eos, tokens[:-1]])[None]
            logits = model(**source)[0][0].log_softmax(dim=-1)
            score = logits.gather(1, tokens[:, None]).sum()
            torch.testing.assert_close(hypothesis["score"], score, atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_reordering_moves_row_numbers_alone(folder):
    model, task = model_of(folder, "released")
    inputs = sample_for(task)["net_input"]
    encoder = model.encoder
    out = encoder(inputs["src_tokens"], inputs["src_lengths"])
    twice = encoder.reorder_encoder_out(out, torch.tensor([3, 3, 0, 1]))
    twice = encoder.reorder_encoder_out(twice, torch.tensor([2, 1]))
    assert twice["phrases"][0] is out["phrases"][0]
    target = inputs["prev_output_tokens"]
    expected = model.decoder(target, encoder_out=out)[0]
    actual = model.decoder(target[[0, 3]], encoder_out=twice)[0]
    torch.testing.assert_close(actual, expected[[0, 3]])


@pytest.mark.parametrize("norm", [[], PRE_NORM], ids=["post-norm", "pre-norm"])
@pytest.mark.parametrize("layer", [0, 1, -1])
@torch.no_grad()
def test_supervised_heads_are_the_layers_own(folder, norm, layer):
    """What is supervised are the weights that self-attention uses, after the phrase sublayer."""
    model, task = model_of(folder, "max+attn+ta", f"--supervised-layer={layer}", *norm)
    assert_supervised_heads_are_the_layers_own(model, task, sample_for(task), layer)


@pytest.mark.parametrize("row", ["max+attn+ta", "max+attn+ta+parsed"])
def test_trains_together_with_supervised_heads(folder, row):
    model, task, _ = build(folder, "dependency_transformer", *ROWS[row])
    sample = sample_for(task, parsed=row.endswith("parsed"))
    sample["heads"] = chain_heads(sample["net_input"]["src_tokens"], task.source_dictionary)
    criterion = DependencyCrossEntropyCriterion(
        task, False, 0.0, 0, False, [DependencyObjective(0.4, 0.4)]
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    translation, supervision = [], []
    for _ in range(30):
        optimizer.zero_grad()
        loss, size, logs = criterion(model.train(), sample)
        (loss / size).backward()
        assert all(p.grad is not None for p in model.parameters())
        optimizer.step()
        translation.append(float(logs["loss"]))
        supervision.append(float(logs["child_loss"] + logs["parent_loss"]))
    assert translation[-1] < 0.8 * translation[0]
    assert supervision[-1] < 0.8 * supervision[0]
    query = model.encoder.layers[-1].self_attn.q_proj.weight.grad
    phrases = model.encoder.layers[-1].phrase_combination.attention.q_proj.weight.grad
    assert query.abs().max() > 1e-6
    assert phrases.abs().max() > 1e-6


def test_supervision_reaches_the_phrases(folder):
    """The phrase sublayer comes before the supervised self-attention, and learns from it."""
    model, task, _ = build(folder, "dependency_transformer", *ROWS["max+attn"])
    extra = model.train()(**sample_for(task)["net_input"])[1]
    extra["supervised_heads"].exp().pow(2).sum().backward()
    top = model.encoder.layers[-1]
    for module in (top.phrase_combination.output, top.phrase_representation.hidden.first):
        assert module.weight.grad.abs().max() > 0


@torch.no_grad()
def test_models_without_phrases_ignore_them(folder):
    model, task, _ = build(folder, "syntax_transformer")
    assert model.reads_annotation == ()
    inputs = sample_for(task, parsed=True)["net_input"]
    with_phrases = model(**inputs)[0]
    del inputs["phrase_lengths"]
    assert torch.equal(model(**inputs)[0], with_phrases)


def test_no_phrases_no_parameters(folder):
    plain, _, _ = build(folder, "syntax_transformer")
    stock, _, _ = build(folder, "transformer", task="translation")
    assert list(plain.state_dict()) == list(stock.state_dict())


@pytest.mark.parametrize("through", ["training", "inference"])
def test_missing_phrases_are_named(folder, through):
    model, task = model_of(folder, "max+attn+ta+parsed")
    assert model.reads_annotation == (PHRASES,)
    inputs = sample_for(task)["net_input"]
    calls = {
        "training": lambda: model(**inputs),
        "inference": lambda: model.encoder.forward_torchscript(inputs),
    }
    with pytest.raises(UserError, match=r"--load-phrases .* --parser-config FILE"):
        calls[through]()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--phrase-summary=mean"], "--phrase-summary needs --phrase-segmentation"),
        (["--phrase-attention"], "--phrase-attention needs --phrase-segmentation"),
        (["--transparent-attention"], "--transparent-attention needs --phrase-segmentation"),
        ([*NGRAM, "--phrase-hidden-dim=8"], "--phrase-hidden-dim needs --phrase-attention"),
        ([*NGRAM, "--transparent-token-attention"], "needs --transparent-attention"),
        (
            [
                *[*NGRAM, "--transparent-attention", "--transparent-token-attention"],
                "--no-cross-attention",
            ],
            "--transparent-token-attention .* --no-cross-attention",
        ),
        ([*NGRAM, "--phrase-combine-dim=-1"], "--phrase-combine-dim -1"),
        ([*NGRAM, "--encoder-layers=0"], "--encoder-layers 0: phrases are attended to in layers"),
        ([*NGRAM, "--decoder-layers=0"], "--decoder-layers 0: phrases"),
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
    assert ParentHead(model, SourceText("text", [], task.source_dictionary, [])).encoder
    model, task = model_of(folder, "max+attn+ta+parsed", "--supervised-layer=-1")
    with pytest.raises(UserError, match=r"phrases .* --parser-config"):
        ParentHead(model, SourceText("text", [], task.source_dictionary, []))


@pytest.mark.parametrize("size", ["", "_tiny", "_iwslt_de_en", "_wmt_en_de", "_wmt_en_de_big"])
def test_presets_have_the_full_method(folder, size):
    model, _, cfg = build(folder, f"phrase_transformer{size}")
    assert cfg.model.phrase_segmentation == "ngram"
    assert cfg.model.phrase_combine_dim == 3 * WIDTH  # saved with every checkpoint
    assert model.decoder.transparent_phrases is not None
    for layer in [*model.encoder.layers, *model.decoder.layers]:
        assert layer.phrase_combination.output.in_features == 3 * WIDTH
    for layer in model.encoder.layers:
        assert layer.phrase_representation.summary == "max"
        assert layer.phrase_representation.hidden is not None


@torch.no_grad()
def test_sides_of_different_width(folder):
    model, task = model_of(folder, "max+attn+ta", "--decoder-embed-dim=24")
    assert model(**sample_for(task)["net_input"])[0].shape[:2] == (4, 8)
