"""Options that do nothing without others are refused, before any file is read."""

import pytest
from translations import refused

IDLE = [
    ("score x --reference y --confidence-n 5", "--confidence-n does nothing without --confidence"),
    ("score x --reference y --seed 5", "--seed does nothing without --confidence"),
    (
        "score x -r y --sentence-metric z",
        "--sentence-metric does nothing without",
    ),
    (
        "compare x y -r z --sentence-lower",
        "--sentence-lower does nothing without",
    ),
    ("report x -r z --sentence-lower", "--sentence-lower does nothing without"),
    ("average x --by epochs --output y", "--by does nothing without --last"),
    ("chunk --train x --output y --workers 2", "--workers does nothing without --input"),
    ("chunk --trees x --output y --stanza-dir z", "--stanza-dir does nothing without --input"),
    ("chunk --trees x --output y --by rules", "--by does nothing without --input"),
    ("chunk --score x --num-shards 2 --shard-id 1", "--num-shards does nothing without --input"),
    (
        "chunk --input x --output y --stanza-model pos=z",
        "--stanza-model pos=z: is no model of chunks, which are made here",
    ),
    ("chunk --input x --output y --max-steps 3", "--max-steps does nothing without --train"),
]


@pytest.mark.parametrize(("command", "said"), IDLE)
def test_idle_options(command, said):
    assert refused(*command.split()).startswith(said)
