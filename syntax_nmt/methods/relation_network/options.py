"""The options of relation networks (Zhang et al., 2018).

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from syntax_nmt.arguments import Needs, encoder_option

BIDIRECTIONAL, STACKED, DENSE = "bidirectional", "stacked", "dense"
ENCODER_GRUS = (BIDIRECTIONAL, STACKED, DENSE)
INTERLEAVED, TOP = "interleaved", "top"
PLACEMENTS = (INTERLEAVED, TOP)

KERNELS = Needs("relation_kernels", such_as="1:128,3:256")


@dataclass
class RelationOptions(FairseqDataclass):
    """The relation network of an encoder, and encoders that it is compared with; off by default."""

    relation_kernels: Optional[str] = encoder_option(
        None,
        "relation network (Zhang et al., 2018): WIDTH:CHANNELS of its convolutions, "
        "the lowest first, such as 1:128,3:256 (default: no relation network; relation_rnn: "
        "1:128,3:256; relation_rnn_wmt_en_de: 3:96)",
    )
    relation_hidden_dim: int = encoder_option(
        256,
        "relation network: units of the hidden layers of its MLPs, rows of W_gp and "
        "W_mlp of equations 8 and 10 (default: 256; relation_rnn_wmt_en_de: 128)",
        KERNELS,
    )
    relation_placement: ChoiceEnum(PLACEMENTS) = encoder_option(  # type: ignore[valid-type]
        INTERLEAVED,
        "relation network: after each of two GRUs of opposite direction (interleaved, "
        "Section 5.2) or once, on a bidirectional GRU (top, Section 3) (default: interleaved)",
        KERNELS,
    )
    relation_parallel_convolutions: bool = encoder_option(
        False,
        "relation network: all convolutions read the same states and their outputs are "
        "concatenated, as in the released code (default: off, each reads the previous one's "
        "output)",
        KERNELS,
    )
    relation_dense_embedding: bool = encoder_option(
        False,
        "relation network: the dense connections, equation 12, begin with the word "
        "embedding, as in the released code; also with --encoder-gru dense (default: off)",
    )
    relation_norm_before_activation: bool = encoder_option(
        False,
        "relation network: batch norm before the convolution's activation, as in the "
        "released code (default: off, after it)",
        KERNELS,
    )
    relation_block: Optional[int] = encoder_option(
        None,
        "relation network: maximal number of word pairs computed at a time; larger is "
        "faster on a GPU and slower beyond the cache of a CPU (default: 2^18 divided by "
        "--relation-hidden-dim, on a GPU 2^23: for 256, 1024 and 32768 pairs)",
        KERNELS,
    )
    relation_kept_pairs: Optional[int] = encoder_option(
        None,
        "relation network: number of word pairs of a batch, in each layer, whose hidden layers a "
        "training step stores (4 times --relation-hidden-dim numbers each); the backward pass "
        "computes the others again, which is slower and takes no memory; 0 = it computes all "
        "again (default: what fits in 2^26 numbers, on a GPU 2^28: for --relation-hidden-dim 256, "
        "65536 and 262144 pairs)",
        KERNELS,
    )
    encoder_gru: ChoiceEnum(ENCODER_GRUS) = encoder_option(  # type: ignore[valid-type]
        BIDIRECTIONAL,
        "the encoder of a model without relation network: one GRU in each direction "
        "(bidirectional, RNNsearch); a backward GRU over the states of a forward one (stacked, "
        "the baseline of relation networks' released code); the same two with residual and "
        "dense connections, equations 11 and 12, a control: the encoder of relation_rnn "
        "without its relation networks (dense) (default: bidirectional)",
    )
