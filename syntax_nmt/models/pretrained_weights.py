"""Weights and vectors from files: checked before they are loaded, and refused in one line if they
do not fit, or used to initialise a larger model.
"""

import logging
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from fairseq import utils
from fairseq.data import Dictionary
from torch import Tensor, nn

from syntax_nmt.arguments import attribute
from syntax_nmt.checkpoints.check import check_loaded
from syntax_nmt.data.text_files import check_regular
from syntax_nmt.errors import UserError, exits_in_fairseq_programs, is_a_program_of_fairseq

logger = logging.getLogger(__name__)


class PretrainedWeights:
    """A model that can start from the weights of one that it extends, such as a stock Transformer.

    A base class to list before fairseq's model.

    Attributes:
        begins_with_weights_of_another: modules that a checkpoint lacks keep their random start. Off
            if a checkpoint must be the model's own; the task switches it on when a training begins
            with `--finetune-from-model`.
        origin: the file of the weights, if the task knows it.
    """

    origin = "the checkpoint"
    begins_with_weights_of_another = False

    def load_state_dict(
        self: Any,
        state_dict: dict[str, Tensor],
        strict: bool = True,
        model_cfg: Any = None,
        args: Any = None,
    ) -> Any:
        """Copies weights into the model.

        Args:
            state_dict: the weights by name; upgraded in place, as fairseq does.
            strict: whether they must match the model.
            model_cfg: the model's options; fairseq's programs give them.
            args: the same, as older programs give them.

        Raises:
            RuntimeError: they do not fit, if the caller gave no options.
            UserError: they do not fit, for fairseq's programs; one line says where.
        """
        try:
            return super().load_state_dict(  # type: ignore[misc]
                state_dict, strict=strict, model_cfg=model_cfg, args=args
            )
        except RuntimeError as error:
            difference = _difference(state_dict, self.state_dict())
            if model_cfg is None or difference is None:
                raise
            remedy = "give the --arch and the options that it was trained with"
            if is_a_program_of_fairseq() and not self.begins_with_weights_of_another:
                remedy += ", or --finetune-from-model to begin a model that extends it"
            with exits_in_fairseq_programs():
                raise UserError(
                    f"{self.origin} is not of this model: {difference}: {remedy}"
                ) from error

    def upgrade_state_dict_named(self: Any, state_dict: dict[str, Tensor], name: str) -> None:
        """Brings weights of other versions, or of a model that this one extends, up to date.

        Args:
            state_dict: the weights by name, changed in place.
            name: prefix of the model's names.
        """
        super().upgrade_state_dict_named(state_dict, name)  # type: ignore[misc]
        if not self.begins_with_weights_of_another:
            return
        own = self.state_dict()
        there = {_module(key) for key in state_dict}  # a module that lacks only a part is not new
        new = [key for key in own if key not in state_dict and _module(key) not in there]
        state_dict.update({key: own[key] for key in new})
        if new:
            modules = _listed([_module(key) for key in new], most=99)
            logger.warning(f"not in the checkpoint, so they begin at random: {modules}")


def _difference(given: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> str | None:
    """The difference between weights and a model's in name and shape; None = no difference."""
    parts = []
    lacking = [name for name in own if name not in given]
    if lacking:
        parts.append(f"it lacks {_listed(lacking)}")
    unknown = [name for name in given if name not in own]
    if unknown:
        parts.append(f"the model has no {_listed(unknown)}")
    for name, weight in given.items():
        if name in own and weight.shape != own[name].shape:
            shapes = ["×".join(map(str, tensor.shape)) for tensor in (weight, own[name])]
            parts.append(f"{name} is {shapes[0]}, in the model {shapes[1]}")
            break
    return "; ".join(parts) or None


def _module(name: str) -> str:
    """The module that a weight belongs to."""
    return name.rpartition(".")[0]


def _listed(names: Sequence[str], most: int = 4) -> str:
    """Names of weights; those of all layers as one."""
    kinds = list(dict.fromkeys(re.sub(r"\.\d+(?=\.|$)", ".*", name) for name in names))
    more = f" and {len(kinds) - most} more" if len(kinds) > most else ""
    return ", ".join(kinds[:most]) + more


class CheckedHub:
    """A base class with a safe `from_pretrained`, to list before fairseq's model."""

    @classmethod
    def from_pretrained(
        cls: Any,
        model_name_or_path: str,
        checkpoint_file: str = "model.pt",
        data_name_or_path: str = ".",
        **kwargs: Any,
    ) -> Any:
        """fairseq's hub interface of trained models.

        Our task also checks checkpoints, but the task that a checkpoint names need not be ours.

        Args:
            model_name_or_path: folder of the checkpoints, or a model of fairseq's list. (fairseq
                unpacks archives, too, wherever their entries say.)
            checkpoint_file: one checkpoint, or several with colons between.
            data_name_or_path: of the dictionaries; relative to the folder if it begins with a dot.
            **kwargs: options that replace the checkpoints'.

        Raises:
            UserError: no such folder, or a checkpoint is damaged or could run code.
        """
        if model_name_or_path not in cls.hub_models():
            folder = Path(model_name_or_path)
            if not folder.is_dir():
                raise UserError(f"{folder}: no such folder: unpack an archive, and give its folder")
            for name in checkpoint_file.split(os.pathsep):
                check_loaded(folder / name)
        return super().from_pretrained(  # type: ignore[misc]
            model_name_or_path, checkpoint_file, data_name_or_path, **kwargs
        )


def load_embeddings(
    embedding: nn.Embedding, path: str, dictionary: Dictionary, option: str
) -> None:
    """Puts vectors of a file (a header, then one word and its numbers per line) into an embedding.

    Args:
        embedding: V×E; words that the file lacks keep their vectors.
        option: that named the file, for messages.

    Raises:
        UserError: no such file, no header, no word of the dictionary, or vectors that are not
            finite numbers or of another width.
    """
    try:
        vectors = _read_vectors(path, dictionary, embedding.embedding_dim, option)
    except FileNotFoundError:
        raise UserError(
            f"{option} {path}: no such file; to load a trained model without it add "
            f"--model-overrides \"{{'{attribute(option)}': None}}\""
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{option} {path}: cannot be read as UTF-8 text: {error}") from None
    utils.print_embed_overlap(vectors, dictionary)
    utils.load_embedding(vectors, dictionary, embedding)


def _read_vectors(path: str, dictionary: Dictionary, width: int, option: str) -> dict[str, Tensor]:
    """The vectors of the words that the dictionary has.

    fairseq's own reader takes any first line for a header, and keeps every vector of the file.
    """
    vectors = {}
    check_regular(path)
    with open(path, encoding="utf-8-sig", newline="\n") as lines:
        if len(next(lines, "").split()) != 2:
            raise UserError(
                f"{option} {path}: line 1: no header; put the number of vectors and their width "
                "there, separated by a space"
            )
        for number, line in enumerate(lines, start=2):
            word, *numbers = re.split("[ \t]+", line.rstrip())
            if word not in dictionary:
                continue
            if len(numbers) != width:
                raise UserError(
                    f"{option} {path}: line {number}: the vector of '{word}' has {len(numbers)} "
                    f"numbers, the embeddings have {width}: give files and "
                    f"{option.replace('path', 'dim')} of one width"
                )
            try:
                vector = torch.tensor([float(x) for x in numbers])
            except ValueError as error:
                raise UserError(f"{option} {path}: line {number}: {error}") from None
            vectors[word] = vector
    if not vectors:
        raise UserError(
            f"{option} {path}: no word of the dictionary is in it: give vectors of the very units "
            "that the model reads, and of its language"
        )
    return vectors
