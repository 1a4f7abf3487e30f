"""A saved model, loaded by a fresh process with our import alone, gives the same output."""

import subprocess
import sys

import pytest
import torch
from methods import ARCHITECTURES
from small_models import annotated_batch, build, random_sentences, save_checkpoint

pytestmark = pytest.mark.dear

LOADER = """
import sys, torch, syntax_nmt.plugin
from fairseq import checkpoint_utils
for path in sys.argv[1:]:
    models, _, _ = checkpoint_utils.load_model_ensemble_and_task([path])
    with torch.no_grad():
        torch.save(models[0].eval()(**torch.load(path + ".inputs"))[0], path + ".logits")
"""


def test_reload_in_a_fresh_process(dictionaries, tmp_path):
    expected, paths = {}, []
    for arch in ARCHITECTURES:
        model, task, cfg = build(dictionaries[False], arch)
        sample = annotated_batch(model, task, random_sentences([4, 7]), random_sentences([6, 3]))
        with torch.no_grad():
            expected[arch] = model(**sample["net_input"])[0]
        paths.append(tmp_path / f"{arch}.pt")
        save_checkpoint(paths[-1], model, cfg)
        torch.save(sample["net_input"], f"{paths[-1]}.inputs")
    command = [sys.executable, "-c", LOADER, *map(str, paths)]
    loaded = subprocess.run(command, capture_output=True, text=True)
    assert loaded.returncode == 0, loaded.stderr
    for arch, path in zip(ARCHITECTURES, paths):
        # Threads and the places of tensors in memory may change the last bit.
        logits = torch.load(f"{path}.logits")
        torch.testing.assert_close(
            logits, expected[arch], atol=1e-6, rtol=1e-5, msg=lambda m, a=arch: f"{a}: {m}"
        )
