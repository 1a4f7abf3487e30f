"""Two tokenisations of a sentence: by hand, by random cuts, and where characters differ."""

import random

import pytest
from trees_of import has_letters, random_cuts

from syntax_nmt.data.annotation_transfer import check_same_text
from syntax_nmt.data.character_alignment import align_by_characters, same_spelling, words_of_tokens
from syntax_nmt.errors import UserError


@pytest.mark.parametrize(
    ("words", "tokens", "home"),
    [
        ("I do n't .", "I don &apos;t .", [0, 1, 1, 3]),  # n't begins in `don`
        ("a well-known cat", "a well @-@ known cat", [0, 1, 4]),
        ("a well - known cat", "a well-known cat", [0, 1, 1, 1, 2]),
        ("`` Hi '' -LRB- he", '" Hi “ ( He', [0, 1, 2, 3, 4]),
        ("Ms. Ng 's", "ms . ng 's", [0, 2, 3]),
        ("in the U.S. .", "in the U.S.", [0, 1, 2, 2]),  # a full stop written twice
        ("in the U.S.", "in the U.S. .", [0, 1, 2]),
        ("Tom & Jim", "Tom &amp;amp; Jim", [0, 1, 2]),
        ("Tom 's", "Tom & apos ; s", [0, 1]),  # an escape that was cut apart
        ("tea etc , too", "tea etc. , too", [0, 1, 2, 3]),  # runs that have only some in common
        ("etc .", "etc. .", [0, 1]),
        ('" a " b', '" a . " , b', [0, 1, 3, 5]),
        ('a ) " , b', 'a " ) , b', [0, 0, 1, 3, 4]),
        ("say 'Twas", "say , ' 'Twas", [0, 3]),
        ("say 'Twas", "say ' , Twas", [0, 3]),  # letters count more than a mark elsewhere
        ("to me@b.de .", "to me@ b.de.", [0, 1, 1]),
        ("to me@b.de 's", "to me@ b.de's", [0, 1, 2]),
        ("costs $ 5 m .", "costs € 5 m .", [0, 1, 2, 3, 4]),  # parsers write other marks
        ("# 5 , $ 3", "£ 5 , € 3", [0, 1, 2, 3, 4]),
        ("it 's $ 5 m", "it&apos;s €5 m", [0, 0, 1, 1, 2]),
        ("a ( 1 ) .", "a [ 1 ].", [0, 1, 2, 3, 3]),
        ("pay $5 now", "pay € 5 now", [0, 2, 3]),  # letters count more than another mark
        ('on "_Acceso_radio_" .', 'on " Acceso radio " .', [0, 1, 5]),  # names joined by a mark
        ('on "=Rio=de=Janeiro=" .', 'on "Rio de Janeiro" .', [0, 1, 4]),
        ('on " Acceso radio " .', 'on "_Acceso_radio_" .', [0, 1, 1, 1, 1, 2]),
        ("on (_a_)_b .", "on ( a ) b .", [0, 1, 5]),
        ("he — she", "he -- she", [0, 1, 2]),
        ("10 000 ﬁne caf\u00e9s", "10000 fine cafe\u0301s", [0, 0, 1, 2]),
        ("x \u200b y", "x y", [0, 0, 1]),  # nothing to be seen
        ("…", ". . .", [0]),
        ("我 爱 北京", "我爱 北 京", [0, 0, 1]),
        ("KADIN'IN İÇTİĞİ", "kadın ' ın içtiği", [0, 3]),  # lowercased by Turkish rules
        ("Işık İzmir", "işik izmir", [0, 1]),
        ("İzmir Iğdır", "i\u0307zmir iğdir", [0, 1]),  # by those of other languages
        ("كتاب جديد جدا .", "كِتابٌ جديدٌ جِدّاً.", [0, 1, 2, 2]),  # vowel points
        ("והילד קטן", "וְהַיֶּלֶד קָטָן .", [0, 1]),
        ("احمد", "أحمد", [0]),  # as parsers for Arabic normalise it
        ("محمد هنا", "محـــمد هنا", [0, 1]),
        ("—", "--", [0]),  # no letters at all
        ("$", "€", [0]),
        ("...", "… .", [0]),
        ("( . )", "[ . ]", [0, 1, 2]),
        ("", "", []),
    ],
)
def test_by_hand(words, tokens, home):
    assert align_by_characters(words.split(" ") if words else [], tokens.split()) == home


def test_long_runs_are_aligned_at_their_ends():
    words, tokens = ["a", "*-" * 100_000, ".", "b"], ["a", "-*" * 100_001, ".", "b"]
    assert align_by_characters(words, tokens) == [0, 0, 2, 3]


@pytest.mark.parametrize(
    ("words", "tokens"),
    [
        ("a cat", "a dog"),
        ("a cat", "a"),
        ("a cat", ""),
        ("", "a"),
        ("( )", "! ? ."),  # nothing corresponds
        (".", ""),
        ("5", "6"),
        ("ż", "z"),
        ("й", "и"),
        ("कि", "क"),  # vowels of a script that always writes them
        ("كتاب", "كتب"),
    ],
)
def test_other_sentences(words, tokens):
    assert align_by_characters(words.split(), tokens.split()) is None


def test_random_cuts_against_counting_characters():
    """Oracle: a word's token is the first by which more characters are covered than before it.

    Where letters of another word stand there before a mark, the mark goes with that word.
    """
    rng = random.Random(1)
    for _ in range(2000):
        text = "".join(rng.choice("abé'-ß") for _ in range(rng.randint(1, 12)))
        words, tokens = random_cuts(rng, text), random_cuts(rng, text)
        expected = []
        for word in range(len(words)):
            before, covered, token = len("".join(words[:word])), 0, -1
            while covered <= before:
                token += 1
                covered += len(tokens[token])
            between = text[covered - len(tokens[token]) : before]
            if has_letters(between) and not has_letters(words[word]):
                token = expected[max(i for i in range(word) if has_letters(words[i]))]
            expected.append(token)
        assert align_by_characters(words, tokens) == expected
        groups = words_of_tokens(expected, len(tokens))
        assert [word for group in groups for word in group] == list(range(len(words)))
        assert all(expected[word] == token for token, group in enumerate(groups) for word in group)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Haus", "haus"),
        ("&apos;s", "'s"),
        ("&quot;", "''"),
        ("``", '"'),
        ("-LRB-", "("),
        ("&#91;", "-LSB-"),
        ("&amp;", "&"),
        ("＄", "$"),
        ("ﬁn", "fin"),
        ("@-@", "-"),
        ("STRASSE", "straße"),
        (r"1\/2", "1/2"),
        ("Vi\u1ec7t", "Vi\u00ea\u0323t"),  # ệ: composed; ê and a dot below, as windows-1258
        ("Vi\u1ec7t", "Vie\u0302\u0323t"),
        ("c\u1eb7p", "c\u0103\u0323p"),
    ],
)
def test_spellings_of_one_word(left, right):
    assert same_spelling(left, right)


def test_marks_in_another_order_between_other_words():
    words = ["Tiếng", "Vi\u1ec7t", "Nam", "."]
    assert align_by_characters(words, ["Tiếng", "Vi\u00ea\u0323t", "Nam."]) == [0, 1, 2, 2]


def test_half_of_the_words_is_enough():
    check_same_text(["a", "b", "c", "d"], ["a", "b", "x", "y"], "s:1", "c:1")
    with pytest.raises(UserError, match=r"^s:1: the words differ from c:9 \(2 of 5 agree\): 'a b"):
        check_same_text(["a", "b", "c", "d", "e"], ["a", "b", "x", "y", "z"], "s:1", "c:9")


def test_other_numbers_of_words():
    with pytest.raises(UserError, match=r"^s:1: 1 words, but c:9 has 2"):
        check_same_text(["a", "b"], ["a"], "s:1", "c:9")


def test_no_words_at_all():
    check_same_text([], [], "s:1", "c:1")
