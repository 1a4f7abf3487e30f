"""Every method as `fairseq-train` trains it on the small corpus of the end-to-end tests.

A method declares most of what a test must know about it; `tested_methods.py` has the rest.
"""

from dataclasses import dataclass, fields

from fairseq.models import ARCH_MODEL_REGISTRY
from tested_methods import (
    BATCH_NORM,
    ENABLING_OPTIONS,
    FINDS_ENDS,
    FINDS_WORDS,
    IN_SMALL,
    NARROW,
    SCORES_JOINTLY,
    SILENT,
    TRIALS,
)

import syntax_nmt.methods
import syntax_nmt.plugin
from syntax_nmt.arguments import attribute
from syntax_nmt.data.annotation.columns import loading_options
from syntax_nmt.methods.method import (
    RNN_DECODER,
    RNN_ENCODER,
    TRANSFORMER_DECODER,
    TRANSFORMER_ENCODER,
)
from syntax_nmt.methods.method import SMOOTHED as SMOOTHED_LOSS
from syntax_nmt.models.presets import LINES

# Every architecture that this package registers.
ARCHITECTURES = sorted(
    name
    for name, model in ARCH_MODEL_REGISTRY.items()
    if model.__module__.startswith("syntax_nmt.")
)

DECLARED = syntax_nmt.methods.METHODS


def mixed(*parts):
    """The methods that a mixed model of some parts can have."""
    found = [each for each in DECLARED if set(parts) & set(each.extensions)]
    if TRANSFORMER_ENCODER in parts:
        return found
    # Such decoders read what only a Transformer encoder of the method returns.
    return [
        each
        for each in found
        if not getattr(each.extensions.get(TRANSFORMER_DECODER), "reads_source", False)
    ]


def switches(*parts):
    """The options that add to a mixed model every method that one of its parts can have."""
    found = []
    for each in mixed(*parts):
        stacks = {field.name: field.metadata.get("stack") for field in fields(each.options)}
        there = {stack for part in parts if part in each.extensions for stack in (part[1], None)}
        found += [
            x
            for x in ENABLING_OPTIONS.get(each.name, ())
            if stacks[attribute(x.partition("=")[0])] in there
        ]
    return tuple(found)


# Mixed models, that of all methods and one the other way round; the tables of the tests have them.
ALL_METHODS = switches(TRANSFORMER_ENCODER, RNN_DECODER)
MIXED = {
    "syntax_hybrid+all": ("syntax_hybrid_tiny", *ALL_METHODS),
    "syntax_hybrid+rnn_encoder": (
        *("syntax_hybrid_tiny", "--encoder-family=rnn", "--decoder-family=transformer"),
        *switches(RNN_ENCODER, TRANSFORMER_DECODER),
    ),
}
# Settings that presets do not ask for.
ALL_TRIALS = {name: options for trials in TRIALS.values() for name, options in trials.items()}

SMOOTHED = ("--label-smoothing", "0.1")
PLAIN = ("--criterion", SMOOTHED_LOSS, *SMOOTHED)
SHARED = "--share-all-embeddings"
# A model of fairseq's own, to tell what is ours from what is fairseq's.
STOCK = (
    *("--arch", "transformer", "--encoder-embed-dim", "16", "--decoder-embed-dim", "16"),
    *("--encoder-layers", "1", "--decoder-layers", "1", "--encoder-ffn-embed-dim", "16"),
    *("--decoder-ffn-embed-dim", "16", SHARED, *PLAIN),
)


@dataclass(frozen=True)
class Method:
    """What tests know about a way to train.

    Attributes:
        training: options beside the data and :data:`COMMON`.
        inputs: options that it cannot translate a test set without; typed text needs a parser then.
        silent: options that silence randomness in training, beside those of dropout.
        narrow: options of models whose embeddings are 16 wide.
        scores_chunks: it chooses chunks, which count in the scores of a search.
        batch_norm: its batch norms see the batches of all workers as one.
    """

    training: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    narrow: tuple[str, ...] = ()
    scores_chunks: bool = False
    batch_norm: bool = False


def _of(line):
    shared = (SHARED,) if line.shares_embeddings else ()
    training = (
        f"{line.arch}_tiny",
        *line.training_options,
        "--criterion",
        line.criterion,
        *SMOOTHED,
    )
    return Method(
        ("--arch", *training, *IN_SMALL.get(line.name, ()), *shared),
        loading_options(line.reads),
        SILENT.get(line.name, ()),
        NARROW.get(line.name, ()),
        line.name in SCORES_JOINTLY,
        line.name in BATCH_NORM,
    )


def _mixed(name, *parts):
    """A mixed model with the losses of its methods, if both stacks have them."""
    methods = mixed(*parts)
    trained = [
        each
        for each in methods
        if each.loss is not None
        and RNN_DECODER in parts
        and set(ENABLING_OPTIONS.get(each.name, ())) & set(MIXED[name])
    ]
    needs = dict.fromkeys(kind for each in trained for kind in each.recipes[0].needs)
    weights = [
        text
        for each in trained
        for option, weight in each.loss.weights.items()
        for text in (option, str(weight))
    ]
    criterion = "syntax_cross_entropy" if weights else SMOOTHED_LOSS
    training = ("--arch", *MIXED[name], *loading_options(needs), "--criterion", criterion)
    lines = [line for each in methods for line in each.recipes[:1]]
    return Method(
        (*training, *SMOOTHED, *weights, SHARED),
        scores_chunks=any(line.name in SCORES_JOINTLY for line in lines if RNN_DECODER in parts),
        batch_norm=any(line.name in BATCH_NORM for line in lines),
    )


METHODS: dict[str, Method] = {
    **{line.name: _of(line) for line in LINES},
    "syntax_hybrid": _mixed("syntax_hybrid+all", TRANSFORMER_ENCODER, RNN_DECODER),
    "syntax_hybrid+rnn_encoder": _mixed(
        "syntax_hybrid+rnn_encoder", RNN_ENCODER, TRANSFORMER_DECODER
    ),
}

# Those that read parses of the source, so that typed text needs a parser.
READERS = tuple(name for name, method in METHODS.items() if method.inputs)


def _in_pieces(methods):
    """Architectures of methods, trials included, for words of several pieces."""
    return {
        f"{name}+pieces": options
        for each in methods
        for name, options in (
            *((arch, (arch,)) for arch in each.presets),
            *TRIALS.get(each.name, {}).items(),
        )
    }


# Models that find words in pieces (`WordSpans`): their property tests have words of several pieces.
OF_WORDS = _in_pieces(each for each in DECLARED if each.name in FINDS_WORDS)
# Others read where words begin.
READ_ENDS_OF_WORDS = tuple(_in_pieces(each for each in DECLARED if each.name in FINDS_ENDS))

# What all methods share; a later option wins, so tests may append their own.
COMMON = (
    *("--optimizer", "adam", "--lr", "3e-3", "--clip-norm", "1.0"),
    *("--max-tokens", "2000", "--no-epoch-checkpoints"),
    *("--log-format", "json", "--log-interval", "4"),
)

BASES = {arch for arch in ARCHITECTURES if f"{arch}_tiny" in ARCHITECTURES}


def silenced(arch: str) -> tuple[str, ...]:
    """Options that silence the randomness of an architecture; no method needs its loss then."""
    return tuple(x for name, each in METHODS.items() if arch.startswith(name) for x in each.silent)


def in_small(arch: str) -> tuple[str, ...]:
    """Options of a small architecture: those that silence randomness, and widths that fit."""
    narrow = (x for name, each in METHODS.items() if arch.startswith(name) for x in each.narrow)
    return (*silenced(arch), *narrow)


def inputs_of(*names: str) -> tuple[str, ...]:
    """Options that some methods, which are perhaps to translate together, cannot do without."""
    found = dict.fromkeys(x for name in names for x in METHODS[name].inputs)
    features = [x for x in found if not x.startswith("--")]
    flags = [x for x in found if x.startswith("--")]
    if not features:
        return tuple(flags)
    columns = dict.fromkeys(name for text in features for name in text.split(","))
    return (*(x for x in flags if x != "--load-features"), "--load-features", ",".join(columns))
