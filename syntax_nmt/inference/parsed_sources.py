"""Source annotation that a model reads: parsed from the pieces."""

from collections.abc import Sequence
from pathlib import Path

from fairseq.models import BaseFairseqModel
from fairseq.tasks import FairseqTask

from syntax_nmt.data.batch import Batch
from syntax_nmt.errors import UserError
from syntax_nmt.task.annotation_inputs import AnnotationInputs, parsed_kinds
from syntax_nmt.task.source_parser import SourceParser


def source_parser(
    model: BaseFairseqModel, task: FairseqTask, parser_config: str | Path | None
) -> SourceParser | None:
    """The parsers for a model; None = it reads no parses, or no file is given.

    Args:
        parser_config: the file of `--parser-config`; it is read only if needed.

    Raises:
        UserError: the file cannot be used, or models that it needs are missing.
    """
    kinds = parsed_kinds([model])
    if not kinds or parser_config is None:
        return None
    parser = SourceParser.read(parser_config, task)
    parser.find_models(kinds)
    return parser


def check_parser(
    model: BaseFairseqModel, parser: SourceParser | None, option: str = "--parser-config"
) -> None:
    """Refuses a model that reads parses, if there is no parser.

    Args:
        option: that gives one.

    Raises:
        UserError: names the annotation that the model reads.
    """
    kinds = parsed_kinds([model])
    if kinds and parser is None:
        what = " and ".join(kind.description for kind in kinds)
        raise UserError(f"the model reads {what}: give the parser's configuration as {option}")


class ParsedSources:
    """Batches of a model, whose annotation a parser makes of known pieces.

    Args:
        parser: None = there is none.

    Raises:
        UserError: the model reads parses, and there is no parser.
    """

    def __init__(self, model: BaseFairseqModel, parser: SourceParser | None) -> None:
        check_parser(model, parser)
        self._models = [model]
        self._inputs = AnnotationInputs((), {}, None if parser is None else parser.parse)

    def annotated(self, sample: Batch, pieces: Sequence[list[str] | None]) -> Batch:
        """The batch with the annotation that the model declares.

        Args:
            pieces: of each sentence; among its tokens unknown ones have lost theirs. None where
                they are not known.
        """
        return self._inputs.for_inference(self._models, sample, lambda _: pieces, scores=False)
