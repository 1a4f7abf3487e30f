"""What a version's checkpoints and data folders look like, without their numbers.

The record of the present version is written by

    PYTHONPATH=tests python tests/endurance/checkpoint_record.py FILE
"""

import base64
import json
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq.criterions import CRITERION_DATACLASS_REGISTRY, CRITERION_REGISTRY
from fairseq.models import ARCH_MODEL_REGISTRY
from methods import ALL_TRIALS, ARCHITECTURES, MIXED
from small_models import annotated_batch, build, random_sentences, write_dictionaries
from torch import Tensor, nn

from syntax_nmt.data.manifest import AnnotationFile, Fingerprint, write_manifest
from syntax_nmt.data.ragged import RaggedWriter
from syntax_nmt.models.family_options import command_line_options
from syntax_nmt.models.options import (
    SyntaxHybridOptions,
    SyntaxRNNOptions,
    SyntaxTransformerOptions,
)
from syntax_nmt.task.syntax_translation import SyntaxTranslationConfig

CHUNK_TAGS = ("NP", "VP", "O")
MAY_BE_SHARED = ("embed_tokens.weight", "output_projection.weight")
ROWS = ([1, 1, 1], [-1], [2, 2, 2, 4, 2])

# Some trials of what 0.4.0 added.
SINCE_0_4 = (
    *("constituent_transformer+all", "dependency_transformer+labels", "factor_rnn+predict"),
    *("lisa_transformer+labels", "structural_transformer+lca", "syntax_transformer+factors"),
    *("syntax_transformer+relation", "variational_rnn+prior"),
)
# Base architectures, and options that bring parameters of their own.
MODELS: dict[str, tuple[str, ...]] = {
    **{arch: (arch,) for arch in ARCHITECTURES if f"{arch}_tiny" in ARCHITECTURES},
    "feature_rnn": ("feature_rnn", "--feature-dims=3,1,1,1"),
    "phrase_transformer+released": (
        *("phrase_transformer", "--phrase-residual-attention", "--transparent-token-attention"),
        "--phrase-combine-dim=8",
    ),
    "phrase_transformer+summary": (
        *("syntax_transformer", "--phrase-segmentation=parsed", "--phrase-summary=mean"),
        "--supervised-layer=0",
    ),
    "syntax_transformer+t5": ("syntax_transformer", "--position-bias=t5"),
    "rnn_search+deep": (
        *("rnn_search", "--decoder-layers=2", "--readout=maxout", "--share-all-embeddings"),
    ),
    "relation_rnn+released": (
        *("relation_rnn", "--relation-parallel-convolutions", "--relation-dense-embedding"),
        *("--relation-norm-before-activation", "--relation-kernels=1:4,3:4"),
    ),
    "relation_rnn+top": ("relation_rnn", "--relation-placement=top"),
    "gcn_transformer+dense": ("gcn_transformer", "--gcn-skip=dense"),
    "dependency_transformer+biaffine": ("dependency_transformer", "--dependency-scorer=biaffine"),
    "bi_scale_rnn+word": ("bi_scale_rnn", "--chunk-attention=word", "--chunk-context=boundary"),
    **{name: ALL_TRIALS[name] for name in SINCE_0_4},
    **MIXED,
}


def data_folder(folder: Path) -> Path:
    """A folder of dictionaries, those of chunk tags included."""
    lines = "".join(f"{tag}\n" for tag in CHUNK_TAGS)
    (write_dictionaries(folder) / "dict.chunks.txt").write_text(lines, encoding="utf-8")
    return folder


def annotation_files(folder: Path) -> Path:
    """An annotation file of a few rows, and the manifest that describes it."""
    prefix = folder / "train.src-tgt.src.heads"
    with RaggedWriter(prefix) as writer:
        for row in ROWS:
            writer.write(np.array(row, dtype=np.int32), [len(row)])
    names = [f"{prefix.name}.{end}" for end in ("bin", "idx")]
    files = {name: Fingerprint.of(folder / name) for name in names}
    text = Fingerprint.of(folder / names[0])
    described = AnnotationFile(len(ROWS), len(ROWS) - 1, "train.src.conllu", text, files)
    write_manifest(folder, {prefix.name: described})
    return folder


FAMILIES = {
    "transformer": SyntaxTransformerOptions,
    "rnn": SyntaxRNNOptions,
    "hybrid": SyntaxHybridOptions,
}


def family(arch: str) -> str:
    """The family of an architecture, which has options of its own."""
    options = ARCH_MODEL_REGISTRY[arch].feature_options
    return next(name for name, found in FAMILIES.items() if found is options)


def record(folder: Path) -> dict[str, Any]:
    """Everything that a newer version has to read."""
    models = {}
    for name, (arch, *arguments) in MODELS.items():
        model, task, cfg = build(data_folder(folder), arch, *arguments, width=8)
        parameters = shapes(model.state_dict())
        model.load_state_dict(weights_of(parameters))
        models[name] = {
            "arch": arch,
            "logits": some_logits(model, task),
            "options": {option: getattr(cfg.model, option) for option in saved_options(cfg.model)},
            "parameters": parameters,
        }
    criterions = {
        name: defaults(kind)
        for name, kind in CRITERION_DATACLASS_REGISTRY.items()
        if CRITERION_REGISTRY[name].__module__.startswith("syntax_nmt.")
    }
    annotation_files(folder)
    ends = ("dict.chunks.txt", "syntax.json", "heads.bin", "heads.idx")
    files = sorted(path for path in folder.iterdir() if path.name.endswith(ends))
    return {
        "architectures": ARCHITECTURES,
        "defaults": {name: defaults(kind) for name, kind in FAMILIES.items()},
        "shared": {name: take_shared(models.values(), name) for name in FAMILIES},
        "models": models,
        "task": defaults(SyntaxTranslationConfig),
        "criterions": criterions,
        "files": {path.name: base64.b64encode(path.read_bytes()).decode() for path in files},
    }


def defaults(kind: type) -> dict[str, Any]:
    """The options of a dataclass but those that only refer to others."""
    return {
        option.name: option.default
        for option in sorted(fields(kind), key=lambda option: option.name)
        if option.name != "_name" and not str(option.default).startswith("${")
    }


def take_shared(models: Iterable[dict[str, Any]], of_family: str) -> dict[str, Any]:
    """The options that all models of a family have; they are taken out of the models'."""
    alike = [model["options"] for model in models if family(model["arch"]) == of_family]
    shared = {
        option: value
        for option, value in alike[0].items()
        if all(option in options and options[option] == value for options in alike)
    }
    for options in alike:
        for option in shared:
            del options[option]
    return shared


def saved_options(args: Namespace) -> list[str]:
    """The options of the model among all those that `fairseq-train` saves."""
    return sorted(command_line_options(ARCH_MODEL_REGISTRY[args.arch]).keys() & vars(args))


def shapes(state: Mapping[str, Tensor]) -> dict[str, str]:
    """Names, shapes and, unless it is float32, types of what a checkpoint holds."""
    return {name: describe(value) for name, value in state.items()}


def describe(value: Tensor) -> str:
    """Such as `8x16`, or `1 int64`."""
    shape = "x".join(map(str, value.shape))
    return shape if value.dtype == torch.float32 else f"{shape} {str(value.dtype)[6:]}"


def weights_of(parameters: Mapping[str, str]) -> dict[str, Tensor]:
    """Random numbers, positive and small, of the recorded shapes; what may be shared is alike."""
    generator, shared = torch.Generator(), torch.Generator()
    weights = {}
    for name, described in parameters.items():
        shape, _, kind = described.partition(" ")
        size = [int(part) for part in shape.split("x")] if shape else []
        draw = shared.manual_seed(1) if name.endswith(MAY_BE_SHARED) else generator
        weights[name] = 0.1 * torch.rand(size, generator=draw) + 0.01
        if name.endswith(".version"):  # fairseq's own, of its format
            weights[name] = torch.full(size, 3.0)
        if kind:
            weights[name] = weights[name].to(getattr(torch, kind))
    return weights


@torch.no_grad()
def some_logits(model: nn.Module, task: Any) -> str:
    """What tells a model's function: a few logits, in float64, such as `-0.25 1.5`.

    They are of the sentences and the annotation that `small_models.py` draws: other draws need
    other records, made by the code from before.

    Args:
        model: of :func:`weights_of`; its parameters are made larger, and of both signs.
    """
    for parameter in model.double().parameters():
        parameter.sub_(0.06).mul_(20)
    sample = annotated_batch(model, task, random_sentences([7, 4]), random_sentences([5, 5], 9))
    logits, _ = model.eval()(**sample["net_input"])
    return " ".join(f"{float(x):.8g}" for x in logits[:, 1::2, 5].flatten())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        text = json.dumps(record(Path(temporary)), ensure_ascii=False, indent=1, default=str)
    Path(sys.argv[1]).write_text(f"{text}\n", encoding="utf-8")
