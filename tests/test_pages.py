"""Every command of the pages is one that its program takes; links lead somewhere; every method has
its place.
"""

import argparse
import importlib
import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest
from commands import REPOSITORY, USER_DIR
from fairseq import options
from fairseq.models import ARCH_MODEL_REGISTRY

from syntax_nmt import cli
from syntax_nmt.arguments import flag
from syntax_nmt.commands import plot
from syntax_nmt.commands.shared.components import components
from syntax_nmt.criterions.cross_entropy import LOSSES
from syntax_nmt.methods import METHODS

PAGES = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "examples/*/*.md", "preprocess/*.md")
    for path in REPOSITORY.glob(pattern)
)
FAIRSEQ = {
    "fairseq-train": options.get_training_parser,
    "fairseq-generate": options.get_generation_parser,
    "fairseq-interactive": lambda: options.get_generation_parser(interactive=True),
    "fairseq-validate": options.get_validation_parser,
}
OPEN = {"…", "TRAIN"}  # what a reader is to fill in


def commands_of(page: Path) -> list[list[str]]:
    """The words of each of our commands and fairseq's in the page's shell blocks."""
    found = []
    for block in re.findall(r"^ *```bash\n(.*?)^ *```", page.read_text("utf-8"), re.M | re.S):
        text = block.replace("\\\n", " ").replace('"$(syntax-nmt user-dir)"', USER_DIR)
        for line in text.splitlines():
            lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
            lexer.whitespace_split, lexer.commenters = True, "#"
            try:
                words = list(lexer)
            except ValueError:  # a quotation that goes on in the next line
                continue
            command: list[str] = []
            for word in [*words, ";"]:
                if word and set(word) <= set("|&;<>()"):
                    found.append(command)
                    command = []
                else:
                    command.append(word)
    return [each for each in found if each and (each[0] == "syntax-nmt" or each[0] in FAIRSEQ)]


CASES = [
    pytest.param(command, id=f"{page.relative_to(REPOSITORY)}-{place}")
    for page in PAGES
    for place, command in enumerate(commands_of(page))
    # CONTRIBUTING's own test carries out what stands there.
    if page.name != "CONTRIBUTING.md" and not OPEN & set(command)
]


@pytest.mark.parametrize("command", CASES)
def test_a_command_is_one_that_its_program_takes(command, tmp_path, monkeypatch):
    program, *words = command
    monkeypatch.chdir(tmp_path)
    if "--path" in words:  # fairseq's programs ask early whether it is there
        checkpoint = Path(words[words.index("--path") + 1])
        checkpoint.parent.mkdir(parents=True)
        checkpoint.touch()
    if program in FAIRSEQ:
        if program != "fairseq-train" and "--user-dir" not in words:
            return  # an exported model's
        parsed = options.parse_args_and_arch(FAIRSEQ[program](), words)
        assert parsed.task == "syntax_translation"
    elif words[0] == "plot":
        if len(words) > 2:
            plot.kind_parser(words[1]).parse_args(words[2:])
    elif not words[0].startswith("-"):
        parser = argparse.ArgumentParser()
        importlib.import_module(cli.COMMANDS[words[0]][0]).add_arguments(parser)
        if "--help" not in words:
            parser.parse_args(words[1:])


def test_there_are_commands():
    assert len(CASES) > 50


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_architectures_are_registered(page):
    """What stands after `--arch`, in prose and headings as in commands."""
    named = set(re.findall(r"--arch ([a-z]\w+)", page.read_text("utf-8")))
    known = {*ARCH_MODEL_REGISTRY, "tree_depth_transformer_tiny"}  # which CONTRIBUTING adds
    assert named - known == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#]*)(?:#[^)]*)?\)", text):
        if target and "://" not in target:
            # A folder's page is its README.md: the site knows no folders.
            assert (page.parent / target).is_file(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_anchors_are_headings(page):
    for target, anchor in re.findall(r"\]\(([^)#]*)#([^)]*)\)", page.read_text("utf-8")):
        if "://" in target:
            continue
        headings = re.findall(
            r"^#+ (.+)$", (page.parent / target if target else page).read_text("utf-8"), re.M
        )
        anchors = {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}
        assert anchor in anchors, f"{target}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_lines_of_prose_have_at_most_125_characters(page):
    """But for code and tables, whose rows cannot be cut."""
    code = re.compile(r"^ *```.*?^ *```", re.M | re.S)
    prose = code.sub(lambda block: "\n" * block[0].count("\n"), page.read_text("utf-8"))
    numbered = enumerate(prose.splitlines(), start=1)
    assert [n for n, line in numbered if len(line) > 125 and not line.startswith("|")] == []


def test_the_page_of_options_is_that_of_the_code(capsys):
    cli.main(["options", "--markdown"])
    assert capsys.readouterr().out == (REPOSITORY / "docs/options.md").read_text("utf-8")


def test_the_page_of_options_has_all_of_our_options():
    page = (REPOSITORY / "docs/options.md").read_text("utf-8")
    for found in (components()["criterion"], components()["task"]):
        for component in found.values():
            declared = vars(component)["__dataclass"]
            theirs = {x for base in declared.__mro__ if is_fairseqs(base) for x in vars(base)}
            for name in {each.name for each in fields(declared)} - theirs:
                interpolated = str(getattr(declared, name)).startswith("${")
                assert interpolated or f"`--{name.replace('_', '-')}`" in page


def option_tables():
    """The options of each table of the page of options, by heading."""
    page = (REPOSITORY / "docs/options.md").read_text("utf-8")
    tables = {}
    for section in page.split("\n## ")[1:]:
        tables[section.splitlines()[0]] = re.findall(r"^\| `(--[\w-]+)` \|", section, re.M)
    return tables


def test_the_page_of_options_says_each_default_of_a_method():
    page = (REPOSITORY / "docs/options.md").read_text("utf-8")
    silent = [
        row
        for section in page.split("\n## ")[1:]
        if not section.startswith("`--")
        for row in re.findall(r"^\| `--.*", section, re.M)
        if "default: " not in row
    ]
    assert silent == []


def test_the_criterion_of_all_losses_has_each_weight():
    weights = {flag(each.name) for loss in LOSSES for each in loss.weight_options}
    assert weights <= set(option_tables()["`--criterion syntax_cross_entropy`"])


def test_the_page_of_options_has_each_once_a_table():
    twice = {
        heading: [name for name in options if options.count(name) > 1]
        for heading, options in option_tables().items()
    }
    assert {heading: names for heading, names in twice.items() if names} == {}


@pytest.mark.parametrize(
    ("name", "headings"),
    [
        # What methods share stands with each of them, but for the labels of columns.
        ("--dependency-label-dim", ["Dependency-supervised", "Linguistically informed"]),
        ("--feature-upos", ["The labels of columns"]),
        # What architectures share is said of both.
        ("--conditional-gru", ["`--arch rnn_search` and the other RNNs, `--arch syntax_hybrid`"]),
        ("--encoder-embed-dim", ["`--arch rnn_search`"]),
    ],
)
def test_shared_options_stand_where_a_reader_finds_them(name, headings):
    found = [heading for heading, options in option_tables().items() if name in options]
    assert len(found) == len(headings)
    assert all(map(str.startswith, found, headings))


def test_the_page_of_training_has_the_weights_of_all_losses():
    weights = [each.name for loss in LOSSES for each in loss.weight_options]
    text = page("docs/training.md")
    assert [name for name in weights if f"`{flag(name)}`" not in text] == []


def is_fairseqs(declared):
    return declared.__module__.startswith("fairseq.")


def page(name: str) -> str:
    return (REPOSITORY / name).read_text("utf-8")


def rows_of(text: str, name: str) -> list[str]:
    """The rows of tables whose first cell has the name as code."""
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    return [row for row in rows if f"`{name}`" in row.split("|")[1]]


@pytest.mark.parametrize(
    "method", [method for method in METHODS if method.presets], ids=lambda method: method.name
)
def test_every_method_has_its_place(method):
    """In the README's table, the site, and an example of its own."""
    presets = ", ".join(method.presets)
    assert any(rows_of(page("README.md"), arch) for arch in method.presets), (
        f"README.md: add a row of {presets} to the table of methods"
    )
    for arch in method.presets:
        examples = [
            path.parent.name
            for path in (REPOSITORY / "examples").glob("*/README.md")
            if arch in path.read_text("utf-8")
        ]
        assert any(f"examples/{name}/README.md" in page("site/mkdocs.yml") for name in examples), (
            f"name {arch} in the README.md of a folder of examples, which site/mkdocs.yml lists"
        )
