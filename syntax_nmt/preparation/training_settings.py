"""How large a model to train on a corpus, and how long: from its size and the machine's.

The settings of small corpora were tried on parts of Multi30k (1,000 and 29,000 pairs), those of
large ones are fairseq's for IWSLT and those of Vaswani et al. (2017).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

_TOKENS_OF_A_PAIR = 25  # subwords of the longer side, with padding
_FEWEST_UPDATES = 700


@dataclass(frozen=True)
class TrainingSettings:
    """What a training line says beside the method.

    Attributes:
        below: they are for corpora of fewer pairs.
        size: suffix of the architecture's name.
        width: of embeddings, where it differs from that size.
        layers: of each half, likewise.
        max_tokens: of a batch.
        update_freq: batches of an update.
        learning_rate: its peak.
        warmup: updates until then, at most a quarter of all.
        dropout: probability.
        epochs: passes over the corpus.
        seconds: for an estimate: of 1,000 pairs in one epoch on one core of a CPU; 0 = no estimate.
        vocabulary: sentencepiece pieces.
        gpu: whether it runs on a GPU.
        minutes: estimate for all epochs on one core; 0 = none (a GPU, or a corpus that needs one).
    """

    below: float
    size: str
    width: int | None
    layers: int
    max_tokens: int
    update_freq: int
    learning_rate: str
    warmup: int
    dropout: float
    epochs: int
    seconds: float
    vocabulary: int = 8000
    gpu: bool = False
    minutes: float = 0.0

    @property
    def size_options(self) -> tuple[str, ...]:
        """Options that differ from the architecture's size."""
        if self.width is None:
            return ()
        options: tuple[str, ...] = ("--encoder-embed-dim", str(self.width))
        options += ("--encoder-ffn-embed-dim", str(4 * self.width))
        if self.layers != 2:
            options += ("--encoder-layers", str(self.layers), "--decoder-layers", str(self.layers))
            options += ("--encoder-attention-heads", "8", "--decoder-attention-heads", "8")
        return options

    def options(self, warmups: int = 1, validated: bool = True) -> list[str]:
        """Options of `fairseq-train`, but for architecture and criterion.

        Args:
            warmups: how many times as long the warm-up is.
            validated: whether there is validation text.
        """
        return [
            *self.size_options,
            *["--optimizer", "fused_adam", "--adam-betas", "(0.9, 0.98)", "--clip-norm", "1.0"],
            *["--lr", self.learning_rate, "--lr-scheduler", "inverse_sqrt"],
            *["--warmup-updates", str(warmups * self.warmup), "--dropout", str(self.dropout)],
            *["--max-tokens", str(self.max_tokens)],
            *(["--update-freq", str(self.update_freq)] if self.update_freq > 1 else []),
            *["--max-epoch", str(self.epochs)],
            *(
                ["--validate-interval", str(self.validate_interval)]
                if validated
                else ["--disable-validation"]
            ),
            *["--no-epoch-checkpoints", "--fp16" if self.gpu else "--cpu"],
        ]

    @property
    def validate_interval(self) -> int:
        """Epochs between two validations: at least ten in all."""
        return max(1, self.epochs // 10)

    def updates(self, pairs: int) -> int:
        """About how many updates there will be.

        Args:
            pairs: of the training text.
        """
        return _updates_of_an_epoch(pairs, self.max_tokens * self.update_freq) * self.epochs


_ON_CPU = (
    TrainingSettings(3_000, "_tiny", 128, 2, 1024, 1, "2e-3", 300, 0.3, 30, 4, 1500),
    TrainingSettings(15_000, "", 256, 3, 2048, 1, "1e-3", 500, 0.3, 25, 16, 4000),
    TrainingSettings(100_000, "", 256, 3, 2048, 1, "1e-3", 500, 0.2, 8, 16),
    TrainingSettings(1_000_000, "_iwslt_de_en", None, 6, 4096, 1, "5e-4", 4000, 0.3, 15, 0),
    TrainingSettings(math.inf, "_wmt_en_de", None, 6, 4096, 8, "7e-4", 4000, 0.1, 15, 0),
)
# The same where nothing is gained by more epochs or larger batches.
_ON_GPU = (
    *(replace(tier, seconds=0) for tier in _ON_CPU[:2]),
    TrainingSettings(100_000, "", 256, 3, 4096, 1, "1e-3", 500, 0.3, 20, 0),
    TrainingSettings(1_000_000, "_iwslt_de_en", None, 6, 4096, 1, "5e-4", 4000, 0.3, 50, 0),
    TrainingSettings(math.inf, "_wmt_en_de", None, 6, 4096, 8, "7e-4", 4000, 0.1, 15, 0),
)


def training_settings(pairs: int, gpu: bool) -> TrainingSettings:
    """Settings that train a corpus of a size: small models and short warm-ups for small corpora.

    Args:
        pairs: of the training text, 1 or more.
        gpu: whether it is trained on a GPU.
    """
    tier = _tier(pairs, gpu)
    of_an_epoch = _updates_of_an_epoch(pairs, tier.max_tokens * tier.update_freq)
    epochs = max(tier.epochs, math.ceil(_FEWEST_UPDATES / of_an_epoch))
    return replace(
        tier,
        warmup=min(tier.warmup, max(1, of_an_epoch * epochs // 4)),
        epochs=epochs,
        gpu=gpu,
        minutes=tier.seconds * pairs / 1000 * epochs / 60,
    )


def default_vocabulary(pairs: int) -> int:
    """Sentencepiece pieces for a corpus: few words that are rare, where text is scarce.

    Args:
        pairs: of the training text.
    """
    return _tier(pairs, gpu=False).vocabulary


def _tier(pairs: int, gpu: bool) -> TrainingSettings:
    return next(tier for tier in (_ON_GPU if gpu else _ON_CPU) if pairs < tier.below)


def _updates_of_an_epoch(pairs: int, tokens: int) -> int:
    return math.ceil(pairs * _TOKENS_OF_A_PAIR / tokens)
