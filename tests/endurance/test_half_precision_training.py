"""Every method is trained by fairseq's programs in half precision, and translates.

What runs where (fairseq 0.12.3.1):

- `--memory-efficient-fp16`, and `--fp16` together with `--fp16-no-flatten-grads`: on CPU and GPU;
  on a CPU up to the first gradient that overflows.
- `--fp16` alone: on a GPU; the flat copy of the gradients asks for its device.
- `--amp`: on a GPU; on a CPU it runs in float32, as its autocast and its scaler are CUDA's.
- `--bf16` switches fairseq-train to TPUs. On CPU and GPU bfloat16 is `common.bf16=true` of
  fairseq-hydra-train, see test_hydra.py; `common.memory_efficient_bf16=true` needs it, too.
- fairseq-generate `--fp16`: on CPU and GPU.
"""

import json
import logging

import pytest
import torch
from commands import fairseq
from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq_cli import generate, train
from methods import COMMON, METHODS
from prepared_corpus import TEST_SENTENCES

pytestmark = pytest.mark.dear

UPDATES = 12
LEARNING_RATE = float(COMMON[COMMON.index("--lr") + 1])
ANYWHERE = {
    "fp16": ("--fp16", "--fp16-no-flatten-grads"),
    "memory-efficient-fp16": ("--memory-efficient-fp16",),
}
# bfloat16 is no option of fairseq-train's, see above.
BF16 = "common.bf16"
ON_GPU = {
    **ANYWHERE, "float32": (), "fp16-flat": ("--fp16",), "amp": ("--amp",), "bf16": (BF16,)
}  # fmt: skip
QUICK = ("dependency_transformer", "memory-efficient-fp16")
CASES = [
    pytest.param(method, precision, marks=() if (method, precision) == QUICK else pytest.mark.slow)
    for method in METHODS
    for precision in ANYWHERE
]


@pytest.fixture
def run_program(prepared, caplog, capsys):
    """Runs a program of fairseq as its command line does; gives what it printed and logged."""
    caplog.set_level(logging.INFO)

    def run(program, *arguments, on_gpu: bool = False) -> tuple[str, list[logging.LogRecord]]:
        _, data, *others = map(str, fairseq("", prepared.data, *arguments))
        parser, main = {
            "train": (options.get_training_parser, train.main),
            "generate": (options.get_generation_parser, generate.main),
        }[program]
        left_out = {BF16, "--cpu"} if on_gpu else {BF16}
        command = [data, *(part for part in others if part not in left_out)]
        cfg = convert_namespace_to_omegaconf(options.parse_args_and_arch(parser(), command))
        cfg.common.bf16 = BF16 in others
        caplog.clear()
        capsys.readouterr()
        main(cfg)
        return capsys.readouterr().out, caplog.records

    return run


def train_and_translate(run_program, method: str, precision, folder, on_gpu: bool) -> torch.Tensor:
    """Gives a weight of the checkpoint."""
    every = ("--log-interval", "1", "--max-update", UPDATES, "--max-tokens", "700")
    options_ = (*METHODS[method].training, *COMMON, *precision, *every, "--save-dir", folder)
    _, records = run_program("train", *options_, on_gpu=on_gpu)
    updates = [json.loads(record.message) for record in records if record.name == "train_inner"]
    losses = [float(update["loss"]) for update in updates]
    assert len(losses) == UPDATES
    assert sum(losses[-4:]) < sum(losses[:4])
    path = folder / "checkpoint_last.pt"
    for half in ((), ("--fp16",)):
        search = ("--path", path, "--beam", "2", *METHODS[method].inputs, *half)
        generated, _ = run_program("generate", *search, on_gpu=on_gpu)
        assert generated.count("\nD-") == TEST_SENTENCES
        assert "nan" not in generated
    return torch.load(path, weights_only=True)["model"]["decoder.output_projection.weight"]


@pytest.mark.parametrize(("method", "precision"), CASES)
def test_on_a_cpu(method, precision, run_program, tmp_path):
    # Gradients that overflow, as those of tree encoders do in the fifth update, make fairseq lower
    # the scale of the loss by a tensor on the GPU.
    given = (*ANYWHERE[precision], "--fp16-init-scale", "4")
    weights = train_and_translate(run_program, method, given, tmp_path, False)
    # fairseq saves float32 in any case: the numbers show what the model was trained in.
    assert torch.equal(weights, weights.half().float())


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ON_GPU)
@pytest.mark.parametrize("method", METHODS)
def test_on_a_gpu(method, precision, run_program, tmp_path):
    train_and_translate(run_program, method, ON_GPU[precision], tmp_path, on_gpu=True)


@pytest.mark.gpu
@pytest.mark.parametrize("method", METHODS)
def test_same_seed_and_resumed_on_a_gpu(method, run_program, tmp_path):
    """A second run, and one in two parts, end with the same weights; to rounding on a GPU."""
    found = []
    for name, parts in (("first", (UPDATES,)), ("second", (UPDATES,)), ("resumed", (5, UPDATES))):
        for updates in parts:
            limits = ("--max-update", updates, "--max-tokens", "700", "--dropout", "0.1")
            options_ = (*METHODS[method].training, *COMMON, *limits, "--save-dir", tmp_path / name)
            run_program("train", *options_, on_gpu=True)
        state = torch.load(tmp_path / name / "checkpoint_last.pt")
        assert state["optimizer_history"][-1]["num_updates"] == UPDATES
        found.append(state["model"])
    # On a GPU some sums have no fixed order, as they are made of atomic additions: the gradient of
    # memory-efficient attention, and of `gather` (gates of graph convolution). Adam divides a
    # gradient that is nothing but rounding by its own size: such weights, of which there are few,
    # move by up to the learning rate an update.
    farthest = 2 * LEARNING_RATE * UPDATES
    for other in found[1:]:
        for name, weight in found[0].items():
            difference = (other[name] - weight).abs()
            assert difference.max() <= farthest, name
            apart = int((difference > 1e-3 + 1e-3 * weight.abs()).sum())
            assert apart <= max(4, weight.numel() // 1000), name
