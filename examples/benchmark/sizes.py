"""Sizes of models and batches, by name or one by one."""

import argparse
from dataclasses import dataclass, fields, replace


@dataclass(frozen=True)
class Sizes:
    """What all compared systems have in common.

    Attributes:
        width: C of Transformers; every width of RNNs.
        ffn: inner width of the FFN of Transformers.
        layers: of Transformers, in each half. RNNs have those of their architecture.
        heads: of Transformers.
        vocabulary: words, the same on both sides.
        length: mean number of tokens of a sentence, EOS included.
        sentences: in a batch.
    """

    width: int
    ffn: int
    layers: int
    heads: int
    vocabulary: int
    length: int = 25
    sentences: int = 64


SIZES = {
    "tiny": Sizes(width=64, ffn=256, layers=2, heads=4, vocabulary=4000),
    "small": Sizes(width=256, ffn=1024, layers=3, heads=8, vocabulary=8000),
    "iwslt": Sizes(width=512, ffn=1024, layers=6, heads=4, vocabulary=10000),
    "nist": Sizes(width=512, ffn=2048, layers=6, heads=8, vocabulary=30000, sentences=16),
    "base": Sizes(width=512, ffn=2048, layers=6, heads=8, vocabulary=32000),
}
_FIELDS = [field.name for field in fields(Sizes)]


def add_size_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds `--size` and an option for each single number."""
    parser.add_argument(
        "--size",
        default="small",
        choices=SIZES,
        help="sizes of all systems: base is WMT's, nist the RNNs' (default: small)",
    )
    for field in _FIELDS:
        parser.add_argument(f"--{field}", type=int, help=f"in place of the size's {field}")


def sizes_of(args: argparse.Namespace) -> Sizes:
    """The sizes that the command line asks for.

    Args:
        args: of :func:`add_size_arguments`; a width of one's own has an FFN of four times it.
    """
    given = {field: getattr(args, field) for field in _FIELDS if getattr(args, field) is not None}
    if "width" in given:
        given.setdefault("ffn", 4 * given["width"])
    return replace(SIZES[args.size], **given)
