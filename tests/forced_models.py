"""Untrained checkpoints of several families over the pieces of the tests, to be forced."""

from pathlib import Path

import torch
from fairseq import options, tasks
from methods import MIXED
from small_models import build, configuration, save_checkpoint

from syntax_nmt.inference.forced_decoding import ForcedDecoder, load_forced_decoder
from syntax_nmt.inference.settings import ModelFiles

LSTM = ["--encoder-embed-dim", "16", "--encoder-hidden-size", "16", "--encoder-layers", "1"]
LSTM += ["--decoder-embed-dim", "16", "--decoder-hidden-size", "16", "--decoder-layers", "1"]
LSTM += ["--decoder-out-embed-dim", "16", "--dropout", "0.5"]

FAMILIES = {
    "stock": ("transformer", ["--dropout", "0.5"], "translation"),
    "phrases": ("phrase_transformer", ["--dropout", "0.5"], "syntax_translation"),
    "heads": ("dependency_transformer", ["--dropout", "0.5"], "syntax_translation"),
    **{
        name: (arch, [*options, "--dropout", "0.5"], "syntax_translation")
        for name, (arch, *options) in MIXED.items()
    },
}


def checkpoint_of(family: str, data: Path, folder: Path, *more: str) -> Path:
    """Writes the checkpoint of a family; `lstm` is fairseq's recurrent model."""
    path = folder / f"{family}.pt"
    if family == "lstm":
        return save_checkpoint(path, *_lstm(data, *more))
    arch, arguments, task = FAMILIES[family]
    model, _, cfg = build(data, arch, *arguments, *more, task=task)
    return save_checkpoint(path, _livelier(model), cfg)


def forced_decoder(checkpoint: Path, data: Path) -> ForcedDecoder:
    """A checkpoint, loaded to be forced."""
    return load_forced_decoder(ModelFiles(str(checkpoint), str(data), device="cpu"))


def _lstm(data: Path, *more: str):
    command = [str(data), "--arch", "lstm", "--task", "translation", "-s", "src", "-t", "tgt"]
    args = options.parse_args_and_arch(options.get_training_parser(), [*command, *LSTM, *more])
    cfg = configuration(args)
    torch.manual_seed(7)
    return _livelier(tasks.setup_task(cfg.task).build_model(cfg.model)), cfg


def _livelier(model):
    """Larger weights, so that attention and probabilities are far from uniform."""
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(3)
    return model
