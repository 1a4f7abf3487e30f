"""Hooks of the task for raw text: how it is segmented, and the sentences typed into a program."""

from collections.abc import Callable, Sequence
from typing import Any, Optional, Union

from fairseq.data import LanguagePairDataset
from omegaconf import open_dict
from torch import Tensor

from syntax_nmt.data.linearised_folder import LinearisedSubwords, linearised_mode
from syntax_nmt.data.prepared_text import prepared_folder
from syntax_nmt.data.subwords import SENTENCEPIECE
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
    _words_are_known = False  # a tokenizer finds them in raw text

    def build_tokenizer(self, args: Any) -> Any:
        """Builds the tokenizer of raw text; ours gets the task's languages if none are given.

        Args:
            args: fairseq's options of the tokenizer, or None.
        """
        if getattr(args, "_name", None) == "syntax_words":
            with open_dict(args):
                args.source_lang = args.source_lang or self.cfg.source_lang
                args.target_lang = args.target_lang or self.cfg.target_lang
        tokenizer = super().build_tokenizer(args)  # type: ignore[misc]
        self._words_are_known = tokenizer is not None
        return tokenizer

    def build_bpe(self, args: Any) -> Any:
        """Builds the subword segmentation; warns of a sentencepiece model of another corpus.

        For a folder of linearised parses, programs type the task and print text without brackets.

        Args:
            args: fairseq's options of the subwords, or None.

        Raises:
            UserError: the record of a prepared folder is damaged; one line says so.
        """
        with exits_in_fairseq_programs():
            check_sentencepiece_file(args)
            mode = linearised_mode(prepared_folder(self.fit.folder)[0])
        bpe = super().build_bpe(args)  # type: ignore[misc]
        warn_of_other_sentencepiece(bpe, args, self.fit)
        if mode is None:
            return bpe
        ready = bpe is None and not self._words_are_known
        in_pieces = SENTENCEPIECE in self.fit.schemes
        return LinearisedSubwords(bpe, mode, ready=ready, in_pieces=in_pieces)

    def get_interactive_tokens_and_lengths(
        self, lines: Sequence[str], encode_fn: Callable[[str], str]
    ) -> tuple[list[Tensor], list[int]]:
        """The tokens of typed lines; their pieces are stored for the parser.

        Args:
            lines: raw text.
            encode_fn: segments a line into pieces separated by spaces.

        Raises:
            UserError: a line is not UTF-8; or the model reads linearised parses, which typed text
                has not. One line says which.
        """
        tokenize = super().get_interactive_tokens_and_lengths  # type: ignore[misc]
        with exits_in_fairseq_programs():
            self.typed.lines.add(lines)
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
