"""What fairseq's checkpoints hold besides tensors, made known to torch's safe loader.

torch ≥ 2.6 loads only what is on a list (`weights_only=True`). fairseq's own checkpoints hold the
options as a Namespace, and numpy numbers among the metrics; without this list none of its commands
could read what another wrote. Nothing here can run code of a stranger.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np
import torch

NUMPY_DTYPES = ("float64", "float32", "float16", "int64", "int32", "uint64", "uint8", "bool")


def allow_fairseq_checkpoints() -> None:
    """Puts Namespace and numpy's numbers and arrays on the safe loader's list.

    Older versions of torch load everything unless told otherwise, and need no list.
    """
    if torch.__version__ >= "2.6":
        torch.serialization.add_safe_globals([Namespace, *_numpy_globals()])


def _numpy_globals() -> list[Any]:
    """What numpy's numbers and arrays are pickled as, under the names of numpy 1 and numpy 2."""
    functions = {
        "scalar": np.float64(0).__reduce__()[0],
        "_reconstruct": np.zeros(1).__reduce__()[0],
    }
    named = [
        (function, f"numpy.{core}.multiarray.{name}")
        for name, function in functions.items()
        for core in ("core", "_core")
    ]
    dtypes = [type(np.dtype(name)) for name in NUMPY_DTYPES]
    return [*named, np.ndarray, np.dtype, *dtypes]
