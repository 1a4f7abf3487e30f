"""Checks a checkpoint before fairseq loads it: it must be complete, from fairseq, only data, and of
finite weights.

torch compares no checksums when it loads (a flipped bit becomes a weight), and its message about a
damaged file takes a page.
"""

import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from fairseq.checkpoint_utils import get_maybe_sharded_checkpoint_filename
from torch import Tensor

from syntax_nmt.arguments import Namespace
from syntax_nmt.checkpoints.options import executable_option
from syntax_nmt.checkpoints.parts import check_types
from syntax_nmt.checkpoints.plain_content import MAPPINGS, tensors_of
from syntax_nmt.data.text_files import check_regular
from syntax_nmt.errors import UserError, reason_of

_REMEDY = "give a whole checkpoint of fairseq-train"
_ZIP = b"PK\x03\x04"  # what torch's files begin with; their table of contents is at the end
_UNTRUSTED = "load no such file from an untrusted source; {}"
# The safe loader's reason, within a page of advice.
_SAFE_LOADER = re.compile(r"WeightsUnpickler error:\s*(\S.*)")
# A record of a tensor, in the folder that torch gives an archive.
_TENSOR = re.compile(r"[^/]+/data/[^/]+")
_GLOBAL = re.compile(r"GLOBAL ([\w.]+)")


def check_checkpoint(path: str | Path) -> Mapping[str, Any]:
    """Refuses a file that fairseq could not or should not load.

    Components named by its options are checked when fairseq builds them
    (:mod:`syntax_nmt.checkpoints.loading`). Every byte is compared with the checksums of the zip
    archive that torch writes; files of torch < 1.6 have none. Weights are checked, but not kept in
    memory.

    Returns:
        Its content, the weights memory-mapped.

    Raises:
        UserError: it is damaged, no checkpoint of fairseq, holds something that could run code,
            or weights that are not finite.
    """
    path = Path(path)
    try:
        check_regular(path)
        zipped, whole = zipfile.is_zipfile(path), is_whole(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}): {_REMEDY}") from error
    if not whole:
        raise UserError(f"{path}: incomplete ({path.stat().st_size} bytes): {_REMEDY}")
    sizes = _check_records(path) if zipped else None
    state = read_checkpoint(path)
    tensors = _check_content(path, state)
    if sizes is not None and _sizes_in_order(tensors) != sizes:
        raise UserError(
            f"{path}: the sizes of its tensors are not those of its records, so that programs "
            f"would read other numbers than were checked: {_REMEDY}"
        )
    return state


def check_loaded(path: str | Path) -> Mapping[str, Any]:
    """As :func:`check_checkpoint`, of the file that fairseq loads a model from under a name.

    Args:
        path: as it was given. If there is a shard `model-shard0.pt`, fairseq loads it in place of
            `model.pt`.
    """
    return check_checkpoint(get_maybe_sharded_checkpoint_filename(str(path), "", 0, 1))


def is_whole(path: Path) -> bool:
    """Whether a checkpoint is complete.

    Files in the format of torch < 1.6 count as complete, unless they are empty.
    """
    with path.open("rb") as stream:
        begin = stream.read(len(_ZIP))
    return zipfile.is_zipfile(path) if _ZIP.startswith(begin) else True


def _check_records(path: Path) -> list[int]:
    """Compares the archive's records with their checksums; returns the bytes of each tensor's.

    Records must lie in the file as they are: torch would map those that are compressed, but
    decompress them where it does not map.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            records = sorted(archive.infolist(), key=lambda record: record.header_offset)
            packed = [record.filename for record in records if _is_packed(record)]
            names = {record.filename for record in records}
            damaged = None if packed else archive.testzip()
    except Exception as error:  # zipfile raises many kinds of errors on damage
        raise UserError(f"{path}: damaged ({reason_of(error)}): {_REMEDY}") from error
    if damaged is not None:
        raise UserError(f"{path}: damaged (checksum of {damaged} differs): {_REMEDY}")
    if packed:
        raise UserError(f"{path}: {packed[0]} is compressed, which torch never does: {_REMEDY}")
    if len(names) < len(records):
        raise UserError(f"{path}: two of its records have one name: {_REMEDY}")
    tensors = [record.file_size for record in records if _TENSOR.fullmatch(record.filename)]
    return list(filter(None, tensors))


def _is_packed(record: zipfile.ZipInfo) -> bool:
    return record.compress_type != zipfile.ZIP_STORED or record.compress_size != record.file_size


def _sizes_in_order(tensors: Iterable[Tensor]) -> list[int]:
    """The bytes of each storage that tensors map, in the order of the file."""
    storages = (tensor.untyped_storage() for tensor in tensors)
    sizes = {storage.data_ptr(): storage.nbytes() for storage in storages}
    return [sizes[place] for place in sorted(sizes) if sizes[place]]


def read_checkpoint(path: str | Path) -> Any:
    """The content of a torch file that contains only data, with memory-mapped weights.

    Raises:
        UserError: it cannot be loaded, or holds something that could run code.
    """
    zipped = zipfile.is_zipfile(path)
    if not zipped and not _looks_pickled(path):
        raise UserError(f"{path}: is no checkpoint, but some other file: {_REMEDY}")
    try:
        return torch.load(path, map_location="cpu", weights_only=True, mmap=zipped or None)
    except Exception as error:  # torch raises many kinds of errors on damage
        forbidden = _GLOBAL.search(str(error))
        if forbidden is not None:
            raise UserError(
                f"{path}: holds {forbidden[1]}, which is neither weights nor options and could "
                f"run code: {_UNTRUSTED.format(_REMEDY)}"
            ) from error
        said = _SAFE_LOADER.search(str(error))
        reason = said[1] if said is not None else reason_of(error)
        raise UserError(f"{path}: cannot be loaded ({reason}): {_REMEDY}") from error


def _looks_pickled(path: str | Path) -> bool:
    """Whether a file begins as those of torch's old format do."""
    try:
        with open(path, "rb") as stream:
            return stream.read(1) == b"\x80"
    except OSError:
        return True  # the loader reports why


def _check_content(path: Path, state: Any) -> list[Tensor]:
    """Checks what was loaded; returns all tensors of its parts."""
    # Exactly a dictionary: a subclass may override `get`.
    if type(state) is not dict or type(state.get("model")) not in MAPPINGS:
        raise UserError(f"{path}: holds no model of fairseq: {_REMEDY}")
    tensors = check_parts(path, state, _REMEDY)
    options = [state[key] for key in _OPTIONS if state.get(key) is not None]
    if not options:
        raise UserError(f"{path}: has no options (neither args nor cfg): {_REMEDY}")
    if not all(isinstance(each, (Namespace, dict)) for each in options):
        raise UserError(f"{path}: its options are no mapping of names: {_REMEDY}")
    executable = executable_option(options)
    if executable is not None:
        raise UserError(f"{path}: {executable}, which could run code: {_UNTRUSTED.format(_REMEDY)}")
    return tensors


# Checked by themselves: all else is parts.
_OPTIONS = ("args", "cfg")
# fairseq saves a buffer that it never sets.
_NEVER_SET = "_float_tensor"


def check_plain(path: str | Path, state: Mapping[str, Any], remedy: str = _REMEDY) -> list[Tensor]:
    """Refuses parts that are no plain data, or of other types than programs read.

    Args:
        path: of the checkpoint, for messages.
        remedy: what to do, for messages.

    Returns:
        all tensors of the parts.

    Raises:
        UserError: names the first.
    """
    parts = {name: part for name, part in state.items() if name not in _OPTIONS}
    tensors = list(tensors_of(path, parts, remedy))
    check_types(path, state, remedy)
    return tensors


def check_parts(path: Path, state: Mapping[str, Any], remedy: str) -> list[Tensor]:
    """As :func:`check_plain`; also refuses weights that are not finite.

    Args:
        path: of the checkpoint, for messages.
        remedy: what to do, for messages.

    Returns:
        all tensors of the parts.

    Raises:
        UserError: names the first.
    """
    tensors = check_plain(path, state, remedy)
    for name, weight in dict.items(state["model"]):
        if not isinstance(name, str) or not isinstance(weight, Tensor):
            raise UserError(f"{path}: {name} is no tensor with a name: {remedy}")
        if weight.is_complex():
            raise UserError(f"{path}: {name} is no dense tensor of real numbers: {remedy}")
        _check_finite(path, name, weight)
    return tensors


def _check_finite(path: Path, name: str, weight: Tensor) -> None:
    if not weight.is_floating_point() or name.endswith(_NEVER_SET):
        return
    finite = torch.isfinite(weight)
    if not finite.all():
        wrong = weight.numel() - int(finite.sum())
        raise UserError(
            f"{path}: {wrong} of {weight.numel()} numbers of {name} are not finite, so the "
            "training has diverged: give an earlier checkpoint, or train with a lower --lr or "
            "--clip-norm"
        )
