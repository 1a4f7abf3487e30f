"""Every method is trained by fairseq's programs in half precision, and translates.

What runs where (fairseq 0.12.3.1):

- `--memory-efficient-fp16`, and `--fp16` together with `--fp16-no-flatten-grads`: on CPU and GPU.
- `--fp16` alone: on a GPU; the flat copy of the gradients asks for its device.
- `--amp`: on a GPU; on a CPU it runs in float32, as its autocast and its scaler are CUDA's.
- `--bf16` switches fairseq-train to TPUs. On CPU and GPU bfloat16 is `common.bf16=true` of
  fairseq-hydra-train, see test_hydra.py; `common.memory_efficient_bf16=true` needs it, too.
- fairseq-generate `--fp16`: on CPU and GPU.
"""

from __future__ import annotations

import json

import pytest
import torch
from commands import fairseq, succeed
from methods import COMMON, METHODS
from prepared_corpus import TEST_SENTENCES

UPDATES = 12
ANYWHERE = {
    "fp16": ("--fp16", "--fp16-no-flatten-grads"),
    "memory-efficient-fp16": ("--memory-efficient-fp16",),
}
ON_GPU = {**ANYWHERE, "fp16-flat": ("--fp16",), "amp": ("--amp",)}

pytestmark = pytest.mark.slow


def losses_of(stdout: str) -> list[float]:
    """The translation loss of each update."""
    lines = [line.partition(" | train_inner | ")[2] for line in stdout.splitlines()]
    return [float(json.loads(line)["loss"]) for line in lines if line.startswith("{")]


def train_and_translate(method: str, precision, prepared, folder, on_gpu: bool) -> torch.Tensor:
    """Gives a weight of the checkpoint."""

    def command(program: str, *arguments):
        plain = fairseq(program, prepared.data, *arguments)
        return [part for part in plain if part != "--cpu" or not on_gpu]

    every = ("--log-interval", "1", "--max-update", UPDATES, "--save-dir", folder)
    done = succeed(*command("train", *METHODS[method], *COMMON, *precision, *every))
    losses = losses_of(done.stdout + done.stderr)
    assert losses[-1] < losses[0]
    path = folder / "checkpoint_last.pt"
    parsed = ("--load-phrases",) if method.endswith("+parsed") else ()
    for half in ((), ("--fp16",)):
        search = ("--path", path, "--beam", "2", *parsed, *half)
        generated = succeed(*command("generate", *search)).stdout
        assert generated.count("\nD-") == TEST_SENTENCES
        assert "nan" not in generated
    return torch.load(path, weights_only=True)["model"]["decoder.output_projection.weight"]


@pytest.mark.parametrize("precision", ANYWHERE)
@pytest.mark.parametrize("method", METHODS)
def test_on_a_cpu(method, precision, prepared, tmp_path):
    weights = train_and_translate(method, ANYWHERE[precision], prepared, tmp_path, on_gpu=False)
    # fairseq saves float32 in any case: the numbers show what the model was trained in.
    assert torch.equal(weights, weights.half().float())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("precision", ON_GPU)
@pytest.mark.parametrize("method", METHODS)
def test_on_a_gpu(method, precision, prepared, tmp_path):
    train_and_translate(method, ON_GPU[precision], prepared, tmp_path, on_gpu=True)
