"""Relation networks over the words of the source (Zhang et al., COLING 2018).

Layers between the GRUs of an RNN encoder, or on top of any encoder, relate every word to every
other word.

| equation | here |
|---|---|
| 7: convolutions, c | `convolutions.WordConvolutions` |
| 8, 9: messages of all pairs, and their mean, r | `propagation.GraphPropagation` |
| 10: back to the width of the words, o | `layer.RelationNetworkLayer` |
| 11, 12: residual and dense connections (section 5.2) | `encoders.InterleavedEncoder` |
| one layer on a bidirectional GRU (section 3, figure 2) | `encoders.RelationOnTop` |
| the baseline encoder of the released code | `encoders.StackedEncoder` |
| 1: RNNsearch's encoder | `syntax_nmt.backbone.rnn_encoder.BidirectionalEncoder` |
| 2–4, 13: decoders of RNNsearch and RNNsearch* | `syntax_nmt.backbone.attentive_recurrence` |
"""
