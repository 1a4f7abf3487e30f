"""The page of `syntax-nmt serve` in Chromium, with small untrained models."""

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")
from browser import BROWSER, Browser
from served import served
from small_models import build, enlarge, save_checkpoint

from syntax_nmt.inference.loading import load
from syntax_nmt.serve.application import Limits
from syntax_nmt.serve.systems import ServedSystem

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no browser: chromium is not installed"),
]
HOSTILE = "<script>document.title = 'hacked'</script><img src=x onerror=document.title='hacked'>"
SYSTEMS = {"heads": ("dependency_transformer",), HOSTILE: ("latent_phrase_transformer",)}


@pytest.fixture(scope="module")
def systems(prepared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    found = []
    for i, (name, (arch, *options)) in enumerate(SYSTEMS.items()):
        model, _, cfg = build(prepared.data, arch, *options)
        path = save_checkpoint(folder / f"{i}.pt", enlarge(model, 2.0), cfg)
        found.append(ServedSystem(name, load(path, prepared.folder, device="cpu"), 2))
    return found


@pytest.fixture(scope="module")
def address(systems):
    with served(systems, Limits(characters=6000, seconds=30)) as address:
        yield address


@pytest.fixture
def page(tmp_path, address):
    browser = Browser(tmp_path / "profile")
    browser.open(address)
    browser.wait("document.querySelectorAll('section').length == 2")
    yield browser
    assert browser.value("document.title") == "Translations and their syntax"
    browser.close()


def text(prepared, line=0):
    return (prepared.corpus / "test.src").read_text("utf-8").splitlines()[line]


def test_type_translate_and_point(page, prepared, tmp_path):
    page.type(text(prepared))
    page.wait("document.querySelectorAll('figure img').length == 2")
    alternatives = page.value("[...document.querySelectorAll('img')].map(i => i.alt).join('|')")
    assert " depends on " in alternatives
    assert "(" in alternatives
    assert page.value("[...document.images].every(i => i.complete && i.naturalWidth > 20)")
    shaded = "[...document.querySelectorAll('.words span')].filter(s => s.style.backgroundColor)"
    assert page.value(f"{shaded}.length") == 0
    page.point_at(".words span[tabindex]")
    page.wait(f"{shaded}.length > 0")
    page.screenshot(tmp_path / "wide.png")
    # By keyboard likewise: Tab goes from the text to the words.
    page.point_at("h1")
    page.wait(f"{shaded}.length == 0")
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab",
                  windowsVirtualKeyCode=9)  # fmt: skip
    assert page.value("document.activeElement.tabIndex == 0 && document.activeElement.ariaLabel")
    page.wait(f"{shaded}.length > 0")


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_wider_than_the_screen(page, prepared, width):
    page.resize(width, 800)
    page.type(" ".join(text(prepared, line) for line in range(4)))
    page.wait("document.querySelectorAll('figure img').length == 2")
    assert page.value("document.documentElement.scrollWidth") <= width


def test_editing_changes_what_is_shown(page, prepared):
    page.type(text(prepared))
    page.wait("document.querySelectorAll('figure img').length == 2")
    first = page.value("document.querySelector('img').alt")
    page.type(f" {text(prepared, 1)}")
    page.wait(f"document.querySelector('img')?.alt.length > {len(first)}")
    page.value("document.getElementById('text').select()")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="Delete", windowsVirtualKeyCode=46)
    page.wait("!document.querySelector('.sentence')")


def test_text_is_shown_and_never_run(page):
    page.type(HOSTILE)
    page.wait("document.querySelectorAll('.words').length >= 2")
    assert HOSTILE.replace(" ", "") in page.value("document.body.innerText").replace(" ", "")
    assert page.value("document.querySelectorAll('script').length") == 1
    assert page.value("performance.getEntriesByType('resource')"
                      ".every(e => e.name.startsWith(location.origin))")  # fmt: skip


def test_right_to_left_and_cjk(page):
    page.type("שלום עולם\n今日は良い天気です")
    page.wait("document.querySelectorAll('.sentence .words').length == 8")
    lines = "[...document.querySelector('section').querySelectorAll('.words')]"
    directions = page.value(f"{lines}.map(w => getComputedStyle(w).direction)")
    assert directions[0] == "rtl"
    assert directions[2] == "ltr"


def test_five_thousand_characters_on_a_line(page, prepared):
    line = text(prepared)
    page.type(" ".join([line] * (5000 // len(line)))[:5000])
    # A translation or a message, in every system.
    page.wait("document.querySelectorAll('section .sentence, section .error').length == 2", 90)
