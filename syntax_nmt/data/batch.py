"""The dictionaries that fairseq hands about in a training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # programs that score files import kinds of annotation, and no torch
    from torch import Tensor

Batch = dict[str, Any]
"""A batch of sentence pairs: fairseq's `id`, `nsentences`, `ntokens`, `target`, `net_input`, the
arguments of the model's forward pass, and annotation under the keys of its kinds."""

ModelExtra = dict[str, Any]
"""What a model returns beside its logits: fairseq's `attn` and `inner_states`, and what
:mod:`syntax_nmt.backbone.structures` and methods name."""

Logged = dict[str, Any]
"""Numbers of a batch for the log, by name: tensors of one number, or numbers of Python."""


def source_tokens(batch: Batch) -> Tensor:
    """The ids of the source's subwords, B×S."""
    tokens: Tensor = batch["net_input"]["src_tokens"]
    return tokens


def source_lengths(batch: Batch) -> Tensor:
    """The number of subwords of each source, without EOS, B."""
    lengths: Tensor = batch["net_input"]["src_lengths"]
    return lengths - 1
