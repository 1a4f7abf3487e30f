"""The size of the corpus that the tests read, and readers for its files."""

from dataclasses import dataclass

from syntax_nmt.builtin_corpus.lexicon import lexicon

SIZES = {"train": 600, "valid": 80, "test": 80, "contrast": 120}


@dataclass(frozen=True)
class Token:
    """A line of CoNLL-U; positions count from 1, the head of the root is 0."""

    position: int
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    relation: str


def read_conllu(path):
    """The sentences of a CoNLL-U file, lists of tokens."""
    sentences = []
    for block in path.read_text(encoding="utf-8").removesuffix("\n\n").split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
        assert all(len(row) == 10 for row in rows)
        sentences.append([Token(int(row[0]), *row[1:6], int(row[6]), row[7]) for row in rows])
    return sentences


def read_lines(path):
    """The lines of a file, which must end with a line break."""
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return text[:-1].split("\n")


def all_nouns():
    """The lexicon's nouns, without names."""
    return [noun for nouns in lexicon().nouns.values() for noun in nouns.items]


def all_verbs():
    """The lexicon's verbs."""
    words = lexicon()
    frames = (words.intransitive, words.transitive, words.ditransitive, words.clausal)
    return [verb for frame in frames for verb in frame.items]


def noun_of(lemma):
    """The lexicon's entry for a noun or name; for a compound that of its head."""
    entries = {noun.source: noun for noun in [*all_nouns(), *lexicon().names.items]}
    if lemma in entries:
        return entries[lemma]
    splits = [(lemma[:cut], lemma[cut:]) for cut in range(1, len(lemma))]
    (found,) = (entries[head] for first, head in splits if first in entries and head in entries)
    return found


def options(**sizes):
    """The sizes as command-line options, those named here instead of the usual ones."""
    return [item for name, size in {**SIZES, **sizes}.items() for item in (f"--{name}", str(size))]
