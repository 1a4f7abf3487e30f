"""Analyses tokenised sentences with Stanza, offline, in the spelling that its models expect; None
if Stanza fails.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Generic, TypeVar

from syntax_nmt.data.constituents import PENN_BRACKETS
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.models import StanzaModels
from syntax_nmt.parsing.offline import (
    NEXT_STEP,
    check_device,
    check_language,
    one_thread,
    open_pipeline,
    results_by_halving,
)
from syntax_nmt.text.cleaning import MOSES_ESCAPES, penn_negations
from syntax_nmt.text.languages import is_english

Analysis = TypeVar("Analysis")

# When this number of sentences fail in a row, a harmless one tells whether any can be analysed.
_SUSPICIOUS = 8
WORDS = {"word", "delta"}  # names of the vocabulary of words, of which a tagger has one
_HARMLESS = ("a", "b", ".")
# Characters; a batch of words as long takes some 400 MB, and one word of 300,000 took over 600.
LONGEST_WORD = 200


class StanzaAnalyser(ABC, Generic[Analysis]):
    """A Stanza pipeline of one task, loaded.

    Args:
        models: what to load.
        device: `cpu`, `cuda` or `cuda:N`.
        batch_size: words in a batch. Small batches of even length are the fastest on a CPU.

    Raises:
        UserError: there is no such device, or the models do not load or are of another language.
    """

    def __init__(self, models: StanzaModels, device: str = "cpu", batch_size: int = 1000) -> None:
        check_device(device, "--device")
        self.lang = models.lang
        self.last_error = "no analysis"
        self._failed_in_a_row = 0
        self._pipeline = _load(models, device, batch_size)
        self._processors = self._pipeline.processors
        for name, processor in self._processors.items():
            if name != "tokenize":
                check_language(processor, self.lang, f"the models {models} are")

    def analyse(self, sentences: Sequence[Sequence[str]]) -> list[Analysis | None]:
        """One analysis for each sentence, None where Stanza fails.

        Also None for a sentence with a word of more than :data:`LONGEST_WORD` characters, which
        Stanza does not get.

        Args:
            sentences: words of the corpus; no sentence and no word empty. Sorting sentences by
                length is fastest.

        Raises:
            UserError: Stanza fails on several sentences in a row and then on a harmless one: the
                models or the device are at fault, not the sentences.
        """
        with one_thread():
            found = self._halving([words for words in sentences if _bearable(words)])
            self._check_that_it_works(found)
        rest = iter(found)
        return [next(rest) if _bearable(words) else None for words in sentences]

    def knows(self, word: str) -> bool | None:
        """Whether the training text of the tagger has a word; None = it does not say."""
        tagger = self._processors.get("pos") or self._processors.get("ner")
        names = WORDS & tagger.vocab.keys()
        (spelled,) = self._spelled([word])
        return any(spelled in tagger.vocab[name] for name in names) if names else None

    def _check_that_it_works(self, found: Sequence[Analysis | None]) -> None:
        failed = sum(1 for _ in takewhile(lambda analysis: analysis is None, reversed(found)))
        self._failed_in_a_row = failed + (self._failed_in_a_row if failed == len(found) else 0)
        if self._failed_in_a_row < _SUSPICIOUS:
            return
        error = self.last_error
        if self._halving([_HARMLESS]) == [None]:
            raise UserError(f"Stanza fails on every sentence: {error}{NEXT_STEP}")
        self._failed_in_a_row = 0

    def _halving(self, sentences: Sequence[Sequence[str]]) -> list[Analysis | None]:
        return results_by_halving(self._analyse_all, sentences, self._note)

    def _note(self, error: str) -> None:
        self.last_error = error

    def _analyse_all(self, sentences: Sequence[Sequence[str]]) -> list[Analysis | None]:
        spelled = [self._spelled(words) for words in sentences]
        document = self._pipeline(self._input(spelled))
        if len(document.sentences) != len(sentences):
            raise ValueError(f"{len(document.sentences)} analyses of {len(sentences)} sentences")
        return [
            self._analysis(sentence, words)
            for sentence, words in zip(document.sentences, sentences)
        ]

    def _spelled(self, words: Sequence[str]) -> list[str]:
        """The words as the models were trained on them, one for one."""
        return parser_words(words, self.lang)

    def _input(self, sentences: list[list[str]]) -> Any:
        """The input of the pipeline: lists of words, unless the task needs more."""
        return sentences

    @abstractmethod
    def _analysis(self, sentence: Any, words: Sequence[str]) -> Analysis | None:
        """The result of one sentence in this project's form; None if it does not fit the words."""


def _bearable(words: Sequence[str]) -> bool:
    return all(len(word) <= LONGEST_WORD for word in words)


def _load(models: StanzaModels, device: str, batch_size: int) -> Any:
    options: dict[str, Any] = {
        "lang": models.lang,
        "processors": ",".join(models.processors),
        "device": device,
        "tokenize_pretokenized": True,
        "pos_batch_size": batch_size,
        "pos_batch_maximum_tokens": batch_size,
        "depparse_batch_size": batch_size,
        "depparse_check_requirements": False,
        **{name: str(path) for name, path in models.files},
    }
    if "ner" in models.processors:
        # If omitted, Stanza uses its own and finds nothing to load.
        options |= dict.fromkeys(
            ("ner_pretrain_path", "ner_forward_charlm_path", "ner_backward_charlm_path"), ""
        )
    return open_pipeline(models, models.stanza_dir, **options)


_MOSES_JOINER = re.compile(r"@(\W|_)@")
OPENING_QUOTE, CLOSING_QUOTE = "``", "''"
_PENN_SYMBOLS = {**PENN_BRACKETS, OPENING_QUOTE: '"', CLOSING_QUOTE: '"'}
_DOUBLE_QUOTES = ('"', "“", "”", "„")


def parser_words(words: Sequence[str], lang: str) -> list[str]:
    """The words in the spelling of treebanks; their number and order do not change.

    Undone are Moses's escapes (`&apos;`) and marked joints (`@-@`) and the bracket and quote names
    of the Penn Treebank, which Universal Dependencies do not use. In English, negations are split
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
