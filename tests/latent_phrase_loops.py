"""Latent phrase structure written as loops from the equations of Harada and Watanabe (2021)."""

import math

import torch
from torch import Tensor


def openness(x: Tensor, temperature: float, alpha: str) -> Tensor:
    """α of equation 5."""
    if alpha == "sigmoid":
        return torch.sigmoid(temperature * x)
    return (torch.clamp(temperature * x, -1, 1) + 1) / 2


def distances(keys: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Equation 4 for one head: keys n×D, weight D×(M+1), the oldest key first."""
    taps = weight.size(1)
    found = []
    for i in range(len(keys)):
        height = bias
        for tap in range(taps):
            position = i - (taps - 1) + tap
            if position >= 0:
                height = height + weight[:, tap] @ keys[position]
        found.append(torch.tanh(height))
    return torch.stack(found)


def gates(
    d: Tensor, both_directions: bool, temperature: float = 1.0, alpha: str = "hardtanh"
) -> Tensor:
    """g at [t, i] for one sentence without pads: equation 5 and its mirror image."""
    n = len(d)
    rows = []
    for t in range(n):
        row = []
        for i in range(n):
            product = torch.ones((), dtype=d.dtype)
            if i <= t:
                for j in range(i + 1, t):
                    product = product * openness(d[t] - d[j], temperature, alpha)
            elif both_directions:
                for j in range(t + 2, i + 1):
                    product = product * openness(d[t + 1] - d[j], temperature, alpha)
            else:
                product = torch.zeros((), dtype=d.dtype)
            row.append(product)
        rows.append(torch.stack(row))
    return torch.stack(rows)


def gated_attention(attention, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Equation 6 for one sentence, x n×C: outputs, weights H×n×n and distances H×n."""
    q, k, v = attention.q_proj(x), attention.k_proj(x), attention.v_proj(x)
    width, induction = attention.head_dim, attention.syntactic_distance
    outputs, all_weights, all_distances = [], [], []
    for head in range(attention.num_heads):
        part = slice(head * width, (head + 1) * width)
        d = distances(k[:, part], induction.weight[head], induction.bias[head, 0])
        g = gates(d, not attention.causal, attention.temperature, attention.alpha)
        logits = q[:, part] @ k[:, part].t() / math.sqrt(width)
        a = torch.softmax(logits, dim=1)
        weights = g * a / (g * a).sum(dim=1, keepdim=True)
        outputs.append(weights @ v[:, part])
        all_weights.append(weights)
        all_distances.append(d)
    output = attention.out_proj(torch.cat(outputs, dim=1))
    return output, torch.stack(all_weights), torch.stack(all_distances)


def rank_loss(projected: Tensor, d: Tensor, margin: float) -> tuple[Tensor, int]:
    """Equation 10 for one sentence, and the number of its pairs."""
    total, pairs = projected.new_zeros(()), 0
    for i in range(len(d)):
        for j in range(i + 1, len(d)):
            if d[i] == d[j]:
                continue
            sign = 1.0 if d[i] > d[j] else -1.0
            total = total + max(
                projected.new_zeros(()), margin - sign * (projected[i] - projected[j])
            )
            pairs += 1
    return total, pairs


def mse_loss(projected: Tensor, d: Tensor) -> tuple[Tensor, int]:
    """Equation 7 for one sentence, and the number of its positions."""
    total = projected.new_zeros(())
    for i in range(len(d)):
        total = total + (projected[i] - d[i]) ** 2
    return total, len(d)


def attention_loss(c: Tensor, source: Tensor, target: Tensor) -> tuple[Tensor, int]:
    """Synchronous attention for one sentence, and the number of its pairs."""
    total, pairs = c.new_zeros(()), 0
    for i in range(len(target)):
        for j in range(i + 1):
            projected = c.new_zeros(())
            for k in range(len(source)):
                for m in range(len(source)):
                    projected = projected + c[i, k] * source[k, m] * c[j, m]
            total = total + (projected - target[i, j]) ** 2
            pairs += 1
    return total, pairs
