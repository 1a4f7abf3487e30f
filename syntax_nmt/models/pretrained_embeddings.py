"""Embeddings that begin with vectors of a text file."""

from __future__ import annotations

from fairseq import utils
from fairseq.data import Dictionary
from torch import nn

from syntax_nmt.errors import UserError


def load_embeddings(
    embedding: nn.Embedding, path: str, dictionary: Dictionary, option: str
) -> None:
    """Puts vectors of a file (a header, then a word and its numbers a line) into an embedding.

    Args:
        embedding: V×E; words that the file lacks keep theirs.
        path: the file.
        dictionary: of the embedding.
        option: that named the file, for messages.

    Raises:
        UserError: no such file, or vectors of another width.
    """
    try:
        vectors = utils.parse_embedding(path)
    except FileNotFoundError:
        raise UserError(
            f"{option} {path}: no such file; to load a trained model without it add "
            f"--model-overrides \"{{'{option.strip('-').replace('-', '_')}': None}}\""
        ) from None
    for word, vector in vectors.items():
        if len(vector) != embedding.embedding_dim:
            raise UserError(
                f"{option} {path}: the vector of '{word}' has {len(vector)} numbers, the "
                f"embeddings have {embedding.embedding_dim}"
            )
    utils.print_embed_overlap(vectors, dictionary)
    utils.load_embedding(vectors, dictionary, embedding)
