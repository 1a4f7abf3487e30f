"""What waits for a GPU: nothing in a step of a search, and once a batch for recurrent networks."""

from types import SimpleNamespace

import pytest
import torch
from fairseq import optim, utils
from nonempty import some
from omegaconf import OmegaConf
from small_models import build
from small_training import MODELS, SYNCHRONOUS, criterion_of, sample_of, tied_layers
from synchronisations import counted
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from syntax_nmt.backbone.gru import SentenceGRU
from syntax_nmt.methods.relation_network.layer import RelationNetworkLayer

LENGTHS = (9, 4, 1)
STEPS = 8
SEARCH = SimpleNamespace(beam=3, max_len_a=0, max_len_b=STEPS)
# torch's recurrent networks want the lengths of the sentences on the host: once a batch.
LENGTHS_OF_A_BATCH = {"syntax_nmt/backbone/packing.py, cpu": 1}
# What a GPU is spared: pads are left out, and a batch is checked, where nobody has to wait.
ON_A_CPU_ALONE = {
    "syntax_nmt/backbone/linear_cross_entropy.py, nonzero",
    "syntax_nmt/methods/phrases/segmentation.py, _local_scalar_dense",
}


@pytest.fixture(scope="module", params=MODELS)
def model_and_task(request, folder, device):
    arch, *options = MODELS[request.param]
    model, task, _ = build(folder, arch, *options)
    return model.to(device), task


def batch_of(model, task, device):
    sample = sample_of(model, task, LENGTHS)
    sample["net_input"].pop("chunk_tags", None)  # the task puts it there
    if "chunk_tags" in sample:
        sample["all_annotated"] = bool(sample["chunk_tags"].amax(dim=1).ge(0).all())
    return utils.move_to_cuda(sample) if device == "cuda" else sample


def without_lines(counts, device):
    """Counts by file and call."""
    found = {}
    for what, count in counts.items():
        place, call = what.split(", ")
        what = f"{place.split(':')[0]}, {call}"
        if device == "cuda" or what not in ON_A_CPU_ALONE:
            found[what] = found.get(what, 0) + count
    return found


def expected(model):
    """Of recurrent networks and relation networks in the encoder."""
    asks = any(isinstance(m, (SentenceGRU, RelationNetworkLayer)) for m in model.encoder.modules())
    return LENGTHS_OF_A_BATCH if asks else {}


def test_training(model_and_task, device):
    model, task = model_and_task
    options = OmegaConf.create(
        {"_name": "fused_adam", "lr": [1e-3], "adam_betas": "(0.9, 0.98)", "adam_eps": 1e-8,
         "weight_decay": 0.0, "fp16_adam_stats": False, "use_old_adam": False, "tpu": False}
    )  # fmt: skip
    optimizer = optim.build_optimizer(options, list(model.parameters()))
    for synchronous in some(SYNCHRONOUS if tied_layers(model) else SYNCHRONOUS[:1]):
        sample = batch_of(model, task, device)
        criterion = criterion_of(model, task, synchronous)
        with counted() as found:
            task.train_step(sample, model.train(), criterion, optimizer, 0)
            optimizer.step()
        assert without_lines(found.ours, device) == expected(model), found.ours


def test_search(model_and_task, device):
    model, task = model_and_task
    sample = batch_of(model, task, device)
    generator = task.build_generator([model.eval()], SEARCH)
    with counted() as found:
        hypotheses = task.inference_step(generator, [model], sample)
    assert max(len(best["tokens"]) for nbest in hypotheses for best in nbest) > 1
    # Once a batch, after its steps: which sentences have no words, and so empty translations.
    emptied = "syntax_nmt/task/search.py"
    waits = without_lines(found.ours, device)
    in_steps = {place: count for place, count in waits.items() if not place.startswith(emptied)}
    assert in_steps == expected(model), found.ours
    assert all(count == 1 for place, count in waits.items() if place not in in_steps)


@pytest.mark.parametrize(
    "work",
    [
        lambda x: x.sum().item(),
        lambda x: bool((x > 0).any()),
        lambda x: x[x > 0],
        lambda x: x.nonzero(),
        lambda x: x.masked_select(x > 0),
        lambda x: x.tolist(),
        lambda x: x.cpu(),
        lambda x: x.numpy(),
        lambda x: x[[0, 1]],
        lambda x: x.unique(),
        lambda x: x.equal(x),
        lambda x: torch.repeat_interleave(x.long().clamp(min=1)),
        lambda x: x.new_tensor([1.0]),
        lambda x: torch.arange(3).to(x.device),
        lambda x: x.__setitem__(x > 0, torch.zeros(int((x > 0).sum()))),
    ],
)
def test_is_seen(work):
    """Guards the tests above: a counter that sees nothing would pass them."""
    x = torch.randn(5)
    with counted() as found:
        work(x)
    assert sum(found.counts.values()) > 0


@pytest.mark.parametrize(
    ("work", "call"),
    [
        (lambda x, y: x.cpu(), "cpu"),
        (lambda x, y: x.to("cpu"), "_to_copy"),
        (lambda x, y: y.to(x.device), "to"),
    ],
)
def test_one_wait_is_counted_once(work, call):
    """On a GPU the dispatcher sees such a call, too, as another operator."""
    with FakeTensorMode():
        of_device, of_host = torch.empty(5, device="cuda"), torch.empty(5)
        with counted() as found:
            found.put_on_host(of_host)
            work(of_device, of_host)
    assert dict(found.counts) == {f"backward pass, {call}": 1}


def test_is_no_wait():
    """Neither a filled selection, nor what stays on either side."""
    x, network = torch.randn(5, 3), nn.GRU(3, 4)
    sizes = torch.tensor([2, 1, 1, 1])
    with counted() as found:
        x[x > 0] = 0.0
        x.masked_fill(x > 0, 1.0).sum(dim=0)
        torch.repeat_interleave(x[:, 0].long().clamp(1, 1), output_size=5)
        on_host = torch.arange(3)
        assert on_host.sum().item() == 3
        assert [on_host.tolist(), on_host[on_host > 0].tolist()] == [[0, 1, 2], [1, 2]]
    assert not found.counts
    with counted() as found:
        sizes = sizes.cpu()
        network(torch.nn.utils.rnn.PackedSequence(x, sizes))
    assert dict(found.counts) == {"backward pass, cpu": 1}
