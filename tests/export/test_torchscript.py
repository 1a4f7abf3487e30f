"""What fairseq's own tests of TorchScript ask of `transformer`, of an exported model."""

from functools import partial

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.sequence_generator import SequenceGenerator
from small_models import batch, build, enlarge, random_sentences, write_dictionaries

from syntax_nmt.export.stock_transformer import (
    save_dictionaries,
    save_stock_checkpoint,
    stock_transformer,
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A model with supervised heads, exported to fairseq and loaded by it."""
    folder = tmp_path_factory.mktemp("exported")
    model, task, cfg = build(write_dictionaries(folder), "dependency_transformer")
    stock, options = stock_transformer(enlarge(model, 2.0), cfg.model, task)
    save_dictionaries(task, folder)
    save_stock_checkpoint(stock, options, folder / "model.pt")
    overrides = {"data": str(folder)}
    (loaded,), _, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(folder / "model.pt")], overrides
    )
    assert type(loaded).__module__.startswith("fairseq.")
    return loaded.eval(), task


@pytest.fixture(scope="module")
def sample(exported):
    sentences = random_sentences([7, 3, 11])
    return batch(exported[1].source_dictionary, sentences, sentences)


assert_close = partial(torch.testing.assert_close, rtol=1e-4, atol=1e-4)


def scripted(module, folder):
    """Compiled, saved, and loaded again."""
    torch.jit.script(module).save(str(folder / "scripted"))
    return torch.jit.load(str(folder / "scripted"))


def test_model(exported, sample, tmp_path):
    model, _ = exported
    with torch.no_grad():
        found = scripted(model, tmp_path)(**sample["net_input"])
        expected = model(**sample["net_input"])
    assert_close(found[0], expected[0])


def test_sequence_generator(exported, sample, tmp_path):
    model, task = exported
    generator = SequenceGenerator([model], task.target_dictionary, beam_size=2, max_len_b=10)
    sample = {"net_input": sample["net_input"]}
    found = scripted(generator, tmp_path)(sample)
    expected = generator.forward(sample)
    assert len(found) == 3
    for one, other in zip(found, expected):
        assert len(one) == len(other) == 2
        for ours, theirs in zip(one, other):
            assert ours["tokens"].tolist() == theirs["tokens"].tolist()
            assert_close(ours["score"], theirs["score"])
