"""`syntax-nmt prepare`: turns raw parallel text into a data-bin folder; resumable."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from syntax_nmt.arguments import add_flags, add_numbers, argument, positive_int
from syntax_nmt.commands.shared.annotating import (
    BY,
    add_feature_options,
    add_mismatch_options,
    add_model_options,
    add_worker_options,
    feature_threshold,
    find_annotators,
    resources,
)
from syntax_nmt.commands.shared.checks import require_companion_options
from syntax_nmt.commands.shared.linearised import (
    add_linearised_arguments,
    linearised_as,
    linearising,
    parsed_first,
)
from syntax_nmt.commands.shared.prepare_checks import (
    characters_parsed,
    check_destination,
    check_target_parser,
    idle_settings,
    refuse_cut_text,
    words_cut_already,
)
from syntax_nmt.commands.shared.shards import (
    SHARD_NEEDS,
    add_shard_arguments,
    refuse_other_layout,
    sharding,
)
from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.data_bin_names import plain_name
from syntax_nmt.data.linearised_folder import option_of
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.parser import DEPENDENCIES
from syntax_nmt.parsing.word_tokenizer import DEFAULT_MODES, default_mode
from syntax_nmt.preparation.annotators.annotator import Annotator
from syntax_nmt.preparation.empty_columns import refuse_empty_columns, refuse_without_training
from syntax_nmt.preparation.given_annotation import find_annotation, unused_annotation
from syntax_nmt.preparation.linearising import Linearising
from syntax_nmt.preparation.plan import Plan, columns_by_file, refuse_to_overwrite
from syntax_nmt.preparation.segment import load_sentencepiece
from syntax_nmt.preparation.splits import Split, find_splits
from syntax_nmt.preparation.tokenize import Tokenizer, loaded_tokenizer
from syntax_nmt.preparation.training_settings import default_vocabulary
from syntax_nmt.reporting.output import tell
from syntax_nmt.text.cleaning import MODES

EXAMPLE = (
    "syntax-nmt prepare --source-lang en --target-lang de --trainpref raw/train --validpref "
    "raw/val --testpref raw/test2016,raw/test2017 --stanza-dir stanza_resources --destdir prepared"
)
RESUMES = "destdir"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `syntax-nmt prepare`."""
    _add_text_arguments(parser)
    _add_piece_arguments(parser)
    _add_annotation_arguments(parser)
    add_linearised_arguments(parser)
    add_shard_arguments(parser)
    add_model_options(parser, DEPENDENCIES, "constituents", "chunks")
    add_worker_options(parser)


def _add_annotation_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--parse",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="create dependency trees of the source if there is no PREF.LANG.conllu (default: on)",
    )
    add_flags(
        parser,
        constituents="also create constituency trees of the source if there is no PREF.LANG.trees",
        target_parse="also create dependency trees of the target if there is no PREF.LANG.conllu",
        target_constituents="also create constituency trees of the target if there is no "
        "PREF.LANG.trees",
    )
    parser.add_argument(
        "--chunks",
        choices=BY,
        help="create chunks of the target if there is no PREF.LANG.chunks: by a "
        "sequence tagger (chunker.pt), or by rules from constituency trees",
    )
    add_mismatch_options(parser)
    add_feature_options(parser)
    parser.add_argument(
        "--target-stanza-dir",
        type=Path,
        help="folder of the models that chunk or parse the target (default: --stanza-dir); "
        "--stanza-model names none of them",
    )
    parser.add_argument(
        "--target-parser-model",
        metavar="PATH",
        type=Path,
        help="the model by which --parser udpipe or spacy parses the target",
    )


def _add_text_arguments(parser: argparse.ArgumentParser) -> None:
    add_language = partial(parser.add_argument, required=True, type=argument(plain_name))
    add_language("--source-lang", help="the raw source files' suffix")
    add_language("--target-lang", help="the raw target files' suffix")
    parser.add_argument(
        "--trainpref",
        required=True,
        help="the raw training text up to the dot before the language: PREF.LANG or PREF.LANG.gz; "
        ".conllu, .trees and .chunks files with the same prefix are used; in shards, several with "
        "commas",
    )
    parser.add_argument(
        "--validpref", help="validation text, likewise; several with commas count as one"
    )
    parser.add_argument("--testpref", help="test text, likewise; several with commas")
    parser.add_argument("--destdir", type=Path, required=True, help="output folder")
    for side in ("source", "target"):
        parser.add_argument(
            f"--{side}-tokenizer",
            choices=MODES,
            help=f"how to tokenise {side} words; none: the text is already tokenised (default: "
            f"{DEFAULT_MODES})",
        )
        parser.add_argument(
            f"--{side}-segmenter",
            type=Path,
            help=f"for --{side}-tokenizer stanza: the tokeniser model's file, or a folder in "
            "Stanza's own layout (default: Stanza's own folder)",
        )


def _add_piece_arguments(parser: argparse.ArgumentParser) -> None:
    add_numbers(
        parser,
        positive_int,
        vocab_size="sentencepiece pieces; fewer for a text too small (default: by the number of "
        "training pairs: 1,500 below 3,000 pairs, 4,000 below 15,000, otherwise 8,000)",
    )
    parser.add_argument(
        "--sentencepiece-model", type=Path, help="use this model instead of training one"
    )
    for side in ("source", "target"):
        parser.add_argument(
            f"--{side}-words",
            type=positive_int,
            metavar="N",
            help=f"no pieces on the {side} side: its tokens are words, its vocabulary is the N "
            "most frequent of the training text, all others are <unk>; each language then has "
            "its own dictionary",
        )
    add_flags(
        parser,
        separate="a sentencepiece model and a dictionary for each language (default: one for both)",
    )


_NEEDS = {
    "target_stanza_dir": ("chunks", "target_parse", "target_constituents"),
    "target_parser_model": ("target_parse",),
    "words": ("linearised",),
    "labels": ("linearised",),
    "auxiliary_weight": ("linearised",),
    "max_source_positions": ("linearised", "interleave"),
    "max_target_positions": ("linearised", "interleave"),
    **SHARD_NEEDS,
}


def run(args: argparse.Namespace) -> None:
    """Prepares a corpus and prints what was made.

    Args:
        args: the options of :func:`add_arguments`.
    """
    from syntax_nmt.preparation.corpus import Corpus
    from syntax_nmt.preparation.preparation import Preparation
    from syntax_nmt.preparation.summary import summary
    from syntax_nmt.preparation.training_commands import TEST, method_list
    from syntax_nmt.preparation.training_data import TrainingData

    in_shards = sharding(args)
    plan = _plan(args)

    def note(line: str) -> None:
        print(line, file=sys.stderr)

    parsed = parsed_first(linearised_as(args), plan.source, plan.target)
    for line in unused_annotation(plan.splits, *parsed):
        note(line)
    if plan.linearised is not None:
        found = find_annotation(plan.splits, *parsed)
        for path in sorted({*found.values()} - {*plan.given.values()}):
            note(f"{path} is not used: no text of {plan.linearised.option} is made of it")
    for line in (*idle_settings(args), *words_cut_already(plan), *characters_parsed(plan)):
        note(line)
    if in_shards is None:
        done = Preparation(plan, note)
        done.run()
        tell(summary(plan, done.steps.reports))
    else:
        tell(summary(plan, Corpus(plan, in_shards, note).run()))
        if in_shards.only is not None:
            note(
                f"shard {in_shards.only} is done; when all are: run the same line without "
                "--only-shard, which gives them the same labels"
            )
            return
    tests = [split.target for split in plan.splits if split.name == TEST]
    tell(method_list(TrainingData.of(plan.folder), *tests))


def _plan(args: argparse.Namespace) -> Plan:
    """The plan, after all checks that are possible before work begins."""
    source, target = args.source_lang, args.target_lang
    if source == target:
        raise UserError(f"--source-lang and --target-lang are both {source}")
    check_destination(str(args.destdir))
    check_target_parser(args)
    require_companion_options(args, _NEEDS)
    if args.chunk_model is not None and args.chunks is None:
        raise UserError("--chunk-model does nothing without --chunks tagger: add it")
    threshold = feature_threshold(args)
    tokenizers = {
        source: _tokenizer(args, "source", source),
        target: _tokenizer(args, "target", target),
    }
    if args.sentencepiece_model is not None:
        load_sentencepiece(args.sentencepiece_model)
    prefixes = (args.trainpref, args.validpref, args.testpref)
    in_shards = args.shard_size is not None
    splits = find_splits(*prefixes, source=source, target=target, in_shards=in_shards)
    refuse_cut_text(args, splits)
    annotators, given, how = _annotation(args, splits)
    sizes = {source: args.source_words, target: args.target_words}
    pairs = sum(split.lines for split in splits if split.is_training)
    vocabularies = {lang: size for lang, size in sizes.items() if size is not None}
    plan = Plan(
        source=source,
        target=target,
        splits=splits,
        folder=args.destdir,
        tokenizers=tokenizers,
        vocab_size=args.vocab_size or default_vocabulary(pairs),
        piece_model=args.sentencepiece_model,
        joined=not args.separate and not vocabularies,
        annotators=annotators,
        given=given,
        resources=resources(args),
        vocabularies=vocabularies,
        on_mismatch=args.on_mismatch,
        attach_roots=args.attach_roots,
        features=args.features,
        target_features=args.target_features,
        feature_threshold=threshold,
        linearised=how,
    )
    refuse_to_overwrite(plan, _models(args))
    refuse_other_layout(plan, in_shards)
    return plan


def _annotation(
    args: argparse.Namespace, splits: Sequence[Split]
) -> tuple[
    Mapping[AnnotationKind, Callable[[], Annotator]],
    Mapping[tuple[str, AnnotationKind], Path],
    Linearising | None,
]:
    """What makes annotation, the files that hold some, and how trees become text.

    Raises:
        UserError: models are missing, or the training text will not have a column that is named.
    """
    columns = columns_by_file(args.features, args.target_features)
    annotators = find_annotators(args)
    given = find_annotation(
        splits, *parsed_first(linearised_as(args), args.source_lang, args.target_lang)
    )
    how = linearising(args, given)
    if how is not None:  # trees of one kind become text, and nothing else is read
        annotators = {kind: find for kind, find in annotators.items() if kind == how.kind}
        given = {
            (split, kind): path
            for (split, kind), path in given.items()
            if kind == how.kind and how.needs_trees(split)
        }
    else:
        refuse_without_training(
            [CHUNKS, *(kind for kind, named in columns.items() if named)],
            annotators,
            given,
            args.destdir / "words",
        )
    for kind, named in columns.items():
        if named:
            refuse_empty_columns(kind, named, annotators, given)
    if how is not None and how.column is not None:
        refuse_empty_columns(how.kind, (how.column,), annotators, given, option_of(how.mode))
    for kind, find in annotators.items():
        wanted = [split for split in splits if how is None or how.needs_trees(split.name)]
        if any((split.name, kind) not in given for split in wanted):
            find()  # models that are missing are reported now
    return annotators, given, how


def _models(args: argparse.Namespace) -> list[Path]:
    """The files and folders of models that the options name."""
    named = (
        *(args.stanza_dir, args.target_stanza_dir, args.chunk_model, args.sentencepiece_model),
        *(args.parser_model, args.target_parser_model),
        *(args.source_segmenter, args.target_segmenter),
        *(path for _, path in args.stanza_model),
    )
    return [path for path in named if path is not None]


def _tokenizer(args: argparse.Namespace, side: str, lang: str) -> Tokenizer:
    """The tokeniser of a side; its model is loaded to check that it exists."""
    mode = getattr(args, f"{side}_tokenizer") or default_mode(lang)
    tokenizer = Tokenizer(mode, lang, getattr(args, f"{side}_segmenter"))
    loaded_tokenizer(tokenizer).check()
    return tokenizer
