"""`syntax-nmt plot attention`: the attention of the heads of a layer, gold heads framed."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from syntax_nmt.arguments import DECODER, ENCODER, add_files, add_flags, add_numbers, natural_int
from syntax_nmt.commands.plots.model_sentence import (
    ModelSentence,
    Side,
    add_model_sentence_arguments,
    chosen_heads,
    model_sentence,
)
from syntax_nmt.commands.plots.sentence_choice import chosen
from syntax_nmt.commands.shared.forcing import segmentation_of
from syntax_nmt.commands.shared.models import model_files
from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.errors import UserError, note
from syntax_nmt.inference.settings import ATTENTIONS, CROSS
from syntax_nmt.scoring.dependencies.reference import over_corpus_words

if TYPE_CHECKING:  # help starts without matplotlib and torch
    from matplotlib.figure import Figure

    from syntax_nmt.inference.extraction.attention_heads import HeadWeights

EOS = "</s>"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    add_model_sentence_arguments(parser)
    group = parser.add_argument_group("which attention")
    add = group.add_argument
    add(
        "--attention",
        choices=ATTENTIONS,
        help="the encoder's or the decoder's self-attention, or the decoder's over the source "
        "(default: cross with --target, encoder without)",
    )
    add_numbers(
        group,
        int,
        layer="counted from 0 at the bottom or from -1 at the top (default: the encoder's "
        "supervised one, else -2, or the only one)",
    )
    add("--head", metavar="N", type=natural_int, help="one head, counted from 0 (default: all)")
    add_flags(
        group,
        words="between words: the mean over the pieces that attend, the sum over those that are "
        "attended to (default: between pieces)",
        entropy="the entropy of every head of every layer in bits, the mean over all sentences",
    )
    add_files(
        group,
        gold="parses of the source (CoNLL-U): frames each word's head, in a supervised child head "
        "its children; for --attention encoder, between words",
    )


def figure(args: argparse.Namespace) -> Figure:
    """Draws the picture of a command line.

    Raises:
        UserError: options, the model or the files cannot be used.
    """
    if args.entropy:
        return _entropy(args)
    from syntax_nmt.inference.extraction.attention_heads import head_weights
    from syntax_nmt.pictures.plots.attention_panels import Panel, draw_attention

    attention = _attention(args)
    if args.gold and attention != ENCODER:
        raise UserError(f"--gold is about --attention {ENCODER}: leave it out")
    sentence = model_sentence(args)
    found = head_weights(sentence.decoder, sentence.pair, attention, args.layer)
    heads = chosen_heads(args.head, len(found.weights))
    rows, columns = _sides(sentence, attention)
    if attention == CROSS and not sentence.target.tokens:
        raise UserError(f"{sentence.target.name}: no words: choose another --sentence")
    in_words = args.words or bool(args.gold)
    tree = _tree(args, sentence) if args.gold else None

    eos_first = attention == DECODER
    keys = sum(columns.counts) + found.with_eos  # those of constituents come after
    weights = [found.weights[head][:, :keys] for head in heads]
    if in_words:
        weights = [
            _between_words(each, rows, columns, found.with_eos, eos_first) for each in weights
        ]
    panels = [
        Panel(
            _caption(found, head),
            of_head,
            frozenset() if tree is None else _marks(tree, found.tasks.get(head) == "children"),
        )
        for head, of_head in zip(heads, weights)
    ]
    attending, attended = (
        _labels(side, in_words, found.with_eos, eos_first and place == 1)
        for place, side in enumerate((rows, columns))
    )
    names = {ENCODER: ("source", "source"), DECODER: ("translation", "what it has read")}
    row_label, column_label = names.get(attention, ("translation", "source"))
    row_label, column_label = f"query ({row_label})", f"key ({column_label})"
    return draw_attention(panels, attending, attended, row_label, column_label, args.title)


def _attention(args: argparse.Namespace) -> str:
    attention: str = args.attention or (CROSS if args.target else ENCODER)
    if attention != ENCODER and not args.target:
        raise UserError(f"--attention {attention} needs a translation: add --target")
    return attention


def _entropy(args: argparse.Namespace) -> Figure:
    """The entropy of all heads over all sentences."""
    from syntax_nmt.inference.extraction.attention_heads import mean_entropies
    from syntax_nmt.inference.forced_model import ForcedModel
    from syntax_nmt.pictures.plots.attention_panels import draw_entropy

    attention = _attention(args)
    given = {name: getattr(args, name) for name in ("layer", "head", "words", "gold")}
    unread = [name for name, value in given.items() if value not in (None, False)]
    if args.sentence != 1:
        unread.append("sentence")
    if unread:
        raise UserError(f"--entropy is of all heads and sentences: leave out --{unread[0]}")
    model = ForcedModel.load(model_files(args), segmentation_of(args))
    found = mean_entropies(model.decoder, model.pairs(args.source, args.target), attention)
    if found.left_out:
        note(f"{args.source}: {found.left_out} sentences left out, empty or too long")
    names = {ENCODER: "the encoder", DECODER: "the decoder", CROSS: "the decoder to the source"}
    about = f"attention of {names[attention]}, {found.sentences} sentences"
    about += f"\neven attention has {found.even:.2f} bits"
    return draw_entropy(found.bits, found.even, about, args.title, args.room)


def _sides(sentence: ModelSentence, attention: str) -> tuple[Side, Side]:
    """Who attends, and to whom."""
    rows = sentence.source if attention == ENCODER else sentence.target
    return rows, sentence.target if attention == DECODER else sentence.source


def _caption(found: HeadWeights, head: int) -> str:
    if found.layer is None:
        return "attention"
    name = f"layer {found.layer}, head {head}"
    return f"{name}: {found.tasks[head]} (supervised)" if head in found.tasks else name


def _labels(side: Side, in_words: bool, with_eos: bool, eos_first: bool) -> list[str]:
    labels = side.labels(in_words)
    if with_eos:
        labels.insert(0 if eos_first else len(labels), EOS)
    return labels


def _between_words(
    weights: np.ndarray, rows: Side, columns: Side, with_eos: bool, eos_first: bool
) -> np.ndarray:
    """EOS is a word of one piece."""
    from syntax_nmt.inference.extraction.alignments import word_attention

    counts = [[*side.counts] for side in (rows, columns)]
    if with_eos:
        counts[0].append(1)
        counts[1].insert(0 if eos_first else len(counts[1]), 1)
    return word_attention(weights, counts[1], counts[0])


def _tree(args: argparse.Namespace, sentence: ModelSentence) -> DependencyTree:
    tree = chosen(read_conllu(args.gold, one_root=False), args.sentence, args.gold)
    if tree is None:
        raise UserError(
            f"{args.gold}: sentence {args.sentence} has no parse: choose another --sentence"
        )
    where, side = f"{args.gold}:{tree.line}", sentence.source
    return over_corpus_words(side.words, tree, where, side.name, None)[1]


def _marks(tree: DependencyTree, children: bool) -> frozenset[tuple[int, int]]:
    """Each word's head, the root's itself; or each word's children, a leaf's itself."""
    parents = {(word, head) for word, head in enumerate(tree.heads)}
    if not children:
        return frozenset(parents)
    found = {(head, word) for word, head in parents if word != head}
    leaves = set(range(len(tree))) - {head for head, _ in found}
    return frozenset(found | {(leaf, leaf) for leaf in leaves})
