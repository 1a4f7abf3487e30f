"""A model of each kind learns fifty sentence pairs by heart."""

from argparse import Namespace

import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from methods import ARCHITECTURES, in_small
from sacrebleu.metrics import BLEU
from small_models import annotated_batch, build, random_sentences
from tested_methods import BY_HEART

LENGTHS = [3 + i % 8 for i in range(50)]


def presets():
    """The tiny preset of each method always; its other sizes only among the slow tests."""
    for arch in ARCHITECTURES:
        yield pytest.param(arch, marks=[] if arch.endswith("_tiny") else [pytest.mark.slow])


@pytest.mark.dear
@pytest.mark.parametrize("arch", presets())
def test_fits_fifty_sentences(dictionaries, arch):
    more = [x for name, options in BY_HEART.items() if arch.startswith(name) for x in options]
    model, task, _ = build(dictionaries[False], arch, *in_small(arch), *more, width=64)
    sources, targets = random_sentences(LENGTHS, 11), random_sentences(LENGTHS, 12)
    sample = annotated_batch(model, task, sources, targets, searches=True)
    criterion = LabelSmoothedCrossEntropyCriterion(task, False, 0.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, betas=(0.9, 0.98))
    model.train()
    for _ in range(250):
        optimizer.zero_grad()
        loss, size, _ = criterion(model, sample)
        (loss / size).backward()
        optimizer.step()
        if loss / size < 0.02:
            break
    model.eval()
    # A wider beam may end before the best hypothesis does: fairseq stops when enough others ended.
    generator = task.build_generator([model], Namespace(beam=1, max_len_b=20))
    hypotheses = task.inference_step(generator, [model], sample)
    dictionary = task.target_dictionary
    outputs = [dictionary.string(best[0]["tokens"]) for best in hypotheses]
    references = [dictionary.string(target) for target in targets]
    assert BLEU(tokenize="none").corpus_score(outputs, [references]).score >= 99
