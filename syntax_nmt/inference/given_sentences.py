"""What is asked of a loaded model: one sentence, or a list of them."""

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from syntax_nmt.errors import UserError

ONE_AT_A_TIME = threading.Lock()
"""Held while a model computes or is loaded: its modules know the beam size and hand tensors over by
hooks, and fairseq's log level, which all models share, is raised."""

Texts = str | Sequence[str]
"""A sentence, or several."""
Result = TypeVar("Result")


class TooLongError(UserError):
    """A sentence has more tokens than the model takes.

    Args:
        index: of the sentence, 0-based.
        tokens: how many it has, EOS included.
        limit: how many the model takes.
    """

    def __init__(self, index: int, tokens: int, limit: int) -> None:
        self.index = index
        self._reason = f"has {tokens} tokens, EOS counts, and the model takes {limit}: shorten it"
        super().__init__(self.about(f"sentence {index + 1}"))

    def about(self, name: str) -> str:
        """The message, with another name of the sentence."""
        return f"{name} {self._reason}"


def of_each(function: Callable[..., Sequence[Result]], *texts: Texts) -> Result | list[Result]:
    """The results for lists of sentences, or the single result for single sentences.

    Args:
        function: gives the results of as many lists of sentences as there are texts.

    Raises:
        UserError: a text is none, or one is a sentence and another a list.
    """
    single = [isinstance(text, str) for text in texts]
    if any(single) and not all(single):
        raise UserError("a sentence and a list: give two sentences, or two lists")
    for text in texts:
        if not isinstance(text, Sequence):
            raise UserError(f"{text!r} is no text: give a sentence, or a list of sentences")
    lists = [[text] if isinstance(text, str) else text for text in texts]
    for sentences in lists:
        _check_text(sentences)
    with ONE_AT_A_TIME:
        found = function(*lists)
    return found[0] if all(single) else list(found)


def _check_text(sentences: Sequence[str]) -> None:
    for number, sentence in enumerate(sentences, start=1):
        if not isinstance(sentence, str):
            raise UserError(f"sentence {number}: {sentence!r} is no text")
        try:
            sentence.encode()
        except UnicodeEncodeError as error:
            code = ord(sentence[error.start])
            raise UserError(
                f"sentence {number}: U+{code:04X} is half of a character, a lone surrogate: "
                "decode the text anew"
            ) from None
