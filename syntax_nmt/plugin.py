"""Importing this module registers the plugin with fairseq.

It registers the task, models, criterions, tokenizer and optimizer, and lets torch's safe loader
read fairseq's checkpoints. From then on, every file that fairseq loads is checked.
"""

import sys

from syntax_nmt.checkpoints.loading import check_whatever_is_loaded
from syntax_nmt.checkpoints.safe_loader import allow_fairseq_checkpoints
from syntax_nmt.errors import exits_in_fairseq_programs, is_a_program_of_fairseq

with exits_in_fairseq_programs():
    allow_fairseq_checkpoints()
    check_whatever_is_loaded()

import syntax_nmt.criterions.cross_entropy
import syntax_nmt.models.presets
import syntax_nmt.optim.fused_adam
import syntax_nmt.task.syntax_translation
import syntax_nmt.task.tokenizer  # noqa: F401
from syntax_nmt.task.misspelled_names import refuse_misspelled_names

if is_a_program_of_fairseq():
    with exits_in_fairseq_programs():
        refuse_misspelled_names(sys.argv[1:])
