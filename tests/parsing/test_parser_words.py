"""Words as parsers expect them: same number, same order."""

import pytest

from syntax_nmt.parsing.analyser import parser_words, penn_words


@pytest.mark.parametrize("lang", ["en", "en_US", "en-GB", "EN"])
def test_every_english_is_cut_as_treebanks_do(lang):
    assert parser_words(["don", "'t"], lang) == ["do", "n't"]


@pytest.mark.parametrize(
    ("corpus", "parser"),
    [
        ("I don 't know", "I do n't know"),
        *(("CAN 'T", "CA N'T"), ("don &apos;t", "do n't"), ("don ’t", "do n't")),
        *((same, same) for same in ("do n't", "the man 's hat", "n 't", "@ - @ a@-@b", "")),
        ("well @-@ known and @/@ or", "well - known and / or"),
        ("&lt; &amp;lt; &quot; &#91; &#124; R&amp;D", '< &lt; " [ | R&D'),
        ("-LRB- a -RRB- `` b ''", '( a ) " b "'),
    ],
)
def test_spelling_changes_and_nothing_else(corpus, parser):
    assert parser_words(corpus.split(), "en") == parser.split()
    assert len(corpus.split()) == len(parser.split())


def test_other_languages_keep_their_apostrophes():
    assert parser_words(["den", "'t", "l’", "&apos;"], "nl") == ["den", "'t", "l’", "'"]


def test_names_of_the_penn_treebank():
    assert penn_words(['"', "(", "x", ")", '"', '"']) == ["``", "-LRB-", "x", "-RRB-", "''", "``"]
    assert penn_words(parser_words(["``", "-LCB-", "''"], "en")) == ["``", "-LCB-", "''"]
