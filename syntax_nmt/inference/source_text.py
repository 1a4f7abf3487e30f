"""The sentences of a text: their tokens and words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from fairseq.data import Dictionary
from fairseq.tasks import FairseqTask
from torch import Tensor

from syntax_nmt.data.prepared_text import prepared_folder
from syntax_nmt.data.subwords import NO_SUBWORDS, detect_scheme, join_pieces, pieces_per_word
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.inference.segmentation import ADVICE_ON_PIECES, note_unfit
from syntax_nmt.inference.settings import CorpusText
from syntax_nmt.text.languages import SOURCE, TARGET


@dataclass(frozen=True)
class SourceSentence:
    """One sentence.

    Attributes:
        tokens: ids, EOS last.
        words: its words; without the segmented text, unknown pieces are `<unk>`.
        counts: the number of pieces of each word.
        name: file and line, for messages.
    """

    tokens: Tensor
    words: tuple[str, ...]
    counts: tuple[int, ...]
    name: str


class SourceText(Sequence[SourceSentence]):
    """Sentences by position; words are computed on access.

    Args:
        name: of the file, for messages.
        tokens: the ids of each sentence, EOS last.
        lines: the segmented text; None = the strings of the vocabulary are used.
        scheme: one of `subwords.SCHEMES`; None = detected from the text.
    """

    def __init__(
        self,
        name: str,
        tokens: Sequence[Tensor],
        dictionary: Dictionary,
        lines: Sequence[str] | None,
        scheme: str | None = None,
    ) -> None:
        self.name = name
        self.tokens = tokens
        self.dictionary = dictionary
        self.lines = lines
        if scheme is None:
            texts = (" ".join(self.pieces(index)) for index in range(len(tokens)))
            scheme = detect_scheme(texts)
        self.scheme = scheme

    @property
    def unknown(self) -> str | None:
        """The symbol for unknown pieces in words; None if words are complete."""
        return self.dictionary.unk_word if self.lines is None else None

    def unsure(self, settled: Sequence[object | None]) -> int:
        """The number of sentences in which unknown pieces hide where words end.

        Args:
            settled: for each sentence, whether its words are otherwise confirmed.
        """
        if self.lines is not None or self.scheme == NO_SUBWORDS:
            return 0
        unknown = self.dictionary.unk()
        return sum(
            words is None and bool((tokens == unknown).any())
            for words, tokens in zip(settled, self.tokens)
        )

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, index: int) -> SourceSentence:  # type: ignore[override]
        """The sentence at a position.

        Args:
            index: 0-based.

        Raises:
            UserError: a piece reaches over a word's end.
        """
        if not 0 <= index < len(self):
            raise IndexError(index)
        name = f"{self.name}:{index + 1}"
        segmented = self.pieces(index)
        counts = pieces_per_word(segmented, self.scheme, name)
        words = join_pieces(segmented, counts, self.scheme)
        return SourceSentence(
            tokens=self.tokens[index],
            words=tuple(word or "_" for word in words),
            counts=tuple(counts),
            name=name,
        )

    def segmented(self, index: int) -> list[str] | None:
        """The pieces of a sentence; None without the segmented text.

        Args:
            index: 0-based.
        """
        return None if self.lines is None else self.lines[index].split()

    def pieces(self, index: int) -> list[str]:
        """The pieces of a sentence; without the text, unknown ones are the vocabulary's symbol.

        Args:
            index: 0-based.
        """
        known = self.segmented(index)
        if known is not None:
            return known
        return [self.dictionary[token] for token in self.tokens[index][:-1].tolist()]


def read_segmented(
    path: str | Path, dictionary: Dictionary, scheme: str | None = None
) -> SourceText:
    """The sentences of a segmented text, one a line.

    Args:
        path: the file, plain or `.gz`.
        dictionary: the vocabulary of its side.
        scheme: one of `subwords.SCHEMES`; None = detected from the text.

    Raises:
        UserError: the file cannot be read.
    """
    lines = list(read_lines(path))
    tokens = [token_ids(line.split(), dictionary) for line in lines]
    return SourceText(str(path), tokens, dictionary, lines, scheme)


def read_split(
    task: FairseqTask,
    split: str,
    segmented: str | Path | None = None,
    scheme: str | None = None,
    side: str = SOURCE,
) -> SourceText:
    """The sentences of one side of a binarised split, in the order of the corpus.

    Without the segmented text the pieces are the vocabulary's strings. Then an unknown piece has
    lost its mark, and a word that it begins (sentencepiece) or does not end (subword-nmt) is split
    wrongly. Errors have one direction: sentencepiece words only become fewer, subword-nmt words
    only more. So a sentence with the right number of words has the right words.

    Args:
        task: fairseq's translation task or one built on it.
        split: train, valid, test, …
        segmented: the input of fairseq-preprocess.
        scheme: one of `subwords.SCHEMES`; None = detected from the text.
        side: `source` or `target`.

    Raises:
        UserError: there is no such split, or the segmented text is not that of the split.
    """
    if split not in task.datasets:
        task.load_dataset(split)
    dataset = task.dataset(split)
    if side == SOURCE:
        tokens, dictionary = dataset.src, task.source_dictionary
    else:
        tokens, dictionary = dataset.tgt, task.target_dictionary
    if segmented is None:
        return SourceText(f"{task.cfg.data}/{split}", tokens, dictionary, None, scheme)
    lines = list(read_lines(segmented))
    remedy = f"give --segmented {_pieces(task, split, side)}"
    _check_same_tokens(lines, tokens, dictionary, f"--segmented {segmented}", split, remedy)
    return SourceText(str(segmented), tokens, dictionary, lines, scheme)


def read_side(task: FairseqTask, wanted: CorpusText, side: str) -> SourceText:
    """The sentences of one side of a corpus.

    Warns on stderr if a text does not look like the training text.

    Args:
        side: `source` or `target`.

    Raises:
        UserError: the text cannot be read, or is not that of the split.
    """
    path = wanted.source if side == SOURCE else wanted.target
    if path is None:
        return read_split(task, wanted.split, wanted.segmented, wanted.scheme, side)
    of_source = side == SOURCE
    dictionary = task.source_dictionary if of_source else task.target_dictionary
    text = read_segmented(path, dictionary, wanted.scheme)
    lines = text.lines or ()
    pieces = [line.split() for line in lines]
    note_unfit(task, text.name, lines, pieces, ADVICE_ON_PIECES, target=not of_source)
    return text


def read_sides(task: FairseqTask, wanted: CorpusText) -> tuple[SourceText, SourceText]:
    """The sentences, of which only pieces are read, and their translations.

    Raises:
        UserError: as of :func:`read_side`, or they have different numbers of lines.
    """
    source = read_side(task, replace(wanted, segmented=None, scheme=NO_SUBWORDS), SOURCE)
    target = read_side(task, wanted, TARGET)
    if len(source) != len(target):
        raise UserError(
            f"{target.name} has {len(target)} lines, {source.name} {len(source)}: give "
            f"--translations a file that is parallel to --input"
        )
    return source, target


def _pieces(task: FairseqTask, split: str, side: str) -> str:
    """The segmented text of a split, which `prepare` keeps beside the data-bin folder."""
    folder, _ = prepared_folder(Path(task.cfg.data))
    language = task.cfg.source_lang if side == SOURCE else task.cfg.target_lang
    kept = folder / "pieces" / f"{split}.{language}"
    return str(kept) if kept.is_file() else f"the {side} text that fairseq-preprocess was given"


def _check_same_tokens(
    lines: Sequence[str],
    tokens: Sequence[Tensor],
    dictionary: Dictionary,
    name: str,
    split: str,
    remedy: str,
) -> None:
    """Refuses a segmented text that is not that of the split."""
    if len(lines) != len(tokens):
        raise UserError(
            f"{name} has {len(lines)} lines, the split {split} {len(tokens)} sentences: {remedy}"
        )
    for number, line in enumerate(lines, start=1):
        if not torch.equal(token_ids(line.split(), dictionary), tokens[number - 1]):
            there = " ".join(dictionary[token] for token in tokens[number - 1][:-1].tolist())
            raise UserError(
                f"{name}:{number}: {line[:60]!r} was binarised as {there[:60]!r}: {remedy}"
            )


def token_ids(pieces: Sequence[str], dictionary: Dictionary) -> Tensor:
    """Token ids with EOS, as fairseq-preprocess gives them."""
    ids = [dictionary.index(piece) for piece in pieces]
    return torch.tensor([*ids, dictionary.eos()])


def length_batches(
    indices: Sequence[int], lengths: Sequence[int], max_tokens: int, batch_size: int | None
) -> Iterator[list[int]]:
    """Batches of sentences of similar length, the longest first, so that memory errors occur at
    once.

    Args:
        indices: of the sentences to batch.
        lengths: of all sentences.
        max_tokens: of a batch, padding included.
        batch_size: sentences of a batch; None = as many as fit.
    """
    batch: list[int] = []
    for index in sorted(indices, key=lambda index: -lengths[index]):
        full = batch_size is not None and len(batch) >= batch_size
        if batch and (full or (len(batch) + 1) * lengths[batch[0]] > max_tokens):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
