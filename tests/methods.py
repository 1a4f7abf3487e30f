"""Every method as `fairseq-train` trains it on the small corpus of the end-to-end tests.

What a test must know about a method is declared here, once, and read by all tests.
"""

from dataclasses import dataclass

from fairseq.models import ARCH_MODEL_REGISTRY

import syntax_nmt.plugin  # noqa: F401  registers the architectures

# Every architecture that this package registers.
ARCHITECTURES = sorted(
    name
    for name, model in ARCH_MODEL_REGISTRY.items()
    if model.__module__.startswith("syntax_nmt.")
)

# Mixed models, that of all methods and one the other way round; the tables of the tests have them.
ALL_METHODS = (
    *("--supervised-layer=-1", "--phrase-attention", "--latent-phrase-layers=2", "--bi-scale"),
    "--relation-kernels=3:16",
)
MIXED = {
    "syntax_hybrid+all": ("syntax_hybrid_tiny", "--phrase-segmentation=ngram", *ALL_METHODS),
    "syntax_hybrid+rnn_encoder": (
        *("syntax_hybrid_tiny", "--encoder-family=rnn", "--decoder-family=transformer"),
        *("--relation-kernels=3:16", "--latent-phrase-layers=2"),
    ),
}


SMOOTHED = ("--label-smoothing", "0.1")
PLAIN = ("--criterion", "label_smoothed_cross_entropy", *SMOOTHED)
# A model of fairseq's own, to tell what is ours from what is fairseq's.
STOCK = (
    *("--arch", "transformer", "--encoder-embed-dim", "16", "--decoder-embed-dim", "16"),
    *("--encoder-layers", "1", "--decoder-layers", "1", "--encoder-ffn-embed-dim", "16"),
    *("--decoder-ffn-embed-dim", "16", *PLAIN),
)
PARSED_PHRASES = ("--load-phrases", "--phrase-segmentation", "parsed")


@dataclass(frozen=True)
class Method:
    """What tests know about a method.

    Attributes:
        training: options beside the data and :data:`COMMON`.
        inputs: options that it cannot translate a test set without; typed text needs a parser then.
        silent: options that silence randomness in training, beside those of dropout.
        scores_chunks: it chooses chunks, which count in the scores of a search.
        batch_norm: its batch norms see the batches of all workers as one.
    """

    training: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    scores_chunks: bool = False
    batch_norm: bool = False


METHODS: dict[str, Method] = {
    "syntax_transformer": Method(("--arch", "syntax_transformer_tiny", *PLAIN)),
    "dependency_transformer": Method(
        (
            *("--arch", "dependency_transformer_tiny", "--load-dependencies"),
            *("--criterion", "dependency_cross_entropy", *SMOOTHED),
        )
    ),
    "phrase_transformer": Method(("--arch", "phrase_transformer_tiny", *PLAIN)),
    "phrase_transformer+parsed": Method(
        ("--arch", "phrase_transformer_tiny", *PARSED_PHRASES, *PLAIN), inputs=("--load-phrases",)
    ),
    "latent_phrase_transformer": Method(
        (
            *("--arch", "latent_phrase_transformer_tiny", "--sync-weight", "0.5"),
            *("--criterion", "synchronous_cross_entropy", *SMOOTHED),
        )
    ),
    "pascal_transformer": Method(
        (
            *("--arch", "pascal_transformer_tiny", "--load-dependencies"),
            *("--parent-scaled-heads", "3", *PLAIN),
        ),
        inputs=("--load-dependencies",),
        silent=("--parent-ignoring", "0"),
    ),
    "rnn_search": Method(("--arch", "rnn_search_tiny", *PLAIN)),
    "rnn_search_cgru": Method(("--arch", "rnn_search_cgru_tiny", *PLAIN)),
    "relation_rnn": Method(("--arch", "relation_rnn_tiny", *PLAIN), batch_norm=True),
    "bi_scale_rnn": Method(
        (
            *("--arch", "bi_scale_rnn_tiny", "--load-chunks"),
            *("--criterion", "chunk_cross_entropy", *SMOOTHED),
        ),
        scores_chunks=True,
    ),
    "syntax_hybrid": Method(
        (
            *("--arch", *MIXED["syntax_hybrid+all"], "--load-dependencies", "--load-chunks"),
            *("--criterion", "syntax_cross_entropy", "--boundary-weight", "1", *SMOOTHED),
            *("--child-weight", "0.4", "--parent-weight", "0.4", "--chunk-tag-weight", "1"),
        ),
        scores_chunks=True,
        batch_norm=True,
    ),
    "syntax_hybrid+rnn_encoder": Method(
        ("--arch", *MIXED["syntax_hybrid+rnn_encoder"], *PLAIN), batch_norm=True
    ),
}

# Those that read parses of the source, so that typed text needs a parser.
READERS = tuple(name for name, method in METHODS.items() if method.inputs)

# Models that find words in pieces (`WordSpans`): their property tests have words of several pieces.
OF_WORDS = {"pascal_transformer+pieces": ("pascal_transformer", "--parent-scaled-heads=3")}
READ_ENDS_OF_WORDS = ("pascal_transformer+pieces",)  # others read where words begin

# What all methods share; a later option wins, so tests may append their own.
COMMON = (
    *("--share-all-embeddings", "--optimizer", "adam", "--lr", "3e-3", "--clip-norm", "1.0"),
    *("--max-tokens", "2000", "--no-epoch-checkpoints"),
    *("--log-format", "json", "--log-interval", "4"),
)

BASES = {arch for arch in ARCHITECTURES if f"{arch}_tiny" in ARCHITECTURES}


def silenced(arch: str) -> tuple[str, ...]:
    """Options that silence the randomness of an architecture, beside those of dropout."""
    methods = [method for name, method in METHODS.items() if arch.startswith(name)]
    return tuple(option for method in methods for option in method.silent)


def inputs_of(*names: str) -> tuple[str, ...]:
    """Options that some methods, which are perhaps to translate together, cannot do without."""
    return tuple(dict.fromkeys(x for name in names for x in METHODS[name].inputs))
