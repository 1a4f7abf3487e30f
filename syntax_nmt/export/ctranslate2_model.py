"""Exports a Transformer to CTranslate2, after a comparison with fairseq."""

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import torch
from fairseq.data import Dictionary
from fairseq.models import BaseFairseqModel
from fairseq.models.transformer import TransformerModel
from fairseq.tasks import FairseqTask
from torch import Tensor

from syntax_nmt.arguments import Namespace, flag
from syntax_nmt.backbone.source_factors import NO_VALUE, SourceFactors, places
from syntax_nmt.data.subwords import pieces_per_word, vocabulary_scheme
from syntax_nmt.data.text_files import write_binary_atomically
from syntax_nmt.errors import UserError
from syntax_nmt.export import CONFIG, FACTORS, LIMITS, SCHEME, check_installed
from syntax_nmt.export.factored_text import SEPARATOR, beside, can_be_written
from syntax_nmt.export.stock_transformer import save_dictionaries

# fairseq's options that CTranslate2's converter ignores; it fails on their effects, or omits them.
_NOT_ASKED_FOR = (
    "adaptive_softmax_cutoff",
    "cross_self_attention",
    "decoder_output_dim",
    "no_cross_attention",
    "no_decoder_final_norm",
)
_TOLERANCE = 1e-3  # nats a token, in float32


class Converted(NamedTuple):
    """What is converted.

    Attributes:
        model: as it was trained.
        stock: its Transformer, with options.
        args: those options.
        factors: that the source has beside the tokens.
    """

    model: BaseFairseqModel
    stock: TransformerModel
    args: Namespace
    factors: SourceFactors | None = None


def convert(
    converted: Converted, task: FairseqTask, quantization: str | None, folder: Path
) -> None:
    """Writes the model in float32, compares it with fairseq's, and quantises it.

    Its configuration gets the model's limits, over which CTranslate2 would fail, and the names of
    the source's factors with the scheme of its subwords.

    Args:
        quantization: one of :data:`~syntax_nmt.export.QUANTIZATIONS`; None = float32.
        folder: empty; an error leaves what was made until then.

    Raises:
        UserError: CTranslate2 does not know an option of the model, or computes something else.
    """
    ctranslate2 = check_installed()
    model, stock, args, factors = converted
    # Within the result's own folder, which is locked and removed as a whole: what is converted, and
    # a folder that the converter makes and, before it quantises, removes.
    source, made = folder / "source", folder / "converted"
    source.mkdir()
    save_dictionaries(task, source)
    checkpoint = source / "model.pt"
    with write_binary_atomically(checkpoint) as stream:
        torch.save({"args": args, "model": stock.state_dict()}, stream)
    converter = _converter(checkpoint, factors)
    try:
        converter.convert(str(made))
    except (AttributeError, TypeError, ValueError) as error:  # an option it has no form for
        reason = _unknown_options(args) or " ".join(str(error).split())
        raise UserError(f"--to ctranslate2: {reason}: use --to fairseq") from error
    difference = _difference(ctranslate2.Translator(str(made)), model, task, factors)
    if not difference < _TOLERANCE:
        reason = _unknown_options(args) or "it lacks one of the model's options"
        raise UserError(
            f"--to ctranslate2: log-probabilities differ from fairseq's by {difference:.2g} "
            f"nats: {reason}: use --to fairseq"
        )
    if quantization is not None:
        converter.convert(str(made), quantization=quantization, force=True)
    shutil.rmtree(source)
    for file in made.iterdir():
        file.replace(folder / file.name)
    made.rmdir()
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    config.update(zip(LIMITS, model.max_positions()))
    if factors is not None:
        config[FACTORS] = [factor.name for factor in factors.factors]
        config[SCHEME] = vocabulary_scheme(task.source_dictionary)
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


def _converter(checkpoint: Path, factors: SourceFactors | None) -> Any:
    """CTranslate2's converter, which also takes the factors of the source.

    Args:
        checkpoint: beside the vocabularies.
    """
    import numpy as np
    from ctranslate2.converters import FairseqConverter
    from ctranslate2.specs import common_spec

    class Converter(FairseqConverter):
        def _load(self) -> Any:
            spec = super()._load()
            for factor in () if factors is None else factors.factors:
                embeddings = common_spec.EmbeddingsSpec()
                embeddings.weight = factor.table.clone().numpy()
                spec.encoder.embeddings.append(embeddings)
                spec.register_source_vocabulary([*factor.values])
            spec.encoder.embeddings_merge = np.int8(common_spec.EmbeddingsMerge.ADD)
            return spec

    return Converter(str(checkpoint), str(checkpoint.parent))


def _difference(
    translator: Any, model: BaseFairseqModel, task: FairseqTask, factors: SourceFactors | None
) -> float:
    """The largest difference of a log-probability, over sentences of different tokens.

    Args:
        model: as it was trained.
    """
    dictionaries = task.source_dictionary, task.target_dictionary
    count = min(20, *(limit - 1 for limit in model.max_positions()))
    source, target = (_tokens(dictionary, count) for dictionary in dictionaries)
    pieces, target_pieces = (
        [dictionary[token] for token in tokens]
        for dictionary, tokens in zip(dictionaries, (source, target))
    )
    inputs: dict[str, Tensor] = {}
    if factors is not None:
        scheme = vocabulary_scheme(task.source_dictionary)
        pieces, inputs = _with_values(pieces, factors, scheme)
    (scored,) = translator.score_batch([pieces], [target_pieces])
    eos = task.target_dictionary.eos()
    with torch.no_grad():
        net_output = model(
            torch.tensor([[*source, task.source_dictionary.eos()]]),
            torch.tensor([len(source) + 1]),
            torch.tensor([[eos, *target]]),
            **inputs,
        )
        expected = model.get_normalized_probs(net_output, log_probs=True)[0]
    expected = expected.gather(1, torch.tensor([[*target, eos]]).T)[:, 0]
    return float((torch.tensor(scored.log_probs) - expected).abs().max())


def _with_values(
    pieces: list[str], factors: SourceFactors, scheme: str
) -> tuple[list[str], dict[str, Tensor]]:
    """Pieces with values from all of each vocabulary, and the model's inputs that say the same."""
    columns, inputs = [], {}
    for factor in factors.factors:
        if factor.kind is None:
            columns.append(places(pieces_per_word(pieces, scheme, "the vocabulary")))
            continue
        labels = [value for value in factor.values if can_be_written(value)]
        labels.append(NO_VALUE)
        chosen = [labels[place * len(labels) // len(pieces)] for place in range(len(pieces))]
        known = {value: number for number, value in enumerate(factor.values[2:], start=1)}
        row = [known.get(value, -1) for value in chosen]
        columns.append(chosen)
        inputs[factor.kind.key] = torch.tensor([[*row, -1]], dtype=torch.int32)
    return beside(pieces, columns), inputs


def _tokens(dictionary: Dictionary, count: int) -> list[int]:
    """Tokens from the whole dictionary, each at another position; none that factors would cut."""
    return [
        token
        for token in torch.linspace(dictionary.nspecial, len(dictionary) - 1, count).long().tolist()
        if SEPARATOR not in dictionary[token]
    ]
