"""`syntax-nmt trees`: trees out of a trained model, scored: dependencies, or constituents."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

from tqdm import tqdm

from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.base.tree_corpus import TreeCorpus, TreeReport
from syntax_nmt.evaluation.constituents import constituent_corpus
from syntax_nmt.evaluation.constituents.constituent_report import ConstituentReport
from syntax_nmt.evaluation.dependencies import parsed_corpus
from syntax_nmt.evaluation.dependencies.tree_report import ParseReport
from syntax_nmt.evaluation.tree_arguments import (
    CONSTITUENTS,
    add_tree_arguments,
    check_tree_arguments,
)
from syntax_nmt.reporting.findings import findings_outputs, write_findings
from syntax_nmt.reporting.output import STDOUT, open_output, write_lines

EXAMPLE = (
    "syntax-nmt trees data-bin --path checkpoints/checkpoint_best.pt --gen-subset test "
    "--conllu words/test.de.conllu --output trees.conllu --draw 3"
)

DESCRIPTION = """\
Dependency trees out of the parent head of a model with supervised attention heads: the best tree
with one root over the words' attention weights (a word is its first subword). The trees go to
stdout or --output as CoNLL-U, UAS against --conllu goes to stderr and --json. With --kind
constituents: binary trees, one in brackets a line, out of the syntactic distances of a model with
latent phrases, as means over heads: a sentence is split at its largest gap (the leftmost of
equals), and so are its parts; of the gaps between subwords those before a word's first count. Their
unlabelled bracket F1 against --trees is over the corpus and as a mean over sentences (those that
have a bracket), with and without the bracket around the whole sentence, beside right-branching,
left-branching and balanced trees (an odd word goes to the right half) over the words that are not
deleted. With --hypothesis the trees come from a file instead, and no model is needed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    add_tree_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Parses, writes, scores and draws what the command line asks for.

    Raises:
        UserError: options that do not go together, or files that do not.
    """
    drawn = frozenset((*args.sentences, *range(1, args.draw + 1)))
    check_tree_arguments(args, bool(drawn))
    of_kind = _constituents if args.kind == CONSTITUENTS else _dependencies
    corpus, report = of_kind(args, drawn)
    if not len(corpus):
        raise UserError(f"{args.hypothesis or args.input or args.gen_subset}: has no sentences")
    _check_positions(args.sentences, len(corpus))
    taken = args.hypothesis or drawn or STDOUT in findings_outputs(args)
    write_lines(args.output, _blocks(corpus, report), stdout_is_free=not taken)
    if drawn:
        with open_output(STDOUT) as stream:
            colour = stream.isatty() and not os.environ.get("NO_COLOR")
            stream.write(report.drawings(colour))
    write_findings(report.findings(), args, stdout_is_free=False)


def _dependencies(args: argparse.Namespace, drawn: frozenset[int]) -> tuple[TreeCorpus, TreeReport]:
    if args.hypothesis:
        corpus = parsed_corpus.corpus_of_file(args)
    else:  # with it comes fairseq, which files do not need
        from syntax_nmt.evaluation.extraction.dependencies import corpus_of_model

        corpus = corpus_of_model(args)
    return corpus, ParseReport(corpus, drawn, punctuation=not args.no_punctuation)


def _constituents(args: argparse.Namespace, drawn: frozenset[int]) -> tuple[TreeCorpus, TreeReport]:
    if args.hypothesis:
        corpus = constituent_corpus.corpus_of_file(args)
    else:
        from syntax_nmt.evaluation.extraction.constituents import corpus_of_model

        corpus = corpus_of_model(args)
    return corpus, ConstituentReport(corpus, drawn)


def _blocks(corpus: TreeCorpus, report: TreeReport) -> Iterator[str]:
    """The trees as their file has them; on the way each goes into the report."""
    for sentence in tqdm(corpus, total=len(corpus), unit="sentence", leave=False, disable=None):
        yield sentence.block()
        report.add(sentence)


def _check_positions(positions: list[int], sentences: int) -> None:
    for position in positions:
        if position > sentences:
            raise UserError(f"--sentences {position}: the corpus has {sentences} sentences")
