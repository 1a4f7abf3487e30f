"""Exports a stock Transformer to CTranslate2, after a comparison with fairseq."""

import json
import tempfile
from argparse import Namespace
from pathlib import Path
from types import ModuleType

import torch
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerModel
from fairseq.tasks import FairseqTask

from syntax_nmt.arguments import flag
from syntax_nmt.data.text_files import write_binary_atomically
from syntax_nmt.errors import UserError
from syntax_nmt.export.stock_transformer import save_dictionaries

QUANTIZATIONS = ("int8", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16")
CONFIG = "config.json"  # CTranslate2's own, which takes more keys than it knows
LIMITS = ("max_source_positions", "max_target_positions")
# fairseq's options that CTranslate2's converter ignores; it fails on their effects, or omits them.
_NOT_ASKED_FOR = (
    "adaptive_softmax_cutoff",
    "cross_self_attention",
    "decoder_output_dim",
    "no_cross_attention",
    "no_decoder_final_norm",
)
_TOLERANCE = 1e-3  # nats a token, in float32


def check_installed() -> ModuleType:
    """CTranslate2 itself.

    Raises:
        UserError: it is not installed.
    """
    try:
        import ctranslate2.converters
    except ImportError:
        raise UserError(
            "--to ctranslate2: CTranslate2 is not installed: pip install 'syntax-nmt[export]'"
        ) from None
    return ctranslate2


def convert(
    model: TransformerModel,
    args: Namespace,
    task: FairseqTask,
    quantization: str | None,
    folder: Path,
) -> None:
    """Writes the model in float32, compares it with fairseq's, and quantises it.

    Its configuration gets the model's limits, over which CTranslate2 would fail.

    Args:
        quantization: one of :data:`QUANTIZATIONS`; None = float32.

    Raises:
        UserError: CTranslate2 does not know an option of the model, or computes something else.
    """
    ctranslate2 = check_installed()
    # On the disk of the result: that of temporary files may be small.
    with tempfile.TemporaryDirectory(dir=folder) as taken_from:
        save_dictionaries(task, Path(taken_from))
        checkpoint = Path(taken_from, "model.pt")
        with write_binary_atomically(checkpoint) as stream:
            torch.save({"args": args, "model": model.state_dict()}, stream)
        converter = ctranslate2.converters.FairseqConverter(str(checkpoint), taken_from)
        try:
            converter.convert(str(folder), force=True)
        except (AttributeError, TypeError, ValueError) as error:  # an option it has no form for
            reason = _unknown_options(args) or " ".join(str(error).split())
            raise UserError(f"--to ctranslate2: {reason}: use --to fairseq") from error
        difference = _difference(ctranslate2.Translator(str(folder)), model, task)
        if not difference < _TOLERANCE:
            reason = _unknown_options(args) or "it lacks one of the model's options"
            raise UserError(
                f"--to ctranslate2: log-probabilities differ from fairseq's by {difference:.2g} "
                f"nats: {reason}: use --to fairseq"
            )
        if quantization is not None:
            converter.convert(str(folder), quantization=quantization, force=True)
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    config.update(zip(LIMITS, model.max_positions()))
    (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _unknown_options(args: Namespace) -> str:
    """Names the options of the model that may have made CTranslate2 fail, if any."""
    usual = {"decoder_output_dim": args.decoder_embed_dim}
    given = [
        flag(name)
        for name in _NOT_ASKED_FOR
        if getattr(args, name, None) not in (None, False, usual.get(name))
    ]
    return f"CTranslate2 does not know {' and '.join(given)}" if given else ""


def _difference(translator: object, model: TransformerModel, task: FairseqTask) -> float:
    """The largest difference of a log-probability, over sentences of different tokens."""
    dictionaries = task.source_dictionary, task.target_dictionary
    count = min(20, *(limit - 1 for limit in model.max_positions()))
    source, target = (_tokens(dictionary, count) for dictionary in dictionaries)
    words = [
        [[dictionary[token] for token in tokens]]
        for dictionary, tokens in zip(dictionaries, (source, target))
    ]
    (scored,) = translator.score_batch(*words)  # type: ignore[attr-defined]
    eos = task.target_dictionary.eos()
    with torch.no_grad():
        net_output = model(
            torch.tensor([[*source, task.source_dictionary.eos()]]),
            torch.tensor([len(source) + 1]),
            torch.tensor([[eos, *target]]),
        )
        expected = model.get_normalized_probs(net_output, log_probs=True)[0]
    expected = expected.gather(1, torch.tensor([[*target, eos]]).T)[:, 0]
    return float((torch.tensor(scored.log_probs) - expected).abs().max())


def _tokens(dictionary: Dictionary, count: int) -> list[int]:
    """Tokens from the whole dictionary, each at another position."""
    return torch.linspace(dictionary.nspecial, len(dictionary) - 1, count).long().tolist()
