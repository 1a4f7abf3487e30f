"""An index that promises more than there is costs nothing."""

import os
import tracemalloc

import numpy as np
import pytest

from syntax_nmt.data.ragged import _HEADER, MAGIC, count_rows, open_indexed
from syntax_nmt.errors import UserError

ROWS = 1 << 24  # 200 MB of index, of which the disk holds nothing


@pytest.fixture
def promise(tmp_path):
    """An index of very many rows beside an empty file of numbers."""
    with (tmp_path / "text.idx").open("wb") as stream:
        stream.write(_HEADER.pack(MAGIC, 1, 4, ROWS))
    os.truncate(tmp_path / "text.idx", _HEADER.size + ROWS * 12)
    (tmp_path / "text.bin").touch()
    return tmp_path / "text"


def test_sentences(promise):
    tracemalloc.start()
    with pytest.raises(ValueError, match=rf"text\.bin: damaged \(0 numbers .* {ROWS} rows\)"):
        open_indexed(promise, shortest=1)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_binarised_annotation(promise, tmp_path):
    from test_binarised_annotation import NAME, open_kind, write_all

    folder = tmp_path / "data"
    folder.mkdir()
    write_all(folder)
    for end in ("idx", "bin"):
        os.replace(f"{promise}.{end}", folder / f"{NAME}.heads.{end}")
    assert count_rows(folder / f"{NAME}.heads") == ROWS
    tracemalloc.start()
    with pytest.raises(UserError, match=rf"heads: {ROWS} sentences, the dataset has 3"):
        open_kind(folder, checksums=False)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_rows_without_numbers(tmp_path):
    """Annotation files have such, sentences not."""
    (tmp_path / "a.idx").write_bytes(
        _HEADER.pack(MAGIC, 1, 4, 1) + np.zeros(1, np.int32).tobytes() + np.zeros(1).tobytes()
    )
    (tmp_path / "a.bin").touch()
    assert open_indexed(tmp_path / "a").sizes.tolist() == [0]
