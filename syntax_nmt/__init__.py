"""Phrases and syntax in neural machine translation: a plugin suite for fairseq.

Importing the package (fairseq does so for `--user-dir`) registers its task, models, criterions and
tokenizer, and lets torch's safe loader read fairseq's checkpoints.
"""

from syntax_nmt.checkpoints.safe_loader import allow_fairseq_checkpoints
from syntax_nmt.errors import one_line_errors

with one_line_errors("syntax_nmt"):
    allow_fairseq_checkpoints()

import syntax_nmt.criterions.chunk_cross_entropy
import syntax_nmt.criterions.dependency_cross_entropy
import syntax_nmt.criterions.synchronous_cross_entropy
import syntax_nmt.criterions.syntax_cross_entropy
import syntax_nmt.data.tokenizer
import syntax_nmt.models.presets
import syntax_nmt.models.rnn_presets
import syntax_nmt.optim.fused_adam
import syntax_nmt.tasks.syntax_translation  # noqa: F401
