"""The file of --parser-config: what is written is what is read, and mistakes are one line."""

import json
import shutil
import subprocess
import sys

import pytest
from nonempty import some

from syntax_nmt.errors import UserError
from syntax_nmt.parsing.config import ParserConfig
from syntax_nmt.parsing.stanza.models import find_models

NAMES = ("pos_model_path", "constituency_model_path", "constituency_pretrain_path")
FILES = ("tagger.pt", "constituency.pt", "con_pretrain.pt")
OF_DEPENDENCIES = {"pos_model_path": "tagger.pt", "depparse_model_path": "parser.pt",
                   "mwt_model_path": "mwt.pt"}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A folder of models, empty files, beside a folder for the configuration."""
    (tmp_path / "models").mkdir()
    (tmp_path / "data-bin").mkdir()
    for name in {*FILES, *OF_DEPENDENCIES.values()}:
        (tmp_path / "models" / name).touch()
    return tmp_path


def write(folder, **values):
    path = folder / "data-bin" / "parser.json"
    path.write_text(json.dumps({"lang": "en", "subwords": "sentencepiece", **values}))
    return path


def own_layout(stanza_dir, lang, resources, *parts):
    """A folder as Stanza's own downloads lay it out."""
    for name in parts:
        (stanza_dir / lang / name).mkdir(parents=True)
        (stanza_dir / lang / name / "model.pt").touch()
    (stanza_dir / "resources.json").write_text(json.dumps(resources))


def refused(path):
    with pytest.raises(UserError) as caught:
        ParserConfig.read(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def test_defaults_and_paths_relative_to_the_file(folder, monkeypatch):
    path = write(folder, stanza_dir="../models")
    monkeypatch.chdir(path.parent)
    config = ParserConfig.read(path.name)
    assert (config.device, config.max_words, config.batch_size) == ("cpu", 250, 1000)
    monkeypatch.chdir("/")
    models = config.models("constituents")
    assert [name for name, _ in models.files] == list(NAMES)
    assert [file.resolve() for _, file in models.files] == [folder / "models" / f for f in FILES]


def test_named_files_alone_need_no_folder(folder):
    files = {name: f"../models/{file}" for name, file in zip(NAMES[:2], FILES)}
    models = ParserConfig.read(write(folder, **files)).models("constituents")
    assert [name for name, _ in models.files] == list(NAMES[:2])
    assert models.stanza_dir is None


def test_the_language_is_named_as_stanza_names_it(folder):
    files = {name: f"../models/{file}" for name, file in zip(NAMES[:2], FILES)}
    for where in (files, {"stanza_dir": "../models"}):
        config = ParserConfig.read(write(folder, lang="en_US", **where))
        assert config.models("constituents").lang == "en"


def test_dependencies_beside_constituents(folder):
    """A folder of all models parses both; the tagger is one."""
    config = ParserConfig.read(write(folder, stanza_dir="../models"))
    found = config.models("dependencies")
    assert {name: file.name for name, file in found.files} == OF_DEPENDENCIES
    assert found.task == "dependencies"
    assert [name for name, _ in config.models("constituents").files] == list(NAMES)


def test_named_file_goes_before_the_folder(folder):
    (folder / "other.pt").touch()
    path = write(folder, stanza_dir="../models", constituency_model_path="../other.pt")
    files = dict(ParserConfig.read(path).models("constituents").files)
    assert files["constituency_model_path"].resolve() == folder / "other.pt"
    assert files["pos_model_path"].resolve() == folder / "models" / "tagger.pt"


@pytest.mark.parametrize("given", [{}, {"constituency_model_path": "extra.pt"}])
@pytest.mark.parametrize("layout", ["one language", "Stanza's own"])
def test_what_prepare_writes_parses_with_the_same_models(folder, given, layout, monkeypatch):
    stanza_dir = folder / "models"
    (folder / "extra.pt").touch()
    if layout == "Stanza's own":
        stanza_dir = folder / "stanza_resources"
        own_layout(stanza_dir, "en", {"en": {}}, "pos", "constituency")
    files = {name: folder / file for name, file in given.items()}
    monkeypatch.chdir(folder)
    models = find_models("constituents", "en", stanza_dir.relative_to(folder), files)
    written = ParserConfig.of([models], "subword-nmt", "cuda:1", max_words=99, batch_size=7)
    path = folder / "data-bin" / "parser.json"
    written.write(path)
    monkeypatch.chdir("/")
    read = ParserConfig.read(path)
    assert (read.lang, read.subwords) == ("en", "subword-nmt")
    assert (read.device, read.max_words, read.batch_size) == ("cuda:1", 99, 7)
    found = read.models("constituents")
    assert found.stanza_dir == (None if models.stanza_dir is None else stanza_dir)
    assert found.files == tuple((name, folder / file) for name, file in models.files)


@pytest.mark.parametrize("layout", ["one language", "Stanza's own"])
def test_both_tasks_in_one_file(folder, layout, monkeypatch):
    """What is read parses each task as it was parsed, by its exact language, too."""
    stanza_dir = folder / "models"
    if layout == "Stanza's own":
        (stanza_dir / "parser.pt").unlink()
        resources = {"zh-hans": {}, "zh": {"alias": "zh-hans"}}
        own_layout(stanza_dir, "zh-hans", resources, "pos", "depparse", "lemma")
    tasks = ("dependencies", "constituents")
    models = [find_models(task, "zh", stanza_dir) for task in tasks]
    ParserConfig.of(models, "none").write(folder / "data-bin" / "parser.json")
    found = ParserConfig.read(folder / "data-bin" / "parser.json")
    assert [found.models(task) for task in tasks] == models


def test_models_inside_the_prepared_folder_move_with_it(folder):
    inside = folder / "data-bin" / "models"
    shutil.copytree(folder / "models", inside)
    models = find_models("constituents", "en", inside)
    ParserConfig.of([models], "none").write(folder / "data-bin" / "parser.json")
    shutil.move(folder / "data-bin", folder / "elsewhere")
    found = ParserConfig.read(folder / "elsewhere" / "parser.json").models("constituents")
    assert all(file.parent == folder / "elsewhere" / "models" for _, file in some(found.files))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"max_word": 3}, "'max_word'"),
        ({"max_words": 0}, "max_words: 0"),
        ({"batch_size": "9"}, 'batch_size: "9"'),
        ({"device": "gpu"}, 'device: "gpu"'),
        ({"lang": None}, "lang: null"),
        ({"subwords": "bpe"}, "sentencepiece, subword-nmt, none"),
        ({"pos_model_path": "nowhere.pt"}, "nowhere.pt: no such file"),
        ({"ner_model_path": "../models/tagger.pt"}, "'ner_model_path'"),
    ],
)
def test_mistaken_values(folder, values, said):
    assert said in refused(write(folder, **values))


@pytest.mark.parametrize("key", ["lang", "subwords"])
def test_missing_key(folder, key):
    path = folder / "data-bin" / "parser.json"
    values = {"lang": "en", "subwords": "none"}
    del values[key]
    path.write_text(json.dumps(values))
    assert f"{key} is missing" in refused(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"lang":\n "en",}', "parser.json:2: is not JSON"),
        (b"", "is not JSON"),
        (b'["en"]', "no JSON object"),
        (None, "No such file"),
        (b"\xff\xfe{}", "UTF-8"),
    ],
)
def test_other_files(folder, content, said):
    path = folder / "data-bin" / "parser.json"
    if content is not None:
        path.write_bytes(content)
    assert said in refused(path)


def test_the_plugin_does_not_load_stanza():
    code = "import sys, syntax_nmt; sys.exit('stanza' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
