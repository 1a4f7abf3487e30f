"""The task over a data-bin folder, as a training sets it up."""

from pathlib import Path

from syntax_nmt.task.syntax_translation import SyntaxTranslationConfig, SyntaxTranslationTask

# What fairseq's programs take from groups of options that are not there.
OF_PROGRAMS = {"train_subset": "train", "dataset_impl": None, "required_seq_len_multiple": 1}


def task_of(data: Path, source: str, target: str, **options) -> SyntaxTranslationTask:
    """The options are those of the task."""
    cfg = {"data": str(data), "source_lang": source, "target_lang": target}
    return SyntaxTranslationTask.setup_task(
        SyntaxTranslationConfig(**cfg, **{**OF_PROGRAMS, **options})
    )
