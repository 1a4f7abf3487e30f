"""A thousand lines, some of them odd, with annotation files: what a real corpus holds somewhere."""

import random
from pathlib import Path

from syntax_nmt.data.conllu import format_conllu, format_no_parse
from syntax_nmt.data.constituents import escape_word
from syntax_nmt.text.cleaning import clean_line

LINES = 1000
ODD = [
    "",
    "      ",
    " \t \u3000 \u2028 ",
    "a",
    "nothing-of-this-is-known: \U0001f9ff\u16a0\u0f40\u1f00 \u13a0\u13a1 \u0d05\u0d06",
    "👨\u200d👩\u200d👧\u200d👦 👩🏽\u200d🚀 🏴\U000e0067\U000e0062\U000e007f ❤\ufe0f\u200d🔥",
    "\u200f\u202bשלום עולם\u202c \u061cمرحبا\u200e (abc) \u2067x\u2069",
    "cafe\u0301 nai\u0308ve o\u0302\u0323 Z\u0351\u036b\u0343algo \u0301lone a \u0301",
    "a\x00b \x00 \x01\x07\x08\x1b[0m c\x7f\x80\x9f",
    "a\x85b\u2028c\u2029d\x0be\x0cf\x1cg\x1dh\x1ei",
    "tab\there\tand\tthere",
    "\ufeffa byte order mark",
    "carriage return\r",
    "carriage\rreturn",
    "▁▁a▁b▁ ▁",
    "<unk> <s> </s> <pad> <PAD> ||| \\1 $1 @@ a@@ (S (NP x))",
    "x" * 300,
    "\ue000private\uf8ff \U000f0000 \u0378 \ufffe \U0010ffff",
    "中文 English混排，한국어도 ไทย 日本語",
]


def odd_lines(seed: int, lines: int = LINES) -> list[str]:
    """Lines of made-up words, with every odd line among them many times, in any order."""
    draw = random.Random(seed)
    words = [f"{a}{b}" for a in ("ka", "lo", "mi", "tu", "re") for b in ("n", "sa", "po", "di")]
    found = [*ODD * (lines // len(ODD) // 4)]
    found += [
        " ".join(draw.choices(words, k=draw.randint(1, 12))) for _ in range(lines - len(found))
    ]
    draw.shuffle(found)
    return found


def write_corpus(folder: Path) -> Path:
    """Training and test text with annotation files of their words; both languages are the same."""
    folder.mkdir(parents=True)
    for number, name in enumerate(("train", "test")):
        lines = odd_lines(number)
        words = [clean_line(line).split() for line in lines]
        for language in ("src", "tgt"):
            _write(folder / f"{name}.{language}", lines)
            _write(folder / f"{name}.{language}.conllu", [_parse(line) for line in words])
        _write(folder / f"{name}.src.trees", [_tree(line) for line in words])
        _write(folder / f"{name}.tgt.chunks", [" ".join(["B-X"] * len(line)) for line in words])
    return folder


def _parse(words: list[str]) -> str:
    """Each word hangs on the next; its closing blank line is that of the file's line."""
    if not words:
        return format_no_parse(words).removesuffix("\n")
    heads = [*range(1, len(words)), len(words) - 1]
    upos = ["NOUN" if len(word) % 2 else "VERB" for word in words]
    return format_conllu(words, heads, upos=upos, lemmas=[word[:1] for word in words])[:-1]


def _tree(words: list[str]) -> str:
    return f"(S {' '.join(f'(N {escape_word(word)})' for word in words)})" if words else "()"


def _write(path: Path, lines: list[str]) -> None:
    path.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8"))
