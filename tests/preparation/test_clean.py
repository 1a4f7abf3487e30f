"""Joining and cleaning a training corpus, and the length of a line in words."""

import random
from itertools import product

import pytest

from syntax_nmt.commands.recipes import clean as clean_command
from syntax_nmt.parsing.word_tokenizer import WordTokenizer
from syntax_nmt.preparation.recipes.clean import CleanCorpus, Filter, Measure


def write(path, lines):
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


@pytest.fixture
def run(tmp_path, capsys):
    """Cleans parts, given as lists of pairs; gives what is kept and what was printed."""

    def cleaned(parts, *options, source_lang="en", target_lang="de"):
        sides = [], []
        for number, pairs in enumerate(parts):
            for side, files in enumerate(sides):
                path = tmp_path / f"part{number}.{side}"
                files.append(str(write(path, [pair[side] for pair in pairs])))
        languages = ("--source-lang", source_lang, "--target-lang", target_lang)
        texts = ("--source", *sides[0], "--target", *sides[1])
        clean_command.main([*languages, *texts, "--output", str(tmp_path / "out"), *options])
        return pairs_in(tmp_path / "out", source_lang, target_lang), capsys.readouterr().out

    return cleaned


def pairs_in(prefix, source_lang="en", target_lang="de"):
    files = [prefix.with_name(f"{prefix.name}.{lang}") for lang in (source_lang, target_lang)]
    texts = [path.read_bytes().decode().split("\n")[:-1] for path in files]
    assert len(texts[0]) == len(texts[1])
    return list(zip(*texts))


def test_parts_are_joined_in_order_and_lines_stay_as_they_are(run):
    first, second = [("a \u2028 b\r c", "x  y")], [("c\u00a0c", "z"), ("d", "z")]
    kept, said = run([first, second])
    assert kept == first + second
    assert "part0.0, part0.1: 1 pairs" in said
    assert "part1.0, part1.1: 2 pairs" in said
    assert "kept 3 of 3 pairs" in said
    assert "left out" not in said


def test_a_pair_is_empty_if_nothing_visible_is_on_a_side(run):
    empty = [("", "x"), ("x", ""), (" \t", "x"), ("\u200b\u00a0", "x"), ("", "")]
    kept, said = run([[*empty, ("a", "b")]])
    assert kept == [("a", "b")]
    assert "left out 5: empty on one side or both" in said


def test_length_counts_words_as_they_will_be_cut(run):
    # Three and four words: the full stop is one of them, and `don't` is two.
    pairs = [("a b.", "x"), ("a don't.", "x"), ("x", "eins zwei drei."), ("x", "eins zwei.")]
    kept, said = run([pairs], "--max-words", "3")
    assert kept == [pairs[0], pairs[3]]
    assert "left out 2: over the length limit (3 words)" in said


def test_length_of_text_that_is_cut_already(run):
    pairs = [("a b.", "x"), ("a b .", "x")]
    kept, _ = run([pairs], "--max-words", "2", "--source-tokenizer", "none")
    assert kept == pairs[:1]


def test_counts_are_returned_and_not_printed(tmp_path, capsys):
    parts = [(write(tmp_path / "a", lines), write(tmp_path / "b", lines)) for lines in [["x", ""]]]
    wanted = Filter(Measure("en"), Measure("de"))
    counts = CleanCorpus(("en", "de"), str(tmp_path / "out"), wanted).write(parts)
    assert (counts.by_part, counts.kept, counts.held_out) == ([2], 1, 0)
    assert dict(counts.left_out) == {"empty": 1}
    assert capsys.readouterr().out == ""


def test_ratio_counts_in_both_directions_and_the_limit_itself_is_kept(run):
    pairs = [("a a a", "b"), ("a a a a", "b"), ("b", "a a a"), ("b", "a a a a")]
    kept, said = run([pairs], "--max-ratio", "3")
    assert kept == [pairs[0], pairs[2]]
    assert "left out 2: over the ratio of lengths (3)" in said


def test_chinese_is_measured_in_characters_unless_it_is_cut(run):
    pairs = [("我" * 17, "x " * 10), ("我" * 18, "x " * 10), ("我 " * 11, "x")]
    kept, _ = run([pairs], "--max-words", "10", source_lang="zh", target_lang="en")
    assert kept == [pairs[0], pairs[2]]
    options = ["--max-words", "10", "--source-tokenizer", "none"]
    kept, _ = run([pairs], *options, source_lang="zh", target_lang="en")
    assert kept == pairs[:2]


@pytest.mark.parametrize("mode", ["char", "stanza"])
def test_segmenters_measure_characters_only_where_there_are_no_spaces(mode):
    assert Measure("ja", mode).length("犬" * 17).exact == 10
    assert Measure("en", mode).length("We don't.").exact == 4


@pytest.mark.parametrize(("side", "expected"), [("source", 0), ("target", 1), ("both", 2)])
def test_lower_case(run, side, expected):
    kept, _ = run([[("ÄA", "ÖB")]], "--lowercase", side)
    assert kept == [[("äa", "ÖB"), ("ÄA", "öb"), ("äa", "öb")][expected]]


def test_words_instead_of_text(run):
    kept, _ = run([[("We don't.", "Nein, nicht.")]], "--words", "--source-tokenizer", "moses")
    assert kept == [("We don 't .", "Nein , nicht .")]


def test_every_nth_pair_that_is_kept_is_held_out(run, tmp_path):
    pairs = [("", "empty") if n == 2 else (f"s{n}", f"t{n}") for n in range(1, 9)]
    held = tmp_path / "held"
    kept, said = run([pairs[:4], pairs[4:]], "--hold-out-every", "3", "--hold-out", str(held))
    assert [source for source, _ in pairs_in(held)] == ["s4", "s7"]
    assert [source for source, _ in kept] == ["s1", "s3", "s5", "s6", "s8"]
    assert "held out 2 of those kept" in said


@pytest.mark.parametrize("options", [("--hold-out-every", "3"), ("--hold-out", "held")])
def test_half_of_what_holding_out_takes(tmp_path, options):
    """Alone, the one wrote `None.en`, and the other did nothing."""
    files = [f"--{side}={write(tmp_path / side, ['a'])}" for side in ("source", "target")]
    said = refused(*files, "--output", tmp_path / "kept", *options)
    assert "--hold-out-every and --hold-out need each other" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--max-ratio", "nan"), "--max-ratio: 'nan' is not a number of 1 or more"),
        (("--max-ratio", "inf"), "--max-ratio: 'inf' is not a number of 1 or more"),
        (("--max-ratio", "0"), "--max-ratio: '0' is not a number of 1 or more"),
        (("--max-ratio", "x"), "--max-ratio: 'x' is not a number of 1 or more"),
        (("--max-words", "-3"), "--max-words: '-3' is not a whole number of 1 or more"),
    ],
)
def test_limits_that_are_none(tmp_path, capsys, options, message):
    files = [f"--{side}={write(tmp_path / side, ['a'])}" for side in ("source", "target")]
    languages = ("--source-lang", "en", "--target-lang", "de")
    with pytest.raises(SystemExit):
        clean_command.main([*languages, *files, f"--output={tmp_path / 'kept'}", *options])
    assert message in capsys.readouterr().err
    assert not (tmp_path / "kept.en").exists()


def test_test_pairs_are_known_however_they_are_cut(run, tmp_path):
    gold = [write(tmp_path / "g.en", ["We do n't ."]), write(tmp_path / "g.de", ["Nein , nicht ."])]
    pairs = [("we don't.", "Nein, nicht."), ("We don't.", "Nein."), ("No.", "Nein, nicht.")]
    kept, said = run([pairs], "--without", *map(str, gold))
    assert kept == pairs[1:]
    assert "left out 1: test pairs" in said


def refused(*arguments, name="clean"):
    with pytest.raises(SystemExit) as stopped:
        clean_command.main(["--source-lang", "en", "--target-lang", "de", *map(str, arguments)])
    message = str(stopped.value)
    assert message.startswith(f"{name}: error: ")
    assert "\n" not in message
    return message


@pytest.mark.parametrize("longer", [0, 1])
def test_sides_that_are_not_parallel(tmp_path, longer):
    sides = [write(tmp_path / str(side), "abcde" if side == longer else "abc") for side in (0, 1)]
    message = refused("--source", sides[0], "--target", sides[1], "--output", tmp_path / "out")
    for side, path in enumerate(sides):
        assert f"{path} has {5 if side == longer else 3}" in message
    assert not (tmp_path / "out.en").exists()
    assert not list(tmp_path.glob("*partial*"))


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ((["empty"], ["empty"]), "nothing is left"),
        ((["a", "b"], ["c"]), "--source names 2 files and --target 1"),
        ((["missing"], ["missing"]), "missing: cannot be read"),
    ],
)
def test_mistakes(tmp_path, monkeypatch, sides, message):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "empty", [""])
    files = ("--source", *sides[0], "--target", *sides[1], "--output", "out")
    assert message in refused(*files)
    monkeypatch.setenv("RECIPE", "x.sh")  # it names itself
    assert message in refused(*files, name="x.sh")


# ---- lengths


ODD = [
    "",
    "cannot gonna gotta",
    "don't can't O'Neill's rock'n'roll",
    'a-b-c ... x--y (z) "q" 3.5 1,000 ½² a_b',
    "Überprüfung: ÄÖÜß-Wörter, z.B. d'accord!",
    "\u200b\u200b a\u00adb \ufeff",
    "www.x.org/a?b=c&d#e e@f.g",
    "naïve café — “quoted” ‘text’ …",
    "我喜欢 abc,def 123。",
    "ab" * 200,
    ". " * 40,
]


@pytest.mark.parametrize(("mode", "lang"), [("penn", "en"), ("moses", "de"), ("moses", "fr")])
def test_bounds_hold_whatever_the_line(mode, lang):
    rng = random.Random(1)
    letters = "ab Cü'’.,-_()\"&@0₂ \u200b"
    lines = ODD + ["".join(rng.choices(letters, k=rng.randrange(40))) for _ in range(1500)]
    tokenizer, measure = WordTokenizer(mode, lang), Measure(lang, mode)
    decided = 0
    for line in lines:
        length = measure.length(line)
        words = len(tokenizer.tokenize(line).split())
        assert length.least <= words <= length.most, line
        assert length.exact == words
        decided += length.least > 5 or length.most <= 5
        assert measure.length(line).exceeds(5) == (words > 5)
    assert decided > len(lines) / 20


def test_ratio_is_that_of_the_words():
    measure = Measure("en")
    words = {line: len(WordTokenizer("penn", "en").tokenize(line).split()) for line in ODD}
    for first, second in product(filter(words.get, ODD), repeat=2):
        is_over = measure.length(first).is_over_times(measure.length(second), 3)
        assert is_over == (words[first] > 3 * words[second])


def test_words_are_cut_only_where_bounds_cannot_decide(monkeypatch):
    def cut(*_):
        raise AssertionError("cut")

    monkeypatch.setattr(WordTokenizer, "tokenize", cut)
    measure = Measure("en")
    assert not measure.length("a plain line .").exceeds(50)
    assert measure.length("a " * 60).exceeds(50)
    assert not measure.length("a plain line .").is_over_times(measure.length("eine Zeile ."), 9)
    with pytest.raises(AssertionError, match="cut"):
        measure.length("a b c d (e f) g.").exceeds(9)
