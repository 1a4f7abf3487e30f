"""`from_pretrained(…)` of every method: what fairseq's programs give, from Python."""

import pytest
from commands import USER_DIR
from fairseq.models import ARCH_MODEL_REGISTRY
from methods import METHODS, READERS
from prepared_corpus import TEST_SENTENCES
from programs import System

from syntax_nmt.errors import UserError

EACH = [pytest.param(m, marks=[] if m in READERS else pytest.mark.slow) for m in METHODS]


@pytest.fixture(scope="module", params=EACH)
def system(request, make_system) -> System:
    return make_system(request.param)


def load(system: System, prepared, **options):
    """The model as a Python program loads it."""
    architecture = METHODS[system.method].training[1]
    return ARCH_MODEL_REGISTRY[architecture].from_pretrained(
        str(system.path.parent),
        system.path.name,
        str(prepared.data),
        user_dir=USER_DIR,
        bpe="sentencepiece",
        sentencepiece_model=str(prepared.folder / "sentencepiece.model"),
        tokenizer="syntax_words",
        source_tokenizer="none",
        target_tokenizer="none",
        **options,
    )


def test_translates_as_interactive_does(system, inputs, prepared):
    hub = load(system, prepared, **({"parser_config": inputs[1]} if inputs else {}))
    sentences = (prepared.corpus / "test.src").read_text(encoding="utf-8").splitlines()
    translated = hub.translate(sentences, beam=3, max_len_b=12)
    assert len(translated) == TEST_SENTENCES
    printed = system.type(
        *("--beam", "3", "--max-len-b", "12", *inputs, "--bpe", "sentencepiece"),
        *("--sentencepiece-model", prepared.folder / "sentencepiece.model"),
        *("--tokenizer", "syntax_words", "--source-tokenizer", "none"),
        *("--target-tokenizer", "none", "--input", prepared.corpus / "test.src"),
    )
    assert dict(enumerate(translated)) == printed.one("D")
    assert hub.translate(sentences[3], beam=3, max_len_b=12) == translated[3]
    odd = hub.translate(["", "  ", sentences[3], "👨\u200d👩 \x00"], beam=3, max_len_b=12)
    assert odd[2] == translated[3]
    assert odd[0] == odd[1]
    drawn = hub.sample(sentences, sampling=True, sampling_topk=5, temperature=6.0, max_len_b=12)
    assert len(drawn) == TEST_SENTENCES
    assert drawn != hub.sample(sentences, max_len_b=12)
    hypotheses = hub.generate([hub.encode(sentence) for sentence in sentences[:2]], nbest=3)
    assert [len(found) for found in hypotheses] == [5, 5]  # the default beam


@pytest.mark.parametrize("method", READERS)
def test_a_missing_parser_is_named(make_system, prepared, method):
    hub = load(make_system(method), prepared)
    with pytest.raises(UserError, match="--parser-config FILE"):
        hub.translate("ka", beam=1)
