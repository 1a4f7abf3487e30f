"""Trees that a model wrote as text, scored like those of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Optional, TypeVar

from syntax_nmt.data.constituents import ConstituentTree
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.data.linearised import balanced_share, read_dependencies, read_linearised, words_of
from syntax_nmt.data.linearised_folder import join_between_symbols
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.constituents.constituent_corpus import (
    BracketedCorpus,
    BracketedSentence,
    GoldFile,
)
from syntax_nmt.scoring.dependencies.parsed_corpus import (
    ParsedCorpus,
    ParsedSentence,
    SentenceFilter,
    told_relations,
)
from syntax_nmt.scoring.parallel_text import read_parallel_trees
from syntax_nmt.scoring.translations.output_formats import is_generate_output, parse_generate_output

_Tree = TypeVar("_Tree", ConstituentTree, DependencyTree)
_WHY = "not balanced, or with more or fewer words than the sentence"


def bracketed_corpus(path: str, gold: GoldFile | None = None) -> BracketedCorpus:
    """The constituency trees of a file.

    Args:
        path: output of fairseq-generate or fairseq-interactive, or its hypotheses alone.
        gold: None = there are no gold trees.

    Raises:
        UserError: a file is damaged, the two are not parallel, or no bracket has words.
    """
    lines = _lines(path)
    brackets = None if gold is None else gold.read([(None, path)] * len(lines), len(lines), path)
    sizes: list[Optional[Sequence[int]]] = [None] * len(lines)
    if brackets is not None:
        sizes = [
            None if found is None else (found.words + len(found.deleted),)
            for found in brackets.sentences
        ]
    trees = _trees(lines, sizes, read_linearised)
    return BracketedCorpus(
        len(trees), lambda: map(BracketedSentence, trees), brackets,
        balanced=balanced_share(lines) if lines else None, why_none=_WHY,
    )  # fmt: skip


def dependency_corpus(
    path: str, conllu: str | None = None, selection: SentenceFilter = SentenceFilter()
) -> ParsedCorpus:
    """The dependency trees of a file, bracketed by relation.

    Args:
        path: as of :func:`bracketed_corpus`.
        conllu: the reference; None = there is none.
        selection: which sentences are scored.

    Raises:
        UserError: a file is damaged, the two are not parallel, or no bracket has words.
    """
    lines = _lines(path)
    golds: list[DependencyTree | None] = [None] * len(lines)
    if conllu is not None:
        golds = read_parallel_trees(conllu, path, len(lines))
    sizes = [None if gold is None else (len(gold), gold.num_surface_tokens) for gold in golds]
    trees = _trees(lines, sizes, read_dependencies)
    reference = [
        gold if gold is None or tree is None else gold.collapse(len(tree))
        for gold, tree in zip(golds, trees)
    ]

    def parse() -> Iterator[ParsedSentence]:
        for line, tree in zip(lines, trees):
            yield ParsedSentence(tuple(words_of(line)), tree)

    relations = told_relations(trees)
    return ParsedCorpus(
        len(trees), parse, None if conllu is None else reference, selection,
        labelled=bool(relations), subtypes=any(":" in name for name in relations),
        balanced=balanced_share(lines) if lines else None, why_none=_WHY,
    )  # fmt: skip


def _lines(path: str) -> list[str]:
    """The hypotheses, their pieces joined."""
    lines = list(read_lines(path))
    if is_generate_output(lines):
        output = parse_generate_output(lines, path)
        lines = list(output.tokens or output.hypotheses)
    joined = join_between_symbols(lines)
    if joined and not any(map(words_of, joined)):
        raise UserError(
            f"{path}: its brackets have no words, so nobody knows where in a sentence they stand: "
            "write parses with `prepare --linearised multitask --words kept`"
        )
    return joined


def _trees(
    lines: Sequence[str],
    sizes: Sequence[Sequence[int] | None],
    read: Callable[[str], _Tree],
) -> list[_Tree | None]:
    """The trees; None of lines that are no tree over so many words.

    Args:
        sizes: the numbers of words that a sentence may have; None = any.
    """
    found: list[_Tree | None] = []
    for line, allowed in zip(lines, sizes):
        try:
            tree: _Tree | None = read(line)
        except ValueError:
            tree = None
        fits = tree is not None and (allowed is None or len(tree) in allowed)
        found.append(tree if fits else None)
    return found
