"""Translates stdin with an exported model: `python -m syntax_nmt.export.translate DIR < text`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from sentencepiece import SentencePieceProcessor

from syntax_nmt.arguments import positive_int
from syntax_nmt.data.prepared_text import TextSegmentation, read_segmentation
from syntax_nmt.errors import one_line_errors
from syntax_nmt.export.ctranslate2_model import check_installed
from syntax_nmt.tasks.tokenizer import WordTokenizer

_LINES = 256  # read, sorted into batches by length and translated together
_LONGEST = 200  # as --max-len-b of fairseq


def main() -> None:
    """Translates line by line: as many lines come out as go in."""
    parser = argparse.ArgumentParser(
        prog="python -m syntax_nmt.export.translate",
        description="translates stdin with a model that `syntax-nmt export --to ctranslate2` wrote",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="that was exported")
    parser.add_argument(
        "--beam", type=positive_int, default=5, help="1 = greedy (default: %(default)s)"
    )
    parser.add_argument(
        "--segmented", action="store_true", help="lines are pieces already, and stay pieces"
    )
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: %(default)s)")
    parser.add_argument(
        "--threads",
        type=int,
        default=0,
        help="threads of one batch (default: chosen by CTranslate2)",
    )
    args = parser.parse_args()
    with one_line_errors(parser.prog):
        for line in translations(sys.stdin, args):
            print(line, flush=True)


def translations(lines: Iterable[str], args: argparse.Namespace) -> Iterator[str]:
    """The translation of each line.

    Args:
        args: of the command line.
    """
    translator = check_installed().Translator(
        str(args.folder), device=args.device, intra_threads=args.threads
    )
    cut, join = (str.split, " ".join) if args.segmented else _segmentation(args.folder)
    lines = iter(lines)
    while chunk := list(islice(lines, _LINES)):
        results = translator.translate_batch(
            [cut(line) for line in chunk],
            beam_size=args.beam,
            max_batch_size=1000,
            batch_type="tokens",
            max_input_length=0,
            max_decoding_length=_LONGEST,
            suppress_sequences=[["<blank>"]],  # padding, which fairseq never generates either
        )
        yield from (join(result.hypotheses[0]) for result in results)


def _segmentation(
    folder: Path,
) -> tuple[Callable[[str], list[str]], Callable[[list[str]], str]]:
    """What cuts a source line into pieces, and what joins those of a translation."""
    (source, source_text), (target, target_text) = read_segmentation(folder).items()
    source_words, target_words = _words(source, source_text), _words(target, target_text)
    source_pieces, target_pieces = _pieces(source_text), _pieces(target_text)

    def cut(line: str) -> list[str]:
        words = source_words.tokenize(line)
        if source_pieces is None:
            return words.split()
        pieces: list[str] = source_pieces.encode(words, out_type=str)
        return pieces

    def join(pieces: list[str]) -> str:
        decode = " ".join if target_pieces is None else target_pieces.decode
        return target_words.detokenize(decode(pieces))

    return cut, join


def _words(language: str, text: TextSegmentation) -> WordTokenizer:
    return WordTokenizer(text.tokenizer, language, text.segmenter)


def _pieces(text: TextSegmentation) -> SentencePieceProcessor | None:
    """None: the tokens are words."""
    if text.sentencepiece_model is None:
        return None
    return SentencePieceProcessor(model_file=str(text.sentencepiece_model))


if __name__ == "__main__":
    main()
