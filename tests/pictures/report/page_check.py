"""What a browser would complain about, or fetch: found by parsing the page."""

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

_VOID = {"meta", "link", "br", "hr", "img", "input"}
_FETCHES = ("src", "href", "xlink:href", "srcset", "poster", "action", "data")


class Page(HTMLParser):
    """A page, refused if its elements do not nest.

    Attributes:
        tags: how many elements of each name there are.
        fetched: addresses that are neither in the page nor data.
        ids: of elements, with how many have each.
        targets: ids that links and pictures refer to.
        text: what is not in styles.
        headings: levels in order.
        without_label: pictures without a description, headers of tables without a scope.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.fetched: list[str] = []
        self.targets: set[str] = set()
        self.headings: list[int] = []
        self.without_label: list[str] = []
        self._open: list[str] = []
        self._parts: list[str] = []
        html = path.read_text(encoding="utf-8")
        self.fetched += [found for found in re.findall(r"url\(([^)]*)\)", html) if found[0] != "#"]
        self.fetched += re.findall(r"@import[^;]*", html)
        self.targets.update(re.findall(r"url\(#([^)]*)\)", html))
        self.feed(html)
        self.close()
        assert not self._open, self._open
        self.text = " ".join(" ".join(self._parts).split())

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags[tag] += 1
        found = dict(attrs)
        assert not any(name.startswith("on") for name in found), found
        if "id" in found:
            self.ids[found["id"]] += 1
        for name in _FETCHES:
            value = found.get(name)
            if value is not None and value.startswith("#"):
                self.targets.add(value[1:])
            elif value is not None and not value.startswith("data:"):
                self.fetched.append(value)
        if tag in {"h1", "h2", "h3", "h4"}:
            self.headings.append(int(tag[1]))
        if tag in {"svg", "img"} and not found.get("aria-label"):
            self.without_label.append(tag)
        if tag == "th" and not found.get("scope"):
            self.without_label.append(tag)

    def handle_endtag(self, tag):
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag, f"</{tag}>"

    def handle_data(self, data):
        if "style" not in self._open:
            self._parts.append(data)
