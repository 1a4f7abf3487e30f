"""Labels of annotation as the text of an option, which checkpoints keep.

Labels are data: a lemma may be `${HOME}` or `f(x)`. As a part of an option OmegaConf would replace
the first by another value, and the check of checkpoints would take the second for code. Lists with
such labels are therefore written in percent-encoding.
"""

import re
from urllib.parse import quote, unquote

from syntax_nmt.checkpoints.literal import is_inert
from syntax_nmt.data.annotation import KINDS

ENCODED = "percent-encoded"
"""The first word of an encoded list."""

OPTIONS = frozenset(kind.key for kind in KINDS if kind.labels_file)
"""The options of models that hold labels."""

_ENCODED_TEXT = re.compile(rf"{ENCODED}( [\w.~%-]+)*", re.ASCII)


def join_labels(labels: tuple[str, ...]) -> str:
    """The text of an option that holds labels.

    Args:
        labels: in the order of their ids; none has white space.
    """
    text = " ".join(labels)
    if "${" not in text and is_inert(text) and labels[:1] != (ENCODED,):
        return text
    return " ".join([ENCODED, *(quote(label, safe="") for label in labels)])


def split_labels(text: str | None) -> tuple[str, ...]:
    """The labels that an option holds, in the order of their ids; () for None."""
    words = (text or "").split()
    return tuple(map(unquote, words[1:])) if words[:1] == [ENCODED] else tuple(words)


def is_encoded(text: str) -> bool:
    """Whether a text is an encoded list, which does nothing wherever it is read."""
    return _ENCODED_TEXT.fullmatch(text) is not None
