"""What `syntax-nmt prepare` checks of its options and texts before any work."""

import argparse
import os
from collections.abc import Iterator, Sequence

from syntax_nmt.arguments import flag
from syntax_nmt.commands.shared.annotating import unused_models, uses_stanza
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError, printable
from syntax_nmt.parsing.parser import DEPENDENCIES
from syntax_nmt.parsing.parsers import STANZA
from syntax_nmt.parsing.word_tokenizer import default_mode
from syntax_nmt.preparation.plan import Plan
from syntax_nmt.preparation.splits import Split
from syntax_nmt.text.cleaning import LOOKED_AT, contractions_apart
from syntax_nmt.text.languages import is_english
from syntax_nmt.text.unspaced import looks_segmented


def check_target_parser(args: argparse.Namespace) -> None:
    """Refuses a model of the target's parser that would not parse, as that of the source.

    Raises:
        UserError: names it.
    """
    if args.target_parser_model is not None and args.parser in (None, STANZA):
        raise UserError(
            f"--target-parser-model {args.target_parser_model}: is no option of Stanza: give "
            "--target-stanza-dir, or another --parser"
        )


def idle_settings(args: argparse.Namespace) -> Iterator[str]:
    """Warns of options that have no effect here, such as general settings of a recipe."""
    words = args.source_words and args.target_words
    for option in ("vocab_size", "sentencepiece_model"):
        if words and getattr(args, option):
            yield f"{flag(option)} does nothing: both sides are words"
    if not words and args.vocab_size and args.sentencepiece_model:
        yield f"--vocab-size does nothing: the pieces are those of {args.sentencepiece_model}"
    by_stanza = uses_stanza(args)
    tasks = [DEPENDENCIES] * (args.parse and by_stanza) + ["constituents"] * args.constituents
    target_by_stanza = args.target_parse and args.parser in (None, STANZA)
    of_target = args.chunks or args.target_constituents or target_by_stanza
    if args.target_stanza_dir and not of_target:
        yield f"--target-stanza-dir does nothing: --parser {args.parser} parses the target"
    if args.stanza_dir and not (tasks or of_target):
        yield (
            "--stanza-dir does nothing without --parse, --constituents, --chunks, --target-parse "
            "or --target-constituents by Stanza"
        )
    for option in ("parser", "parse_command"):
        if (
            getattr(args, option)
            and not args.parse
            and not (option == "parser" and args.target_parse)
        ):
            yield f"{flag(option)} does nothing: --no-parse leaves the source as it is"
    for option in unused_models(args, *tasks):
        yield f"{option} does nothing: it is no model of {' or '.join(tasks) or 'what is made'}"


def check_destination(destdir: str) -> None:
    """Refuses names that programs would misread."""
    for separator in (os.pathsep, ","):
        if separator in destdir:
            raise UserError(
                f"--destdir {destdir}: fairseq takes what stands after {separator} for another "
                "folder: give a name without"
            )


def refuse_cut_text(args: argparse.Namespace, splits: Sequence[Split]) -> None:
    """Refuses the default mode of languages without spaces, characters, for text that is already
    split.

    Raises:
        UserError: no mode is given for such a language, and its text has spaces.
    """
    for side in ("source", "target"):
        lang = getattr(args, f"{side}_lang")
        if getattr(args, f"{side}_tokenizer") or default_mode(lang) != "char":
            continue
        for split in splits:
            raw = getattr(split, side)
            if looks_segmented(read_lines(raw)):
                raise UserError(
                    f"{raw}: looks as if it were split into words already: give "
                    f"--{side}-tokenizer none to keep them, or char or stanza to tokenise it again"
                )


def characters_parsed(plan: Plan) -> Iterator[str]:
    """Warns where a parser of words gets characters, the default of languages without spaces."""
    for side, lang in zip(("source", "target"), plan.languages):
        parsed = any(
            plan.language(kind) == lang and (split.name, kind) not in plan.given
            for kind in plan.annotators
            for split in plan.splits
        )
        if parsed and plan.tokenizers[lang].mode == "char":
            yield (
                f"warning: {lang} is cut into characters, and parsers are trained on words: give "
                f"--{side}-tokenizer stanza with --{side}-segmenter, or none for text in words"
            )


def words_cut_already(plan: Plan) -> Iterator[str]:
    """Warns of English text that looks tokenised, and is to be tokenised again."""
    for side, lang in zip(("source", "target"), plan.languages):
        mode = plan.tokenizers[lang].mode
        if not is_english(lang) or mode not in ("penn", "moses"):
            continue
        for split in plan.splits:
            raw = getattr(split, side)
            found = contractions_apart(read_lines(raw))
            if found:
                (number, words), lines = found[0], min(split.lines, LOOKED_AT)
                yield (
                    f"warning: {raw}: {len(found):,} of {lines:,} lines have contractions apart "
                    f"from their words, such as line {number:,} ({printable(words)}): if the text "
                    f"is tokenised, give --{side}-tokenizer none, or {mode} makes other words of "
                    "them"
                )
