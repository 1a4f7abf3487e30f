"""Systems as fairseq's command line builds them, to be trained and searched without it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from fairseq import optim, options, tasks
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.tasks import FairseqTask

import syntax_nmt  # noqa: F401  registers its architectures

CRITERIONS = {
    "dependency_transformer": "dependency_cross_entropy",
    "latent_phrase_transformer": "synchronous_cross_entropy",
    "bi_scale_rnn": "chunk_cross_entropy",
}
STOCK_CRITERION = "label_smoothed_cross_entropy"
RECURRENT = ("rnn_search", "relation_rnn", "bi_scale_rnn", "syntax_rnn", "lstm")


@dataclass(frozen=True)
class Sizes:
    """What both systems have in common.

    Attributes:
        width: C of Transformers, whose FFN is four times as wide; every width of RNNs.
        layers: of Transformers, on each side. RNNs have what their architecture has.
        heads: of Transformers.
    """

    width: int
    layers: int
    heads: int


@dataclass
class System:
    """One model with all that training and decoding it takes."""

    name: str
    task: FairseqTask
    model: torch.nn.Module
    criterion: torch.nn.Module
    optimizer: optim.FairseqOptimizer
    translator: torch.nn.Module  # another one: fairseq's switch to generation cannot be undone
    generator: Any

    def train(self, batches: Sequence[dict[str, Any]]) -> None:
        """One update for each batch, as fairseq's trainer makes it.

        Args:
            batches: the data.
        """
        self.model.train()
        for batch in batches:
            self.optimizer.zero_grad()
            _, sample_size, _ = self.task.train_step(
                batch, self.model, self.criterion, self.optimizer, update_num=0
            )
            self.optimizer.multiply_grads(1 / sample_size)
            self.optimizer.clip_grad_norm(1.0)
            self.optimizer.step()

    def decode(self, batches: Sequence[dict[str, Any]]) -> None:
        """Beam search for each batch, to the maximal length if the model does not end before.

        Args:
            batches: the data.
        """
        for batch in batches:
            self.task.inference_step(self.generator, [self.translator], batch)


def build(
    name: str, more: Sequence[str], folder: Path, sizes: Sizes, beam: int, device: str
) -> System:
    """Builds a system.

    Args:
        name: the architecture.
        more: further options of fairseq-train.
        folder: has the dictionaries.
        sizes: of the model.
        beam: of its search.
        device: to put it on.
    """
    ours = ARCH_MODEL_REGISTRY[name].__module__.startswith("syntax_nmt.")
    method = next((method for method in CRITERIONS if name.startswith(method)), None)
    command = [str(folder), "-s", "src", "-t", "tgt", "--arch", name]
    command += ["--task", "syntax_translation" if ours else "translation"]
    command += ["--criterion", CRITERIONS[method] if method else STOCK_CRITERION]
    command += ["--label-smoothing", "0.1", "--share-all-embeddings", "--optimizer", "adam"]
    command += ["--lr", "1e-4", *_size_options(name, ours, sizes), *more]
    parser = options.get_training_parser()
    cfg = convert_namespace_to_omegaconf(options.parse_args_and_arch(parser, command))
    task = tasks.setup_task(cfg.task)
    torch.manual_seed(1)
    model = task.build_model(cfg.model).to(device)
    criterion = task.build_criterion(cfg.criterion)
    optimizer = optim.build_optimizer(cfg.optimizer, list(model.parameters()))
    torch.manual_seed(1)
    translator = task.build_model(cfg.model).to(device)
    translator.make_generation_fast_(need_attn=False)
    search = Namespace(beam=beam, max_len_a=1, max_len_b=5)
    generator = task.build_generator([translator], search)
    return System(name, task, model, criterion, optimizer, translator, generator)


def _size_options(name: str, ours: bool, sizes: Sizes) -> list[str]:
    width = str(sizes.width)
    given: list[str] = []
    if not name.startswith(RECURRENT):
        for side in ("encoder", "decoder"):
            given += [f"--{side}-embed-dim", width, f"--{side}-ffn-embed-dim", str(4 * sizes.width)]
            given += [f"--{side}-layers", str(sizes.layers)]
            given += [f"--{side}-attention-heads", str(sizes.heads)]
        return given
    for part in ("encoder-embed", "decoder-embed", "decoder-out-embed"):
        given += [f"--{part}-dim", width]
    for side in ("encoder", "decoder"):
        given += [f"--{side}-hidden-size", width]
    return [*given, "--attention-dim", width] if ours else given
