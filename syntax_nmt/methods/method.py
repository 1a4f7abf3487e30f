"""The declaration of a method: all that the rest of the package knows about it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields, make_dataclass
from typing import Any, Optional, TypeVar

from fairseq.dataclass import FairseqDataclass

from syntax_nmt.arguments import DECODER, ENCODER, attribute
from syntax_nmt.backbone.extension import Extension
from syntax_nmt.data.annotation.columns import loading_options
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.methods.objective import AuxiliaryObjective, Validation
from syntax_nmt.option_checks import check_choice, choices_of, refuse_without_effect

TRANSFORMER, RNN = "transformer", "rnn"
FAMILIES = (TRANSFORMER, RNN)
SMOOTHED = "label_smoothed_cross_entropy"

Part = tuple[str, str]
TRANSFORMER_ENCODER: Part = (TRANSFORMER, ENCODER)
TRANSFORMER_DECODER: Part = (TRANSFORMER, DECODER)
RNN_ENCODER: Part = (RNN, ENCODER)
RNN_DECODER: Part = (RNN, DECODER)

# Zhang et al. (2018), section 5.2: those of NIST Zh-En are the options' defaults.
RNN_SIZES: dict[str, dict[str, Any]] = {
    "": {},
    "_tiny": {"encoder_embed_dim": 128, "decoder_embed_dim": 128, "dropout": 0.1},
    "_nist_zh_en": {},
    "_wmt_en_de": {},
}
"""The sizes of the RNN family, by the suffix of a preset."""

Options = TypeVar("Options", bound=FairseqDataclass)


@dataclass(frozen=True)
class Preset:
    """A named architecture, in every size.

    Attributes:
        family: of the model.
        options: defaults that it gives in every size.
        sizes: further defaults by suffix; empty = the sizes of the family.
        derived: defaults that follow from those of the size.
    """

    family: str
    options: Mapping[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    derived: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class TrainingRecipe:
    """A way to train a method: what `prepare` lists, tests train and the benchmark times.

    Attributes:
        title: a description.
        arch: the architecture, without a size.
        save_dir: what `syntax-nmt train` calls it, and the folder of its checkpoints.
        options: of `fairseq-train`, beside architecture, criterion, sizes and those that load
            annotation.
        criterion: its training objective.
        needs: annotation that it is trained with.
        reads: annotation that it needs in translation, too: typed text needs a parser.
        variant: tells recipes of one architecture apart; empty = the usual one.
        family: of the model.
        shares_embeddings: source and target may share them.
        warmups: how many times as long as usual the warm-up is.
        is_printed: whether `prepare` lists it.
    """

    title: str
    arch: str
    save_dir: str
    options: tuple[str, ...] = ()
    criterion: str = SMOOTHED
    needs: tuple[AnnotationKind, ...] = ()
    reads: tuple[AnnotationKind, ...] = ()
    variant: str = ""
    family: str = TRANSFORMER
    shares_embeddings: bool = True
    warmups: int = 1
    is_printed: bool = True

    @property
    def training_options(self) -> tuple[str, ...]:
        """The options that load its annotation, and its own."""
        return (*loading_options(self.needs), *self.options)

    @property
    def name(self) -> str:
        """Architecture and variant."""
        return f"{self.arch}+{self.variant}" if self.variant else self.arch


@dataclass(frozen=True)
class Loss:
    """A loss that a method adds to that of translation.

    Attributes:
        criterion: name of the criterion with this loss alone.
        objective: computes it.
        options: its weights, fields whose names end so, and what goes with them.
        weights: usual ones, as options of the criterion of all methods.
    """

    criterion: str
    objective: type[AuxiliaryObjective]
    options: type[FairseqDataclass]
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def weight_options(self) -> list[Field]:
        """Those of the options that are weights."""
        return [each for each in fields(self.options) if each.name.endswith("_weight")]

    @property
    def among_others(self) -> type[FairseqDataclass]:
        """The options for the criterion of all methods, where weights are 0 by default."""
        off = [(each.name, each.type, _switched_off(each)) for each in self.weight_options]
        name, place = f"Optional{self.options.__name__}", {"__module__": self.options.__module__}
        return make_dataclass(name, off, bases=(self.options,), namespace=place)


def _switched_off(weight: Field) -> Any:
    """An option like a weight, with a default of 0, which its help says."""
    text = re.sub(r" \(default: .*\)$", "", weight.metadata["help"])
    return field(default=0.0, metadata={**weight.metadata, "help": f"{text} (default: 0)"})


@dataclass(frozen=True)
class Method:
    """A method: its options, what it adds to which part of a model, and what goes with it.

    Attributes:
        name: for messages, in the plural.
        families: the model families that have its options.
        options: of models.
        extensions: what it adds, by family and stack. One for a family that is not among
            `families` is built in mixed models alone.
        loss: beside that of translation.
        presets: the architectures that it names.
        recipes: ways to train it.
        ignored_in_0_1_0: options that 0.1.0 took without effect, by the option that switches them
            on.
        extractable: by structure that can be extracted from its models, the options that give it.
        same_at_inference: options that change nothing in translation.
        same_with: called with all options; gives further names that change nothing in translation
            if the others are as given.
        as_factors: options whose computation the source factors of other engines can express.
        take_from_data: fills in options of a model that depend on the task's data.
        other_switches: options that switch on parts of it, beside those of its extensions.
        validation: of models that choose structures themselves.
    """

    name: str
    families: tuple[str, ...] = ()
    options: Optional[type[FairseqDataclass]] = None
    extensions: Mapping[Part, type[Extension]] = field(default_factory=dict)
    loss: Optional[Loss] = None
    presets: Mapping[str, Preset] = field(default_factory=dict)
    recipes: tuple[TrainingRecipe, ...] = ()
    ignored_in_0_1_0: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    extractable: Mapping[str, str] = field(default_factory=dict)
    same_at_inference: tuple[str, ...] = ()
    same_with: Callable[[Any], tuple[str, ...]] = field(default=lambda options: ())
    as_factors: tuple[str, ...] = ()
    take_from_data: Optional[Callable[[Any, Any], None]] = None
    other_switches: tuple[str, ...] = ()
    validation: Optional[Validation] = None

    @property
    def switches(self) -> tuple[str, ...]:
        """The options that switch it on, or parts of it."""
        of_extensions = (attribute(each.option.split()[0]) for each in self.extensions.values())
        return tuple(dict.fromkeys((*of_extensions, *self.other_switches)))

    def extension(self, part: Part, cfg: Any, stack: Any) -> Optional[Extension]:
        """The extension of a part that the options switch on.

        Args:
            cfg: all options of the model.
            stack: what it is built for.

        Raises:
            UserError: options that contradict each other.
        """
        if self.options is None or part not in self.extensions:
            return None
        options, extension = read_options(self.options, cfg), self.extensions[part]
        return extension(options, stack) if extension.is_on(options, stack) else None


def read_options(kind: type[Options], given: Any) -> Options:
    """Options out of many, where None or missing = not given; choices are strings.

    Args:
        given: a namespace, or fairseq's options of a model or a criterion.

    Raises:
        UserError: a choice is unknown, which fairseq does not check in a YAML; or an option lacks
            what it needs to have an effect.
    """
    options = kind()
    for each in fields(kind):
        value = getattr(given, each.name, None)
        if value is not None:
            choices = choices_of(each)
            if choices:
                check_choice(each.name, value, choices)
            setattr(options, each.name, str(value) if choices else value)
    refuse_without_effect(options)
    return options
