"""Checks the checkpoints that a program of fairseq is about to load.

fairseq sets up the task before it loads a model: an error here takes one line, and later a
traceback.
"""

import hashlib
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairseq import utils
from fairseq.checkpoint_utils import get_maybe_sharded_checkpoint_filename
from fairseq.data import Dictionary
from fairseq.distributed.utils import get_global_rank
from fairseq.file_io import PathManager
from omegaconf.errors import OmegaConfBaseException

from syntax_nmt.arguments import Namespace
from syntax_nmt.checkpoints.check import check_checkpoint, check_loaded, read_checkpoint
from syntax_nmt.errors import UserError
from syntax_nmt.text.languages import SOURCE, TARGET

logger = logging.getLogger(__name__)

Vocabularies = tuple[Dictionary, Dictionary]

VOCABULARIES = "vocabularies"  # in a checkpoint's state of the task
NO_CHECKPOINT = "no such checkpoint: give --path files of fairseq-train"
_SIDES = (SOURCE, TARGET)
_EMBEDDINGS = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")


def check_models(cfg: Any, vocabularies: Vocabularies) -> list[str]:
    """Checks the models of `--path`, and returns their files in loading order.

    A language model of `--lm-path`, which has its own task and dictionary, gets only the checks of
    a file.

    Args:
        cfg: the options of the task.
        vocabularies: of source and target.

    Raises:
        UserError: one is missing, damaged, of other vocabularies or of the other direction, or
            holds something that could run code.
    """
    names = interpolated_option(cfg, "path")
    if names is None:
        return []
    language_model = interpolated_option(cfg, "lm_path")
    if language_model is not None:
        check_loaded(language_model)
    files = []
    suffix = interpolated_option(cfg, "checkpoint_suffix") or ""
    shards = interpolated_option(cfg, "checkpoint_shard_count") or 1
    for name in utils.split_paths(names):
        for shard in range(shards):
            path = get_maybe_sharded_checkpoint_filename(name, suffix, shard, shards)
            if not PathManager.isfile(path):
                raise UserError(f"{path}: {NO_CHECKPOINT}")
            state = check_weights(path, vocabularies)
            check_direction(path, state, cfg)
            files.append(path)
    return files


def check_direction(path: str | Path, state: Mapping[str, Any], cfg: Any) -> None:
    """Warns if a model was trained on other languages than the given ones.

    Args:
        path: of the checkpoint, for messages.
        state: what it holds.
        cfg: the options of the task.

    Raises:
        UserError: they are the same, swapped.
    """
    options = (state.get("cfg") or {}).get("task") or state.get("args")
    if isinstance(options, Namespace):
        options = vars(options)
    trained = [str((options or {}).get(name)) for name in ("source_lang", "target_lang")]
    given = [str(getattr(cfg, name, None)) for name in ("source_lang", "target_lang")]
    if "None" in (*trained, *given) or trained == given:
        return
    said = f"{path} translates {'-'.join(trained)}, and the languages given are {'-'.join(given)}"
    remedy = "give -s {} -t {}".format(*trained)
    if trained == given[::-1]:
        raise UserError(f"{said}: {remedy}, and data of this direction")
    logger.warning(f"{said}: {remedy}, unless these are other names of the same languages")


def check_weights(path: str | Path, vocabularies: Vocabularies) -> Mapping[str, Any]:
    """Loads a checkpoint; the first worker also checks it, for all.

    Only the first worker checks checksums, options and vocabularies; the others only load.

    Args:
        path: the file; fairseq handles paths that are not on a disk.
        vocabularies: of source and target.

    Returns:
        its content, with memory-mapped weights; empty if it is not on a disk.

    Raises:
        UserError: it is damaged, of other vocabularies, or holds something that could run code.
    """
    if not Path(path).is_file():
        return {}
    if get_global_rank() != 0:
        return read_checkpoint(path)
    state = check_checkpoint(path)
    check_vocabularies(path, state, vocabularies)
    return state


def check_vocabularies(
    path: str | Path, state: Mapping[str, Any], vocabularies: Vocabularies
) -> None:
    """Refuses the vocabularies of another training: an embedding belongs to a token's number.

    Text that is prepared anew often has a vocabulary of the same size with other tokens.

    Args:
        path: of the checkpoint, for messages.
        state: what it holds; its training may have saved no checksums of vocabularies.
        vocabularies: of source and target.

    Raises:
        UserError: names the side.
    """
    weights = state.get("model", {})
    saved = (state.get("task_state") or {}).get(VOCABULARIES) or {}
    remedy = "give the data-bin folder it was trained with, or train anew in another folder"
    for side, name, dictionary in zip(_SIDES, _EMBEDDINGS, vocabularies):
        embedded = weights.get(name)
        if embedded is not None and embedded.shape[:1] != (len(dictionary),):
            raise UserError(
                f"{path}: the model knows {sum(embedded.shape[:1])} {side} tokens, the dictionary "
                f"of the data has {len(dictionary)}: {remedy}"
            )
        if saved.get(side) not in (None, _checksum(dictionary)):
            raise UserError(
                f"{path}: the model's {side} vocabulary is not that of the data, though both have "
                f"{len(dictionary)} tokens: {remedy}"
            )


def vocabulary_checksums(vocabularies: Vocabularies) -> dict[str, str]:
    """What a checkpoint's state of the task says of source and target, under `VOCABULARIES`."""
    return dict(zip(_SIDES, map(_checksum, vocabularies)))


def _checksum(dictionary: Dictionary) -> str:
    """Of the tokens in their order; their counts may differ."""
    return hashlib.sha256("\n".join(dictionary.symbols).encode("utf-8")).hexdigest()


def interpolated_option(cfg: Any, name: str) -> Any:
    """An option of another group; None where the task was set up without that group.

    Args:
        cfg: the options of the task.
        name: of a field that stands for one of another group.
    """
    try:
        value = getattr(cfg, name, None)
    except OmegaConfBaseException:
        return None
    return None if isinstance(value, str) and value.startswith("${") else value
