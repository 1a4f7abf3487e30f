"""What kinds that are read from constituency trees have in common."""

from collections.abc import Sequence

import numpy as np

from syntax_nmt.data.annotation.kind import AnnotationKind, Place
from syntax_nmt.data.annotation_transfer import Transferred, of_this_text, transfer_constituents
from syntax_nmt.data.constituents import ConstituentTree, format_tree, parse_tree
from syntax_nmt.text.languages import SOURCE


class OfConstituents(AnnotationKind):
    """A kind that is read from constituency trees of the source, a bracketed one a line."""

    ending = "trees"
    side = SOURCE
    empty_entry = "the line '()'"
    parsed_by = "constituents"

    def parse(self, entry: str, place: Place) -> ConstituentTree | None:
        """The tree of a bracketed line."""
        return parse_tree(entry, str(place.file), place.line)

    def transfer(
        self,
        annotation: ConstituentTree,
        words: Sequence[str],
        place: Place,
        corpus: str,
    ) -> Transferred[ConstituentTree] | None:
        """See :func:`~syntax_nmt.data.annotation_transfer.transfer_constituents`."""
        found = transfer_constituents(annotation, words)
        return of_this_text(found, annotation.words, words, str(place), corpus)

    def format(self, annotation: ConstituentTree | None, words: Sequence[str]) -> str:
        """A bracketed line."""
        return f"{format_tree(annotation)}\n"

    def of_analysis(self, analysis: str) -> ConstituentTree | None:
        """The tree of a bracketed line."""
        return parse_tree(analysis, "Stanza's tree", 1)

    def no_row(self, size: int) -> np.ndarray:
        """One −1 for any length."""
        return super().no_row(1)
