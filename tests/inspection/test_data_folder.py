import pytest

from syntax_nmt.data.data_bin_names import TextName
from syntax_nmt.inspection.data_folder import find_data


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("train.de-en.de", ("train", ("de", "en"), "de")),
        ("test1.zh-Hans-en.zh-Hans", ("test1", ("zh-Hans", "en"), "zh-Hans")),
        ("train.en-zh-Hans.en", ("train", ("en", "zh-Hans"), "en")),
        ("valid.de-None.de", ("valid", ("de", "None"), "de")),
        ("train.en.tok-de.en.tok", ("train", ("en.tok", "de"), "en.tok")),
        ("train.de-en.fr", None),
        ("train.en", None),
        ("train.align.de-en", None),
        ("model", None),
    ],
)
def test_names(name, parts):
    parsed = TextName.parse(name)
    assert parsed == (parts and TextName(*parts))
    assert parsed is None or str(parsed) == name


def test_what_lies_there(tmp_path):
    texts = ["train.de-en.de", "train.de-en.en", "train2.de-en.de", "train10.de-en.de"]
    texts += ["valid.de-en.de", "test.de-en.en", "extra.de-en.de"]
    for name in reversed(texts):
        (tmp_path / f"{name}.idx").touch()
    for name in ("train.de-en.de.heads.bin", "dict.de.txt", "syntax.json"):
        (tmp_path / name).touch()
    found = find_data(tmp_path)
    assert [str(text) for text in found.texts] == texts
    assert found.annotation == ("train.de-en.de.heads",)


def test_sources_come_before_targets(tmp_path):
    for name in ("test.fr-en.en", "test.fr-en.fr"):
        (tmp_path / f"{name}.bin").touch()
    assert [text.language for text in find_data(tmp_path).texts] == ["fr", "en"]
