"""Reference parses, transferred to the words of the hypothesis."""

from collections.abc import Sequence

from syntax_nmt.data.annotation_transfer import check_same_text, transfer_dependencies
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.reference_words import over_reference_words


def over_corpus_words(
    words: Sequence[str], reference: DependencyTree, where: str, name: str, unknown: str | None
) -> tuple[tuple[str, ...], DependencyTree]:
    """The words of a corpus line, completed, and the reference over them.

    A reference of another tokenisation is transferred by characters, as in `syntax-nmt binarize`.

    Args:
        reference: over the same words, or over those that multiword tokens stand for, or over
            another tokenisation of the text.
        where: file and line of the reference, for messages.
        name: file and line of the words, for messages.
        unknown: the symbol for unknown pieces in words; such words are taken from the reference.
            None = words are complete.

    Raises:
        UserError: other numbers of words, or other words.
    """
    lengths = reference.num_surface_tokens, len(reference)
    if len(words) not in lengths:
        carried = transfer_dependencies(reference, words)
        if carried is not None:
            return tuple(words), carried.annotation
    length = len(words) if len(words) in lengths else lengths[0]
    reference = reference.collapse(length)
    completed = over_reference_words(words, reference.words, where, name, unknown)
    return completed, reference


def over_same_words(
    hypothesis: DependencyTree, reference: DependencyTree, where: str, name: str
) -> tuple[DependencyTree, DependencyTree]:
    """Two trees over the same words, multiword tokens collapsed where only one has them apart.

    Args:
        where: file and line of the reference, for messages.
        name: file and line of the hypothesis, for messages.

    Raises:
        UserError: other numbers of words, or other words.
    """
    lengths = (len(reference), reference.num_surface_tokens)
    for length in (len(hypothesis), hypothesis.num_surface_tokens):
        if length in lengths:
            trees = hypothesis.collapse(length), reference.collapse(length)
            check_same_text(trees[0].words, trees[1].words, where, name)
            return trees
    raise UserError(
        f"{where}: the reference has {len(reference)} words, {name} has {len(hypothesis)}: "
        f"parse the same words, one sentence a block"
    )
