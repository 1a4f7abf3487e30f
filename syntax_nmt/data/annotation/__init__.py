"""Every kind of annotation: one object each, and the list of them.

Messages and pages for users call it side information. An annotation file has one entry a sentence
of one side of the corpus. All that the rest of the code asks about a kind is in its object
(:class:`~syntax_nmt.data.annotation.kind.AnnotationKind`); a kind that is put into the list is
prepared, binarised, inspected, loaded and handed to the models that declare it.
"""

from syntax_nmt.data.annotation.chunks import CHUNKS
from syntax_nmt.data.annotation.heads import HEADS
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.annotation.phrases import PHRASES

KINDS: tuple[AnnotationKind, ...] = (HEADS, PHRASES, CHUNKS)

# Those that a parser gives, too, of text that is translated.
PARSED_KINDS: tuple[AnnotationKind, ...] = tuple(
    kind for kind in KINDS if kind.parsed_by is not None
)
