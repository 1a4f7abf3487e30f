"""Phrase representation written as loops from the paper's equations, in float64.

One sentence without pads at a time. Nothing here comes from the package but the weights.
"""

import math

import torch


def ngrams(size, eos_apart=False):
    """Section 3: pieces of max(min(8, ceil(size / 6)), 3) tokens, from the first token on."""
    limit = max(min(8, math.ceil(size / 6)), 3)
    if eos_apart:
        words = size - 1
        return [min(limit, words - start) for start in range(0, words, limit)] + [1]
    return [min(limit, size - start) for start in range(0, size, limit)]


def spans(lengths):
    """(first, one past the last) of each phrase."""
    edges = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    return list(zip(edges, edges[1:]))


def sigmoid(x):
    return 1 / (1 + torch.exp(-x))


def phrase_vectors(module, tokens, lengths):
    """Equations 2 to 5: tokens S×C -> phrases P×C."""
    vectors = []
    for start, end in spans(lengths):
        phrase = [tokens[i] for i in range(start, end)]
        if module.summary == "max":
            summary = torch.stack(
                [torch.stack([r[c] for r in phrase]).max() for c in range(tokens.size(1))]
            )
        else:
            summary = sum(phrase) / len(phrase)
        if module.hidden is None:
            vectors.append(summary)
            continue
        w1 = torch.cat([module.hidden.first.weight, module.hidden.second.weight], dim=1)
        b1, w2, b2 = module.hidden.first.bias, module.score.weight[0], module.score.bias[0]
        scores = [w2 @ sigmoid(w1 @ torch.cat([r, summary]) + b1) + b2 for r in phrase]
        total = sum(torch.exp(s) for s in scores)
        vectors.append(sum(torch.exp(s) / total * r for s, r in zip(scores, phrase)))
    return torch.stack(vectors)


def multi_head(attention, x, memory, sees=lambda t, s: True):
    """Equation 1 with heads: x T×C, memory S×C'; `sees(t, s)`: t may look at s."""
    q, k, v = attention.q_proj(x), attention.k_proj(memory), attention.v_proj(memory)
    width = attention.embed_dim // attention.num_heads
    heads = []
    for start in range(0, attention.embed_dim, width):
        queries, keys, values = (
            [row[start : start + width] for row in projected] for projected in (q, k, v)
        )
        rows = []
        for t, query in enumerate(queries):
            seen = [s for s in range(len(memory)) if sees(t, s)]
            weights = [torch.exp(query @ keys[s] / math.sqrt(width)) for s in seen]
            total = sum(weights)
            rows.append(sum(w / total * values[s] for w, s in zip(weights, seen)))
        heads.append(torch.stack(rows))
    return attention.out_proj(torch.cat(heads, dim=1))


def combination(module, x, phrases):
    """Equations 7 and 8 without the residual: x T×C, phrases P×C'."""
    attended = multi_head(module.attention, x, phrases)
    w3 = torch.cat([module.hidden.first.weight, module.hidden.second.weight], dim=1)
    w4 = module.output.weight
    b4 = module.output.bias
    if not module.literal_sigmoid:
        b4 = b4 - sum(w4[:, column] / 2 for column in range(w4.size(1)))
    rows = []
    for t in range(len(x)):
        hidden = sigmoid(w3 @ torch.cat([x[t], attended[t]]) + module.hidden.first.bias)
        rows.append(w4 @ hidden + b4)
    out = torch.stack(rows)
    return out + attended if module.residual_attention else out


def feed_forward(layer, x):
    return layer.fc2(torch.relu(layer.fc1(x)))


def sublayer(layer, norm, x, function):
    """Residual connection and layer norm, before or after."""
    if layer.normalize_before:
        return x + function(norm(x))
    return norm(x + function(x))


def attend_to_itself(attention, x):
    return multi_head(attention, x, x)


def encoder_layer(layer, x, lengths, self_attention=attend_to_itself):
    """Figure 2, left: x S×C -> the layer's output and the phrases of its input."""
    read = layer.phrase_layer_norm(x) if layer.normalize_before else x
    vectors = phrase_vectors(layer.phrase_representation, read, lengths)
    x = sublayer(
        layer, layer.phrase_layer_norm, x,
        lambda y: combination(layer.phrase_combination, y, vectors),
    )  # fmt: skip
    x = sublayer(layer, layer.self_attn_layer_norm, x, lambda y: self_attention(layer.self_attn, y))
    return sublayer(layer, layer.final_layer_norm, x, lambda y: feed_forward(layer, y)), vectors


def decoder_layer(layer, x, memory, phrases):
    """Figure 2, right: x T×C, memory S×C', phrases P×C'."""
    x = sublayer(
        layer, layer.self_attn_layer_norm, x,
        lambda y: multi_head(layer.self_attn, y, y, sees=lambda t, s: s <= t),
    )  # fmt: skip
    x = sublayer(
        layer, layer.phrase_layer_norm, x,
        lambda y: combination(layer.phrase_combination, y, phrases),
    )  # fmt: skip
    x = sublayer(
        layer, layer.encoder_attn_layer_norm, x,
        lambda y: multi_head(layer.encoder_attn, y, memory),
    )  # fmt: skip
    return sublayer(layer, layer.final_layer_norm, x, lambda y: feed_forward(layer, y))


def mixture(transparent, memories, layer):
    """Equation 6 for one decoder layer."""
    logits = transparent.logits[:, layer]
    total = sum(torch.exp(w) for w in logits)
    return sum(torch.exp(w) / total * memory for w, memory in zip(logits, memories))


def translate(model, source, target, lengths):
    """The whole model: one source and the decoder's input -> logits T×V."""
    encoder, decoder = model.encoder, model.decoder
    x = encoder.forward_embedding(source[None])[0][0]
    states, phrases = [x], []
    for layer in encoder.layers:
        x, vectors = encoder_layer(layer, x, lengths)
        states.append(x)
        phrases.append(vectors)
    if encoder.layer_norm is not None:
        states = [encoder.layer_norm(x) for x in states]
    memory = states[-1]
    phrases.append(phrase_vectors(encoder.phrase_representation, memory, lengths))
    y = decoder.embed_scale * decoder.embed_tokens(target)
    y = y + decoder.embed_positions(target[None])[0]
    for index, layer in enumerate(decoder.layers):
        seen, tokens = phrases[-1], memory
        if hasattr(decoder, "transparent_phrases"):
            seen = mixture(decoder.transparent_phrases, phrases, index)
        if hasattr(decoder, "transparent_tokens"):
            tokens = mixture(decoder.transparent_tokens, states, index)
        y = decoder_layer(layer, y, tokens, seen)
    if decoder.layer_norm is not None:
        y = decoder.layer_norm(y)
    return decoder.output_layer(y)
