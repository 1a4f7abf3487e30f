"""Every kind of annotation: one object each, and the list of them.

An annotation file has one entry a sentence of one side of the corpus. Binarised, it is a side file
of fairseq's data. A kind and its side file have one name, the text file an ending of its own:

    HEADS, TARGET_HEADS               train.LANG.conllu    *.LANG.heads.{bin,idx}
    UPOS, XPOS, DEPREL, FEATS, LEMMA  train.LANG.conllu    *.LANG.upos.{bin,idx}, …
    the same of the target            train.LANG.conllu    *.LANG.target_upos.{bin,idx}, …
    PHRASES                           train.LANG.trees     *.LANG.phrases.{bin,idx}
    TREES, TARGET_TREES               train.LANG.trees     *.LANG.trees.{bin,idx}
    CHUNKS                            train.LANG.chunks    *.LANG.chunks.{bin,idx}
    CHUNK_TAG, of the target          train.LANG.chunks    *.LANG.target_chunk.{bin,idx}

The format of a kind reads and writes its text files
(:class:`~syntax_nmt.data.annotation.formats.AnnotationFormat`); the object of a kind answers all
other questions (:class:`~syntax_nmt.data.annotation.kind.AnnotationKind`). Each kind in the list is
prepared, binarised, inspected, loaded and passed to the models that declare it.
"""

from syntax_nmt.data.annotation.chunks import CHUNKS
from syntax_nmt.data.annotation.columns import COLUMNS, TARGET_COLUMNS
from syntax_nmt.data.annotation.heads import HEADS, TARGET_HEADS
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.annotation.phrases import PHRASES
from syntax_nmt.data.annotation.trees import TARGET_TREES, TREES

# Those with text files of their own.
TEXT_KINDS: tuple[AnnotationKind, ...] = (HEADS, PHRASES, CHUNKS)
# Those that the text files of others hold, too, and an option of their own loads.
DERIVED_KINDS: tuple[AnnotationKind, ...] = (TREES,)
# Those with binarised files of one side each.
BINARISED_KINDS: tuple[AnnotationKind, ...] = (
    *TEXT_KINDS,
    *DERIVED_KINDS,
    *COLUMNS,
    *TARGET_COLUMNS,
)
# Those that `prepare` makes, of one side each.
PREPARED_KINDS: tuple[AnnotationKind, ...] = (*TEXT_KINDS, TARGET_HEADS, TARGET_TREES)
# Those that an option of their own loads.
LOADED_KINDS: tuple[AnnotationKind, ...] = (*PREPARED_KINDS, *DERIVED_KINDS)
KINDS: tuple[AnnotationKind, ...] = (*BINARISED_KINDS, TARGET_HEADS, TARGET_TREES)

# Kinds that a parser can also supply during translation.
PARSED_KINDS: tuple[AnnotationKind, ...] = tuple(
    kind for kind in KINDS if kind.parsed_by is not None
)
