"""Languages by Stanza's names: which models are looked for, and which fit a text."""

import ast
import json
import shlex

import pytest

from syntax_nmt.errors import UserError
from syntax_nmt.parsing.stanza.analysers import ConstituencyParser
from syntax_nmt.parsing.stanza.models import find_models
from syntax_nmt.parsing.stanza.offline import resources, stanza_names
from syntax_nmt.text.languages import plain_language


@pytest.mark.parametrize(
    ("lang", "plain"),
    [
        *(("EN", "en"), ("en_US", "en"), ("eng_Latn", "en"), ("deu", "de"), ("zh-Hans-CN", "zh")),
        *(("cmn", "zh"), ("grc", "grc"), ("", "")),
        *(("nor", "no"), ("cym", "cy"), ("wel", "cy"), ("mkd", "mk"), ("srp_Cyrl", "sr")),
        *(("sme", "sme"), ("pan", "pan")),
    ],
)
def test_two_letters_without_region(lang, plain):
    assert plain_language(lang) == plain


@pytest.mark.parametrize(
    ("lang", "names"),
    [
        ("EN", ["en"]),
        ("en_US", ["en-us", "en"]),
        ("eng", ["en"]),
        ("zh_TW", ["zh-hant", "zh-hans"]),
        ("zh", ["zh-hans"]),
    ],
)
def test_names_most_exact_first(tmp_path, lang, names):
    listed = {"zh": {"alias": "zh-hans"}, "zh-hans": {}, "en": {}}
    (tmp_path / "resources.json").write_text(json.dumps(listed))
    assert stanza_names(lang, tmp_path) == names


@pytest.mark.parametrize("content", ["[]", "{", "3"])
def test_a_list_of_resources_that_is_none(tmp_path, content):
    (tmp_path / "resources.json").write_text(content)
    assert resources(tmp_path) == {}
    assert stanza_names("en", tmp_path) == ["en"]


@pytest.mark.parametrize("lang", ["en_US", "EN", "eng"])
@pytest.mark.parametrize("layout", ["one language", "Stanza's own"])
def test_models_of_a_language_are_found_by_every_code_of_it(tmp_path, lang, layout):
    names = ["tagger.pt", "parser.pt"]
    if layout == "Stanza's own":
        names = ["en/pos/a.pt", "en/depparse/a.pt"]
        (tmp_path / "resources.json").write_text('{"en": {}}')
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert find_models("dependencies", lang, tmp_path).lang == "en"


def test_models_that_are_missing_are_named_as_stanza_does(tmp_path):
    said = (
        r"language 'en_US'.* with en-us/pos/\*\.pt and en-us/depparse/\*\.pt "
        r"or en/pos/\*\.pt and en/depparse/\*\.pt in .*download\(\"en\", "
    )
    with pytest.raises(UserError, match=said):
        find_models("dependencies", "en_US", tmp_path)


def test_the_download_command_quotes_the_folder(tmp_path):
    folder = tmp_path / "$(touch x)`touch x`'\"\\"
    with pytest.raises(UserError, match="on a machine with internet run") as caught:
        find_models("dependencies", "en", folder)
    python, option, code = shlex.split(str(caught.value).partition("internet run ")[2])
    assert (python, option) == ("python", "-c")
    assert ast.literal_eval(code.partition("stanza.download")[2]) == ("en", str(folder))


def test_models_fit_the_text_whatever_code_it_has(shared):
    models = shared / "models" / "en"
    words = ["Do", "n't", "go", "."]
    (tree,) = ConstituencyParser(find_models("constituents", "en_US", models)).analyse([words])
    assert tree is not None
    assert "n't" in tree
    with pytest.raises(UserError, match="are of language 'en', the text is of language 'de'"):
        ConstituencyParser(find_models("constituents", "de", models))
