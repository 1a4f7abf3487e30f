"""Parsers that can be chosen, and programs: what is found, loaded, refused, and never run."""

import json
import subprocess
import sys
import time
from dataclasses import fields
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from commands import REPOSITORY
from translations import refused

from syntax_nmt.data.conllu import parse_block
from syntax_nmt.errors import UserError
from syntax_nmt.parsing import parser as interface
from syntax_nmt.parsing.analyser import Columns, tree_of
from syntax_nmt.parsing.config import ConfiguredParsers, ParserConfig
from syntax_nmt.parsing.parsers import PARSERS, ModelPaths, find_parser, loaded_analyser
from syntax_nmt.parsing.program import ProgramCommand
from syntax_nmt.task.options import SyntaxTranslationConfig

OTHERS = [name for name in PARSERS if name != "stanza"]

# ---- columns of words


def columns(*heads, relation="root"):
    return [Columns(head, relation if head == 0 else "dep") for head in heads]


def test_of_several_roots_one_with_letters_stays():
    """As in a file with --attach-roots: the others depend on it, and are no roots by name."""
    words = ["!", "go", "stay", "."]
    tree = tree_of(words, columns(0, 0, 0, 3, relation="ROOT"))
    assert tree.heads == (1, 1, 1, 2)
    assert tree.relations == ("punct", "ROOT", "parataxis", "dep")


@pytest.mark.parametrize("heads", [(2, 1), (0,), (0, 5), (2, 3, 2), (0, 3, 2), (0, -1)])
def test_what_is_no_tree(heads):
    assert tree_of(["a", "b", "c"][: max(2, len(heads))], columns(*heads)) is None


def test_values_hold_no_tab_and_no_line_end():
    tree = tree_of(["a"], [Columns(0, "r\to", "\n", "l  m", "", "A=B\r")])
    assert (tree.relations, tree.upos, tree.lemmas) == (("r o",), ("_",), ("l m",))
    assert (tree.xpos, tree.feats) == (("_",), ("A=B",))


# ---- packages and models


@pytest.mark.parametrize("name", OTHERS)
def test_a_missing_package_is_one_line(monkeypatch, tmp_path, name):
    def version(package):
        raise PackageNotFoundError

    monkeypatch.setattr(interface, "version", version)
    (tmp_path / "text").write_text("a b\n")
    arguments = ("parse", "--lang", "en", "--input", tmp_path / "text", "--output", tmp_path / "o")
    said = refused(*arguments, "--parser", name, "--parser-model", tmp_path / "text")
    package = {"udpipe": "ufal.udpipe", "spacy": "spacy"}[name]
    assert said.endswith(f"needs {package}, which is not installed: pip install {package}")


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize(
    ("model", "said"), [(None, "needs a model of language 'en'"), ("gone", "gone: no such model")]
)
def test_a_missing_model_is_one_line(monkeypatch, tmp_path, name, model, said):
    monkeypatch.setattr(interface, "version", lambda package: "1.0")
    path = None if model is None else tmp_path / model
    with pytest.raises(UserError, match=said):
        find_parser("dependencies", "en", ModelPaths(name, path))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--parser-model", "x"), "--parser-model does nothing without --parser"),
        (("--parser", "stanza", "--parser-model", "x"), "is no option of Stanza"),
        (("--parser", "udpipe", "--parse-command", "cat"), "exclude each other"),
        (("--parse-seconds", "3"), "--parse-seconds does nothing without --parse-command"),
        (("--parser", "udpipe", "--kind", "constituents"), "makes dependencies, and constituents"),
        (("--parse-command", "cat", "--kind", "constituents"), "makes dependencies, and constit"),
        (("--parser", "udpipe", "--stanza-model", "pos=x"), "Stanza does not parse: leave it out"),
        (("--parse-command", "cat 'x"), "correct the quotes"),
        (("--parse-command", ""), "is empty"),
        (("--parse-command", "no-such-program x"), "'no-such-program': no such program"),
        (("--parse-command", "~/x | y"), "'~/x': no such program"),
    ],
)
def test_options_that_do_not_go_together(tmp_path, options, said):
    (tmp_path / "text").write_text("a b\n")
    arguments = ("parse", "--lang", "en", "--input", tmp_path / "text", "--output", tmp_path / "o")
    assert said in refused(*arguments, *options)
    assert not (tmp_path / "o").exists()


LOADED = """
import sys
from syntax_nmt.cli import main
from syntax_nmt import load
import syntax_nmt.task.source_parser, syntax_nmt.preparation.preparation, syntax_nmt.serve.systems
try:
    main(["parse", "--lang", "en", "--input", "text", "--output", "out", "--stanza-dir", "."])
except SystemExit as end:
    assert "no Stanza models" in str(end), end
print(sorted({"spacy", "ufal", "ufal.udpipe", "thinc"} & set(sys.modules)))
"""


def test_no_package_is_imported_without_its_option(tmp_path):
    (tmp_path / "text").write_text("a b\n")
    command = [sys.executable, "-c", LOADED]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


def test_a_file_that_is_no_model_of_udpipe(tmp_path):
    pytest.importorskip("ufal.udpipe", reason="needs UDPipe: pip install ufal.udpipe")
    for content in (b"", b"text", b"\x0amorphodita_parsito" * 99, bytes(range(256)) * 40):
        (tmp_path / "x.udpipe").write_bytes(content)
        found = find_parser("dependencies", "en", ModelPaths("udpipe", tmp_path / "x.udpipe"))
        with pytest.raises(UserError, match=r"x\.udpipe: is no model of UDPipe 1"):
            loaded_analyser(found, "cpu", 1000)


# ---- spaCy's configurations build taggers and parsers, and nothing else


@pytest.fixture(scope="module")
def blank(tmp_path_factory) -> Path:
    """An untrained parser of spaCy."""
    spacy = pytest.importorskip("spacy", reason="needs spaCy: pip install spacy")
    folder = tmp_path_factory.mktemp("spacy") / "model"
    made = spacy.blank("en")
    made.add_pipe("parser").add_label("dep")
    made.initialize()
    made.to_disk(folder)
    return folder


def load_spacy(folder: Path, lang: str = "en"):
    found = find_parser("dependencies", lang, ModelPaths("spacy", folder))
    loaded_analyser.cache_clear()
    return loaded_analyser(found, "cpu", 1000)


def changed(blank: Path, tmp_path: Path, *changes: tuple[str, str]) -> Path:
    """The folder with another configuration."""
    folder = tmp_path / "model"
    folder.symlink_to(blank)
    config = (blank / "config.cfg").read_text()
    folder.unlink()
    folder.mkdir()
    for path in blank.iterdir():
        (folder / path.name).symlink_to(path)
    (folder / "config.cfg").unlink()
    for old, new in changes:
        assert old in config
        config = config.replace(old, new)
    (folder / "config.cfg").write_text(config)
    return folder


def test_one_tree_a_line_whatever_ends_of_sentences(blank):
    """An untrained parser gives trees of one root all the same."""
    analyser = load_spacy(blank)
    sentences = [["a"], ["go", "!", "stay", "!"], ["x" * 201], ["b", "."] * 30]
    trees = analyser.analyse(sentences)
    assert [tree and len(tree) for tree in trees] == [1, 4, None, 60]
    for tree in (trees[0], trees[1], trees[3]):
        assert sum(head == place for place, head in enumerate(tree.heads)) == 1


HOSTILE = {
    "a callback": (
        "before_creation = null",
        '[nlp.before_creation]\n@callbacks = "spacy.copy_from_base_model.v1"\ntokenizer = "os"\n',
    ),
    "a callback in braces": ("before_creation = null", 'before_creation = {"@callbacks":"x.v1"}'),
    "a callback in a list": ("before_creation = null", 'before_creation = [{"@callbacks":"x.v1"}]'),
    "another tokenizer": ('"spacy.Tokenizer.v1"', '"mine.Tokenizer.v1"'),
    "another model": ("spacy.TransitionBasedParser.v2", "PyTorchWrapper.v3"),
    "a function behind a variable": ('"spacy.Tokenizer.v1"', '"${paths.train}"'),
    "a function in another section": (
        '@scorers = "spacy.parser_scorer.v1"',
        "nested = ${mine.section}\n\n[mine]\n\n[mine.section]\n@misc = "
        '"spacy.LookupsDataLoader.v1"\nlang = "en"\ntables = ["x"]',
    ),
    "another component": ('factory = "parser"', 'factory = "transformer"'),
    "a component of another model": ('factory = "parser"', 'source = "en_core_web_sm"'),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_other_functions_of_a_configuration_are_not_called(blank, tmp_path, name, monkeypatch):
    import spacy

    old, new = HOSTILE[name]
    folder = changed(blank, tmp_path, (old, new))
    monkeypatch.setattr(spacy, "load", lambda *_, **__: pytest.fail("loaded"))
    with pytest.raises(UserError, match=r"is not among (those|the functions)"):
        load_spacy(folder)


def test_a_model_of_another_language_or_none(blank, tmp_path):
    with pytest.raises(UserError, match="is of language 'en', the text is of language 'de'"):
        load_spacy(blank, "de")
    with pytest.raises(UserError, match=r"is no configuration of spaCy"):
        load_spacy(changed(blank, tmp_path, ("[nlp]", "[other]")))


def test_the_folder_of_an_installed_model_is_one(blank, tmp_path):
    package = tmp_path / "en_toy"
    package.mkdir()
    (package / "en_toy-1.0.0").symlink_to(blank)
    found = find_parser("dependencies", "en", ModelPaths("spacy", package))
    assert found.model == package / "en_toy-1.0.0"


# ---- parser.json


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"parser": "program"}, "one of stanza, udpipe, spacy"),
        ({"parser": ["udpipe"]}, "one of stanza, udpipe, spacy"),
        ({"parse_command": "touch ran"}, "unknown key 'parse_command'"),
        ({"command": "touch ran"}, "unknown key 'command'"),
        ({"parser": "touch ran"}, "one of stanza, udpipe, spacy"),
    ],
)
def test_no_file_names_a_program(tmp_path, values, said):
    """Nor does a prepared folder: `prepare` does not run what its record says."""
    path = tmp_path / "parser.json"
    path.write_text(json.dumps({"lang": "en", "subwords": "none", **values}))
    with pytest.raises(UserError, match=said):
        ParserConfig.read(path)
    assert not (tmp_path / "ran").exists()


def test_programs_come_from_command_lines_alone():
    """Only the options of commands make one; no task, model or checkpoint has such an option."""
    sources = (REPOSITORY / "syntax_nmt").rglob("*.py")
    makers = [path for path in sources if "ProgramCommand.of(" in path.read_text("utf-8")]
    assert [path.name for path in makers] == ["annotating.py"]
    assert not [field.name for field in fields(SyntaxTranslationConfig) if "command" in field.name]


def test_models_that_a_file_names(tmp_path, monkeypatch):
    monkeypatch.setattr(interface, "version", lambda package: "1.2.3")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "en.udpipe").write_bytes(b"x")
    (tmp_path / "models" / "tagger.pt").write_bytes(b"x")
    (tmp_path / "models" / "constituency.pt").write_bytes(b"x")
    paths = ModelPaths("udpipe", tmp_path / "models" / "en.udpipe", tmp_path / "models")
    models = [find_parser(task, "en", paths) for task in ("dependencies", "constituents")]
    assert models[0].made_by.startswith("UDPipe 1.2.3, en.udpipe (")
    written = ParserConfig.of(models, "none")
    written.write(tmp_path / "parser.json")
    values = json.loads((tmp_path / "parser.json").read_text())
    assert values["model"] == "models/en.udpipe"
    read = ParserConfig.read(tmp_path / "parser.json")
    assert [read.models(model.task) for model in models] == models
    before = models[0].made_by
    assert read.models("dependencies").made_by == before
    (tmp_path / "models" / "en.udpipe").write_bytes(b"y")
    assert read.models("dependencies").made_by != before
    (tmp_path / "models" / "en.udpipe").unlink()
    with pytest.raises(UserError, match=r"parser\.json: .*en\.udpipe: no such model"):
        ConfiguredParsers.read(tmp_path / "parser.json").find("dependencies")


# ---- programs

SENTENCES = [f"w{number} is {'long ' * (number % 7)}here .".split() for number in range(300)]
GROUPS = [SENTENCES[start : start + 30] for start in range(0, 300, 30)]
PROGRAM = """
import sys, time, os, signal

def block(words):
    rows = [f"{x}\\t{w}\\t_\\t_\\t_\\t_\\t{x - 1}\\tdep\\t_\\t_\\n" for x, w in enumerate(words, 1)]
    return "".join(rows) + "\\n"

"""
ANSWERS = {
    "at the end": "for line in sys.stdin.read().splitlines(): print(block(line.split()), end='')",
    "in its own time": "for line in sys.stdin: print(block(line.split()), end='')",
    "at once": "for line in sys.stdin: print(block(line.split()), end='', flush=True)",
    "byte by byte": """
text = "".join(block(line.split()) for line in sys.stdin)
for start in range(0, len(text), 777): os.write(1, text[start:start + 777].encode())
""",
    "with comments and carriage returns": """
for line in sys.stdin:
    print("# newdoc\\n# text = x\\n" + block(line.split()), end='\\n\\n')
""",
}


def command(tmp_path: Path, code: str, seconds: int = 20) -> ProgramCommand:
    file = tmp_path / "program with spaces.py"
    file.write_text(PROGRAM + code)
    return ProgramCommand.of(f"{sys.executable} '{file}'", "en", seconds)


def parsed(program: ProgramCommand, programs: int = 1):
    found = list(program.parse(iter(GROUPS), programs))
    assert [sentences for sentences, _ in found] == GROUPS
    return [tree for _, trees in found for tree in trees]


@pytest.mark.parametrize("programs", [1, 3])
@pytest.mark.parametrize("answers", ANSWERS)
def test_whenever_a_program_answers(tmp_path, answers, programs):
    trees = parsed(command(tmp_path, ANSWERS[answers]), programs)
    assert [list(tree.words) for tree in trees] == SENTENCES
    assert all(tree.heads == (0, *range(len(tree) - 1)) for tree in trees)


def test_more_text_than_any_pipe_holds_is_no_deadlock(tmp_path):
    """The program answers twice what it reads, and both pipes are full at times."""
    sentences = [["word"] * 200] * 2000
    program = command(tmp_path, ANSWERS["in its own time"])
    ((_, trees),) = program.parse([sentences], 1)
    assert len(trees) == 2000


def test_words_are_spelled_for_it_and_come_back(tmp_path):
    """It reads treebanks' spelling; other tokens are transferred; several roots become one."""
    code = """
for line in sys.stdin:
    assert line in ("I do n't - well\\n", "no more\\n", "zu dem\\n"), line
    if line.startswith("I"):
        print(block(["I", "don't", "-", "well"]), end="")
    elif line.startswith("no"):
        print("# parse = none\\n")
    else:
        print("1\\tzu\\t_\\t_\\t_\\t_\\t0\\troot\\t_\\t_\\n2\\tdem\\t_\\t_\\t_\\t_\\t0\\troot\\t_\\t_\\n")
"""
    sentences = [["I", "don", "'t", "@-@", "well"], ["x" * 201], ["no", "more"], ["zu", "dem"]]
    ((_, trees),) = command(tmp_path, code).parse([sentences], 1)
    assert trees[0].heads == (0, 0, 1, 1, 3)
    assert trees[1:3] == [None, None]
    assert (trees[3].heads, trees[3].relations) == ((0, 0), ("root", "parataxis"))


BREAKS = {
    "dies": ("os.kill(os.getpid(), signal.SIGKILL)", r"was killed \(SIGKILL\) after \d+ sentences"),
    "ends": ("sys.exit(3)", r"ended with status 3 after \d+ sentences"),
    "hangs": ("time.sleep(1000)", r"has been silent for 1 seconds after \d+ sentences"),
    "closes": ("os.close(1); time.sleep(1000)", r"closed its output after \d+ sentences"),
    "skips": ("words = next(sys.stdin).split()", r"sentence \d+ has other words than it was given"),
    "repeats": ("print(block(words), end='')", r"sentence \d+ has other words than it was given"),
    "babbles": ("print('hello')", r"output of python.*:\d+: 1 tab-separated columns"),
    "writes bytes": ("sys.stdout.flush(); os.write(1, b'\\xff\\n')", r"is not UTF-8"),
    "goes in a circle": (
        "print(block(words).replace('\\t0\\t', '\\t2\\t'), end=''); continue",
        r"output of python.*:\d+: no word of the \d has HEAD 0",
    ),
}


@pytest.mark.parametrize("programs", [1, 2])
@pytest.mark.parametrize("how", BREAKS)
def test_a_program_that_breaks_is_one_line(tmp_path, how, programs):
    broken, said = BREAKS[how]
    code = f"""
for number, line in enumerate(sys.stdin, start=1):
    words = line.split()
    if number == 101:
        sys.stdout.flush()
        {broken}
    print(block(words), end="")
"""
    began = time.monotonic()
    with pytest.raises(UserError, match=said) as caught:
        parsed(command(tmp_path, code, 1 if how == "hangs" else 20), programs)
    assert "\n" not in str(caught.value)
    assert time.monotonic() - began < 15


def test_more_answers_than_sentences(tmp_path):
    code = ANSWERS["in its own time"] + "\nprint(block(['more']), end='')\n"
    with pytest.raises(UserError, match=r"answers more sentences than it was given \(300\)"):
        parsed(command(tmp_path, code))


def test_programs_are_ended_with_their_own_programs(tmp_path):
    """Also where the caller stops early: nothing goes on running."""
    code = f"""
import subprocess
child = subprocess.Popen(["sleep", "1000"])
open({str(tmp_path / "pids")!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
{ANSWERS["at once"]}
time.sleep(1000)
"""
    running = command(tmp_path, code).parse(iter(GROUPS), 1)
    next(running)
    running.close()
    left = (tmp_path / "pids").read_text().split()
    limit = time.monotonic() + 10
    while (left := list(filter(is_running, left))) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not left


def is_running(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] not in "XZ"
    except OSError:
        return False


def test_no_shell_reads_the_command(tmp_path, monkeypatch):
    """Words of a shell are words of the program."""
    monkeypatch.chdir(tmp_path)
    code = "assert sys.argv[1:] == ['$HOME', ';', 'touch', 'ran', '>', 'x'], sys.argv\n"
    program = command(tmp_path, code + ANSWERS["at once"])
    words = (*program.words, "$HOME", ";", "touch", "ran", ">", "x")
    assert len(parsed(ProgramCommand(words, "en", 20))) == 300
    assert ProgramCommand.of("cat $HOME ; touch ran > x", "en", 1).words[1:] == words[-6:]
    assert not (tmp_path / "ran").exists()


def test_blocks_of_the_test_are_trees():
    """What the programs above print."""
    rows = [f"{x}\tw\t_\t_\t_\t_\t{x - 1}\tdep\t_\t_" for x in (1, 2, 3)]
    assert parse_block(rows, "x", 1).heads == (0, 0, 1)
