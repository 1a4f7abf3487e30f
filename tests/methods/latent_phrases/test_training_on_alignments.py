"""fairseq's criterion of word alignments (`--load-alignments`) on our models."""

from argparse import Namespace

import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy_with_alignment import (
    LabelSmoothedCrossEntropyCriterionWithAlignment,
)
from small_models import batch, build, random_sentences

MODELS = (
    *("transformer", "syntax_transformer", "phrase_transformer", "latent_phrase_transformer"),
    *("rnn_search", "bi_scale_rnn", "syntax_hybrid"),
)


@pytest.mark.parametrize("arch", MODELS)
def test_trains_on_alignments(folder, arch):
    model, task, _ = build(folder, arch, "--load-alignments")
    model.train()
    sources, targets = random_sentences([6, 4]), random_sentences([5, 3], 4)
    sample = batch(task.source_dictionary, sources, targets)
    sample["alignments"] = torch.tensor([[1, 0], [3, 6]])  # source column, row of all targets
    sample["align_weights"] = torch.ones(2)
    criterion = LabelSmoothedCrossEntropyCriterionWithAlignment(task, False, 0.1, 0.5)
    loss, _, logs = criterion(model, sample)
    loss.backward()
    assert logs["alignment_loss"] > 0


def test_a_search_leaves_it_so(folder):
    """Validation with --eval-bleu lies between two updates."""
    model, task, _ = build(folder, "syntax_transformer", "--load-alignments")
    assert model.decoder.need_attn
    sample = batch(task.source_dictionary, random_sentences([6]), random_sentences([5]))
    generator = task.build_generator([model], Namespace(beam=2, max_len_b=5))
    task.inference_step(generator, [model], sample)
    assert model.decoder.need_attn
