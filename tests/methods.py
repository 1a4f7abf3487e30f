"""Every method as `fairseq-train` trains it on the small corpus of the end-to-end tests."""

from __future__ import annotations

from small_models import ARCHITECTURES, MIXED

SMOOTHED = ("--label-smoothing", "0.1")
PLAIN = ("--criterion", "label_smoothed_cross_entropy", *SMOOTHED)
PARSED_PHRASES = ("--load-phrases", "--phrase-segmentation", "parsed")

# Options beside the data and those that are the same for all.
METHODS: dict[str, tuple[str, ...]] = {
    "syntax_transformer": ("--arch", "syntax_transformer_tiny", *PLAIN),
    "dependency_transformer": (
        *("--arch", "dependency_transformer_tiny", "--load-dependencies"),
        *("--criterion", "dependency_cross_entropy", *SMOOTHED),
    ),
    "phrase_transformer": ("--arch", "phrase_transformer_tiny", *PLAIN),
    "phrase_transformer+parsed": ("--arch", "phrase_transformer_tiny", *PARSED_PHRASES, *PLAIN),
    "latent_phrase_transformer": (
        *("--arch", "latent_phrase_transformer_tiny", "--sync-weight", "0.5"),
        *("--criterion", "synchronous_cross_entropy", *SMOOTHED),
    ),
    "pascal_transformer": (
        *("--arch", "pascal_transformer_tiny", "--load-dependencies", "--parent-scaled-heads", "3"),
        *PLAIN,
    ),
    "rnn_search": ("--arch", "rnn_search_tiny", *PLAIN),
    "rnn_search_cgru": ("--arch", "rnn_search_cgru_tiny", *PLAIN),
    "relation_rnn": ("--arch", "relation_rnn_tiny", *PLAIN),
    "bi_scale_rnn": (
        *("--arch", "bi_scale_rnn_tiny", "--load-chunks"),
        *("--criterion", "chunk_cross_entropy", *SMOOTHED),
    ),
    "syntax_hybrid": (
        *("--arch", *MIXED["syntax_hybrid+all"], "--load-dependencies", "--load-chunks"),
        *("--criterion", "syntax_cross_entropy", "--child-weight", "0.4", "--parent-weight", "0.4"),
        *("--boundary-weight", "1", "--chunk-tag-weight", "1", *SMOOTHED),
    ),
    "syntax_hybrid+rnn_encoder": ("--arch", *MIXED["syntax_hybrid+rnn_encoder"], *PLAIN),
}

# They choose chunks, which count in the scores of a search.
BI_SCALE = ("bi_scale_rnn", "syntax_hybrid")

# Their batch norms see the batches of all workers as one.
WITH_BATCH_NORM = ("relation_rnn", "syntax_hybrid", "syntax_hybrid+rnn_encoder")

# What all methods share; a later option wins, so tests may append their own.
COMMON = (
    *("--share-all-embeddings", "--optimizer", "adam", "--lr", "3e-3", "--clip-norm", "1.0"),
    *("--max-tokens", "2000", "--no-epoch-checkpoints"),
    *("--log-format", "json", "--log-interval", "4"),
)

BASES = {arch for arch in ARCHITECTURES if f"{arch}_tiny" in ARCHITECTURES}
