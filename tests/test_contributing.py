"""What CONTRIBUTING.md and the list of kinds promise, carried out in a copy of the package."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap

import pytest
from commands import REPOSITORY

pytestmark = pytest.mark.dear

BLOCK = re.compile(
    r"^ *```(?:python|text) (new|before) (\S+)(?: \"([^\n]*)\")?\n(.*?)^ *```$", re.M | re.S
)

KIND = """
import numpy as np
import torch

from syntax_nmt.data.annotation.formats import AnnotationFormat
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.annotation_transfer import OtherTextError, Transferred
from syntax_nmt.text.languages import SOURCE


class LineOfNumbers(AnnotationFormat):
    ending, empty_entry = "num", "an empty line"

    def parse(self, entry, place):
        return [int(number) for number in entry.split()] or None

    def transfer(self, annotation, words, place, corpus):
        if len(annotation) != len(words):
            raise OtherTextError(f"{place}: {len(annotation)} numbers for {len(words)} words")
        return Transferred(annotation)

    def write(self, annotation, words):
        return " ".join(map(str, annotation or ())) + "\\n"


class WordNumbers(AnnotationKind):
    name, format, side, keys = "numbers", LineOfNumbers(), SOURCE, ("word_numbers",)
    description, title = "numbers of words", "numbers"
    option, help = "load_numbers", "load a number for each word of the source"

    def row(self, annotation, counts, label_ids):
        return np.repeat(np.array(annotation, dtype=np.int32), counts)

    def limits(self, sizes, labels):
        return 0, np.asarray(1000)

    def collate(self, rows, text, labels):
        return torch.tensor([int(rows[row].sum()) for row in text.ids], dtype=torch.int32)


NUMBERS = WordNumbers()
"""

LEAST_TESTS = 90  # of a method that is declared in tests/methods.py and in four sizes

HANDED_OVER = """
import sys
from types import SimpleNamespace

from fairseq import options, tasks
from syntax_nmt.data.annotation.numbers import NUMBERS

command = [sys.argv[1], "--task", "syntax_translation", "-s", "src", "-t", "tgt", "--load-numbers"]
args = options.parse_args_and_arch(options.get_generation_parser("syntax_translation"), command)
task = tasks.setup_task(args)
task.load_dataset("valid")
data = task.dataset("valid")
sample = data.collater([data[row] for row in range(len(data))])
generator = SimpleNamespace(generate=lambda models, sample, **_: sample)
given = task.inference_step(generator, [SimpleNamespace(reads_annotation=(NUMBERS,))], sample)
print(dict(zip(sample["id"].tolist(), given["net_input"]["word_numbers"].tolist())))
"""


@pytest.fixture
def package(tmp_path):
    """A copy that may be changed."""
    for name in ("pyproject.toml", "ARCHITECTURE.md"):
        shutil.copy(REPOSITORY / name, tmp_path)
    caches = shutil.ignore_patterns("__pycache__")
    for part in ("syntax_nmt", "tests", "examples"):
        shutil.copytree(REPOSITORY / part, tmp_path / part, symlinks=True, ignore=caches)
    return tmp_path


def run(package, *command):
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        cwd=package,
        env={**os.environ, "PYTHONPATH": str(package), "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout


def test_a_kind_is_an_object_with_a_format(package, prepared):
    folder = package / "syntax_nmt" / "data" / "annotation"
    (folder / "numbers.py").write_text(KIND, encoding="utf-8")
    listing = (folder / "__init__.py").read_text(encoding="utf-8")
    listing = listing.replace("PHRASES, CHUNKS)", "PHRASES, CHUNKS, NUMBERS)")
    listing = "from syntax_nmt.data.annotation.numbers import NUMBERS\n" + listing
    (folder / "__init__.py").write_text(listing, encoding="utf-8")
    words = (prepared.folder / "words" / "valid.src").read_text(encoding="utf-8").splitlines()
    data = shutil.copytree(prepared.data, package / "data-bin")
    (package / "words").mkdir()
    (package / "words" / "valid.src").write_text("\n".join([*words, ""]), encoding="utf-8")
    numbers = [" ".join(str(len(word)) for word in line.split()) for line in words]
    (package / "words" / "valid.src.num").write_text("\n".join([*numbers, ""]), encoding="utf-8")

    binarize = ("-m", "syntax_nmt.cli", "binarize", "-s", "src", "-t", "tgt", "--destdir", data)
    prefix = prepared.folder / "pieces" / "valid"
    run(package, *binarize, "--validpref", prefix, "--words", package / "words")
    found = json.loads(run(package, "-m", "syntax_nmt.cli", "inspect", data, "--json", "-"))
    counted = [text["annotation"].get("numbers") for text in found["texts"]]
    assert [each["annotated"] for each in counted if each] == [len(words)]

    pieces = prefix.with_name("valid.src").read_text(encoding="utf-8").splitlines()
    expected = {}
    for row, (line, segmented) in enumerate(zip(words, pieces)):
        counts = [part.count(" ") + 1 for part in re.findall(r"▁[^▁]*[^▁ ]", segmented)]
        expected[row] = sum(len(word) * n for word, n in zip(line.split(), counts))
    (package / "handed_over.py").write_text(HANDED_OVER, encoding="utf-8")
    printed = run(package, "handed_over.py", data).splitlines()[-1]
    assert eval(printed) == expected


def test_add_a_method(package, prepared):
    text = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    steps = BLOCK.findall(text)
    assert len(steps) == text.count("```python") + text.count("```text")
    for verb, name, anchor, code in steps:
        depth = len(anchor) - len(anchor.lstrip())  # as deep as the line that it stands before
        path, code = package / name, textwrap.indent(textwrap.dedent(code), " " * depth)
        path.parent.mkdir(exist_ok=True)
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        assert (verb == "new") == (old == "")
        if verb == "before":
            assert old.count(anchor) == 1
            path.write_text(old.replace(anchor, code + anchor), encoding="utf-8")
        else:
            path.write_text(old + code, encoding="utf-8")
    printed = run(
        package, "-m", "fairseq_cli.train", prepared.data, "--user-dir", package / "syntax_nmt",
        "--task", "syntax_translation", "--arch", "tree_depth_transformer_tiny", "--cpu",
        "--load-dependencies", "--optimizer", "adam", "--max-tokens", "2000", "--max-update", "2",
        "--save-dir", package / "trained", "--log-format", "json",
    )  # fmt: skip
    assert '"valid_loss"' in printed
    generated = run(
        package, "-m", "fairseq_cli.generate", prepared.data, "--user-dir", package / "syntax_nmt",
        "--task", "syntax_translation", "--load-dependencies", "--cpu", "--max-len-b", "5",
        "--path", package / "trained" / "checkpoint_last.pt",
    )  # fmt: skip
    assert generated.count("\nH-") == 20
    run(package, "-m", "ruff", "check", "--quiet", "--fix", *{name for _, name, _, _ in steps})
    # Every test of the method, and those of all methods at once.
    chosen = "tree_depth or among_the_methods or all_methods_translate or import_order or docstring"
    chosen += " or every_option_of_a_method or names_the_presets"
    tiers = ([], ["--dear"])
    checked = [run(package, "-m", "pytest", "-q", "tests", "-k", chosen, *tier) for tier in tiers]
    assert sum(int(re.search(r"(\d+) passed", tier)[1]) for tier in checked) > LEAST_TESTS
