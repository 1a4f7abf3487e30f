"""Text out of the marked-up files that corpora are published in, one segment a line."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple

from syntax_nmt.data.text_files import BYTE_ORDER_MARK, read_lines
from syntax_nmt.errors import UserError

_DOCUMENT = re.compile(r"<doc\b([^>]*)>|<seg\b([^>]*)>(.*?)</seg>", re.IGNORECASE | re.DOTALL)
_ATTRIBUTE = re.compile(r"""(\w+)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)""")
# Those of XML: HTML's would take `&copy` out of an address for a sign.
_ENTITY = re.compile("&(amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")
# Lines of TED talks that say something about the talk; title and description are translated.
_ABOUT_TALK = re.compile(r"\s*</?(url|talkid|keywords|speaker|reviewer|translator|doc)\b")
_TALK_TEXT = re.compile(r"</?(title|description)>")


class MarkedSegment(NamedTuple):
    """One segment of a `.sgm` or `.xml` file.

    Attributes:
        translator: the `sysid` of its document, empty where there is none.
        place: its document's `docid` and its own `id`.
        text: one line.
    """

    translator: str
    place: tuple[str, str]
    text: str


def segments(path: Path, encoding: str = "utf-8") -> list[MarkedSegment]:
    """The segments of a file of the evaluation campaigns: WMT, IWSLT, NIST.

    Such files are no XML; what counts in them is `<doc …>` and `<seg …>text</seg>`, in any case,
    with quotes around attributes or without. Entities of XML are resolved; line breaks and runs of
    spaces become one space.

    Raises:
        UserError: the file cannot be read, is in another encoding, has no segment, or has two of
            one translator and place.
    """
    found: dict[tuple[str, tuple[str, str]], MarkedSegment] = {}
    document: dict[str, str] = {}
    for match in _DOCUMENT.finditer(_decoded(path, encoding)):
        attributes = _attributes(match[1] or match[2] or "")
        if match[3] is None:
            document = attributes
        else:
            place = document.get("docid", ""), attributes.get("id", "")
            segment = MarkedSegment(document.get("sysid", ""), place, _text(match[3]))
            if found.setdefault(segment[:2], segment) is not segment:
                raise UserError(
                    f"{path}: segment '{place[1]}' of document '{place[0]}' occurs twice: the file "
                    "must be of one language, its documents have a docid, and those of several "
                    "translators a sysid; WMT's XML of 2021 and later is another format"
                )
    if not found:
        raise UserError(f"{path}: has no <seg>: is it the file that the recipe asks for?")
    return list(found.values())


def references(source: Path, target: Path, encoding: str = "utf-8") -> list[list[str]]:
    """The translations of each translator in a file of references, in the source's order.

    Args:
        source: the source's `.sgm`.
        target: the `.sgm` of references, whose documents say by `sysid` whose they are.

    Raises:
        UserError: a file cannot be read, or a reference lacks a segment of the source.
    """
    places = [segment.place for segment in segments(source, encoding)]
    translators: dict[str, dict[tuple[str, str], str]] = {}
    for segment in segments(target, encoding):
        translators.setdefault(segment.translator, {})[segment.place] = segment.text
    for name, texts in translators.items():
        missing = [place for place in places if place not in texts]
        if missing:
            document, number = missing[0]
            raise UserError(
                f"{target}: translator '{name}' lacks segment {number} of document {document} "
                f"(and {len(missing) - 1} more) that {source} has: they belong to other sets"
            )
    return [[texts[place] for place in places] for texts in translators.values()]


def plain_lines(path: Path, encoding: str) -> Iterator[str]:
    """The lines of a small text that is in UTF-8 or else in another encoding.

    Raises:
        UserError: it is in neither.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        text = _decoded(path, encoding)
    lines = text.removeprefix(BYTE_ORDER_MARK).split("\n")
    return (line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1]))


def talk_lines(path: Path) -> Iterator[str]:
    """The text of the talks in a `train.tags` file of IWSLT, titles and descriptions included.

    Args:
        path: the file, plain or `.gz`.
    """
    for line in read_lines(path):
        if not _ABOUT_TALK.match(line):
            yield _text(_TALK_TEXT.sub("", line))


def aspec_pairs(path: Path) -> Iterator[tuple[str, str]]:
    """The Japanese and the English of each line of an ASPEC file.

    Training files have `score ||| document ||| sentence ||| Japanese ||| English`, the others the
    same without the score.

    Args:
        path: the file, plain or `.gz`.

    Raises:
        UserError: a line has another number of fields.
    """
    for number, line in enumerate(read_lines(path), start=1):
        fields = line.split(" ||| ")
        if len(fields) not in (4, 5):
            raise UserError(
                f"{path}:{number}: {len(fields)} fields between ' ||| ' instead of 4 or 5: "
                "is it a file of ASPEC-JE?"
            )
        yield fields[-2].strip(), fields[-1].strip()


def _decoded(path: Path, encoding: str) -> str:
    try:
        return path.read_bytes().decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise UserError(f"{path}: not {encoding} ({error}): give another --encoding") from None


def _attributes(tag: str) -> dict[str, str]:
    return {key.lower(): value.strip("\"'") for key, value in _ATTRIBUTE.findall(tag)}


def _text(marked_up: str) -> str:
    return " ".join(_ENTITY.sub(lambda entity: unescape(entity[0]), marked_up).split())
