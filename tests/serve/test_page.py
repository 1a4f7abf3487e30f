"""The page of `syntax-nmt serve` in Chromium, with small untrained models."""

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")
from browser import BROWSER, Browser
from matplotlib.image import imread
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
SYSTEMS = {
    "heads": ("dependency_transformer",),
    HOSTILE: ("latent_phrase_transformer",),
    "factors": ("factor_transformer",),
}


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
    browser.wait("document.body.dataset.ready")
    yield browser
    assert browser.value("document.title") == "Translations and their syntax"
    browser.close()


def text(prepared, line=0):
    return (prepared.corpus / "test.src").read_text("utf-8").splitlines()[line]


SHADED = "[...document.querySelectorAll('.source span')].filter(s => s.style.backgroundColor)"
WORD = ".words span[tabindex]"


def test_type_translate_and_point(page, prepared, tmp_path):
    page.type(text(prepared))
    page.wait("document.querySelectorAll('figure img').length == 2")
    alternatives = page.value("[...document.querySelectorAll('img')].map(i => i.alt).join('|')")
    assert " depends on " in alternatives
    assert "(" in alternatives
    assert page.value("[...document.images].every(i => i.complete && i.naturalWidth > 20)")
    assert page.value(f"{SHADED}.length") == 0
    page.point_at(WORD)
    page.wait(f"{SHADED}.length > 0")
    page.screenshot(tmp_path / "wide.png")
    # By keyboard likewise: Tab goes from the text to the words.
    page.point_at("h1")
    page.wait(f"{SHADED}.length == 0")
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab",
                  windowsVirtualKeyCode=9)  # fmt: skip
    assert page.value("document.activeElement.tabIndex == 0 && document.activeElement.ariaLabel")
    page.wait(f"{SHADED}.length > 0")


def test_the_factors_of_each_word_stand_below_it(page, prepared):
    page.type(text(prepared))
    page.wait("document.querySelectorAll('.values').length")
    words = page.value("document.querySelectorAll('.values > div').length")
    assert page.value("document.querySelectorAll('.values > div > span').length") == 2 * words
    caption = page.value("document.querySelector('.values + figcaption').textContent")
    assert caption == "factors as predicted: upos, deprel"


def test_a_tap_shows_what_pointing_shows(page, prepared):
    page.resize(360, 800)
    page.type(text(prepared))
    page.wait(f"document.querySelectorAll('{WORD}').length")
    page.tap(WORD)
    page.wait(f"{SHADED}.length > 0")
    page.tap("h1")
    page.wait(f"{SHADED}.length == 0")


def test_the_source_stands_once_and_stays_as_it_was_typed(page, prepared):
    """Also while its words are shaded, however the tokeniser of a system cuts them."""
    typed = f"{text(prepared)}  ({text(prepared, 1)})…"
    page.type(typed)
    page.wait(f"document.querySelectorAll('{WORD}').length")
    sources = "[...document.querySelectorAll('.source')].map(s => s.textContent)"
    assert page.value(sources) == [typed]
    page.point_at(WORD)
    page.wait(f"{SHADED}.length > 0")
    assert page.value(sources) == [typed]
    assert page.value("document.querySelectorAll('article section').length") == len(SYSTEMS)
    weight = "getComputedStyle(document.querySelector('{}')).{}"
    for look in ("fontSize", "color"):
        looks = [page.value(weight.format(place, look)) for place in (".source", ".words")]
        assert looks[0] != looks[1]


def test_a_tree_that_is_cut_off_has_a_shade_at_the_edge(page, prepared, tmp_path):
    page.type(f"{text(prepared)} {text(prepared, 1)}")
    page.wait("document.querySelectorAll('figure img').length == 2")
    assert not edge_is_shaded(page, tmp_path)
    page.resize(360, 800)
    assert page.value("document.querySelector('.scroll').scrollWidth") > 360
    assert edge_is_shaded(page, tmp_path)
    page.value("document.querySelector('.scroll').scrollLeft = 9999")
    assert not edge_is_shaded(page, tmp_path)


def edge_is_shaded(page, folder):
    """Whether the right edge of the first picture differs from the ground."""
    page.screenshot(folder / "edge.png")
    box = "document.querySelector('.scroll').getBoundingClientRect()"
    x, y = (round(page.value(f"{box}.{side}")) for side in ("right", "top"))
    y += page.value("scrollY")
    pixels = imread(folder / "edge.png")
    row = pixels[round(y) + 5, :, :3].sum(axis=1)
    return bool(row[x - 2] < row[x + 5])


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
    page.wait(f"document.querySelectorAll('{WORD}').length")
    assert HOSTILE.replace(" ", "") in page.value("document.body.innerText").replace(" ", "")
    assert page.value("document.querySelectorAll('script').length") == 1
    assert page.value("performance.getEntriesByType('resource')"
                      ".every(e => e.name.startsWith(location.origin))")  # fmt: skip


def test_right_to_left_and_cjk(page):
    page.type("שלום עולם\n今日は良い天気です")
    page.wait("document.querySelectorAll('.source').length == 2")
    lines = "[...document.querySelectorAll('.source')]"
    directions = page.value(f"{lines}.map(w => getComputedStyle(w).direction)")
    assert directions == ["rtl", "ltr"]


def test_five_thousand_characters_on_a_line(page, prepared):
    line = text(prepared)
    page.type(" ".join([line] * (5000 // len(line)))[:5000])
    # A translation or a message, of every system.
    page.wait("/^(not )?translated/.test(document.getElementById('status').textContent)", 90)
    shown = "[...document.querySelectorAll('.words, .error')].filter(s => s.textContent)"
    assert page.value(f"{shown}.length") >= len(SYSTEMS)
