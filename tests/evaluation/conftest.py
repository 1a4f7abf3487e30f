"""A data-bin folder with a small untrained model that has supervised heads."""

from __future__ import annotations

import pytest
from parser_files import PIECES, Parser, binarise
from small_models import build, save_checkpoint


@pytest.fixture(scope="session")
def parser(tmp_path_factory) -> Parser:
    folder = tmp_path_factory.mktemp("parser")
    data = binarise(folder, PIECES, PIECES)
    # Its side files are not there: parsing must not ask for them.
    model, _, cfg = build(data, "dependency_transformer", "--load-dependencies")
    checkpoint = save_checkpoint(folder / "heads.pt", model, cfg)
    model, _, cfg = build(data, "syntax_transformer")
    return Parser(
        data, folder / "test.src", checkpoint, save_checkpoint(folder / "no.pt", model, cfg)
    )


@pytest.fixture
def refused(request):
    """Runs the command of a file, which must end with one line; gives that line."""
    command = request.getfixturevalue(request.module.COMMAND)

    def run(*arguments, **options):
        with pytest.raises(SystemExit) as stopped:
            command(*arguments, **options)
        message = str(stopped.value.code)
        assert message.startswith(("syntax-nmt: error: ", "syntax_nmt: error: "))
        assert "\n" not in message
        return message

    return run
