"""`syntax-nmt prepare --linearised`, `--interleave`: the texts of each mode, and what is said."""

import json
import re
import shutil
import time
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest
from commands import kill_all, refuse, started, syntax_nmt

from syntax_nmt.data.linearised import is_balanced, is_symbol, words_of
from syntax_nmt.data.linearised_folder import (
    INTERLEAVED,
    MODES,
    join_between_symbols,
    linearised_mode,
)
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.preparation.training_data import TrainingData

pytestmark = pytest.mark.dear

SPLITS = {"train": 120, "valid": 20, "test": 20}
ODD = "( (NP -LRB- \\ <TR> <PA> )S ( )"


@pytest.fixture(scope="module")
def raw(tmp_path_factory) -> Path:
    """The built-in corpus, trees on both sides; and a sentence of words that look like symbols."""
    folder = tmp_path_factory.mktemp("raw")
    sizes = (part for name, size in SPLITS.items() for part in (f"--{name}", str(size)))
    syntax_nmt("demo", folder, *sizes)
    for path in folder.glob("*.align"):
        path.unlink()
    for lang in ("src", "tgt"):
        with (folder / f"train.{lang}").open("a") as out:
            out.write(f"{ODD}\n")
    with (folder / "train.src.trees").open("a") as out:
        out.write("(S (NP (X -LRB-) (X -LRB-NP)) (X -LRB-) (X \\) (X <TR>) (X <PA>) "
                  "(X -RRB-S) (X -LRB-) (X -RRB-))\n")  # fmt: skip
    with (folder / "train.tgt.chunks").open("a") as out:
        out.write(" ".join(["B-NP"] * len(ODD.split())) + "\n")
    rows = [
        f"{n}\t{word}" + "\t_" * 4 + f"\t{n - 1}\tdep\t_\t_\n"
        for n, word in enumerate(ODD.split(), start=1)
    ]
    for lang in ("src", "tgt"):
        with (folder / f"train.{lang}.conllu").open("a") as out:
            out.write("".join([*rows, "\n"]))
    return folder


def command(raw, folder, *more, langs=("src", "tgt")):
    prefixes = [part for name in SPLITS for part in (f"--{name}pref", str(raw / name))]
    return (
        *("prepare", "--source-lang", langs[0], "--target-lang", langs[1], *prefixes),
        *("--source-tokenizer", "none", "--target-tokenizer", "none", "--vocab-size", "300"),
        *("--destdir", str(folder), *more),
    )


def languages(mode):
    return ("tgt", "src") if mode in ("target", INTERLEAVED) else ("src", "tgt")


@pytest.fixture(scope="module")
def made(raw, tmp_path_factory) -> dict[str, Path]:
    """A folder of each mode, and what was said."""
    folders = {}
    for mode in MODES:
        folders[mode] = folder = tmp_path_factory.mktemp("made") / mode
        made_by = ("--interleave", "upos") if mode == INTERLEAVED else ("--linearised", mode)
        done = syntax_nmt(*command(raw, folder, *made_by, langs=languages(mode)))
        (folder / "said").write_text(done.stdout + done.stderr)
    return folders


def text(folder, name):
    """The lines of pieces, joined."""
    return join_between_symbols(list(read_lines(folder / "pieces" / name)))


def plain(raw, name):
    return [line.split() for line in read_lines(raw / name)]


def test_multitask(raw, made):
    source, target = (text(made["multitask"], f"train.{lang}") for lang in ("src", "tgt"))
    tasks = Counter(line.split()[0] for line in source)
    assert tasks == {"<TR>": 121, "<PA>": 121}
    assert [words_of(line) for line in source[::2]] == plain(raw, "train.src")
    assert source[1::2] == [line.replace("<TR>", "<PA>", 1) for line in source[::2]]
    assert [words_of(line) for line in target[::2]] == plain(raw, "train.tgt")
    assert all(map(is_balanced, target[1::2]))
    assert not any(map(words_of, target[1::2]))  # no words by default
    for split in ("valid", "test"):
        lines = text(made["multitask"], f"{split}.src")
        assert {line.split()[0] for line in lines} == {"<TR>"}
        assert [words_of(line) for line in lines] == plain(raw, f"{split}.src")
        assert [*map(words_of, text(made["multitask"], f"{split}.tgt"))] == plain(
            raw, f"{split}.tgt"
        )


def test_mixed(raw, made):
    source, target = (text(made["mixed"], f"train.{lang}") for lang in ("src", "tgt"))
    assert [words_of(line) for line in source[::2]] == plain(raw, "train.src")
    assert [words_of(line) for line in source[1::2]] == plain(raw, "train.src")
    assert not any(is_symbol(token) for line in source[::2] for token in line.split())
    assert all(map(is_balanced, source[1::2]))
    assert target[::2] == target[1::2]
    assert len(text(made["mixed"], "valid.src")) == 20
    assert not any(map(is_balanced, text(made["mixed"], "test.src")))


@pytest.mark.parametrize(("mode", "trees"), [("source", "src"), ("target", "src")])
def test_parses_of_one_side(raw, made, mode, trees):
    for split in ("train", "valid"):
        lines = text(made[mode], f"{split}.{trees}")
        assert all(map(is_balanced, lines))
        assert [words_of(line) for line in lines] == plain(raw, f"{split}.{trees}")
    assert all(map(is_balanced, text(made[mode], "test.src"))) == (mode == "source")
    closing = {token for line in text(made[mode], "train.src") for token in line.split()}
    assert (")NP" in closing) == (mode == "target")


def test_a_tag_stands_before_each_word(raw, made):
    """Before its first piece; words that look like tags are escaped, and come back."""
    for split in SPLITS:
        lines = text(made[INTERLEAVED], f"{split}.src")
        assert [words_of(line) for line in lines] == plain(raw, f"{split}.src")
        if split == "test":  # the reference
            assert not any(is_symbol(token) for line in lines for token in line.split())
            continue
        trees = (raw / f"{split}.src.conllu").read_text()
        tags = re.findall(r"^\d+\t[^\t]*\t[^\t]*\t([^\t]*)", trees, re.M)
        assert [token for line in lines for token in line.split()[::2]] == [f"({x}" for x in tags]
        assert not any(is_symbol(token) for line in lines for token in line.split()[1::2])
    pieces = [*read_lines(made[INTERLEAVED] / "pieces" / "train.src")]
    assert max(line.count(" ") for line in pieces) > max(map(len, plain(raw, "train.src"))) * 2


@pytest.mark.parametrize("mode", MODES)
def test_symbols_are_whole_entries_of_the_vocabulary(made, mode):
    """No piece has a part of one, and no other piece is one."""
    folder, (source, target) = made[mode], languages(mode)
    symbols = {
        token
        for split in SPLITS
        for lang in (source, target)
        for line in read_lines(folder / "linearised" / f"{split}.{lang}")
        for token in line.split()
        if is_symbol(token)
    }
    entries = {line.split()[0] for line in read_lines(folder / "data-bin" / f"dict.{source}.txt")}
    assert {f"▁{symbol}" for symbol in symbols} <= entries
    assert {entry for entry in entries if set("()") & set(entry)} <= {f"▁{x}" for x in symbols}
    model = (folder / "sentencepiece.model").read_bytes()
    assert not any(symbol.encode() in model for symbol in symbols if len(symbol) > 1)
    assert linearised_mode(folder) == mode
    assert not (folder / "data-bin" / "syntax.json").exists()


def test_what_is_said(made):
    said = {mode: (folder / "said").read_text() for mode, folder in made.items()}
    for mode in ("multitask", "mixed"):
        assert "an epoch of translation takes about " in said[mode]
    assert "an epoch of translation" not in said["source"]
    assert "train.tgt.chunks is not used: no text of --linearised mixed" in said["mixed"]
    assert TrainingData.of(made["target"]).takes_typed_text
    assert not TrainingData.of(made["source"]).takes_typed_text  # it has no parses


@pytest.mark.parametrize(
    ("mode", "name"),
    [("multitask", "multitask"), ("target", "parsed_target"), (INTERLEAVED, INTERLEAVED)],
)
def test_trainings_are_named_by_what_they_read(made, mode, name):
    """A folder `baseline`, "without syntax", would be mistaken for the rival of others."""
    said = (made[mode] / "said").read_text()
    assert re.search(rf"^  {name} +a Transformer on text with parses \({mode}\)$", said, re.M)
    assert re.search(rf"^  rnn_{name} +RNNsearch\* on text with parses", said, re.M)
    assert re.search(rf"^  latent_{name} ", said, re.M)
    assert "without syntax" not in said
    assert f"syntax-nmt train {made[mode]} {name} " in said
    lines = syntax_nmt("options", "--training", made[mode], name).stdout
    assert f"--save-dir {made[mode]}/{name}" in lines
    for other in ("baseline", "heads"):
        refused = refuse("syntax_nmt.cli", "train", made[mode], other)
        assert (
            f"{other}: {made[mode]}/data-bin has parses as text ({mode}): choose of {name}, "
            in (refused)
        )


@pytest.mark.parametrize(
    ("mode", "kinds"),
    [
        ("multitask", {"source → target": "50.00%", "source → parse of the source": "50.00%"}),
        ("mixed", {"source → target": "50.00%", "parse → target": "50.00%"}),
        ("source", {"parse → target": "100%"}),
        ("target", {"source → parse": "100%"}),
        (INTERLEAVED, {"source → target with tags": "100%"}),
    ],
)
def test_inspect_shows_what_the_lines_are(made, mode, kinds):
    report = syntax_nmt("inspect", made[mode], "--samples", "0").stdout
    said = report.partition("annotation: ")[2].splitlines()
    option = "--interleave" if mode == INTERLEAVED else f"--linearised {mode}"
    assert said[0] == f"parses as text (prepare {option})"
    found = {line.partition(":")[0].strip(): line for line in said if " → " in line}
    assert found.keys() == kinds.keys()
    for kind, share in kinds.items():
        assert found[kind].endswith(f"({share})")
    shown = [line for line in said if line.startswith("    ")]
    texts = {line[:100] for lang in ("src", "tgt") for line in text(made[mode], f"train.{lang}")}
    assert len(shown) == 2 * len(kinds)
    assert {line[4:] for line in shown} <= texts


def test_weight_relations_and_lengths(raw, tmp_path):
    for path in raw.glob("*.trees"):
        path.rename(path.with_suffix(".away"))
    try:
        more = ("--linearised", "multitask", "--auxiliary-weight", "3", "--words", "kept")
        limits = ("--max-source-positions", "12", "--max-target-positions", "30")
        done = syntax_nmt(*command(raw, tmp_path, *more, *limits, "--labels", "none"))
    finally:
        for path in raw.glob("*.away"):
            path.rename(path.with_suffix(".trees"))
    source, target = (text(tmp_path, f"train.{lang}") for lang in ("src", "tgt"))
    assert Counter(line.split()[0] for line in source) == {"<TR>": 121, "<PA>": 363}
    assert [words_of(line) for line in target[1::4]] == plain(raw, "train.src")
    assert {x for x in chain(*map(str.split, target[1::4])) if is_symbol(x)} == {"(", ")"}
    for lang, most, option in (("src", 12, "source"), ("tgt", 30, "target")):
        path = tmp_path / "pieces" / f"train.{lang}"
        long = [n for n, x in enumerate(read_lines(path), 1) if len(x.split()) + 1 > most]
        named = ", ".join(map(str, long[:5]))
        assert f"{path}: {len(long)} lines have more tokens than --max-{option}-positions " in (
            done.stderr
        )
        assert f"{most}, and fairseq leaves them out: lines {named} and {len(long) - 5} more" in (
            done.stderr
        )


def test_sentences_without_trees_stand_alone(raw, tmp_path):
    lines = list(read_lines(raw / "train.src.trees"))
    for name in SPLITS:
        for lang in ("src", "tgt"):
            (tmp_path / f"{name}.{lang}").write_bytes((raw / f"{name}.{lang}").read_bytes())
    lines[3] = lines[7] = "()"
    (tmp_path / "train.src.trees").write_text("".join(f"{line}\n" for line in lines))
    folder = tmp_path / "out"
    done = syntax_nmt(*command(tmp_path, folder, "--linearised", "multitask"))
    assert "2 of 121 pairs have no tree, and stand in the text without brackets alone" in (
        done.stderr
    )
    assert len(text(folder, "train.src")) == 121 + 119


def test_words_as_tokens(raw, tmp_path):
    words = ("--source-words", "5000", "--target-words", "5000")
    syntax_nmt(*command(raw, tmp_path, "--linearised", "mixed", *words)[:-2], *words)
    entries = {line.split()[0] for line in read_lines(tmp_path / "data-bin" / "dict.src.txt")}
    assert {"(NP", ")", "-LRB-", "\\\\"} <= entries
    assert "(" not in entries


REFUSED = {
    "no words": (("--linearised", "target", "--words", "none"), "leaves nothing to translate"),
    "features": (("--linearised", "mixed", "--features", "upos"), "--features does nothing with"),
    "two texts": (("--linearised", "mixed", "--interleave", "upos"), "make another text each"),
    "two columns": (("--interleave", "upos,deprel"), "--interleave upos,deprel: give one column"),
    "no column": (("--interleave", "tags"), "--interleave tags: 'tags' is no column"),
    "empty column": (
        ("--interleave", "xpos"),
        "no word has a value in column XPOS: leave xpos",
    ),
    "factors": (("--interleave", "upos", "--target-features", "upos"), "does nothing with --inter"),
    "form": (("--interleave", "upos", "--labels", "full"), "--labels does nothing without --linea"),
    "weight": (("--linearised", "mixed", "--auxiliary-weight", "2"), "is for --linearised multi"),
    "idle": (("--labels", "full"), "--labels does nothing without --linearised"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_mistakes_are_one_line(raw, tmp_path, name):
    more, why = REFUSED[name]
    assert why in refuse("syntax_nmt.cli", *command(raw, tmp_path / "out", *more))


def test_trees_that_are_missing_are_named(raw, tmp_path):
    for name in SPLITS:
        for lang in ("src", "tgt"):
            (tmp_path / f"{name}.{lang}").write_bytes((raw / f"{name}.{lang}").read_bytes())
    more = ("--no-parse", "--linearised", "target")
    tags = command(tmp_path, tmp_path / "tags", "--no-parse", "--interleave", "upos")
    why = "--interleave upos: there are no dependency trees of the target to take the columns from"
    assert why in refuse("syntax_nmt.cli", *tags)
    assert (
        f"--linearised target needs trees of train, and there is no {tmp_path}/train.tgt.conllu: "
        "give it, or leave --no-parse out"
    ) in refuse("syntax_nmt.cli", *command(tmp_path, tmp_path / "out", *more))


def contents(folder):
    """What must not depend on how often the work was interrupted."""
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    kept = {name for name in files if not name.endswith(".log")} - {"prepare.json", "said"}
    return {name: files[name].read_bytes() for name in kept}


@pytest.mark.parametrize("at", ["linearised/train.tgt", "logs"])
def test_killed_and_started_again(raw, made, tmp_path, at):
    folder = tmp_path / "multitask"
    arguments = command(raw, folder, "--linearised", "multitask")
    job = started("-m", "syntax_nmt.cli", *arguments)
    deadline = time.monotonic() + 100
    while not (folder / at).exists() and time.monotonic() < deadline:
        time.sleep(0.002)
    kill_all(job, folder)
    assert not (folder / "segmentation.json").exists()  # it was not ready
    syntax_nmt(*arguments)
    assert contents(folder) == contents(made["multitask"])


def test_another_form_into_the_same_folder(raw, made, tmp_path):
    """Nothing of the first is left where programs look."""
    folder = tmp_path / "out"
    shutil.copytree(made["mixed"], folder)
    syntax_nmt(*command(raw, folder, "--linearised", "multitask"))
    assert contents(folder) == contents(made["multitask"])
    syntax_nmt(*command(raw, folder, "--no-parse"))
    assert linearised_mode(folder) is None
    assert "heads" in str(json.loads((folder / "data-bin" / "syntax.json").read_text()))
