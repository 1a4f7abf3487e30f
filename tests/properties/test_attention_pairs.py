"""All pairs of changes of a self-attention: no query is left without a key, whatever the tree."""

from itertools import combinations_with_replacement

import pytest
import torch
from methods import DECLARED
from nonempty import some
from small_models import annotated_batch, build, fill_zeros, random_sentences

from syntax_nmt.arguments import flag
from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention
from syntax_nmt.methods.method import TRANSFORMER_DECODER, TRANSFORMER_ENCODER

pytestmark = pytest.mark.dear

GATES = ("--latent-phrase-layers=1", "--syntactic-distance-temperature=1000")
INJECTED, GOLD = "tree in a head", "tree in a head, in training"
CHANGES = {
    "decay": ("--position-bias=decay",),
    "t5": ("--position-bias=t5",),
    "alibi": ("--position-bias=alibi",),
    "parent": ("--parent-scaled-layer=0",),
    "normal": ("--tree-distance=normal",),
    "linear": ("--tree-distance=linear",),
    "exp": ("--tree-distance=exp",),
    "tree alibi": ("--tree-distance=alibi",),
    "relative": ("--structural-positions=relative",),
    "relative lca": ("--structural-positions=relative", "--structural-rule=lca"),
    "window": ("--local-attention-window=1", "--local-attention-layers=1"),
    "closed gates": GATES,
    "sigmoid gates": (*GATES, "--syntactic-distance-gate=sigmoid"),
    "parser": ("--lisa-layer=0",),
    INJECTED: ("--lisa-layer=0", "--lisa-inject"),
    GOLD: ("--lisa-layer=0", "--lisa-attention=gold"),
    "heads": ("--supervised-layer=-1",),
    "biaffine heads": ("--supervised-layer=-1", "--dependency-scorer=biaffine"),
    "constituents": ("--constituent-attention=both",),
    "constituents for all": ("--constituent-attention=both", "--constituent-mask=all"),
    "phrases": ("--phrase-segmentation=ngram", "--phrase-attention"),
}
_HOOKS = ("changes", "attention", "scorer")


def names(*chosen):
    return {x.partition("=")[0] for name in chosen for x in CHANGES[name]}


REFUSED = ("closed gates", "sigmoid gates", "phrases"), ("constituents", "constituents for all")
"""Those of one replace the same part of a layer as those of the other."""

# Two values of one option are no pair.
PAIRS = [
    (one, other)
    for one, other in combinations_with_replacement(CHANGES, 2)
    if one == other or not names(one) & names(other) or {one, other} == {INJECTED, GOLD}
    if not all({one, other} & {*part} for part in REFUSED)
]
ALL = ("decay", "parent", "normal", "window", "closed gates", INJECTED)


def adversarial_trees(size):
    """Heads of a sentence, a root's its own: far, crossing and deep arcs."""
    last = size - 1
    return [
        [last] * size,
        [0] * size,
        [max(0, i - 1) for i in range(size)],
        [min(last, i + 1) for i in range(size)],
        [i if i in (0, last) else (last if i % 2 else 0) for i in range(size)],
        [0, last, *[1 + i % 2 * (last - 1) for i in range(2, last)], 0],
    ]


def adversarial_batch(model, task):
    """A sentence of another length for each tree, and one without."""
    shapes = len(adversarial_trees(3))
    sources = random_sentences([6 + i for i in range(shapes)] + [5])
    sample = annotated_batch(model, task, sources, random_sentences([4] * len(sources), 9))
    inputs = sample["net_input"]
    width = inputs["src_tokens"].size(1)
    heads = torch.full_like(inputs["src_tokens"], -1)
    for row in range(shapes):
        size = len(sources[row]) - 1
        before = width - size - 1  # pads are on the left
        heads[row, before:-1] = before + torch.tensor(adversarial_trees(size)[row])
    if "heads" in inputs:
        inputs["heads"] = heads.to(inputs["heads"])
    return inputs, heads


@pytest.mark.parametrize("pair", [*PAIRS, ALL], ids=" + ".join)
def test_some_key_is_open_to_every_query(folder, pair):
    options = dict.fromkeys(option for name in pair for option in CHANGES[name])
    model, task, _ = build(folder, "syntax_transformer", *options)
    fill_zeros(model).train()  # given trees may act in training alone
    found = {}

    def watch(module, args, kwargs, output):
        explicit = {**kwargs, "need_weights": True, "need_head_weights": True}
        attended, weights, *_ = module.forward(*args, **explicit)
        found[module] = output[0], attended, weights

    for module in model.modules():
        if isinstance(module, FusedMultiheadAttention):
            module.register_forward_hook(watch, with_kwargs=True)
    inputs, heads = adversarial_batch(model, task)
    logits = model(**inputs)[0]
    logits.square().sum().backward()
    assert torch.isfinite(logits).all()
    for name, parameter in model.named_parameters():
        assert parameter.grad is None or torch.isfinite(parameter.grad).all(), name
    for fused, explicit, weights in found.values():
        torch.testing.assert_close(fused, explicit, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]))
    if {INJECTED, GOLD} & {*pair}:
        rows, places = heads.ge(0).nonzero(as_tuple=True)
        _, _, weights = found[model.encoder.layers[0].self_attn]
        assert weights[0, rows, places, heads[rows, places]].eq(1).all()


def test_every_change_is_among_the_pairs():
    """That of a new method, too."""
    for method in some(DECLARED):
        parts = [
            feature
            for part, feature in method.extensions.items()
            if part in (TRANSFORMER_ENCODER, TRANSFORMER_DECODER)
        ]
        if any(hook in vars(base) for each in parts for base in mro(each) for hook in _HOOKS):
            switch = next(iter(method.options.__annotations__))
            assert flag(switch) in names(*CHANGES), method.name


def mro(feature):
    """The method's own classes."""
    return [each for each in feature.__mro__ if ".methods." in each.__module__]
