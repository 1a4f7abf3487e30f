"""Long work says how far it is: on a terminal, and in a file."""

import io
import re

from syntax_nmt import progress
from syntax_nmt.progress import Progress


class Terminal(io.StringIO):
    """A terminal that does not know its width."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_there_is_a_bar(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    with Progress(4, "train.conllu", "sentences") as bar:
        bar.update(1)
    said = progress.sys.stderr.getvalue()
    assert "train.conllu:" in said
    assert re.search(r"25%.* 1/4 ", said)


def test_in_a_file_there_is_a_line_now_and_then(monkeypatch, capsys):
    with Progress(4000, "train.conllu", "sentences") as lines:
        lines.update(200)
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
        lines.update(1000)
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("train.conllu: 1,200 of 4,000 sentences, ")
    lines.done = 400
    assert lines.line(4.0).endswith("400 of 4,000 sentences, 100.0 a second, about 36 seconds left")
    assert lines.line(60.0).endswith(", 6.7 a second, about 9 minutes left")
    lines.done = 0
    assert lines.line(60.0) == "train.conllu: 0 of 4,000 sentences"
