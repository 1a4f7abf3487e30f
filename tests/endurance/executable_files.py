"""Model files that nobody vouches for: pickles and options that run code when loaded."""

import io
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch


class Calls:
    """Is pickled as a call: whoever unpickles it runs the function.

    Args:
        function: what is called.
        arguments: with what.
    """

    def __init__(self, function: Callable, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> tuple:
        return self.call


def touching(proof: Path) -> dict[str, Calls]:
    """Pickled calls that make a file, by name."""
    shell = f"touch '{proof}'"
    return {
        "os.system": Calls(os.system, shell),
        "eval": Calls(eval, f"__import__('os').system({shell!r})"),
        "exec": Calls(exec, f"open({str(proof)!r}, 'w')"),
        "pickle.loads": Calls(pickle.loads, pickle.dumps(Calls(os.system, shell))),
    }


def write_checkpoint(path: Path, state: dict, hidden: Any, place: str, zipped: bool) -> Path:
    """A checkpoint with an object where nobody looks.

    Args:
        path: to write to.
        state: of a good checkpoint.
        hidden: the object.
        place: a key of the checkpoint.
        zipped: the format of torch ≥ 1.6, or the one before.
    """
    changed = {**state, place: {**(state[place] or {}), "hidden": hidden}}
    torch.save(changed, path, _use_new_zipfile_serialization=zipped)
    return path


def numpy_pickles() -> dict[str, bytes]:
    """What numpy's classes make of bytes if a pickle may call them: objects at any address."""
    odd = np.dtype("V8", copy=True)
    odd.__setstate__((3, "|", None, ("a",), {"a": (np.dtype("O"), 0)}, 8, 1, 0))
    bytes_ = b"A" * 8
    return {
        "array of objects": pickle.dumps(Calls(np.ndarray, (1,), "O", bytes_), 2),
        "record of objects": pickle.dumps(Calls(np.ndarray, (1,), odd, bytes_), 2),
        "type of objects": pickle.dumps(np.dtype("O"), 2),
        "huge array": pickle.dumps(Calls(np.ndarray, (10**13,)), 2),
        "array as shape": pickle.dumps(
            Calls(np.ndarray, Calls(np.ndarray, (1,), "O", bytes_), "f8"), 2
        ),
    }


def as_checkpoint(pickled: bytes) -> io.BytesIO:
    """A pickle in a zip archive as torch writes it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/version", "3\n")
        archive.writestr("archive/byteorder", "little")
    stream.seek(0)
    return stream
