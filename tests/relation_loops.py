"""The relation network layer as the paper's equations say it: one word, one pair at a time."""

import torch


def leaky(x):
    return torch.where(x > 0, x, 0.1 * x)


def batch_norm(norm, sentences):
    """Over the words of all sentences, each n×C; with running averages in evaluation mode."""
    words = torch.cat(sentences)
    mean, var = norm.running_mean, norm.running_var
    if norm.training:
        mean = sum(words) / len(words)
        var = sum((word - mean) ** 2 for word in words) / len(words)
    scale = norm.weight / (var + norm.eps) ** 0.5
    return [
        torch.stack([(word - mean) * scale + norm.bias for word in sentence])
        for sentence in sentences
    ]


def convolution(module, sentences):
    """Equation 7 and the norm, in either order."""
    kernel, bias = module.convolution.weight, module.convolution.bias
    width = kernel.size(2)
    outputs = []
    for sentence in sentences:
        rows = []
        for i in range(len(sentence)):
            row = torch.zeros_like(kernel[:, 0, 0]) if bias is None else bias
            for t in range(width):
                place = i + t - (width - 1) // 2
                if 0 <= place < len(sentence):
                    row = row + kernel[:, :, t] @ sentence[place]
            rows.append(row)
        outputs.append(torch.stack(rows))
    if module.norm_before_activation:
        return [leaky(sentence) for sentence in batch_norm(module.norm, outputs)]
    return batch_norm(module.norm, [leaky(sentence) for sentence in outputs])


def convolutions(module, sentences):
    """The CNN layer: stacked, or side by side."""
    if module.parallel:
        outputs = [convolution(each, sentences) for each in module.convolutions]
        return [torch.cat(parts, dim=1) for parts in zip(*outputs)]
    for each in module.convolutions:
        sentences = convolution(each, sentences)
    return sentences


def mean_message(module, words, i):
    """Equations 8 and 9 for word i of a sentence: n×D to H."""
    weight = torch.cat([module.of_pair.first.weight, module.of_pair.second.weight], dim=1)
    total = torch.zeros_like(module.of_pair.first.bias)
    for j in range(len(words)):
        pair = torch.cat([words[i], words[j]])
        message = leaky(weight @ pair + module.of_pair.first.bias)
        for layer in module.hidden:
            message = leaky(layer.weight @ message + layer.bias)
        total = total + message
    return total / len(words)


def relation_network(layer, sentences):
    """The whole layer over sentences n×C without pads, in its training or evaluation mode."""
    outputs = []
    for words in convolutions(layer.convolutions, sentences):
        rows = []
        for i in range(len(words)):
            row = mean_message(layer.graph_propagation, words, i)
            for linear in (layer.hidden, layer.output):
                row = leaky(linear.weight @ row + linear.bias)
            rows.append(row)
        outputs.append(torch.stack(rows))
    return outputs
