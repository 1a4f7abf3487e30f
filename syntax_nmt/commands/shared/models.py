"""Options of commands that run a model: what it is, how text is segmented, batches, the device."""

import argparse

from syntax_nmt.arguments import add_files, add_numbers, positive_int
from syntax_nmt.data.subwords import SCHEMES
from syntax_nmt.errors import UserError
from syntax_nmt.inference.settings import BatchLimits, ModelFiles

_AUTO = "auto"


def add_base_argument(group: argparse._ActionsContainer, option: str, whose: str) -> None:
    """Adds the option for the number of the first word, 0 or 1; None if it is not given, for 0.

    Args:
        group: of the command's parser, or the parser.
        whose: what the numbers are in.
    """
    group.add_argument(
        option,
        type=int,
        choices=(0, 1),
        help=f"number of the first word in {whose} (default: 0)",
    )


def files_of_model(args: argparse.Namespace) -> list[str | None]:
    """The files that a model is loaded from and that its text is segmented with."""
    names = ("path", "parser_config", "sentencepiece_model", "bpe_codes")
    return [getattr(args, name, None) for name in names]


def add_model_arguments(group: argparse._ActionsContainer, needed: bool = False) -> None:
    """Adds the checkpoint and its data folder.

    Args:
        needed: refuses a command line without them.
    """
    add = group.add_argument
    databin = "data folder of the model's training, or the folder of `prepare` that has it"
    add("databin", metavar="DATABIN", nargs=None if needed else "?", help=databin)
    add("--path", metavar="FILE", required=needed, help="checkpoint of the model")


def add_parser_argument(group: argparse._ActionsContainer) -> None:
    """Adds the option for parsing sources."""
    add_files(
        group,
        parser_config="for models that read dependencies, features, phrases or trees of parsed "
        "sources: the file parser.json that `syntax-nmt prepare` wrote",
    )


def add_batch_arguments(group: argparse._ArgumentGroup, tokens: int, unit: str) -> None:
    """Adds the options for batch size and device.

    Args:
        tokens: of a batch, by default.
        unit: name of the items in a batch.
    """
    add = group.add_argument
    add_numbers(
        group,
        positive_int,
        max_tokens=(tokens, "tokens per batch on either side, padding included"),
    )
    add("--batch-size", metavar="N", type=positive_int, help=f"{unit} of a batch (default: any)")
    add_device_arguments(group)


def add_device_arguments(group: argparse._ArgumentGroup) -> None:
    """Adds the option for the device."""
    device = group.add_mutually_exclusive_group()
    device.add_argument(
        "--cpu", action="store_const", const="cpu", dest="device", help="use no GPU"
    )
    device.add_argument(
        "--device", metavar="NAME", help="cpu, cuda, cuda:1, … (default: a GPU if there is one)"
    )


def add_subwords_argument(group: argparse._ActionsContainer) -> None:
    """Adds the option for the segmentation of a text.

    Args:
        group: of the command's parser, or the parser.
    """
    group.add_argument(
        "--subwords",
        choices=(_AUTO, *SCHEMES),
        default=_AUTO,
        help="subword scheme, if the text is in pieces (default: detected from the vocabulary, or "
        "from the text)",
    )


def scheme_of(args: argparse.Namespace) -> str | None:
    """One of `subwords.SCHEMES`; None = detect it."""
    return None if args.subwords == _AUTO else args.subwords


def refuse_subwords_of_words(args: argparse.Namespace) -> None:
    """Refuses the option beside --hypothesis.

    Raises:
        UserError: it is given.
    """
    if args.subwords != _AUTO:
        raise UserError("--subwords is about pieces, and --hypothesis has words: leave it out")


def model_files(args: argparse.Namespace) -> ModelFiles:
    """The model of a command line."""
    return ModelFiles(args.path, args.databin, args.parser_config, args.device)


def batch_limits(args: argparse.Namespace) -> BatchLimits:
    """The size of batches of a command line."""
    return BatchLimits(args.max_tokens, args.batch_size)
