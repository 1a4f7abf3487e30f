"""Translates stdin with an exported model: `python -m syntax_nmt.export.translate DIR < text`."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentencepiece import SentencePieceProcessor

from syntax_nmt.arguments import CommandParser, add_flags, add_numbers, natural_int, positive_int
from syntax_nmt.data.prepared_text import TextSegmentation, read_segmentation
from syntax_nmt.data.subwords import NO_SUBWORDS, SCHEMES
from syntax_nmt.data.text_files import AS_TYPED, read_json
from syntax_nmt.errors import UserError, one_line_errors, reason_of
from syntax_nmt.export import CONFIG, FACTORS, LIMITS, SCHEME, check_installed
from syntax_nmt.parsing.config import FILE_NAME as PARSER_CONFIG
from syntax_nmt.parsing.word_tokenizer import WordTokenizer
from syntax_nmt.reporting.output import STDOUT, open_output
from syntax_nmt.task.typed_lines import TypedLines

if TYPE_CHECKING:
    from syntax_nmt.export.factored_text import FactoredText

_LINES = 256  # read, sorted into batches by length and translated together
_LONGEST = 200  # as --max-len-b of fairseq


def main() -> None:
    """Translates line by line: one output line per input line."""
    parser = CommandParser(
        prog="python -m syntax_nmt.export.translate",
        description="translates stdin with a model that `syntax-nmt export --to ctranslate2` wrote",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="that was exported")
    add_numbers(parser, positive_int, beam=(5, "1 = greedy"))
    add_flags(parser, segmented="lines are already segmented, and output is, too")
    parser.add_argument(
        "--device",
        choices=("cpu", "cuda", "auto"),
        default="cpu",
        help="auto = a GPU if there is one (default: %(default)s)",
    )
    add_numbers(parser, natural_int, threads=(0, "threads of one batch; 0 = chosen by CTranslate2"))
    parser.add_argument(
        "--parser-config",
        type=Path,
        metavar="FILE",
        help=f"for models with linguistic features: the parser (default: DIR/{PARSER_CONFIG})",
    )
    args = parser.parse_args()
    lines = io.TextIOWrapper(sys.stdin.buffer, **AS_TYPED)
    with one_line_errors(parser.prog), open_output(STDOUT) as out:
        try:
            for line in translations(lines, args):
                print(line, file=out, flush=True)
        except KeyboardInterrupt:
            raise UserError("interrupted") from None


def translations(lines: Iterable[str], args: argparse.Namespace) -> Iterator[str]:
    """The translation of each line; a warning names a line that is too long, and its translation is
    empty.

    Args:
        args: of the command line.

    Raises:
        UserError: the folder cannot be used, or a line is not UTF-8.
    """
    ctranslate2 = check_installed()
    config = ExportedConfig.read(args.folder)
    longest_source, longest_target = config.limits
    factored = _factored_text(config, args)
    try:
        cut, join = (str.split, " ".join) if args.segmented else segmentation(args.folder)
        translator = ctranslate2.Translator(
            str(args.folder), device=args.device, intra_threads=args.threads
        )
    except UserError:
        raise
    except Exception as error:  # two libraries raise many kinds of errors on damage
        raise UserError(
            f"{args.folder}: cannot be loaded with --device {args.device} ({reason_of(error)}): "
            "try another device, or export the model again"
        ) from error
    lines, counted = iter(lines), TypedLines()
    while chunk := list(islice(lines, _LINES)):
        counted.add(chunk)
        sources = [cut(line) for line in chunk]
        for number, source in enumerate(sources, start=counted.before + 1):
            if len(source) >= longest_source:
                print(
                    f"warning: line {number} ({len(source) + 1} source tokens) is too long (the "
                    f"limit is {longest_source}, EOS counts): its translation is left empty",
                    file=sys.stderr,
                )
        sources = [source if len(source) < longest_source else [] for source in sources]
        results = translator.translate_batch(
            sources if factored is None else factored.annotated(sources),
            beam_size=args.beam,
            max_batch_size=1000,
            batch_type="tokens",
            max_input_length=0,
            max_decoding_length=min(_LONGEST, longest_target - 1),
            suppress_sequences=[["<blank>"]],  # padding, which fairseq never generates either
        )
        for result in results:  # text has no <s>, which a model may generate all the same
            yield join([piece for piece in result.hypotheses[0] if piece != "<s>"])


@dataclass(frozen=True)
class ExportedConfig:
    """What an exported model says of itself.

    Attributes:
        limits: tokens of source and target for which it has positions, EOS included.
        factors: names of what it reads beside the source's tokens; none = of tokens alone.
        scheme: of the source's subwords, one of `subwords.SCHEMES`; known if there are factors.
    """

    limits: tuple[int, int]
    factors: tuple[str, ...] = ()
    scheme: str = NO_SUBWORDS

    @classmethod
    def read(cls, folder: Path) -> ExportedConfig:
        """Reads it.

        Raises:
            UserError: the folder is not what the export wrote, or damaged.
        """
        try:
            config = read_json(folder / CONFIG)
            source, target = (int(config[name]) for name in LIMITS)
            if FACTORS not in config:
                return cls((source, target))
        except (OSError, ValueError, TypeError, KeyError, OverflowError):
            raise UserError(
                f"{folder}: no model that `syntax-nmt export --to ctranslate2` wrote: give the "
                "folder of its --output, or export again"
            ) from None
        factors, scheme = config[FACTORS], config.get(SCHEME)
        if not _are_texts(factors) or scheme not in SCHEMES:
            raise UserError(f"{folder}: its source factors are damaged: export again")
        return cls((source, target), tuple(factors), scheme)


def _are_texts(found: Any) -> bool:
    return isinstance(found, list) and bool(found) and set(map(type, found)) == {str}


def _factored_text(config: ExportedConfig, args: argparse.Namespace) -> FactoredText | None:
    """What annotates typed text; None = the model has no source factors.

    Raises:
        UserError: there is no parser, or the folder is damaged.
    """
    folder: Path = args.folder
    if not config.factors:
        if args.parser_config is not None:
            raise UserError(
                f"--parser-config {args.parser_config}: the model reads nothing that is parsed: "
                "leave it out"
            )
        return None
    from syntax_nmt.export.factored_text import FactoredText  # and torch, which takes seconds

    found = folder / PARSER_CONFIG
    parser_config = args.parser_config or (found if found.is_file() else None)
    try:
        vocabulary = read_json(folder / "source_1_vocabulary.json")
        if not _are_texts(vocabulary):
            raise ValueError
    except (OSError, ValueError):
        raise UserError(f"{folder}: its source factors are damaged: export again") from None
    return FactoredText(config.factors, config.scheme, vocabulary, parser_config)


def segmentation(
    folder: Path,
) -> tuple[Callable[[str], list[str]], Callable[[list[str]], str]]:
    """The functions that segment a source line and join the pieces of a translation.

    Args:
        folder: with the files of segmentation, as `syntax-nmt prepare` and `export` write them.
    """
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
        if target_pieces is None:
            return target_words.detokenize(" ".join(pieces))
        # As fairseq joins them: sentencepiece itself writes ⁇ for <unk>.
        return target_words.detokenize("".join(pieces).replace("\u2581", " ").strip())

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
