"""fairseq's translation task on typed text: `fairseq-interactive` and the Python interface.

fairseq reads the types of the options at run time: no postponed annotations in this file.
"""

from collections.abc import Callable, Sequence
from typing import Any, Optional, Union

import numpy as np
from fairseq.data import Dictionary, FairseqDataset, LanguagePairDataset
from fairseq.data.iterators import EpochBatchIterator
from fairseq.tokenizer import tokenize_line
from omegaconf import open_dict
from torch import Tensor

from syntax_nmt.errors import exits_in_fairseq_programs
from syntax_nmt.task.annotated_translation import (
    AnnotatedTranslationConfig,
    AnnotatedTranslationTask,
)
from syntax_nmt.task.interactive_sentences import InteractiveLines, InteractiveSentences
from syntax_nmt.task.length_limits import within_limits


class InteractiveTranslationTask(AnnotatedTranslationTask):
    """Takes lines as people type them: none is lost in silence, none is kept longer than needed.

    Args:
        src_dict: the source vocabulary.
        tgt_dict: the target vocabulary.
    """

    def __init__(
        self, cfg: AnnotatedTranslationConfig, src_dict: Dictionary, tgt_dict: Dictionary
    ) -> None:
        super().__init__(cfg, src_dict, tgt_dict)
        self._lines = InteractiveLines()
        self._keeps_pieces = False  # a parser wants them
        self._typed_lines: tuple[list[Tensor], list[list[str]]] = ([], [])
        self._typed: Optional[InteractiveSentences] = None

    def get_batch_iterator(self, dataset: FairseqDataset, **kwargs: Any) -> EpochBatchIterator:
        """Divides a dataset into batches.

        Args:
            **kwargs: as of fairseq's own task.
        """
        if self._is_typed(dataset):  # fairseq would keep every buffer of fairseq-interactive
            kwargs["disable_iterator_cache"] = True
        return super().get_batch_iterator(dataset, **kwargs)

    def filter_indices_by_size(
        self,
        indices: np.ndarray,
        dataset: FairseqDataset,
        max_positions: Any = None,
        ignore_invalid_inputs: bool = False,
    ) -> np.ndarray:
        """The sentences within the limits of task and models.

        Args:
            indices: numbers of sentences.
            max_positions: the limits in tokens with EOS.
            ignore_invalid_inputs: longer sentences may be left out, with a warning.

        Raises:
            UserError: they may not; one line names the first.
        """
        before = self._lines.before if self._is_typed(dataset) else None
        with exits_in_fairseq_programs():
            return within_limits(indices, dataset, max_positions, ignore_invalid_inputs, before)

    def build_tokenizer(self, args: Any) -> Any:
        """Builds the tokenizer of raw text; ours gets the task's languages if none are given.

        Args:
            args: fairseq's options of the tokenizer, or None.
        """
        if getattr(args, "_name", None) == "syntax_words":
            with open_dict(args):
                args.source_lang = args.source_lang or self.cfg.source_lang
                args.target_lang = args.target_lang or self.cfg.target_lang
        return super().build_tokenizer(args)

    def get_interactive_tokens_and_lengths(
        self, lines: Sequence[str], encode_fn: Callable[[str], str]
    ) -> tuple[list[Tensor], list[int]]:
        """The tokens of typed lines, whose pieces are kept for the parser.

        Args:
            lines: raw text.
            encode_fn: segments a line into pieces separated by spaces.

        Raises:
            UserError: a line is not UTF-8; one line says which.
        """
        pieces = []
        with exits_in_fairseq_programs():
            self._lines.add(lines)

        def remembered(line: str) -> str:
            segmented = encode_fn(line)
            pieces.append(tokenize_line(segmented))
            return segmented

        tokens, lengths = super().get_interactive_tokens_and_lengths(lines, remembered)
        self._typed_lines = (tokens, pieces)
        return tokens, lengths

    def build_dataset_for_inference(
        self, src_tokens: list[Tensor], src_lengths: list[int], constraints: Optional[Tensor] = None
    ) -> Union[LanguagePairDataset, InteractiveSentences]:
        """The dataset of sentences without references.

        Args:
            src_lengths: their lengths with EOS.
            constraints: of a constrained search.
        """
        dataset = super().build_dataset_for_inference(src_tokens, src_lengths, constraints)
        tokens, pieces = self._typed_lines
        self._typed = None
        if self._keeps_pieces and src_tokens is tokens:
            dataset = self._typed = InteractiveSentences(dataset, pieces)
        return dataset

    def _is_typed(self, dataset: FairseqDataset) -> bool:
        """Whether a dataset is not one of the splits."""
        return all(dataset is not split for split in self.datasets.values())
