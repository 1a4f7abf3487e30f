"""Options of fairseq-generate with every method: what they must change, and nothing else.

fairseq's own Transformer goes through the same tests, so that a failure tells whether it is its,
too. Scores are in base 2.
"""

import pytest
from methods import METHODS, inputs_of
from nonempty import some
from prepared_corpus import TEST_SENTENCES
from programs import Printed, System, each_system

pytestmark = pytest.mark.dear

QUICK = ("bi_scale_rnn",)  # each costs half a minute
MAX_LENGTH = 16
BEAM = 4
SEARCH = ("--beam", str(BEAM), "--max-len-b", str(MAX_LENGTH))
ALL = ("--nbest", str(BEAM))
PRINTED = 2e-4  # scores of tokens have four decimals


system = each_system(QUICK)


@pytest.fixture(scope="module")
def plain(system) -> Printed:
    """The n-best list of an ordinary beam search."""
    return system.generate(*SEARCH, *ALL)


@pytest.fixture(scope="module")
def forced(system) -> Printed:
    """References and their scores."""
    return system.generate("--score-reference")


def complete(printed: Printed, nbest: int = 1) -> bool:
    return {n: len(found) for n, found in printed.nbest.items()} == dict.fromkeys(
        range(TEST_SENTENCES), nbest
    )


def words(printed: Printed) -> dict[int, list[list[str]]]:
    return {n: [line.split() for line in found] for n, found in printed.nbest.items()}


def all_words(printed: Printed) -> list[list[str]]:
    return flat(words(printed))


def flat(found: dict[int, list]) -> list:
    return [part for n in sorted(found) for part in found[n]]


def close(one, other, tolerance=PRINTED) -> bool:
    """Whether token scores of all sentences are the same."""
    pairs = list(zip(flat(one.tokens), flat(other.tokens)))
    return len(pairs) >= TEST_SENTENCES and all(
        a == pytest.approx(b, rel=1e-3, abs=tolerance) for a, b in pairs
    )


def words_alone(system: System) -> tuple[str, ...]:
    """Options that take the probabilities of chunk boundaries out of the scores."""
    wanted = system.method in METHODS and METHODS[system.method].scores_chunks
    return ("--model-overrides", "{'no_joint_score': True}") if wanted else ()


def attends_to_phrases(system: System) -> bool:
    return system.method in METHODS and "--load-trees" in inputs_of(system.method)


def test_nbest_lists_are_sorted_and_distinct(system, plain):
    assert complete(plain, BEAM)
    assert all(len(set(found)) == BEAM for found in plain.nbest.values())
    assert all(found == sorted(found, reverse=True) for found in plain.scores.values())
    assert len(set(plain.best.values())) > 2  # models without training; but they read the source
    assert system.generate(*SEARCH).best == plain.best


def test_references_are_scored(system, forced):
    """As the validation loss has them; and a search that is forced to write them gives the same."""
    assert complete(forced)
    assert forced.best == forced.one("T")
    for score, tokens in zip(flat(forced.scores), flat(forced.tokens)):
        assert score == pytest.approx(sum(tokens) / len(tokens), abs=PRINTED)
    longest = max(map(len, all_words(forced)))
    whole = ("--beam", "1", "--max-len-b", str(longest), "--prefix-size", str(longest + 1))
    searched = system.generate(*whole, *words_alone(system))
    assert searched.best == forced.best
    assert close(searched, forced, 0.05)  # scores go down to −240, and rounding adds up


@pytest.mark.parametrize("limit", [("--sampling-topk", "1"), ("--sampling-topp", "1e-9")])
def test_sampling_the_best_word_is_greedy_search(system, limit):
    search = ("--beam", "1", "--max-len-b", str(MAX_LENGTH), *words_alone(system))
    search = (*search, "--temperature", "6")
    one = system.generate(*search, "--sampling", *limit)
    assert complete(one)
    assert one.best == system.generate(*search).best


def test_diverse_beams(system, plain):
    """fairseq's own search takes a sentence's number in the test set for its place in the batch.

    Which words a hypothesis that has ended would go on with is left to chance there, and counts for
    the diversity of the others: only the best translations are the same in every batch.
    """
    flags = (*SEARCH, *ALL, "--diverse-beam-groups", "2")
    near, far = (system.generate(*flags, "--diverse-beam-strength", s) for s in ("0.1", "9"))
    assert complete(near, BEAM)
    assert complete(far, BEAM)
    assert len({near.text, far.text, plain.text}) == 3
    alone, few, together = (
        system.generate(*flags, "--batch-size", size).best for size in ("1", "3", "64")
    )
    assert alone == few == together
    assert all(found == sorted(found, reverse=True) for found in far.scores.values())


def test_temperature(system):
    """No greedy choice changes with it, but for joint scores; token scores do."""
    search = ("--beam", "1", "--max-len-b", str(MAX_LENGTH), *words_alone(system))
    sharp, warm = (system.generate(*search, "--temperature", t) for t in ("1", "3"))
    assert complete(warm)
    assert sharp.best == warm.best
    assert not close(sharp, warm, 0.01)


@pytest.mark.parametrize("search", [SEARCH, ("--score-reference",)])
def test_hard_alignments(system, plain, forced, search):
    printed = system.generate(*search, "--print-alignment")
    assert printed.best == (forced if "--score-reference" in search else plain).best
    sources = {n: len(line.split()) for n, line in printed.one("S").items()}
    for n, (line,) in words(printed).items():
        links = [tuple(map(int, link.split("-"))) for link in printed.one("A")[n].split()]
        assert [target for _, target in links] == list(range(len(line)))
        assert all(source < sources[n] for source, _ in links)


def test_soft_alignments(system, plain):
    printed = system.generate(*SEARCH, "--print-alignment", "soft")
    assert printed.best == plain.best
    sources = {n: len(line.split()) for n, line in printed.one("S").items()}
    for n, (line,) in words(printed).items():
        rows = [list(map(float, row.split(","))) for row in printed.one("A")[n].split()]
        assert {len(row) for row in rows} == {sources[n] + 1}
        assert len(rows) == len(line) + 1
        of_words = [sum(row) for row in rows]
        if attends_to_phrases(system):  # which have the rest
            assert all(0 < each < 1.001 for each in some(of_words))
        else:
            assert of_words == pytest.approx([1.0] * len(rows), abs=1e-3)


def test_dropout_in_a_search(system, plain):
    """Nothing is dropped without `--retain-dropout`; with it what the overridden options say."""
    flags = (*SEARCH, *ALL, "--model-overrides")
    most, none = (f"{{'dropout': {p}, 'attention_dropout': {p}}}" for p in (0.3, 0.0))
    assert system.generate(*flags, most).nbest == plain.nbest
    assert system.generate(*flags, none, "--retain-dropout").nbest == plain.nbest
    drawn = [system.generate(*flags, most, "--retain-dropout", "--seed", seed) for seed in "112"]
    assert complete(drawn[0], BEAM)
    assert drawn[0].nbest != plain.nbest
    assert drawn[0].text == drawn[1].text
    assert drawn[0].nbest != drawn[2].nbest
