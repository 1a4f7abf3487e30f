"""Variational decoders against loops in float64; their limits, their loss, their search."""

import math
from argparse import Namespace

import pytest
import torch
from rnn_loops import attend, gru, step
from small_models import batch, build, enlarge, random_sentences, write_dictionaries
from torch.distributions import Independent, Normal

from syntax_nmt.backbone.attentive_recurrence import ConditionalGRU
from syntax_nmt.errors import UserError
from syntax_nmt.methods.variational import latent
from syntax_nmt.methods.variational.decoder import (
    POSTERIOR_LOG_VARIANCE,
    POSTERIOR_MEAN,
    PRIOR_LOG_VARIANCE,
    PRIOR_MEAN,
)
from syntax_nmt.methods.variational.latent import Gaussian, divergence
from syntax_nmt.methods.variational.loss import VariationalObjective
from syntax_nmt.methods.variational.recurrence import VariationalGRU, words_to_come

E, C, M, A, Z = 3, 4, 5, 6, 2
STEPS, TOKENS = 4, 3
NOISE = 0.5
PAD, EOS = 1, 2


def strong(has_posterior=True):
    torch.manual_seed(4)
    made = VariationalGRU(ConditionalGRU(E, C, M, A), E, M, Z, has_posterior).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(std=0.6)
    return made


def numbers():
    """Encoder's states, words, words to come, first state, noise."""
    h = torch.randn(2, TOKENS, M, dtype=torch.float64, requires_grad=True)
    words, following = torch.randn(2, STEPS, 2, E, dtype=torch.float64)
    state = torch.randn(2, C, dtype=torch.float64)
    return h, words, following, state, torch.randn(STEPS, 2, Z, dtype=torch.float64)


def gaussian(module, words, context, state):
    """μ and log σ² of one step."""
    hidden = module.words.weight @ words + module.words.bias
    hidden = torch.tanh(hidden + module.context.weight @ context + module.state.weight @ state)
    found = module.parameters_of.weight @ hidden + module.parameters_of.bias
    return found[:Z], found[Z:]


def loops(recurrence, words, following, state, h, noise):
    """One sentence: the states, the attention's weights, and Σ KL over steps."""
    steps, states, weights, total = recurrence.steps, [], [], 0.0
    for j, word in enumerate(words):
        inputs = steps.input_projection.weight @ word + steps.input_projection.bias
        between = gru(inputs, steps.hidden_projection.weight @ state, state)
        rows = steps.query_projection.weight @ between
        alpha, context = attend(steps.attention, rows[3 * C :], h)
        mean, log_variance = chosen = gaussian(recurrence.prior, word, context, between)
        if following is not None:
            both = torch.cat([word, following[j]])
            chosen = gaussian(recurrence.posterior, both, context, between)
            for z in range(Z):
                of_q, of_p = torch.exp(chosen[1][z]), torch.exp(log_variance[z])
                total = (
                    total
                    + (
                        (log_variance[z] - chosen[1][z])
                        + (of_q + (chosen[0][z] - mean[z]) ** 2) / of_p
                        - 1
                    )
                    / 2
                )
        z = chosen[0] if noise is None else chosen[0] + torch.exp(chosen[1]).sqrt() * noise[j]
        read = torch.tanh(recurrence.latent.weight @ z + recurrence.latent.bias)
        second = steps.context_projection.weight @ context + steps.context_projection.bias
        second = second + recurrence.latent_projection.weight @ read
        state = gru(second, rows[: 3 * C], between)
        states.append(state)
        weights.append(alpha)
    return torch.stack(states), torch.stack(weights), torch.as_tensor(total)


@pytest.mark.parametrize("case", ["posterior", "learned noise", "evaluation"])
def test_equals_loops_with_gradients(case, monkeypatch):
    recurrence = strong(has_posterior=case != "learned noise")
    h, words, following, state, noise = numbers()
    monkeypatch.setattr(torch, "randn", lambda *shape, **options: noise)
    following = following if case == "posterior" else None
    noise = None if case == "evaluation" else noise
    recurrence.noise = NOISE
    recurrence.train(case != "evaluation")
    memory = recurrence.remember(h, torch.zeros(2, TOKENS, dtype=torch.bool))
    assert memory.values.size(-1) == 3 * C + Z * (1 + (case == "posterior")), "what nothing reads"
    calls = []
    recurrence.prior.register_forward_hook(lambda *each: calls.append(each))
    states, weights, gaussians = recurrence(words, state, memory, following)
    assert len(calls) == (1 if case == "posterior" else STEPS)
    monkeypatch.undo()
    assert len(gaussians) == 1 + (case == "posterior")
    total = states.new_zeros(())
    if case == "posterior":
        total = divergence(gaussians[1], gaussians[0]).sum()
        assert float(total) > 1
    rows = [
        loops(
            recurrence,
            words[:, row],
            None if following is None else following[:, row],
            state[row],
            h[row],
            None if noise is None else NOISE * noise[:, row],
        )
        for row in range(2)
    ]
    expected = [torch.stack(parts, dim=1) for parts in list(zip(*rows))[:2]]
    expected.append(sum(row[2] for row in rows))
    used = [h, *recurrence.parameters()]
    for found, theirs in zip((states, weights, total), expected):
        torch.testing.assert_close(found, theirs.to(found.dtype), atol=1e-12, rtol=1e-12)
        if not found.requires_grad:
            continue
        kernel = torch.randn(found.shape, dtype=torch.float64)
        options = {"allow_unused": True, "materialize_grads": True, "retain_graph": True}
        ours = torch.autograd.grad((found * kernel).sum(), used, **options)
        loop = torch.autograd.grad((theirs * kernel).sum(), used, **options)
        for one, other in zip(ours, loop):
            torch.testing.assert_close(one, other, atol=1e-10, rtol=1e-10)


def test_without_its_matrix_it_is_the_conditional_gru():
    recurrence = strong()
    h, words, following, state, _ = numbers()
    with torch.no_grad():
        recurrence.latent.weight.zero_()
        recurrence.latent.bias.zero_()
    memory = recurrence.remember(h, torch.zeros(2, TOKENS, dtype=torch.bool))
    states, weights, _ = recurrence(words, state, memory, following)
    for row in range(2):
        before = state[row]
        for j in range(STEPS):
            before, alpha, _ = step(recurrence.steps, words[j, row], before, h[row])
            torch.testing.assert_close(states[j, row], before)
            torch.testing.assert_close(weights[j, row], alpha)


def test_a_posterior_that_sees_nothing_more_is_the_prior():
    recurrence = strong()
    h, words, following, state, _ = numbers()
    prior, posterior = recurrence.prior, recurrence.posterior
    with torch.no_grad():
        posterior.words.weight[:, :E] = prior.words.weight
        posterior.words.weight[:, E:] = 0
        posterior.words.bias.copy_(prior.words.bias)
        for name in ("context", "state", "parameters_of"):
            getattr(posterior, name).load_state_dict(getattr(prior, name).state_dict())
    memory = recurrence.remember(h, torch.zeros(2, TOKENS, dtype=torch.bool))
    _, _, (of_prior, of_posterior) = recurrence(words, state, memory, following)
    assert divergence(of_posterior, of_prior).abs().max() < 1e-12


def test_divergence_against_torch_and_samples():
    torch.manual_seed(1)
    q, p = (Gaussian(*torch.randn(2, 1, 3, dtype=torch.float64)) for _ in range(2))

    def of_torch(found):
        return Independent(Normal(found.mean, (found.log_variance / 2).exp()), 1)

    exact = divergence(q, p)
    torch.testing.assert_close(exact, torch.distributions.kl_divergence(of_torch(q), of_torch(p)))
    z = latent.sample(q, torch.randn(200_000, 3, dtype=torch.float64))
    drawn = of_torch(q).log_prob(z) - of_torch(p).log_prob(z)
    assert float(drawn.mean()) == pytest.approx(float(exact), rel=0.01)
    assert divergence(q, q).abs().max() == 0


def test_the_sample_has_the_right_gradient():
    """Through z, with the noise fixed."""
    noise = torch.randn(2, 3, dtype=torch.float64)
    given = [torch.randn(2, 3, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    assert torch.autograd.gradcheck(
        lambda mean, spread: latent.sample(Gaussian(mean, spread), noise), given
    )


def test_words_to_come():
    right = torch.tensor([[EOS, 5, 6, 7], [EOS, 8, PAD, PAD], [EOS, PAD, PAD, PAD]])
    assert words_to_come(right, PAD, EOS).tolist() == [
        [5, 6, 7, EOS], [8, EOS, PAD, PAD], [EOS, PAD, PAD, PAD]
    ]  # fmt: skip
    left = torch.tensor([[PAD, EOS, 5, 6]])
    assert words_to_come(left, PAD, EOS)[0, 1:].tolist() == [5, 6, EOS]


@pytest.fixture
def trained(tmp_path):
    """A model in training, and a batch of targets of several lengths."""
    write_dictionaries(tmp_path)
    loud = ("--latent-dim=3", "--latent-from=posterior", "--latent-noise=1")
    model, task, _ = build(tmp_path, "variational_rnn", *loud)
    enlarge(model)
    sample = batch(task.source_dictionary, random_sentences([4, 2]), random_sentences([5, 3], 9))
    return model.train(), task, sample


def objective(task, **changed):
    options = {"kl_weight": 1.0, "kl_warmup": 0, "free_nats": 0.0} | changed
    return VariationalObjective.from_options(Namespace(**options), task)


def test_the_words_that_the_posterior_sees_are_the_targets(trained):
    _, task, sample = trained
    previous = sample["net_input"]["prev_output_tokens"]
    dictionary = task.target_dictionary
    come = words_to_come(previous, dictionary.pad(), dictionary.eos())
    assert torch.equal(come, sample["target"])


def test_the_posterior_sees_one_word_more_than_the_prior(trained):
    """The word to come, and nothing later: where the first Gaussian changes with each word."""
    model, task, sample = trained
    objective(task).prepare(model)
    tokens = sample["net_input"]["prev_output_tokens"]

    def means(previous):
        torch.manual_seed(2)  # the noise
        _, extra = model(**{**sample["net_input"], "prev_output_tokens": previous})
        return [extra[name][0][0] for name in (PRIOR_MEAN, POSTERIOR_MEAN)]

    for place in range(1, tokens.size(1)):
        other = tokens.clone()
        other[0, place] = 4 if tokens[0, place] > 4 else 5
        changes = [(a - b).abs().amax(1) > 1e-6 for a, b in zip(means(tokens), means(other))]
        assert [int(each.int().argmax()) for each in changes] == [place, place - 1]
        assert all(each.any() for each in changes)


def test_the_loss_counts_tokens_and_grows(trained):
    model, task, sample = trained
    loss = objective(task, kl_warmup=10, kl_weight=0.3)
    loss.prepare(model)
    _, extra = model(**sample["net_input"])
    prior, posterior = (
        Gaussian(extra[mean][0], extra[spread][0])
        for mean, spread in (
            (PRIOR_MEAN, PRIOR_LOG_VARIANCE), (POSTERIOR_MEAN, POSTERIOR_LOG_VARIANCE)
        )
    )  # fmt: skip
    real = sample["target"].ne(task.target_dictionary.pad())
    each = divergence(posterior, prior)
    expected = sum(float(kl) for kl, counts in zip(each.flatten(), real.flatten()) if counts)
    for updates, share in ((0, 0.0), (5, 0.5), (10, 1.0), (99, 1.0)):
        model.set_num_updates(updates)
        loss.prepare(model)
        found, logs = loss(extra, sample)
        assert float(found) == pytest.approx(0.3 * share * expected, rel=1e-5)
    assert float(logs["kl"]) == pytest.approx(expected, rel=1e-5)
    assert int(logs["kl_tokens"]) == int(real.sum()) < real.numel()
    means = posterior.mean[real]
    active = int((means.var(dim=0, unbiased=False) > 0.01).sum())
    assert int(logs["active_units"]) == active
    free = objective(task, free_nats=0.5)
    free.prepare(model)
    paid = sum(max(0.5, float(kl)) for kl in each[real])
    assert float(free(extra, sample)[0]) == pytest.approx(paid, rel=1e-5)


def test_at_the_first_update_every_parameter_has_a_gradient(trained):
    model, task, sample = trained
    loss = objective(task, kl_warmup=10)
    loss.prepare(model)
    logits, extra = model(**sample["net_input"])
    (logits.sum() + loss(extra, sample)[0]).backward()
    missing = [name for name, each in model.named_parameters() if each.grad is None]
    assert missing == []
    assert model.decoder.recurrence.prior.state.weight.grad.abs().max() == 0


def test_a_posterior_without_its_loss_is_refused(trained):
    """It would learn to hand over the word that is to be predicted."""
    model, _, sample = trained
    with pytest.raises(UserError, match="needs its loss: give --criterion variational_cross"):
        model(**sample["net_input"])


def test_evaluation_neither_draws_nor_sees_the_target(trained):
    model, task, sample = trained
    model.eval()
    (first, extra), (second, _) = (model(**sample["net_input"]) for _ in range(2))
    assert torch.equal(first, second)
    assert POSTERIOR_MEAN not in extra
    loss, logs = objective(task)(extra, sample)
    assert (float(loss), set(map(float, logs.values()))) == (0, {0.0})


def test_the_noise_is_that_of_training_alone(trained):
    model, task, sample = trained
    objective(task).prepare(model)
    (first, _), (second, _) = (model(**sample["net_input"]) for _ in range(2))
    assert not torch.equal(first, second)
    model.decoder.recurrence.noise = 0.0
    (first, _), (second, _) = (model(**sample["net_input"]) for _ in range(2))
    assert torch.equal(first, second)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--latent-dim=-1"], "--latent-dim -1: give a number from 0 on"),
        (["--latent-dim=3", "--latent-noise=nan"], "--latent-noise nan: give a number from 0 on"),
        (["--latent-dim=0", "--latent-from=posterior"], "--latent-noise needs --latent-dim"),
    ],
)
def test_refusals(tmp_path, options, message):
    write_dictionaries(tmp_path)
    with pytest.raises(UserError, match=message):
        build(tmp_path, "variational_rnn", *options)


@torch.no_grad()
def test_steps_of_a_search_equal_all_steps_at_once(trained):
    """Of the paper's model, whose posterior a search does not read, with rows that swap places."""
    model, _, sample = trained
    model.double().eval()
    inputs = sample["net_input"]
    sources = {key: inputs[key] for key in ("src_tokens", "src_lengths")}
    encoder_out = model.encoder(**sources)
    tokens, cache, order = inputs["prev_output_tokens"][:1].repeat(2, 1), {}, torch.tensor([1, 0])
    tokens[1] = tokens[1].flip(0)
    encoder_out = model.encoder.reorder_encoder_out(encoder_out, torch.tensor([0, 0]))
    expected = model.decoder(tokens, encoder_out)[0]
    for place in range(tokens.size(1)):
        if place:
            model.decoder.reorder_incremental_state_scripting(cache, order)
            tokens, expected = tokens[order], expected[order]
        logits = model.decoder(tokens[:, : place + 1], encoder_out, incremental_state=cache)[0]
        torch.testing.assert_close(logits[:, -1], expected[:, place], atol=1e-10, rtol=1e-10)


def test_it_stands_in_a_conditional_gru_alone(tmp_path):
    write_dictionaries(tmp_path)
    with pytest.raises(UserError, match="add --conditional-gru"):
        build(tmp_path, "rnn_search", "--latent-dim=3")
    with pytest.raises(UserError, match="--bi-scale and --latent-dim both replace the decoder"):
        build(tmp_path, "bi_scale_rnn", "--latent-dim=3")


def test_kl_is_logged_in_bits(monkeypatch):
    logged = {}
    monkeypatch.setattr(
        "fairseq.logging.metrics.log_scalar",
        lambda name, value, *_, **options: logged.update({name: value}),
    )
    sums = {"kl": 6 * math.log(2), "kl_tokens": 3, "active_units": 8, "kl_batches": 2}
    VariationalObjective.log(sums.get)
    assert logged == pytest.approx({"kl": 2.0, "active_units": 4.0})
