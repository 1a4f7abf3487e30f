"""The alignments of a corpus, by direction."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field

from syntax_nmt.scoring.alignments.alignment import Alignment, flipped, read_alignments
from syntax_nmt.scoring.alignments.symmetrisation import symmetrise
from syntax_nmt.scoring.parallel_text import (
    SegmentedPairs,
    check_parallel,
    chosen_scheme,
    read_pairs,
)

FORWARD, REVERSE = "forward", "reverse"


@dataclass
class AlignedCorpus:
    """Alignments of the same sentences, all written as (source, target).

    Attributes:
        name: the file that gives the number of sentences, for messages.
        alignments: by name: `forward`, `reverse`, and their symmetrisation; the last one is the
            result.
        lengths: source and target words of each sentence; None = not known.
        names: the file of each alignment that was read.
        too_long: numbers of the pairs too long for a model, whose alignment is empty.
    """

    name: str
    alignments: dict[str, list[Alignment]] = field(default_factory=dict)
    lengths: list[tuple[int, int]] | None = None
    names: dict[str, str] = field(default_factory=dict)
    too_long: set[int] = field(default_factory=set)

    def __len__(self) -> int:
        return len(next(iter(self.alignments.values())))

    @property
    def result(self) -> list[Alignment]:
        """The resulting alignments."""
        return list(self.alignments.values())[-1]

    def add(self, name: str, alignments: Sequence[Alignment | None]) -> None:
        """Adds alignments.

        Args:
            alignments: one a sentence; None = there is none.
        """
        self.too_long.update(index for index, links in enumerate(alignments) if links is None)
        self.alignments[name] = [frozenset() if links is None else links for links in alignments]

    def add_reverse_file(self, args: argparse.Namespace) -> None:
        """Adds the alignments of `--reverse`, if it is given.

        Raises:
            UserError: the file is damaged, or not parallel.
        """
        if not args.reverse:
            return
        links = read_alignments(args.reverse, args.hypothesis_base)
        check_parallel(args.reverse, len(links), self.name, len(self))
        self.names[REVERSE] = args.reverse
        self.add(REVERSE, links if args.reverse_in_order else [flipped(each) for each in links])

    def add_symmetrised(self, method: str, strict: bool) -> None:
        """Symmetrises both directions.

        Args:
            method: one of `symmetrisation.METHODS`.
            strict: as of :func:`symmetrise`.
        """
        pairs = zip(self.alignments[FORWARD], self.alignments[REVERSE])
        name = f"{method} (strict)" if strict else method
        self.add(name, [symmetrise(*pair, method, strict) for pair in pairs])


def corpus_of_files(args: argparse.Namespace) -> AlignedCorpus:
    """The alignments of `--hypothesis`, and of `--reverse`.

    Raises:
        UserError: a file is damaged, or the files are not parallel.
    """
    corpus = AlignedCorpus(args.hypothesis, names={FORWARD: args.hypothesis})
    corpus.add(FORWARD, read_alignments(args.hypothesis, args.hypothesis_base))
    if args.source:
        # Words, or pieces that mark words.
        pairs = read_pairs(args.source, args.target)
        check_parallel(args.source, len(pairs), corpus.name, len(corpus))
        names = args.source, args.target
        corpus.lengths = SegmentedPairs.of(pairs, [chosen_scheme(args)] * 2, names).lengths()
    corpus.add_reverse_file(args)
    return corpus
