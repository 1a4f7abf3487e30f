"""The checkpoint that a training resumes from: completed, and compared with the new options.

fairseq writes a checkpoint atomically under one name (it renames a temporary file) and copies the
file to its other names, last of all `checkpoint_last.pt`. An interrupted copy is the beginning of
its original.

fairseq silently takes new options. If `--save-dir` belongs to another training by mistake, that
training would continue, or end at once, under the new training's name.
"""

import glob
import logging
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from fairseq.distributed.utils import get_global_rank
from omegaconf import DictConfig, OmegaConf

from syntax_nmt.arguments import Namespace, defaults_of, flag
from syntax_nmt.checkpoints.check import is_whole
from syntax_nmt.checkpoints.label_text import OPTIONS, split_labels
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.errors import UserError


def warn_of_changed_options(path: str, built: Any, saved: Any, given: Any) -> None:
    """Says in the log which options differ, of those that a model or a criterion has.

    Args:
        built: the model or the criterion.
        saved: its options in the checkpoint; None = not known.
        given: its options now, after it was built, which may complete them.
    """
    changed = list(_differences(type(built), _by_name(saved), _by_name(given)))
    if changed:
        logger.warning(
            f"{path} is resumed with other options: {', '.join(changed)}; for a new training give "
            "a --save-dir of its own"
        )


def refuse_other_method(path: str, saved: Any, given: Any, switches: Mapping[str, Any]) -> None:
    """Refuses to go on with a checkpoint as a model of another method.

    Args:
        saved: the options of the model in the checkpoint; None = not known.
        given: those of the model that was built.
        switches: the options that turn methods on, or parts of them, and their values if off.

    Raises:
        UserError: names the options.
    """
    there, here = switched(saved, switches), switched(given, switches)
    others = [
        f"{flag(name)} is {here[name]} (there: {there[name]})"
        for name in there
        if here[name] != there[name]
    ]
    if others:
        raise UserError(
            f"{path} is of another method: {', '.join(others)}: give this training a --save-dir "
            "of its own; --finetune-from-model begins it with weights of another"
        )


def switched(options: Any, switches: Mapping[str, Any]) -> dict[str, Any]:
    """The value of each option that turns a method on; none if the options are not known.

    Args:
        options: of a model, as of :func:`refuse_other_method`.
        switches: as of :func:`refuse_other_method`.
    """
    known = _by_name(options)
    return {name: known.get(name, off) for name, off in switches.items()} if known else {}


def refuse_other_labels(
    path: str, saved: Any, labels: Mapping[AnnotationKind, tuple[str, ...]]
) -> None:
    """Refuses to go on with the weights of other labels, as weights belong to a label's number.

    Args:
        saved: the options of the model in the checkpoint; None = not known.
        labels: that the model which was built knows, by the kind of their annotation.

    Raises:
        UserError: names the first that differs.
    """
    there = _by_name(saved)
    for kind, known in labels.items():
        before = split_labels(there.get(kind.key)) or known
        remedy = "begin a new training in a --save-dir of its own"
        refuse_difference(path, kind, before, known, remedy)


def refuse_difference(
    name: str, kind: AnnotationKind, there: Sequence[str], here: Sequence[str], remedy: str
) -> None:
    """Refuses a data folder whose labels are not those of a model.

    Args:
        name: the model's checkpoint.
        there: the labels that the model was built for.
        here: those of the folder.
        remedy: what to do if it is the right folder.

    Raises:
        UserError: names the first that differs.
    """
    if there == here:  # compared before each batch
        return
    pairs = zip_longest(there, here, fillvalue="missing")
    for number, (old, new) in enumerate(pairs, start=1):
        if old != new:
            raise UserError(
                f"{name}: its {kind.label} {number} is {old}, that of the data folder's "
                f"{kind.labels_file} is {new}: give the folder that it was trained on, or {remedy}"
            )


def refuse_other_criterion(path: str, saved: str | None, criterion: Any) -> None:
    """Refuses to go on counting updates under another criterion, where fairseq has an assertion.

    Args:
        saved: the criterion's class in the checkpoint; None = not known, or it does not matter.

    Raises:
        UserError: names both.
    """
    given = type(criterion).__name__
    if saved is not None and saved != given:
        raise UserError(
            f"{path} was trained with {saved}, and --criterion is {given} now: give a new training "
            "a --save-dir of its own, or --reset-optimizer to go on from these weights"
        )


def _differences(
    component: Any, saved: Mapping[str, Any], given: Mapping[str, Any]
) -> Iterator[str]:
    for name in ("arch", *vars(defaults_of(component.add_args))):
        if name in OPTIONS:  # labels, which are compared one by one
            continue
        if name in saved and name in given and saved[name] != given[name]:
            yield f"{flag(name)} {given[name]} (there: {saved[name]})"


def _by_name(options: Any) -> Mapping[str, Any]:
    """fairseq has a namespace of all options where a program was given `--arch`."""
    if isinstance(options, DictConfig):  # as fairseq saves it
        options = OmegaConf.to_container(options, resolve=True, enum_to_str=True)
    return vars(options) if isinstance(options, Namespace) else options or {}


logger = logging.getLogger(__name__)

# Names that fairseq gives to checkpoints, except checkpoint_last.pt.
_NAMES = re.compile(r"checkpoint(\d+|_\d+_\d+|_best|\.best_.*)\.pt")
_BLOCK = 1 << 20  # bytes compared at a time
_WAIT = 0.1  # seconds


def finish_interrupted_copy(path: Path) -> None:
    """Completes a checkpoint from the one that it was being copied from; does nothing to a complete
    one.

    The first worker does so, and the others wait.

    Raises:
        UserError: it is incomplete, and no checkpoint in its folder begins with it, or the disk is
            full.
    """
    if is_whole(path):
        return
    others = [
        other
        for other in path.parent.iterdir()
        if _NAMES.fullmatch(other.name) and other.is_file() and is_whole(other)
    ]
    others.sort(key=lambda other: other.stat().st_mtime_ns, reverse=True)
    source = next((other for other in others if _begins_with(other, path)), None)
    if source is None:  # every worker says so
        remedy = "remove it"
        if others:
            remedy = f"resume from another one with --restore-file {others[0]}"
        raise UserError(
            f"{path}: incomplete ({path.stat().st_size} bytes), probably a training was stopped "
            "while writing it, and it is no beginning of another checkpoint in the "
            f"folder: {remedy}"
        )
    if get_global_rank() != 0:
        while not is_whole(path):
            time.sleep(_WAIT)
        return
    for left in path.parent.glob(f"{glob.escape(path.name)}.*.tmp"):  # of a killed completion
        left.unlink(missing_ok=True)
    _replace(path, source)
    logger.warning(
        f"{path} was incomplete, as a training was stopped while writing it: completed from "
        f"{source.name}"
    )


def _begins_with(whole: Path, part: Path) -> bool:
    size = part.stat().st_size
    if whole.stat().st_size < size:
        return False
    with whole.open("rb") as one, part.open("rb") as other:
        return all(
            one.read(count) == other.read(count)
            for count in (min(_BLOCK, size - start) for start in range(0, size, _BLOCK))
        )


def _replace(path: Path, source: Path) -> None:
    """Copies a file atomically."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        shutil.copyfile(source, temporary)
        temporary.replace(path)
    except OSError as error:
        raise UserError(
            f"{path}: cannot be completed from {source.name} ({error.strerror}): make room, or go "
            f"on from it with --restore-file {source}"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
