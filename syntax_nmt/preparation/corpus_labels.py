"""The labels of a shard, with ids of its own, get the ids of the corpus."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from syntax_nmt.data.annotation import KINDS
from syntax_nmt.data.binarised_annotation import read_labels
from syntax_nmt.data.manifest import Fingerprint, read_manifest, write_manifest
from syntax_nmt.data.ragged import open_indexed
from syntax_nmt.preparation.binarizing import move_files
from syntax_nmt.preparation.joining import Rows, blocks_of, join_rows, report_labels
from syntax_nmt.preparation.label_lists import LabelCounts

_STAGING = ".labels-"  # prefix of the folder of incomplete files


class OtherLabelsError(Exception):
    """The ids in a folder are neither its own nor those of the corpus."""


def take_labels(
    data_bin: Path, lists: Path, counts: LabelCounts, report: Callable[[str], None]
) -> None:
    """Writes lists and ids of the corpus into a folder; all files appear together.

    Args:
        data_bin: binarised with `counts`.
        lists: a folder with the lists of the corpus.
        counts: that `binarize` wrote.

    Raises:
        OtherLabelsError: the folder has other lists, or its files do not belong together, as after
            a program that was killed.
    """
    for left in data_bin.glob(f"{_STAGING}*"):  # of a process that was killed
        shutil.rmtree(left, ignore_errors=True)
    manifest = read_manifest(data_bin)
    kinds = {kind.name: kind for kind in KINDS if kind in counts.everywhere}
    own = {kind: read_labels(data_bin, kind) for kind in kinds.values()}
    wanted = {kind: read_labels(lists, kind) for kind in own}
    for entry in manifest.values():
        for name, recorded in entry.files.items():
            if Fingerprint.of(data_bin / name) != recorded:
                raise OtherLabelsError
    if own == wanted:
        return
    if any(list(own[kind]) != kind.ordered(found) for kind, found in counts.everywhere.items()):
        raise OtherLabelsError
    staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=data_bin))
    try:
        for kind in own:
            shutil.copy(lists / str(kind.labels_file), staging)
        for name, entry in manifest.items():
            if name.rpartition(".")[2] not in kinds:
                continue
            kind = kinds[name.rpartition(".")[2]]
            rows = Rows(blocks_of(open_indexed(data_bin / name)), own[kind], entry.annotated)
            text = open_indexed(data_bin / name.rpartition(".")[0])
            joined = join_rows([rows], kind, wanted[kind], staging / name, text)
            report_labels(name, kind, joined, False, Path(entry.source), report)
            files = {
                each: Fingerprint.of(staging / each) if (staging / each).is_file() else recorded
                for each, recorded in entry.files.items()
            }
            manifest[name] = replace(entry, annotated=joined.annotated, files=files)
        write_manifest(staging, manifest)
        move_files(staging, data_bin)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
