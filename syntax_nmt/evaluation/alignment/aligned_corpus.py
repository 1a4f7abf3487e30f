"""The alignments of a corpus, by direction: out of models, or out of files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field

from syntax_nmt.data.text_files import NEWLINE_ONLY, read_lines
from syntax_nmt.errors import UserError, errors_of
from syntax_nmt.evaluation.alignment.alignment import Alignment, flipped, read_alignments
from syntax_nmt.evaluation.alignment.symmetrisation import symmetrise
from syntax_nmt.evaluation.base.options import check_parallel, chosen_scheme
from syntax_nmt.evaluation.extraction.attention_alignment import WordCounts, align_words
from syntax_nmt.evaluation.extraction.cross_attention import CrossAttention
from syntax_nmt.evaluation.trained_model.checkpoint import choose_device
from syntax_nmt.evaluation.trained_model.forced_arguments import forced_model
from syntax_nmt.evaluation.trained_model.forced_decoding import (
    ForcedDecoder,
    TokenPair,
    load_forced_decoder,
)
from syntax_nmt.evaluation.trained_model.segmentation import Segment

FORWARD, REVERSE = "forward", "reverse"


@dataclass
class AlignedCorpus:
    """Alignments of the same sentences, all written as (source, target).

    Attributes:
        name: the file that tells how many sentences there are, for messages.
        alignments: by name: `forward`, `reverse`, and what they were symmetrised to; the last one
            is the result.
        lengths: source and target words of each sentence; None = not known.
        names: the file of an alignment that was read.
        base: what these files call the first word.
        too_long: pairs too long for a model, whose alignment is empty.
    """

    name: str
    alignments: dict[str, list[Alignment]] = field(default_factory=dict)
    lengths: list[tuple[int, int]] | None = None
    names: dict[str, str] = field(default_factory=dict)
    base: int = 0
    too_long: int = 0

    def __len__(self) -> int:
        return len(next(iter(self.alignments.values())))

    @property
    def result(self) -> list[Alignment]:
        """The alignments that are wanted."""
        return list(self.alignments.values())[-1]

    def add(self, name: str, alignments: Sequence[Alignment | None]) -> None:
        """Adds alignments.

        Args:
            alignments: one a sentence; None = there is none.
        """
        self.too_long += sum(links is None for links in alignments)
        self.alignments[name] = [frozenset() if links is None else links for links in alignments]

    def add_symmetrised(self, method: str, strict: bool) -> None:
        """Puts both directions together.

        Args:
            method: one of `symmetrisation.METHODS`.
            strict: as of :func:`symmetrise`.
        """
        pairs = zip(self.alignments[FORWARD], self.alignments[REVERSE])
        name = f"{method} (strict)" if strict else method
        self.add(name, [symmetrise(*pair, method, strict) for pair in pairs])


def corpus_of_files(args: argparse.Namespace) -> AlignedCorpus:
    """The alignments of `--hypothesis`, and of `--reverse`.

    Raises:
        UserError: a file is damaged, or the files are not parallel.
    """
    corpus = AlignedCorpus(
        args.hypothesis, names={FORWARD: args.hypothesis}, base=args.hypothesis_base
    )
    corpus.add(FORWARD, read_alignments(args.hypothesis, args.hypothesis_base))
    if args.source:
        # Words, or pieces that tell their words.
        pairs = parallel_text(args.source, args.target, Segment(), Segment())
        check_parallel(args.source, len(pairs), corpus.name, len(corpus))
        corpus.lengths = _counts(args, pairs).lengths()
    _add_reverse_file(args, corpus)
    return corpus


def corpus_of_models(args: argparse.Namespace) -> AlignedCorpus:
    """The alignments of `--path`, and of `--reverse-path` or `--reverse`.

    Raises:
        UserError: a model or a file cannot be used, or they do not belong together.
    """
    decoder, source, target = forced_model(args, args.path)
    pairs = parallel_text(args.source, args.target, source, target)
    counts = _counts(args, pairs)
    corpus = AlignedCorpus(args.source, lengths=counts.lengths(), base=args.hypothesis_base)
    corpus.add(FORWARD, _aligned(args, args.path, decoder, pairs, counts))
    if args.reverse_path:
        data = args.reverse_databin or args.databin
        other = load_forced_decoder(args.reverse_path, data, choose_device(args.device))
        _check_direction(args, decoder, other)
        turned = [TokenPair(pair.target, pair.source) for pair in pairs]
        found = _aligned(args, args.reverse_path, other, turned, counts.flipped())
        corpus.add(REVERSE, [None if links is None else flipped(links) for links in found])
    _add_reverse_file(args, corpus)
    return corpus


def _aligned(
    args: argparse.Namespace,
    path: str,
    decoder: ForcedDecoder,
    pairs: Sequence[TokenPair],
    counts: WordCounts,
) -> list[Alignment | None]:
    with errors_of(path):
        attention = CrossAttention(decoder, args.layer, args.heads)
    return align_words(attention, pairs, counts, args.max_tokens, args.batch_size)


def _add_reverse_file(args: argparse.Namespace, corpus: AlignedCorpus) -> None:
    if not args.reverse:
        return
    links = read_alignments(args.reverse, args.hypothesis_base)
    check_parallel(args.reverse, len(links), corpus.name, len(corpus))
    corpus.names[REVERSE] = args.reverse
    corpus.add(REVERSE, links if args.reverse_in_order else [flipped(each) for each in links])


def _check_direction(
    args: argparse.Namespace, forward: ForcedDecoder, reverse: ForcedDecoder
) -> None:
    ours, others = forward.task.cfg, reverse.task.cfg
    if (ours.source_lang, ours.target_lang) != (others.target_lang, others.source_lang):
        raise UserError(
            f"{args.reverse_path} translates {others.source_lang}-{others.target_lang}, "
            f"{args.path} {ours.source_lang}-{ours.target_lang}: give --reverse-path a model of "
            f"the other direction"
        )


def parallel_text(
    source: str, target: str, segment: Segment, segment_target: Segment
) -> list[TokenPair]:
    """The sentences and translations of parallel files, in pieces.

    Args:
        segment: segments the lines of the first.
        segment_target: segments those of the second.

    Raises:
        UserError: they have different numbers of lines.
    """
    columns = [list(read_lines(path, NEWLINE_ONLY)) for path in (source, target)]
    check_parallel(target, len(columns[1]), source, len(columns[0]))
    return [TokenPair(segment(x), segment_target(y)) for x, y in zip(*columns)]


def _counts(args: argparse.Namespace, pairs: Sequence[TokenPair]) -> WordCounts:
    return WordCounts.of(pairs, chosen_scheme(args), (args.source, args.target))
