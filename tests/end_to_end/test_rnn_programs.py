"""fairseq's programs with the RNN family: trained, translated, aligned, scored, in an ensemble."""

import re

import pytest
from commands import assert_task_is_asked_for, fairseq, succeed
from prepared_corpus import TEST_SENTENCES

pytestmark = pytest.mark.dear

TRAINING = (
    *("--share-all-embeddings", "--encoder-embed-dim", "48", "--decoder-embed-dim", "48"),
    *("--criterion", "label_smoothed_cross_entropy", "--label-smoothing", "0.1"),
    *("--optimizer", "adam", "--lr", "1e-2", "--clip-norm", "1", "--max-tokens", "1000"),
    *("--max-update", "40", "--no-epoch-checkpoints", "--disable-validation"),
)


def trained(prepared, folder, arch):
    train = fairseq("train", prepared.data, *TRAINING, "--arch", arch, "--save-dir", folder)
    succeed(*train)
    return folder / "checkpoint_last.pt"


@pytest.fixture(scope="module")
def cgru(prepared, tmp_path_factory):
    return trained(prepared, tmp_path_factory.mktemp("cgru"), "rnn_search_cgru_tiny")


@pytest.fixture(scope="module")
def rnmt(prepared, tmp_path_factory):
    return trained(prepared, tmp_path_factory.mktemp("rnmt"), "relation_rnn_tiny")


def generate(prepared, path, *arguments):
    command = fairseq("generate", prepared.data, "--path", path, "--max-len-b", "20")
    return succeed(*command, "--beam", "3", *arguments).stdout


def lines(kind, text):
    """The fields of each line H-…, A-… by sentence number, in order."""
    found = {}
    for number, rest in re.findall(rf"^{kind}-(\d+)\t(.*)$", text, flags=re.MULTILINE):
        found.setdefault(int(number), []).append(rest.split("\t"))
    return found


def test_translates_and_aligns_in_batches_of_any_size(prepared, cgru):
    few = generate(prepared, cgru, "--batch-size", "3", "--print-alignment")
    many = generate(prepared, cgru, "--batch-size", "64", "--print-alignment")
    translations = {number: best[0][1] for number, best in lines("H", few).items()}
    assert sorted(translations) == list(range(TEST_SENTENCES))
    assert len(set(translations.values())) > 5  # it has learnt to read its source
    assert translations == {number: best[0][1] for number, best in lines("H", many).items()}
    alignments = lines("A", few)
    assert alignments == lines("A", many)
    sources = lines("S", few)
    for number, best in translations.items():
        links = [link.split("-") for link in alignments[number][0][0].split()]
        assert [int(target) for _, target in links] == list(range(len(best.split())))
        assert all(int(source) < len(sources[number][0][0].split()) for source, _ in links)


def test_interactive_equals_generate(prepared, cgru):
    generated = {n: best[0][1] for n, best in lines("H", generate(prepared, cgru)).items()}
    typed = succeed(
        *fairseq("interactive", prepared.data, "--path", cgru, "--max-len-b", "20"),
        *("--beam", "3", "--bpe", "sentencepiece", "--buffer-size", "7"),
        *("--sentencepiece-model", prepared.folder / "sentencepiece.model"),
        *("--tokenizer", "syntax_words", "--source-tokenizer", "none"),
        *("--target-tokenizer", "none"),
        stdin=(prepared.corpus / "test.src").read_text(encoding="utf-8"),
    ).stdout
    assert {n: best[0][1] for n, best in lines("H", typed).items()} == generated


def test_ensemble_with_the_relation_network(prepared, cgru, rnmt):
    done = generate(prepared, f"{cgru}:{rnmt}", "--print-alignment", "soft", "--nbest", "2")
    assert all(len(best) == 2 for best in lines("A", done).values())
    alone = lines("H", generate(prepared, rnmt, "--score-reference"))
    assert len(alone) == TEST_SENTENCES
    together = lines("H", generate(prepared, f"{cgru}:{rnmt}", "--score-reference"))
    assert {n: best[0][1] for n, best in alone.items()} == {
        n: best[0][1] for n, best in together.items()
    }
    assert all(alone[n][0][0] != together[n][0][0] for n in alone)


def test_forgotten_task(prepared, cgru):
    assert_task_is_asked_for(*fairseq("generate", prepared.data, "--path", cgru))


def test_longer_sources_than_the_limit_are_named(prepared, cgru):
    """The limit is the task's: the model itself has none."""
    done = succeed(
        *fairseq("generate", prepared.data, "--path", cgru, "--max-source-positions", "8"),
        *("--skip-invalid-size-inputs-valid-test", "--max-len-b", "5", "--beam", "1"),
    )
    assert "skipped" in done.stdout + done.stderr
