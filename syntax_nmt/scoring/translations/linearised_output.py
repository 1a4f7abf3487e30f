"""Output of models of linearised folders: without brackets, and how many of its trees are whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from syntax_nmt.data.linearised import balanced_share, is_symbol, words_of
from syntax_nmt.data.linearised_folder import join_between_symbols
from syntax_nmt.data.text_columns import share_text
from syntax_nmt.errors import UserError


@dataclass(frozen=True)
class LinearisedOutput:
    """How a model's tokens become text.

    Attributes:
        trees: it writes a tree for each sentence.
        detokenize: joins the words of a line to text.
    """

    trees: bool
    detokenize: Callable[[str], str]

    def texts(self, lines: Sequence[str], path: str, raw: bool) -> list[str]:
        """The text of each line, without brackets.

        Args:
            lines: as the model wrote them, in pieces or joined.
            path: of the file, for messages.
            raw: whether they are sure to be the model's tokens.

        Raises:
            UserError: no line has brackets, so that they may be text already.
        """
        joined = join_between_symbols(lines)
        if not raw and not any(is_symbol(token) for line in joined for token in line.split()):
            raise UserError(
                f"{path}: neither H- lines nor brackets, so its words may be text already: give "
                "the output of fairseq-generate, or leave --prepared out"
            )
        return [self.detokenize(" ".join(words_of(line))) for line in joined]

    def balanced(self, lines: Sequence[str]) -> float:
        """The percentage of lines that are whole trees.

        Args:
            lines: one or more, as the model wrote them.
        """
        return balanced_share(join_between_symbols(lines))


def balanced_note(name: str, shares: Sequence[float]) -> str:
    """A line about a system that writes trees.

    Args:
        shares: of each run, how many lines are whole trees, in percent.
    """
    return f"{name}: balanced trees {', '.join(share_text(share / 100) for share in shares)}"
