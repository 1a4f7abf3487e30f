"""Shared code of commands that annotate: options of models and workers, run and report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from syntax_nmt.arguments import add_flags, add_numbers, positive_int
from syntax_nmt.commands.shared.checks import require_companion_options
from syntax_nmt.commands.shared.linearised import linearised_as, parsed_first
from syntax_nmt.data.annotation import CHUNKS, COLUMNS, HEADS, PHRASES, TARGET_HEADS, TARGET_TREES
from syntax_nmt.data.annotation.columns import FEATURE_THRESHOLD
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.word_annotation import SKIP, STOP
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.parser import DEPENDENCIES
from syntax_nmt.parsing.parsers import PARSERS, STANZA, ModelPaths, find_parser
from syntax_nmt.parsing.program import OPTION, ProgramCommand
from syntax_nmt.parsing.stanza.models import CHUNKER, TASKS
from syntax_nmt.preparation.annotators.annotate import PART_SIZE, Resources, annotate_file, describe
from syntax_nmt.preparation.annotators.annotator import Annotator, ModelAnnotator, ProgramAnnotator
from syntax_nmt.preparation.annotators.shard import Shard, find_shard, merge_command

BY = ("tagger", "rules")
"""How chunks are made."""
SECONDS = 600
_NEEDS = {"parser_model": ("parser",), "parse_seconds": ("parse_command",)}


def add_model_options(parser: argparse.ArgumentParser, *tasks: str) -> None:
    """Adds the options for the location and execution of models.

    Args:
        *tasks: of :data:`~syntax_nmt.parsing.stanza.models.TASKS`.
    """
    if DEPENDENCIES in tasks:
        add_parser_options(parser)
    files = {name: file for task in tasks for name, file in TASKS[task].items()}
    names = ", ".join(file.file_name for file in files.values())
    parser.add_argument(
        "--stanza-dir",
        type=Path,
        help=f"folder with models of one language under the names {names}, or a folder in Stanza's "
        "own layout (default: Stanza's)",
    )
    single = {file.single: name for name, file in files.items() if file.single}
    parser.add_argument(
        "--stanza-model",
        metavar="NAME=FILE",
        type=partial(_named_model, single),
        action="append",
        default=[],
        help=f"one model in place of the folder's; may be repeated; names: {', '.join(single)}",
    )
    if "chunks" in tasks:
        parser.add_argument(
            "--chunk-model",
            metavar="FILE",
            type=Path,
            help="a Stanza sequence tagger of chunks, as syntax-nmt chunk trains it (default: "
            f"{files[CHUNKER].file_name} in the folder of models)",
        )
    parser.add_argument(
        "--device",
        default="cpu",
        help="cpu, cuda (each worker takes the GPU of its local rank) or cuda:N; UDPipe and "
        "programs do not use it (default: cpu)",
    )
    add_numbers(
        parser,
        positive_int,
        max_words=(
            250,
            "do not annotate sentences longer than this, or with a word of more "
            "than 200 characters; memory grows with the square of the length",
        ),
        batch_size=(1000, "words per batch"),
    )


def add_parser_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that choose the parser of dependencies."""
    parser.add_argument(
        "--parser",
        choices=PARSERS,
        help="what makes dependency trees; constituents and chunks are Stanza's (default: "
        f"{STANZA})",
    )
    parser.add_argument(
        "--parser-model",
        metavar="PATH",
        type=Path,
        help="the model of --parser udpipe (a file) or spacy (a folder)",
    )
    parser.add_argument(
        OPTION,
        metavar="CMD",
        help="a program that makes dependency trees in place of --parser: it gets words, a "
        "sentence a line, and writes CoNLL-U; it runs once a worker, without a shell, and only "
        "from this option",
    )
    add_numbers(
        parser,
        positive_int,
        parse_seconds=f"the longest silence of that program (default: {SECONDS})",
    )


def check_parser_options(args: argparse.Namespace) -> None:
    """Refuses options of :func:`add_parser_options` that do not go together.

    Raises:
        UserError: names them.
    """
    require_companion_options(args, _NEEDS)
    if args.parse_command is not None and args.parser is not None:
        raise UserError(f"--parser and {OPTION} exclude each other: leave one out")
    if args.parser == STANZA and args.parser_model is not None:
        raise UserError(
            f"--parser-model {args.parser_model}: is no option of Stanza: give --stanza-dir or "
            "--stanza-model, or another --parser"
        )


def uses_stanza(args: argparse.Namespace) -> bool:
    """Whether Stanza makes dependency trees of the source."""
    return args.parse_command is None and args.parser in (None, STANZA)


def _named_model(names: Mapping[str, str], text: str) -> tuple[str, Path]:
    """Stanza's name of a file, and the file."""
    name, _, path = text.partition("=")
    if name not in names or not path:
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=FILE; names: {', '.join(names)}")
    return names[name], Path(path)


def add_root_option(parser: argparse.ArgumentParser) -> None:
    """Adds the option for parses with several roots."""
    add_flags(
        parser,
        attach_roots="if a parse has several roots, attach the others to the first that is no "
        "punctuation",
    )


def add_mismatch_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options for annotation that does not fit its text."""
    parser.add_argument(
        "--on-mismatch",
        choices=(STOP, SKIP),
        default=STOP,
        help="what to do if the words of annotation and text differ after alignment by "
        "characters: stop, or skip (those sentences get no annotation) (default: %(default)s)",
    )
    add_root_option(parser)


def add_feature_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options for features of words."""
    add = parser.add_argument
    add(
        "--features",
        metavar="COLUMN,…",
        help="columns of the source's CoNLL-U to make readable for models, too: "
        f"{', '.join(column.column for column in COLUMNS)} (default: none)",
    )
    add(
        "--target-features",
        metavar="COLUMN,…",
        help="the same of the target's CoNLL-U, and chunk, the tags of its chunks, which decoders "
        "with target factors learn (default: none)",
    )
    add_numbers(
        parser,
        positive_int,
        feature_threshold="values that the training text has less often than N times are one "
        f"value, <unk> (default: {FEATURE_THRESHOLD})",
    )


def feature_threshold(args: argparse.Namespace) -> int:
    """The number of :func:`add_feature_options`.

    Raises:
        UserError: it is given without features.
    """
    require_companion_options(args, {"feature_threshold": ("features", "target_features")})
    return args.feature_threshold or FEATURE_THRESHOLD


def add_worker_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options for workers."""
    add_numbers(parser, positive_int, workers=(1, "processes, one thread each"))
    parser.add_argument(
        "--dask-scheduler",
        metavar="ADDRESS",
        help="work on the Dask cluster of this scheduler (tcp://HOST:PORT); anyone who reaches it "
        "can run code on it: keep it in a network that you trust (SECURITY.md)",
    )
    add_numbers(
        parser,
        positive_int,
        part_size=(PART_SIZE, "lines saved at a time, so that an interrupted run can resume"),
    )


def add_shard_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that divide a text among jobs."""
    add_numbers(
        parser,
        positive_int,
        num_shards="jobs that share this text; when all are done, `syntax-nmt merge` makes the "
        "file (default: as torchrun or Slurm started this job)",
    )
    parser.add_argument("--shard-id", type=int, metavar="I", help="number of this job, from 0")


@dataclass(frozen=True)
class AnnotatorSettings:
    """Where models are, and how they run: the values of :func:`add_model_options`.

    Attributes:
        paths: the parser of dependencies, and all models.
        device: as `--device`.
        max_words: longer sentences are not annotated.
        batch_size: words.
        command: of a program that makes dependency trees in place of the parser; None = no program.
        seconds: that the program may be silent.
    """

    paths: ModelPaths
    device: str
    max_words: int
    batch_size: int
    command: str | None = None
    seconds: int = SECONDS

    @classmethod
    def of(cls, args: argparse.Namespace) -> AnnotatorSettings:
        """The settings that a command line gives.

        Raises:
            UserError: options of parsers do not go together.
        """
        files = {**dict(args.stanza_model), CHUNKER: getattr(args, "chunk_model", None)}
        paths = ModelPaths(stanza_dir=args.stanza_dir, stanza_files=files)
        limits = (args.device, args.max_words, args.batch_size)
        if not hasattr(args, "parser"):  # nothing is parsed
            return cls(paths, *limits)
        check_parser_options(args)
        paths = paths._replace(parser=args.parser or STANZA, model=args.parser_model)
        return cls(paths, *limits, args.parse_command, args.parse_seconds or SECONDS)

    def annotator(self, task: str, lang: str) -> Annotator:
        """Finds and checks the models, or the program.

        Args:
            task: of :data:`~syntax_nmt.parsing.stanza.models.TASKS`.
            lang: language of the text.

        Raises:
            UserError: models are missing, the parser is not installed, or there is no program.
        """
        if task == DEPENDENCIES and self.command is not None:
            program = ProgramCommand.of(self.command, lang, self.seconds)
            return ProgramAnnotator(program, self.max_words)
        models = find_parser(task, lang, self.paths)
        return ModelAnnotator(models, self.device, self.max_words, self.batch_size)


def chunk_annotator(settings: AnnotatorSettings, lang: str, by: str) -> Annotator:
    """The chunk annotator.

    Args:
        lang: language of the text.
        by: one of :data:`BY`.

    Raises:
        UserError: models are missing, or a tagger is given to the rules.
    """
    if by == "rules":
        tagger = settings.paths.stanza_files.get(CHUNKER)
        if tagger is not None:
            raise UserError(f"--chunk-model {tagger}: the rules use no tagger: leave it out")
        found = settings.annotator("constituents", lang)
        assert isinstance(found, ModelAnnotator)
        return replace(found, as_chunks=True)
    return settings.annotator("chunks", lang)


class _Found:
    """An annotator, found at the first call in each process.

    Args:
        find: finds and checks its models; can be pickled.
    """

    def __init__(self, find: Callable[[], Annotator]) -> None:
        self._find = find
        self._annotator: Annotator | None = None

    def __call__(self) -> Annotator:
        if self._annotator is None:
            self._annotator = self._find()
        return self._annotator


def find_annotators(args: argparse.Namespace) -> dict[AnnotationKind, Callable[[], Annotator]]:
    """The annotator of each requested kind; it looks for its models when called."""
    found: dict[AnnotationKind, Callable[[], Annotator]] = {}
    parsed, _ = parsed_first(linearised_as(args), args.source_lang, args.target_lang)
    settings = AnnotatorSettings.of(args)
    target = args.target_lang
    # Single models and programs are of the source, but the chunker.
    paths = settings.paths._replace(
        stanza_dir=args.target_stanza_dir or args.stanza_dir,
        stanza_files={CHUNKER: args.chunk_model},
        model=args.target_parser_model,
    )
    of_target = replace(settings, paths=paths, command=None)
    if args.parse:
        found[HEADS] = _Found(partial(_parser, settings, parsed))
    if args.constituents:
        found[PHRASES] = _Found(partial(settings.annotator, "constituents", parsed))
    if args.chunks:
        found[CHUNKS] = _Found(partial(chunk_annotator, of_target, target, args.chunks))
    if args.target_parse:
        found[TARGET_HEADS] = _Found(partial(of_target.annotator, DEPENDENCIES, target))
    if args.target_constituents:
        found[TARGET_TREES] = _Found(partial(of_target.annotator, "constituents", target))
    return found


def _parser(settings: AnnotatorSettings, lang: str) -> Annotator:
    """The annotator of dependencies, which are parsed unless the user declines."""
    try:
        return settings.annotator(DEPENDENCIES, lang)
    except UserError as error:
        raise UserError(f"{error}; or --no-parse to do without") from None


def unused_models(args: argparse.Namespace, *tasks: str) -> list[str]:
    """The options `--stanza-model NAME=FILE` whose models are of other tasks.

    Args:
        args: the parsed options.
        *tasks: of :data:`~syntax_nmt.parsing.stanza.models.TASKS`, those that are carried out.
    """
    used = {name for task in tasks for name in TASKS[task]}
    options = {name: file.option for files in TASKS.values() for name, file in files.items()}
    return [f"{options[name]}{path}" for name, path in args.stanza_model if name not in used]


def refuse_unused_models(args: argparse.Namespace, *tasks: str) -> None:
    """Refuses models that the only task does not use.

    Args:
        args: the parsed options.
        *tasks: of :data:`~syntax_nmt.parsing.stanza.models.TASKS`, the one that Stanza carries
            out; none = another parser works.

    Raises:
        UserError: such a model is given.
    """
    made = f"is no model of {tasks[0]}, which are made here" if tasks else "Stanza does not parse"
    for option in unused_models(args, *tasks):
        raise UserError(f"{option}: {made}: leave it out")


def run_annotation(args: argparse.Namespace, made_by: Annotator) -> None:
    """Annotates `--input` into `--output`, or a shard of it, and reports on its lines.

    Args:
        args: the parsed options.
        made_by: annotates the lines.
    """
    runs_on = resources(args)
    said = partial(print, file=sys.stderr)
    counts = annotate_file(args.input, args.output, made_by, runs_on, note=said)
    print(f"{args.output}: {describe(counts)}", file=sys.stderr)
    if runs_on.shard.count > 1:
        print(merge_command(runs_on.shard, args.input, args.output), file=sys.stderr)


def resources(args: argparse.Namespace) -> Resources:
    """The values of the options of :func:`add_worker_options` and :func:`add_shard_options`.

    Args:
        args: the parsed options; without shard options this job does all the work.

    Raises:
        UserError: the numbers of shards do not go together.
    """
    shard = find_shard(args.num_shards, args.shard_id) if hasattr(args, "num_shards") else Shard()
    return Resources(args.workers, args.dask_scheduler, args.part_size, shard)
