"""Everything that fairseq is to know: importing this module registers it.

The task, models, criterions, tokenizer and optimizer get their names, and torch's safe loader may
read fairseq's checkpoints.
"""

from syntax_nmt.checkpoints import allow_fairseq_checkpoints

allow_fairseq_checkpoints()

import syntax_nmt.criterions.chunk_cross_entropy  # noqa: E402
import syntax_nmt.criterions.dependency_cross_entropy  # noqa: E402
import syntax_nmt.criterions.synchronous_cross_entropy  # noqa: E402
import syntax_nmt.criterions.syntax_cross_entropy  # noqa: E402
import syntax_nmt.data.tokenizer  # noqa: E402
import syntax_nmt.models.presets  # noqa: E402
import syntax_nmt.models.rnn_presets  # noqa: E402
import syntax_nmt.optim.fused_adam  # noqa: E402
import syntax_nmt.tasks.syntax_translation  # noqa: E402, F401
