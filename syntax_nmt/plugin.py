"""Everything that fairseq is to know: importing this module registers it.

The task, models, criterions, tokenizer and optimizer get their names, and torch's safe loader may
read fairseq's checkpoints. What fairseq loads is checked from then on.
"""

from syntax_nmt.checkpoints.loading import check_whatever_is_loaded
from syntax_nmt.checkpoints.safe_loader import allow_fairseq_checkpoints
from syntax_nmt.errors import exits_in_fairseq_programs

with exits_in_fairseq_programs():
    allow_fairseq_checkpoints()
    check_whatever_is_loaded()

import syntax_nmt.criterions.cross_entropy
import syntax_nmt.models.presets
import syntax_nmt.optim.fused_adam
import syntax_nmt.task.syntax_translation
import syntax_nmt.task.tokenizer  # noqa: F401
