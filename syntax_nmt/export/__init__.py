"""Trained models for other engines: those that are a stock Transformer at inference."""

from types import ModuleType

from syntax_nmt.errors import UserError

CTRANSLATE2, FAIRSEQ = "ctranslate2", "fairseq"
"""The engines that a model can be exported to."""
QUANTIZATIONS = ("int8", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16")
"""Types of weights in CTranslate2."""
CONFIG = "config.json"
"""CTranslate2's own, which takes more keys than it knows."""
LIMITS = ("max_source_positions", "max_target_positions")
"""Of :data:`CONFIG`: tokens of each side, EOS included."""
FACTORS, SCHEME = "source_factors", "source_subwords"
"""Of :data:`CONFIG`: the names of the source's factors, and the scheme of its subwords."""


def check_installed() -> ModuleType:
    """CTranslate2 itself.

    Raises:
        UserError: it is not installed.
    """
    try:
        import ctranslate2
    except ImportError:
        raise UserError(
            "--to ctranslate2: CTranslate2 is not installed: pip install 'syntax-nmt[export]'"
        ) from None
    return ctranslate2
