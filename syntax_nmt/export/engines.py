"""The engines that a model can be exported to, and the types of weights there."""

CTRANSLATE2, FAIRSEQ = "ctranslate2", "fairseq"
QUANTIZATIONS = ("int8", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16")
