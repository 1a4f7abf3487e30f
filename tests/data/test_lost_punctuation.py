"""Parses or texts without one mark, each mark in turn: no content word's head changes.

python -m pytest --slow -s tests/data/test_lost_punctuation.py
"""

from dataclasses import replace
from itertools import islice

import pytest
from nonempty import some
from test_tokenisations_of_treebanks import RULES, TREEBANKS, sentences
from trees_of import has_letters

from syntax_nmt.data.annotation_transfer import transfer_dependencies
from syntax_nmt.data.conllu import parse_block
from syntax_nmt.data.dependency_tree import MultiwordRange

COLUMNS = "{:4} {:10} {:>9} {:>6} {:>8} {:>8}"
RULES = {"treebank": None, **RULES}
WHOLE_WORDS = ("treebank", "whitespace")  # no word is cut into several tokens


def without_word(tree, lost):
    """The tree without a word that no other depends on."""
    kept = [word for word in range(len(tree)) if word != lost]
    columns = {
        name: tuple(getattr(tree, name)[word] for word in kept)
        for name in ("words", "relations", "upos")
    }
    ranges = tuple(
        MultiwordRange(start - (start > lost), end - (end > lost), form)
        for start, end, form in tree.multiword
    )
    heads = tuple(kept.index(tree.heads[word]) for word in kept)
    return replace(tree, heads=heads, multiword=ranges, **columns)


def without_each_mark(tree, inside):
    """The tree without each mark on which no word depends; `inside`: words without theirs, too."""
    in_ranges = {word for start, end, _ in tree.multiword for word in range(start, end)}
    for word in sorted(set(range(len(tree))) - in_ranges):
        form = tree.words[word]
        if not has_letters(form):
            if word not in tree.heads:
                yield without_word(tree, word)
        elif inside:
            for place, character in enumerate(form):
                if not has_letters(character):
                    shorter = (form[:place] + form[place + 1 :],)
                    yield replace(tree, words=tree.words[:word] + shorter + tree.words[word + 1 :])


def heads_of_content(tree, tokens):
    """The head of each token that has a letter."""
    over = transfer_dependencies(tree, tokens).annotation
    if len(over) != len(tokens):
        over = over.collapse(len(tokens))
    return [over.heads[token] for token, form in enumerate(tokens) if has_letters(form)]


EACH_TREEBANK = pytest.mark.parametrize("name", TREEBANKS)
SENTENCES = pytest.mark.parametrize(
    "count", [pytest.param(25, marks=pytest.mark.dear), pytest.param(500, marks=pytest.mark.slow)]
)


def trees_and_texts(shared, name, count):
    path = shared / "data" / "ud" / f"{TREEBANKS[name]}.conllu.gz"
    for block, text in islice(sentences(path), count):
        yield parse_block(block, str(path), 1), text


@EACH_TREEBANK
@SENTENCES
def test_a_parse_lacks_a_mark(shared, name, count):
    print("\n" + COLUMNS.format("", "tokens by", "sentences", "marks", "heads", "changed"))
    for rule, cutter in RULES.items():
        cut = cutter and cutter("en" if name == "ewt" else name)
        marks = compared = changed = 0
        for tree, text in trees_and_texts(shared, name, count):
            tokens = cut(text) if cut else [span.form for span in tree.surface_spans()]
            expected = heads_of_content(tree, tokens)
            for lacking in without_each_mark(tree, rule in WHOLE_WORDS):
                found = heads_of_content(lacking, tokens)
                marks += 1
                compared += len(expected)
                changed += sum(old != new for old, new in zip(expected, found, strict=True))
        print(COLUMNS.format(name, rule, count, marks, compared, changed))
        assert marks > count
        assert changed == 0


@EACH_TREEBANK
@SENTENCES
def test_the_text_lacks_a_mark(shared, name, count):
    for tree, _ in some(trees_and_texts(shared, name, count)):
        tokens = [span.form for span in tree.surface_spans()]
        whole = tree.collapse(len(tokens))
        for lost, mark in enumerate(tokens):
            if has_letters(mark) or lost in whole.heads:
                continue
            kept = [token for token in range(len(tokens)) if token != lost]
            expected = [
                kept.index(whole.heads[token]) for token in kept if has_letters(tokens[token])
            ]
            assert heads_of_content(tree, [tokens[token] for token in kept]) == expected
