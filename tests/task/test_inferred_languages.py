"""Languages that are not given are those of the folder's texts."""

import pytest
from fairseq.tasks.translation import TranslationConfig

from syntax_nmt.errors import UserError
from syntax_nmt.task.annotated_splits import check_languages


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ((None, None), ("pt-BR", "en")),
        (("pt-BR", None), ("pt-BR", "en")),
        # fairseq alone would take the pair of the file names, and drop what is given.
        (("en", None), ("en", "pt-BR")),
        ((None, "pt-BR"), ("en", "pt-BR")),
        (("en", "pt-BR"), ("en", "pt-BR")),
    ],
)
def test_what_is_not_given(tmp_path, given, taken):
    cfg = options(tmp_path, *given)
    check_languages(cfg)
    assert (cfg.source_lang, cfg.target_lang) == taken


def test_a_language_without_texts(tmp_path):
    cfg = options(tmp_path, "fr", None)
    with pytest.raises(UserError, match=r"give --source-lang and --target-lang .*en, fr, pt-BR"):
        check_languages(cfg)


def options(folder, source, target):
    for language in ("pt-BR", "en", "fr"):
        (folder / f"dict.{language}.txt").write_text("a 1\n")
    for language in ("pt-BR", "en"):
        (folder / f"train.pt-BR-en.{language}.idx").touch()
    return TranslationConfig(data=str(folder), source_lang=source, target_lang=target)
