"""Trained models for other engines: those that are a stock Transformer at inference."""

CTRANSLATE2, FAIRSEQ = "ctranslate2", "fairseq"
"""The engines that a model can be exported to."""
QUANTIZATIONS = ("int8", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16")
"""Types of weights in CTranslate2."""
