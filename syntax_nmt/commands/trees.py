"""`syntax-nmt trees`: extracts and scores trees of a trained model."""

import argparse
import os
from collections.abc import Iterator

from syntax_nmt.arguments import (
    add_files,
    add_flags,
    add_numbers,
    flag,
    positive_int,
    sentence_numbers,
)
from syntax_nmt.commands.shared.checks import refuse_beside_hypothesis, require_companion_options
from syntax_nmt.commands.shared.findings import (
    add_findings_arguments,
    findings_outputs,
    write_findings,
)
from syntax_nmt.commands.shared.models import (
    add_batch_arguments,
    add_model_arguments,
    add_parser_argument,
    add_subwords_argument,
    batch_limits,
    files_of_model,
    model_files,
    refuse_subwords_of_words,
    scheme_of,
)
from syntax_nmt.errors import UserError
from syntax_nmt.inference.settings import TEST, CorpusText
from syntax_nmt.progress import Progress
from syntax_nmt.reporting.output import STDOUT, check_outputs, open_output, write_lines
from syntax_nmt.scoring import linearised_trees
from syntax_nmt.scoring.constituents import constituent_corpus
from syntax_nmt.scoring.constituents.constituent_corpus import GoldFile
from syntax_nmt.scoring.constituents.constituent_report import ConstituentReport
from syntax_nmt.scoring.dependencies import parsed_corpus
from syntax_nmt.scoring.dependencies.parsed_corpus import SentenceFilter
from syntax_nmt.scoring.dependencies.tree_report import ParseReport
from syntax_nmt.scoring.tree_corpus import TreeCorpus, TreeReport
from syntax_nmt.text.languages import SOURCE, TARGET

EXAMPLE = (
    "syntax-nmt trees data-bin --path checkpoints/checkpoint_best.pt --gen-subset test "
    "--conllu words/test.de.conllu --output trees.conllu --draw 3"
)


DESCRIPTION = """\
Dependency trees from the parent head of a model with supervised attention heads: the best tree with
one root under the attention weights between words (a word is its first subword). With --side target
those of translations, by forced decoding; a decoder finds only heads that do not come later. The
trees go to stdout or --output as CoNLL-U; UAS against --conllu goes to stderr and --json. With
--kind constituents: binary trees, one bracketed tree per line, from the syntactic distances of a
model with latent phrases, averaged over heads. A sentence is split at its largest gap (the leftmost
of equals), and so are its parts; only gaps before a word's first subword count. Unlabelled bracket
F1 against --trees is given for the corpus and as a mean over sentences (with a bracket), with and
without the whole-sentence bracket. The table also has right-branching, left-branching and balanced
trees (an odd word goes to the right half) over the words that are not deleted. With --hypothesis
the trees come from a file, and no model is needed; --linearised reads them from what a model wrote
(`prepare --linearised`), dependency trees bracketed by relation. A line that is not balanced, or
has another number of words, has no tree.
"""


DEPENDENCIES, CONSTITUENTS = "dependencies", "constituents"


# Options of only one kind of trees.
_OPTIONS = {
    DEPENDENCIES: ("conllu", "no_punctuation", "words", "known_words"),
    CONSTITUENTS: ("trees", "collins", "layer"),
}
# Options that do nothing without others.
_NEEDS = {
    "linearised": ("hypothesis",),
    "no_punctuation": ("conllu",),
    "words": ("conllu",),
    "known_words": ("conllu",),
    "collins": ("trees",),
    "translations": ("input",),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    _add_input(parser)
    _add_dependencies(parser)
    _add_constituents(parser)
    _add_output(parser)
    group = parser.add_argument_group("running the model")
    add_parser_argument(group)
    add_batch_arguments(group, 12000, "sentences")


def run(args: argparse.Namespace) -> None:
    """Parses, writes, scores and draws according to the command line.

    Raises:
        UserError: options that do not go together, or files that do not.
    """
    drawn = frozenset((*args.sentences, *range(1, args.draw + 1)))
    _check_options(args, bool(drawn))
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
    write_findings(*report.report(), args, stdout_is_free=False)


def _dependencies(args: argparse.Namespace, drawn: frozenset[int]) -> tuple[TreeCorpus, TreeReport]:
    gold = args.conllu, SentenceFilter.of(args.words, args.known_words)
    if args.linearised:
        corpus = linearised_trees.dependency_corpus(args.hypothesis, *gold)
    elif args.hypothesis:
        corpus = parsed_corpus.corpus_of_file(args.hypothesis, *gold)
    else:  # imports fairseq, which files do not need
        from syntax_nmt.inference.extraction.dependencies import corpus_of_model

        texts = model_files(args), _text(args), batch_limits(args)
        corpus = corpus_of_model(*texts, *gold, side=args.side or SOURCE)
    return corpus, ParseReport(corpus, drawn, punctuation=not args.no_punctuation)


def _constituents(args: argparse.Namespace, drawn: frozenset[int]) -> tuple[TreeCorpus, TreeReport]:
    gold = GoldFile(args.trees, args.collins) if args.trees else None
    if args.linearised:
        corpus = linearised_trees.bracketed_corpus(args.hypothesis, gold)
    elif args.hypothesis:
        corpus = constituent_corpus.corpus_of_file(args.hypothesis, gold)
    else:
        from syntax_nmt.inference.extraction.constituents import corpus_of_model

        side, layer = args.side or SOURCE, args.layer or 0
        files, limits = model_files(args), batch_limits(args)
        corpus = corpus_of_model(files, _text(args), limits, side, layer, gold)
    return corpus, ConstituentReport(corpus, drawn)


def _text(args: argparse.Namespace) -> CorpusText:
    files = args.input, args.translations, args.segmented
    return CorpusText(args.gen_subset, *files, scheme_of(args))


def _blocks(corpus: TreeCorpus, report: TreeReport) -> Iterator[str]:
    """The trees in the form of their file; each is also added to the report."""
    for sentence in Progress(corpus, "trees", "sentences", len(corpus), leave=False):
        yield sentence.block()
        report.add(sentence)


def _check_positions(positions: list[int], sentences: int) -> None:
    for position in positions:
        if position > sentences:
            raise UserError(f"--sentences {position}: the corpus has {sentences} sentences")


def _add_input(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to parse")
    add = group.add_argument
    add_model_arguments(group)
    add(
        "--kind",
        choices=(DEPENDENCIES, CONSTITUENTS),
        default=DEPENDENCIES,
        help="which trees (default: %(default)s)",
    )
    add(
        "--gen-subset",
        metavar="SPLIT",
        default=TEST,
        help="split to parse (default: %(default)s)",
    )
    add_files(
        group.add_mutually_exclusive_group(),
        input="parse this segmented source text in place of a split",
        segmented="the segmented text of the split; it gives the words where "
        "the split has unknown subwords",
    )
    add_subwords_argument(group)
    add(
        "--side",
        choices=(SOURCE, TARGET),
        help="trees of the source (default), or of translations by forced decoding",
    )
    add_files(group, translations="the segmented translations of --input, for --side target")
    add_files(
        group,
        hypothesis="score or draw these trees in place of a model's: CoNLL-U, or bracketed trees, "
        "one per line",
    )
    add_flags(
        group,
        linearised="the trees of --hypothesis are text that a model wrote: output of "
        "fairseq-generate; also prints how many are balanced",
    )


def _add_dependencies(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(f"--kind {DEPENDENCIES}")
    add = group.add_argument
    add("--conllu", metavar="FILE", help="reference parses, one block per sentence; prints UAS")
    add_flags(group, no_punctuation="exclude punctuation (of the reference) from UAS")
    add(
        "--words",
        metavar="LEAST-MOST",
        help="score only sentences of this number of words, such as 20-30 as in the paper",
    )
    add_flags(group, known_words="score only sentences without unknown tokens, as the paper does")


def _add_constituents(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(f"--kind {CONSTITUENTS}")
    add = group.add_argument
    add_numbers(group, int, layer="layer of the distances, counted from 0, the lowest (default: 0)")
    add(
        "--trees",
        metavar="GOLD",
        help="gold bracketed trees, one per line, () for no tree; prints bracket F1",
    )
    add_flags(
        group,
        collins="delete the same as evalb's COLLINS.prm: words tagged , : `` '' or . in "
        "the gold tree, and brackets labelled TOP",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to write")
    add = group.add_argument
    add_files(
        group, output="write the trees here (default: stdout, unless a drawing or figures go there)"
    )
    add_findings_arguments(group, default="stderr")
    add(
        "--draw",
        metavar="N",
        type=positive_int,
        default=0,
        help="draw the first N trees to stdout; ✗ marks words with another head in "
        "the reference and names it, or brackets that the gold tree lacks",
    )
    add(
        "--sentences",
        metavar="LIST",
        type=sentence_numbers,
        default=[],
        help="draw these sentences, counted from 1: 3,17",
    )


def _check_options(args: argparse.Namespace, draws: bool) -> None:
    """Refuses incompatible options before anything is loaded.

    Args:
        draws: whether trees are drawn.
    """
    _check_kind(args)
    require_companion_options(args, _NEEDS)
    if args.hypothesis:
        refuse_beside_hypothesis(args, ("input", "side", "layer"))
        refuse_subwords_of_words(args)
        if not (args.conllu or args.trees or draws or args.output):
            gold = "--conllu" if args.kind == DEPENDENCIES else "--trees"
            raise UserError(f"--hypothesis alone does nothing: add {gold}, --draw or --sentences")
        if args.known_words:
            raise UserError("--known-words needs the model, and --hypothesis comes without one")
    elif not args.databin or not args.path:
        raise UserError(
            "give DATABIN and the checkpoint's --path, or parses to score as --hypothesis"
        )
    if args.input and args.gen_subset != TEST:
        raise UserError("--gen-subset is of DATABIN, and --input has the sentences: leave one out")
    if args.input and (args.side == TARGET) != bool(args.translations):
        raise UserError(f"--side {TARGET} with --input parses --translations: give both or neither")
    SentenceFilter.of(args.words, args.known_words)
    names = ("input", "segmented", "hypothesis", "conllu", "trees", "translations")
    outputs = [*findings_outputs(args), args.output, STDOUT if draws else None]
    check_outputs(outputs, [*(getattr(args, name) for name in names), *files_of_model(args)])


def _check_kind(args: argparse.Namespace) -> None:
    for kind, options in _OPTIONS.items():
        for option in options:
            value = getattr(args, option)
            if kind != args.kind and value is not None and value is not False:
                raise UserError(
                    f"{flag(option)} is about {kind}: add --kind {kind}, or leave it out"
                )
