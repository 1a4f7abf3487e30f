"""Phrases and syntax in neural machine translation: a plugin suite for fairseq.

From Python: `from syntax_nmt import load`.
"""

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntax_nmt.errors import not_installed

__version__ = "0.4.0"
__all__ = ["load"]

# As fairseq will import it: under a link it would be another package of the same name.
FOLDER = Path(__file__).resolve().parent

if TYPE_CHECKING:
    from syntax_nmt.inference.loading import load

# fairseq imports the package for `--user-dir`: then everything is registered. The `syntax-nmt`
# command comes without fairseq, which takes seconds to load; the subcommands that need it import
# the plugin themselves.
if "fairseq" in sys.modules:
    import syntax_nmt.plugin  # noqa: F401


def __getattr__(name: str) -> Any:
    """Loads the Python interface, and fairseq with it, on first use.

    Args:
        name: of an attribute of this module.
    """
    if name == "load":
        root = logging.getLogger()
        level, handlers = root.level, root.handlers[:]
        try:
            from syntax_nmt.inference.loading import load
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("syntax_nmt"):
                raise
            raise ModuleNotFoundError(not_installed(error.name), name=error.name) from None

        # fairseq's modules make the root logger print the messages of all libraries.
        root.setLevel(level)
        root.handlers[:] = handlers
        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
