"""Loads a checkpoint and its text segmentation, for raw text."""

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch
from fairseq.data import encoders
from fairseq.hub_utils import GeneratorHubInterface
from fairseq.models import BaseFairseqModel
from omegaconf import open_dict

from syntax_nmt.data.prepared_text import prepared_folder
from syntax_nmt.errors import UserError, named_as_in_python
from syntax_nmt.inference.checkpoint import choose_device, load_model, quiet_fairseq
from syntax_nmt.inference.given_sentences import ONE_AT_A_TIME
from syntax_nmt.inference.model import LoadedModel
from syntax_nmt.inference.parsed_sources import source_parser
from syntax_nmt.inference.segmentation import Segment, segmenters
from syntax_nmt.inference.settings import ARGUMENTS_OF_LOAD, SUBWORD_FILES, Segmentation
from syntax_nmt.option_checks import check_choice
from syntax_nmt.parsing.config import FILE_NAME as PARSER_CONFIG
from syntax_nmt.task.annotation_inputs import parsed_kinds


@named_as_in_python(*ARGUMENTS_OF_LOAD)
def load(
    path: str | Path,
    data: str | Path,
    *,
    device: str | torch.device | None = None,
    parser_config: str | Path | None = None,
    **segmentation: Any,
) -> LoadedModel:
    """Loads a checkpoint for raw text.

    Args:
        path: the checkpoint, of any architecture of this package or fairseq.
        data: the folder that `syntax-nmt prepare` wrote, which stores the segmentation; or a
            data-bin folder, with `segmentation`.
        device: such as `cpu` or `cuda:1`, or torch's object; by default a GPU if there is one.
        parser_config: for models that read dependencies, features, phrases or trees of parsed
            sources, the parser's file; by default `parser.json` of the prepared folder.
        **segmentation: in place of the folder's segmentation, the text options of
            `fairseq-interactive`, such as `tokenizer="moses"`, `bpe="subword_nmt"`,
            `bpe_codes="codes"`; or `segmented=True` for text that is segmented already.

    Raises:
        UserError: the checkpoint, the folder or an option cannot be used; one line says why.
    """
    folder, data_bin = prepared_folder(Path(data))
    with ONE_AT_A_TIME, quiet_fairseq():
        model, task, cfg = load_model(path, data_bin, choose_device(device))
        text = _segmentation(segmentation)
        text.check(folder)
        sides = segmenters(text, folder, task)
        if parsed_kinds([model]):
            file = Path(parser_config) if parser_config else _parser_of(folder, model)
            task.use_parser(source_parser(model, task, file))
        elif parser_config is not None:
            raise UserError(
                f"--parser-config {parser_config}: the model reads nothing that is parsed: leave "
                "it out"
            )
        with open_dict(cfg):
            cfg.tokenizer = cfg.bpe = None  # options of the training, which had no raw text
        # fairseq's hub would have RNNs and convolutions leave attention out; the first call counts.
        model.make_generation_fast_(need_attn=True)
        hub = GeneratorHubInterface(cfg, task, [model])
    hub.tokenizer, hub.bpe = sides[0].tokenizer, _Subwords(*sides)
    hub.to(next(model.parameters()).device)
    return LoadedModel(hub, *sides)


def _parser_of(folder: Path, model: BaseFairseqModel) -> Path:
    """The parser configuration of a prepared folder."""
    file = folder / PARSER_CONFIG
    if not file.is_file():
        what = " and ".join(kind.description for kind in parsed_kinds([model]))
        raise UserError(
            f"{file}: no such file, and the model reads {what}: `syntax-nmt prepare` writes it "
            "where it parses the source itself; otherwise write it (docs/data.md says how; from "
            "Python, parser_config may name another file)"
        )
    return file


@dataclass(frozen=True)
class _Subwords:
    """fairseq's `bpe` of source and target; one of them may consist of words."""

    source: Segment
    target: Segment

    def encode(self, text: str) -> str:
        return text if self.source.bpe is None else self.source.bpe.encode(text)

    def decode(self, text: str) -> str:
        return text if self.target.bpe is None else self.target.bpe.decode(text)


def _segmentation(given: dict[str, Any]) -> Segmentation:
    """The text options of the commands, from Python."""
    known = [field.name for field in fields(Segmentation)]
    choices = {
        "tokenizer": list(encoders.TOKENIZER_REGISTRY),
        "bpe": list(encoders.BPE_REGISTRY),  # fairseq's have more than the commands need
    }
    files = set(SUBWORD_FILES.values())
    for name, value in given.items():
        if name not in known:
            raise UserError(f"{name}: no such option: use {', '.join(known)}")
        if value is not None and name in choices:
            check_choice(name, value, choices[name])
        if name == "segmented" and not isinstance(value, bool):
            raise UserError(f"segmented {value!r}: give True or False")
        if name in files and not isinstance(value, str | os.PathLike | None):
            raise UserError(f"{name} {value!r}: give the path of a file")
    paths = {name: str(given[name]) for name in files & given.keys() if given[name] is not None}
    return Segmentation(**{**given, **paths})
