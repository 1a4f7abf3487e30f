"""Where figures of a command go, and in which form."""

import argparse
import sys
from collections.abc import Sequence

from syntax_nmt.reporting.findings import FORMATS, JSON, TEXT, Findings
from syntax_nmt.reporting.output import STDOUT, open_output
from syntax_nmt.reporting.result import Result, json_text


def add_findings_arguments(
    group: argparse._ArgumentGroup, default: str = "stdout", others: Sequence[str] = ()
) -> None:
    """Adds the options for the destination and form of figures.

    Args:
        group: of the command's parser.
        default: where tables go without --format.
        others: forms for other output than figures.
    """
    group.add_argument("--json", metavar="FILE", help="write the figures here; - is stdout")
    group.add_argument(
        "--format",
        choices=(*FORMATS, *others),
        metavar="FORM",
        help=f"write the figures to stdout as {', '.join(FORMATS)} (default: text to {default})",
    )


def add_digits_argument(group: argparse._ArgumentGroup) -> None:
    """Adds the option for the precision of scores.

    Args:
        group: of the command's parser.
    """
    group.add_argument(
        "--width",
        "-w",
        type=int,
        default=1,
        choices=range(8),
        metavar="N",
        help="digits after the point of scores (default: 1)",
    )


def findings_outputs(args: argparse.Namespace) -> list[str | None]:
    """The outputs that :func:`write_findings` writes, for `check_outputs`."""
    return [args.json, None if args.format is None else STDOUT]


def write_findings(
    result: Result, findings: Findings, args: argparse.Namespace, stdout_is_free: bool
) -> None:
    """Writes a result to the requested outputs.

    Args:
        result: for JSON.
        findings: the same for readers.
        stdout_is_free: whether tables go there by default; otherwise to stderr.
    """
    figures = json_text(result.to_json())
    if args.json is not None:
        with open_output(args.json) as stream:
            stream.write(figures)
    if args.format is not None or (stdout_is_free and args.json != STDOUT):
        with open_output(STDOUT) as stream:
            stream.write(figures if args.format == JSON else findings.text(args.format or TEXT))
    else:
        print(findings.text(), end="", file=sys.stderr)
