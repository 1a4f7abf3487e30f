"""Gold trees carried over to real tokenisers' words: how many, and whether every head is right.

    python -m pytest --slow -s tests/data/test_tokenisations_of_treebanks.py

The check knows nothing of the alignment: a treebank says where its words stand in the raw text
(`# text`, `SpaceAfter=No`), and tokens are looked for there one after the other.
"""

import gzip
import html
from collections.abc import Callable, Iterator
from itertools import islice

import pytest
from nltk.tokenize import TreebankWordTokenizer
from sacrebleu.tokenizers.tokenizer_char import TokenizerChar
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh
from sacremoses import MosesTokenizer
from trees_of import heads_of_tokens

from syntax_nmt.data.annotation_transfer import transfer_dependencies
from syntax_nmt.data.conllu import conllu_blocks, parse_block

TREEBANKS = {lang: f"PUD/{lang}_pud-ud-test" for lang in ("en", "de", "ja", "zh")}
TREEBANKS["ewt"] = "EWT/en_ewt-ud-dev"
COLUMNS = "{:4} {:10} {:>9} {:>8} {:>8} {:>6} {:>6}"


def moses(language: str) -> Callable[[str], list[str]]:
    tokenizer = MosesTokenizer(language)
    return lambda text: tokenizer.tokenize(text, aggressive_dash_splits=True, escape=True)


def other_tool(language: str) -> Callable[[str], list[str]]:
    if language in ("en", "de"):
        return TreebankWordTokenizer().tokenize
    tokenizer = TokenizerZh() if language == "zh" else TokenizerChar()
    return lambda text: tokenizer(text).split()


RULES = {"moses": moses, "other tool": other_tool, "whitespace": lambda language: str.split}


def sentences(path) -> Iterator[tuple[list[str], str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for _, block in conllu_blocks(line.rstrip("\n") for line in lines):
            [text] = [line[9:] for line in block if line.startswith("# text = ")]
            yield block, text


def word_places(block: list[str], text: str) -> list[int] | None:
    """Where each word begins in the text; words that do not spell their token begin where it does.

    None where the treebank's text is not that of its words.
    """
    rows = [line.split("\t") for line in block if line[0] != "#"]
    rows = [row for row in rows if "." not in row[0]]
    places: dict[int, int] = {}
    position = 0
    inside = 0  # the last word of the open range
    for row in rows:
        if "-" in row[0]:
            first, inside = map(int, row[0].split("-"))
            parts = [words[1] for words in rows if words[0] in map(str, range(first, inside + 1))]
            spelled = "".join(parts) == row[1]
            at = position
            for number, part in enumerate(parts, start=first):
                places[number] = at
                at += len(part) if spelled else 0
        elif int(row[0]) > inside:
            places[int(row[0])] = position
        else:
            continue
        if not text.startswith(row[1], position):
            return None
        position += len(row[1])
        while text[position : position + 1].isspace():
            position += 1
    return [places[number] for number in sorted(places)]


def token_places(tokens: list[str], text: str) -> list[int] | None:
    """Where each token begins; None where one is not found at once."""
    places = []
    position = 0
    for token in tokens:
        while text[position : position + 1].isspace():
            position += 1
        token = html.unescape(token)
        spellings = [token, {"@-@": "-", "@/@": "/", "``": '"', "''": '"'}.get(token, token)]
        found = next((form for form in spellings if text.startswith(form, position)), None)
        if found is None:
            return None
        places.append(position)
        position += len(found)
    return places


def carried_over(name: str, rule: str, path) -> tuple[int, int, int, int, int]:
    """Sentences, those carried over, heads that were compared, wrong ones, sentences that lost."""
    cut = RULES[rule]("en" if name == "ewt" else name)
    total = realigned = compared = wrong = lost = 0
    for block, text in islice(sentences(path), 1000):
        tree = parse_block(block, str(path), 1)
        tokens = cut(text)
        total += 1
        found = transfer_dependencies(tree, tokens)
        if found is None:
            continue
        realigned += 1
        lost += found.non_constituent > 0
        places = word_places(block, text), token_places(tokens, text)
        if None in places:
            continue
        over = found.annotation
        if len(over) != len(tokens):
            over = over.collapse(len(tokens))
        for head, expected in zip(over.heads, heads_of_tokens(tree, *places, tokens)):
            compared += expected is not None
            wrong += expected not in (None, head)
    return total, realigned, compared, wrong, lost


@pytest.mark.slow
@pytest.mark.parametrize("name", TREEBANKS)
def test_every_head_is_right(shared, name):
    print("\n" + COLUMNS.format("", "tokens by", "sentences", "carried", "heads", "wrong", "lost"))
    for rule in RULES:
        path = shared / "data" / "ud" / f"{TREEBANKS[name]}.conllu.gz"
        total, realigned, compared, wrong, lost = carried_over(name, rule, path)
        print(COLUMNS.format(name, rule, total, f"{realigned / total:.1%}", compared, wrong, lost))
        assert total == 1000
        assert realigned >= 990
        assert wrong == 0
        assert compared > 900
