"""What a trained model is loaded from, and the text that it reads. Needs no torch."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

from syntax_nmt.arguments import DECODER, ENCODER, flag
from syntax_nmt.data.prepared_text import prepared_folder, read_segmentation
from syntax_nmt.errors import UserError

TEST = "test"
MAX_TOKENS = 4000  # logits of 32,000 words in float32 take 0.5 GB, and their softmax as much again
CROSS = "cross"
ATTENTIONS = (
    ENCODER,
    DECODER,
    CROSS,
)  # self-attention of both sides, and the decoder's over the source
TOKENIZERS = ("moses", "nltk", "space", "syntax_words")  # of fairseq, and ours

# The file option of each subword scheme.
SUBWORD_FILES = {
    "sentencepiece": "sentencepiece_model",
    "subword_nmt": "bpe_codes",
    "fastbpe": "bpe_codes",
}


@dataclass(frozen=True)
class ModelFiles:
    """A checkpoint, and what goes with it.

    Attributes:
        path: the checkpoint.
        data: the data folder of its training.
        parser_config: for models that read parses of the source, the parser's file.
        device: such as `cpu` or `cuda:1`; None = a GPU if there is one.
    """

    path: str
    data: str
    parser_config: str | None = None
    device: str | None = None


class BatchLimits(NamedTuple):
    """The size of batches.

    Attributes:
        max_tokens: on either side, padding included.
        batch_size: sentences; None = as many as fit.
    """

    max_tokens: int
    batch_size: int | None = None


@dataclass(frozen=True)
class CorpusText:
    """The text whose structures are wanted: a split of the data folder, or files in pieces.

    Attributes:
        split: train, valid, test, …; read if there is no `source`.
        source: a segmented source text.
        target: its segmented translations.
        segmented: the segmented text of the split; it gives the words where the split has unknown
            pieces.
        scheme: of the pieces, one of `subwords.SCHEMES`; None = detected from the text.
    """

    split: str = TEST
    source: str | None = None
    target: str | None = None
    segmented: str | None = None
    scheme: str | None = None


@dataclass(frozen=True)
class Segmentation:
    """How raw text is segmented; if nothing is set, as `syntax-nmt prepare` did for the folder.

    Attributes:
        segmented: the text is segmented already.
        tokenizer: as for fairseq-interactive; None beside `bpe` = the text is already tokenised.
        bpe: subwords; None beside `tokenizer` = none.
        sentencepiece_model: of `bpe` sentencepiece, for both sides.
        bpe_codes: of `bpe` subword_nmt or fastbpe, for both sides.
    """

    segmented: bool = False
    tokenizer: str | None = None
    bpe: str | None = None
    sentencepiece_model: str | None = None
    bpe_codes: str | None = None

    @property
    def as_prepared(self) -> bool:
        """Whether the data folder says how."""
        return not (self.segmented or self.tokenizer or self.bpe)

    def check(self, data: str | Path) -> None:
        """Refuses incompatible settings, before a model is loaded.

        Args:
            data: the data folder of the model.

        Raises:
            UserError: settings are incompatible, or the segmentation is unknown.
        """
        if self.segmented and (self.tokenizer or self.bpe):
            option = "--tokenizer" if self.tokenizer else "--bpe"
            raise UserError(f"{option} and --segmented exclude each other: leave one out")
        for bpe, name in SUBWORD_FILES.items():
            value, option = getattr(self, name), flag(name)
            if bpe == self.bpe and value is None:
                raise UserError(f"--bpe {bpe} needs its model: add {option}")
            if value is not None and SUBWORD_FILES.get(self.bpe or "") != name:
                raise UserError(f"{option} without --bpe {bpe}: add it")
            if value is not None and not Path(value).is_file():
                raise UserError(f"{option} {value}: no such file")
        if self.as_prepared:
            read_segmentation(prepared_folder(Path(data))[0])


# Of `load`, which commands have as options.
ARGUMENTS_OF_LOAD = ("device", "parser_config", *(field.name for field in fields(Segmentation)))
