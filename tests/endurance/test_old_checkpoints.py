"""Checkpoints and annotation files of older versions are read by this one.

No weights are kept: `checkpoint_record_VERSION.json` has the names of options and parameters, their
values and shapes, and an annotation file of a few rows. A checkpoint of random numbers is made of
them; the record has a few of its logits. A new version adds a record of its own, and the older ones
stay:

    PYTHONPATH=tests python tests/endurance/checkpoint_record.py \
        tests/endurance/checkpoint_record_VERSION.json
"""

import base64
import json
from argparse import Namespace
from pathlib import Path

import checkpoint_record
import pytest
import torch
from checkpoint_record import (
    CHUNK_TAGS,
    FAMILIES,
    ROWS,
    data_folder,
    defaults,
    shapes,
    some_logits,
    weights_of,
)
from fairseq import checkpoint_utils, tasks
from fairseq.criterions import CRITERION_DATACLASS_REGISTRY
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY
from nonempty import some
from omegaconf import OmegaConf
from small_models import annotated_batch, random_sentences

from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.data.binarised_annotation import read_labels
from syntax_nmt.data.manifest import read_manifest
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.models.family_options import command_line_options
from syntax_nmt.models.model_building import keep_defaults
from syntax_nmt.task.syntax_translation import SyntaxTranslationConfig

RECORDS = {
    path.stem.rpartition("_")[2]: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(Path(__file__).parent.glob("checkpoint_record_*.json"))
}
CASES = [(version, model) for version, record in RECORDS.items() for model in record["models"]]
BROKEN = (
    "checkpoints of {version} have {what}: let them load (upgrade the options in build_model, the "
    "parameters in upgrade_state_dict_named), or say under 'trained models' in CHANGELOG.md what "
    "is to be done with them, and only then write the record anew"
)
UNKNOWN = "an_option_of_a_newer_version"


def broken(version: str, what: str) -> str:
    return BROKEN.format(version=version, what=what)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return data_folder(tmp_path_factory.mktemp("data"))


def model_options(record: dict, name: str) -> dict:
    of_model = record["models"][name]
    shared = record["shared"][checkpoint_record.family(of_model["arch"])]
    return {**shared, **of_model["options"], "arch": of_model["arch"]}


def write_checkpoint(path: Path, record: dict, name: str, by_hydra=False, **more) -> dict:
    """What fairseq writes, of random numbers; gives the parameters."""
    options = {**model_options(record, name), **more}
    task = {**record["task"], "_name": "syntax_translation", "data": "not there", **more}
    task.update(source_lang="src", target_lang="tgt")
    model = {**options, "_name": options["arch"]} if by_hydra else Namespace(**options)
    weights = weights_of(record["models"][name]["parameters"])
    state = {
        "args": None,
        "cfg": {"task": task, "model": model, "criterion": {"_name": None}},
        "model": weights,
        "extra_state": {"epoch": 1},
        "optimizer_history": [{"num_updates": 1, "best_loss": 1.0}],
        "last_optimizer_state": None,
        "task_state": {},
    }
    torch.save(state, path)
    return weights


def load(path: Path, folder: Path):
    overrides = {"data": str(folder)}
    (model,), _, task = checkpoint_utils.load_model_ensemble_and_task([str(path)], overrides)
    return model, task


def translate(model, task):
    sentences = random_sentences([5, 3]), random_sentences([4, 4])
    sample = annotated_batch(model, task, *sentences, searches=True)
    search = Namespace(beam=2, max_len_a=0, max_len_b=6)
    return task.inference_step(task.build_generator([model.eval()], search), [model], sample)


@pytest.mark.parametrize(("version", "name"), CASES)
def test_loads_and_translates(version, name, folder, tmp_path):
    record, path = RECORDS[version], tmp_path / "checkpoint.pt"
    weights = write_checkpoint(path, record, name)
    try:
        model, task = load(path, folder)
    except Exception as error:
        pytest.fail(broken(version, f"parameters or options of {name} that do not load: {error}"))
    loaded = model.state_dict()
    assert shapes(loaded) == record["models"][name]["parameters"], broken(version, "others")
    for parameter, value in weights.items():
        assert torch.equal(loaded[parameter], value), broken(version, parameter)
    for hypotheses in translate(model, task):
        assert hypotheses[0]["positional_scores"].isfinite().all()
    found, expected = some_logits(model, task), record["models"][name]["logits"]
    close = pytest.approx([*map(float, expected.split())], rel=1e-5, abs=1e-5)
    what = f"{name} with the logits {expected}, now {found}"
    assert [*map(float, found.split())] == close, broken(version, what)


@pytest.mark.parametrize("by_hydra", [False, True])
def test_presets_of_today_do_not_reach_older_checkpoints(by_hydra):
    """fairseq applies the preset again while it loads: an option it has learned of stays out."""
    options = {"arch": "phrase_transformer_tiny", "phrase_attention": True}
    of_another = {"arch": "transformer"}
    for cfg in (options, of_another):
        cfg = OmegaConf.create(cfg) if by_hydra else Namespace(**cfg)
        keep_defaults(cfg)
        if cfg.arch == "transformer":
            assert "phrase_combine_dim" not in cfg
            continue
        ARCH_CONFIG_REGISTRY[cfg.arch](cfg)
        assert cfg.phrase_combine_dim is None  # as wide as the FFN, as all were in 0.1.0
        assert cfg.phrase_attention is True


@pytest.mark.parametrize(("version", "name"), CASES)
def test_options_keep_their_names(version, name):
    """One that nobody reads any more would be passed over without a word."""
    model = ARCH_MODEL_REGISTRY[RECORDS[version]["models"][name]["arch"]]
    lost = set(model_options(RECORDS[version], name)) - set(command_line_options(model)) - {"arch"}
    assert not lost, broken(version, f"the options {sorted(lost)}")


@pytest.mark.parametrize("version", RECORDS)
def test_defaults_stay(version):
    """fairseq saves the options that were given or preset; all others have today's defaults."""
    record = RECORDS[version]
    today = {name: plain(kind) for name, kind in FAMILIES.items()}
    today["task"] = plain(SyntaxTranslationConfig)
    for name, before in {**record["defaults"], "task": record["task"]}.items():
        for option, value in before.items():
            assert option in today[name], broken(version, f"an option {option}")
            what = f"{option} {value} where none was given, now {today[name][option]}"
            assert today[name][option] == value, broken(version, what)


def plain(kind: type) -> dict:
    """Defaults as JSON has them."""
    return json.loads(json.dumps(defaults(kind), default=str))


@pytest.mark.parametrize("version", RECORDS)
def test_criterions_keep_their_options(version, folder):
    """fairseq-validate builds the criterion of a checkpoint, and drops what it does not know."""
    languages = {"source_lang": "src", "target_lang": "tgt"}
    task = tasks.setup_task(
        OmegaConf.create({"_name": "syntax_translation", "data": str(folder), **languages})
    )
    for name, before in some(RECORDS[version]["criterions"].items()):
        known = plain(CRITERION_DATACLASS_REGISTRY[name])
        lost = set(before) - set(known)
        assert not lost, broken(version, f"the options {sorted(lost)} of {name}")
        saved = OmegaConf.create({**before, "_name": name, "sentence_avg": False, UNKNOWN: 1})
        criterion = task.build_criterion(saved, from_checkpoint=True)
        assert type(criterion).__module__.startswith("syntax_nmt.")


@pytest.mark.parametrize("version", RECORDS)
def test_architectures_keep_their_names(version):
    lost = set(RECORDS[version]["architectures"]) - set(ARCH_MODEL_REGISTRY)
    assert not lost, broken(version, f"the architectures {sorted(lost)}")


@pytest.mark.parametrize("by_hydra", [False, True])
@pytest.mark.parametrize("name", ["dependency_transformer", "bi_scale_rnn"])
def test_options_of_a_newer_version_do_no_harm(name, by_hydra, folder, tmp_path):
    record, path = RECORDS[max(RECORDS)], tmp_path / "checkpoint.pt"
    write_checkpoint(path, record, name, by_hydra, **{UNKNOWN: 1})
    assert len(translate(*load(path, folder))) == 2


@pytest.mark.parametrize("by_hydra", [False, True])
@pytest.mark.parametrize(
    ("name", "unread"),
    [
        ("rnn_search", {"relation_hidden_dim": 64}),
        (
            "syntax_transformer",
            {
                **{"phrase_summary": "mean", "local_attention_layers": 99},
                **{"syntactic_distance_lookback": 3, "syntactic_distance_gate": "sigmoid"},
                "syntactic_distance_temperature": -7.0,
            },
        ),
    ],
)
def test_options_without_effect_do_no_harm(name, unread, by_hydra, folder, tmp_path):
    """0.1.0 took them; today a new training with them is refused."""
    path = tmp_path / "checkpoint.pt"
    write_checkpoint(path, RECORDS["0.1.0"], name, by_hydra, **unread)
    assert len(translate(*load(path, folder))) == 2


@pytest.mark.parametrize("version", RECORDS)
def test_annotation_files_are_read(version, tmp_path):
    for name, content in RECORDS[version]["files"].items():
        (tmp_path / name).write_bytes(base64.b64decode(content))
    (name,) = read_manifest(tmp_path)
    rows = RaggedArray.open(tmp_path / name)
    assert [rows[index].tolist() for index in range(len(rows))] == list(ROWS)
    assert read_labels(tmp_path, CHUNKS) == CHUNK_TAGS
