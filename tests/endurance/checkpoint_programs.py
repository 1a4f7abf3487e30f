"""Every program that takes a checkpoint, to be called with one that nobody vouches for."""

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from commands import USER_DIR, in_a_program
from fairseq import checkpoint_utils, options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.models.transformer import TransformerModel
from fairseq_cli import eval_lm, train, validate
from programs import System
from smuggled_options import FILE

from syntax_nmt import load
from syntax_nmt.cli import main as syntax_nmt
from syntax_nmt.models.syntax_transformer import SyntaxTransformerModel


@dataclass(frozen=True)
class Given:
    """What a program is given.

    Attributes:
        path: the untrusted checkpoint.
        data: a data-bin folder.
        good: another checkpoint.
        text: a text of one line.
        new: a file to write.
    """

    path: Path
    data: Path
    good: Path
    text: Path
    new: Path


def _command(name: str, *arguments: str) -> Callable[[Given], object]:
    """A subcommand of ours; `{path}` and the like stand for what it is given."""

    def run(given: Given) -> object:
        return syntax_nmt([*name.split(), *(part.format(**vars(given)) for part in arguments)])

    return run


def _arguments(given: Given, *more: str) -> list[str]:
    plugin = ("--user-dir", USER_DIR, "--cpu", "--num-workers", "0", "--max-tokens", "999")
    return [str(given.data), *plugin, "--path", str(given.path), *more]


def _eval_lm(given: Given) -> object:
    return eval_lm.main(
        options.parse_args_and_arch(options.get_eval_lm_parser(), _arguments(given))
    )


def _validate(task: str) -> Callable[[Given], object]:
    """fairseq-validate; of its options only the folder takes the place of a checkpoint's."""

    def run(given: Given) -> object:
        command = _arguments(given, "--task", task)
        parsed = options.parse_args_and_arch(options.get_validation_parser(), command)
        return validate.main(parsed, Namespace(data=str(given.data)))

    return run


def _train(given: Given) -> object:
    """fairseq-train that begins with the checkpoint; it says so in one line where it refuses."""
    command = [str(given.data), "--user-dir", USER_DIR, "--task", "syntax_translation", "--cpu"]
    command += ["--arch", "dependency_transformer_tiny", "--max-tokens", "999"]
    command += [
        "--optimizer",
        "sgd",
        "--save-dir",
        str(given.new.with_name("saved")),
        "--restore-file",
    ]
    parser = options.get_training_parser()
    with in_a_program("train"):
        parsed = options.parse_args_and_arch(parser, [*command, str(given.path)])
        return train.main(convert_namespace_to_omegaconf(parsed))


def _hub(model: type) -> Callable[[Given], object]:
    return lambda given: model.from_pretrained(str(given.path.parent), FILE, str(given.data))


MODEL = ("{data}", "--path", "{path}")
TEXTS = ("--source", "{text}", "--target", "{text}", "--segmented")
PAIRS = (*TEXTS[:2], "--correct", "{text}", "--incorrect", "{text}", "--segmented")
EXPORT = ("{path}", "--data", "{data}", "--output", "{new}", "--to")
PROGRAMS: dict[str, Callable[[Given], object]] = {
    "fairseq's loader": lambda given: checkpoint_utils.load_model_ensemble_and_task(
        [str(given.path)], {"data": str(given.data)}
    ),
    "load": lambda given: load(given.path, given.data, segmented=True),
    "from_pretrained": _hub(SyntaxTransformerModel),
    "from_pretrained of fairseq": _hub(TransformerModel),
    "trees": _command("trees", *MODEL, "--input", "{text}"),
    "trees of constituents": _command(
        "trees", *MODEL, "--kind", "constituents", "--input", "{text}"
    ),
    "align": _command("align", *MODEL, *TEXTS),
    "align both ways": _command(
        "align", "{data}", "--path", "{good}", *TEXTS, "--reverse-path", "{path}"
    ),
    "chunks": _command("chunks", *MODEL, *TEXTS),
    "contrast": _command("contrast", *MODEL, *PAIRS),
    "plot attention": _command("plot attention", *MODEL, *TEXTS, "--output", "{new}"),
    "export to fairseq": _command("export", *EXPORT, "fairseq"),
    "export to CTranslate2": _command("export", *EXPORT, "ctranslate2"),
    "serve": _command("serve", "--system", "name", "{path}", "{data}"),
    "average": _command("average", "{path}", "--output", "{new}"),
    "train": _train,
    "generate": lambda given: System("any", given.data, given.path).generate(),
    "interactive": lambda given: System("any", given.data, given.path).type(),
    "generate --lm-path": lambda given: System("any", given.data, given.good).generate(
        "--lm-path", given.path
    ),
    "validate": _validate("syntax_translation"),
    "validate under another task": _validate("translation"),
    "eval_lm": _eval_lm,
}
