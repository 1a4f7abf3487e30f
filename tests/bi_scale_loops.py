"""The bi-scale decoder (Zhou et al., 2017) written as loops from its equations, in float64.

One sentence without pads at a time. Nothing here comes from the package but the weights.
"""

from types import SimpleNamespace

import torch
from rnn_loops import annotations, attend, gru, read_out, update_upper

OWN_CHOICE = -1


class EqualOutputs:
    """Compares a model's outputs with those of loops; the squares of either are added up, so that
    one loss has the gradients of all of them."""

    def __init__(self):
        self.found = self.expected = 0.0

    def compare(self, found, expected):
        torch.testing.assert_close(found, expected, atol=1e-10, rtol=0)
        self.found = self.found + found.pow(2).sum()
        self.expected = self.expected + expected.pow(2).sum()


def joint_scores(extra):
    """The scores of boundaries and tags, B×T, from what the model gives with its logits."""
    opened = extra["opened"][0]
    boundaries = extra["boundary_logits"][0].log_softmax(-1)
    scores = torch.where(opened, boundaries[..., 1], boundaries[..., 0])
    scores[:, 0] = 0
    tags = extra["tag_logits"][0].log_softmax(-1).max(-1).values
    return scores + tags.masked_fill(~opened, 0)


def linear(module, x):
    out = module.weight @ x
    return out if module.bias is None else out + module.bias


def update_chunk(clock, e, p, h):
    """The conditional GRU of the chunks: the new state, the context pc and its weights."""
    size = len(p)
    between = gru(linear(clock.input_projection, e), linear(clock.hidden_projection, p), p)
    both = clock.query_projection.weight
    weights, pc = attend(clock.attention, both[3 * size :] @ between, h)
    new = gru(linear(clock.context_projection, pc), both[: 3 * size] @ between, between)
    return new, pc, weights


def log_softmax(x):
    return x - torch.log(sum(torch.exp(value) for value in x))


def translate(model, source, target, boundaries, step_context=False):
    """The whole model over one source and the decoder's input; see :func:`decode`."""
    encoder = model.encoder
    h = annotations(encoder.network, encoder.embed_tokens.weight[source])
    return decode(model.decoder, h, target, boundaries, step_context)


def decode(decoder, h, target, boundaries, step_context=False):
    """The decoder over the annotations of one source, S×M, and its own input.

    `boundaries`: 1, 0 or −1 (the model's own choice) for each token; the first counts as 1.

    Gives the logits T×V, the weights of the words' and of the chunks' attention T×S, the boundaries
    in use, the gate's log-probabilities T×2, and those of tags where a chunk opens, by position.
    """
    recurrence, clock, gate = decoder.recurrence, decoder.recurrence.clock, decoder.recurrence.gate
    word_attention = recurrence.attention is not None
    mean = sum(h) / len(h)
    *states, p = [torch.tanh(start.weight @ mean) for start in decoder.start]
    size = len(p)
    last = torch.zeros_like(p)  # m(s~) where the last chunk opened
    out = SimpleNamespace(logits=[], attn=[], chunk_attn=[], opened=[], gate=[], tags={})
    for t, token in enumerate(target):
        y = decoder.embed_tokens.weight[token]
        s = gru(
            linear(recurrence.input_projection, y),
            linear(recurrence.hidden_projection, states[0]),
            states[0],
        )
        hidden = torch.tanh(gate.word.weight @ y + gate.word.bias + gate.state.weight @ s)
        out.gate.append(log_softmax(linear(gate.output, hidden)))
        b = boundaries[t] if boundaries[t] != OWN_CHOICE else int(out.gate[t][1] > out.gate[t][0])
        b = 1 if t == 0 else b
        e = clock.difference.weight @ s - last
        if b or step_context:
            new, pc, chunk_weights = update_chunk(clock, e, p, h)
        if b:
            p, last = new, clock.difference.weight @ s
            tags = decoder.tag_classifier
            total = linear(tags.state, p) + linear(tags.chunk, e) + linear(tags.context, pc)
            out.tags[t] = log_softmax(linear(tags.output, torch.tanh(total)))
        context, weights = pc, chunk_weights
        query = recurrence.query_projection.weight
        if word_attention:
            weights, context = attend(recurrence.attention, query[3 * size :] @ s, h)
        inputs = linear(recurrence.context_projection, context)
        inputs = inputs + recurrence.chunk_projection.weight @ p
        states[0] = gru(inputs, query[: 3 * size] @ s, s)
        update_upper(decoder, states)
        of_source = {"context": context, "state": p, "both": torch.cat([context, p])}
        read = read_out(decoder.readout, states[-1], y, of_source[decoder.readout_of])
        out.logits.append(linear(decoder.output_projection, read))
        out.attn.append(weights)
        out.chunk_attn.append(chunk_weights)
        out.opened.append(bool(b))
    for name in ("logits", "attn", "chunk_attn", "gate"):
        setattr(out, name, torch.stack(getattr(out, name)))
    return out
