"""Words by bucket: by hand, against compare-mt's figures, and what leaves them unchanged."""

import random
from dataclasses import replace

import numpy as np
import pytest
from commands import REPOSITORY
from translations import noisy, sentences, write
from word_buckets import (
    OUTPUT,
    OUTPUT_TAGS,
    REFERENCE,
    REFERENCE_TAGS,
    TRAINING,
    evaluation_set,
    write_conllu,
)

from experiments.records import Records
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.translations.evaluation_set import read_text
from syntax_nmt.scoring.translations.paired_tests import TESTS, SignificanceTests
from syntax_nmt.scoring.translations.resampling import Confidence
from syntax_nmt.scoring.words import bucket_scores
from syntax_nmt.scoring.words.bits import bits_lines
from syntax_nmt.scoring.words.buckets import KINDS, LOWS, number_bucket, number_buckets
from syntax_nmt.scoring.words.settings import WordSettings

SIGNIFICANCE = SignificanceTests(TESTS, 100, 100, 12345)


def score_words(*arguments) -> list[dict]:
    return [table.to_json() for table in bucket_scores.score_words(*arguments)]


def compare_words(*arguments) -> list[dict]:
    return [table.to_json() for table in bucket_scores.compare_words(*arguments)]


def by_bucket(table, place=0):
    return {bucket["bucket"]: bucket["systems"][place] for bucket in table["buckets"]}


def test_by_hand(tmp_path):
    """Two of three words `b` are found: the first two, of the buckets X and Y."""
    conllu = write_conllu(tmp_path / "ref", ["b b a b", "c"], ["X Y X Y", "Z"])
    settings = WordSettings(["upos"], tokenize="none", reference_conllu=conllu)
    (table,) = score_words(evaluation_set(["b b a b", "c"], ours=[["b d b", "c c"]]), settings)
    assert [(each["bucket"], each["words"]) for each in table["buckets"]] == [
        ("X", 2), ("Y", 2), ("Z", 1)
    ]  # fmt: skip
    found = by_bucket(table)
    # X: found 1 of 2 (a is missing). `d` has no label, the second `c` that of the first.
    assert [found["X"][share] for share in ("precision", "recall", "f1")] == pytest.approx(
        [100, 50, 200 / 3]
    )
    assert (found["Z"]["correct"], found["Z"]["predicted"]) == ([1], [2])
    assert (table["measure"], table["labels_of_output"]) == ("recall", "reference")
    assert table["buckets"][0]["systems"][0]["score"] == pytest.approx(50)


# What the word report of compare-mt 0.2.10 gives for the same text, labels, and counts: words
# found, in the reference and in the output; precision, recall and F1.
COMPARE_MT = {
    "frequency": {
        "0": (8, 12, 11, 0.7272727272727273, 0.6666666666666666, 0.6956521739130435),
        "1": (5, 7, 8, 0.625, 0.7142857142857143, 0.6666666666666666),
        "2": (1, 1, 1, 1, 1, 1),
        "3": (6, 7, 7, 0.8571428571428571, 0.8571428571428571, 0.8571428571428571),
        "4": (2, 2, 2, 1, 1, 1),
        "5–9": (7, 8, 9, 0.7777777777777778, 0.875, 0.823529411764706),
    },
    "upos": {
        "ADJ": (1, 3, 1, 1, 0.3333333333333333, 0.5),
        "ADP": (1, 1, 1, 1, 1, 1),
        "AUX": (1, 2, 1, 1, 0.5, 0.6666666666666666),
        "CCONJ": (1, 1, 1, 1, 1, 1),
        "DET": (7, 10, 10, 0.7, 0.7, 0.7),
        "NOUN": (10, 10, 11, 0.9090909090909091, 1, 0.9523809523809523),
        "PRON": (3, 3, 4, 0.75, 1, 0.8571428571428571),
        "SCONJ": (1, 1, 2, 0.5, 1, 0.6666666666666666),
        "VERB": (4, 6, 7, 0.5714285714285714, 0.6666666666666666, 0.6153846153846153),
    },
    "distance": {
        "root": (4, 5, 5, 0.8, 0.8, 0.8000000000000002),
        "1": (6, 10, 8, 0.75, 0.6, 0.6666666666666665),
        "2": (6, 8, 7, 0.8571428571428571, 0.75, 0.7999999999999999),
        "3–4": (11, 12, 15, 0.7333333333333333, 0.9166666666666666, 0.8148148148148148),
        "5–7": (2, 2, 3, 0.6666666666666666, 1, 0.8),
    },
}


@pytest.mark.parametrize("kind", COMPARE_MT)
def test_figures_of_compare_mt(tmp_path, kind):
    given = {
        "reference_conllu": write_conllu(tmp_path / "ref", REFERENCE, REFERENCE_TAGS),
        "hypothesis_conllu": {"ours": [write_conllu(tmp_path / "out", OUTPUT, OUTPUT_TAGS)]},
    }
    if kind == "frequency":
        given = {"training_text": str(write(tmp_path / "train", TRAINING))}
    settings = WordSettings([kind], tokenize="none", **given)
    (table,) = score_words(evaluation_set(REFERENCE, ours=[OUTPUT]), settings)
    assert {bucket["bucket"] for bucket in table["buckets"]} == set(COMPARE_MT[kind])
    assert table["measure"] == "f1"
    for bucket in table["buckets"]:
        (ours,) = bucket["systems"]
        counts = ours["correct"][0], bucket["words"], ours["predicted"][0]
        assert counts == COMPARE_MT[kind][bucket["bucket"]][:3]
        shares = [ours[name] / 100 for name in ("precision", "recall", "f1")]
        assert shares == pytest.approx(COMPARE_MT[kind][bucket["bucket"]][3:], abs=1e-12)
        assert ours["score"] == pytest.approx(ours["f1"], abs=1e-12)


def test_figures_of_compare_mt_on_real_text(shared):
    """The first seed of the dependency heads on Multi30k, tokenised alike before."""
    folder = REPOSITORY / "examples/experiments/results/multi30k_en_de"
    lines = Records(folder).lines("44640e69225b", "flickr2016")
    data = shared / "data/multi30k"
    reference = read_text(str(data / "test_2016_flickr.de.gz")).sentences
    settings = WordSettings(["frequency"], training_text=str(data / "train.de.gz"))
    (table,) = score_words(evaluation_set(reference, heads=[lines]), settings)
    found = [
        (bucket["systems"][0]["correct"][0], bucket["words"], bucket["systems"][0]["predicted"][0])
        for bucket in table["buckets"]
    ]
    assert found == [
        (2, 338, 149), (7, 140, 25), (5, 121, 22), (10, 111, 64), (5, 95, 28), (58, 316, 213),
        (884, 1676, 1865), (1960, 2790, 3062), (5231, 6519, 6746),
    ]  # fmt: skip
    f1 = [
        0.008213552361396304, 0.08484848484848485, 0.06993006993006992, 0.11428571428571428,
        0.08130081300813008, 0.21928166351606804, 0.49929398475007064, 0.6698564593301436,
        0.7886920467395402,
    ]  # fmt: skip
    shares = [bucket["systems"][0]["f1"] / 100 for bucket in table["buckets"]]
    assert shares == pytest.approx(f1, abs=1e-12)


@pytest.fixture
def everything(tmp_path):
    """Settings of all kinds, and a reference of 60 sentences in words of `noisy`."""
    reference = sentences(60)
    tags = [" ".join(f"T{len(word)}" for word in line.split()) for line in reference]
    return (
        reference,
        WordSettings(
            KINDS[:1] + KINDS[2:],  # no XPOS there
            tokenize="none",
            reference_conllu=write_conllu(tmp_path / "ref", reference, tags),
            training_text=str(write(tmp_path / "train", reference[:20])),
            least_words=20,
        ),
    )


def test_identical_systems_differ_by_nothing(everything):
    reference, settings = everything
    runs = [noisy(reference, seed, 0.3) for seed in (1, 2, 3)]
    test_set = evaluation_set(reference, base=runs, same=[*runs[1:], runs[0]])
    tested = 0
    for table in compare_words(test_set, settings, SIGNIFICANCE):
        for bucket in table["buckets"]:
            same = bucket["systems"][1]
            assert same["difference"] == pytest.approx(0, abs=1e-12)
            assert "sign_test" not in same
            if bucket["tested"]:
                tested += 1
                for test in ("bootstrap", "randomisation"):
                    assert (same[test]["p_value"], same[test]["p_holm"]) == (1, 1)
                if same["seeds"]["p_value"] is not None:
                    assert same["seeds"]["p_holm"] == pytest.approx(1)
                    assert same["seeds"]["low"] < 0 < same["seeds"]["high"]
            else:
                assert not {"bootstrap", "randomisation", "seeds"} & same.keys()
    assert tested > 15


def test_order_of_words_changes_nothing(everything):
    reference, settings = everything
    output = noisy(reference, 1, 0.3)
    rng = random.Random(1)
    shuffled = [" ".join(rng.sample(words, len(words))) for words in map(str.split, output)]
    assert shuffled != output
    test_set = evaluation_set(reference, ours=[output], shuffled=[shuffled])
    for table in score_words(test_set, settings, Confidence(50, 1)):
        for bucket in table["buckets"]:
            ours, other = ({**system, "name": ""} for system in bucket["systems"])
            ours.pop("difference", None), other.pop("difference")
            assert ours == other


def test_few_words_have_no_interval(everything):
    reference, settings = everything
    test_set = evaluation_set(reference, ours=[noisy(reference, 1, 0.3)])
    for table in score_words(test_set, replace(settings, least_words=10**6), Confidence(50, 1)):
        assert not any(bucket["tested"] for bucket in table["buckets"])
    settings = replace(settings, least_words=61)
    seen = set()
    for table in score_words(test_set, settings, Confidence(50, 1)):
        assert table["least_words"] == 61
        for bucket in table["buckets"]:
            (ours,) = bucket["systems"]
            assert bucket["tested"] == (bucket["words"] >= 61)
            assert (ours["interval"] is not None) == bucket["tested"]
            seen.add(bucket["tested"])
            if bucket["tested"] and ours["score"]:
                assert ours["interval"]["low"] <= ours["score"] <= ours["interval"]["high"]
    assert seen == {True, False}


def test_source_words_by_hand(tmp_path):
    """`x y z`, whose words depend on themselves, x and x: distances root, 1 and 2."""
    source = write_conllu(tmp_path / "src", ["x y z", ""], head=lambda word: 0)
    links = str(write(tmp_path / "links", ["0-0 1-0 2-2 2-3", ""]))
    settings = WordSettings(["distance"], tokenize="none", source_conllu=source, links=links)
    test_set = evaluation_set(["a b c d", ""], ours=[["d a", "e"]])
    (table,) = score_words(test_set, settings)
    assert [(each["bucket"], each["words"]) for each in table["buckets"]] == [
        ("1", 1), ("2", 2), ("root", 1)
    ]  # fmt: skip
    scores = {name: ours["score"] for name, ours in by_bucket(table).items()}
    assert scores == {"1": 100, "2": 50, "root": 100}
    assert (table["side"], table["measure"]) == ("source", "recall")
    assert table["words_without_bucket"] == 1  # b
    settings = replace(settings, links=str(write(tmp_path / "one", ["1-1 2-1 3-3 3-4", ""])))
    assert score_words(test_set, replace(settings, links_base=1)) == [table]


@pytest.mark.parametrize("kind", LOWS)
def test_every_number_has_one_bucket(kind):
    least = LOWS[kind][0]
    found = [number_bucket(kind, value) for value in range(least, 2000)]
    assert list(dict.fromkeys(found)) == number_buckets(kind)


def test_case_and_tokens_are_those_of_bleu(tmp_path):
    training = str(write(tmp_path / "train", ["Ein Hund."]))
    test_set = evaluation_set(["ein Hund."], ours=[["ein Hund ."]])
    settings = WordSettings(["seen"], training_text=training)
    (table,) = score_words(test_set, settings)
    assert [(each["bucket"], each["words"]) for each in table["buckets"]] == [
        ("seen", 2), ("not seen", 1)
    ]  # fmt: skip
    (table,) = score_words(test_set, replace(settings, lowercase=True))
    assert [(each["bucket"], each["words"]) for each in table["buckets"]] == [("seen", 3)]
    assert by_bucket(table)["seen"]["f1"] == 100


def test_trees_of_another_tokenisation_are_transferred(tmp_path):
    """`hund.` is one word of the text and two of the tree."""
    conllu = write_conllu(tmp_path / "ref", ["Ein Hund ."], ["DET NOUN PUNCT"])
    settings = WordSettings(["upos"], tokenize="none", reference_conllu=conllu)
    (table,) = score_words(evaluation_set(["Ein Hund."], ours=[["Hund."]]), settings)
    assert [each["bucket"] for each in table["buckets"]] == ["DET", "NOUN"]
    assert by_bucket(table)["NOUN"]["recall"] == 100


def test_counts_are_those_of_loops(everything):
    reference, settings = everything
    output = noisy(reference, 5, 0.4)
    (table,) = score_words(
        evaluation_set(reference, ours=[output]),
        replace(settings, by=["frequency"], reference_conllu=None),
    )
    words = " ".join(reference[:20]).split()
    found = {}
    for one, other in zip(map(str.split, reference), map(str.split, output)):
        for word in set(one) & set(other):
            bucket = number_bucket("frequency", words.count(word))
            found[bucket] = found.get(bucket, 0) + min(one.count(word), other.count(word))
    assert {name: ours["correct"][0] for name, ours in by_bucket(table).items()} == found
    assert np.sum(list(found.values())) > 300


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"by": ["colour"]}, "--words-by colour: give some of"),
        ({"by": ["upos"]}, "--words-by upos needs trees: give --reference-conllu"),
        ({"by": ["seen"]}, "--words-by seen needs the target side of the training text"),
        ({"by": ["upos"], "source_conllu": "x"}, "--source-conllu needs --links"),
        ({"by": ["upos"], "links": "x"}, "--links needs --source-conllu"),
        (
            {"by": ["seen"], "training_text": "x", "reference_conllu": "y"},
            "--reference-conllu needs",
        ),
        ({"by": ["upos"], "training_text": "x", "reference_conllu": "y"}, "--training-text needs"),
        ({"by": ["upos"], "hypothesis_conllu": {"a": ["x"]}}, "--hypothesis-conllu needs"),
        (
            {"by": ["upos"], "reference_conllu": "x", "source_conllu": "y", "links": "z"},
            "--source-conllu and --reference-conllu",
        ),
    ],
)
def test_settings_that_do_not_go_together(given, message):
    with pytest.raises(UserError, match=message):
        WordSettings(**given)


def bits_of(sentence: int, word: int) -> float:
    return round(1 + ((7 * sentence + 3 * word) % 11) / 4, 2)


def write_bits(path, lines, bits=bits_of):
    text = [
        [*((word, bits(place, i)) for i, word in enumerate(line.split())), ("</s>", 0.5)]
        for place, line in enumerate(lines)
    ]
    path.write_text("".join(bits_lines(text)), encoding="utf-8")
    return str(path)


# Natural log-likelihoods of `compare-ll` of compare-mt 0.2.10 for the same text and −bits · ln 2.
COMPARE_LL = {
    "frequency": {
        "0": -1.862833047754853,
        "1": -1.1634970530827655,
        "2": -1.7328679513998633,
        "3": -1.5348258998113076,
        "4": -0.9530773732699247,
        "5–9": -1.64622455382987,
    },
    "upos": {
        "ADJ": -1.4440566261665528,
        "ADP": -1.9061547465398496,
        "AUX": -2.0794415416798357,
        "CCONJ": -1.7328679513998633,
        "DET": -1.6288958743158717,
        "NOUN": -1.4902664382038826,
        "PRON": -1.7328679513998633,
        "SCONJ": -0.8664339756999316,
        "VERB": -1.4440566261665528,
    },
}


@pytest.mark.parametrize("kind", COMPARE_LL)
def test_bits_are_those_of_compare_ll(tmp_path, kind):
    given = {"reference_conllu": write_conllu(tmp_path / "ref", REFERENCE, REFERENCE_TAGS)}
    if kind == "frequency":
        given = {"training_text": str(write(tmp_path / "train", TRAINING))}
    bits = {"ours": [write_bits(tmp_path / "bits", REFERENCE)]}
    settings = WordSettings([kind], tokenize="none", bits=bits, **given)
    _, table = score_words(evaluation_set(REFERENCE, ours=[OUTPUT]), settings)
    assert table["measure"] == "bits"
    found = {name: -ours["score"] * np.log(2) for name, ours in by_bucket(table).items()}
    assert found == pytest.approx(COMPARE_LL[kind], abs=1e-9)
    assert all("precision" not in ours for ours in by_bucket(table).values())


def test_bits_by_hand(tmp_path):
    """Words that differ from the model's, a sentence too long for one run, and two runs."""
    reference = ["a b .", "c", "a a"]
    conllu = write_conllu(tmp_path / "ref", reference, ["X Y P", "Y", "X X"])
    (tmp_path / "one").write_text(
        "a\t1\nb.\t6\n</s>\t9\n\nc\t3\n</s>\t9\n\na\t2\na\t5\n</s>\t9\n\n"
    )
    (tmp_path / "two").write_text("a\t3\nb.\t2\n</s>\t1\n\n# too long\n\na\t0\na\t1\n</s>\t1\n\n")
    files = [str(tmp_path / name) for name in ("one", "two")]
    settings = WordSettings(
        ["upos"], tokenize="none", reference_conllu=conllu, bits={"ours": files}
    )
    _, table = score_words(evaluation_set(reference, ours=[reference, reference]), settings)
    # `b.` of the model begins in `b`; `.` has no bits of its own; no run has `c`.
    assert [(each["bucket"], each["words"]) for each in table["buckets"]] == [("X", 3), ("Y", 1)]
    assert table["words_without_bucket"] == 2
    found = by_bucket(table)
    assert found["X"]["runs"] == pytest.approx([8 / 3, 4 / 3])
    assert found["X"]["score"] == pytest.approx(2)
    assert found["Y"]["runs"] == [6, 2]


def shifted_bits(reference, less, seed):
    """The bits of a run, of words of many difficulties."""
    rng, hard = random.Random(f"{less} {seed}"), random.Random(1)
    difficulty = [[hard.gauss(5 - less, 1) for _ in line.split()] for line in reference]
    luck = rng.gauss(0, 0.02)
    return lambda sentence, word: difficulty[sentence][word] + luck + rng.gauss(0, 0.1)


def test_fewer_bits_are_better_and_are_tested(tmp_path):
    reference = sentences(300)
    files = {
        name: [
            write_bits(tmp_path / f"{name}{run}", reference, shifted_bits(reference, less, run))
            for run in range(3)
        ]
        for name, less in (("base", 0.0), ("ours", 0.4))
    }
    settings = WordSettings(
        ["seen"], tokenize="none", bits=files,
        training_text=str(write(tmp_path / "train", reference)),
    )  # fmt: skip
    test_set = evaluation_set(reference, base=[reference] * 3, ours=[reference] * 3)
    _, table = bucket_scores.compare_words(test_set, settings, SIGNIFICANCE)
    (bucket,) = table.buckets
    ours = bucket.systems[1]
    assert ours.difference == pytest.approx(-0.4, abs=0.05)
    assert all(test.p_value < 0.05 for test in ours.tests().values())
    assert set(ours.tests()) == {"bootstrap", "randomisation", "seeds", "blocks"}
    text = table.comparison_table(1, 1).render()
    assert text.splitlines()[2].split()[4] == f"{ours.difference:+.3f}"
    assert "bits ↓" in table.score_table(1, 1).render()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\t1\n\n", "bits:2: the sentence does not end in </s>: give a file of syntax-nmt"),
        ("a\t1\n</s>\t1\n", "bits:2: the last sentence is not whole"),
        ("a\tx\n", "bits:1: 'a\\tx' is no word with its bits"),
        ("a\tnan\n", "bits:1: 'a\\tnan' is no word with its bits"),
        ("a\t-0.1\n", "bits:1: 'a\\t-0.1' is no word with its bits"),
        ("", "bits has 0 sentences, reference 1: give parallel files"),
        ("b\t1\n</s>\t1\n\n", "bits: sentence 1 has the words 'b', reference:1 'a': give the bits"),
    ],
)
def test_bits_that_do_not_fit(tmp_path, text, message):
    (tmp_path / "bits").write_text(text)
    settings = WordSettings(
        ["seen"], tokenize="none", bits={"ours": [str(tmp_path / "bits")]},
        training_text=str(write(tmp_path / "train", ["a"])),
    )  # fmt: skip
    with pytest.raises(UserError) as caught:
        score_words(evaluation_set(["a"], ours=[["a"]]), settings)
    assert message in str(caught.value)
