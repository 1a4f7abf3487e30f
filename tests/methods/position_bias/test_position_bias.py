"""Position biases equal the published formulas, written as loops over pairs of positions."""

import math

import pytest
import torch
from small_models import build, write_dictionaries

from syntax_nmt.backbone.alibi import alibi_slopes
from syntax_nmt.errors import UserError
from syntax_nmt.methods.latent_phrases.gates import log_phrase_gates
from syntax_nmt.methods.position_bias.bias import build_position_bias, t5_buckets

C, H, B, S = 24, 6, 3, 150  # longer than T5's farthest bucket; H is no power of two
PADDING = torch.arange(S) < torch.tensor([[0], [7], [140]])
EXACT = torch.zeros((), dtype=torch.float64)


def decay(i, j, head, table):
    return -max(abs(i - j) - 1, 0) * math.log(2)


def alibi(i, j, head, table):
    # Of 4 heads, and of 8 heads the first and the third: Press et al., released code.
    return -abs(i - j) * [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3][head]


def t5(i, j, head, table, causal):
    """The formula of Raffel et al.'s released code, with logarithms."""
    distance, buckets, ahead = abs(i - j), 32, 0
    if not causal:
        buckets, ahead = 16, 16 * (j > i)
    exact = buckets // 2
    bucket = distance
    if distance >= exact:
        grown = math.log(distance / exact) / math.log(128 / exact) * (buckets - exact)
        bucket = min(exact + int(grown + 1e-9), buckets - 1)
    return float(table[head, ahead + bucket])


def loops(kind, causal, table=None):
    formula = {"decay": decay, "alibi": alibi, "t5": lambda *x: t5(*x, causal)}[kind]
    bias = torch.full((H, S, S), -math.inf, dtype=torch.float64)
    for head in range(H):
        for i in range(S):
            for j in range(i + 1 if causal else S):
                bias[head, i, j] = formula(i, j, head, table)
    return bias


def drawn(kind, causal):
    bias = build_position_bias(kind, H, causal).double()
    for parameter in bias.parameters():
        torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(1))
    return bias


@pytest.mark.parametrize("causal", [False, True], ids=["encoder", "decoder"])
@pytest.mark.parametrize("kind", ["decay", "alibi", "t5"])
@torch.no_grad()
def test_equals_its_formula(kind, causal):
    bias = drawn(kind, causal)
    expected = loops(kind, causal, getattr(bias, "table", None))
    got = bias(S, S, EXACT).expand(1, H, S, S)[0]
    torch.testing.assert_close(got, expected, atol=1e-10, rtol=0)
    for queries in (1, 4):  # of a search
        last = bias(S, queries, EXACT).expand(1, H, queries, S)[0]
        torch.testing.assert_close(last, expected[:, -queries:], atol=1e-10, rtol=0)


@pytest.mark.parametrize("causal", [False, True], ids=["encoder", "decoder"])
@torch.no_grad()
def test_decay_is_the_gates_of_equal_distances(causal):
    gates = log_phrase_gates(torch.zeros(1, H, S).double(), both_directions=not causal)
    bias = drawn("decay", causal)(S, S, EXACT).expand(1, H, S, S)
    torch.testing.assert_close(bias, gates, atol=1e-10, rtol=0)


def test_slopes_of_8_heads_are_those_of_the_paper():
    assert alibi_slopes(8) == [2.0**-h for h in range(1, 9)]


@pytest.mark.parametrize(("buckets", "starts"), [
    (16, [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91]),
    (32, [*range(16), 16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113]),
])  # fmt: skip
def test_buckets_begin_where_those_of_t5_do(buckets, starts):
    bucket = t5_buckets(buckets, 128)
    assert [bucket.index(b) for b in range(buckets)] == starts
    assert bucket == sorted(bucket)


def test_layers_are_counted_and_limited(tmp_path):
    arguments = ("--position-bias=alibi", "--position-bias-layers=1")
    model, _, _ = build(write_dictionaries(tmp_path), "syntax_transformer_tiny", *arguments)
    (encoder,), (decoder,) = model.encoder.extensions, model.decoder.extensions
    assert (len(encoder.layers), len(decoder.layers)) == (1, 1)
    with pytest.raises(UserError, match=r"-layers 3: the encoder has 2 layers; .* from 1 to 2"):
        build(tmp_path, "syntax_transformer_tiny", arguments[0], "--position-bias-layers=3")
