"""A saved model, loaded by a fresh process with our import alone, gives the same output."""

import subprocess
import sys
from pathlib import Path

import torch
from fairseq import checkpoint_utils
from omegaconf import OmegaConf
from small_models import ARCHITECTURES, batch, build, random_sentences

LOADER = """
import sys, torch, syntax_nmt
from fairseq import checkpoint_utils
sample = torch.load(sys.argv[1])
for path in sys.argv[2:]:
    models, _, _ = checkpoint_utils.load_model_ensemble_and_task([path])
    with torch.no_grad():
        torch.save(models[0].eval()(**sample["net_input"])[0], path + ".logits")
"""


def save_checkpoint(path: Path, model, cfg) -> None:
    """Writes what fairseq's trainer writes of a model and its options."""
    state = {
        "args": None,
        "cfg": OmegaConf.to_container(cfg, resolve=True, enum_to_str=True),
        "model": model.state_dict(),
        "extra_state": {"epoch": 1},
        "optimizer_history": [{"num_updates": 0, "best_loss": 0.0}],
        "last_optimizer_state": None,
        "task_state": {},
    }
    checkpoint_utils.torch_persistent_save(state, str(path))


def test_reload_in_a_fresh_process(dictionaries, tmp_path):
    expected, paths = {}, []
    for arch in ARCHITECTURES:
        model, task, cfg = build(dictionaries, arch)
        sample = batch(task.source_dictionary, random_sentences([4, 7]), random_sentences([6, 3]))
        with torch.no_grad():
            expected[arch] = model(**sample["net_input"])[0]
        paths.append(tmp_path / f"{arch}.pt")
        save_checkpoint(paths[-1], model, cfg)
    torch.save(sample, tmp_path / "sample")
    command = [sys.executable, "-c", LOADER, str(tmp_path / "sample"), *map(str, paths)]
    loaded = subprocess.run(command, capture_output=True, text=True)
    assert loaded.returncode == 0, loaded.stderr
    for arch, path in zip(ARCHITECTURES, paths):
        assert torch.equal(torch.load(f"{path}.logits"), expected[arch]), arch
