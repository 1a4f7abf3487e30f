"""The synchronous constraint equals its equations, and what it may not depend on it does not."""

import latent_phrase_loops as loops
import pytest
import torch
from fairseq.criterions import CRITERION_REGISTRY
from fairseq.logging import metrics
from small_models import batch, build, chain_heads, random_sentences

from syntax_nmt.backbone.structures import StructureLayers
from syntax_nmt.errors import UserError
from syntax_nmt.methods.latent_phrases.loss import SynchronousObjective, project, rank_loss

EOS, PAD = 2, 1
TARGETS = [[5, 6, 7, 8, 9, EOS], [5, 6, 7, EOS], [5, EOS], [EOS]]
S = 7


def objective(loss="rank", shift=False, normalize="sum", margin=1.0, weight=0.5, **more):
    layers = more.pop("layers", 2)
    return SynchronousObjective(EOS, PAD, loss, weight, normalize, margin, shift, layers, **more)


def structures(width=6, seed=1, requires_grad=False):
    """Random structures of two layers, float64, and the target they belong to."""
    generator = torch.Generator().manual_seed(seed)

    def random(*shape):
        return torch.rand(*shape, generator=generator, dtype=torch.float64)

    rows, heads = len(TARGETS), 3
    extra = {
        "source_distances": [random(rows, heads, S) * 2 - 1 for _ in range(2)],
        "target_distances": [random(rows, heads, 6) * 2 - 1 for _ in range(2)],
        "cross_attention": [torch.softmax(3 * random(rows, 6, S), 2) for _ in range(2)],
        "source_attention": [torch.softmax(random(rows, S, S), 2) for _ in range(2)],
        "target_attention": [torch.softmax(random(rows, 6, 6), 2) for _ in range(2)],
    }
    target = torch.full((rows, 6), PAD)
    for row, tokens in enumerate(TARGETS):
        target[row, : len(tokens)] = torch.tensor(tokens)
    for tensors in extra.values():
        for tensor in tensors:
            tensor.requires_grad_(requires_grad)
    return extra, {"target": target}


def by_hand(extra, loss, shift, normalize, margin):
    """The loss sentence by sentence, from the equations."""
    total, following = 0.0, int(shift)
    for row, tokens in enumerate(TARGETS):
        n = len(tokens) - 1  # the words
        for layer in range(2):
            c = extra["cross_attention"][layer][row, :n]
            if loss == "attention":
                target = extra["target_attention"][layer][row]
                target = target[following : following + n, following : following + n]
                value, terms = loops.attention_loss(
                    c, extra["source_attention"][layer][row], target
                )
            else:
                projected = c @ extra["source_distances"][layer][row].mean(dim=0)
                d = extra["target_distances"][layer][row].mean(dim=0)[following : following + n]
                value, terms = (
                    loops.mse_loss(projected, d)
                    if loss == "mse"
                    else loops.rank_loss(projected, d, margin)
                )
            total = total + (value * n / max(terms, 1) if normalize == "mean" else value)
    return total


@pytest.mark.parametrize("normalize", ["sum", "mean"])
@pytest.mark.parametrize("shift", [False, True], ids=["equal", "shifted"])
@pytest.mark.parametrize("loss", ["rank", "mse", "attention"])
def test_equals_the_equations(loss, shift, normalize):
    extra, sample = structures()
    margin = 0.3
    ours, logs = objective(loss=loss, shift=shift, normalize=normalize, margin=margin)(
        extra, sample
    )
    expected = by_hand(extra, loss, shift, normalize, margin)
    torch.testing.assert_close(ours, 0.5 * expected, atol=1e-10, rtol=0)
    raw = by_hand(extra, loss, shift, "sum", margin)
    torch.testing.assert_close(logs["sync_loss"], raw, atol=1e-10, rtol=0)
    terms = {"rank": 10 + 3, "mse": 5 + 3 + 1, "attention": 15 + 6 + 1}[loss]
    assert logs["sync_terms"] == 2 * terms, "each pair once, in two layers"


def test_rank_loss_has_no_gradient_to_the_targets_distances():
    projected = torch.randn(2, 5, requires_grad=True)
    d = torch.randn(2, 5, requires_grad=True)
    real = torch.ones(2, 5, dtype=torch.bool)
    sums, *_ = rank_loss(projected, d, real, 1.0)
    to_projected, to_d = torch.autograd.grad(sums.sum(), (projected, d), allow_unused=True)
    assert to_projected.abs().sum() > 0
    assert to_d is None


def test_the_other_losses_reach_both_sides():
    for loss in ("mse", "attention"):
        extra, sample = structures(requires_grad=True)
        objective(loss=loss)(extra, sample)[0].backward()
        kind = "attention" if loss == "attention" else "distances"
        for side in ("source", "target"):
            assert extra[f"{side}_{kind}"][0].grad.abs().sum() > 0


def test_ties_take_no_part():
    d = torch.tensor([[0.5, 0.5, 0.5, 1.0]])
    sums, pairs, *_ = rank_loss(torch.zeros(1, 4), d, torch.ones(1, 4, dtype=torch.bool), 1.0)
    assert pairs.tolist() == [3]
    assert sums.tolist() == [3.0]


@pytest.mark.parametrize("margin", [1.0, 0.1])
def test_shares_of_violated_and_of_misordered_pairs(margin):
    """Pair by pair; only the rank loss has an order to violate."""
    extra, sample = structures()
    _, logs = objective(margin=margin)(extra, sample)
    pairs, violated, misordered = 0, 0, 0
    for row, tokens in enumerate(TARGETS):
        for layer in range(2):
            n = len(tokens) - 1
            d = extra["target_distances"][layer][row].mean(dim=0)
            e = extra["cross_attention"][layer][row] @ extra["source_distances"][layer][row].mean(0)
            for i in range(n):
                for j in range(i + 1, n):
                    apart = float(torch.sign(d[i] - d[j]) * (e[i] - e[j]))
                    pairs += 1
                    violated += apart < margin
                    misordered += apart < 0
    assert [float(logs[f"sync_{name}"]) for name in ("pairs", "violated", "misordered")] == [
        pairs, violated, misordered
    ]  # fmt: skip
    assert 0 < misordered < violated <= pairs == 26
    with metrics.aggregate() as logged:
        SynchronousObjective.log(lambda key: float(logs[key]))
    values = logged.get_smoothed_values()
    assert values["sync_violated"] == pytest.approx(100 * violated / pairs, abs=0.01)
    assert values["sync_misordered"] == pytest.approx(100 * misordered / pairs, abs=0.01)
    for loss in ("mse", "attention"):
        _, others = objective(loss=loss)(extra, sample)
        assert list(others) == list(logs)  # workers add them up by position
        with metrics.aggregate() as logged:
            SynchronousObjective.log(lambda key, of=others: float(of[key]))
        assert set(logged.get_smoothed_values()) == {"sync_loss"}


@pytest.mark.parametrize("words", [5, 10, 15, 25])
def test_a_margin_of_1_cannot_be_kept(words):
    """The least loss a pair of the README: in perfect order, between −1 and 1."""
    places = torch.linspace(-1, 1, words, dtype=torch.float64)[None].requires_grad_()
    optimizer = torch.optim.Adam([places], lr=1e-2)
    ranks, real = torch.arange(words)[None].double(), torch.ones(1, words, dtype=torch.bool)
    for _ in range(600):
        optimizer.zero_grad()
        sums, pairs, *_ = rank_loss(places, ranks, real, 1.0)
        (sums / pairs).sum().backward()
        optimizer.step()
        places.data.clamp_(-1, 1)
    floor = float(rank_loss(places.detach(), ranks, real, 1.0)[0] / pairs)
    assert floor == pytest.approx({5: 0.20, 10: 0.27, 15: 0.29, 25: 0.31}[words], abs=0.006)


def test_finite_in_half_precision():
    for dtype in (torch.float16, torch.bfloat16):
        c = torch.softmax(torch.randn(2, 5, S), 2).to(dtype)
        e = torch.full((2, S), 60000.0).to(dtype)
        assert torch.isfinite(project(c, e)).all()


def sample_of(task, left_pad_target=False):
    dictionary = task.source_dictionary
    sample = batch(
        dictionary, random_sentences([9, 4, 6]), random_sentences([5, 8, 3], 4),
        left_pad_target=left_pad_target,
    )  # fmt: skip
    sample["heads"] = chain_heads(sample["net_input"]["src_tokens"], dictionary)
    return sample


def criterion_of(task, objective):
    return CRITERION_REGISTRY["synchronous_cross_entropy"](task, False, 0.1, 0, False, [objective])


@pytest.mark.parametrize("loss", ["rank", "mse", "attention"])
def test_ties_the_layers_from_bottom_to_top(folder, loss):
    """What reaches the loss is what the layers used: the lowest, with the top cross-attention."""
    model, task, _ = build(folder, "latent_phrase_transformer", "--decoder-layers=4")
    arguments = objective(loss=loss).model_arguments(model)
    kind = "attention" if loss == "attention" else "distances"
    lowest = {f"source_{kind}": (0, 1), f"target_{kind}": (0, 1)}
    assert arguments == {"structures": StructureLayers(**lowest, cross_attention=(2, 3))}
    sample = sample_of(task)
    with torch.no_grad():
        _, extra = model(**sample["net_input"], **arguments)
        for index, layer in enumerate((2, 3)):
            _, asked = model(**sample["net_input"], alignment_layer=layer)
            torch.testing.assert_close(extra["cross_attention"][index], asked["attn"][0])
    assert [len(extra[f"{side}_{kind}"]) for side in ("source", "target")] == [2, 2]


@pytest.mark.parametrize(
    ("arch", "options", "message"),
    [
        ("latent_phrase_transformer", {"layers": 1}, "--sync-layers 1, but --latent-phrase-layers"),
        ("latent_phrase_transformer", {"layers": 3}, "--sync-layers 3: the encoder has 2 layers"),
        ("syntax_transformer", {}, "no syntactic distances"),
    ],
)
def test_models_that_do_not_fit(folder, arch, options, message):
    model, task, _ = build(folder, arch)
    with pytest.raises(UserError, match=message):
        objective(**options).model_arguments(model)
    with pytest.raises(UserError):
        criterion_of(task, objective(**options))(model, sample_of(task))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--sync-margin=nan", "--sync-margin nan: give a number from 0 on"),
        ("--sync-cross-layers=0,1", "go with --sync-loss attention"),
        ("--sync-loss=attention --sync-cross-layers=x", "--sync-cross-layers x"),
        ("--sync-loss=attention --sync-cross-layers=0", "give equally many"),
        ("--sync-loss=attention --sync-cross-layers=0,2", "--sync-cross-layers 2"),
    ],
)
def test_contradicting_options(folder, options, message):
    criterion = ("--criterion", "synchronous_cross_entropy", *options.split())
    model, task, cfg = build(folder, "latent_phrase_transformer", *criterion)
    with pytest.raises(UserError, match=message):
        task.build_criterion(cfg.criterion).objectives[0].model_arguments(model)


def test_every_option_reaches_the_loss(folder):
    """None has its default; those of layers go with another loss."""
    options = (
        "--sync-weight=.3 --sync-loss=rank --sync-normalize=mean --sync-margin=.1 --sync-shift "
        "--sync-layers=1"
    )
    chosen = "--sync-encoder-layers=1 --sync-decoder-layers=0 --sync-cross-layers=-1"
    criterion = "--criterion=synchronous_cross_entropy"
    for given, expected in (
        (options, SynchronousObjective(EOS, PAD, "rank", 0.3, "mean", 0.1, True, 1)),
        (
            f"--sync-weight=.5 --sync-loss=attention {chosen}",
            objective("attention", encoder_layers=(1,), decoder_layers=(0,), cross_layers=(-1,)),
        ),
    ):
        model, task, cfg = build(folder, "syntax_transformer", criterion, *given.split())
        assert task.build_criterion(cfg.criterion).objectives == [expected]
    assert expected.model_arguments(model)["structures"] == StructureLayers(
        source_attention=(1,), target_attention=(0,), cross_attention=(1,)
    )


OF_LAYERS = "--sync-encoder-layers=0 --sync-decoder-layers=0 --sync-cross-layers=0"


@pytest.mark.parametrize(
    ("options", "unread", "beside"),
    [
        (
            "--sync-loss=mse --sync-margin=-3 --sync-encoder-layers=7,9",
            "--sync-loss --sync-margin --sync-encoder-layers",
            "--sync-weight 0",
        ),
        ("--sync-weight=0.1 --sync-loss=mse --sync-margin=5", "--sync-margin", "--sync-loss mse"),
        (
            f"--sync-weight=0.1 --sync-loss=attention --sync-layers=7 {OF_LAYERS}",
            "--sync-layers",
            "three lists of --sync-…-layers",
        ),
        ("--sync-weight=0.1 --sync-margin=5", "", ""),
    ],
)
def test_options_without_effect_are_named(folder, options, unread, beside, caplog):
    """A warning, as fairseq-validate builds the criterion of a checkpoint like a new one."""
    _, task, cfg = build(
        folder, "latent_phrase_transformer", "--criterion", "syntax_cross_entropy", *options.split()
    )
    task.build_criterion(cfg.criterion)
    said = [r.getMessage() for r in caplog.records if "has no effect" in r.getMessage()]
    assert [line.partition(":")[0] for line in said] == [
        f"{option} has no effect beside {beside}" for option in unread.split()
    ]


def test_chosen_layers_need_no_number_of_layers(folder):
    model, _, _ = build(folder, "syntax_transformer", "--encoder-layers=1")
    tied = dict(encoder_layers=(0,), decoder_layers=(0,), cross_layers=(-1,))
    objective(loss="attention", **tied).model_arguments(model)
    del tied["cross_layers"]
    with pytest.raises(UserError, match="--sync-layers 2: the encoder has 1 layers"):
        objective(loss="attention", **tied).model_arguments(model)


@pytest.mark.parametrize(
    ("arch", "loss"),
    [
        ("latent_phrase_transformer", "rank"),
        ("latent_phrase_transformer", "mse"),
        ("latent_phrase_transformer", "attention"),
        ("syntax_transformer", "attention"),
    ],
)
def test_the_side_of_the_targets_pads_changes_nothing(folder, arch, loss):
    model, task, _ = build(folder, arch)
    criterion, losses = criterion_of(task, objective(loss=loss, shift=True)), []
    for left in (False, True):
        model.zero_grad()
        sample = sample_of(task, left_pad_target=left)
        total, _, logs = criterion(model, sample)
        total.backward()
        losses.append((total.item(), logs["sync_loss"].item()))
        assert all(torch.isfinite(p.grad).all() for p in model.parameters())
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--no-cross-attention", ["--phrase-segmentation=ngram"]),
        ("--cross-self-attention", []),
        ("--encoder-layerdrop", ["0.5"]),
        ("--decoder-layerdrop", ["0.5"]),
    ],
)
def test_layers_that_cannot_be_tied(folder, option, value):
    model, _, _ = build(folder, "syntax_transformer", option, *value)
    with pytest.raises(UserError, match=f"cannot be combined with {option}"):
        objective(loss="attention").model_arguments(model)


def test_base_layers_are_not_tied(folder):
    """fairseq puts them among the decoder's layers; to build them takes several workers."""
    model, _, _ = build(folder, "syntax_transformer")
    model.decoder.cfg.base_layers = 1
    with pytest.raises(UserError, match="cannot be combined with --base-layers"):
        objective(loss="attention").model_arguments(model)
