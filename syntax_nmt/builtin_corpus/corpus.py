"""The corpus: its splits, and the order in which they are drawn.

Each split has its own random stream. Test, validation and contrastive sentences are drawn first,
all different from one another, and training sentences that equal one of them are skipped: so no
held-out sentence is in training, the held-out sets do not depend on the training set's size, and
memory does not grow with it. As in any corpus, a short training sentence may come twice.

In a generalisation split, training, validation and test sentences are those of the same streams
that are not of the left-out kind; a second test set, `left_out`, has that kind alone.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from syntax_nmt.builtin_corpus.draw import Draw
from syntax_nmt.builtin_corpus.generalisation import GeneralisationSplit
from syntax_nmt.builtin_corpus.grammar import Grammar
from syntax_nmt.builtin_corpus.pair import AgreementPair, SentencePair, contrastive_pairs
from syntax_nmt.progress import Progress

SPLIT_SUFFIXES = ("src", "tgt", "src.conllu", "src.trees", "tgt.chunks", "tgt.conllu", "align")
LEFT_OUT = "left_out"
"""The test set of what a generalisation split leaves out."""
CONTRAST_FILES = tuple(
    f"contrast.{end}" for end in ("src", "correct.tgt", "incorrect.tgt", "distance")
)


@dataclass(frozen=True)
class CorpusSize:
    """How many sentences each part has.

    Args:
        train: sentence pairs for training.
        test: sentence pairs of the test set; in a generalisation split of each of the two.
        contrast: contrastive pairs.
    """

    train: int
    valid: int
    test: int
    contrast: int


def write_corpus(
    folder: Path, size: CorpusSize, seed: int, generalisation: GeneralisationSplit | None = None
) -> list[str]:
    """Writes all files of the corpus into a folder and returns their names.

    Args:
        size: how many sentences to write.
        seed: another seed gives other sentences of the same languages.
        generalisation: what all sets but `left_out` and the contrastive pairs lack; None = nothing.
    """
    held_out: set[str] = set()
    sets = [("test", size.test), ("valid", size.valid)]
    if generalisation is not None:
        sets.append((LEFT_OUT, size.test))
    number = size.train + size.contrast + sum(number for _, number in sets)
    with Progress(None, "corpus", "sentences", number) as progress:
        for split, number in sets:
            fresh = _remembered(_split_stream(seed, split, generalisation), held_out)
            _write_split(folder, split, fresh, number, progress)
        fresh = (pair for pair in _stream(seed, "contrast") if pair.source_text not in held_out)
        contrast = contrastive_pairs(fresh, Draw(f"{seed} verbs"), size.contrast)
        _write_contrast(folder, contrast, held_out, progress)
        stream = _split_stream(seed, "train", generalisation)
        rest = (pair for pair in stream if pair.source_text not in held_out)
        _write_split(folder, "train", rest, size.train, progress)
    names = ["train", "valid", "test", *(split for split, _ in sets[2:])]
    return [*(f"{split}.{end}" for split in names for end in SPLIT_SUFFIXES), *CONTRAST_FILES]


def _split_stream(
    seed: int, split: str, generalisation: GeneralisationSplit | None
) -> Iterator[SentencePair]:
    """The sentences of a split, which are of the left-out kind, or not."""
    stream = _stream(seed, split)
    if generalisation is None:
        return stream
    return generalisation.of_kind(stream, left_out=split == LEFT_OUT)


def _stream(seed: int, name: str) -> Iterator[SentencePair]:
    """An infinite stream of sentences, without those of unsuitable length."""
    grammar = Grammar(Draw(f"{seed} {name}"))
    while True:
        pair = SentencePair.of(grammar.sentence())
        if pair.of_fair_length:
            yield pair


def _remembered(pairs: Iterator[SentencePair], seen: set[str]) -> Iterator[SentencePair]:
    """The pairs whose source is new."""
    for pair in pairs:
        if pair.source_text not in seen:
            seen.add(pair.source_text)
            yield pair


def _write_split(
    folder: Path, split: str, pairs: Iterator[SentencePair], number: int, progress: Progress
) -> None:
    """Writes the files of one split, a sentence at a time."""
    with ExitStack() as stack:
        files = [stack.enter_context(_text(folder, f"{split}.{end}")) for end in SPLIT_SUFFIXES]
        for place in range(1, number + 1):
            pair = next(pairs)
            texts = (  # in the order of SPLIT_SUFFIXES
                pair.source_text + "\n",
                pair.target_text + "\n",
                conllu(pair, f"{split}-{place}"),
                pair.tree.bracketed() + "\n",
                chunks(pair) + "\n",
                target_conllu(pair, f"{split}-{place}"),
                pharaoh(pair) + "\n",
            )
            for file, text in zip(files, texts, strict=True):
                file.write(text)
            progress.update()


def _write_contrast(
    folder: Path, pairs: Iterator[AgreementPair], seen: set[str], progress: Progress
) -> None:
    """Writes the contrastive pairs, and records their sources against repetition."""
    with ExitStack() as stack:
        files = [stack.enter_context(_text(folder, name)) for name in CONTRAST_FILES]
        for pair in pairs:
            seen.add(pair.source)
            columns = (pair.source, pair.correct, pair.incorrect, str(pair.distance))
            for file, column in zip(files, columns):
                file.write(column + "\n")
            progress.update()


def _text(folder: Path, name: str) -> TextIO:
    """A text file to write, the same bytes on every platform."""
    return (folder / name).open("w", encoding="utf-8", newline="\n")


def conllu(pair: SentencePair, name: str) -> str:
    """The source's dependencies as a CoNLL-U block, blank line included.

    Args:
        name: its `sent_id`.
    """
    lines = [f"# sent_id = {name}", f"# text = {pair.source_text}"]
    dependencies = pair.tree.dependencies()
    for position, (word, (head, relation)) in enumerate(zip(pair.source, dependencies), start=1):
        own = (word.form, word.lemma, word.upos, word.xpos, word.feats)
        lines.append("\t".join((str(position), *own, str(head), relation, "_", "_")))
    return "\n".join(lines) + "\n\n"


def target_conllu(pair: SentencePair, name: str) -> str:
    """The target's dependencies, likewise, with parts of speech.

    Args:
        name: its `sent_id`.
    """
    place = {id(word): number for number, word in enumerate(pair.target, start=1)}
    lines = [f"# sent_id = {name}", f"# text = {pair.target_text}"]
    for number, word in enumerate(pair.target, start=1):
        head = 0 if word.head is None else place[id(word.head)]
        columns = (number, word.form, "_", word.upos, *"__", head, word.relation, *"__")
        lines.append("\t".join(map(str, columns)))
    return "\n".join(lines) + "\n\n"


def chunks(pair: SentencePair) -> str:
    """The target's chunk tags in IOB2, separated by spaces."""
    return " ".join(word.chunk for word in pair.target)


def pharaoh(pair: SentencePair) -> str:
    """The word alignment as source-target positions from 0, separated by spaces."""
    return " ".join(f"{i}-{j}" for i, j in pair.alignment())
