"""The options of tree encoders. fairseq reads the types at run time: none is postponed."""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from syntax_nmt.arguments import Needs, decoder_option, encoder_option

UP, BIDIRECTIONAL = "up", "bidirectional"
ENCODERS = (UP, BIDIRECTIONAL)
NODES, WORDS = "nodes", "words"
ATTENTIONS = (NODES, WORDS)
MEAN, TREE = "mean", "tree"
STARTS = (MEAN, TREE)
NONE, WORD = "none", "word"
COVERAGES = (NONE, WORD, TREE)

_ON = Needs("tree_encoder", ENCODERS)


@dataclass
class TreeEncoderOptions(FairseqDataclass):
    """Off by default."""

    tree_encoder: Optional[ChoiceEnum(ENCODERS)] = encoder_option(  # type: ignore[valid-type]
        None,
        "tree encoder: states of the phrases of a binary tree are computed from the bottom up (up, "
        "after Eriguchi et al., 2016), and then states of all nodes from the top down "
        "(bidirectional, Chen et al., 2017) (needs --load-trees, or --parser-config) (default: "
        "none; tree2seq_rnn: up; tree_coverage_rnn: bidirectional)",
    )
    tree_attention: ChoiceEnum(ATTENTIONS) = decoder_option(  # type: ignore[valid-type]
        WORDS,
        "tree encoder: the decoder attends to words and phrases (nodes, as the papers) or to words "
        "alone (words, for every decoder): they know of the tree with --tree-encoder "
        "bidirectional, but up leaves their states as they are, and needs --tree-start tree then "
        "(default: words; tree2seq_rnn, tree_coverage_rnn: nodes)",
        _ON,
    )
    tree_start: ChoiceEnum(STARTS) = decoder_option(  # type: ignore[valid-type]
        MEAN,
        "tree encoder: the decoder starts from the mean of what it attends to, or from a merge of "
        "the sentence's last state and the root (tree, Eriguchi et al.) (default: mean; "
        "tree2seq_rnn: tree)",
        _ON,
    )
    tree_coverage: ChoiceEnum(COVERAGES) = decoder_option(  # type: ignore[valid-type]
        NONE,
        "tree encoder: what attention reads of what it has attended to: nothing (none), a vector "
        "of each node (word), or one that also reads those of the node's children (tree, Chen et "
        "al.) (default: none; tree_coverage_rnn: tree)",
        Needs("tree_attention", (NODES,)),
    )
    coverage_dim: int = decoder_option(
        50,
        "tree encoder: width of the vectors of --tree-coverage (default: 50, the paper's)",
        Needs("tree_coverage", (WORD, TREE)),
    )
