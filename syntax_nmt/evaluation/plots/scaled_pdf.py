"""A PDF of one page made larger or smaller, as matplotlib draws at one size alone.

The page keeps its content and gets a transformation before it, in an incremental update: objects
behind the end of the file that replace those before (PDF 1.7, sections 7.5.6 and 8.3.4).
"""

from __future__ import annotations

import re

_PAGE = re.compile(rb"(\d+) 0 obj\n(<<[^>]*/Type /Page\b[^>]*>>)\nendobj")
_BOX = re.compile(rb"/MediaBox \[ ([^\]]*)\]")
_CONTENTS = re.compile(rb"/Contents (\d+ 0 R)")
_TRAILER = re.compile(rb"trailer\n<<(.*?)>>\s*startxref\s+(\d+)\s+%%EOF\s*$", re.DOTALL)
_SIZE = re.compile(rb"/Size (\d+)")


def scaled_pdf(content: bytes, factor: float) -> bytes:
    """The same page at another size.

    Args:
        content: of a file that matplotlib wrote.
        factor: of width and height.

    Raises:
        ValueError: matplotlib writes its files otherwise than is known here.
    """
    page, trailer = _PAGE.search(content), _TRAILER.search(content)
    size = _SIZE.search(trailer[1]) if trailer else None
    if page is None or trailer is None or size is None:
        raise ValueError("no page of matplotlib's")
    box = _BOX.search(page[2])
    if box is None:
        raise ValueError("a page without a size")
    sides = b" ".join(b"%.4f" % (factor * float(side)) for side in box[1].split())
    number = int(size[1])  # of the new object
    changed = _BOX.sub(lambda _: b"/MediaBox [ %s ]" % sides, page[2])
    changed = _CONTENTS.sub(rb"/Contents [ %d 0 R \1 ]" % number, changed)
    matrix = b"%.6f 0 0 %.6f 0 0 cm" % (factor, factor)
    objects = {
        int(page[1]): changed,
        number: b"<< /Length %d >>\nstream\n%s\nendstream" % (len(matrix), matrix),
    }
    table = b"xref\n"
    for key, item in objects.items():
        table += b"%d 1\n%010d 00000 n \n" % (key, len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (key, item)
    entries = _SIZE.sub(b"/Size %d" % (number + 1), trailer[1])
    return content + table + b"trailer\n<<%s/Prev %s >>\nstartxref\n%d\n%%%%EOF\n" % (
        entries, trailer[2], len(content),
    )  # fmt: skip
