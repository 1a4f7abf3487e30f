"""A small corpus with all annotation, in three segmentations, and plain counts of it."""

import contextlib
import io
from pathlib import Path

from cut_corpus import ALL, CUTS, run_preprocess, write_texts

from syntax_nmt.cli import main
from syntax_nmt.data.dependency_tree import word_depths

# Words ("@": cut here into pieces), heads, bracketing; chunks of the target, the same words.
TRAIN = [
    ("go", [0], "(S (V go))", "B-VP"),
    ("the ca@t sle@eps", [1, 2, 2], "(S (NP (D the) (N cat)) (VP (V sleeps)))", "B-NP I-NP B-VP"),
    ("a b c d e f", None, "()", ""),
    ("", None, "()", ""),
    (
        "a ca@t a@nd the b@i@g dog go",  # crossing arcs
        [1, 6, 5, 2, 1, 6, 6],
        "(S (NP (NP (D a) (N cat)) (C and) (NP (D the) (J big) (N dog))) (VP (V go)))",
        "B-NP I-NP O B-NP I-NP I-NP B-VP",
    ),
    ("猫 は ね@る", [1, 1, 0], "(S (N 猫) (P は) (V ねる))", "B-NP O B-VP"),  # an arc over the root
]
TRAIN.append(TRAIN[4])  # as long and as deep as another
VALID = [
    ("the ca@t go", [1, 2, 2], "(S (NP (D the) (N cat)) (V go))", "B-NP I-NP B-VP"),
    ("dog new go the dog", [2, 0, 2, 4, 2], "()", ""),  # an unknown word
    ("a dog", None, "(NP (D a) (N dog))", "B-NP I-NP"),
]
CORPUS = {"train": TRAIN, "valid": VALID}


def write_corpus(folder: Path, scheme: str, kinds: tuple[str, ...] = ALL) -> Path:
    """The data-bin folder of the corpus; its texts are in `tok` and `bpe`."""
    for split, sentences in CORPUS.items():
        write_texts(folder, split, sentences, scheme, kinds)
    databin = preprocess_corpus(folder)
    if kinds:
        prefixes = [f"--{split}pref={folder / 'bpe' / split}" for split in CORPUS]
        command = ["binarize", "-s", "de", "-t", "en", *prefixes, "--words", str(folder / "tok")]
        with contextlib.redirect_stdout(io.StringIO()):
            main([*command, "--destdir", str(databin), "--subwords", scheme])
    return databin


def preprocess_corpus(folder: Path, *more: str) -> Path:
    """Runs fairseq-preprocess on the texts in `bpe`."""
    prefixes = {f"{split}pref": folder / "bpe" / split for split in CORPUS}
    return run_preprocess(folder, *more, **prefixes)


def plain_text_counts(split: str, scheme: str) -> dict[str, int]:
    """What a loop over the texts counts."""
    pieces = [CUTS[scheme](text).split() for text, *_ in CORPUS[split]]
    known = {piece for text, *_ in TRAIN for piece in CUTS[scheme](text).split()}
    sizes = [len(row) for row in pieces]
    return {
        "sentences": len(pieces),
        "empty_sentences": sum(not row for row in pieces),
        "subwords": sum(sizes),
        "longest_subwords": max(sizes),
        "longest_line": sizes.index(max(sizes)) + 1,
        "unknown_subwords": sum(piece not in known for row in pieces for piece in row),
        "sentences_with_unknown": sum(any(p not in known for p in row) for row in pieces),
    }


def plain_tree_counts(split: str) -> dict[str, float]:
    """What a loop over the trees counts."""
    trees = [heads for _, heads, *_ in CORPUS[split] if heads is not None]
    arcs = [abs(h - d) for heads in trees for d, h in enumerate(heads) if h != d]
    heights = [max(word_depths(heads)) for heads in trees]
    return {
        "annotated": len(trees),
        "words": sum(map(len, trees)),
        "mean_arc_length": sum(arcs) / len(arcs),
        "projective": sum(map(is_projective, trees)),
        "mean_depth": sum(heights) / len(trees),
        "deepest": max(heights),
    }


def is_projective(heads) -> bool:
    """By the definition: all words between a head and its dependent hang on the head."""

    def hangs_on(word, head):
        while word != head and heads[word] != word:
            word = heads[word]
        return word == head

    return all(
        hangs_on(between, head)
        for word, head in enumerate(heads)
        for between in range(min(word, head), max(word, head))
    )
