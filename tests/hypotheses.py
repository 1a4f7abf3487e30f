"""What fairseq's search finds, for tests of other ways to the same translations."""

from collections.abc import Iterable

import torch
from fairseq.dataclass.configs import GenerationConfig
from torch import Tensor, nn


def hypotheses(
    model: nn.Module, task, lines: Iterable[str], **search
) -> list[list[tuple[Tensor, float]]]:
    """Tokens and scores of each line of pieces, the best first."""
    generator = task.build_generator([model], GenerationConfig(**search))
    found = []
    for line in lines:
        tokens = task.source_dictionary.encode_line(line, add_if_not_exist=False).long()
        net_input = {"src_tokens": tokens[None], "src_lengths": torch.tensor([len(tokens)])}
        (of_line,) = task.inference_step(generator, [model], {"net_input": net_input})
        found.append([(each["tokens"], each["score"].item()) for each in of_line])
    return found
