"""Odd and long lines through every method: none is lost, none takes the place of another."""

import shutil
from pathlib import Path

import pytest
from fairseq.data import Dictionary
from methods import METHODS
from odd_corpus import LINES, odd_lines, write_corpus
from prepared_corpus import Prepared
from programs import System

from syntax_nmt.cli import main
from syntax_nmt.data.manifest import read_manifest
from syntax_nmt.text.cleaning import clean_line

pytestmark = pytest.mark.dear

QUICK = ("phrase_transformer+parsed", "bi_scale_rnn")
EACH = [pytest.param(m, marks=[] if m in QUICK else pytest.mark.slow) for m in METHODS]
SIZES = [64, *(pytest.param(size, marks=pytest.mark.slow) for size in (1, 7, 8))]
SEARCH = ("--beam", "1", "--max-len-b", "2")
LIMIT = 1024  # tokens with EOS


@pytest.fixture(scope="module")
def odd(tmp_path_factory) -> Prepared:
    """The odd corpus, as `syntax-nmt prepare` prepares it."""
    folder = tmp_path_factory.mktemp("odd")
    made = Prepared(write_corpus(folder / "raw"), folder / "prepared")
    none = ("--source-tokenizer", "none", "--target-tokenizer", "none", "--no-parse")
    features = ("--features", "upos,deprel,lemma", "--target-features", "upos,deprel")
    prefixes = [part for n in ("train", "test") for part in (f"--{n}pref", str(made.corpus / n))]
    languages = ("--source-lang", "src", "--target-lang", "tgt", "--vocab-size", "300")
    main(["prepare", *languages, *none, *features, *prefixes, "--destdir", str(made.folder)])
    return made


@pytest.fixture(scope="module")
def corpus(odd) -> Prepared:
    """What models and typed text are of."""
    return odd


@pytest.fixture(scope="module", params=EACH)
def system(request, make_system) -> System:
    return make_system(request.param)


def known(data: Path, segmented: list[str]) -> dict[int, str]:
    """Sentences as fairseq prints them: without the pieces that the vocabulary lacks."""
    dictionary = Dictionary.load(str(data / "dict.src.txt"))
    return {
        number: " ".join(p if p in dictionary.indices else "<unk>" for p in line.split())
        for number, line in enumerate(segmented)
    }


@pytest.fixture(scope="module")
def sources(odd) -> dict[int, str]:
    """The pieces of the test set."""
    pieces = (odd.folder / "pieces" / "test.src").read_text(encoding="utf-8")
    return known(odd.data, pieces.removesuffix("\n").split("\n"))


def test_every_line_is_prepared(odd):
    """One line of words for each, and annotation for all that have words."""
    for number, name in enumerate(("train", "test")):
        words = (odd.folder / "words" / f"{name}.src").read_text(encoding="utf-8")
        lines = odd_lines(number)
        assert words == "".join(" ".join(clean_line(line).split()) + "\n" for line in lines)
        counted = read_manifest(odd.data)
        for kind in ("src.phrases", "tgt.chunks"):
            entry = counted[f"{name}.src-tgt.{kind}"]
            assert entry.sentences == LINES
            assert entry.annotated == sum(bool(line) for line in words.split("\n"))


@pytest.mark.parametrize("size", SIZES)
def test_a_thousand_lines_of_a_test_set(system, sources, size):
    printed = system.generate(*SEARCH, "--batch-size", str(size))
    assert sorted(printed.order) == list(range(LINES))
    assert printed.one("S") == sources


@pytest.mark.parametrize("size", SIZES)
def test_a_thousand_typed_lines(system, inputs, text, odd, sources, size):
    flags = ("--buffer-size", "100", "--batch-size", str(size), *text, *inputs)
    printed = system.type(*SEARCH, *flags, "--input", odd.corpus / "test.src")
    assert printed.order == list(range(LINES))
    assert printed.one("S") == sources
    assert printed.text.count("\n") == LINES * 5  # S, W, H, D and P
    method = System("", system.data, system.path)  # parses, instead of loading phrases
    expected = method.generate(*SEARCH, *inputs, "--batch-size", "100").best
    differing = sum(printed.best[n] != expected[n] for n in range(LINES))
    assert differing <= LINES // 200  # ties, which rounding decides


SYMBOLS = ["", " ", "</s>", "<s> ▁lo", "▁lo </s> ▁ke </s>", "<unk>", "<unk> <unk>", "▁lo", "q w e"]
PADDED = ["<pad>", "▁lo <pad> ▁ke", "<pad> ▁lo", "▁lo <pad>"]


def test_symbols_that_are_typed(system, inputs, tmp_path):
    """Without a subword model a typed `</s>` or `<pad>` is that very token."""
    path = tmp_path / "typed"
    path.write_text("".join(f"{line}\n" for line in SYMBOLS + PADDED), encoding="utf-8")
    printed = [
        system.type(*SEARCH, *inputs, "--buffer-size", "50", "--batch-size", size, "--input", path)
        for size in ("4", "50")
    ]
    for each in printed:
        assert each.order == list(range(len(SYMBOLS + PADDED)))
        assert each.one("S")[7] == known(system.data, ["▁lo"])[0]
    best = [[each.best[n] for n in range(len(SYMBOLS))] for each in printed]
    assert best[0] == best[1]


@pytest.fixture
def long_lines(system, tmp_path):
    """A function that writes three lines, the middle one of so many tokens without EOS."""
    token = next(s for s in Dictionary.load(str(system.data / "dict.src.txt")).symbols if "▁" in s)

    def write(tokens: int) -> Path:
        path = tmp_path / "typed"
        lines = [token, f"{token} " * tokens, f"{token} {token}"]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return write


def test_the_longest_source(system, inputs, long_lines):
    flags = (*SEARCH, *inputs, "--buffer-size", "3", "--max-tokens", "4000")
    printed = system.type(*flags, "--input", long_lines(LIMIT - 1))
    assert printed.order == [0, 1, 2]
    assert len(printed.one("S")[1].split()) == LIMIT - 1
    short = system.type(*flags, "--input", long_lines(1))
    assert (short.best[0], short.best[2]) == (printed.best[0], printed.best[2])


def test_longer_sources_are_named(system, inputs, long_lines, caplog):
    """Counted over all buffers."""
    flags = (*SEARCH, *inputs, "--buffer-size", "1", "--input", long_lines(LIMIT))
    message = rf"^syntax-nmt: error: line 2 \({LIMIT + 1} source tokens\) is too long"
    with pytest.raises(SystemExit, match=message):
        system.type(*flags)
    printed = system.type(*flags, "--skip-invalid-size-inputs-valid-test")
    assert printed.order == [0, 2]
    assert f"line 2 ({LIMIT + 1} source tokens) is too long" in caplog.text


def test_raw_text_has_its_words(system, inputs, long_lines, tmp_path):
    """`--replace-unk` needs them. Sentences of a test set that are too long are named, too."""
    for path in system.data.glob("dict.*.txt"):
        shutil.copy(path, tmp_path)
    for language in ("src", "tgt"):
        shutil.copy(long_lines(LIMIT), tmp_path / f"test.src-tgt.{language}")
    method = System("", tmp_path, system.path)
    flags = (*SEARCH, *inputs, "-s", "src", "-t", "tgt", "--dataset-impl", "raw")
    message = r"^syntax-nmt: error: sentence 1 \(1025 source and 1025 target tokens\)"
    with pytest.raises(SystemExit, match=message):
        method.generate(*flags)
    flags = (*flags, "--skip-invalid-size-inputs-valid-test", "--unkpen", "-10000")
    replaced = method.generate(*flags, "--replace-unk", "")  # alone it means a file "@@ "
    assert sorted(replaced.order) == [0, 2]
    assert set(" ".join(replaced.best.values()).split()) == set(replaced.one("S")[0].split())
