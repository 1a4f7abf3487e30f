"""Writes the folder of an exported model: its weights, vocabulary and segmentation."""

import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import torch
from sentencepiece import SentencePieceProcessor

from syntax_nmt.backbone.source_factors import SourceFactors
from syntax_nmt.data.folder_lock import folder_lock
from syntax_nmt.data.linearised_folder import linearised_mode
from syntax_nmt.data.prepared_text import FILE_NAME as SEGMENTATION
from syntax_nmt.data.prepared_text import (
    TextSegmentation,
    prepared_folder,
    read_segmentation,
    write_segmentation,
)
from syntax_nmt.data.text_files import errors_in_writing, followed
from syntax_nmt.errors import UserError
from syntax_nmt.export import CTRANSLATE2, check_installed
from syntax_nmt.export.ctranslate2_model import Converted, convert
from syntax_nmt.export.stock_transformer import (
    feature_in_the_way,
    save_dictionaries,
    save_stock_checkpoint,
    source_factors,
    stock_transformer,
)
from syntax_nmt.inference.checkpoint import load_model, quiet_fairseq
from syntax_nmt.parsing.config import FILE_NAME as PARSER_CONFIG
from syntax_nmt.parsing.config import ParserConfig
from syntax_nmt.reporting.output import tell
from syntax_nmt.task.annotation_inputs import parsed_kinds

CHECKPOINT = "model.pt"


def export_model(
    checkpoint: Path, data: Path, engine: str, output: Path, quantization: str | None
) -> None:
    """Exports one model, and prints a command that translates with it.

    Args:
        data: the folder of `syntax-nmt prepare`, or a data-bin folder.
        engine: that will read it.
        output: the folder to create.
        quantization: as of :func:`~syntax_nmt.export.ctranslate2_model.convert`.

    Raises:
        UserError: a feature of the model that the engine does not know, or a file that cannot be
            used.
    """
    to_ctranslate2 = engine == CTRANSLATE2
    if to_ctranslate2:
        check_installed()
    folder, data_bin = prepared_folder(data)
    with quiet_fairseq(), new_folder(output) as unfinished:
        model, task, cfg = load_model(checkpoint, data_bin, torch.device("cpu"))
        feature = feature_in_the_way(model, cfg.model, knows_factors=to_ctranslate2)
        if feature is not None:
            parser = " --parser-config FILE" if parsed_kinds([model]) else ""
            known = not feature_in_the_way(model, cfg.model, knows_factors=True)
            others = "fairseq does not know: give --to ctranslate2, or"
            who = others if known else "no other engine knows:"
            raise UserError(
                f"{checkpoint}: the model has {feature}, which {who} "
                f"translate with fairseq-interactive{parser} or `syntax_nmt.load`"
            )
        factors = source_factors(model)
        stock, options = stock_transformer(model, cfg.model, task, factors)
        pair = task.cfg.source_lang, task.cfg.target_lang
        if to_ctranslate2:
            converted = Converted(model, stock, options, factors)
            convert(converted, task, quantization, unfinished)
        else:
            save_dictionaries(task, unfinished)
            save_stock_checkpoint(stock, options, unfinished / CHECKPOINT)
        segmented = _keep_segmentation(folder, unfinished, pair)
        if factors is not None:
            _keep_parser(folder, unfinished)
    tell(f"{output}: a model of {engine} with vocabulary; it translates with")
    parser = "" if factors is None or _has_parser(factors, output) else "--parser-config FILE "
    tell(_command_line(engine, output, pair, segmented, parser))


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to write to, which gets its name when it is complete, and is removed otherwise.

    Args:
        path: must not be there, or be empty.

    Raises:
        UserError: there is something, another process writes there, or the disk is full.
    """
    with errors_in_writing(path):
        target = followed(path)  # a link stays
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise UserError(f"--output {path}: already exists: give a new folder")
    unfinished = target.with_name(f".{target.name}.unfinished")
    if unfinished.is_symlink():  # what it leads to is not ours to clear
        raise UserError(
            f"--output {path}: {unfinished}, which is written first, is a link: remove it, or give "
            "another folder"
        )
    busy = f"--output {path}: another process writes there: wait for it or give another folder"
    with folder_lock(unfinished, busy):
        try:
            for left in unfinished.iterdir():  # of a killed export
                shutil.rmtree(left) if left.is_dir() else left.unlink()
            with errors_in_writing(path):
                yield unfinished
                _put_in_place(unfinished, target)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def _put_in_place(unfinished: Path, folder: Path) -> None:
    """Gives a complete folder its name; an empty one that is there stays, and gets the files: a
    shell may stand in it, or a disk be mounted there."""
    if not folder.exists():
        unfinished.replace(folder)
        return
    for file in unfinished.iterdir():
        shutil.move(file, folder)


def _has_parser(factors: SourceFactors, folder: Path) -> bool:
    """Whether a folder has the parser's configuration, or no factor needs one."""
    needed = any(factor.kind is not None for factor in factors.factors)
    return not needed or (folder / PARSER_CONFIG).is_file()


def _keep_parser(folder: Path, output: Path) -> None:
    """Writes the parser's configuration, if the data folder has one; the models stay in place."""
    if (folder / PARSER_CONFIG).is_file():
        ParserConfig.read(folder / PARSER_CONFIG).write(output / PARSER_CONFIG)


def _keep_segmentation(
    folder: Path, output: Path, pair: tuple[str, str]
) -> dict[str, TextSegmentation] | None:
    """Copies the segmentation models, under names of their own; None if the data folder names none,
    or brackets are symbols that other engines do not know: they get text in pieces.

    Raises:
        UserError: a file that is named as a model is none.
    """
    if not (folder / SEGMENTATION).exists() or linearised_mode(folder) is not None:
        return None
    languages = read_segmentation(folder)
    models = {language: languages[language].sentencepiece_model for language in pair}
    one = len(set(models.values())) == 1
    names = {
        model: "sentencepiece.model" if one else f"sentencepiece.{language}.model"
        for language, model in models.items()
    }
    kept = {}
    for language in pair:
        kept[language] = languages[language]
        model = languages[language].sentencepiece_model
        if model is not None:
            copy = output / names[model]
            _copy_piece_model(model, copy)
            kept[language] = replace(kept[language], sentencepiece_model=copy)
    write_segmentation(output, kept)
    return kept


def _copy_piece_model(model: Path, copy: Path) -> None:
    """Copies a sentencepiece model into a folder that may be published: no other file.

    Raises:
        UserError: it is another file.
    """
    try:
        content = model.read_bytes()
        SentencePieceProcessor(model_proto=content)
    except (OSError, RuntimeError):
        raise UserError(
            f"{model}: is no sentencepiece model: run the same `syntax-nmt prepare` line again"
        ) from None
    copy.write_bytes(content)


def _command_line(
    engine: str,
    folder: Path,
    pair: tuple[str, str],
    segmented: dict[str, TextSegmentation] | None,
    parser: str,
) -> str:
    """A command that translates stdin.

    Args:
        parser: option of the parser's configuration, if the folder has none.
    """
    name = shlex.quote(str(folder))
    if engine == CTRANSLATE2:
        given = "--segmented " if segmented is None else ""
        return f"  python -m syntax_nmt.export.translate {given}{parser}{name} < text"
    words = [f"fairseq-interactive {name} --path {name}/{CHECKPOINT} --cpu --beam 5"]
    words += [f"-s {pair[0]} -t {pair[1]}"]
    text = "text"
    if segmented is not None:
        source, target = (segmented[language] for language in pair)
        if source.sentencepiece_model is not None and target.sentencepiece_model is None:
            text = "pieces  # fairseq-interactive cannot segment the source alone"
        else:
            words += _segmenting_options(folder, source, target)
    return "  " + " \\\n    ".join(words) + f" < {text}"


def _segmenting_options(
    folder: Path, source: TextSegmentation, target: TextSegmentation
) -> Iterator[str]:
    """The options for segmenting typed text and joining translations."""
    if source.sentencepiece_model is not None:
        model = shlex.quote(str(folder / source.sentencepiece_model.name))
        yield f"--bpe sentencepiece --sentencepiece-model {model}"
    elif target.sentencepiece_model is not None:
        yield "--post-process sentencepiece"
    if (source.tokenizer, target.tokenizer) != ("none", "none"):
        yield '--user-dir "$(syntax-nmt user-dir)" --tokenizer syntax_words'
        yield shlex.join(source.tokenizer_options("source"))
        yield shlex.join(target.tokenizer_options("target"))
