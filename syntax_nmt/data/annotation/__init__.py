"""Every kind of annotation: one object each, and the list of them.

Messages and pages for users call it side information. An annotation file has one entry a sentence
of one side of the corpus. The object of a kind answers all questions of other code
(:class:`~syntax_nmt.data.annotation.kind.AnnotationKind`); each kind in the list is prepared,
binarised, inspected, loaded and passed to the models that declare it.
"""

from syntax_nmt.data.annotation.chunks import CHUNKS
from syntax_nmt.data.annotation.columns import COLUMNS
from syntax_nmt.data.annotation.heads import HEADS, TARGET_HEADS
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.annotation.phrases import PHRASES
from syntax_nmt.data.annotation.trees import TREES

# Those with text files of their own.
TEXT_KINDS: tuple[AnnotationKind, ...] = (HEADS, PHRASES, CHUNKS)
# Those that the text files of others hold, too, and an option of their own loads.
DERIVED_KINDS: tuple[AnnotationKind, ...] = (TREES,)
# Those with binarised files of one side each.
BINARISED_KINDS: tuple[AnnotationKind, ...] = (*TEXT_KINDS, *DERIVED_KINDS, *COLUMNS)
# Those that `prepare` makes, of one side each.
PREPARED_KINDS: tuple[AnnotationKind, ...] = (*TEXT_KINDS, TARGET_HEADS)
# Those that an option of their own loads.
LOADED_KINDS: tuple[AnnotationKind, ...] = (*PREPARED_KINDS, *DERIVED_KINDS)
KINDS: tuple[AnnotationKind, ...] = (*BINARISED_KINDS, TARGET_HEADS)

# Kinds that a parser can also supply during translation.
PARSED_KINDS: tuple[AnnotationKind, ...] = tuple(
    kind for kind in KINDS if kind.parsed_by is not None
)
