"""What comes later in the target changes nothing before it."""

import torch
from small_models import VOCABULARY, random_sentences

from syntax_nmt.text.languages import TARGET


def test_future_is_not_read(small):
    sources, targets = random_sentences([7]), random_sentences([9], 5)
    assert targets[0][0] % 4  # annotated
    inputs = small.batch(sources, targets)["net_input"]
    other = small.batch(sources, targets, seed=1)["net_input"]
    with torch.no_grad():
        before = small.model(**inputs)[0]
        for position in range(1, inputs["prev_output_tokens"].size(1)):
            tokens = inputs["prev_output_tokens"].clone()
            tokens[0, position:] = 4 + (tokens[0, position:] + 1) % (VOCABULARY - 4)
            later = {"prev_output_tokens": tokens}
            for kind in small.annotation:
                if kind.side == TARGET:
                    later[kind.key] = inputs[kind.key].clone()
                    later[kind.key][:, position:] = other[kind.key][:, position:]
            after = small.model(**{**inputs, **later})[0]
            torch.testing.assert_close(
                after[:, :position], before[:, :position],
                msg=lambda m, p=position: f"{m}\n\nWhat stands in the target from position {p} on "
                "changes logits before it: the decoder reads the future.",
            )  # fmt: skip
            assert (after[:, position] - before[:, position]).abs().max() > 1e-4
