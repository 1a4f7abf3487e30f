"""Text out of the files of WMT, IWSLT, NIST and ASPEC."""

import pytest

from syntax_nmt.commands.recipes import markup as markup_command
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.recipes import markup

WMT = """<srcset setid="newstest2014" srclang="any">
<doc docid="1-x" genre="news" origlang="de">
<p>
<seg id="1"> One &amp; two &lt;b&gt; &quot;three&quot; AT&T &copy; </seg>
<hl><seg id="2">Second
 line\u2028still</seg></hl>
</p>
<seg id="3"></seg>
</doc>
</srcset>
"""
NIST_SOURCE = """<SRCSET setid=mt03 SrcLang=Chinese>
<DOC docid=A><seg id=1>甲</seg><seg id=2> 乙 </seg></DOC>
<DOC docid=B><seg id=1>丙</seg></DOC>
</SRCSET>"""
NIST_REFERENCES = """<REFSET setid="mt03">
<DOC docid="B" sysid="E01"><seg id="1">E01 B1</seg></DOC>
<DOC docid="A" sysid="E01"><seg id="1">E01 A1</seg><seg id="2">E01 A2</seg></DOC>
<DOC docid="A" sysid="E02"><seg id="2">E02 A2</seg><seg id="1">E02 A1</seg></DOC>
<DOC docid="B" sysid="E02"><seg id="1">E02 B1</seg></DOC>
</REFSET>"""
TALKS = """<url>http://www.ted.com</url>
<keywords>a, b</keywords>
<speaker>N. N.</speaker>
<talkid>1</talkid>
<title>Al &amp; Bo</title>
<description>TED: text</description>
 First  line.

<reviewer href="x">N. N.</reviewer>
Less < more
"""


def lines_of(path):
    return path.read_text(encoding="utf-8").split("\n")[:-1]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "wmt.sgm").write_text(WMT, encoding="utf-8")
    (tmp_path / "src.sgm").write_text(NIST_SOURCE, encoding="gb18030")
    (tmp_path / "ref.sgm").write_text(NIST_REFERENCES, encoding="gb18030")
    (tmp_path / "talks").write_text(TALKS, encoding="utf-8")
    return tmp_path


def test_segments_are_lines_with_entities_resolved(folder):
    found = markup.segments(folder / "wmt.sgm")
    expected = ['One & two <b> "three" AT&T &copy;', "Second line still", ""]
    assert [segment.text for segment in found] == expected
    assert found[1].place == ("1-x", "2")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("&amp;lt; &amp;#39; &#38;lt;", "&lt; &#39; &lt;"),  # once
        (
            "It&#39;s &#x27;t&#X27; a&#160;&#10;b &#x2028;c&#8364; &#39 &#; &#x;",
            "It's 't' a b c€ &#39 &#; &#x;",
        ),
        # HTML's own entities are none of XML's, least of all without a semicolon.
        ("&eacute; ?a=1&copy=2&lt=3", "&eacute; ?a=1&copy=2&lt=3"),
    ],
)
def test_entities(folder, given, text):
    (folder / "a.sgm").write_text(f"<seg>{given}</seg>")
    assert [segment.text for segment in markup.segments(folder / "a.sgm")] == [text]


def test_several_files_become_one_text(folder, capsys):
    output = folder / "deep" / "out.en"
    wmt = str(folder / "wmt.sgm")
    markup_command.main(["sgm", "--lowercase", "--text", str(output), wmt, wmt])
    once = ['one & two <b> "three" at&t &copy;', "second line still", ""]
    assert lines_of(output) == once + once
    assert f"{output}: 6 lines" in capsys.readouterr().out


def test_nist_files(folder):
    """Attributes without quotes, in capitals; references in the order of the source."""
    paths = [str(folder / name) for name in ("src.sgm", "ref.sgm", "mt03")]
    markup_command.main(["nist", *paths, "zh", "en", "--encoding", "gb18030", "--lowercase"])
    assert lines_of(folder / "mt03.zh") == ["甲", "乙", "丙"]
    assert lines_of(folder / "mt03.en") == lines_of(folder / "mt03.en0")
    assert lines_of(folder / "mt03.en0") == ["e01 a1", "e01 a2", "e01 b1"]
    assert lines_of(folder / "mt03.en1") == ["e02 a1", "e02 a2", "e02 b1"]
    assert not (folder / "mt03.en2").exists()


def test_a_reference_that_lacks_a_segment(folder):
    (folder / "ref.sgm").write_text(NIST_REFERENCES.replace('<seg id="2">E02 A2</seg>', ""))
    (folder / "src.sgm").write_text(NIST_SOURCE)
    with pytest.raises(UserError, match="translator 'E02' lacks segment 2 of document A"):
        markup.references(folder / "src.sgm", folder / "ref.sgm")


def test_two_segments_of_one_place(folder):
    """Without docid, and with source and reference in one file, as WMT's XML has them."""
    (folder / "src.sgm").write_text(NIST_SOURCE.replace(" docid=A", "").replace(" docid=B", ""))
    with pytest.raises(UserError, match=r"src\.sgm: segment '1' of document '' occurs twice"):
        markup.segments(folder / "src.sgm")
    xml = '<doc id="d"><src><seg id="1">a</seg></src><ref><seg id="1">b</seg></ref></doc>'
    (folder / "wmt.xml").write_text(xml)
    with pytest.raises(UserError, match="WMT's XML of 2021 and later is another format"):
        markup.segments(folder / "wmt.xml")


def test_talks(folder):
    found = list(markup.talk_lines(folder / "talks"))
    assert found == ["Al & Bo", "TED: text", "First line.", "", "Less < more"]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_text_in_utf8_or_another_encoding(folder, encoding):
    (folder / "de").write_bytes("für\n\nÄ\x85ß\n".encode(encoding))
    assert list(markup.plain_lines(folder / "de", "latin-1")) == ["für", "", "Ä\x85ß"]


def test_text_of_windows(folder):
    (folder / "de").write_bytes("\ufefffür\r\nÄß\r\n".encode())
    assert list(markup.plain_lines(folder / "de", "latin-1")) == ["für", "Äß"]


@pytest.mark.parametrize("encoding", ["utf-8", "no-such"])
def test_text_in_neither(folder, encoding):
    (folder / "de").write_bytes(b"f\xfcr\n")
    with pytest.raises(UserError, match=f"de: not {encoding} .* give another --encoding"):
        list(markup.plain_lines(folder / "de", encoding))


@pytest.mark.parametrize(
    ("content", "lines"),
    [("a\n\n\n", ["a", "", ""]), ("a\n\nb", ["a", "", "b"]), ("", []), ("\n", [""])],
)
def test_empty_lines_at_the_end_are_lines(folder, content, lines):
    """The other language's text may have something there."""
    (folder / "de").write_text(content)
    assert list(markup.plain_lines(folder / "de", "latin-1")) == lines


def test_aspec(folder, capsys):
    rows = ["0.9 ||| A-1 ||| 1 ||| 甲 ||| one", "0.8 ||| A-2 ||| 2 ||| 乙 ||| two || three"]
    (folder / "train").write_text("\n".join(rows))
    (folder / "dev").write_text("B-1 ||| 1 ||| 丙 ||| four\n")
    assert list(markup.aspec_pairs(folder / "dev")) == [("丙", "four")]
    train, output = str(folder / "train"), str(folder / "out")
    markup_command.main(["aspec", train, str(folder / "dev"), "--output", output])
    assert lines_of(folder / "out.ja") == ["甲", "乙", "丙"]
    assert lines_of(folder / "out.en") == ["one", "two || three", "four"]
    markup_command.main(["aspec", train, "--output", output, "--first", "1"])
    assert lines_of(folder / "out.ja") == ["甲"]
    with pytest.raises(SystemExit):
        markup_command.main(["aspec", train, "--output", output, "--first", "-1"])
    assert "--first: '-1' is not a whole number of 1 or more" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"<doc>\n", "has no <seg>"), ("<seg>\xe4</seg>".encode("latin-1"), "not utf-8")],
)
def test_files_that_are_not_what_they_should_be(folder, monkeypatch, content, expected):
    path = folder / "bad.sgm"
    path.write_bytes(content)
    monkeypatch.setenv("RECIPE", "wmt14_en_de.sh")
    with pytest.raises(SystemExit) as stopped:
        markup_command.main(["sgm", "--text", str(folder / "out"), str(path)])
    assert str(stopped.value).startswith(f"wmt14_en_de.sh: error: {path}: {expected}")
    assert not (folder / "out").exists()


def test_a_line_that_is_not_of_aspec(folder):
    (folder / "dev").write_text("B-1 ||| 1 ||| 丙 ||| four\nonly this\n")
    with pytest.raises(UserError, match=r"dev:2: 1 fields between"):
        list(markup.aspec_pairs(folder / "dev"))
