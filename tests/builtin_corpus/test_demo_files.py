"""The files of the built-in corpus are well formed and agree with one another."""

import pytest
from demo_files import SIZES, read_conllu, read_lines
from nltk import Tree
from nonempty import some
from trees_of import is_tree

from syntax_nmt.builtin_corpus import corpus as corpus_module
from syntax_nmt.data import conllu
from syntax_nmt.data.chunks import read_chunks

SPLITS = ("train", "valid", "test")


@pytest.mark.parametrize("split", SPLITS)
def test_every_file_has_an_entry_for_each_sentence(corpus, split):
    for suffix in ("src", "tgt", "src.trees", "tgt.chunks", "align"):
        assert len(read_lines(corpus / f"{split}.{suffix}")) == SIZES[split], suffix
    for side in ("src", "tgt"):
        assert len(read_conllu(corpus / f"{split}.{side}.conllu")) == SIZES[split]


def test_the_lines_of_text_are_single_spaced_words(corpus):
    for path in some([*corpus.glob("*.src"), *corpus.glob("*.tgt")]):
        for line in read_lines(path):
            assert line == " ".join(line.split())
            assert 4 <= len(line.split()) <= 40


def test_trees_of_both_kinds_are_of_the_words(corpus):
    for split in some(SPLITS):
        parses = corpus / f"{split}.src.conllu"
        texts = (read_lines(corpus / f"{split}.{end}") for end in ("src", "src.trees"))
        for source, line, tokens, tree in zip(
            *texts, read_conllu(parses), conllu.read_conllu(parses), strict=True
        ):
            brackets = Tree.fromstring(line)
            assert brackets.label() == "S"
            assert brackets.leaves() == list(tree.words) == source.split()
            assert brackets.pos() == [(token.form, token.xpos) for token in tokens]
            assert [token.relation for token in tokens if token.head == 0] == ["root"]


def test_trees_of_the_target_are_of_its_words_and_chunks(corpus):
    """A chunk of nouns or verbs has one word whose head is outside."""
    for split in some(SPLITS):
        parses = conllu.read_conllu(corpus / f"{split}.tgt.conllu")
        chunks = read_chunks(corpus / f"{split}.tgt.chunks")
        for text, tree, chunked in zip(
            read_lines(corpus / f"{split}.tgt"), parses, chunks, strict=True
        ):
            assert list(tree.words) == text.split()
            assert is_tree(tree.heads)
            assert [tree.words[place] for place in roots(tree)] != ["."]
            for chunk in chunked:
                words = range(chunk.start, chunk.end)
                if chunk.tag in ("NP", "VP"):
                    outside = [w for w in words if tree.heads[w] not in words or tree.heads[w] == w]
                    assert len(outside) == 1, (text, chunk)


def roots(tree):
    return [place for place, head in enumerate(tree.heads) if head == place]


def test_every_constituent_is_a_subtree_of_the_dependencies(corpus):
    """Each phrase has one word whose head is outside: the two analyses agree."""
    trees = read_lines(corpus / "valid.src.trees")
    for line, tokens in some(zip(trees, read_conllu(corpus / "valid.src.conllu"))):
        tree = Tree.fromstring(line)
        for place in tree.treepositions():
            if not isinstance(tree[place], Tree):
                continue
            inside = _span(tree, place)
            heads = [tokens[position - 1].head for position in inside]
            assert sum(head not in inside for head in heads) == 1


def _span(tree, place):
    """The positions, from 1, of the words under a node."""
    leaves = [leaf for leaf in tree.treepositions("leaves")]
    return [number for number, leaf in enumerate(leaves, 1) if leaf[: len(place)] == place]


def test_chunks_are_valid_iob2_and_one_a_word(corpus):
    seen = set()
    for split in SPLITS:
        targets = read_lines(corpus / f"{split}.tgt")
        found = read_chunks(corpus / f"{split}.tgt.chunks")
        for target, chunks in zip(targets, found, strict=True):
            assert chunks[-1].end == len(target.split())
            seen.update(chunk.tag for chunk in chunks)
    assert seen == {"NP", "VP", "PP", "ADVP", "SBAR", "O"}


def test_alignments_are_in_range_and_cover_content_words(corpus):
    content = {"NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM", "ADP", "AUX", "SCONJ"}
    for split in some(SPLITS):
        sentences = read_conllu(corpus / f"{split}.src.conllu")
        targets = read_lines(corpus / f"{split}.tgt")
        lines = read_lines(corpus / f"{split}.align")
        for tokens, target, line in zip(sentences, targets, lines, strict=True):
            links = [tuple(map(int, link.split("-"))) for link in line.split(" ")]
            assert len(links) == len(set(links))
            sources, aligned = {i for i, _ in links}, {j for _, j in links}
            assert max(sources) < len(tokens)
            words = target.split()
            assert all(words[j] == "," for j in set(range(len(words))) - aligned)
            for token in tokens:
                if token.upos in content:
                    assert token.position - 1 in sources, token


def assert_no_held_out_sentence_is_elsewhere(folder):
    held_out = []
    for name in ("test", "valid", "contrast"):
        held_out += read_lines(folder / f"{name}.src")
    assert len(set(held_out)) == len(held_out)
    assert set(held_out).isdisjoint(read_lines(folder / "train.src"))


def test_no_held_out_sentence_is_elsewhere_though_all_splits_draw_the_same(tmp_path, monkeypatch):
    """Chance alone seldom makes two splits meet, so here it is forced."""
    stream = corpus_module._stream
    monkeypatch.setattr(corpus_module, "_stream", lambda seed, name: stream(seed, "same"))
    size = corpus_module.CorpusSize(train=50, valid=20, test=20, contrast=20)
    corpus_module.write_corpus(tmp_path, size, seed=1)
    assert_no_held_out_sentence_is_elsewhere(tmp_path)


def test_sentences_have_the_length_of_real_ones(corpus):
    lengths = [len(line.split()) for line in read_lines(corpus / "train.src")]
    assert 11 <= sum(lengths) / len(lengths) <= 15
    assert max(lengths) > 25
