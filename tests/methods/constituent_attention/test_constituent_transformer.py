"""Transformers with constituents beside those without, and what other sentences do to them."""

import pytest
import torch
from small_models import annotated_batch, build, fill_zeros, random_sentences, trees_of_tokens

from syntax_nmt.errors import UserError


def test_parameters_are_counted(folder):
    """A weight a head and state, and embeddings of half a head, for every attention."""

    def count(*arguments):
        model, _, _ = build(folder, *arguments, width=32)
        return sum(parameter.numel() for parameter in set(model.parameters()))

    width, heads, layers = 32, 4, 2 + 2
    plain = count("syntax_transformer")
    for name, rows in (("both", 150), ("vertical", 50), ("horizontal", 100), ("none", 0)):
        added = layers * (width * heads + rows * (width // heads) // 2) + width
        found = count("constituent_transformer", f"--constituent-embeddings={name}")
        assert found - plain == added, name
    assert count("constituent_transformer", "--constituent-values=plain") - plain == width


def paired(folder, *options, arch="syntax_transformer"):
    """A Transformer, the model of the method with its weights, and its task."""
    plain, task, _ = build(folder, arch, *options)
    model, _, _ = build(folder, "constituent_transformer", *options)
    fill_zeros(plain), fill_zeros(model)
    missing, unexpected = model.load_state_dict(plain.state_dict(), strict=False)
    assert not unexpected
    assert all("accumulation" in name or name.endswith(".constituent") for name in missing)
    return plain.double().eval(), model.double().eval(), task


@pytest.mark.parametrize("options", [(), ("--encoder-normalize-before", "--position-bias=t5")])
def test_states_of_tokens_are_those_of_the_transformer(folder, options):
    plain, model, task = paired(folder, *options)
    sources = random_sentences([7, 5, 2, 9])
    net_input = annotated_batch(model, task, sources, sources)["net_input"]
    assert net_input["trees"].ge(0).any()
    tokens = net_input["src_tokens"]
    expected = plain.encoder(tokens, return_all_hiddens=True)
    found = model.encoder(tokens, return_all_hiddens=True, trees=net_input["trees"])
    padding = expected["encoder_padding_mask"][0].T
    for name in ("encoder_out", "encoder_states"):
        for one, other in zip(found[name], expected[name], strict=True):
            torch.testing.assert_close(one[~padding], other[~padding])
    out, _ = model(**net_input)
    other, _ = plain(**{name: x for name, x in net_input.items() if name in PLAIN_INPUT})
    unparsed = net_input["trees"][..., 2].lt(0).all(dim=1)
    assert unparsed.any()
    torch.testing.assert_close(out[unparsed], other[unparsed])  # the Transformer itself
    assert not torch.allclose(out[~unparsed], other[~unparsed], atol=1e-4)


@pytest.mark.parametrize(("options", "scale"), [((), 4), (("--no-scale-embedding",), 1)])
@torch.no_grad()
def test_constituents_begin_as_large_as_embeddings_and_end_unseen(folder, options, scale):
    """The lowest layer reads √C times their vector; weights to them are not handed over."""
    model, task, _ = build(folder, "constituent_transformer", *options)
    sources = random_sentences([7, 5])
    net_input = annotated_batch(model, task, sources, sources)["net_input"]
    seen = []
    for attention in (model.encoder.layers[0].self_attn, model.decoder.layers[-1].encoder_attn):
        attention.register_forward_hook(
            lambda module, args, given, output: seen.append((given["query"], output[1])),
            with_kwargs=True,
        )
    _, extra = model(**net_input, alignment_layer=1)
    (read, _), (_, weights) = seen
    length = net_input["src_tokens"].size(1)
    assert len(read) == weights.size(-1) == length + net_input["trees"].size(1)
    wanted = scale * model.encoder.layers[0].constituent
    torch.testing.assert_close(read[length:], wanted.expand_as(read[length:]))
    torch.testing.assert_close(extra["attn"][0], weights[..., :length].mean(dim=0))


PLAIN_INPUT = ("src_tokens", "src_lengths", "prev_output_tokens")


def test_no_other_tree_of_the_batch_matters(folder):
    """Released code reads pads at the left edge as constituents; here nothing does."""
    model, task, _ = build(folder, "constituent_transformer")
    model = fill_zeros(model).double()
    sources = random_sentences([7, 12, 3])
    alone = annotated_batch(model, task, sources[:1], sources[:1])
    expected = model(**alone["net_input"])[0]
    assert alone["net_input"]["trees"].ge(0).any()
    for layout in ((True,), (False,), (True, (15, 13)), (False, (15, 13))):
        found = model(**annotated_batch(model, task, sources, sources, *layout)["net_input"])[0]
        torch.testing.assert_close(found[:1, : expected.size(1)], expected)


def test_mixed_models_read_constituents_in_the_encoder(folder):
    """An RNN decoder reads states of tokens that have read constituents."""
    halves = ("syntax_hybrid_tiny", "--encoder-family=transformer", "--decoder-family=rnn")
    reads = ("--constituent-attention=encoder", "--constituent-mask=all")
    model, task, _ = build(folder, *halves, *reads)
    net_input = annotated_batch(model, task, random_sentences([6, 4]), random_sentences([4, 2]))
    net_input = net_input["net_input"]
    first, _ = model(**net_input)
    other = trees_of_tokens(net_input["src_tokens"] + 1, task)["trees"]
    second, _ = model(**{**net_input, "trees": other})
    assert not torch.allclose(first, second, atol=1e-5)
    with pytest.raises(UserError, match="an RNN decoder reads tokens alone"):
        build(folder, *halves, "--constituent-attention=both")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--constituent-attention=encoder"],
            "neither tokens nor the decoder would read constituents",
        ),
        (
            ["--constituent-values=plain", "--constituent-embeddings=none"],
            "--constituent-embeddings needs --constituent-values accumulated",
        ),
        (["--encoder-layerdrop=0.1"], "--encoder-layerdrop"),
        (["--phrase-segmentation=ngram"], "both replace the layers of the encoder"),
        (["--latent-phrase-layers=1"], "both replace the self-attention of encoder layer 0"),
    ],
)
def test_refusals(folder, options, message):
    with pytest.raises(UserError, match=message):
        build(folder, "constituent_transformer", *options)


def test_options_need_the_method(folder):
    with pytest.raises(UserError, match="needs --constituent-attention"):
        build(folder, "syntax_transformer", "--constituent-mask=all")
