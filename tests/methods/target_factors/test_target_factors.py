"""Target factors against loops in float64, what a search feeds back, and what nothing reads."""

from argparse import Namespace

import pytest
import torch
from fairseq.data import Dictionary
from fairseq_cli.interactive import make_batches
from small_models import (
    annotated_batch,
    batch,
    build,
    enlarge,
    fill_zeros,
    pieces_of_words,
    random_sentences,
    write_dictionaries,
)
from trees_of import tree_of

from syntax_nmt.backbone.extension import Target
from syntax_nmt.backbone.structures import TARGET_FACTORS
from syntax_nmt.data.annotation import TARGET_COLUMNS
from syntax_nmt.errors import UserError
from syntax_nmt.export.stock_transformer import feature_in_the_way, stock_transformer
from syntax_nmt.methods.target_factors.loss import FactorValidation
from syntax_nmt.scoring.accuracy import Accuracy
from syntax_nmt.scoring.words.matches import factor_accuracies

UPOS, _, DEPREL, *_ = TARGET_COLUMNS
KINDS = (UPOS, DEPREL)
LABELS = {"upos": 12, "deprel": 5}
LOSS = ("--criterion=factor_cross_entropy", "--target-factor-weight=0.7")
MODELS = {
    "transformer": ("factor_transformer",),
    "pre-norm": ("factor_transformer", "--decoder-normalize-before"),
    "narrow": ("factor_transformer", "--decoder-output-dim=8"),
    "rnn": ("factor_rnn",),
    "rnn+transformer": (
        *("syntax_hybrid", "--encoder-family=rnn", "--decoder-family=transformer"),
        *("--target-factors=upos,deprel", "--target-factor-dropout=0"),
    ),
    "bi_scale": ("bi_scale_rnn", "--target-factors=upos,deprel", "--target-factor-dropout=0"),
}
UNREAD = ("syntax_transformer", "--target-factors=upos,deprel", "--target-factor-inputs=none")
SHIFTS = ("read", "predict")
TARGETS = (5, 8, 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = write_dictionaries(tmp_path_factory.mktemp("data"))
    for name, number in LABELS.items():
        labels = ["<unk>", *(f"{name}{i}" for i in range(number - 2)), "_"]
        (made / f"dict.target_{name}.txt").write_text("\n".join([*labels, ""]))
    return made


def strong(folder, model="transformer", *options):
    """A model in float64 in which all parameters matter."""
    built, task, cfg = build(
        folder, *MODELS.get(model, UNREAD), *LOSS, "--load-target-features=upos,deprel", *options
    )
    return fill_zeros(enlarge(built, 3.0), 0.5).double(), task, cfg


def targets_of(first=9):
    return random_sentences(TARGETS, first)


def sample_of(model, task, searches=False):
    """Three pairs; at the top, values of words, the last of all without annotation."""
    sample = annotated_batch(
        model, task, random_sentences([9, 6, 4]), targets_of(), searches=searches
    )
    generator = torch.Generator().manual_seed(1)
    for kind in KINDS:
        values = torch.full((3, max(TARGETS)), -1, dtype=torch.int32)
        for row, length in enumerate(TARGETS[:2]):
            drawn = torch.randint(1, LABELS[kind.column] + 1, (length - 1,), generator=generator)
            values[row, : length - 1] = drawn
        sample[kind.key] = values
        if not searches and kind.key in sample["net_input"]:
            sample["net_input"][kind.key] = values
    return sample


def extension_of(model):
    return next(each for each in model.decoder.extensions if each.option == "--target-factors")


def guessed(values, row, r, shift):
    """g_r: the value that row r guesses, 0 = none."""
    place = r - 1 if shift == "read" else r
    return max(int(values[row, place]), 0) if place >= 0 else 0


def features_of(model, inputs):
    """What the output layer reads, and what the model returns beside its logits."""
    seen = {}
    hook = model.decoder.output_projection.register_forward_pre_hook(
        lambda module, args: seen.update(features=args[0])
    )
    _, extra = model(**inputs)
    hook.remove()
    return seen["features"], extra


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("name", MODELS)
def test_inputs_and_losses_equal_the_equations(folder, name, shift):
    model, task, cfg = strong(folder, name, f"--target-factor-shift={shift}")
    sample = sample_of(model, task)
    (objective,) = task.build_criterion(cfg.criterion).objectives
    features, extra = features_of(model, sample["net_input"])
    found, logs = objective(extra, sample)
    assert [each.kind for each in extra[TARGET_FACTORS]] == [*KINDS]
    tables = extension_of(model).tables
    tokens = sample["net_input"]["prev_output_tokens"]
    embeddings = model.decoder.embed_tokens.weight
    vectors = extension_of(model).embed(
        model.decoder.embed_tokens(tokens), Target(sample["net_input"], {})
    )
    expected, words, right, inputs = features.new_zeros(()), 0, 0, features.new_zeros(())
    for row, length in enumerate(TARGETS):
        for r in range(length):
            vector, start = embeddings[tokens[row, r]], 0
            for kind in KINDS:
                size, values = LABELS[kind.column], sample[kind.key]
                before = guessed(values, row, r - 1, shift) if r else 0
                if before:
                    vector = vector + tables.table.weight[start + before]
                gold = guessed(values, row, r, shift)
                if gold:
                    weight = tables.output.weight[start : start + size]
                    bias = tables.output.bias[start : start + size]
                    logits = torch.stack([w @ features[row, r] for w in weight]) + bias
                    expected = expected - 0.7 * logits.log_softmax(0)[gold - 1]
                    words, right = words + 1, right + int(logits.argmax() == gold - 1)
                start += size
            torch.testing.assert_close(vectors[row, r], vector, atol=1e-12, rtol=0)
            inputs = inputs + vector.sin().sum()
    assert words == 2 * (4 + 7)  # EOS is none, the last sentence has no annotation
    assert sum(logs[f"{kind.key}_words"] for kind in KINDS) == words
    assert sum(logs[f"{kind.key}_right"] for kind in KINDS) == right
    torch.testing.assert_close(found, expected, atol=1e-11, rtol=1e-10)
    used = [*tables.output.parameters(), embeddings]
    ours, theirs = (torch.autograd.grad(y, used, retain_graph=True) for y in (found, expected))
    torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=1e-9)
    real = torch.arange(max(TARGETS)) < torch.tensor(TARGETS)[:, None]
    ours, theirs = (
        torch.autograd.grad(y, tables.table.weight)[0]
        for y in (vectors.sin().sum(-1)[real].sum(), inputs)
    )
    torch.testing.assert_close(ours, theirs, atol=1e-11, rtol=1e-10)


@torch.no_grad()
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("name", ["transformer", "rnn", "rnn+transformer"])
def test_a_search_feeds_back_what_it_chose(folder, name, shift):
    """Each value by a whole forward pass that is given those before it, as if annotated."""
    model, task, _ = strong(folder, name, f"--target-factor-shift={shift}")
    extension_of(model).tables.output.bias.zero_()  # values then depend on words
    inputs = sample_of(model, task, searches=True)["net_input"]
    assert not any(kind.key in inputs for kind in KINDS)
    found, extra = model(**inputs)
    chosen = {kind.key: torch.full((3, max(TARGETS)), -1) for kind in KINDS}
    for r in range(max(TARGETS)):
        logits, given = model(**inputs, **chosen)
        real = torch.tensor(TARGETS) > r
        torch.testing.assert_close(found[real, r], logits[real, r], atol=1e-10, rtol=1e-10)
        place = r - 1 if shift == "read" else r
        for own, other in zip(extra[TARGET_FACTORS], given[TARGET_FACTORS]):
            if place >= 0:
                chosen[own.kind.key][:, place] = other.logits[:, place].argmax(-1) + 1
                ours, theirs = own.logits[real, place], other.logits[real, place]
                torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=1e-10)
    assert len(set(chosen[UPOS.key].flatten().tolist()) - {-1}) >= 2
    nothing = {kind.key: torch.full_like(chosen[kind.key], -1) for kind in KINDS}
    assert (found - model(**inputs, **nothing)[0]).abs().max() > 1e-2


@torch.no_grad()
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("name", ["transformer", "rnn"])
def test_hypotheses_keep_their_own_values(folder, name, shift):
    """Two rows of one source that differ in words swap places."""
    model, task, _ = strong(folder, name, f"--target-factor-shift={shift}")
    source, (one, other) = random_sentences([6])[0], random_sentences([7, 7], 8)
    inputs = annotated_batch(model, task, [source] * 2, [one, other], searches=True)["net_input"]
    expected = model(**inputs)[0]
    encoder_out = model.encoder(inputs["src_tokens"], inputs["src_lengths"])
    order, tokens, cache = torch.tensor([1, 0]), inputs["prev_output_tokens"], {}
    for step in range(7):
        if step == 4:
            before = extension_of(model).tables.last(cache)
            model.decoder.reorder_incremental_state_scripting(cache, order)
            after = extension_of(model).tables.last(cache)
            assert all(torch.equal(x, y[order]) for x, y in zip(after, before))
            tokens, expected = tokens[order], expected[order]
        logits = model.decoder(tokens[:, : step + 1], encoder_out, incremental_state=cache)[0]
        torch.testing.assert_close(logits[:, -1], expected[:, step], atol=1e-10, rtol=1e-10)


@torch.no_grad()
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("name", ["transformer", "rnn", "bi_scale"])
def test_scores_of_hypotheses_add_those_of_their_values(folder, name, shift):
    """As forced decoding finds them, and with weight 0 the words alone are scored."""
    more = ("--no-joint-score",) if name == "bi_scale" else ()
    model, task, _ = strong(
        folder, name, f"--target-factor-shift={shift}", "--target-factor-score=0.6", *more
    )
    plain, _, _ = strong(folder, name, f"--target-factor-shift={shift}", *more)
    plain.load_state_dict(model.state_dict())
    assert model.decoder.joint_score
    assert not plain.decoder.joint_score
    sample = sample_of(model, task, searches=True)
    sources = {key: sample["net_input"][key] for key in ("src_tokens", "src_lengths")}
    order = {}
    for weight, each in ((0.6, model), (0, plain)):
        search = task.build_generator([each], Namespace(beam=4, max_len_b=9, unnormalized=True))
        found = task.inference_step(search, [each], sample)
        order[weight] = [[x["tokens"].tolist() for x in of_row] for of_row in found]
        for row, of_row in enumerate(found):
            for hypothesis in of_row:
                tokens = hypothesis["tokens"]
                row_of = {key: value[row : row + 1] for key, value in sources.items()}
                logits, extra = each(**row_of, prev_output_tokens=tokens.roll(1)[None])
                words = logits[0].log_softmax(-1).gather(1, tokens[:, None]).sum()
                values = sum(
                    float(factor.logits[0, place].log_softmax(-1).amax())
                    for factor in extra[TARGET_FACTORS]
                    for place in range(len(tokens) - 1)  # EOS has none
                )
                torch.testing.assert_close(
                    hypothesis["score"].double(), words + weight * values, atol=1e-4, rtol=1e-5
                )
    assert order[0.6] != order[0]


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("name", ["transformer", "rnn"])
def test_no_row_reads_its_own_or_later_values(folder, name, shift):
    """Each word has a value of its own; the gradient of those that are not read is exactly 0."""
    model, task, _ = strong(folder, name, f"--target-factor-shift={shift}", "--target-factors=upos")
    sample = annotated_batch(model, task, random_sentences([6]), random_sentences([9], 4))
    inputs = sample["net_input"]
    inputs[UPOS.key] = torch.tensor([[*range(1, 9), -1]])
    logits, extra = model(**inputs)
    table = extension_of(model).tables.table.weight
    for r in range(9):
        (gradient,) = torch.autograd.grad(logits[0, r].sin().sum(), table, retain_graph=True)
        read = r - 1 if shift == "read" else r  # the values of so many words
        assert gradient[1 : 1 + max(read, 0)].abs().sum(1).gt(0).all()
        assert not gradient[1 + max(read, 0) :].any()
        assert not gradient[0].any()
    if shift == "read":  # neither does a value's own logits
        (each,) = extra[TARGET_FACTORS]
        (gradient,) = torch.autograd.grad(each.logits[0, 3].sin().sum(), table)
        assert gradient[1:4].any()
        assert not gradient[4:].any()


def test_a_batch_without_annotation_has_no_loss(folder):
    model, task, cfg = strong(folder)
    sample = sample_of(model, task)
    for kind in KINDS:
        sample[kind.key] = torch.full_like(sample[kind.key], -1)
    (objective,) = task.build_criterion(cfg.criterion).objectives
    found, logs = objective(model(**sample["net_input"])[1], sample)
    assert found == 0
    assert logs[f"{UPOS.key}_words"] == 0
    for parameter in extension_of(model).tables.output.parameters():
        (gradient,) = torch.autograd.grad(found, parameter, retain_graph=True)
        assert not gradient.any()


@pytest.mark.parametrize("shift", SHIFTS)
def test_the_last_piece_of_a_word_may_count_alone(tmp_path, folder, shift):
    pieces = write_dictionaries(tmp_path, pieces=True)
    for kind in KINDS:
        (pieces / str(kind.labels_file)).write_bytes((folder / str(kind.labels_file)).read_bytes())
    found = {}
    for which in ("all", "last"):
        model, task, cfg = strong(
            pieces,
            "transformer",
            f"--target-factor-shift={shift}",
            f"--target-factor-pieces={which}",
        )
        sample = sample_of(model, task)
        (objective,) = task.build_criterion(cfg.criterion).objectives
        extra = model(**sample["net_input"])[1]
        found[which] = objective(extra, sample)
    expected, words = 0.0, 0
    for row, tokens in enumerate(targets_of()[:2]):
        place = -1
        for count in pieces_of_words(task.target_dictionary, tokens[:-1].tolist()):
            place += count
            for factor in extra[TARGET_FACTORS]:
                gold = int(sample[factor.kind.key][row, place]) - 1
                expected -= 0.7 * float(factor.logits[row, place].log_softmax(-1)[gold])
                words += 1
    loss, logs = found["last"]
    torch.testing.assert_close(float(loss), expected, atol=1e-10, rtol=1e-9)
    assert sum(logs[f"{kind.key}_words"] for kind in KINDS) == words
    assert sum(found["all"][1][f"{kind.key}_words"] for kind in KINDS) == 2 * (4 + 7) > words


def test_one_value_for_all_words_costs_nothing(folder):
    for kind in KINDS:
        (folder / str(kind.labels_file)).rename(folder / f"{kind.name}.kept")
        (folder / str(kind.labels_file)).write_text("<unk>\n")
    try:
        model, task, cfg = strong(folder)
    finally:
        for kind in KINDS:
            (folder / f"{kind.name}.kept").rename(folder / str(kind.labels_file))
    sample = annotated_batch(model, task, random_sentences([9, 6]), random_sentences([5, 8], 9))
    for kind in KINDS:
        ones = sample["target"].gt(3).int() * 2 - 1  # −1 at EOS and pads
        sample[kind.key] = sample["net_input"][kind.key] = ones
    (objective,) = task.build_criterion(cfg.criterion).objectives
    found, logs = objective(model(**sample["net_input"])[1], sample)
    assert found == 0
    assert logs[f"{UPOS.key}_words"] == 4 + 7


@torch.no_grad()
@pytest.mark.parametrize("silent", ["none", "zeros"])
def test_without_inputs_the_model_is_the_plain_one(folder, silent):
    """Logits and beams."""
    model, task, _ = strong(folder, "unread" if silent == "none" else "transformer")
    if silent == "zeros":
        extension_of(model).tables.table.weight.zero_()
    plain = build(folder, "syntax_transformer")[0].double()
    weights = {k: v for k, v in model.state_dict().items() if "target_factor" not in k}
    plain.load_state_dict(weights)
    sample = sample_of(model, task)
    logits = model(**sample["net_input"])[0]
    stock = {k: v for k, v in sample["net_input"].items() if k not in {x.key for x in KINDS}}
    assert torch.equal(logits, plain(**stock)[0])
    found = []
    for each in (model, plain):
        generator = task.build_generator([each], Namespace(beam=4, max_len_b=9))
        found.append(task.inference_step(generator, [each], sample_of(model, task)))
    for ours, theirs in zip(*found):
        assert [x["tokens"].tolist() for x in ours] == [x["tokens"].tolist() for x in theirs]
        assert [x["score"] for x in ours] == [x["score"] for x in theirs]


def test_validation_reads_the_models_own_values(folder):
    model, task, cfg = strong(folder)
    criterion = task.build_criterion(cfg.criterion)
    sample = sample_of(model, task)
    assert FactorValidation().applies(sample)
    with torch.no_grad():
        _, _, logs = task.valid_step(sample, model, criterion)
        inputs = {k: v for k, v in sample["net_input"].items() if k not in {x.key for x in KINDS}}
        own, _ = criterion(model, {**sample, "net_input": inputs})[0], None
        gold = criterion(model, sample)[0]
        total, _, _ = task.valid_step(sample, model, criterion)
    torch.testing.assert_close(total, own)
    assert (own - gold).abs() > 1e-3
    assert logs[f"{UPOS.key}_words"] == 4 + 7


def test_training_draws_values_that_count_as_none(folder):
    model, task, _ = strong(folder, "transformer", "--target-factor-dropout=0.5")
    sample = sample_of(model, task)["net_input"]
    tokens = sample["prev_output_tokens"]
    extension, zeros = extension_of(model), torch.zeros(*tokens.shape, 16).double()
    whole = extension.embed(zeros, Target(sample, {}))
    model.train()
    torch.manual_seed(0)
    drawn = extension.embed(zeros, Target(sample, {}))
    same = drawn.eq(whole).all(-1)[whole.any(-1)]
    assert same.any()
    assert not same.all()


def test_what_is_wrong_is_said(folder):
    with pytest.raises(UserError, match=r"--target-factors pos: 'pos' is no column: give upos"):
        build(folder, "factor_transformer", "--target-factors=pos")
    with pytest.raises(UserError, match="--target-factors names no column"):
        build(folder, "factor_transformer", "--target-factors=")
    with pytest.raises(UserError, match="--left-pad-target: steps of a search do not skip pads"):
        build(folder, "factor_transformer", "--left-pad-target")
    with pytest.raises(UserError, match="--print-factors: a training prints none: give it to"):
        build(folder, *UNREAD, "--print-factors")
    for option in ("--target-factor-score=0.5", "--target-factor-dropout=0.5"):
        with pytest.raises(UserError, match=r"^[a-z-]* needs --target-factor-inputs own$"):
            build(folder, *UNREAD, option)
    (folder / "dict.target_feats.txt").unlink()
    with pytest.raises(
        UserError, match=r"no dict.target_feats.txt: make it with `prepare --target"
    ):
        build(folder, "factor_transformer", "--target-factors=feats")
    model, task, cfg = strong(folder)
    inputs = sample_of(model, task, searches=True)["net_input"]
    with pytest.raises(UserError, match=r"relations .* add --load-target-features upos,deprel"):
        model.train()(**inputs)
    inputs[UPOS.key] = torch.zeros_like(inputs["prev_output_tokens"])
    with pytest.raises(UserError, match=r"reads dependency relations .* upos,deprel to"):
        model(**inputs)
    (objective,) = task.build_criterion(cfg.criterion).objectives
    with pytest.raises(UserError, match="the model has no target factors: give --arch"):
        objective({}, {})
    sample = sample_of(model, task)
    del sample[UPOS.key]
    with pytest.raises(UserError, match=r"add --load-target-features upos .`syntax-nmt"):
        objective(model(**sample["net_input"])[1], sample)


@torch.no_grad()
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("name", ["transformer", "rnn"])
def test_hypotheses_have_what_the_search_chose(folder, name, shift, monkeypatch, capsys):
    model, task, _ = strong(folder, name, f"--target-factor-shift={shift}")
    tables, kept = extension_of(model).tables, []
    choose = tables.best
    with monkeypatch.context() as patched:
        patched.setattr(tables, "best", lambda *x: kept.append(choose(*x)) or kept[-1])
        generator = task.build_generator([model], Namespace(beam=1, max_len_b=6))
        task.gives_factors = True
        sample = annotated_batch(
            model, task, random_sentences([6]), random_sentences([3]), searches=True
        )
        ((best,),) = task.inference_step(generator, [model], sample)
    tokens, columns = best["tokens"].tolist()[:-1], extension_of(model).columns
    assert best["factors"]["form"] == [task.target_dictionary[token] for token in tokens]
    start = 1
    for place, (column, labels) in enumerate(columns.items()):
        found = best["factors"][column.column]
        for word, value in enumerate(found):
            chosen = kept[word + (shift == "read")]  # the step that reads a word, or predicts it
            assert value == labels[int(chosen.ids[0, 0, place]) - start]
        start += len(labels)
    assert len(tokens) > 2
    task.cfg.print_factors = True
    task.inference_step(generator, [model], sample)
    lines = [f"F-0\t{key}\t{' '.join(values)}" for key, values in best["factors"].items()]
    assert capsys.readouterr().out.splitlines() == lines


def test_a_model_without_factors_prints_none(folder):
    """What was asked for is not left out in silence."""
    model, task, _ = build(folder, "syntax_transformer")
    task.cfg.print_factors = True
    generator = task.build_generator([model], Namespace(beam=1, max_len_b=6))
    sample = annotated_batch(
        model, task, random_sentences([6]), random_sentences([3]), searches=True
    )
    with pytest.raises(UserError, match=r"--print-factors: .* has no target factors: leave it out"):
        task.inference_step(generator, [model], sample)


@torch.no_grad()
def test_every_hypothesis_has_factors_where_the_source_has_trees(folder):
    """The facts about a batch of trees are not those of its hypotheses."""
    trees = ("--tree-encoder=bidirectional", "--target-factors=upos")
    model, task, _ = build(folder, "rnn_search_cgru", *trees)
    enlarge(model)
    generator = task.build_generator([model], Namespace(beam=3, max_len_b=6))
    task.gives_factors = True
    sources = random_sentences([9, 4, 12, 6])
    found = [
        task.inference_step(
            generator,
            [model],
            annotated_batch(model, task, some, random_sentences([3] * len(some)), searches=True),
        )
        for some in (sources, *([each] for each in sources))
    ]
    together, alone = found[0], [of_row for (of_row,) in found[1:]]
    for row, expected in zip(together, alone, strict=True):
        assert len(row) == 3
        assert [x["factors"] for x in row] == [x["factors"] for x in expected]


@torch.no_grad()
@pytest.mark.parametrize("diverse", [{}, {"diverse_beam_groups": 2, "diverse_beam_strength": 0.5}])
def test_factors_have_the_numbers_of_their_sentences(folder, diverse, capsys):
    """Those of the text, whatever the batch or the search numbers them by."""
    model, task, cfg = build(folder, *UNREAD)
    task.cfg.print_factors = True
    generator = task.build_generator([model], Namespace(beam=2, max_len_b=6, **diverse))
    sample = batch(task.source_dictionary, random_sentences([6, 4]), random_sentences([3, 3]))
    sample["id"] = torch.tensor([7, 5])
    task.inference_step(generator, [model], sample)
    assert numbers_printed(capsys) == ["F-7"] * 3 + ["F-5"] * 3
    for buffer, expected in ((["w1", "w2 w3 w4"], "10"), (["w4 w5", "w6", "w7 w8 w9"], "423")):
        for typed in make_batches(buffer, cfg, task, (99, 99), str):  # the longest first
            inputs = {"src_tokens": typed.src_tokens, "src_lengths": typed.src_lengths}
            task.inference_step(generator, [model], {"net_input": inputs})
        assert numbers_printed(capsys) == [f"F-{number}" for number in expected for _ in range(3)]


def numbers_printed(capsys):
    return [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()]


def test_factors_of_words_in_common_with_the_reference():
    tree = tree_of([1, 1, 1, 1], words=["a", "b", "a", "c"], upos=["DET", "VERB", "NOUN", "X"])
    factors = {"form": ["a", "d", "a", "b"], "upos": ["DET", "VERB", "DET", "VERB"]}
    assert factor_accuracies([tree, None], [factors, factors]) == {"upos": Accuracy(2, 3)}


@pytest.mark.parametrize("inputs", ["own", "none"])
def test_export(folder, inputs):
    """Without what no step reads the model is fairseq's."""
    model, task, cfg = build(folder, *(UNREAD if inputs == "none" else MODELS["transformer"]))
    feature = feature_in_the_way(model, cfg.model)
    if inputs == "own":
        assert feature == "--target-factors upos,deprel"
        return
    assert feature is None
    stock, _ = stock_transformer(model, cfg.model, task)
    given = sample_of(model, task, searches=True)["net_input"]
    real = given["prev_output_tokens"].ne(task.target_dictionary.pad())
    torch.testing.assert_close(stock(**given)[0][real], model(**given)[0][real])


PLACES = 10


@pytest.fixture(scope="module")
def parity(tmp_path_factory):
    """Words of the target that look the same whether an even or odd number of the source's letters
    so far is a b; only the last word of a translation tells it."""
    folder, dictionary = tmp_path_factory.mktemp("parity"), Dictionary()
    for place in range(PLACES):
        for symbol in (f"a{place}", f"b{place}", f"w{place}"):
            dictionary.add_symbol(symbol)
    dictionary.add_symbol("even")
    dictionary.add_symbol("odd")
    for language in ("src", "tgt"):
        dictionary.save(str(folder / f"dict.{language}.txt"))
    (folder / "dict.target_upos.txt").write_text("<unk>\nEVEN\nODD\n_\n")
    return folder


def drawn(dictionary, sentences, generator, reads):
    """A batch, with the tag of each word."""
    bits = torch.randint(0, 2, (sentences, PLACES), generator=generator)
    odd = bits.cumsum(1) % 2
    letters = torch.tensor([[dictionary.index(f"{x}{i}") for x in "ab"] for i in range(PLACES)])
    words = torch.tensor([dictionary.index(f"w{i}") for i in range(PLACES)])
    last = torch.tensor([dictionary.index("even"), dictionary.index("odd")])[odd[:, -1:]]
    eos = torch.full((sentences, 1), dictionary.eos())
    target = torch.cat([words.expand(sentences, -1), last, eos], 1)
    inputs = {
        "src_tokens": torch.cat([letters[torch.arange(PLACES), bits], eos], 1),
        "src_lengths": torch.full((sentences,), PLACES + 1),
        "prev_output_tokens": target.roll(1, 1),
    }
    tags = torch.cat([odd + 2, torch.full((sentences, 2), -1)], 1)
    sample = {"net_input": inputs, "target": target, "ntokens": target.numel(), UPOS.key: tags}
    return {**sample, "net_input": {**inputs, UPOS.key: tags} if reads else inputs}


def share_right(folder, inputs, updates=260):
    """The share of right translations after training on random pairs."""
    options = ("--target-factors=upos", "--target-factor-shift=predict")
    silent = ("--target-factor-dropout=0",) if inputs == "own" else ()
    model, task, cfg = build(
        folder, "factor_transformer", "--criterion=factor_cross_entropy", *options, *silent,
        f"--target-factor-inputs={inputs}", "--load-target-features=upos", width=32,
    )  # fmt: skip
    criterion, dictionary = task.build_criterion(cfg.criterion), task.target_dictionary
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
    generator = torch.Generator().manual_seed(1)
    model.train()
    for update in range(updates):
        for group in optimizer.param_groups:
            group["lr"] = 3e-3 * min(1, update / 50) * (1 if update < 0.6 * updates else 0.3)
        sample = drawn(dictionary, 64, generator, reads=inputs == "own")
        loss, size, _ = criterion(model, sample)
        optimizer.zero_grad()
        (loss / size).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    sample = drawn(dictionary, 200, torch.Generator().manual_seed(2), reads=False)
    search = task.build_generator([model.eval()], Namespace(beam=2, max_len_b=PLACES + 3))
    found = task.inference_step(search, [model], {**sample, "id": torch.arange(200)})
    pairs = zip(found, sample["target"].tolist())
    return sum(best["tokens"].tolist() == target for (best, *_), target in pairs) / 200


@pytest.mark.dear
def test_factors_tell_what_words_do_not(parity):
    """Each tag follows from the one before and a letter; from the words alone the last word is a
    guess, also where tags are predicted and not read."""
    assert share_right(parity, "own") > 0.9
    assert share_right(parity, "none") < 0.65
