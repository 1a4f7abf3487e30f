"""Words to pieces with sentencepiece: training on words, and segmenting."""

import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path

import sentencepiece

from syntax_nmt.data.linearised_folder import cut_between_symbols, without_symbols
from syntax_nmt.data.text_files import read_lines, write_atomically, write_bytes_atomically
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.steps import SYMBOLS
from syntax_nmt.progress import Progress

PIECE_KIND = "bpe"
MOST_LINES = 10_000_000
"""sentencepiece holds its text in memory; of a longer one every n-th line is taken."""
_CHUNK = 20_000
# fairseq's, in its dictionaries.
_OF_FAIRSEQ, _UNKNOWN = frozenset(("<s>", "<pad>", "</s>")), "<unk>"
_CHANGES = "changes the text when it segments it: train it with --normalization_rule_name=identity"
_IN_BYTES = (
    "spells characters that it does not know in bytes, and fairseq-generate prints those: train "
    "it with --byte_fallback=false --character_coverage=1.0"
)
_TOO_HIGH = re.compile(r"value <= (\d+)")
_TOO_LOW = re.compile(r"smaller than required_chars\D+\d+ vs (\d+)")


def train_model(texts: Sequence[Path], model: Path, vocab_size: int, symbols: bool = False) -> int:
    """Trains a sentencepiece model on words.

    The model normalises nothing and knows every character that it was trained on, so that the words
    of a segmented line are exactly the words of the line.

    Args:
        texts: files of words separated by spaces.
        model: the file to write.
        vocab_size: number of pieces. A text that is too small for it gets as many as it has.
        symbols: the texts are linearised, and their symbols are not cut.

    Returns:
        The number of pieces of the model.

    Raises:
        UserError: the number is too small for the characters of the text, or the text is empty.
    """
    if next(_filled_lines(texts, symbols), None) is None:
        raise UserError(
            f"sentencepiece cannot be trained on {_names(texts)}: all lines are blank: give text "
            "with words"
        )
    try:
        trained = _train(texts, vocab_size, symbols)
    except RuntimeError as error:
        limit = _TOO_HIGH.search(str(error))
        if limit is None:
            raise _training_error(error, texts, vocab_size) from None
        try:
            trained = _train(texts, int(limit[1]), symbols)
        except RuntimeError as second:
            raise _training_error(second, texts, vocab_size) from None
    write_bytes_atomically(model, trained)
    return int(load_sentencepiece(model).get_piece_size())


def load_sentencepiece(model: Path) -> sentencepiece.SentencePieceProcessor:
    """A sentencepiece model, loaded.

    Raises:
        UserError: the file is not such a model.
    """
    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(model))
    except (OSError, RuntimeError):
        raise UserError(
            f"{model}: cannot be read as a sentencepiece model: give one that spm_train or "
            f"`syntax-nmt prepare` wrote"
        ) from None


def segment_file(
    model: Path, words: Path, pieces: Path, threads: int, symbols: bool = False
) -> Counter[str]:
    """Segments the words of a text into pieces separated by spaces, one line for one line.

    Args:
        words: words separated by spaces.
        pieces: the file to write.
        threads: how many threads segment.
        symbols: the text is linearised, and its symbols are not cut.

    Returns:
        Counts: `lines`, `words`, `pieces`.

    Raises:
        UserError: the model normalises or spells in bytes, so that words of the segmented text are
            other words.
    """
    processor = load_sentencepiece(model)
    encode = partial(processor.encode, out_type=str, num_threads=threads)
    counts: Counter[str] = Counter()
    lines = read_lines(words)
    number = 0
    with (
        write_atomically(pieces) as out,
        Progress(None, f"pieces of {words.name}", "lines") as bar,
    ):
        while chunk := list(islice(lines, _CHUNK)):
            for line, cut in zip(
                chunk, cut_between_symbols(chunk, encode) if symbols else encode(chunk)
            ):
                number += 1
                if "".join(cut).replace("▁", " ").strip() != line:
                    in_bytes = any(map(processor.is_byte, processor.piece_to_id(cut)))
                    raise UserError(
                        f"{words}:{number}: {model} {_IN_BYTES if in_bytes else _CHANGES}"
                    )
                counts.update(words=len(line.split()), pieces=len(cut))
                out.write(" ".join(cut) + "\n")
            bar.update(len(chunk))
    counts.update(lines=number)
    return counts


def _train(texts: Sequence[Path], vocab_size: int, symbols: bool) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=_sample(texts, symbols),
        model_writer=model,
        vocab_size=vocab_size,
        model_type=PIECE_KIND,
        character_coverage=1.0,
        normalization_rule_name="identity",
        # Long lines would be left out, and with them their characters.
        max_sentence_length=1 << 20,
        # One thread: the same text gives the same model everywhere.
        num_threads=1,
        minloglevel=2,
    )
    return model.getvalue()


def _sample(texts: Sequence[Path], symbols: bool) -> Iterator[str]:
    """Lines of the texts, evenly spread, :data:`MOST_LINES` at most."""
    step = -(-sum(1 for _ in _filled_lines(texts, symbols)) // MOST_LINES)
    return islice(_filled_lines(texts, symbols), 0, None, max(1, step))


def _filled_lines(texts: Sequence[Path], symbols: bool) -> Iterator[str]:
    lines = chain.from_iterable(map(read_lines, texts))
    return filter(None, map(without_symbols, lines) if symbols else lines)


def _names(texts: Sequence[Path]) -> str:
    return " and ".join(map(str, texts))


def _training_error(error: RuntimeError, texts: Sequence[Path], vocab_size: int) -> UserError:
    names = _names(texts)
    needed = _TOO_LOW.search(str(error))
    if needed is not None:
        return UserError(
            f"--vocab-size {vocab_size}: {names} hold {needed[1]} different characters, "
            "each of which must be a piece: give a larger number"
        )
    return UserError(f"sentencepiece cannot be trained on {names}: {error}")


def copy_words(words: Path, tokens: Path) -> Counter[str]:
    """Writes the words of a text as its tokens.

    Words that fairseq takes for its own symbols, such as `</s>` in text of web pages, are unknown.

    Args:
        words: words separated by spaces.
        tokens: the file to write.

    Returns:
        Counts: `lines`, `words`, as many `pieces`, and `symbols`, if there are such words.
    """
    counts: Counter[str] = Counter()
    with write_atomically(tokens) as out:
        for line in read_lines(words):
            found = line.split()
            counts.update(lines=1, words=len(found), pieces=len(found))
            if not _OF_FAIRSEQ.isdisjoint(found):
                counts[SYMBOLS] += sum(word in _OF_FAIRSEQ for word in found)
                line = " ".join(_UNKNOWN if word in _OF_FAIRSEQ else word for word in found)
            out.write(line + "\n")
    return counts
