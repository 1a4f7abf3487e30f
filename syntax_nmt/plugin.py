"""Everything that fairseq is to know: importing this module registers it.

The task, models, criterions, tokenizer and optimizer get their names, and torch's safe loader may
read fairseq's checkpoints.
"""

from syntax_nmt.checkpoints.safe_loader import allow_fairseq_checkpoints
from syntax_nmt.errors import exits_in_fairseq_programs

with exits_in_fairseq_programs():
    allow_fairseq_checkpoints()
import syntax_nmt.tasks.tokenizer  # noqa: F401
