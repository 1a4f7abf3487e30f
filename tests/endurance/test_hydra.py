"""The YAML of each paper: the settings of its train.sh, trained by fairseq-hydra-train."""

import json
import re
import shlex
from argparse import Namespace
from pathlib import Path

import pytest
import torch
from commands import REPOSITORY, USER_DIR, succeed
from fairseq import checkpoint_utils, tasks
from fairseq.dataclass.initialize import add_defaults, hydra_init
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY
from fairseq_cli.train import main as train
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from methods import inputs_of
from nonempty import some
from omegaconf import DictConfig, OmegaConf
from prepared_corpus import TEST_SENTENCES
from tested_methods import NARROW
from training_yaml import OF_THE_RUN, arguments_of, parsed, yaml_of

from syntax_nmt.arguments import attribute
from syntax_nmt.data.annotation import CHUNKS, KINDS, PHRASES
from syntax_nmt.errors import UserError
from syntax_nmt.methods import method
from syntax_nmt.models.family_options import command_line_options
from syntax_nmt.models.presets import LINES
from syntax_nmt.task.yaml_options import refuse_unknown_options

pytestmark = pytest.mark.dear

EXAMPLES = REPOSITORY / "examples"
PAPERS = sorted(path.parent.name for path in EXAMPLES.glob("*/train.yaml"))

# What makes a paper's model small enough for a test; everything else stays as the YAML has it.
TRANSFORMER = [
    f"+model.{side}_{size}"
    for side in ("encoder", "decoder")
    for size in ("embed_dim=16", "ffn_embed_dim=32", "layers=2", "attention_heads=2")
]
RNN = [
    *(
        f"++model.{side}_{name}=16"
        for side in ("encoder", "decoder")
        for name in ("embed_dim", "hidden_size")
    ),
    *("++model.decoder_out_embed_dim=16", "++model.attention_dim=16"),
]
OF_FAMILY = {method.TRANSFORMER: TRANSFORMER, method.RNN: RNN}
MIXED = [
    *(f"++model.encoder_{size}" for size in ("embed_dim=16", "ffn_embed_dim=32", "layers=2")),
    *(f"++model.{name}=16" for name in ("decoder_embed_dim", "decoder_hidden_size")),
    *("model.encoder_attention_heads=2", "model.phrase_combine_dim=16"),
    *("model.decoder_out_embed_dim=16", "model.attention_dim=16"),
]
BRIEF = (
    *("common.cpu=true", "common.log_format=json", "common.log_interval=1"),
    *("optimization.max_update=2", "dataset.max_tokens=2000", "dataset.num_workers=0"),
)
HALF: dict[str, list[str]] = {
    "float32": [],
    "bf16": ["common.bf16=true"],
    "fp16": ["common.fp16=true", "common.fp16_no_flatten_grads=true"],
}


def line_of(paper: str) -> method.TrainingRecipe | None:
    """The declared way to train what a YAML trains; None = a mixed model."""
    arch = OmegaConf.load(EXAMPLES / paper / "train.yaml").model._name
    lines = [line for line in LINES if not line.variant and f"{arch}_".startswith(f"{line.arch}_")]
    return max(lines, key=lambda line: len(line.arch), default=None)


def small(paper: str) -> list[str]:
    """What makes its model small."""
    line = line_of(paper)
    if line is None:
        return MIXED
    more = []
    for option in NARROW.get(line.name, ()):
        name, _, value = option.partition("=")
        more.append(f"++model.{attribute(name)}={value if value.isdecimal() else repr(value)}")
    return [*OF_FAMILY[line.family], *more]


def overrides(paper: str, data: Path | str, save: Path | str) -> list[str]:
    return [f"task.data={data}", f"common.user_dir={USER_DIR}", f"checkpoint.save_dir={save}"]


def of_readme(paper: str, data: Path, save: Path) -> list[str]:
    """The README's command, as a module, for other folders."""
    readme = (EXAMPLES / paper / "README.md").read_text(encoding="utf-8")
    (block,) = (text for text in readme.split("```") if "fairseq-hydra-train --config-dir" in text)
    program, *arguments = shlex.split(block.removeprefix("bash").replace("\\\n", " "))
    assert program == "fairseq-hydra-train"
    ours = overrides(paper, data, save)
    theirs = [argument for argument in arguments if "=" in argument]
    assert {part.partition("=")[0] for part in theirs} == {part.partition("=")[0] for part in ours}
    given = [argument for argument in arguments if "=" not in argument]
    return ["fairseq_cli.hydra_train", *given, *ours]


def composed(paper: str, *overridden: str) -> DictConfig:
    """The configuration as `fairseq-hydra-train` makes it."""
    hydra_init("train")
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(EXAMPLES / paper), version_base="1.1"):
        cfg = compose("train", overrides=list(overridden))
    add_defaults(cfg)
    cfg = OmegaConf.create(OmegaConf.to_container(cfg, resolve=True, enum_to_str=True))
    OmegaConf.set_struct(cfg, True)
    return cfg


def of_script(paper: str, *more: str) -> tuple[DictConfig, Namespace]:
    """The configuration, and the options of the model, that train.sh makes of its arguments."""
    args = parsed(arguments_of(EXAMPLES / paper, *more))
    return convert_namespace_to_omegaconf(args), args


def rows_of_scripts() -> list[tuple[str, str]]:
    """A paper and the options of a row that its train.sh names; … repeats the row before."""
    rows: list[tuple[str, str]] = []
    for paper in PAPERS:
        head = (EXAMPLES / paper / "train.sh").read_text(encoding="utf-8").partition("set -e")[0]
        for name, said in re.findall(r"^#   (.{2}.*?)  +((?:… )?--.*)$", head, re.M):
            said = said.replace("…", rows[-1][1] if rows else "").split(", ")[0]
            if name.strip():
                rows.append((paper, said))
            else:  # a line more of the row
                rows[-1] = (paper, f"{rows[-1][1]} {said}")
    return rows


@pytest.mark.parametrize(("paper", "row"), rows_of_scripts())
def test_rows_of_the_script(paper, row):
    """Each is a command line that fairseq takes, in which its own options count."""
    _, args = of_script(paper, *row.split())
    for name, value in some(re.findall(r"--(\S+) ([^-\s]\S*)", row)):
        found = getattr(args, name.replace("-", "_"))
        found = found[0] if isinstance(found, list) else found
        assert found == type(found)(value)


@pytest.mark.parametrize("paper", PAPERS)
def test_yaml_is_written_out_of_the_script(paper):
    written = (EXAMPLES / paper / "train.yaml").read_text(encoding="utf-8")
    assert written == yaml_of(EXAMPLES / paper), f"run training_yaml.py examples/{paper}"


@pytest.mark.parametrize("paper", PAPERS)
def test_settings_are_those_of_the_script(paper):
    script, args = of_script(paper)
    yaml = composed(paper, *overrides(paper, "DATA", "SAVE"))
    for group in set(script) - {"model", "scoring"}:  # fairseq-generate has the second one
        left, right = settings(script, group), settings(yaml, group)
        if isinstance(script[group], Namespace):  # an optimizer without a dataclass: all options
            left = {name: getattr(args, name) for name in right if name != "_name"}
            right["_name"], left["_name"] = yaml[group]._name, getattr(args, group)
        for name, value in left.items():
            assert comparable(right.get(name)) == comparable(value), f"{group}.{name}"
        assert set(right) <= set(left) | ({"lr"} if group == "optimizer" else set()), group
    arch = yaml.model._name
    assert arch == args.arch
    model = Namespace(**OmegaConf.to_container(yaml.model))
    known = set(command_line_options(ARCH_MODEL_REGISTRY[arch]))
    assert set(vars(model)) <= known | {"_name"}
    ARCH_CONFIG_REGISTRY[arch](model)
    for name in known:
        assert comparable(getattr(model, name, None)) == comparable(getattr(args, name, None)), name


def settings(cfg: DictConfig, group: str) -> dict:
    """The options of a group; none of one that is not used."""
    of_group = cfg.get(group)
    if not OmegaConf.is_config(of_group):
        return {}
    plain = OmegaConf.to_container(of_group, enum_to_str=True)
    return {name: value for name, value in plain.items() if name not in OF_THE_RUN}


def comparable(value):
    """Numbers and lists as YAML and as the command line have them; unset and off are the same."""
    if value in (None, False, "", "null"):
        return None
    return str(float(value)) if isinstance(value, (int, float)) else str(value)


# The README of phrases has a row of the paper's table with parsed ones.
PARSED = ["+task.load_phrases=true", "+model.phrase_segmentation=parsed"]


@pytest.mark.parametrize(("paper", "row"), [*((paper, []) for paper in PAPERS), ("phrase", PARSED)])
def test_trains(paper, row, prepared, tmp_path):
    changes = [*overrides(paper, prepared.data, tmp_path), *BRIEF, *small(paper), *row]
    train(composed(paper, *changes, "checkpoint.keep_last_epochs=-1"))
    models, _, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(tmp_path / "checkpoint_last.pt")], arg_overrides={"data": str(prepared.data)}
    )
    used = {*models[0].reads_annotation, *models[0].learns_annotation}
    assert {kind for kind in KINDS if kind.is_loaded(task.cfg)} == used
    line = line_of(paper)
    if row:
        assert used == {PHRASES}
    elif line is not None:
        assert used == {*line.needs}
    if CHUNKS in used:
        tags = (prepared.data / "dict.chunks.txt").read_text(encoding="utf-8").split()
        assert list(models[0].annotation_labels[CHUNKS]) == tags


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("+model.suprvised_layer=0", "did you mean model.supervised_layer?"),
        ("+model.chunk_tag_weight=0.5", "has no such option"),
    ],
)
def test_refuses_options_that_no_model_has(change, message, prepared):
    cfg = composed("dependency", *overrides("dependency", prepared.data, "SAVE"), change)
    task = tasks.setup_task(cfg.task)
    with pytest.raises(UserError, match=re.escape(message)):
        task.build_model(cfg.model)


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_rows_of_the_readme(paper):
    """Each setting that a README puts forward is one that the YAML takes."""
    readme = (EXAMPLES / paper / "README.md").read_text(encoding="utf-8")
    section = readme.partition("## Training by a YAML\n")[2].partition("\n## ")[0]
    _, *quoted = re.findall(r"`([^`\n]*\w=[^`\n]*)`", section.rpartition("```")[2])
    for changes in some(quoted):
        yaml = composed(paper, *overrides(paper, "DATA", "SAVE"), *changes.split(), *HALF["bf16"])
        refuse_unknown_options(yaml.model)
        for change in changes.split():
            key, _, value = change.lstrip("+").partition("=")
            value = OmegaConf.create(f"value: {value}").value
            assert comparable(OmegaConf.select(yaml, key)) == comparable(value)


def test_precisions_are_those_of_the_page():
    page = (REPOSITORY / "docs/training.md").read_text(encoding="utf-8")
    assert all(f"`{option}`" in page for options in some(HALF.values()) for option in options)


@pytest.mark.slow
@pytest.mark.parametrize("precision", HALF)
@pytest.mark.parametrize("paper", PAPERS)
def test_program(paper, precision, prepared, tmp_path):
    """The command of the README, then a translation of the test set."""
    changes = [*BRIEF, *small(paper), "optimization.max_update=12", "optimization.update_freq=[1]"]
    changes += HALF[precision]
    # Of a sum over a batch: fairseq lowers the scale after an overflow, but not without a GPU.
    changes += ["common.fp16_init_scale=4"] * (precision == "fp16")
    yaml = (EXAMPLES / paper / "train.yaml").read_text(encoding="utf-8")
    changes += ["optimization.lr=[3e-3]"] * ("adadelta" not in yaml)
    changes += ["lr_scheduler.warmup_updates=1"] * ("warmup_updates" in yaml)
    done = succeed(*of_readme(paper, prepared.data, tmp_path / "save"), *changes, cwd=REPOSITORY)
    log = (tmp_path / "save" / "hydra_train.log").read_text(encoding="utf-8")
    lines = [line.partition(" - ")[2] for line in log.splitlines() if "[train_inner]" in line]
    losses = [float(json.loads(line)["loss"]) for line in lines]
    assert len(losses) == 12, done.stderr[-2000:]
    assert losses[-1] < losses[0]
    path = tmp_path / "save" / "checkpoint_last.pt"
    weights = torch.load(path, weights_only=True)["model"]["decoder.output_projection.weight"]
    # fairseq saves float32 in any case: the numbers show what the model was trained in.
    kind = {"bf16": torch.bfloat16}.get(precision, torch.float16)
    assert torch.equal(weights, weights.to(kind).float()) == (precision != "float32")
    line = line_of(paper)
    inputs = () if line is None else inputs_of(line.name)
    generated = succeed(
        *("fairseq_cli.generate", prepared.data, "--user-dir", USER_DIR, *inputs),
        *("--task", "syntax_translation", "--cpu", "--path", path, "--beam", "2"),
    )
    assert generated.stdout.count("\nD-") == TEST_SENTENCES
