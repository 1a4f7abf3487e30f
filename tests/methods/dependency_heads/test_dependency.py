"""The dependency loss equals the paper's equations written as loops, in float64."""

import math
import random
import shutil

import pytest
import torch
from nonempty import some
from small_models import (
    annotated_batch,
    batch,
    build,
    fill_zeros,
    pieces_of_words,
    random_sentences,
    write_dictionaries,
)
from trees_of import random_heads

from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention
from syntax_nmt.errors import UserError
from syntax_nmt.methods.dependency_heads.loss import DependencyObjective, child_head_losses
from syntax_nmt.methods.parent_heads import first_heads, parent_head_losses

UNSUPERVISED = -1


def padded_heads(rng, width=9):
    """Heads of five sentences, padded on alternating sides, one of them without a parse."""
    rows = []
    for number, size in enumerate((8, 5, 1, 2, 4)):
        tree = random_heads(rng, size)
        offset = 0 if number % 2 else width - 1 - size
        row = [UNSUPERVISED] * width
        if number != 4:
            row[offset : offset + size] = [offset + head for head in tree]
        rows.append(row)
    return torch.tensor(rows)


def targets(heads):
    """Equations 4 and 5: the child matrix and the parent matrix of one sentence."""
    width = len(heads)
    child = torch.zeros(width, width, dtype=torch.float64)
    parent = torch.zeros(width, width, dtype=torch.float64)
    for i in range(width):
        if heads[i] == UNSUPERVISED:
            continue
        children = [j for j in range(width) if heads[j] == i and j != i]
        for j in children:
            child[i, j] = 1 / len(children)
        if not children:
            child[i, i] = 1
        parent[i, heads[i]] = 1
    return child, parent


def cross_entropy(target, log_probabilities):
    """Equations 6 and 7: a sum over all i and j with a target."""
    total = 0.0
    for i in range(len(target)):
        for j in range(len(target)):
            if target[i, j] > 0:
                total -= float(target[i, j]) * float(log_probabilities[i, j])
    return total


@pytest.mark.parametrize("seed", range(5))
def test_losses_equal_the_equations(seed):
    heads = padded_heads(random.Random(seed))
    logits = torch.randn(2, *heads.shape, heads.size(1), dtype=torch.float64)
    log_probabilities = logits.log_softmax(-1)
    child, parent = log_probabilities
    parent_losses, attached = parent_head_losses(parent, heads)
    child_losses = child_head_losses(child, heads)
    for b, row in some(enumerate(heads.tolist())):
        child_target, parent_target = targets(row)
        expected_child = cross_entropy(child_target, child[b])
        expected_parent = cross_entropy(parent_target, parent[b])
        assert float(child_losses[b].sum()) == pytest.approx(expected_child, abs=1e-10)
        assert float(parent_losses[b].sum()) == pytest.approx(expected_parent, abs=1e-10)
        for i, head in enumerate(row):
            best = int(parent[b, i].argmax())
            assert bool(attached[b, i]) == (head != UNSUPERVISED and head == best)


def test_gradients():
    heads = padded_heads(random.Random(1))
    logits = torch.randn(*heads.shape, heads.size(1), dtype=torch.float64, requires_grad=True)
    pads = heads.eq(UNSUPERVISED) & (torch.arange(heads.size(1)) != heads.size(1) - 1)

    def loss(x):
        masked = x.masked_fill(pads[:, None, :], -math.inf).log_softmax(-1)
        return child_head_losses(masked, heads).sum() + parent_head_losses(masked, heads)[0].sum()

    assert torch.autograd.gradcheck(loss, logits)


def test_batch_without_any_parse_is_zero_with_a_gradient():
    heads = torch.full((2, 4), UNSUPERVISED)
    logits = torch.randn(2, 2, 4, 4, requires_grad=True)
    sample = {"heads": heads, "net_input": {"src_lengths": torch.tensor([4, 3])}}
    extra = {"supervised_heads": logits.log_softmax(-1)}
    loss, logs = DependencyObjective(0.4, 0.4)(extra, sample)
    loss.backward()
    assert loss.item() == 0
    assert logits.grad.abs().max() == 0
    assert logs["supervised"] == 0
    assert logs["source_words"] == 5


@pytest.fixture(scope="module")
def system(folder):
    options = ("--criterion=dependency_cross_entropy", "--label-smoothing=0.1")
    weights = ("--child-weight=0.3", "--parent-weight=0.7")
    model, task, cfg = build(folder, "dependency_transformer_tiny", *options, *weights)
    return model, task, task.build_criterion(cfg.criterion), cfg


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("scale", [0.0, 1.0, 300.0])
def test_losses_stay_finite_in_half_precision(system, dtype, scale):
    """From even attention to logits of tens of thousands, the loss and its gradient are finite."""
    _, task, criterion, _ = system
    sample = make_sample(task, True)
    width = sample["heads"].size(1)
    attention = FusedMultiheadAttention(16, 4, self_attention=True).to(dtype)
    with torch.no_grad():
        attention.q_proj.weight.mul_(scale)
    x = torch.randn(width, 2, 16).to(dtype).requires_grad_()
    padding = sample["net_input"]["src_tokens"].eq(task.source_dictionary.pad())
    log_probabilities = first_heads(attention, x, 2, padding.unsqueeze(1))
    assert log_probabilities.dtype == torch.float32
    loss, _ = criterion.objectives[0]({"supervised_heads": log_probabilities}, sample)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(x.grad).all()


def make_sample(task, left_pad_source):
    sources = random_sentences([6, 4])
    sample = batch(task.source_dictionary, sources, random_sentences([5, 7]), left_pad_source)
    trees = [[1, 1, 1, 2, 3], [0, 0, 1]]
    heads = torch.full_like(sample["net_input"]["src_tokens"], UNSUPERVISED)
    for row, tree in enumerate(trees):
        offset = (6 - 1 - len(tree)) if left_pad_source else 0
        heads[row, offset : offset + len(tree)] = torch.tensor(tree) + offset
    return {**sample, "heads": heads}


def test_criterion_adds_the_weighted_losses_and_logs_them_apart(system):
    model, task, criterion, _ = system
    for left in (True, False):
        sample = make_sample(task, left)
        loss, sample_size, logs = criterion(model, sample)
        expected = logs["loss"] + 0.3 * logs["child_loss"] + 0.7 * logs["parent_loss"]
        torch.testing.assert_close(loss.detach(), expected)
        assert sample_size == sample["ntokens"]
        assert logs["supervised"] == 8
        results = [logs[key] for key in ("loss", "child_loss", "parent_loss")]
        if left:
            left_results = results
    torch.testing.assert_close(results, left_results, atol=1e-4, rtol=1e-5)


def test_logged_figures(system):
    model, task, criterion, _ = system
    from fairseq.logging import metrics

    _, _, logs = criterion(model, make_sample(task, True))
    with metrics.aggregate() as aggregator:
        criterion.reduce_metrics([logs, logs])
    figures = aggregator.get_smoothed_values()
    assert figures["parent_loss"] == pytest.approx(
        float(logs["parent_loss"]) / 8 / math.log(2), abs=1e-3
    )
    assert figures["supervised"] == 100
    assert figures["uas"] == pytest.approx(100 * float(logs["attached"]) / 8, abs=0.01)
    assert figures["loss"] == pytest.approx(
        float(logs["loss"]) / logs["sample_size"] / math.log(2), abs=1e-3
    )


def test_supervision_changes_only_the_two_heads_and_what_is_below(system):
    """The gradient of the auxiliary loss reaches the rows of heads 0 and 1 and no others."""
    model, task, criterion, _ = system
    model.zero_grad()
    sample = make_sample(task, True)
    extra = model(**sample["net_input"])[1]
    criterion.objectives[0](extra, sample)[0].backward()
    top = model.encoder.layers[-1].self_attn
    width = 2 * top.head_dim
    for projection in (top.q_proj, top.k_proj):
        assert projection.weight.grad[:width].abs().max() > 0
        assert projection.weight.grad[width:].abs().max() == 0
    assert model.encoder.layers[0].fc1.weight.grad.abs().max() > 0
    assert all(parameter.grad is None for parameter in model.decoder.layers.parameters())


def test_missing_parses_and_missing_heads_are_named(system):
    model, task, criterion, _ = system
    sample = make_sample(task, True)
    del sample["heads"]
    with pytest.raises(UserError, match="--load-dependencies"):
        criterion(model, sample)
    with pytest.raises(UserError, match="--supervised-layer"):
        DependencyObjective(0.4, 0.4)({}, sample)


HEADS_LOSS = "--criterion=dependency_cross_entropy"
LABELLED = {
    "source": ("dependency_transformer", HEADS_LOSS, "--parent-weight=0.5"),
    "pre-norm": (
        *("dependency_transformer", HEADS_LOSS, "--parent-weight=0.5"),
        "--encoder-normalize-before",
    ),
    "target": (
        *("syntax_transformer", HEADS_LOSS),
        *("--target-supervised-layer=-1", "--target-parent-weight=0.5"),
        *("--parent-weight=0", "--child-weight=0"),
    ),
    "lisa": ("lisa_transformer", "--criterion=lisa_cross_entropy"),
    "lisa, pre-norm": (
        *("lisa_transformer", "--criterion=lisa_cross_entropy"),
        *("--encoder-normalize-before", "--lisa-layer=-1"),
    ),
}


@pytest.fixture(scope="module")
def labels_folder(tmp_path_factory):
    folder = write_dictionaries(tmp_path_factory.mktemp("labels"), pieces=True)
    for name in ("deprel", "target_deprel"):
        labels = ("<unk>", "acl", "acl:relcl", "nsubj", "root", "_")
        (folder / f"dict.{name}.txt").write_text("\n".join([*labels, ""]))
    return folder


def labeller_of(stack):
    return next(each.labeller for each in stack.extensions if getattr(each, "arc_labels", ()))


def labelled(folder, name, which="full"):
    """A model in float64 in which all parameters matter."""
    loaded = ("--load-features=deprel", "--load-target-features=deprel")
    options = (f"--dependency-labels={which}", "--dependency-label-dim=5", "--label-weight=0.3")
    model, task, cfg = build(folder, *LABELLED[name], *loaded, *options)
    return fill_zeros(model, 0.5).double(), task, cfg


@pytest.mark.parametrize("which", ["full", "universal"])
@pytest.mark.parametrize("name", LABELLED)
def test_labels_equal_the_equations(labels_folder, name, which):
    """Logits of gold arcs, loss and gradients, a word at a time."""
    model, task, cfg = labelled(labels_folder, name, which)
    sources, targets = random_sentences([9, 6]), random_sentences([5, 8], 9)
    sample = annotated_batch(model, task, sources, targets)
    on_source, stack = name != "target", model.decoder if name == "target" else model.encoder
    scorer, names = labeller_of(stack), stack.arc_labels
    seen = {}
    hook = scorer.register_forward_pre_hook(lambda module, args: seen.update(x=args[0]))
    _, extra = model(**sample["net_input"])
    hook.remove()
    (objective,) = task.build_criterion(cfg.criterion).objectives
    found, logs = objective(extra, sample)
    objective.label_weight = 0.0
    without, _ = objective(extra, sample)
    sentences = sources if on_source else targets
    prefix = "" if on_source else "target_"
    heads, labels = sample[f"{prefix}heads"], sample[f"{prefix}feature_deprel"]
    width = heads.size(1)
    d, e = (
        torch.nn.functional.leaky_relu(seen["x"] @ view.weight.t() + view.bias, 0.1).transpose(0, 1)
        for view in (scorer.dependent, scorer.governor)
    )
    matrix, left = scorer.of_pairs.weight.view(len(names), 5, 5), scorer.alone
    right_half = scorer.of_pairs.bias.view(len(names), 5)
    later = 0 if on_source else 1  # the step that reads a word comes after the one for it
    every = ("<unk>", "acl", "acl:relcl", "nsubj", "root", "_")
    expected, words, right = found.new_zeros(()), 0, 0
    for row, tokens in enumerate(sentences):
        start = width - len(tokens) if on_source else 0
        counts = pieces_of_words(task.source_dictionary, tokens[:-1].tolist())
        place = start
        for count in counts:
            head, label = int(heads[row, place]), int(labels[row, place])
            if head >= 0 and label >= 1 and (on_source or head <= place):
                i, j = place + later, head + later
                logits = torch.stack(
                    [
                        d[row, i] @ matrix[r].t() @ e[row, j]
                        + left.weight[r] @ d[row, i] + left.bias[r] + right_half[r] @ e[row, j]
                        for r in range(len(names))
                    ]
                )  # fmt: skip
                gold = every[label - 1]
                gold = names.index(gold.partition(":")[0] if which == "universal" else gold)
                expected = expected - 0.3 * logits.log_softmax(0)[gold]
                words, right = words + 1, right + int(logits.argmax() == gold)
            place += count
    assert words > 3
    key = "arc_labels" if on_source else "target_arc_labels"
    key = "parse_labels" if name.startswith("lisa") else key
    assert (logs[f"{key}_supervised"], logs[f"{key}_right"]) == (words, right)
    torch.testing.assert_close(found - without, expected, atol=1e-10, rtol=1e-9)
    used = [*scorer.parameters(), model.encoder.embed_tokens.weight]
    ours, theirs = (
        torch.autograd.grad(y, used, retain_graph=True) for y in (found - without, expected)
    )
    torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=1e-8)


@pytest.mark.parametrize("root", ["root", "ROOT"])
def test_the_best_labels_are_those_of_the_logits(labels_folder, tmp_path, root):
    """Roots are `root`, other arcs are not; values without a meaning are never chosen."""
    folder = shutil.copytree(labels_folder, tmp_path / "data")
    labels = folder / "dict.deprel.txt"
    labels.write_text(labels.read_text().replace("root", root))
    model, task, _ = labelled(folder, "source")
    sample = annotated_batch(model, task, random_sentences([9, 6]), random_sentences([5, 8], 9))
    arcs = model(**sample["net_input"])[1]["arc_labels"]
    assert arcs.names == ("<unk>", "acl", "acl:relcl", "nsubj", root, "_")
    best = arcs.best(0, 8)
    for head in range(8):
        logits = arcs.logits(torch.full((2, 9), head))[0, :8]
        for word in range(8):
            wanted = 4 if word == head else 1 + int(logits[word, 1:4].argmax())
            assert best[word, head] == wanted


@pytest.mark.parametrize("name", ["source", "lisa"])
def test_words_without_a_relation_have_no_loss(labels_folder, name):
    model, task, cfg = labelled(labels_folder, name)
    sample = annotated_batch(model, task, random_sentences([9, 6]), random_sentences([5, 8], 9))
    sample["feature_deprel"] = torch.full_like(sample["feature_deprel"], -1)
    (objective,) = task.build_criterion(cfg.criterion).objectives
    _, extra = model(**sample["net_input"])
    found, logs = objective(extra, sample)
    key = "parse_labels" if name == "lisa" else "arc_labels"
    assert logs[f"{key}_loss"] == logs[f"{key}_supervised"] == 0
    for gradient in torch.autograd.grad(found, [*labeller_of(model.encoder).parameters()]):
        assert not gradient.any()
    del sample["feature_deprel"]
    with pytest.raises(UserError, match=r"needs the dependency relations .*: add --load-f"):
        objective(extra, sample)


def test_labels_of_words_that_are_predicted_are_refused(labels_folder):
    options = ("--target-supervised-layer=0", "--target-dependency-shift=predict")
    with pytest.raises(UserError, match="--dependency-labels labels words that the decoder has"):
        build(labels_folder, "syntax_transformer", *options, "--dependency-labels=full")


def test_two_parsers_of_a_layer_have_labels_of_their_own(labels_folder):
    """Each is trained, and `trees` has those of the parser whose heads it has."""
    model, task, cfg = build(
        labels_folder, "lisa_transformer", "--supervised-layer=-1", "--dependency-labels=full",
        "--criterion=syntax_cross_entropy", "--parse-weight=1", "--parent-weight=1",
        "--label-weight=0.3", "--load-features=deprel",
    )  # fmt: skip
    fill_zeros(model, 0.5)
    sample = annotated_batch(model, task, random_sentences([9, 6]), random_sentences([5, 8], 9))
    _, extra = model(**sample["net_input"])
    losses = [each(extra, sample)[0] for each in task.build_criterion(cfg.criterion).objectives]
    assert len(losses) == 2
    sum(losses).backward()
    for each in model.encoder.extensions:
        assert all(parameter.grad.any() for parameter in each.labeller.parameters())
    last = model.encoder.extensions[-1]
    assert last.option == "--lisa-layer"
    assert torch.equal(extra["arc_labels"].alone, extra["lisa_labels"].alone)
    assert torch.equal(extra["parents"], extra["lisa_heads"])


@pytest.mark.parametrize("option", ["--dependency-labels=full", "--dependency-label-dim=5"])
def test_labels_without_arcs_are_refused(labels_folder, option):
    needs = "--supervised-layer or --target-supervised-layer or --lisa-layer, such as 0"
    with pytest.raises(UserError, match=f"{option.partition('=')[0]} needs {needs}"):
        build(labels_folder, "syntax_transformer", option)
