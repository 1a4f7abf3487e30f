"""Word vectors from a file, as the start of embeddings."""

import logging
import re

import torch
from fairseq import utils
from fairseq.data import Dictionary
from torch import Tensor, nn

from syntax_nmt.arguments import attribute
from syntax_nmt.data.text_files import check_regular
from syntax_nmt.errors import UserError

logger = logging.getLogger(__name__)


def load_embeddings(
    embedding: nn.Embedding, path: str, dictionary: Dictionary, option: str
) -> None:
    """Puts vectors of a file (a header, then one word and its numbers per line) into an embedding.

    Args:
        embedding: V×E; words that the file lacks keep their vectors.
        option: that named the file, for messages.

    Raises:
        UserError: no such file, no header, no word of the dictionary, or vectors that are not
            finite numbers or of another width.
    """
    try:
        vectors = _read_vectors(path, dictionary, embedding.embedding_dim, option)
    except FileNotFoundError:
        raise UserError(
            f"{option} {path}: no such file; to load a trained model without it add "
            f"--model-overrides \"{{'{attribute(option)}': None}}\""
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{option} {path}: cannot be read as UTF-8 text: {error}") from None
    logger.info(f"{option} {path}: it has {len(vectors)} of the {len(dictionary)} types")
    utils.load_embedding(vectors, dictionary, embedding)


def _read_vectors(path: str, dictionary: Dictionary, width: int, option: str) -> dict[str, Tensor]:
    """The vectors of the words that the dictionary has.

    fairseq's own reader takes any first line for a header, and keeps every vector of the file.
    """
    vectors = {}
    check_regular(path)
    with open(path, encoding="utf-8-sig", newline="\n") as lines:
        if len(next(lines, "").split()) != 2:
            raise UserError(
                f"{option} {path}: line 1: no header; put the number of vectors and their width "
                "there, separated by a space"
            )
        for number, line in enumerate(lines, start=2):
            word, *numbers = re.split("[ \t]+", line.rstrip())
            if word not in dictionary:
                continue
            if len(numbers) != width:
                raise UserError(
                    f"{option} {path}: line {number}: the vector of '{word}' has {len(numbers)} "
                    f"numbers, the embeddings have {width}: give files and "
                    f"{option.replace('path', 'dim')} of one width"
                )
            try:
                vector = torch.tensor([float(x) for x in numbers])
            except ValueError as error:
                raise UserError(f"{option} {path}: line {number}: {error}") from None
            if not vector.isfinite().all():
                raise UserError(
                    f"{option} {path}: line {number}: the vector of '{word}' has a number that is "
                    "not finite: remove the line, or take vectors whose training did not diverge"
                )
            vectors[word] = vector
    if not vectors:
        raise UserError(
            f"{option} {path}: no word of the dictionary is in it: give vectors of the very units "
            "that the model reads, and of its language"
        )
    return vectors
