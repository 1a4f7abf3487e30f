"""The annotation of a corpus's words: given, or made by an annotator."""

from collections.abc import Callable, Container
from contextlib import nullcontext
from functools import partial
from itertools import zip_longest
from pathlib import Path

from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.text_files import read_lines, write_atomically
from syntax_nmt.data.word_annotation import STOP, WordAnnotation
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.annotators.annotate import annotate_file, describe
from syntax_nmt.preparation.annotators.annotator import Annotator
from syntax_nmt.preparation.annotators.parts import PartFolder, options_sum
from syntax_nmt.preparation.given_annotation import GivenAnnotation
from syntax_nmt.preparation.plan import Plan
from syntax_nmt.preparation.splits import Split
from syntax_nmt.preparation.steps import PARSER, PROGRAM, SKIPPED, TAKEN_FROM, Report, Steps

_IN_PLACE = "in place"  # of a report: whether given annotation is the user's file beside the words


class AnnotationTexts:
    """The annotation files at word level, one per split and kind.

    Args:
        plan: what to make.
        steps: the record of what is done.
        note: called with one line about each thing that happens.
    """

    def __init__(self, plan: Plan, steps: Steps, note: Callable[[str], None]) -> None:
        self._plan = plan
        self._steps = steps
        self._note = note

    def take_given(self, split: Split) -> list[Path]:
        """Checks the given annotation of a split and writes it for the words.

        Loads the annotators of the kinds that are not given, so that missing models stop it here.

        Returns:
            the files.

        Raises:
            UserError: it does not fit, or an annotator of the others does not load.
        """
        plan = self._plan
        found = []
        for kind in plan.kinds:
            path = plan.annotation_text(split.name, kind)
            if self._taken_along(split, kind):
                found.append(path)
            elif kind in plan.annotators and self._steps.report(f"words/{path.name}") is None:
                annotator = plan.annotators[kind]()
                annotator.load()  # errors of models are reported now
                foreign = annotator.foreign(plan.words(split.name, plan.language(kind)))
                if foreign is not None:
                    self._note(foreign)
        return found

    def complete(self, split: Split, given: Container[Path]) -> list[Path]:
        """Makes the annotation of a split that is not given, which may take hours.

        Removes what an earlier run took from files that are not there any more.

        Args:
            given: of :meth:`take_given`.

        Returns:
            all files of the split: given and made.
        """
        plan = self._plan
        found = []
        for kind in plan.kinds:
            path = plan.annotation_text(split.name, kind)
            if path in given:
                found.append(path)
            elif kind in plan.annotators:
                words = plan.words(split.name, plan.language(kind))
                self._annotated(words, path, plan.annotators[kind]())
                found.append(path)
            elif path.is_file():
                self._leave_out(path, kind)
        return found

    def _leave_out(self, path: Path, kind: AnnotationKind) -> None:
        """Handles files of a run with other options: removes copies, keeps parses."""
        report = self._steps.report(f"words/{path.name}") or {}
        if TAKEN_FROM in report:
            path.unlink()
            self._note(f"{path}: removed, as there is no {report[TAKEN_FROM]} any more")
        else:
            option = kind.making.split()[0]
            self._note(f"{path}: kept, and left out of the data-bin: give {option} again to use it")

    def _taken_along(self, split: Split, kind: AnnotationKind) -> bool:
        """Uses the annotation of a split, if there is one; returns whether there is."""
        destination = self._plan.annotation_text(split.name, kind)
        given = self._given(split, kind, destination)
        if given is None:
            return False
        made_from, take = self._made_from(given), partial(self._take, given, destination)
        self._steps.run(f"words/{destination.name}", made_from, take, lambda: [destination])
        return True

    def _given(
        self, split: Split, kind: AnnotationKind, destination: Path
    ) -> GivenAnnotation | None:
        """The user's annotation: next to the raw text, or next to the words.

        Raises:
            UserError: there are both, and they differ.
        """
        plan = self._plan
        file = plan.given.get((split.name, kind))
        # Beside the words of a shard is its own copy, even if a killed run has not recorded it.
        copied = file is not None and plan.corpus is not None and split.is_training
        if not copied and self._made_elsewhere(kind, destination):
            if file is not None and not _same_lines(file, destination):
                raise UserError(
                    f"{destination}: was not made here, by its record, and {file} would replace "
                    "it: remove one of the two"
                )
            file = destination
        elif file is None:
            packed = destination.with_name(f"{destination.name}.gz")
            file = packed if packed.is_file() else None
        if file is None:
            return None
        annotation = WordAnnotation(file, kind, plan.attach_roots)
        return GivenAnnotation(annotation, plan.words(split.name, plan.language(kind)))

    def _made_from(self, given: GivenAnnotation) -> dict[str, object]:
        """What the annotation over the words depends on."""
        return {
            "given": self._steps.checksum(given.annotation.file),
            "words": self._steps.checksum(given.words),
            "policy": [self._plan.on_mismatch, self._plan.attach_roots],
        }

    def _take(self, given: GivenAnnotation, destination: Path) -> Report:
        """Checks all of it, and writes it for the words."""
        file = given.annotation.file
        in_place = file == destination
        if in_place:
            self._note(
                f"  {file}: no record of it in {self._plan.record.name}, so it counts as given; "
                "to have it made, remove it and run this again"
            )
        with nullcontext() if in_place else write_atomically(destination) as out:
            fit = given.fit(out)
            for note in fit.notes(file, given.words):
                self._note(f"  {note}")
            skipped = len(fit.mismatched)
            if skipped and in_place:
                raise fit.refusal(f"or remove {destination}")
            if skipped and self._plan.on_mismatch == STOP:
                raise fit.refusal("or give --on-mismatch skip (they have no annotation)")
        report: Report = {TAKEN_FROM: str(file), _IN_PLACE: in_place}
        if skipped:
            self._note(f"  {skipped:,} sentences skipped, the first is {fit.first}")
            report[SKIPPED] = skipped
        return report

    def _made_elsewhere(self, kind: AnnotationKind, annotation_text: Path) -> bool:
        """Whether annotation next to the words is the user's, such as merged parses of jobs."""
        if kind in self._plan.annotators and PartFolder(annotation_text).heads():
            return False  # its parts are removed when it is done
        report = self._steps.report(f"words/{annotation_text.name}")
        return annotation_text.is_file() and (
            report is None or _is_in_place(report, annotation_text)
        )

    def _annotated(self, words: Path, destination: Path, annotator: Annotator) -> None:
        options, part_size = annotator.fingerprint(), self._plan.resources.part_size
        made_from = {
            "words": self._steps.checksum(words),
            "options": options,
            "part size": part_size,
        }

        def make() -> Report:
            resources = self._plan.resources
            counts = annotate_file(words, destination, annotator, resources, keep_parts=True)
            self._note(f"  {describe(counts)}")
            del counts["reused"]
            made = {PARSER: annotator.made_by, PROGRAM: annotator.models is None}
            return {**counts, **made}

        self._steps.run(f"words/{destination.name}", made_from, make, lambda: [destination])
        # Until it is recorded, the parts show that this was not given.
        parts = PartFolder(destination)
        if {head.options for head in parts.heads()} == {options_sum(options, part_size)}:
            parts.remove()


def _same_lines(*files: Path) -> bool:
    """Whether two files, which may be compressed, have the same text."""
    return all(one == other for one, other in zip_longest(*map(read_lines, files)))


def _is_in_place(report: Report, annotation_text: Path) -> bool:
    """Whether a report is about the user's file next to the words, even if the folder was moved.

    Records of 0.1.0 have its path alone, as the folder was called at that time.
    """
    recorded = Path(report.get(TAKEN_FROM, ""))
    return bool(report.get(_IN_PLACE, recorded.parts[-2:] == annotation_text.parts[-2:]))
