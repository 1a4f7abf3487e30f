"""`syntax-nmt options`: what `fairseq-train --help` leaves out."""

import pytest
from fairseq.models import ARCH_MODEL_REGISTRY

from syntax_nmt import cli
from syntax_nmt.commands.shared.components import components


def test_names(capsys):
    cli.main(["options"])
    said = capsys.readouterr().out.split()
    kinds = ["--arch:", "--task:", "--criterion:", "--tokenizer:", "--optimizer:"]
    assert {word for word in said if word.startswith("--")} == set(kinds)
    assert {"phrase_transformer", "syntax_translation", "chunk_cross_entropy"} <= set(said)
    assert {"syntax_words", "fused_adam"} <= set(said)
    assert "transformer" not in said


@pytest.mark.parametrize("name", [name for found in components().values() for name in found])
def test_every_component_lists_its_options(name, capsys):
    cli.main(["options", name])
    said = capsys.readouterr().out
    assert said.splitlines()[0].endswith(f" {name}")
    assert "\n  --" in said
    assert ("--dropout" in said) == (name in ARCH_MODEL_REGISTRY)


def test_what_an_architecture_presets(capsys):
    cli.main(["options", "phrase_transformer_tiny", "dependency_cross_entropy"])
    said = " ".join(capsys.readouterr().out.split())
    assert "fits the paper's Table 2) [phrase_transformer_tiny: 192]" in said
    assert "--criterion dependency_cross_entropy" in said
    assert "weight α of the child head's loss" in said


def test_unknown_name():
    with pytest.raises(SystemExit, match="error: transformer_tiny: unknown name"):
        cli.main(["options", "transformer_tiny"])
