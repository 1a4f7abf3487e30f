"""Exports a model that computes the same as fairseq's `transformer` as its checkpoint."""

import dataclasses
from pathlib import Path
from typing import Any

import torch
from fairseq import options
from fairseq.dataclass.configs import FairseqConfig
from fairseq.models import BaseFairseqModel
from fairseq.models.transformer import TransformerModel
from fairseq.tasks import FairseqTask
from fairseq.tasks.translation import TranslationConfig
from omegaconf import OmegaConf

from syntax_nmt.arguments import Namespace, defaults_of, flag
from syntax_nmt.backbone.extension import having
from syntax_nmt.backbone.source_factors import SourceFactors
from syntax_nmt.data.annotation import COLUMNS, TARGET_COLUMNS
from syntax_nmt.data.text_files import write_binary_atomically
from syntax_nmt.errors import UserError
from syntax_nmt.methods import METHODS
from syntax_nmt.models.family_options import STACKS, TRANSFORMER
from syntax_nmt.models.options import SyntaxTransformerOptions

_SAME_AT_INFERENCE = {"_name", *(f"{stack}_family" for stack in STACKS)}
_SAME_AT_INFERENCE.update(
    column.key for column in (*COLUMNS, *TARGET_COLUMNS)
)  # labels, of features that have options
_SAME_AT_INFERENCE.update(name for method in METHODS for name in method.same_at_inference)
_AS_FACTORS = {name for method in METHODS for name in method.as_factors}


def feature_in_the_way(
    model: BaseFairseqModel, cfg: Any, knows_factors: bool = False
) -> str | None:
    """The option of a feature that a stock Transformer lacks; None = there is none.

    Args:
        knows_factors: the engine adds vectors of source factors.
    """
    if not isinstance(model, TransformerModel):
        return f"--arch {cfg.arch}, which is no Transformer"
    for stack in STACKS:
        family = getattr(cfg, f"{stack}_family", TRANSFORMER)
        if str(family) != TRANSFORMER:
            return f"--{stack}-family {family}"
    same = {name for method in METHODS for name in method.same_with(cfg)} | _SAME_AT_INFERENCE
    for field in dataclasses.fields(getattr(model, "feature_options", SyntaxTransformerOptions)):
        value = getattr(cfg, field.name, field.default)
        if knows_factors and field.name in _AS_FACTORS:
            continue
        if field.name not in same and value != field.default:
            given = "" if value is True else f" {value}"
            return f"{flag(field.name)}{given}"
    return None


def source_factors(model: BaseFairseqModel) -> SourceFactors | None:
    """The source embedding of a Transformer as a sum; None = it is no other than fairseq's."""
    encoder = model.encoder
    found = [
        extension.source_factors(encoder.embed_tokens.weight)
        for extension in having(getattr(encoder, "extensions", ()), "source_factors")
    ]
    return found[0] if found else None


def stock_transformer(
    model: BaseFairseqModel, cfg: Any, task: FairseqTask, factors: SourceFactors | None = None
) -> tuple[TransformerModel, Namespace]:
    """A model's weights in fairseq's own class, with only fairseq's options.

    Args:
        model: without such features.
        factors: of the source, which it leaves out.

    Raises:
        UserError: the weights are not those of a Transformer.
    """
    args = _stock_options(cfg, task)
    unread = tuple(
        f"{stack}.{name}."
        for stack in STACKS
        for extension in getattr(getattr(model, stack), "extensions", ())
        for name in extension.training_modules
    )
    weights = {name: x for name, x in model.state_dict().items() if not name.startswith(unread)}
    if factors is not None:
        left_out = tuple(f"encoder.{name}." for name in factors.modules)
        weights = {name: x for name, x in weights.items() if not name.startswith(left_out)}
        weights["encoder.embed_tokens.weight"] = factors.words
        if args.share_all_embeddings:  # the decoder's may differ from the token's part
            args.share_all_embeddings, args.share_decoder_input_output_embed = False, True
    stock = TransformerModel.build_model(Namespace(**vars(args)), task)
    try:
        stock.load_state_dict(weights)
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].strip()
        raise UserError(f"the model's weights are not a Transformer's: {reason}") from error
    return stock.eval(), args


def save_dictionaries(task: FairseqTask, folder: Path) -> None:
    """Writes both vocabularies under the names that fairseq knows."""
    task.source_dictionary.save(str(folder / f"dict.{task.cfg.source_lang}.txt"))
    task.target_dictionary.save(str(folder / f"dict.{task.cfg.target_lang}.txt"))


def save_stock_checkpoint(model: TransformerModel, args: Namespace, path: Path) -> None:
    """Writes a checkpoint that fairseq loads without this package.

    Args:
        model: as :func:`stock_transformer` gives it.

    Raises:
        UserError: it cannot be written.
    """
    cfg = OmegaConf.structured(FairseqConfig())
    cfg.task = {**vars(TranslationConfig.from_namespace(args)), "_name": args.task}
    cfg.model = {**vars(args), "_name": args.arch}
    state = {
        "args": None,
        "cfg": OmegaConf.to_container(cfg, resolve=True, enum_to_str=True),
        "model": model.state_dict(),
        "optimizer_history": [{"optimizer_name": "", "lr_scheduler_state": {}, "num_updates": 0}],
        "extra_state": {},
        "last_optimizer_state": None,
    }
    with write_binary_atomically(path) as stream:
        torch.save(state, stream)


def _stock_options(cfg: Any, task: FairseqTask) -> Namespace:
    """fairseq's own options of `--arch transformer`, with the sizes of the model."""
    languages = ["--source-lang", task.cfg.source_lang, "--target-lang", task.cfg.target_lang]
    command = [".", "--task", "translation", *languages, "--arch", "transformer"]
    args: Namespace = options.parse_args_and_arch(options.get_training_parser(), command)
    for name in vars(defaults_of(TransformerModel.add_args)):
        if hasattr(cfg, name):
            setattr(args, name, getattr(cfg, name))
    for name in ("left_pad_source", "left_pad_target"):
        setattr(args, name, getattr(task.cfg, name))
    return args
