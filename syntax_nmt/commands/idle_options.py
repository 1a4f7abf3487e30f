"""Options and files of a preparation that do nothing beside the others."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from syntax_nmt.commands.annotating import MAX_WORDS, exclusive, no_effect, unused_models
from syntax_nmt.data.annotation import KINDS
from syntax_nmt.data.text_files import find_text
from syntax_nmt.preparation.annotation_files import find_annotation_file
from syntax_nmt.preparation.plan import Plan


def idle_options(args: argparse.Namespace) -> dict[str, object]:
    """What is refused: messages, each with whether its case is there.

    Args:
        args: the options of `syntax-nmt prepare`.
    """
    model, words = args.sentencepiece_model, args.source_words and args.target_words
    joined = args.joined is True
    given, both_words = "--sentencepiece-model", "--source-words with --target-words"
    kind, lines = "--sentencepiece-type", "--sentencepiece-lines"
    return {
        no_effect("--chunk-model", "--chunks"): args.chunk_model and not args.chunks,
        exclusive("--chunks rules", "--chunk-model"): args.chunks == "rules" and args.chunk_model,
        no_effect("--target-stanza-dir", "--chunks"): args.target_stanza_dir and not args.chunks,
        exclusive(given, kind): model and args.sentencepiece_type,
        exclusive(given, lines): model and args.sentencepiece_lines,
        exclusive("--joined-dictionary", "--source-words"): joined and args.source_words,
        exclusive("--joined-dictionary", "--target-words"): joined and args.target_words,
        exclusive(both_words, kind): words and args.sentencepiece_type,
        exclusive(both_words, lines): words and args.sentencepiece_lines,
    }


def idle_notes(args: argparse.Namespace, plan: Plan) -> Iterator[str]:
    """What is told of, and does no harm, such as settings that a recipe has for all uses.

    Args:
        args: the options of `syntax-nmt prepare`.
        plan: what is made by them.
    """
    if args.vocab_size is not None:
        size = f"--vocab-size {args.vocab_size} does nothing"
        if not plan.cut_languages:
            yield f"{size}: both sides are words"
        elif plan.piece_model is not None:
            yield f"{size}: the pieces are those of {plan.piece_model}"
    yield from _idle_models(args)
    for split in plan.splits:
        for kind in KINDS:
            nameless = find_text(f"{split.prefix}.{kind.ending}")
            if nameless is not None:
                named = f"{split.prefix}.{plan.language(kind)}.{kind.ending}"
                yield f"{nameless} is not used: its name lacks the language: call it {named}"
            (other,) = set(plan.languages) - {plan.language(kind)}
            file = find_annotation_file(split.prefix, other, kind)
            if file is not None:
                described = f"{kind.description}, which is {plan.language(kind)}"
                yield f"{file} is not used: it would be {described}"


def _idle_models(args: argparse.Namespace) -> Iterator[str]:
    """Options of what annotates, where nothing is annotated by it."""
    tasks = ["dependencies"] * args.parse + ["constituents"] * args.constituents
    if args.parser_lang and not tasks:
        yield "--parser-lang does nothing without --parse or --constituents"
    if args.chunks:
        tasks.append("chunks" if args.chunks == "tagger" else "constituents")
    if not tasks:
        given = {
            "--stanza-dir": args.stanza_dir is not None,
            "--max-words": args.max_words != MAX_WORDS,
        }
        for option in (option for option, there in given.items() if there):
            yield f"{option} does nothing without --parse, --constituents or --chunks"
    made = " or ".join(tasks) or "what is made here"
    for option in unused_models(args, *tasks):
        yield f"{option} does nothing: it is no model of {made}"
