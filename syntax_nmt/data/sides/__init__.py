"""Every kind of side information: one object each, and the list of them.

A side file has one entry a sentence of one side of the corpus. All that the rest of the code asks
about a kind is in its object (:class:`~syntax_nmt.data.sides.kind.SideKind`); a kind that is put
into the list is prepared, binarised, inspected, loaded and handed to the models that declare it.
"""

from syntax_nmt.data.sides.chunks import CHUNKS
from syntax_nmt.data.sides.heads import HEADS
from syntax_nmt.data.sides.kind import SideKind
from syntax_nmt.data.sides.phrases import PHRASES

KINDS: tuple[SideKind, ...] = (HEADS, PHRASES, CHUNKS)

# Those that a parser gives, too, of text that is translated.
PARSED_KINDS: tuple[SideKind, ...] = tuple(kind for kind in KINDS if kind.parsed_by is not None)
