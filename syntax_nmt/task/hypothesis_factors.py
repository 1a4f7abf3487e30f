"""Factors of hypotheses: what a model with target factors predicts beside the words of a search's
output, and the lines that `--print-factors` prints.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.data.data_utils import collate_tokens

from syntax_nmt.backbone.structures import FACTORS, TARGET_FACTORS
from syntax_nmt.data.annotation import KINDS
from syntax_nmt.data.batch import Batch
from syntax_nmt.data.subwords import join_pieces, pieces_per_word, vocabulary_scheme
from syntax_nmt.errors import UserError
from syntax_nmt.text.languages import SOURCE

Hypothesis = dict[str, Any]
"""A hypothesis of fairseq's search: `tokens`, `score`, `positional_scores`; `attention` and
`alignment` where they are asked for."""

WORDS = "form"
"""The name of the words themselves beside their factors, that of CoNLL-U's column."""

Factors = Mapping[str, Sequence[str]]
"""By name, a value for each word of a hypothesis; under :data:`WORDS` the words."""


def check_factors(models: Sequence[Any]) -> None:
    """Refuses `--print-factors` of models whose first has no target factors, and would print none.

    Raises:
        UserError: says so.
    """
    if not _has_factors(models[0]):
        raise UserError(
            "--print-factors: the first or only model of --path has no target factors: leave it out"
        )


def _has_factors(model: Any) -> bool:
    return FACTORS in getattr(getattr(model, "decoder", None), "structures", ())


def add_factors(
    models: Sequence[Any], sample: Batch, hypotheses: Sequence[Sequence[Hypothesis]], task: Any
) -> None:
    """Gives hypotheses `factors`, of type :data:`Factors`, as far as the first model has some.

    The model is forced to each hypothesis, and chooses what it chose in the search. The value of a
    word is that of its last piece.

    Args:
        sample: with the annotation of the source.
        hypotheses: of each sentence; changed in place.
        task: fairseq's, which knows the dictionary.
    """
    if not _has_factors(models[0]):
        return
    dictionary: Dictionary = task.target_dictionary
    rows = [row for row, of_row in enumerate(hypotheses) for _ in of_row]
    every = [hypothesis for of_row in hypotheses for hypothesis in of_row]
    inputs = sample["net_input"]
    chosen = torch.tensor(rows, device=inputs["src_tokens"].device)
    # Only tensors of sentences: other facts (`batch_flags`) are those of the batch as it was.
    of_sentences = {"src_tokens", "src_lengths"} | {k.key for k in KINDS if k.side == SOURCE}
    sources = {key: inputs[key].index_select(0, chosen) for key in of_sentences & inputs.keys()}
    targets = collate_tokens(
        [hypothesis["tokens"] for hypothesis in every],
        dictionary.pad(), dictionary.eos(), left_pad=False, move_eos_to_beginning=True,
    )  # fmt: skip
    with torch.no_grad():
        _, extra = models[0](**sources, prev_output_tokens=targets, features_only=True)
    found = {each.kind.column: each.values() for each in extra[TARGET_FACTORS]}
    scheme = vocabulary_scheme(dictionary)
    for row, hypothesis in enumerate(every):
        pieces = [dictionary[token] for token in hypothesis["tokens"].tolist()[:-1]]
        counts = pieces_per_word(pieces, scheme, "a translation")
        ends = [*accumulate(counts)]
        hypothesis["factors"] = {
            WORDS: join_pieces(pieces, counts, scheme),
            **{name: [values[row][end - 1] for end in ends] for name, values in found.items()},
        }


def print_factors(numbers: Sequence[int], hypotheses: Sequence[Sequence[Hypothesis]]) -> None:
    """Prints lines `F-ID`, name and values, with tabs between, among those of fairseq.

    Args:
        numbers: of the sentences in their text, from 0, by which fairseq calls them.
    """
    for number, of_row in zip(numbers, hypotheses):
        for name, values in (of_row[0].get("factors", {}) if of_row else {}).items():
            print(f"F-{number}\t{name}\t{' '.join(values)}")
