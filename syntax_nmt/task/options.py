"""The options of `--task syntax_translation`.

fairseq reads the types of the options at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass, make_dataclass
from typing import Any, Optional

from fairseq.dataclass import ChoiceEnum
from fairseq.tasks.translation import TranslationConfig
from omegaconf import II

from syntax_nmt.arguments import option
from syntax_nmt.backbone.attention_kernels import ATTENTION_KERNELS, AUTO
from syntax_nmt.data.annotation import COLUMNS, LOADED_KINDS, TARGET_COLUMNS


@dataclass
class ProgramOptions(TranslationConfig):
    """fairseq's options of the translation task, and options of the program that has the task.

    Each program option copies the value of the option it names.
    """

    # of a training, possibly a killed one that is started again
    save_dir: str = II("checkpoint.save_dir")
    no_save: bool = II("checkpoint.no_save")
    restore_file: str = II("checkpoint.restore_file")
    continue_once: Optional[str] = II("checkpoint.continue_once")
    finetune_from_model: Optional[str] = II("checkpoint.finetune_from_model")
    checkpoint_suffix: str = II("checkpoint.checkpoint_suffix")
    reset_meters: bool = II("checkpoint.reset_meters")
    reset_optimizer: bool = II("checkpoint.reset_optimizer")
    patience: int = II("checkpoint.patience")
    max_update: int = II("optimization.max_update")
    cpu: bool = II("common.cpu")
    fp16: bool = II("common.fp16")
    memory_efficient_fp16: bool = II("common.memory_efficient_fp16")
    fp16_no_flatten_grads: bool = II("common.fp16_no_flatten_grads")
    tpu: bool = II("common.tpu")
    max_epoch: int = II("optimization.max_epoch")
    lr: Any = II("optimization.lr")  # noqa: RUF009  a list, by its name
    update_freq: Any = II("optimization.update_freq")  # noqa: RUF009  a list, by its name


# An option for each of LOADED_KINDS, such as load_dependencies. Python 3.12 knows by itself which
# module a made class is of.
_LoadingOptions: Any = make_dataclass(
    "LoadingOptions",
    [(kind.option, bool, option(False, kind.help)) for kind in LOADED_KINDS],
    bases=(ProgramOptions,),
    namespace={"__module__": __name__},
)


@dataclass
class SyntaxTranslationConfig(_LoadingOptions):
    """fairseq's options of the translation task; annotation to load, a parser, and kernels."""

    load_features: Optional[str] = option(None, COLUMNS[0].help)
    load_target_features: Optional[str] = option(None, TARGET_COLUMNS[0].help)
    parser_config: Optional[str] = option(
        None,
        "parse the source during translation, for models that read dependencies, features, "
        "phrases or trees, in place of --load-dependencies, --load-features, --load-phrases or "
        "--load-trees: the file "
        "parser.json that `syntax-nmt prepare` wrote, or another JSON file of lang, subwords, "
        "parser and its models, device, max_words, batch_size (docs/data.md)",
    )
    print_factors: bool = option(
        False,
        "fairseq-generate, -interactive: print the factors of the best hypothesis of each sentence "
        "on standard output, lines F-ID of a name and a value a word, with the words first; of "
        "models with target factors",
    )
    attention_kernels: ChoiceEnum(ATTENTION_KERNELS) = option(  # type: ignore[valid-type]
        AUTO,
        "fused attention kernels of this package's models on a GPU: auto leaves out cuDNN's where "
        "torch prefers it, because it prepares for every new shape of a batch; torch takes "
        "torch's own order (default: auto)",
    )
    # of a program that loads models, which are checked first
    path: Optional[str] = II("common_eval.path")
    lm_path: Optional[str] = II("generation.lm_path")
    model_overrides: str = II("common_eval.model_overrides")
    checkpoint_shard_count: int = II("checkpoint.checkpoint_shard_count")
