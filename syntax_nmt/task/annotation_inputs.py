"""Copies annotation from the batch into the inputs of models; no other code does.

A model declares the kinds that it reads as `reads_annotation`; it takes each as the arguments
`kind.keys` of its own forward, for training and scoring, and of its encoder's, for translation. It
ignores those of other models of an ensemble, which has one input. A model that was built for the
labels of a data folder stores them as `annotation_labels`.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Optional

from torch import Tensor, nn

from syntax_nmt.checkpoints.resumed import refuse_difference
from syntax_nmt.criterions.cross_entropy import ways_to_learn
from syntax_nmt.data.annotation import KINDS, PARSED_KINDS
from syntax_nmt.data.annotation.columns import loading_options
from syntax_nmt.data.annotation.kind import AnnotationKind, missing_annotation
from syntax_nmt.data.batch import Batch, source_tokens
from syntax_nmt.errors import UserError
from syntax_nmt.task.typed_input import PiecesOfBatch
from syntax_nmt.text.languages import SOURCE

logger = logging.getLogger(__name__)

_Labels = Mapping[AnnotationKind, tuple[str, ...]]
Annotate = Callable[
    [Sequence[AnnotationKind], Tensor, Optional[PiecesOfBatch], _Labels], Mapping[str, Tensor]
]
"""Makes the tensors of some kinds from the source tokens of a batch, B×S, the text of typed
sentences, and labels."""


def annotation_read_by(models: Iterable[Any]) -> tuple[AnnotationKind, ...]:
    """The kinds that any of some models or objectives reads."""
    return tuple(dict.fromkeys(kind for x in models for kind in getattr(x, "reads_annotation", ())))


def parsed_kinds(models: Iterable[Any]) -> list[AnnotationKind]:
    """The kinds that any of some models reads and a parser supplies."""
    return [kind for kind in annotation_read_by(models) if kind in PARSED_KINDS]


class AnnotationInputs:
    """Gives models the annotation that they declare, and no other.

    Kinds that no model reads are omitted, because fairseq's models would not accept the argument;
    the log warns once of options that load them.

    Args:
        loaded: the kinds whose files options load.
        labels: of these files, as far as they are open.
        parser: supplies at inference what the batch lacks; None = there is none.
    """

    def __init__(
        self,
        loaded: Collection[AnnotationKind],
        labels: Mapping[AnnotationKind, Sequence[str]],
        parser: Annotate | None = None,
    ) -> None:
        self._criterion = ""
        self._objectives: Sequence[Any] = ()
        self._labels = labels
        self._equal_labels: dict[AnnotationKind, tuple[Sequence[str], Sequence[str]]] = {}
        self._parser = parser
        self._loaded = loaded
        self._asked_for: list[tuple[str, tuple[AnnotationKind, ...]]]
        self._asked_for = [(kind.flag, (kind,)) for kind in loaded]
        if parser is not None:
            self._asked_for.append(("--parser-config", PARSED_KINDS))

    def expect_nothing(self) -> None:
        """Nobody asks for annotation now: there is no warning if no model reads it."""
        self._asked_for = []

    def trained_by(self, name: str, criterion: Any) -> None:
        """Says what trains the model.

        Args:
            name: of the criterion, as `--criterion` has it.
            criterion: its objectives, if it has any, read the top of the batch.
        """
        self._criterion = name
        self._objectives = getattr(criterion, "objectives", ())

    def check_loaded(self, model: nn.Module) -> None:
        """Reports annotation that is missing before the first batch of a training.

        Raises:
            UserError: no option loads annotation that the model reads, or learns by the criterion;
                or one loads what the model learns, and the criterion has no loss of it.
        """
        read = annotation_read_by([model, *self._objectives])
        learned = getattr(model, "learns_annotation", ())
        for kind in learned:
            if kind in self._loaded and kind not in read:
                raise UserError(
                    f"--criterion {self._criterion} has no loss of the {kind.description} that "
                    f"{kind.flag} loads: give {ways_to_learn(kind)}; or leave {kind.flag} out"
                )
        # What the model does not learn, a loss reports at its first batch.
        missing, options = self._missing_of(self._learned_by([model]))
        if missing:
            described = " and the ".join(kind.description for kind in missing)
            raise UserError(
                f"the criterion needs the {described}: add {' '.join(options)} (`syntax-nmt "
                "binarize` makes the files), or give another --criterion"
            )
        missing, options = self._missing_of(annotation_read_by([model]))
        if missing:
            raise missing_annotation(missing, options)

    def _learned_by(self, models: Iterable[Any]) -> list[AnnotationKind]:
        """The kinds that some models learn; a loss may read others, of other models."""
        learned = {kind for x in models for kind in getattr(x, "learns_annotation", ())}
        return [kind for kind in annotation_read_by(self._objectives) if kind in learned]

    def _missing_of(
        self, needed: Sequence[AnnotationKind]
    ) -> tuple[list[AnnotationKind], tuple[str, ...]]:
        """The kinds that no option loads, and options that load them.

        An option that takes a list names again what it already loads.
        """
        missing = [kind for kind in needed if kind not in self._loaded]
        options = {kind.option for kind in missing}
        return missing, loading_options(kind for kind in needed if kind.option in options)

    def for_forward(self, models: Sequence[nn.Module], sample: Batch) -> Batch:
        """The batch with all declared inputs that it has, including those of the target.

        Args:
            sample: the batch, which is not changed.

        Raises:
            UserError: annotation of the source is missing; a model does not accept annotation that
                another reads, or was built for other labels.
        """
        self._warn_of_unread(models)
        return self._given(models, sample, KINDS)

    def for_inference(
        self,
        models: Sequence[nn.Module],
        sample: Batch,
        typed: PiecesOfBatch | None,
        scores: bool,
    ) -> Batch:
        """The batch with the declared inputs; a parser, if there is one, supplies missing ones.

        Args:
            sample: the batch, which is not changed.
            scores: whether the target is known (no search).

        Raises:
            UserError: as of :meth:`for_forward`; or a parser fails.
        """
        self._warn_of_unread(models)
        missing = [kind for kind in parsed_kinds(models) if kind.key not in sample]
        if missing and self._parser is not None:
            tokens, labels = source_tokens(sample), labels_of(missing, models)
            sample = {**sample, **self._parser(missing, tokens, typed, labels)}
        known = [kind for kind in KINDS if scores or kind.side == SOURCE]
        return self._given(models, sample, known)

    def check_labels(self, model: nn.Module) -> None:
        """Compares the labels that a model was built for with those of the annotation files.

        Raises:
            UserError: they are others.
        """
        for kind, built_for in getattr(model, "annotation_labels", {}).items():
            found = self._labels.get(kind, built_for)
            one, other = self._equal_labels.get(kind, ((), ()))
            if built_for is one and found is other:
                continue  # every batch asks, and there may be 30,000 labels
            option = " ".join(loading_options([kind]))
            remedy = f"leave {option} out"
            if kind in PARSED_KINDS:  # the model needs some: a parser gives its own labels
                remedy = f"--parser-config in place of {option}"
            name = getattr(model, "checkpoint", "the model")
            refuse_difference(name, kind, built_for, found, remedy)
            self._equal_labels[kind] = built_for, found

    def _given(
        self, models: Sequence[nn.Module], sample: Batch, known: Iterable[AnnotationKind]
    ) -> Batch:
        there = {**sample["net_input"], **sample}
        read = [key for kind in known if kind in annotation_read_by(models) for key in kind.keys]
        given = {key: there[key] for key in read if key in there}
        needed = parsed_kinds(models)
        if (given or needed) and not all(hasattr(model, "reads_annotation") for model in models):
            raise UserError(
                "an ensemble of a model that reads annotation and one that takes none, which "
                "no architecture of syntax_nmt is: leave the latter out of --path"
            )
        missing = [kind for kind in needed if kind.key not in there]
        if missing:
            raise missing_annotation(missing, loading_options(missing))
        if given:
            for model in models:
                self.check_labels(model)
        keys = {key for kind in KINDS for key in kind.keys}
        inputs = {key: value for key, value in sample["net_input"].items() if key not in keys}
        return {**sample, "net_input": {**inputs, **given}}

    def _warn_of_unread(self, models: Sequence[nn.Module]) -> None:
        if not self._asked_for:
            return
        read = (*annotation_read_by(models), *self._learned_by(models))
        for option, kinds in self._asked_for:
            if not any(kind in read for kind in kinds):
                what = " or ".join(kind.description for kind in kinds)
                logger.warning(f"{option}: has no effect, as nothing reads the {what}")
        self._asked_for = []


def labels_of(kinds: Iterable[AnnotationKind], models: Sequence[nn.Module]) -> _Labels:
    """The labels that some models were built for.

    Raises:
        UserError: they are not the same for all.
    """
    found: dict[AnnotationKind, tuple[str, ...]] = {}
    for kind in kinds:
        for model in models:
            labels = getattr(model, "annotation_labels", {}).get(kind)
            if labels is not None and found.setdefault(kind, labels) != labels:
                raise UserError(
                    f"the models of the ensemble know different {kind.label}s of the "
                    f"{kind.description}: give models of one data folder"
                )
    return found
