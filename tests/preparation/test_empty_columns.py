"""`prepare --features` refuses columns without values before it makes anything."""

import pytest
from commands import refuse

from syntax_nmt.data.annotation.columns import LEMMA, UPOS
from syntax_nmt.data.conllu import format_conllu
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.stanza.models import StanzaModels
from syntax_nmt.preparation.empty_columns import refuse_not_made


@pytest.fixture
def corpus(tmp_path):
    """With parts of speech, and without lemmas."""
    (tmp_path / "train.en").write_text("a cat\n" * 3)
    (tmp_path / "train.de").write_text("eine Katze\n" * 3)
    block = format_conllu(["a", "cat"], [1, 1], relations=["det", "root"], upos=["DET", "NOUN"])
    (tmp_path / "train.en.conllu").write_text(block * 3)
    return tmp_path


def test_a_file_without_lemmas(corpus):
    said = refuse(
        *("syntax_nmt.cli", "prepare", "--source-lang", "en", "--target-lang", "de"),
        *("--trainpref", corpus / "train", "--destdir", corpus / "out"),
        *("--features", "upos,lemma"),
    )
    assert f"{corpus}/train.en.conllu: no word has a value in column LEMMA: leave lemma out" in said
    assert not (corpus / "out").exists()


def test_models_without_a_lemmatiser(tmp_path):
    files = (("pos_model_path", tmp_path / "tagger.pt"), ("depparse_model_path", tmp_path / "p.pt"))
    alone = StanzaModels("dependencies", "en", None, files)
    refuse_not_made(alone, [UPOS])
    message = (
        r"--features lemma: there is no lemmatiser beside .*tagger\.pt and .*: leave lemma out"
    )
    with pytest.raises(UserError, match=message):
        refuse_not_made(alone, [UPOS, LEMMA])
    (tmp_path / "en" / "lemma").mkdir(parents=True)
    (tmp_path / "en" / "lemma" / "combined.pt").touch()
    refuse_not_made(StanzaModels("dependencies", "en", tmp_path, ()), [LEMMA])
