"""Untrained checkpoints of several families, and what is found with them."""

from collections.abc import Iterable
from pathlib import Path

import torch
from fairseq import options, tasks
from fairseq.dataclass.configs import GenerationConfig
from methods import MIXED
from small_models import build, configuration, save_checkpoint
from torch import Tensor, nn

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


def latent_checkpoint(data: Path, path: Path, *more: str) -> Path:
    """Writes one whose heads and positions differ, with distances in two layers of a side."""
    model, _, cfg = build(data, "latent_phrase_transformer", *more)
    torch.manual_seed(11)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(2)
            else:
                weight.add_(torch.randn_like(weight) / 10)
    return save_checkpoint(path, model, cfg)


def hypotheses(
    model: nn.Module, task, lines: Iterable[str], **search
) -> list[list[tuple[Tensor, float]]]:
    """What fairseq's search finds: tokens and scores of each line of pieces, the best first."""
    generator = task.build_generator([model], GenerationConfig(**search))
    found = []
    for line in lines:
        tokens = task.source_dictionary.encode_line(line, add_if_not_exist=False).long()
        net_input = {"src_tokens": tokens[None], "src_lengths": torch.tensor([len(tokens)])}
        (of_line,) = task.inference_step(generator, [model], {"net_input": net_input})
        found.append([(each["tokens"], each["score"].item()) for each in of_line])
    return found
