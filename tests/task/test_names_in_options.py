"""Names that fairseq's parser would answer with a list of hundreds; languages not given."""

import pytest
from commands import USER_DIR, refuse
from fairseq.tasks.translation import TranslationConfig

from syntax_nmt.errors import UserError
from syntax_nmt.task.annotated_splits import check_languages
from syntax_nmt.task.misspelled_names import refuse_misspelled_names

OURS = ("data-bin", "--user-dir", USER_DIR)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--arch", "pascal_transfomer"), "--arch pascal_transfomer: no such architecture: did "
         "you mean pascal_transformer"),
        (("--arch=lisa_transformr",), "did you mean lisa_transformer"),
        (("-a", "gcn_rn"), "did you mean gcn_rnn"),
        (("--arch", "gcn_rnn", "--criterion", "dependency_cross_entropi"), "no such criterion: "
         "did you mean dependency_cross_entropy"),
        (("--task", "syntax_translatio"), "no such task: did you mean syntax_translation"),
    ],
)  # fmt: skip
def test_the_name_that_was_meant(options, message):
    with pytest.raises(UserError, match=message):
        refuse_misspelled_names([*OURS, *options])


@pytest.mark.parametrize(
    "words",
    [
        OURS,
        (*OURS, "--arch", "pascal_transformer", "--task", "syntax_translation"),
        (*OURS, "--arch", "nothing_like_it_at_all_9"),
        (*OURS, "--arch"),
        # It may import this package, and register its own names afterwards.
        ("data-bin", "--user-dir", "elsewhere", "--arch", "pascal_transfomer"),
        ("data-bin", "--arch", "pascal_transfomer"),
    ],
)
def test_what_fairseq_decides(words):
    refuse_misspelled_names(words)


def test_one_line_of_a_program():
    options = (*OURS, "--arch", "pascal_transfomer")
    line = refuse("fairseq_cli.train", *options, anew=True)
    assert line.endswith("did you mean pascal_transformer?")


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
    cfg = languages(tmp_path, *given)
    check_languages(cfg)
    assert (cfg.source_lang, cfg.target_lang) == taken


def test_a_language_without_texts(tmp_path):
    cfg = languages(tmp_path, "fr", None)
    with pytest.raises(UserError, match=r"give --source-lang and --target-lang .*en, fr, pt-BR"):
        check_languages(cfg)


def languages(folder, source, target):
    for language in ("pt-BR", "en", "fr"):
        (folder / f"dict.{language}.txt").write_text("a 1\n")
    for language in ("pt-BR", "en"):
        (folder / f"train.pt-BR-en.{language}.idx").touch()
    return TranslationConfig(data=str(folder), source_lang=source, target_lang=target)
