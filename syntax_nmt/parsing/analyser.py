"""The interface of parsers: models that are loaded, which analyse sentences in the spelling that
parsers were trained on.
"""

from __future__ import annotations

import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from itertools import takewhile
from typing import Any, Generic, NamedTuple, TypeVar

from syntax_nmt.data.conllu import attached_relation, root_order
from syntax_nmt.data.constituents import PENN_BRACKETS
from syntax_nmt.data.dependency_tree import DependencyTree, find_cycle
from syntax_nmt.errors import UserError
from syntax_nmt.text.cleaning import MOSES_ESCAPES, penn_negations
from syntax_nmt.text.languages import is_english

Analysis = TypeVar("Analysis")
Item = TypeVar("Item")
Result = TypeVar("Result")

# When this number of sentences fail in a row, a harmless one tells whether any can be analysed.
_SUSPICIOUS = 8
_HARMLESS = ("a", "b", ".")
# Characters; a batch of words as long takes some 400 MB, and one word of 300,000 took over 600.
LONGEST_WORD = 200


class Analyser(ABC, Generic[Analysis]):
    """Models of a parser, loaded.

    Args:
        title: of the parser, in messages.
        lang: language code of the text.
        next_step: what to do if it fails on every sentence, for the message.
    """

    def __init__(self, title: str, lang: str, next_step: str = "") -> None:
        self.title = title
        self.lang = lang
        self.last_error = "no analysis"
        self._next_step = next_step
        self._failed_in_a_row = 0
        self._lock = threading.RLock()

    def analyse(self, sentences: Sequence[Sequence[str]]) -> list[Analysis | None]:
        """One analysis for each sentence, None where the parser fails.

        Also None for a sentence with a word of more than :data:`LONGEST_WORD` characters, which
        the parser does not get.

        Args:
            sentences: words of the corpus; no sentence and no word empty. Sorting sentences by
                length is fastest.

        Raises:
            UserError: it fails on several sentences in a row and then on a harmless one: the
                models or the device are at fault, not the sentences.
        """
        with self._alone():
            found = self._halving([words for words in sentences if has_usable_words(words)])
            self._check_that_it_works(found)
        rest = iter(found)
        return [next(rest) if has_usable_words(words) else None for words in sentences]

    def knows(self, word: str) -> bool | None:
        """Whether the training text of the models has a word; None = they do not say."""
        return None

    def _check_that_it_works(self, found: Sequence[Analysis | None]) -> None:
        failed = sum(1 for _ in takewhile(lambda analysis: analysis is None, reversed(found)))
        self._failed_in_a_row = failed + (self._failed_in_a_row if failed == len(found) else 0)
        if self._failed_in_a_row < _SUSPICIOUS:
            return
        error = self.last_error
        if self._halving([_HARMLESS]) == [None]:
            raise UserError(f"{self.title} fails on every sentence: {error}{self._next_step}")
        self._failed_in_a_row = 0

    def _halving(self, sentences: Sequence[Sequence[str]]) -> list[Analysis | None]:
        return results_by_halving(self._analyse_all, sentences, self._note)

    def _note(self, error: str) -> None:
        self.last_error = error

    def _alone(self) -> AbstractContextManager[Any]:
        """Within, no other thread of this process uses the models."""
        return self._lock

    def _spelled(self, words: Sequence[str]) -> list[str]:
        """The words as the models were trained on them, one for one."""
        return parser_words(words, self.lang)

    @abstractmethod
    def _analyse_all(self, sentences: Sequence[Sequence[str]]) -> list[Analysis | None]:
        """The analysis of each sentence.

        Raises:
            Exception: whatever the parser's library raises about any of them.
        """


def has_usable_words(words: Sequence[str]) -> bool:
    """Whether no word is longer than parsers bear."""
    return all(len(word) <= LONGEST_WORD for word in words)


def results_by_halving(
    work: Callable[[Sequence[Item]], list[Result | None]],
    items: Sequence[Item],
    note: Callable[[str], object] = lambda error: None,
) -> list[Result | None]:
    """A library's result for each item, None if it fails.

    A failing item makes the library fail for its whole batch, so batches are halved until the item
    is alone.

    Args:
        work: returns one result for each item.
        note: called with each error, in one line.
    """
    if not items:
        return []
    try:
        return work(items)
    except Exception as error:  # any error of a parser: one item must not end a long job
        note(first_sentence(error))
    if len(items) == 1:
        return [None]
    half = len(items) // 2
    return [
        *results_by_halving(work, items[:half], note),
        *results_by_halving(work, items[half:], note),
    ]


def first_sentence(error: Exception) -> str:
    """An error in one line: those of libraries fill a page.

    Args:
        error: any exception.
    """
    line = str(error).strip().partition("\n")[0]
    said = " ".join(re.split(r"(?<=[.!?])\s", line, maxsplit=1)[0].split()).rstrip(".")
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


class Columns(NamedTuple):
    """What a parser says of a word; an empty text, or `_`, where it says nothing.

    Attributes:
        head: from 1; 0 = a root.
        deprel: the relation to the head.
        upos: universal part of speech.
        lemma: dictionary form.
        xpos: language-specific part of speech.
        feats: morphology.
    """

    head: int
    deprel: str
    upos: str = ""
    lemma: str = ""
    xpos: str = ""
    feats: str = ""


def tree_of(words: Sequence[str], columns: Sequence[Columns]) -> DependencyTree | None:
    """The tree over some words; None if there is not one head a word, no root, or a circle.

    Of several roots, one stays, and the others depend on it as by
    :func:`~syntax_nmt.data.conllu.attach_roots`.
    """
    heads = [word if each.head == 0 else each.head - 1 for word, each in enumerate(columns)]
    roots = [word for word, each in enumerate(columns) if each.head == 0]
    inside = all(0 <= head < len(words) for head in heads)
    if len(columns) != len(words) or not roots or not inside:
        return None
    relations = [_value(each.deprel) for each in columns]
    root, *others = sorted(roots, key=lambda word: root_order(words[word]))
    for word in others:
        heads[word] = root
        relations[word] = attached_relation(words[word], relations[word])
    if find_cycle([-1 if word == root else head for word, head in enumerate(heads)]):
        return None
    return DependencyTree(
        words=tuple(words),
        heads=tuple(heads),
        relations=tuple(relations),
        upos=tuple(_value(each.upos) for each in columns),
        lemmas=tuple(_value(each.lemma) for each in columns),
        xpos=tuple(_value(each.xpos) for each in columns),
        feats=tuple(_value(each.feats) for each in columns),
    )


def _value(text: str) -> str:
    """A value that a line of CoNLL-U can hold: no tab and no line end; `_` = none."""
    return " ".join(text.split()) or "_"


_MOSES_JOINER = re.compile(r"@(\W|_)@")
OPENING_QUOTE, CLOSING_QUOTE = "``", "''"
_PENN_SYMBOLS = {**PENN_BRACKETS, OPENING_QUOTE: '"', CLOSING_QUOTE: '"'}
_DOUBLE_QUOTES = ('"', "“", "”", "„")


def parser_words(words: Sequence[str], lang: str) -> list[str]:
    """The words in the spelling of treebanks; their number and order do not change.

    Undoes Moses's escapes (`&apos;`), its marked joints (`@-@`), and the bracket and quote names of
    the Penn Treebank, which Universal Dependencies do not use. In English, negations are split
    as treebanks do (`don 't` becomes `do n't`): otherwise they cost 19 points of unlabelled
    attachment in the sentences that hold one.

    Args:
        words: the words of one sentence, without white space inside.
        lang: language code.
    """
    spelled = [_plain(word) for word in words]
    if is_english(lang):
        spelled = penn_negations([word.replace("’", "'") for word in spelled])
    return spelled


def penn_words(words: Sequence[str]) -> list[str]:
    """Quotes and brackets by their names in the Penn Treebank, word for word.

    A double quote opens and closes in turns.

    Args:
        words: of :func:`parser_words`.
    """
    names = {bracket: name for name, bracket in PENN_BRACKETS.items()}
    spelled = []
    opens = True
    for word in words:
        if word in _DOUBLE_QUOTES:
            word = OPENING_QUOTE if opens else CLOSING_QUOTE
            opens = not opens
        spelled.append(names.get(word, word))
    return spelled


def _plain(word: str) -> str:
    if word in _PENN_SYMBOLS:
        return _PENN_SYMBOLS[word]
    joiner = _MOSES_JOINER.fullmatch(word)
    if joiner is not None:
        return joiner.group(1)
    if "&" in word:
        for escape, character in MOSES_ESCAPES.items():
            word = word.replace(escape, character)
    return word


DEVICES = "cpu, cuda or cuda:N"
_DEVICE = re.compile(r"cpu|cuda(?::(?P<number>\d{1,4}))?", re.ASCII)


def is_device(device: str) -> bool:
    """Whether a text is `cpu`, `cuda` or `cuda:N`."""
    return _DEVICE.fullmatch(device) is not None


def check_device(device: str, name: str) -> None:
    """Refuses a device that this machine does not have.

    Args:
        name: the option, or file and key, that names the device.

    Raises:
        UserError: it is not one of :data:`DEVICES`, or torch sees no such GPU.
    """
    match = _DEVICE.fullmatch(device)
    if match is None:
        raise UserError(f"{name} {device}: no such device; give {DEVICES}")
    if device == "cpu":
        return
    import torch

    seen = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if int(match["number"] or 0) >= seen:
        gpus = {0: "no GPU", 1: "one GPU (cuda:0)"}.get(seen, f"{seen} GPUs (from cuda:0)")
        raise UserError(f"{name} {device}: torch sees {gpus} here; give another, or cpu")
