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
    with Progress(None, "train.conllu", "sentences", 4) as bar:
        bar.update(1)
    said = progress.sys.stderr.getvalue()
    assert "train.conllu:" in said
    assert re.search(r"25%.* 1/4 ", said)


def test_in_a_file_there_is_a_line_now_and_then(monkeypatch, capsys):
    with Progress(None, "train.conllu", "sentences", 4000) as lines:
        lines.update(200)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 1e-6)
    with Progress(None, "train.conllu", "sentences", 4000) as lines:
        lines.update(1200)
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("train.conllu: 1,200 of 4,000 sentences, ")
    lines.n = 400
    assert lines.line(4.0).endswith("400 of 4,000 sentences, 100.0 a second, about 36 seconds left")
    assert lines.line(60.0).endswith(", 6.7 a second, about 9 minutes left")
    lines.n = 0
    assert lines.line(60.0) == "train.conllu: 0 of 4,000 sentences"


def test_items_are_counted_as_they_are_taken(monkeypatch, capsys):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 1e-6)
    assert list(Progress((letter for letter in "ab"), "words of train.en", "lines")) == ["a", "b"]
    first, second = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"words of train\.en: 1 lines, [\d,.]+ a second", first)
    assert second.startswith("words of train.en: 2 lines, ")
