"""Random sentences with random annotation of every kind, in batches, and their vocabulary."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq.data import Dictionary, LanguagePairDataset

from syntax_nmt.data.annotation import CHUNKS, COLUMNS, KINDS, TARGET_COLUMNS, TREES
from syntax_nmt.data.annotation.kind import BatchedText
from syntax_nmt.data.annotation.trees import merge_row
from syntax_nmt.data.binarised_annotation import BinarisedAnnotation
from syntax_nmt.data.merges import random_merges
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.text.languages import SOURCE

EOS, FIRST_WORD = 2, 4
CHUNK_TAGS = ("ADJP", "ADVP", "NP", "O", "PP", "SBAR", "VP")
VALUES = 40  # of each column of features


def write_dictionaries(folder: Path, words: int) -> None:
    """Writes the same vocabulary for both sides, and the labels of annotation.

    Args:
        words: the size of the vocabulary.
    """
    dictionary = Dictionary()
    for index in range(words - len(dictionary)):
        dictionary.add_symbol(f"w{index}")
    for language in ("src", "tgt"):
        dictionary.save(str(folder / f"dict.{language}.txt"))
    values = ["<unk>", *(f"v{number}" for number in range(1, VALUES))]
    for kind in KINDS:
        if kind.labels_file is not None:
            labels = CHUNK_TAGS if kind is CHUNKS else values
            (folder / kind.labels_file).write_text("\n".join(labels) + "\n", encoding="utf-8")


def make_batches(
    dictionary: Dictionary, length: int, sentences: int, count: int
) -> list[dict[str, Any]]:
    """Sentences around the mean length, in batches of similar lengths, with trees and chunks.

    Args:
        dictionary: of both sides.
        length: mean number of tokens, EOS included.
        sentences: in each batch, of which there are `count`.
    """
    generator = torch.Generator().manual_seed(1)
    spread = max(1, length // 4) if count > 1 else 0
    batches = []
    for index in range(count):
        mean = length - spread + index * 2 * spread // max(1, count - 1)
        sides = []
        counts = torch.randint(mean - 1, mean + 2, (2, sentences), generator=generator)
        for lengths in counts.clamp(min=2).tolist():
            side = [
                torch.randint(FIRST_WORD, len(dictionary), (n,), generator=generator)
                for n in lengths
            ]
            for tokens in side:
                tokens[-1] = EOS
            sides.append(side)
        dataset = LanguagePairDataset(
            sides[0], [len(s) for s in sides[0]], dictionary,
            sides[1], [len(s) for s in sides[1]], dictionary,
        )  # fmt: skip
        batch = dataset.collater([dataset[i] for i in range(sentences)])
        batch["heads"] = random_heads(batch["net_input"]["src_tokens"], dictionary.pad(), generator)
        batch["target_heads"] = random_heads(batch["target"], dictionary.pad(), generator)
        for column in (*COLUMNS, *TARGET_COLUMNS):
            of_source = column.side == SOURCE
            tokens = batch["net_input"]["src_tokens"] if of_source else batch["target"]
            batch[column.key] = random_values(tokens, dictionary.pad(), generator)
        batch.update(random_trees(batch["net_input"]["src_tokens"], dictionary.pad(), index))
        batch["chunk_tags"] = random_chunks(batch["target"], dictionary.pad(), generator)
        batches.append(batch)
    return batches


def random_heads(tokens: torch.Tensor, pad: int, generator: torch.Generator) -> torch.Tensor:
    """Head columns of random trees, B×S: the first word is the root, each other hangs to its left.

    Args:
        tokens: B×S.
        pad: the padding symbol.
        generator: of random numbers.
    """
    columns = torch.arange(tokens.size(1)).expand_as(tokens)
    first = tokens.ne(pad).int().argmax(dim=1, keepdim=True)
    offset = (columns - first).clamp(min=0)
    heads = first + (torch.rand(tokens.shape, generator=generator) * offset).long()
    return heads.masked_fill(tokens.eq(pad) | tokens.eq(EOS), -1)


def random_trees(tokens: torch.Tensor, pad: int, seed: int) -> dict[str, Any]:
    """Binary trees whose neighbours merge in a random order, and their levels.

    Args:
        tokens: B×S, padded on the left.
        pad: the padding symbol.
    """
    random, sizes = np.random.default_rng(seed), tokens.ne(pad).sum(dim=1).numpy()
    rows = RaggedArray.from_rows([merge_row(random_merges(size - 1, random)) for size in sizes])
    text = BatchedText(np.arange(len(sizes)), sizes, tokens.size(1), True)
    return BinarisedAnnotation(TREES, rows).batched(text)


def random_values(tokens: torch.Tensor, pad: int, generator: torch.Generator) -> torch.Tensor:
    """Ids of the labels of a column, B×S int32.

    Args:
        tokens: B×S.
        pad: the padding symbol.
        generator: of random numbers.
    """
    values = torch.randint(1, VALUES + 1, tokens.shape, generator=generator)
    return values.masked_fill(tokens.eq(pad) | tokens.eq(EOS), -1).int()


def random_chunks(tokens: torch.Tensor, pad: int, generator: torch.Generator) -> torch.Tensor:
    """Ids of the chunks that open at each position, B×T int32: at the first and every other token.

    Args:
        tokens: B×T, padded on the right.
        pad: the padding symbol.
        generator: of random numbers.
    """
    kinds = len(CHUNK_TAGS)
    tags = torch.randint(1, kinds + 1, tokens.shape, generator=generator)
    opens = torch.rand(tokens.shape, generator=generator) < 0.5
    opens[:, 0] = True
    tags = torch.where(opens, tags, 0).masked_fill(tokens.eq(EOS), kinds + 1)
    return tags.masked_fill(tokens.eq(pad), -1).int()
