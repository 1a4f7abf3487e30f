"""Systems as fairseq's command line builds them, to be trained and searched without it."""

import logging
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import torch
from fairseq import optim, options, tasks
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.models.transformer import TransformerModel
from fairseq.tasks import FairseqTask
from sizes import Sizes

import syntax_nmt.plugin  # noqa: F401  registers its architectures
from syntax_nmt.methods.method import SMOOTHED
from syntax_nmt.models.presets import LINES
from syntax_nmt.models.syntax_hybrid import SyntaxHybrid

# What a system is trained by, if not by all losses.
CRITERIONS = {line.arch: line.criterion for line in LINES if line.criterion != SMOOTHED}
# And with which options, such as weights of its losses.
LINE_OPTIONS = {line.arch: line.options for line in LINES if not line.variant}
OWN_EMBEDDINGS = {line.arch for line in LINES if not line.shares_embeddings}
STACKS = ("encoder", "decoder")
NARROW = 256  # an RNN below it has the further sizes of its architecture's `_tiny` variant
OWN = {"task": "syntax_translation", "criterion": "syntax_cross_entropy", "optimizer": "fused_adam"}
STOCK = {"task": "translation", "criterion": "label_smoothed_cross_entropy", "optimizer": "adam"}


@dataclass
class BenchmarkedSystem:
    """One model with all that training and decoding it takes."""

    name: str
    task: FairseqTask
    model: torch.nn.Module
    criterion: torch.nn.Module
    optimizer: optim.FairseqOptimizer
    translator: torch.nn.Module  # another one: fairseq's switch to generation cannot be undone

    @property
    def parameters(self) -> int:
        """How many numbers are trained."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    def train(self, batches: Sequence[dict[str, Any]]) -> None:
        """One update for each batch, as fairseq's trainer makes it."""
        self.model.train()
        for batch in batches:
            self.optimizer.zero_grad()
            _, sample_size, _ = self.task.train_step(
                batch, self.model, self.criterion, self.optimizer, update_num=0
            )
            self.optimizer.multiply_grads(1 / sample_size)
            self.optimizer.clip_grad_norm(1.0)
            self.optimizer.step()

    def decode(self, batches: Sequence[dict[str, Any]], beam: int) -> None:
        """Beam search for each batch, to the maximal length if the model does not end before.

        Args:
            beam: hypotheses a sentence.
        """
        search = Namespace(beam=beam, max_len_a=1, max_len_b=5)
        generator = self.task.build_generator([self.translator], search)
        for batch in batches:
            self.task.inference_step(generator, [self.translator], batch)


def build(
    name: str, more: Sequence[str], folder: Path, sizes: Sizes, device: str, dtype: str
) -> BenchmarkedSystem:
    """Builds a system.

    Args:
        name: the architecture; what follows a plus sign is not of its name.
        more: further options of fairseq-train; they win over those chosen here.
        dtype: the name of torch's type; on float16 and bfloat16 the optimizer keeps a float32 copy
            of all parameters, as under `--fp16` and `--bf16`.
    """
    command = command_of(name, folder, sizes)
    if dtype != "float32":
        # fairseq's first scale of the loss overflows in an untrained model.
        command += ["--fp16", "--fp16-init-scale", "1"]
    parser = options.get_training_parser()
    cfg = convert_namespace_to_omegaconf(options.parse_args_and_arch(parser, [*command, *more]))
    task = tasks.setup_task(cfg.task)
    torch.manual_seed(1)
    model = task.build_model(cfg.model).to(device, getattr(torch, dtype))
    criterion = task.build_criterion(cfg.criterion)
    if dtype == "float32":
        optimizer = optim.build_optimizer(cfg.optimizer, list(model.parameters()))
    else:
        optimizer = optim.FP16Optimizer.build_optimizer(cfg, list(model.parameters()))
    torch.manual_seed(1)
    translator = task.build_model(cfg.model).to(device, getattr(torch, dtype))
    translator.make_generation_fast_(need_attn=False)
    return BenchmarkedSystem(name, task, model, criterion, optimizer, translator)


def is_ours(name: str) -> bool:
    """Whether an architecture is one of this package."""
    return ARCH_MODEL_REGISTRY[name.partition("+")[0]].__module__.startswith("syntax_nmt.")


def command_of(name: str, folder: Path, sizes: Sizes) -> list[str]:
    """The options of fairseq-train for a system.

    Args:
        name: the architecture; what follows a plus sign is not of its name.
        folder: a data-bin folder, whose annotation is loaded.
    """
    base = name.partition("+")[0]
    model_type = ARCH_MODEL_REGISTRY[base]
    ours = is_ours(name)
    is_rnn = not issubclass(model_type, (TransformerModel, SyntaxHybrid))
    arch = f"{base}_tiny" if ours and is_rnn and sizes.width < NARROW else base
    chosen = dict(OWN if ours else STOCK)
    for trained, criterion in CRITERIONS.items():
        if name.startswith(trained):
            chosen["criterion"] = criterion
    command = [str(folder), "-s", "src", "-t", "tgt", "--arch", arch]
    command += [part for option, value in chosen.items() for part in (f"--{option}", value)]
    command += ["--label-smoothing", "0.1", "--lr", "1e-4", *LINE_OPTIONS.get(base, ())]
    if base not in OWN_EMBEDDINGS:
        command.append("--share-all-embeddings")
    if issubclass(model_type, SyntaxHybrid):  # a Transformer encoder, an RNN decoder
        command += transformer_options(sizes, ["encoder"])
        command += rnn_options(sizes, ours, ["decoder"])
    elif issubclass(model_type, TransformerModel):
        command += transformer_options(sizes)
    else:
        command += rnn_options(sizes, ours)
    return command


def transformer_options(sizes: Sizes, halves: Sequence[str] = STACKS) -> list[str]:
    """The sizes in fairseq's options of a Transformer.

    Args:
        halves: the Transformers among `encoder` and `decoder`.
    """
    given: list[str] = []
    for half in halves:
        given += [f"--{half}-embed-dim", str(sizes.width), f"--{half}-layers", str(sizes.layers)]
        given += [f"--{half}-ffn-embed-dim", str(sizes.ffn)]
        given += [f"--{half}-attention-heads", str(sizes.heads)]
    return given


def rnn_options(sizes: Sizes, ours: bool, halves: Sequence[str] = STACKS) -> list[str]:
    """The width in options of an RNN; it has the layers that its architecture has.

    Args:
        ours: whether it has the options of this package.
        halves: the RNNs among `encoder` and `decoder`.
    """
    width = str(sizes.width)
    given = ["--decoder-out-embed-dim", width]
    for half in halves:
        given += [f"--{half}-embed-dim", width, f"--{half}-hidden-size", width]
    if not ours:
        return given
    return [*given, "--attention-dim", width]


def add_device_arguments(parser: ArgumentParser) -> None:
    """Adds `--device` and `--dtype`."""
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])


def check_device(parser: ArgumentParser, device: str) -> None:
    """Ends the program with a line if it asks for a GPU that is not there."""
    if device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: torch finds no GPU here")


def check_architectures(parser: ArgumentParser, names: Sequence[str]) -> None:
    """Ends the program with a line if fairseq knows no architecture of a name."""
    for name in names:
        if name not in ARCH_MODEL_REGISTRY:
            close = get_close_matches(name, ARCH_MODEL_REGISTRY, n=1)
            advice = f"did you mean {close[0]}?" if close else "`syntax-nmt options` lists all"
            parser.error(f"--arch {name}: no such architecture: {advice}")


def silence() -> None:
    """Keeps logs below warnings, and all of Python's warnings, off the terminal."""
    logging.disable(logging.INFO)
    warnings.simplefilter("ignore")
