"""A Transformer encoder of phrases, gates and relations written as loops, in float64."""

from latent_phrase_loops import gated_attention
from phrase_loops import encoder_layer, ngrams
from relation_loops import relation_network


def annotations(encoder, sources):
    """S×C of each source, all at once, as batch norms in training mode see all their words."""
    sentences = []
    for source in sources:
        x = encoder.forward_embedding(source[None])[0][0]
        for layer in encoder.layers:
            x, _ = encoder_layer(
                layer, x, ngrams(len(source)), lambda attention, y: gated_attention(attention, y)[0]
            )
        sentences.append(encoder.layer_norm(x))
    return [x + new for x, new in zip(sentences, relation_network(encoder.relation, sentences))]
