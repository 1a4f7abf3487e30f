"""Hooks of the task for raw text: how it is segmented, and the sentences typed into a program."""

from collections.abc import Callable, Sequence
from typing import Any, Optional, Union

from fairseq.data import LanguagePairDataset
from omegaconf import open_dict
from torch import Tensor

from syntax_nmt.data.text_fit import TextFit
from syntax_nmt.errors import exits_in_fairseq_programs
from syntax_nmt.task.tokenizer import check_sentencepiece_file, warn_of_other_sentencepiece
from syntax_nmt.task.typed_input import TypedInput, TypedSentences


class RawTextHooks:
    """Part of a task of fairseq: to list before its class.

    Attributes:
        fit: checks whether text looks like that of the data folder.
        typed: text typed into `fairseq-interactive` and the Python interface.
    """

    cfg: Any
    fit: TextFit
    typed: TypedInput

    def build_tokenizer(self, args: Any) -> Any:
        """Builds the tokenizer of raw text; ours gets the task's languages if none are given.

        Args:
            args: fairseq's options of the tokenizer, or None.
        """
        if getattr(args, "_name", None) == "syntax_words":
            with open_dict(args):
                args.source_lang = args.source_lang or self.cfg.source_lang
                args.target_lang = args.target_lang or self.cfg.target_lang
        return super().build_tokenizer(args)  # type: ignore[misc]

    def build_bpe(self, args: Any) -> Any:
        """Builds the subword segmentation; warns of a sentencepiece model of another corpus.

        Args:
            args: fairseq's options of the subwords, or None.
        """
        with exits_in_fairseq_programs():
            check_sentencepiece_file(args)
        bpe = super().build_bpe(args)  # type: ignore[misc]
        warn_of_other_sentencepiece(bpe, args, self.fit)
        return bpe

    def get_interactive_tokens_and_lengths(
        self, lines: Sequence[str], encode_fn: Callable[[str], str]
    ) -> tuple[list[Tensor], list[int]]:
        """The tokens of typed lines; their pieces are stored for the parser.

        Args:
            lines: raw text.
            encode_fn: segments a line into pieces separated by spaces.

        Raises:
            UserError: a line is not UTF-8; one line says which.
        """
        with exits_in_fairseq_programs():
            self.typed.lines.add(lines)
        tokenize = super().get_interactive_tokens_and_lengths  # type: ignore[misc]
        return self.typed.tokens_and_lengths(tokenize, lines, encode_fn)

    def build_dataset_for_inference(
        self, src_tokens: list[Tensor], src_lengths: list[int], constraints: Optional[Tensor] = None
    ) -> Union[LanguagePairDataset, TypedSentences]:
        """The dataset of sentences without references.

        Args:
            src_lengths: their lengths with EOS.
            constraints: of a constrained search.
        """
        build = super().build_dataset_for_inference  # type: ignore[misc]
        dataset = build(src_tokens, src_lengths, constraints)
        return self.typed.with_pieces(dataset, src_tokens)
