"""Gold trees of four languages to subwords and back: the same trees, through every way to cut."""

import io
import random
from pathlib import Path

import numpy as np
import pytest
import sentencepiece

from syntax_nmt.data.annotation import HEADS
from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.data.dependency_tree import DependencyTree, find_cycle
from syntax_nmt.data.figures.word_trees import lift_heads
from syntax_nmt.data.sentence_projection import Projector
from syntax_nmt.data.subwords import SENTENCEPIECE, SUBWORD_NMT, pieces_per_word
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.task.word_tokenizer import WordTokenizer

MULTIWORD = {"en": 129, "de": 331, "ja": 0, "zh": 0}


class Treebank:
    """PUD in one language, and its surface tokens as the words of a corpus."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path = path
        self.folder = folder
        self.lang = path.name[:2]
        self.trees: list[DependencyTree] = list(filter(None, read_conllu(path)))
        self.surface = [tree.collapse(tree.num_surface_tokens) for tree in self.trees]
        self.words = folder / f"words.{self.lang}"
        lines = [" ".join(tree.words) for tree in self.surface]
        self.words.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture(scope="module", params=MULTIWORD)
def treebank(request, shared, tmp_path_factory) -> Treebank:
    path = shared / f"data/ud/PUD/{request.param}_pud-ud-test.conllu.gz"
    return Treebank(path, tmp_path_factory.mktemp(request.param))


def test_surface_tokens_spell_the_text_and_bear_a_tree(treebank):
    texts = [line[9:] for line in read_lines(treebank.path) if line.startswith("# text = ")]
    assert len(texts) == len(treebank.surface) == 1000
    assert sum(len(tree.multiword) for tree in treebank.trees) == MULTIWORD[treebank.lang]
    for text, tree, surface in zip(texts, treebank.trees, treebank.surface):
        assert "".join(surface.words) == "".join(text.split())
        assert not find_cycle([-1 if h == word else h for word, h in enumerate(surface.heads)])
        assert sum(head == word for word, head in enumerate(surface.heads)) == 1
        assert tree.multiword or surface.heads == tree.heads


def test_words_of_a_treebank_are_words_of_a_corpus(treebank):
    """Cleaning, which every corpus goes through, keeps their number."""
    tokenizer = WordTokenizer("none", treebank.lang)
    for line, tree in zip(read_lines(treebank.words), treebank.surface):
        assert len(tokenizer.tokenize(line).split()) == len(tree)


def random_pieces(word: str, scheme: str, rng: random.Random) -> list[str]:
    cuts = sorted(rng.sample(range(1, len(word)), rng.randint(0, len(word) - 1)))
    parts = [word[start:end] for start, end in zip([0, *cuts], [*cuts, len(word)])]
    if scheme == SUBWORD_NMT:
        return [part + "@@" for part in parts[:-1]] + parts[-1:]
    return ["▁", *parts] if rng.random() < 0.2 else ["▁" + parts[0], *parts[1:]]


def cut_at_random(treebank: Treebank, scheme: str) -> Path:
    rng = random.Random(4)
    path = treebank.folder / f"random.{scheme}"
    lines = [
        " ".join(piece for word in tree.words for piece in random_pieces(word, scheme, rng))
        for tree in treebank.surface
    ]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def cut_by_sentencepiece(treebank: Treebank, kind: str) -> Path:
    model, path = io.BytesIO(), treebank.folder / f"pieces.{kind}"
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=read_lines(treebank.words),
        model_writer=model,
        model_type=kind,
        vocab_size=3000,
        character_coverage=1.0,
        normalization_rule_name="identity",
        num_threads=1,
        minloglevel=2,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    lines = [" ".join(processor.encode(line, out_type=str)) for line in read_lines(treebank.words)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("way", [SENTENCEPIECE, SUBWORD_NMT, "bpe", "unigram"])
def test_there_and_back(treebank, way):
    """Through the very code that `syntax-nmt binarize` runs, and back by two inverses."""
    scheme = SUBWORD_NMT if way == SUBWORD_NMT else SENTENCEPIECE
    cut = cut_at_random if way in (SENTENCEPIECE, SUBWORD_NMT) else cut_by_sentencepiece
    pieces = cut(treebank, way)
    lines = [line.split() for line in read_lines(pieces)]
    sizes = np.array([len(line) + 1 for line in lines])
    projector = Projector(HEADS, treebank.path, pieces, treebank.words, scheme, Path("tokens"))
    projected = [projector.project(batch) for batch in projector.batches(sizes)]
    assert sum(batch.annotated for batch in projected) == 1000

    heads = np.concatenate([batch.values for batch in projected])
    rows = np.split(heads, np.cumsum(sizes - 1)[:-1])
    word_of = [word_of_pieces(line, scheme) for line in lines]
    expected = [tree.heads for tree in treebank.surface]
    assert [lifted(row.tolist(), words) for row, words in zip(rows, word_of)] == expected
    assert heads.size > 1.2 * sum(map(len, expected))  # words really are cut

    opens = np.concatenate([np.diff(words, prepend=-1) > 0 for words in word_of])
    trees, follows = lift_heads(heads, sizes - 1, opens)
    assert follows.all()
    parents = trees.parents - np.repeat(trees.starts, trees.sizes)
    assert parents.tolist() == [head for tree in expected for head in tree]


def word_of_pieces(pieces: list[str], scheme: str) -> list[int]:
    counts = pieces_per_word(pieces, scheme, "pieces:1")
    return [word for word, count in enumerate(counts) for _ in range(count)]


def lifted(heads: list[int], word_of: list[int]) -> tuple[int, ...]:
    """The head of a word is the word of the head of its first piece; other pieces hang on that."""
    first = [word_of.index(word) for word in range(word_of[-1] + 1)]
    for piece, word in enumerate(word_of):
        assert piece == first[word] or heads[piece] == first[word]
        assert heads[first[word]] in first
    return tuple(word_of[heads[piece]] for piece in first)
