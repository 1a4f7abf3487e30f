"""Source annotation that a model reads, parsed from the pieces."""

from collections.abc import Sequence
from pathlib import Path

from fairseq.data import Dictionary
from fairseq.models import BaseFairseqModel
from torch import Tensor

from syntax_nmt.errors import UserError
from syntax_nmt.task.annotation_inputs import labels_of, parsed_kinds
from syntax_nmt.task.source_parser import SourceParser


def source_parser(
    model: BaseFairseqModel, dictionary: Dictionary, parser_config: str | Path | None
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
    parser = SourceParser.read(parser_config, dictionary)
    parser.find(kinds)
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
    """Parses sources for a model according to its declarations.

    Args:
        parser: None = there is none.

    Raises:
        UserError: the model reads parses, and there is no parser.
    """

    def __init__(self, model: BaseFairseqModel, parser: SourceParser | None) -> None:
        check_parser(model, parser)
        self.parser = parser
        self.kinds = parsed_kinds([model])
        self.labels = labels_of(self.kinds, [model])

    def of(
        self, src_tokens: Tensor, segmented: Sequence[Sequence[str] | None]
    ) -> dict[str, Tensor]:
        """The model's inputs in addition to the tokens, by name.

        Args:
            src_tokens: B×S, padded on one side, EOS last.
            segmented: the pieces of each sentence; among its tokens unknown ones have lost theirs.
                None where they are not known.
        """
        if self.parser is None:
            return {}
        known = [None if pieces is None else list(pieces) for pieces in segmented]
        return self.parser.parse(self.kinds, src_tokens, lambda rows: known, self.labels)
