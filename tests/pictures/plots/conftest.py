"""What the tests of pictures share."""

import pytest
from matplotlib import font_manager

from syntax_nmt.pictures.plots import fonts


@pytest.fixture
def nothing_installed(monkeypatch):
    """A machine with matplotlib's own fonts alone."""
    fonts._families.cache_clear()
    own = [entry for entry in font_manager.fontManager.ttflist if "mpl-data" in str(entry.fname)]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", own)
    monkeypatch.setattr(font_manager, "findSystemFonts", list)
    yield
    fonts._families.cache_clear()
