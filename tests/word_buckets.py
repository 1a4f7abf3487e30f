"""A small text with labels, its files, and a set for counting in memory."""

from collections.abc import Callable, Sequence
from pathlib import Path

from translations import write

from syntax_nmt.scoring.translations.evaluation_set import System, TestSet, Text

REFERENCE = """the dog saw the old man near the house
a small cat that sleeps runs
he has seen that that dog is old
she gives the man a book and the cat a fish
no dog runs""".splitlines()
REFERENCE_TAGS = """DET NOUN VERB DET ADJ NOUN ADP DET NOUN
DET ADJ NOUN PRON VERB VERB
PRON AUX VERB SCONJ DET NOUN AUX ADJ
PRON VERB DET NOUN DET NOUN CCONJ DET NOUN DET NOUN
DET NOUN VERB""".splitlines()
OUTPUT = """the man saw the the dog near a house
a cat that runs that sleeps that
he saw that dog is an old dog
she gives a man the book and cat a fish fish
a dog ran""".splitlines()
OUTPUT_TAGS = """DET NOUN VERB DET DET NOUN ADP DET NOUN
DET NOUN PRON VERB PRON VERB SCONJ
PRON VERB DET NOUN AUX DET ADJ NOUN
PRON VERB DET NOUN DET NOUN CCONJ NOUN DET NOUN VERB
DET NOUN VERB""".splitlines()
TRAINING = """the dog and the cat
the man saw a dog and a house
the the a a a dog runs that
man man old old old cat cat cat""".splitlines()


def evaluation_set(reference: Sequence[str], **systems: Sequence[Sequence[str]]) -> TestSet:
    """A test set of systems, each with the texts of its runs."""
    found = tuple(
        System(name, tuple(Text(f"{name}{i}", tuple(run)) for i, run in enumerate(runs)))
        for name, runs in systems.items()
    )
    return TestSet(found, (Text("reference", tuple(reference)),), None)


def write_conllu(
    path: Path,
    sentences: Sequence[str],
    tags: Sequence[str] | None = None,
    head: Callable[[int], int] = lambda word: word // 2,
) -> str:
    """Trees whose heads follow from the place of a word, its own = the root."""
    lines = []
    for place, sentence in enumerate(sentences):
        words = sentence.split()
        upos = tags[place].split() if tags else ["_"] * len(words)
        for word, form in enumerate(words):
            above = 0 if head(word) == word else head(word) + 1
            relation = "dep" if above else "root"
            columns = [word + 1, form, "_", upos[word], "_", "_", above, relation, "_", "_"]
            lines.append("\t".join(map(str, columns)))
        lines.append("" if words else "# parse = none\n")
    return str(write(path, lines))
