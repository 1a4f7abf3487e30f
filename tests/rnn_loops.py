"""The RNN family written as loops from the papers' equations, in float64.

One sentence without pads at a time. Nothing here comes from the package but the weights.
"""

import torch
from phrase_loops import sigmoid
from relation_loops import relation_network


def gru(i, h, state):
    """Cho et al. (2014) from the products with input and state: reset, update, candidate."""
    size = len(state)
    r = sigmoid(i[:size] + h[:size])
    z = sigmoid(i[size : 2 * size] + h[size : 2 * size])
    n = torch.tanh(i[2 * size :] + r * h[2 * size :])
    return (1 - z) * n + z * state


def gru_over(module, vectors, suffix=""):
    """The states of torch's GRU after each vector, from a state of zeros."""
    w, u, b, c = (
        getattr(module, f"{name}_l0{suffix}")
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    state, states = torch.zeros_like(u[0]), []
    for x in vectors:
        state = gru(w @ x + b, u @ state + c, state)
        states.append(state)
    return states


def bidirectional(network, x):
    """Equation 1: S×E -> S×2C."""
    forward = gru_over(network.gru.gru, x)
    backward = gru_over(network.gru.gru, list(x)[::-1], "_reverse")[::-1]
    return torch.stack([torch.cat(pair) for pair in zip(forward, backward)])


def stacked(network, x):
    """A backward GRU over the states of a forward one: S×E -> S×C."""
    lower = gru_over(network.lower.gru, x)
    return torch.stack(gru_over(network.upper.gru, lower[::-1])[::-1])


def interleaved(network, x):
    """Section 5.2 with equations 11 and 12: S×C -> S×C; or the GRUs alone."""
    before = [x] if network.dense_embedding else []
    kinds = ["forward", "relation", "backward", "relation"]
    if not len(network.relations):
        kinds = ["forward", "backward"]
    for block, kind in enumerate(kinds):
        if kind == "forward":
            out = torch.stack(gru_over(network.grus[0].gru, x))
        elif kind == "backward":
            out = torch.stack(gru_over(network.grus[1].gru, list(x)[::-1])[::-1])
        else:
            out = relation_network(network.relations[block // 2], [x])[0]
        before.append(x + out)
        dense = network.dense[block]
        rows = [dense.weight @ torch.cat([h[i] for h in before]) for i in range(len(x))]
        x = torch.stack(rows) + dense.bias
    return x


def annotations(network, x):
    """Whichever encoder it is."""
    if hasattr(network, "grus"):
        return interleaved(network, x)
    if hasattr(network, "lower"):
        return stacked(network, x)
    if hasattr(network, "relation"):
        h = bidirectional(network.bidirectional, x)
        return h + relation_network(network.relation, [h])[0]
    return bidirectional(network, x)


def attend(attention, query, h):
    """Equations 2 and 3: the weights and the context of a query that is projected already."""
    u, v = attention.key_projection.weight, attention.score
    scores = [v @ torch.tanh(query + u @ h_i) for h_i in h]
    total = sum(torch.exp(e) for e in scores)
    weights = [torch.exp(e) / total for e in scores]
    return torch.stack(weights), sum(a * h_i for a, h_i in zip(weights, h))


def attention(recurrence, state, h):
    """The weights and the context of a state."""
    w = recurrence.query_projection.weight[3 * len(state) :]
    return attend(recurrence.attention, w @ state, h)


def update_upper(decoder, states):
    """The layers above the one with the attention, one after the other."""
    for layer, module in enumerate(decoder.upper, start=1):
        i = module.weight_ih_l0 @ states[layer - 1] + module.bias_ih_l0
        hidden = module.weight_hh_l0 @ states[layer] + module.bias_hh_l0
        states[layer] = gru(i, hidden, states[layer])


def step(recurrence, y, state, h):
    """A step of RNNsearch (equation 4) or RNNsearch* (equation 13)."""
    word = recurrence.input_projection.weight @ y + recurrence.input_projection.bias
    upper = recurrence.query_projection.weight[: 3 * len(state)]
    of_context = recurrence.context_projection
    if not hasattr(recurrence, "hidden_projection"):
        weights, a = attention(recurrence, state, h)
        return gru(word + of_context.weight @ a, upper @ state, state), weights, a
    between = gru(word, recurrence.hidden_projection.weight @ state, state)
    weights, a = attention(recurrence, between, h)
    second = of_context.weight @ a + of_context.bias
    return gru(second, upper @ between, between), weights, a


def read_out(readout, s, y, a):
    """f of equation 5."""
    total = readout.state.weight @ s + readout.state.bias
    total = total + readout.word.weight @ y + readout.context.weight @ a
    if readout.kind == "maxout":
        pairs = range(0, len(total), 2)
        return torch.stack([torch.maximum(total[k], total[k + 1]) for k in pairs])
    return torch.tanh(total) if readout.kind == "tanh" else total


def translate(model, source, target):
    """The whole model: one source and the decoder's input -> logits T×V, weights T×S."""
    encoder, decoder = model.encoder, model.decoder
    h = annotations(encoder.network, encoder.embed_tokens.weight[source])
    mean = sum(h) / len(h)
    states = [torch.tanh(start.weight @ mean) for start in decoder.start]
    rows, attended = [], []
    for token in target:
        y = decoder.embed_tokens.weight[token]
        states[0], weights, a = step(decoder.recurrence, y, states[0], h)
        update_upper(decoder, states)
        out = decoder.output_projection
        logits = out.weight @ read_out(decoder.readout, states[-1], y, a)
        rows.append(logits if out.bias is None else logits + out.bias)
        attended.append(weights)
    return torch.stack(rows), torch.stack(attended)
