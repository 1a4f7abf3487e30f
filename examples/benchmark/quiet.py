"""Benchmarks print figures, and nothing of what libraries remark while systems are built."""

import logging
import warnings


def silence() -> None:
    """Keeps logs below warnings, and all of Python's warnings, off the terminal."""
    logging.disable(logging.INFO)
    warnings.simplefilter("ignore")
