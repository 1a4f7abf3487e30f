"""Graph convolution over dependency trees (Bastings et al., EMNLP 2017).

Each layer gives each word messages from its head, from its dependents and from itself. The form of
the layer is that of Marcheggiani and Titov (2017).

| paper | here |
|---|---|
| the sum of messages, W and b by direction and label | `layer.GraphConvolution` |
| gates g, read from the sender | `layer.GraphConvolution` |
| edge dropout | `layer.GraphConvolution` |
| several layers, residual connections | `layers.GraphConvolutionLayers` |
| on a bidirectional GRU; on embeddings with positions | `extension.Graphs` |
| subwords, of which the paper has none | `extension.Graphs.arcs` |
"""

from syntax_nmt.backbone.structures import ARC_GATES
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.data.annotation.columns import DEPREL
from syntax_nmt.methods.graph_convolution.extension import Graphs, take_relations
from syntax_nmt.methods.graph_convolution.options import GraphConvolutionOptions
from syntax_nmt.methods.method import (
    RNN,
    RNN_ENCODER,
    RNN_SIZES,
    TRANSFORMER,
    TRANSFORMER_ENCODER,
    Method,
    Preset,
    TrainingRecipe,
)

_LAYERS = {"gcn_layers": 2, "gcn_edge_dropout": 0.2}
# The authors' settings for News Commentary: embeddings 256, GRUs 512.
_PAPER = {
    "encoder_embed_dim": 256,
    "encoder_hidden_size": 512,
    "decoder_embed_dim": 256,
    "decoder_hidden_size": 512,
}

METHOD = Method(
    name="graph convolution",
    families=(TRANSFORMER, RNN),
    options=GraphConvolutionOptions,
    extensions={TRANSFORMER_ENCODER: Graphs, RNN_ENCODER: Graphs},
    presets={
        "gcn_transformer": Preset(TRANSFORMER, _LAYERS),
        "gcn_rnn": Preset(
            RNN,
            {**_LAYERS, "conditional_gru": True},
            {"": _PAPER, "_tiny": RNN_SIZES["_tiny"]},
        ),
    },
    recipes=(
        TrainingRecipe(
            "graph convolution on a Transformer",
            "gcn_transformer",
            "gcn",
            needs=(HEADS, DEPREL),
            reads=(HEADS, DEPREL),
        ),
        TrainingRecipe(
            "graph convolution on GRUs",
            "gcn_rnn",
            "gcn_rnn",
            needs=(HEADS, DEPREL),
            reads=(HEADS, DEPREL),
            family=RNN,
        ),
    ),
    extractable={ARC_GATES: "--arch gcn_rnn or gcn_transformer"},
    take_from_data=take_relations,
)
