"""Model size and training time, from the sizes of the corpus and the machine.

The settings of small corpora were tried on parts of Multi30k (1,000 and 29,000 pairs), those of
large ones are fairseq's for IWSLT and those of Vaswani et al. (2017).
"""

import math
from dataclasses import dataclass, replace

USUAL_TOKENS = 17.5  # of a sentence of Multi30k, the mean of both sides, with EOS
_TOKENS_OF_A_PAIR = 25  # subwords of the longer side, with padding
_FEWEST_UPDATES = 700
_PATIENCE = 5  # validations; the lines validate ten times or more


@dataclass(frozen=True)
class ModelSize:
    """The size of a model.

    Attributes:
        suffix: of a Transformer's architecture.
        width: of embeddings, where it differs from that architecture's.
        layers: of each side, likewise.
    """

    suffix: str
    width: int | None = None
    layers: int = 6

    @property
    def options(self) -> tuple[str, ...]:
        """Options of a Transformer that differ from its architecture's."""
        if self.width is None:
            return ()
        options: tuple[str, ...] = ("--encoder-embed-dim", str(self.width))
        options += ("--encoder-ffn-embed-dim", str(4 * self.width))
        if self.layers != 2:
            options += ("--encoder-layers", str(self.layers), "--decoder-layers", str(self.layers))
            options += ("--encoder-attention-heads", "8", "--decoder-attention-heads", "8")
        return options

    @property
    def rnn_suffix(self) -> str:
        """The suffix of the architecture of an RNN of about this size."""
        return self.suffix if self.suffix == "_tiny" else ""

    @property
    def rnn_options(self) -> tuple[str, ...]:
        """Options of an RNN that differ from its architecture's; the widest has its own sizes."""
        if self.width is None or self.rnn_suffix:
            return ()
        widths = (
            *("encoder-embed-dim", "encoder-hidden-size", "decoder-embed-dim"),
            *("decoder-hidden-size", "decoder-out-embed-dim", "attention-dim"),
        )
        return tuple(part for name in widths for part in (f"--{name}", str(self.width)))


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of a training command, without the method.

    Attributes:
        below: upper limit of the number of pairs.
        size: of the model.
        max_tokens: of a batch.
        update_freq: batches of an update.
        learning_rate: its peak.
        warmup: updates until then, at most a quarter of all.
        dropout: probability.
        epochs: passes over the corpus.
        seconds: for an estimate: of 1,000 pairs of Multi30k in one epoch on one core of a CPU; 0 =
            no estimate.
        vocabulary: sentencepiece pieces.
        gpu: whether it runs on a GPU.
        minutes: estimate for all epochs on one core; 0 = none (a GPU, or a corpus that needs one).
    """

    below: float
    size: ModelSize
    max_tokens: int
    learning_rate: str
    warmup: int
    dropout: float
    epochs: int
    update_freq: int = 1
    seconds: float = 0.0
    vocabulary: int = 8000
    gpu: bool = False
    minutes: float = 0.0

    def options(self, warmups: int = 1, validated: bool = True) -> list[str]:
        """Options of `fairseq-train`, but for the method, its architecture and its size.

        Args:
            warmups: how many times as long the warm-up is.
            validated: whether there is validation text.
        """
        return [
            *["--optimizer", "fused_adam", "--adam-betas", "(0.9, 0.98)", "--clip-norm", "1.0"],
            *["--lr", self.learning_rate, "--lr-scheduler", "inverse_sqrt"],
            *["--warmup-updates", str(warmups * self.warmup), "--dropout", str(self.dropout)],
            *["--max-tokens", str(self.max_tokens)],
            *(["--update-freq", str(self.update_freq)] if self.update_freq > 1 else []),
            *["--max-epoch", str(self.epochs)],
            *(self._validation if validated else ["--disable-validation"]),
            *["--no-epoch-checkpoints", "--fp16" if self.gpu else "--cpu"],
        ]

    @property
    def _validation(self) -> list[str]:
        interval = ["--validate-interval", str(self.validate_interval)]
        return [*interval, "--patience", str(_PATIENCE)]

    @property
    def validate_interval(self) -> int:
        """Epochs between two validations: at least ten in all, the last epoch among them."""
        longest = max(1, self.epochs // 10)
        return next(n for n in range(longest, 0, -1) if self.epochs % n == 0)


_TINY, _SMALL = ModelSize("_tiny", width=128, layers=2), ModelSize("", width=256, layers=3)
_MEDIUM, _BASE = ModelSize("_iwslt_de_en"), ModelSize("_wmt_en_de")

_ON_CPU = (
    TrainingSettings(
        below=3_000, size=_TINY, max_tokens=1024, learning_rate="2e-3", warmup=300, dropout=0.3,
        epochs=30, seconds=4, vocabulary=1500,
    ),
    TrainingSettings(
        below=15_000, size=_SMALL, max_tokens=2048, learning_rate="1e-3", warmup=500, dropout=0.3,
        epochs=25, seconds=16, vocabulary=4000,
    ),
    TrainingSettings(
        below=100_000, size=_SMALL, max_tokens=2048, learning_rate="1e-3", warmup=500, dropout=0.2,
        epochs=8, seconds=16,
    ),
    TrainingSettings(
        below=1_000_000, size=_MEDIUM, max_tokens=4096, learning_rate="5e-4", warmup=4000,
        dropout=0.3, epochs=15,
    ),
    TrainingSettings(
        below=math.inf, size=_BASE, max_tokens=4096, update_freq=8, learning_rate="7e-4",
        warmup=4000, dropout=0.1, epochs=15,
    ),
)  # fmt: skip
# On a GPU larger batches and more epochs, where they gain anything.
_ON_GPU = (
    replace(_ON_CPU[0], seconds=0),
    replace(_ON_CPU[1], seconds=0),
    replace(_ON_CPU[2], seconds=0, max_tokens=4096, dropout=0.3, epochs=20),
    replace(_ON_CPU[3], epochs=50),
    _ON_CPU[4],
)


def training_settings(pairs: int, gpu: bool, tokens: float = USUAL_TOKENS) -> TrainingSettings:
    """Settings that train a corpus of a size: small models and short warm-ups for small corpora.

    Args:
        pairs: of the training text, 1 or more.
        gpu: whether it is trained on a GPU.
        tokens: of a sentence, the mean of both sides; longer ones take longer.
    """
    tier = _tier(pairs, gpu)
    of_an_epoch = _updates_of_an_epoch(pairs, tier.max_tokens * tier.update_freq)
    epochs = max(tier.epochs, math.ceil(_FEWEST_UPDATES / of_an_epoch))
    return replace(
        tier,
        warmup=min(tier.warmup, max(1, of_an_epoch * epochs // 4)),
        epochs=epochs,
        gpu=gpu,
        minutes=tier.seconds * pairs / 1000 * epochs / 60 * tokens / USUAL_TOKENS,
    )


def default_vocabulary(pairs: int) -> int:
    """The number of sentencepiece pieces for a corpus: small for little text.

    Args:
        pairs: of the training text.
    """
    return _tier(pairs, gpu=False).vocabulary


def _tier(pairs: int, gpu: bool) -> TrainingSettings:
    return next(tier for tier in (_ON_GPU if gpu else _ON_CPU) if pairs < tier.below)


def _updates_of_an_epoch(pairs: int, tokens: int) -> int:
    return math.ceil(pairs * _TOKENS_OF_A_PAIR / tokens)
