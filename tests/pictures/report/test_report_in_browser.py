"""The page in headless Chromium: nothing is wider than the screen, and nothing is fetched."""

import re

import pytest
from browser import BROWSER, Browser
from report_files import arguments, write_all

from syntax_nmt.cli import main

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no browser: chromium is not installed"),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Shows the report."""
    folder = tmp_path_factory.mktemp("browser")
    write_all(folder)
    main([*map(str, ["report", *arguments(folder), "--sentences", "2,3,4"])])
    browser = Browser(folder / "profile")
    browser.open((folder / "report.html").as_uri())
    browser.value("for (const part of document.querySelectorAll('details')) part.open = true")
    yield browser
    browser.close()


@pytest.mark.parametrize("width", [360, 768, 1100, 1400])
def test_the_page_is_no_wider_than_the_screen(browser, width):
    browser.resize(width, 900)
    assert browser.value("document.documentElement.scrollWidth") <= width
    shown = (
        "[...document.querySelectorAll('svg')].filter(s => s.getBoundingClientRect().width > 99)"
    )
    assert browser.value(f"{shown}.length") == 19
    assert browser.value("performance.getEntriesByType('resource').length") == 0


def test_charts_are_as_wide_as_the_text(browser):
    browser.resize(1400, 900)
    charts = "[...document.querySelectorAll('#length .curves svg')]"
    edges = browser.value(f"{charts}.slice(0, 2).map(s => s.getBoundingClientRect())"
                          ".flatMap(box => [box.left, box.right])")  # fmt: skip
    text = "document.querySelector('#comparison p').getBoundingClientRect()"
    for edge, of_text in ((edges[0], "left"), (edges[3], "right")):
        assert abs(edge - browser.value(f"{text}.{of_text}")) < 3
    browser.resize(360, 900)
    widths = browser.value(f"{charts}.map(s => s.getBoundingClientRect().width)")
    assert all(320 < width < 330 for width in widths)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dark_and_light(browser, scheme):
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.call("Emulation.setEmulatedMedia", features=[feature])
    ground, letters = (
        sum(map(int, re.findall(r"\d+", browser.value(f"getComputedStyle(document.body).{name}"))))
        for name in ("backgroundColor", "color")
    )
    assert (ground < 100) == (scheme == "dark")
    assert (letters > 600) == (scheme == "dark")
