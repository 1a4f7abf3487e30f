"""What comes later in the target changes nothing before it."""

import torch
from small_models import VOCABULARY, batch, random_sentences


def test_future_is_not_read(small):
    sample = batch(small.task.source_dictionary, random_sentences([7]), random_sentences([9], 5))
    inputs = sample["net_input"]
    with torch.no_grad():
        before = small.model(**inputs)[0]
        for position in range(1, inputs["prev_output_tokens"].size(1)):
            tokens = inputs["prev_output_tokens"].clone()
            tokens[0, position:] = 4 + (tokens[0, position:] + 1) % (VOCABULARY - 4)
            after = small.model(**{**inputs, "prev_output_tokens": tokens})[0]
            torch.testing.assert_close(after[:, :position], before[:, :position])
            assert (after[:, position] - before[:, position]).abs().max() > 1e-4
