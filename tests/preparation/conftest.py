"""A tiny treebank, and a Stanza tagger and parser trained on it, once a session."""

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from commands import succeed

from syntax_nmt.data.conllu import format_conllu

NOUNS = ("cat", "dog", "bird", "girl", "boy", "fox", "man", "queen")
VERBS = ("sees", "hears", "likes", "finds", "follows")
ADJECTIVES = ("old", "small", "green", "happy")
SMALL = ["--no_pretrain", "--cpu", "--num_layers", "1", "--hidden_dim", "32"]
SMALL += ["--char_hidden_dim", "16", "--deep_biaff_hidden_dim", "32", "--word_emb_dim", "16"]
SMALL += ["--char_emb_dim", "8", "--tag_emb_dim", "8", "--transformed_dim", "16"]
SMALL += ["--max_steps", "40", "--eval_interval", "40", "--batch_size", "300"]


def _sentence(rng: random.Random) -> str:
    """One block of CoNLL-U: `the old cat sees the dog .`, gold by construction."""

    def noun_phrase() -> list[str]:
        return [*(rng.choice(ADJECTIVES) for _ in range(rng.randrange(3))), rng.choice(NOUNS)]

    subject, predicate, object_ = noun_phrase(), rng.choice(VERBS), noun_phrase()
    verb = len(subject) + 1
    rows = [
        *_rows(subject, 0, verb, "nsubj"),
        (predicate, "VERB", verb, "root"),
        *_rows(object_, verb + 1, verb, "obj"),
        (".", "PUNCT", verb, "punct"),
    ]
    words, tags, heads, relations = zip(*rows)
    return format_conllu(words, heads, relations=relations, upos=tags)


def _rows(phrase: list[str], start: int, head: int, relation: str) -> list[tuple]:
    """Word, tag, head and relation of an article, adjectives and a noun, from a place on."""
    *adjectives, noun = phrase
    own = start + len(phrase)
    rows = [("the", "DET", own, "det"), *((word, "ADJ", own, "amod") for word in adjectives)]
    return [*rows, (noun, "NOUN", head, relation)]


def write_treebank(path: Path, sentences: int, seed: int) -> None:
    rng = random.Random(seed)
    path.write_text("".join(_sentence(rng) for _ in range(sentences)), encoding="utf-8")


def treebank_text(path: Path) -> str:
    """The words of a treebank, a sentence a line."""
    blocks = path.read_text(encoding="utf-8").strip().split("\n\n")
    return "".join(
        " ".join(row.split("\t")[1] for row in block.splitlines()) + "\n" for block in blocks
    )


@pytest.fixture(scope="session")
def treebank(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("treebank") / "train.conllu"
    write_treebank(path, sentences=300, seed=1)
    return path


@pytest.fixture(scope="session")
def models(tmp_path_factory, treebank) -> Path:
    """A folder with tagger.pt and parser.pt, trained in a few seconds."""
    folder = tmp_path_factory.mktemp("models")
    dev = treebank.with_name("dev.conllu")
    write_treebank(dev, sentences=40, seed=2)
    common = ["--train_file", treebank, "--eval_file", dev, "--shorthand", "en_tiny"]
    common += ["--save_dir", folder, "--mode", "train", "--no_second_optim", *SMALL]
    parser_only = ["--no_checkpoint", "--optim", "adam", "--lr", "0.01"]
    with ThreadPoolExecutor() as pool:
        for module, more in (("tagger", []), ("parser", parser_only)):
            options = [*common, "--save_name", f"{module}.pt", *more]
            pool.submit(succeed, f"stanza.models.{module}", *options)
    assert {path.name for path in folder.glob("*.pt")} >= {"tagger.pt", "parser.pt"}
    return folder


@pytest.fixture(scope="session")
def text(treebank) -> Path:
    """The words of the treebank, with odd lines among them."""
    path = treebank.with_name("text.en")
    lines = treebank_text(treebank).splitlines()
    odd = [
        "",
        "the old " * 150 + "cat",
        "the cat \u2028 sees\u2028 the\x85dog .",
        "the\xa0cat sees\x0b the \x1c\x1f dog \r",
        "👨\u200d👩\u200d👧 sees the \u200d 🦊 .",
        "\x00 \u200b ▁ the▁cat",
        "# = 1 1-2 1.1 _ ( ) -LRB-",
        "   ",
    ]
    for place, line in enumerate(odd):
        lines.insert(7 * place + 3, line)
    path.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8"))
    return path
