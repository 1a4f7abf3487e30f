"""The options of the RNN family.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from syntax_nmt.arguments import option
from syntax_nmt.backbone.readout import LINEAR, READOUTS

INTERLEAVED, TOP = "interleaved", "top"
PLACEMENTS = (INTERLEAVED, TOP)
BOUNDARY, STEP = "boundary", "step"
CHUNK_CONTEXTS = (BOUNDARY, STEP)
CHUNK, WORD = "chunk", "word"
CHUNK_ATTENTIONS = (CHUNK, WORD)
CONTEXT, STATE, BOTH = "context", "state", "both"
CHUNK_READOUTS = (CONTEXT, STATE, BOTH)
UNIFORM, ORTHOGONAL = "uniform", "orthogonal"
INITIALIZATIONS = (UNIFORM, ORTHOGONAL)
BIDIRECTIONAL, STACKED, DENSE = "bidirectional", "stacked", "dense"
ENCODER_GRUS = (BIDIRECTIONAL, STACKED, DENSE)


@dataclass
class RecurrentOptions(FairseqDataclass):
    """What only recurrent encoders and decoders have; features are off by default."""

    encoder_freeze_embed: bool = option(
        False, "do not train the source embeddings, nor what shares them (the output layer, too)"
    )
    encoder_hidden_size: Optional[int] = option(
        None, "C, units of an encoder GRU in one direction (default: --encoder-embed-dim)"
    )
    encoder_gru: ChoiceEnum(ENCODER_GRUS) = option(  # type: ignore[valid-type]
        BIDIRECTIONAL,
        "the encoder of a model without relation network: one GRU in each direction "
        "(bidirectional, RNNsearch); a backward GRU over the states of a forward one (stacked, "
        "the baseline of relation networks' released code); the same two with residual and "
        "dense connections, equations 11 and 12, a control: the encoder of relation_rnn "
        "without its relation networks (dense) (default: bidirectional)",
    )
    decoder_freeze_embed: bool = option(
        False, "do not train the target embeddings, nor what shares them (the output layer, too)"
    )
    decoder_hidden_size: Optional[int] = option(
        None, "units of the decoder state s (default: --decoder-embed-dim)"
    )
    decoder_out_embed_dim: Optional[int] = option(
        None, "width of the readout f, equation 5 (default: --decoder-embed-dim)"
    )
    attention_dim: Optional[int] = option(
        None, "rows of W_a and U_a, equation 2 (default: --decoder-hidden-size)"
    )
    encoder_dropout_in: float = option(0.0, "dropout of the source embeddings (default: 0)")
    encoder_dropout_out: float = option(0.0, "dropout of the encoder's output (default: 0)")
    decoder_dropout_in: float = option(0.0, "dropout of the target embeddings (default: 0)")
    conditional_gru: bool = option(
        False,
        "RNNsearch*: two GRUs in a decoder step, equation 13, with attention from the "
        "state between, s~ (default: off; rnn_search_cgru, relation_rnn: on)",
    )
    readout: ChoiceEnum(READOUTS) = option(  # type: ignore[valid-type]
        LINEAR,
        "f of equation 5: linear is the paper's, maxout its released code's, tanh that "
        "of the bi-scale decoder's (default: linear; bi_scale_rnn: tanh)",
    )
    initialization: ChoiceEnum(INITIALIZATIONS) = option(  # type: ignore[valid-type]
        UNIFORM,
        "the parameters to begin with: uniform in (-0.1, 0.1), as relation networks "
        "have it, or recurrent matrices orthogonal, other weights N(0, 0.01) and biases 0, as "
        "the code that the bi-scale decoder stands on (default: uniform)",
    )
    relation_kernels: Optional[str] = option(
        None,
        "relation network (Zhang et al., 2018): WIDTH:CHANNELS of its convolutions, "
        "the lowest first, such as 1:128,3:256 (default: no relation network; relation_rnn: "
        "1:128,3:256; relation_rnn_wmt_en_de: 3:96)",
    )
    relation_hidden_dim: int = option(
        256,
        "relation network: units of the hidden layers of its MLPs, rows of W_gp and "
        "W_mlp of equations 8 and 10 (default: 256; relation_rnn_wmt_en_de: 128)",
    )
    relation_placement: ChoiceEnum(PLACEMENTS) = option(  # type: ignore[valid-type]
        INTERLEAVED,
        "relation network: after each of two GRUs of opposite direction (interleaved, "
        "Section 5.2) or once, on a bidirectional GRU (top, Section 3) (default: interleaved)",
    )
    relation_parallel_convolutions: bool = option(
        False,
        "relation network: all convolutions read the same states and stand side by "
        "side, as in the released code (default: off, one reads the other's output)",
    )
    relation_dense_embedding: bool = option(
        False,
        "relation network: the dense connections, equation 12, begin with the word "
        "embedding, as in the released code; also with --encoder-gru dense (default: off)",
    )
    relation_norm_before_activation: bool = option(
        False,
        "relation network: batch norm before the convolution's activation, as in the "
        "released code (default: off, after it)",
    )
    relation_block: Optional[int] = option(
        None,
        "relation network: pairs of words that are computed at a time, at most; larger "
        "is faster on a GPU and slower beyond the cache of a CPU (default: 1024, on a GPU "
        "32768)",
    )
    relation_kept_pairs: Optional[int] = option(
        None,
        "relation network: pairs of words of a batch, in each layer, that a training "
        "step keeps at 4 times --relation-hidden-dim numbers each; the others are computed "
        "again in the backward pass, which is slower and takes no memory; 0 = all of them "
        "(default: what takes 2^26 numbers, on a GPU 2^28: of --relation-hidden-dim 256 65536 "
        "and 262144 pairs)",
    )
    bi_scale: bool = option(
        False,
        "bi-scale decoder (Zhou et al., 2017): a chunk state p beside the word state "
        "s, over a conditional GRU (default: off; bi_scale_rnn: on)",
    )
    chunk_context: ChoiceEnum(CHUNK_CONTEXTS) = option(  # type: ignore[valid-type]
        BOUNDARY,
        "bi-scale decoder: the source context pc of a chunk is taken where the chunk "
        "opens and shared by its words (boundary, the paper), or anew at every word (step, the "
        "released code) (default: boundary; bi_scale_rnn: step)",
    )
    chunk_attention: ChoiceEnum(CHUNK_ATTENTIONS) = option(  # type: ignore[valid-type]
        CHUNK,
        "bi-scale decoder: words read the context of their chunk (chunk), or one of "
        "their own attention (word, Table 2) (default: chunk)",
    )
    chunk_readout: ChoiceEnum(CHUNK_READOUTS) = option(  # type: ignore[valid-type]
        CONTEXT,
        "bi-scale decoder: besides word and word state the readout reads the source "
        "context, as RNNsearch's does, the chunk state p, as equations 6 and 7 probably say, "
        "or both (default: context)",
    )
    no_joint_score: bool = option(
        False,
        "bi-scale decoder: a search adds no log-probability of chunk boundary and tag "
        "to that of the word (default: off, it adds them); an option of the model, so that "
        "fairseq-generate takes it as --model-overrides \"{'no_joint_score': True}\"",
    )
    chunk_tags: Optional[str] = option(
        None,
        "bi-scale decoder: the types of chunks in the order of their ids, separated by "
        "spaces; checkpoints keep them (default: those of dict.chunks.txt in the data folder)",
    )


@dataclass
class SyntaxRNNOptions(RecurrentOptions):
    """With every feature off the model is RNNsearch; defaults are those of Zhang et al. (2018).

    fairseq's Transformer has options of these names, too.
    """

    encoder_embed_dim: int = option(512, "width of the source embeddings (default: 512)")
    encoder_embed_path: Optional[str] = option(
        None,
        "text file of source embeddings to begin with: in the first line the number of "
        "vectors and their width, then a word and its numbers a line",
    )
    decoder_embed_dim: int = option(512, "width of the target embeddings y (default: 512)")
    decoder_embed_path: Optional[str] = option(
        None,
        "text file of target embeddings to begin with: in the first line the number of "
        "vectors and their width, then a word and its numbers a line",
    )
    decoder_layers: int = option(
        1,
        "decoder layers; a second one is a GRU over the states of the first, which "
        "attends, as in the baseline dl4mt-2 (default: 1)",
    )
    dropout: float = option(0.5, "dropout of the readout, before the output layer (default: 0.5)")
    share_decoder_input_output_embed: bool = option(
        False,
        "the output layer's weights are the target embeddings, as in the released "
        "code of relation networks (default: off)",
    )
    share_all_embeddings: bool = option(
        False, "source, target and output share embeddings (joined dictionary)"
    )
