"""`parser.json` of a prepared folder: the parsers of its text, for new text."""

from collections.abc import Callable

from syntax_nmt.data.annotation import TEXT_KINDS
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.subwords import NO_SUBWORDS, SENTENCEPIECE
from syntax_nmt.parsing.config import ParserConfig, device_in
from syntax_nmt.preparation.plan import Plan
from syntax_nmt.preparation.steps import ANNOTATED, Report, Steps


def write_parser_config(plan: Plan, steps: Steps, note: Callable[[str], None]) -> None:
    """Writes the file, if this text was parsed for models; otherwise removes the one that was
    written here. A file that the user wrote, or changed, stays where nothing is parsed.

    Args:
        steps: those of the folder, done.
        note: called with one line about each event.
    """
    reads_parses = plan.linearised is None  # otherwise models read text alone
    annotators = {
        kind: plan.annotators[kind]()
        for kind in TEXT_KINDS
        if reads_parses and kind.parsed_by is not None and _is_parsed(plan, steps, kind)
    }
    file = plan.parser_config
    for kind, annotator in annotators.items():
        if annotator.models is None:
            note(
                f"{file}: names no parser of {kind.description}: {annotator.made_by} made them, "
                "which no file may name; to translate typed text, write the file (docs/data.md "
                "says how)"
            )
    models = [found.models for found in annotators.values() if found.models is not None]
    if models:
        settings = next(iter(annotators.values()))
        # Not the device of this run: the user may have written another one.
        config = ParserConfig.of(
            models,
            NO_SUBWORDS if plan.source in plan.vocabularies else SENTENCEPIECE,
            max_words=settings.max_words,
            batch_size=settings.batch_size,
            device=device_in(file),
        )

        def make() -> Report:
            config.write(file)
            return {}

        steps.run(file.name, {"config": repr(config)}, make, lambda: [file])
    elif not annotators and steps.report(file.name) is not None:
        file.unlink()
        note(f"{file}: removed, as no model reads trees of its parser")


def _is_parsed(plan: Plan, steps: Steps, kind: AnnotationKind) -> bool:
    """Whether a split was annotated here, and not taken along with its annotation."""
    names = [plan.annotation_text(split.name, kind).name for split in plan.splits]
    return any(ANNOTATED in steps.reports.get(f"words/{name}", {}) for name in names)
