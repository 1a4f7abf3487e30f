"""Finds files of the user that a preparation would overwrite, before it begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from syntax_nmt.data.annotation import KINDS
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.annotation_files import find_annotation_file
from syntax_nmt.preparation.plan import Plan
from syntax_nmt.preparation.steps import recorded_steps


def refuse_to_overwrite(plan: Plan, models: Iterable[Path]) -> None:
    """Refuses outputs that would overwrite other files.

    Args:
        plan: the planned outputs.
        models: files and folders that it reads in addition to the text.

    Raises:
        UserError: an input would be overwritten, or is in the data-bin folder, which is replaced as
            a whole; or that folder contains other files.
    """
    outputs = {path.resolve() for path in plan.outputs}
    for split in plan.splits:
        for raw in (split.source, split.target):
            if raw.resolve() in outputs:
                raise UserError(f"{raw} would be overwritten: give another --destdir")
    data_bin = plan.data_bin.resolve()
    for path in (*_texts(plan), *models):
        if path.resolve().is_relative_to(data_bin):
            raise UserError(
                f"{path} lies in {plan.data_bin}, which is made anew as a whole: move it, or give "
                "another --destdir"
            )
    if _is_of_another(plan):
        raise UserError(
            f"{plan.data_bin}: would be replaced, and {plan.record} does not tell that `syntax-nmt "
            "prepare` made it: give another --destdir, or remove it"
        )


def _texts(plan: Plan) -> Iterator[Path]:
    """The raw text and its annotation."""
    for split in plan.splits:
        yield from (split.source, split.target)
        for kind in KINDS:
            file = find_annotation_file(split.prefix, plan.language(kind), kind)
            if file is not None:
                yield file


def _is_of_another(plan: Plan) -> bool:
    """Whether there is a data-bin that is not an earlier run's."""
    if not plan.data_bin.is_dir():
        return plan.data_bin.exists()
    if not any(plan.data_bin.iterdir()):
        return False
    # A run that was killed may have made it and not have written that down; the pieces are on
    # record then. A record that is damaged tells nothing, but that there was a run.
    steps = recorded_steps(plan.record)
    return steps is not None and not any(name.startswith(("data-bin", "pieces/")) for name in steps)
