"""The words that a tokeniser made of a text, each as it stands in the text."""

from collections.abc import Sequence

from syntax_nmt.data.character_alignment import spelling
from syntax_nmt.text.joints import plain_hyphens


def typed_words(words: Sequence[str], text: str) -> tuple[str, ...]:
    """As many words, spelled as in the text; where that cannot be told, only hyphens are plain.

    Tokenisers mark hyphens (`@-@`) and make apostrophes plain, and subwords have compatible
    characters. Characters belong together as in :mod:`~syntax_nmt.data.character_alignment`.

    Args:
        words: of the text, from left to right.
        text: as it was typed.
    """
    ours, typed = spelling(words), spelling(text)
    starts: dict[int, int] = {}
    for word, place in zip(ours.words, typed.words):
        starts.setdefault(word, place)
    if ours.characters == typed.characters and len(starts) == len(words):
        ends = [*list(starts.values())[1:], len(text)]
        found = tuple(text[start:end].strip() for start, end in zip(starts.values(), ends))
        if all(found) and "".join(found) == "".join(text.split()):
            return found
    return plain_hyphens(words)
