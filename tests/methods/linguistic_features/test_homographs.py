"""A task that only features can solve: homographs whose translation follows the part of speech."""

import random
import re
from itertools import zip_longest
from statistics import mean

import pytest
from commands import fairseq, succeed, syntax_nmt
from cut_corpus import run_preprocess

from syntax_nmt.data.conllu import format_conllu

pytestmark = pytest.mark.slow  # three trainings, a minute

HOMOGRAPHS = [f"h{place}" for place in range(8)]
OTHERS = [f"w{place}" for place in range(8)]
TAGS = ("NOUN", "VERB")
SIZES = {"train": 2000, "test": 100}
SMALL = (
    *("--encoder-layers", "1", "--decoder-layers", "1", "--share-decoder-input-output-embed"),
    *("--dropout", "0", "--optimizer", "adam", "--lr", "5e-3", "--clip-norm", "1.0"),
    *("--lr-scheduler", "polynomial_decay", "--warmup-updates", "100"),
    *("--total-num-update", "500", "--max-update", "500", "--max-tokens", "500"),
    *("--no-epoch-checkpoints", "--seed", "1"),
    *("--criterion", "cross_entropy", "--disable-validation"),
)
FEATURES = ("--arch", "feature_transformer_tiny", "--load-features", "upos")
FEATURES += ("--source-features", "upos")


def translated(word: str, tag: str) -> str:
    """A homograph has a translation for each part of speech; others have one."""
    return f"{word}.{tag.lower()}" if word in HOMOGRAPHS else word.upper()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Words in any order with a tag drawn at random: no context tells a homograph's."""
    folder, rng = tmp_path_factory.mktemp("homographs"), random.Random(1)
    for split, size in SIZES.items():
        files = {end: [] for end in ("de", "en", "de.conllu")}
        for _ in range(size):
            words = rng.choices(HOMOGRAPHS + OTHERS, k=rng.randint(3, 7))
            tags = [rng.choice(TAGS) for _ in words]
            files["de"].append(" ".join(words) + "\n")
            files["en"].append(" ".join(map(translated, words, tags)) + "\n")
            files["de.conllu"].append(format_conllu(words, [0] * len(words), upos=tags))
        for end, lines in files.items():
            (folder / f"{split}.{end}").write_text("".join(lines), encoding="utf-8")
    return folder


def right(folder, work, *training):
    """The shares of the test set's words that a trained model translates rightly, by kind.

    Args:
        folder: of the text and its annotation.
        training: options of the model.
    """
    prefixes = {f"{split}pref": folder / split for split in SIZES}
    data = run_preprocess(work, **prefixes)
    binarised = [part for name, path in prefixes.items() for part in (f"--{name}", path)]
    syntax_nmt("binarize", "-s", "de", "-t", "en", *binarised, "--destdir", data,
               "--features", "upos")  # fmt: skip
    models = work / "models"
    succeed(*fairseq("train", data, *training, *SMALL, "--save-dir", models))
    loads = training[2:4] if "--load-features" in training else ()
    search = ("--path", models / "checkpoint_last.pt", "--beam", "1", *loads)
    printed = succeed(*fairseq("generate", data, *search)).stdout
    pairs = [re.findall(rf"^{name}-(\d+)\t(?:\S+\t)?(.*)$", printed, re.MULTILINE) for name in "TH"]
    wanted, found = (dict(each) for each in pairs)
    assert wanted.keys() == found.keys()
    assert len(wanted) == SIZES["test"]
    counts = {True: [], False: []}  # by whether the word is a homograph
    for number, line in wanted.items():
        translation = found[number].split()
        for word, ours in zip_longest(line.split(), translation):
            counts["." in (word or "")].append(word == ours)
    return {kind: mean(answers) for kind, answers in counts.items()}


def test_homographs_follow_their_part_of_speech(corpus, tmp_path):
    shares = {}
    for name in ("gold", "none", "dummy"):
        work = tmp_path / name
        work.mkdir()
        folder = corpus
        if name == "dummy":
            folder = work
            for split in SIZES:
                for lang in ("de", "en"):
                    (work / f"{split}.{lang}").symlink_to(corpus / f"{split}.{lang}")
                syntax_nmt("control", "--kind", "dummy", corpus / f"{split}.de.conllu",
                           "--output", work / f"{split}.de.conllu")  # fmt: skip
        plain = ("--arch", "syntax_transformer_tiny")
        shares[name] = right(folder, work, *(plain if name == "none" else FEATURES))
    assert all(share[False] >= 0.97 for share in shares.values()), shares  # all have learnt
    assert shares["gold"][True] >= 0.99, shares
    assert max(shares["none"][True], shares["dummy"][True]) <= 0.6, shares
    print(shares)
