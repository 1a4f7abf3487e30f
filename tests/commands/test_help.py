"""What `--help` and `syntax-nmt options` say of every option, at once; a mistake is one line."""

import argparse
import importlib
import subprocess
import sys

import pytest
from fairseq.data import encoders
from fairseq.models import ARCH_MODEL_REGISTRY
from nonempty import some

from syntax_nmt.cli import COMMANDS, main
from syntax_nmt.commands.plot import KINDS
from syntax_nmt.commands.shared.components import components
from syntax_nmt.inference.settings import TOKENIZERS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_says_what_it_is(command):
    parser = argparse.ArgumentParser()
    importlib.import_module(COMMANDS[command][0]).add_arguments(parser)
    for action in some(parser._actions):
        assert action.help, action.dest
        assert action.help == argparse.SUPPRESS or action.help[0].isalnum(), action.help


SLOW = {"torch", "fairseq", "stanza", "omegaconf", "matplotlib", "sacrebleu", "scipy", "spacy"}
SCORING = ("score", "compare", "report")  # take their choices from sacrebleu and the tests
HELP = """
import sys
from syntax_nmt.cli import main
for command in {commands}:
    try:
        main([*command.split(), "--help"])
    except SystemExit as end:
        assert not end.code, command
    packages = {{name.partition(".")[0] for name in sys.modules}}
    print("loaded by", command.replace(" ", "."), *packages)
"""


def test_help_loads_no_library_that_takes_seconds():
    """Nor do all together: one process asks for one after another."""
    plots = [f"plot {kind}" for kind in KINDS]
    commands = [*(name for name in COMMANDS if name not in SCORING), *plots, *SCORING]
    program = HELP.format(commands=commands)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [line.split()[2:] for line in done.stdout.splitlines() if line.startswith("loaded by ")]
    loaded = {command: SLOW.intersection(names) for command, *names in rows}
    assert set(loaded) == {each.replace(" ", ".") for each in commands}
    for command, names in loaded.items():
        assert names <= ({"sacrebleu", "scipy"} if command in SCORING else set()), command


def test_all_registered_tokenizers_can_be_chosen():
    assert list(TOKENIZERS) == sorted(encoders.TOKENIZER_REGISTRY)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_mistake_is_one_line_that_names_the_option(command, capsys):
    """Without the list of all options, which is longer than a screen."""
    with pytest.raises(SystemExit) as end:
        main([command, "--no-such-option"])
    assert end.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"syntax-nmt {command}: error: ")
    assert line.endswith(f"(syntax-nmt {command} --help lists the options)")


def test_an_unknown_option_gets_the_one_that_it_is_like(capsys):
    with pytest.raises(SystemExit):
        main(["score", "out.txt", "--references", "test.de"])
    assert "--references test.de; did you mean --reference?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "given", [["--\x1b[31mno"], ["score", "--\x1b[31m\nno"], ["plot", "\x9bx"]]
)
def test_a_mistake_sends_no_control_characters_to_the_terminal(given, capsys):
    with pytest.raises(SystemExit):
        main(given)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isprintable()


def test_options_lists_all_components(capsys):
    main(["options"])
    said = capsys.readouterr().out.split()
    kinds = ["--arch:", "--task:", "--criterion:", "--tokenizer:", "--optimizer:"]
    assert {word for word in said if word.startswith("--")} == set(kinds)
    assert {"phrase_transformer", "syntax_translation", "chunk_cross_entropy"} <= set(said)
    assert {"syntax_words", "fused_adam"} <= set(said)
    assert "transformer" not in said


@pytest.mark.parametrize("name", [name for found in components().values() for name in found])
def test_options_of_every_component(name, capsys):
    main(["options", name])
    said = capsys.readouterr().out
    assert said.splitlines()[0].endswith(f" {name}")
    assert "\n  --" in said
    assert ("--dropout" in said) == (name in ARCH_MODEL_REGISTRY)


def test_options_say_what_an_architecture_presets(capsys):
    main(["options", "phrase_transformer_tiny", "dependency_cross_entropy"])
    said = " ".join(capsys.readouterr().out.split())
    assert "fits the paper's Table 2) [phrase_transformer_tiny: 192]" in said
    assert "--criterion dependency_cross_entropy" in said
    assert "weight α of the child head's loss" in said


def test_a_component_that_is_not_known():
    with pytest.raises(SystemExit, match="error: transformer_tiny: unknown name"):
        main(["options", "transformer_tiny"])
