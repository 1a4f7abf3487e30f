"""The papers, one folder each, with their own modules, layers, losses and options.

The first lines of each folder say what the paper computes and where each equation is; its `METHOD`
declares what the rest of the package knows about it. No folder imports another: models combine
them. Shared code is in `syntax_nmt.backbone`, and that of methods alone in the files here.
"""

from dataclasses import fields
from typing import Any

from fairseq.tasks import FairseqTask

from syntax_nmt.methods import (
    bi_scale,
    constituent_attention,
    dependency_heads,
    graph_convolution,
    latent_phrases,
    linguistic_features,
    lisa,
    local_attention,
    parent_scaled,
    phrases,
    position_bias,
    relation_network,
    structural_positions,
    target_factors,
    tree_distance,
    tree_encoder,
    tree_orders,
    tree_regularization,
    variational,
)
from syntax_nmt.methods.method import Method, Part, read_options
from syntax_nmt.option_checks import refuse_shared_without_effect

# From what acts lowest in a model to what stands on top. Options are listed the other way round.
METHODS: tuple[Method, ...] = (
    linguistic_features.METHOD,
    target_factors.METHOD,
    position_bias.METHOD,
    structural_positions.METHOD,
    parent_scaled.METHOD,
    tree_distance.METHOD,
    bi_scale.METHOD,
    variational.METHOD,
    latent_phrases.METHOD,
    local_attention.METHOD,
    constituent_attention.METHOD,
    phrases.METHOD,
    dependency_heads.METHOD,
    lisa.METHOD,
    tree_regularization.METHOD,
    relation_network.METHOD,
    tree_orders.METHOD,
    graph_convolution.METHOD,
    tree_encoder.METHOD,
)


def how_to_get(structure: str) -> str:
    """The options of models that have a structure, for messages.

    Args:
        structure: of :mod:`syntax_nmt.backbone.structures`.
    """
    return ", or ".join(
        each.extractable[structure] for each in METHODS if structure in each.extractable
    )


# The options of methods that share some.
_SHARING = tuple(
    each.options
    for each in METHODS
    if each.options is not None and any(x.metadata.get("shared") for x in fields(each.options))
)


def prepare_options(given: Any, task: FairseqTask) -> None:
    """Fills in what methods take from the data, and checks the options that methods share.

    Args:
        given: all options of a model, a namespace; changed in place.

    Raises:
        UserError: options that contradict each other, or without effect.
    """
    for method in METHODS:
        if method.take_from_data is not None:
            method.take_from_data(given, task)
    refuse_shared_without_effect(read_options(options, given) for options in _SHARING)


# Of models that choose structures themselves.
VALIDATIONS = tuple(each.validation for each in METHODS if each.validation is not None)


def extensions_of(part: Part, given: Any, stack: Any) -> list[Any]:
    """The extensions that options switch on in a part of a model, in their order.

    Args:
        given: all options of the model.
        stack: what they are built for, a `TransformerStack` or one of
            :mod:`syntax_nmt.backbone.rnn_extension`.

    Raises:
        UserError: options that contradict each other.
    """
    found = (method.extension(part, given, stack) for method in METHODS)
    return [extension for extension in found if extension is not None]
