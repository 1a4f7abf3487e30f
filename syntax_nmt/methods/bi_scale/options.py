"""The options of the bi-scale decoder and its losses (Zhou et al., 2017).

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from syntax_nmt.arguments import Needs, decoder_option, option

BOUNDARY, STEP = "boundary", "step"
CHUNK_CONTEXTS = (BOUNDARY, STEP)
CHUNK, WORD = "chunk", "word"
CHUNK_ATTENTIONS = (CHUNK, WORD)
CONTEXT, STATE, BOTH = "context", "state", "both"
CHUNK_READOUTS = (CONTEXT, STATE, BOTH)

_ON = Needs("bi_scale")


@dataclass
class BiScaleOptions(FairseqDataclass):
    """The bi-scale decoder; off by default."""

    bi_scale: bool = decoder_option(
        False,
        "bi-scale decoder (Zhou et al., 2017): a chunk state p in addition to the "
        "word state s of a conditional GRU (default: off; bi_scale_rnn: on)",
    )
    chunk_context: ChoiceEnum(CHUNK_CONTEXTS) = decoder_option(  # type: ignore[valid-type]
        BOUNDARY,
        "bi-scale decoder: compute the source context pc of a chunk where it begins, shared by "
        "its words (boundary, the paper), or at every word (step, the released code) (default: "
        "boundary; bi_scale_rnn: step)",
        _ON,
    )
    chunk_attention: ChoiceEnum(CHUNK_ATTENTIONS) = decoder_option(  # type: ignore[valid-type]
        CHUNK,
        "bi-scale decoder: words read the context of their chunk (chunk), or that "
        "of their own attention (word, Table 2) (default: chunk)",
        _ON,
    )
    chunk_readout: ChoiceEnum(CHUNK_READOUTS) = decoder_option(  # type: ignore[valid-type]
        CONTEXT,
        "bi-scale decoder: the readout reads, in addition to word and word state, the source "
        "context as in RNNsearch, the chunk state p, as equations 6 and 7 probably say, or both "
        "(default: context)",
        _ON,
    )
    no_joint_score: bool = decoder_option(
        False,
        "bi-scale decoder: do not add the log-probability of chunk boundary and tag to that of "
        "the word in a search (default: off); a model option: give it to fairseq-generate as "
        "--model-overrides \"{'no_joint_score': True}\"",
        _ON,
    )
    chunk_tags: Optional[str] = decoder_option(
        None,
        "bi-scale decoder: the types of chunks in the order of their ids, separated by "
        "spaces; checkpoints store them (default: those of dict.chunks.txt in the data folder)",
        _ON,
    )


@dataclass
class ChunkLossOptions(FairseqDataclass):
    """The weights of the losses of boundaries and tags."""

    boundary_weight: float = option(1.0, "weight of the loss of chunk boundaries (default: 1)")
    chunk_tag_weight: float = option(1.0, "weight of the loss of chunk tags (default: 1)")
