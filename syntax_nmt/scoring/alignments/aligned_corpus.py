"""The alignments of a corpus, by direction."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from syntax_nmt.scoring.alignments.alignment import Alignment
from syntax_nmt.scoring.alignments.symmetrisation import symmetrise
from syntax_nmt.scoring.parallel_text import check_parallel

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

    def add_file(self, name: str, path: str, links: Sequence[Alignment]) -> None:
        """Adds the alignments of a file.

        Args:
            links: of the file, written as (source, target).

        Raises:
            UserError: the file is not parallel.
        """
        if self.alignments:
            check_parallel(path, len(links), self.name, len(self))
        self.names[name] = path
        self.add(name, links)

    def add_symmetrised(self, method: str, strict: bool) -> None:
        """Symmetrises both directions.

        Args:
            method: one of `symmetrisation.METHODS`.
            strict: as of :func:`symmetrise`.
        """
        pairs = zip(self.alignments[FORWARD], self.alignments[REVERSE])
        name = f"{method} (strict)" if strict else method
        self.add(name, [symmetrise(*pair, method, strict) for pair in pairs])
