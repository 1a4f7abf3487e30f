"""The page in headless Chromium: nothing is wider than the screen, and nothing is fetched."""

import re
import shutil
import subprocess

import pytest
from report_files import arguments, write_all

from syntax_nmt.cli import main

_NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((path for name in _NAMES if (path := shutil.which(name))), None)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no browser: chromium is not installed"),
]

# The page has no script; a page around it measures.
_FRAME = """<!doctype html><html><body style="margin:0">
<iframe id="page" src="report.html" style="width:{width}px; height:800px; border:0"></iframe>
<pre id="found"></pre><script>
const frame = document.getElementById("page");
frame.addEventListener("load", () => {{
  const inside = frame.contentDocument;
  for (const part of inside.querySelectorAll("details")) part.open = true;
  const style = (name) => frame.contentWindow.getComputedStyle(inside.querySelector(name));
  const loaded = frame.contentWindow.performance.getEntriesByType("resource").length;
  document.getElementById("found").textContent = [
    "wide=" + inside.documentElement.scrollWidth, "loaded=" + loaded,
    "pictures=" + [...inside.querySelectorAll("svg")].filter(
      (svg) => svg.getBoundingClientRect().width > 100).length,
    "ground=" + style("body").backgroundColor, "letters=" + style("body").color].join(";") + ";";
}});
</script></body></html>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    write_all(folder)
    main([*map(str, ["report", *arguments(folder), "--sentences", "2,3,4"])])
    return folder


def look(folder, width, dark=False):
    """What the page around finds."""
    (folder / "frame.html").write_text(_FRAME.format(width=width), encoding="utf-8")
    done = subprocess.run(
        [
            BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom",
            "--allow-file-access-from-files", "--virtual-time-budget=20000",
            f"--user-data-dir={folder / 'profile'}", f"--window-size={width + 100},900",
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
            (folder / "frame.html").as_uri(),
        ],
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    (found,) = re.findall(r'<pre id="found">(.*?)</pre>', done.stdout)
    return dict(re.findall(r"(\w+)=([^;]+);", found))


@pytest.mark.parametrize("width", [360, 390, 1280])
def test_the_page_is_no_wider_than_the_screen(folder, width):
    found = look(folder, width)
    assert int(found["wide"]) <= width
    assert int(found["pictures"]) >= 20
    assert found["loaded"] == "0"


def test_dark_and_light(folder):
    for dark in (False, True):
        found = look(folder, 800, dark)
        ground, letters = (
            sum(map(int, re.findall(r"\d+", found[name]))) for name in ("ground", "letters")
        )
        assert (ground < 100) == dark
        assert (letters > 600) == dark
