"""The source's phrases for the decoder, within the dictionary that an encoder returns."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from syntax_nmt.backbone.packing import once_a_sentence, rearranged_rows

VECTORS, PADDING, TOKENS, ROWS = (
    "phrases", "phrase_padding_mask", "transparent_tokens", "phrase_rows",
)  # fmt: skip


@dataclass(frozen=True)
class PhraseMemory:
    """The phrases of all encoder layers.

    The decoder reads phrases only at the first step of a search and caches their projections: a
    search rearranges only the row numbers.

    Attributes:
        vectors: L+1 times P×B×C: of the embeddings and of each encoder layer's output.
        padding: B×P, True = no phrase.
        tokens: L+1 times S×B×C: the same of the tokens; empty if the decoder does not mix them.
    """

    vectors: list[Tensor]
    padding: Tensor
    tokens: list[Tensor]

    def put_into(self, encoder_out: dict[str, list[Tensor]]) -> None:
        """Adds everything to what an encoder returns.

        Args:
            encoder_out: values are lists of tensors.
        """
        encoder_out[VECTORS] = self.vectors
        encoder_out[PADDING] = [self.padding]
        encoder_out[TOKENS] = self.tokens

    @classmethod
    def of(cls, encoder_out: dict[str, list[Tensor]], hypotheses: int = 1) -> PhraseMemory:
        """The phrases of each sentence of what an encoder returned.

        Args:
            encoder_out: rearranged any number of times.
            hypotheses: how many of each sentence stand side by side.
        """
        rows = encoder_out.get(ROWS), hypotheses
        vectors, tokens = (
            [once_a_sentence(x, *rows, dim=1) for x in encoder_out[name]]
            for name in (VECTORS, TOKENS)
        )
        return cls(vectors, once_a_sentence(encoder_out[PADDING][0], *rows), tokens)

    @staticmethod
    def reorder(
        before: dict[str, list[Tensor]], after: dict[str, list[Tensor]], new_order: Tensor
    ) -> None:
        """Copies the phrases into a rearranged dictionary.

        Args:
            before: the dictionary; nothing happens if it has no phrases.
            after: the rearranged one.
            new_order: the row that goes to each place.
        """
        if VECTORS not in before:
            return
        for key in (VECTORS, PADDING, TOKENS):
            after[key] = before[key]
        after[ROWS] = rearranged_rows(before.get(ROWS), new_order)
