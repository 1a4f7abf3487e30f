"""With its features off the model is fairseq's own; with them on it still translates alike."""

from argparse import Namespace

import pytest
import torch
from fairseq.dataclass.configs import EMAConfig
from fairseq.models.ema.ema import EMA
from nonempty import some
from small_models import annotated_batch, batch, build, enlarge, random_sentences

from syntax_nmt.backbone.attention_modifier import close_pads
from syntax_nmt.backbone.structures import ATTENTION
from syntax_nmt.backbone.transformer_extension import TransformerEncoderExtension
from syntax_nmt.errors import UserError

VARIANTS = {
    "post-norm": [],
    "pre-norm": ["--encoder-normalize-before", "--decoder-normalize-before"],
    "shared-embeddings": ["--share-all-embeddings", "--encoder-learned-pos"],
    "no-positions": ["--no-token-positional-embeddings", "--layernorm-embedding"],
    "checkpointed": ["--checkpoint-activations"],
    "merged-attention": ["--cross-self-attention", "--no-cross-attention"],
}


def pair(folder, arch, *arguments):
    """A stock model and one of ours that has loaded its state."""
    stock, stock_task, _ = build(folder, "transformer", *arguments, task="translation")
    ours, task, _ = build(folder, arch, *arguments)
    ours.load_state_dict(stock.state_dict(), strict=True)
    return stock, stock_task, ours, task


@pytest.mark.parametrize("shared", [(), ("--share-all-embeddings",)])
def test_adaptive_softmax_loads_its_own_weights(folder, shared):
    arguments = ("phrase_transformer_tiny", "--adaptive-softmax-cutoff=10,20", *shared)
    (trained, _, cfg), (fresh, _, _) = build(folder, *arguments), build(folder, *arguments)
    with torch.no_grad():
        trained.decoder.embed_tokens.weight += 1
    fresh.load_state_dict(trained.state_dict(), model_cfg=cfg.model)
    for name, weight in some(trained.state_dict().items()):
        assert torch.equal(fresh.state_dict()[name], weight), name


@pytest.mark.parametrize("variant", ["pre-norm", "post-norm"])
@torch.no_grad()
def test_averages_of_weights_translate_as_the_model(folder, variant):
    """`--store-ema`; with a decay of 0 the average is the model. fairseq leaves out versions."""
    arguments = ("dependency_transformer", *VARIANTS[variant])
    (trained, task, cfg), (fresh, _, _) = build(folder, *arguments), build(folder, *arguments)
    average = EMA(trained.double(), EMAConfig(store_ema=True, ema_decay=0.0))
    enlarge(trained, 3.0)
    average.step(trained, updates=1)
    state = average.get_model().state_dict()
    fresh.double().load_state_dict(state, strict=True, model_cfg=cfg.model)
    inputs = annotated_batch(
        trained, task, random_sentences([9, 4, 6]), random_sentences([5, 8, 3], 4)
    )["net_input"]
    expected, averaged, loaded = (
        model.eval()(**inputs)[0] for model in (trained, average.get_model(), fresh)
    )
    torch.testing.assert_close(averaged, expected)
    torch.testing.assert_close(loaded, expected)
    if variant == "pre-norm":  # as 0.3.0 stored it
        for lost in ("layer_norm.weight", "layer_norm.bias", "version"):
            del state[f"encoder.{lost}"]
        with pytest.raises(
            UserError, match=r"the weights lack encoder\.layer_norm, which averages"
        ):
            fresh.load_state_dict(state, strict=True, model_cfg=cfg.model)


def sample_for(task, left_pad_source=True):
    sources, targets = random_sentences([9, 4, 6]), random_sentences([5, 8, 3], 4)
    return batch(task.source_dictionary, sources, targets, left_pad_source)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("arch", ["syntax_transformer", "dependency_transformer"])
@torch.no_grad()
def test_equals_stock(folder, arch, variant):
    stock, stock_task, ours, task = pair(folder, arch, *VARIANTS[variant])
    sample = sample_for(task)
    real = sample["target"].ne(task.target_dictionary.pad())
    expected, actual = (model(**sample["net_input"])[0][real] for model in (stock, ours))
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-5)
    for beam in (1, 5):
        options = Namespace(beam=beam, max_len_b=15, lenpen=0.6)
        expected = stock_task.inference_step(
            stock_task.build_generator([stock], options), [stock], sample
        )
        actual = task.inference_step(task.build_generator([ours], options), [ours], sample)
        for ours_nbest, stock_nbest in zip(actual, expected):
            assert len(ours_nbest) == len(stock_nbest) == beam
            for a, b in zip(ours_nbest, stock_nbest):
                assert a["tokens"].tolist() == b["tokens"].tolist()
                torch.testing.assert_close(a["score"], b["score"], atol=1e-5, rtol=1e-5)


class TokenParity(TransformerEncoderExtension):
    """Positions that tell even tokens from odd ones."""

    def positions(self, source, like):
        return source.tokens.remainder(2).unsqueeze(2).to(like).expand_as(like)


@pytest.mark.parametrize("variant", ["pre-norm", "no-positions"])
def test_positions_of_an_extension_stand_where_those_of_fairseq_do(folder, variant):
    """After the scale, which they do not have; before the LayerNorm of embeddings."""
    model, task, _ = build(folder, "syntax_transformer", *VARIANTS[variant])
    encoder, inputs = model.double().encoder, sample_for(task)["net_input"]
    seen = []
    encoder.layers[0].register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    encoder.extensions = [*encoder.extensions, *[TokenParity(None, None)] * 2]
    model(**inputs)
    tokens = inputs["src_tokens"]
    expected = 4 * encoder.embed_tokens(tokens)  # the root of the width
    if encoder.embed_positions is not None:
        expected = expected + encoder.embed_positions(tokens)
    expected = expected + 2 * tokens.remainder(2).unsqueeze(2)
    if encoder.layernorm_embedding is not None:
        expected = encoder.layernorm_embedding(expected)
    real = tokens.ne(encoder.padding_idx)
    torch.testing.assert_close(seen[0].transpose(0, 1)[real], expected[real])


@pytest.mark.parametrize("half", ["encoder", "decoder"])
def test_layer_drop_equals_stock(folder, half):
    """The same seed leaves out the same layers: no further random number is drawn."""
    dropping = (f"--{half}-layerdrop=0.5", f"--{half}-layers=6")
    stock, _, ours, task = pair(folder, "syntax_transformer", *dropping)
    sample, outputs = sample_for(task), []
    real = sample["target"].ne(task.target_dictionary.pad())
    for model in (stock, ours):
        torch.manual_seed(3)
        outputs.append(model.train()(**sample["net_input"])[0][real])
    torch.testing.assert_close(*outputs, atol=1e-5, rtol=1e-5)
    layers = ours.encoder.layers.children()
    assert not any(layer.can_use_fastpath for layer in layers)


def test_gradients_equal_stock(folder):
    stock, _, ours, task = pair(folder, "syntax_transformer")
    sample = sample_for(task, left_pad_source=False)
    real = sample["target"].ne(task.target_dictionary.pad())
    for model in (stock, ours):
        model(**sample["net_input"])[0][real].pow(2).sum().backward()
    for (name, a), b in zip(ours.named_parameters(), stock.parameters()):
        torch.testing.assert_close(a.grad, b.grad, atol=1e-4, rtol=1e-4, msg=name)


@pytest.mark.parametrize(
    "search",
    [
        {"beam": 4, "prefix": 2},
        {"beam": 4, "diverse_beam_groups": 2},
        {"beam": 3, "unnormalized": True, "min_len": 4, "no_repeat_ngram_size": 2},
        {"score_reference": True},
        {"score_reference": True, "print_alignment": "hard"},
        {"beam": 3, "print_alignment": "soft"},
    ],
    ids=str,
)
@torch.no_grad()
def test_every_kind_of_search_equals_stock(folder, search):
    """Two models together, of which ours shares memory among hypotheses and stock does not."""
    stock, stock_task, ours, task = pair(folder, "dependency_transformer")
    other, _, _ = build(folder, "transformer", task="translation")
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    sample = sample_for(task)
    options = Namespace(max_len_b=15, **search)
    prefix = sample["target"][:, : search["prefix"]] if "prefix" in search else None
    results = []
    for models, its_task in (([stock, other], stock_task), ([ours, other], task)):
        generator = its_task.build_generator(models, options)
        results.append(its_task.inference_step(generator, models, sample, prefix_tokens=prefix))
    for expected, actual in some(zip(*results)):
        for a, b in zip(actual, expected):
            assert a["tokens"].tolist() == b["tokens"].tolist()
            torch.testing.assert_close(a["score"], b["score"], atol=1e-5, rtol=1e-5)
            if search.get("print_alignment") == "soft":
                torch.testing.assert_close(a["attention"], b["attention"], atol=1e-5, rtol=1e-5)


def test_attention_weights_are_computed_only_on_demand(folder):
    model, task, _ = build(folder, "syntax_transformer")
    inputs = sample_for(task)["net_input"]
    assert model(**inputs)[1]["attn"] == [None]
    assert model(**inputs, alignment_layer=0)[1]["attn"][0].shape == (3, 8, 9)


def test_beam_memory_is_forgotten_after_the_search(folder):
    """A search with a beam leaves no trace in a later step-by-step pass."""
    model, task, _ = build(folder, "syntax_transformer")
    sample = sample_for(task)
    generator = task.build_generator([model], Namespace(beam=3, max_len_b=5))
    task.inference_step(generator, [model], sample)
    sizes = {m.beam_size for m in model.decoder.modules() if hasattr(m, "beam_size")}
    assert sizes == {1}


@pytest.mark.parametrize("chosen", [None, ["TransformerEncoder"], ["MultiheadAttention"]])
def test_dropout_is_retained_as_in_the_stock_model(folder, chosen):
    """By the names of fairseq's classes, which ours inherit from."""
    stock, _, ours, _ = pair(folder, "syntax_transformer")
    retained = []
    for model in (stock, ours):
        model.make_generation_fast_(retain_dropout=True, retain_dropout_modules=chosen)
        retained.append({
            name for name, module in model.named_modules()
            if getattr(module, "apply_during_inference", False)
        })  # fmt: skip
    assert retained[0] == retained[1] != set()


@pytest.mark.parametrize("norm", [[], VARIANTS["pre-norm"]], ids=["post-norm", "pre-norm"])
@pytest.mark.parametrize(
    "below",
    [
        [],
        ["--phrase-segmentation=ngram", "--phrase-attention"],
        ["--gcn-layers=1", "--gcn-arcs=none", "--gcn-placement=bottom"],
    ],
    ids=["nothing", "phrases", "graphs"],
)
@pytest.mark.parametrize("layer", [0, 1, -1])
@torch.no_grad()
def test_supervised_heads_are_the_layers_own(folder, norm, below, layer):
    """Of the attention weights that the layer really uses, also above what another method adds."""
    options = (f"--supervised-layer={layer}", *norm, *below)
    model, task, _ = build(folder, "dependency_transformer", *options)
    inputs, seen = sample_for(task)["net_input"], {}
    attention = model.encoder.layers[layer].self_attn
    attention.register_forward_hook(  # after all that changes the arguments
        lambda module, args, kwargs, output: seen.update(kwargs), with_kwargs=True
    )
    log_probabilities = model(**inputs)[1]["supervised_heads"]
    _, weights = attention(**{**seen, "need_weights": True, "need_head_weights": True})
    real = inputs["src_tokens"].ne(task.source_dictionary.pad())
    for head in (0, 1):
        torch.testing.assert_close(
            log_probabilities[:, head].exp()[real], weights[head][real], atol=1e-6, rtol=1e-5
        )


@torch.no_grad()
def test_mixed_tokens_begin_with_what_the_lowest_layer_reads(folder):
    """The lowest tokens that a decoder mixes have the messages of graph convolution below it."""
    mixes = ("--phrase-segmentation=ngram", "--transparent-token-attention")
    below = ("--gcn-layers=1", "--gcn-arcs=none", "--gcn-placement=bottom")
    model, task, _ = build(folder, "phrase_transformer", *mixes, *below)
    seen = []
    # After the hooks that change its arguments.
    model.encoder.layers[0].register_forward_hook(lambda layer, args, out: seen.append(args[0]))
    found = model.encoder(sample_for(task)["net_input"]["src_tokens"])
    torch.testing.assert_close(found["transparent_tokens"][0], seen[0])


def test_inference_costs_what_stock_costs(folder, monkeypatch):
    """Generation never computes the supervised heads' probabilities."""
    from syntax_nmt.methods.dependency_heads import extension

    model, task, _ = build(folder, "dependency_transformer")
    monkeypatch.setattr(extension, "first_heads", None)
    generator = task.build_generator([model], Namespace(beam=2, max_len_b=5))
    assert len(task.inference_step(generator, [model], sample_for(task))) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--supervised-layer=2"], "from -2 to 1"),
        (["--supervised-layer=-3"], "from -2 to 1"),
        (["--encoder-attention-heads=1"], "--encoder-attention-heads is 1"),
        (["--encoder-layerdrop=0.1"], "--encoder-layerdrop"),
        (["--encoder-attention-heads=3"], "embed_dim must be divisible by num_heads: correct the"),
        (["--dropout=1.5"], "--dropout 1.5: give a share from 0 to less than 1"),
        (["--attention-dropout=-1"], "--attention-dropout -1.0: give a share"),
        (["--activation-dropout=nan"], "--activation-dropout nan: give a share"),
    ],
)
def test_contradicting_options(folder, arguments, message):
    with pytest.raises(UserError, match=message):
        build(folder, "dependency_transformer", *arguments)


@pytest.mark.parametrize("arch", ["dependency_transformer", "rnn_search"])
def test_another_task_is_named(folder, arch):
    with pytest.raises(UserError, match="add --task syntax_translation"):
        build(folder, arch, task="translation")


@torch.no_grad()
def test_layers_add_their_mask_to_the_logits(folder):
    """fairseq's own would hide whatever is not 0."""
    model, _, _ = build(folder, "syntax_transformer_tiny")
    layer, x = model.encoder.layers[0], torch.randn(5, 3, 16)
    padding = torch.tensor([[True] * 2 + [False] * 3, [False] * 5, [False] * 5])
    bias = close_pads(torch.randn(3, 4, 5, 5), padding)
    output = layer(x, padding, bias=bias, wanted=[ATTENTION])
    read = layer.self_attn_layer_norm(x)
    _, weights = layer.self_attn(read, read, read, padding, bias=bias)
    torch.testing.assert_close(output.attention, weights)
    torch.testing.assert_close(layer(x, padding, bias=bias), output.x, atol=1e-5, rtol=1e-4)
    bias[:, :, :, 3] = float("-inf")
    assert not layer(x, padding, bias=bias, wanted=[ATTENTION]).attention[:, :3, 3].any()


@pytest.mark.parametrize("arch", ["syntax_transformer", "syntax_hybrid"])
def test_vectors_of_a_file_begin_the_embeddings_as_in_the_stock_model(folder, tmp_path, arch):
    vectors, headless = tmp_path / "vectors", tmp_path / "headless"
    line = "w5 " + " ".join(map(str, range(16))) + "\n"
    vectors.write_text(f"1 16\n{line}")
    headless.write_text(line)
    paths = (f"--encoder-embed-path={vectors}", f"--decoder-embed-path={vectors}")
    stock, task, _ = build(folder, "transformer", *paths, task="translation")
    ours, _, _ = build(folder, arch, *paths)
    if arch == "syntax_transformer":
        for name, weight in some(stock.state_dict().items()):
            assert torch.equal(ours.state_dict()[name], weight), name
    row = ours.encoder.embed_tokens.weight[task.source_dictionary.index("w5")]
    assert row.tolist() == list(range(16))
    for option in ("--encoder-embed-path", "--decoder-embed-path"):
        for file, message in (("nowhere", "no such file"), (headless, "line 1: no header")):
            with pytest.raises(UserError, match=f"{option} {file}: {message}"):
                build(folder, arch, f"{option}={file}")
    with pytest.raises(UserError, match="'w5' has 16 numbers, the embeddings have 32"):
        build(folder, "syntax_transformer", paths[1], width=32)
