"""What of models, their configuration and unfinished annotation is damaged, and who reads it."""

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import torch
from corruption_attempts import OTHER, WRONG, Subject
from corruptions import Workspace
from fairseq import checkpoint_utils
from prepared_corpus import task_of
from small_models import build, save_checkpoint

from syntax_nmt.parsing.config import ConfiguredParsers, ParserConfig
from syntax_nmt.preparation.annotators.parts import PartFolder, merge_parts, options_sum, parts_of
from syntax_nmt.preparation.segment import load_sentencepiece

PART_LINES = 7
MODEL = "checkpoint.pt"


def model_subjects(prepared, folder: Path) -> list[Subject]:
    """Checkpoints, as torch writes them now and wrote them before, and other files of models."""
    return [
        _checkpoints("checkpoint", prepared, folder / "zip", zipped=True),
        # Without checksums: what can be loaded must be believed.
        _checkpoints("old checkpoint", prepared, folder / "legacy", zipped=False),
        _sentencepiece(prepared, folder / "sentencepiece"),
        _parser_config(folder / "parser"),
        _parts(prepared, folder / "parts"),
    ]


def _subject(name: str, folder: Path, read: Callable, files: list[str], allowed: str) -> Subject:
    space = Workspace(folder, folder.with_name(f"{folder.name}-damaged"))
    return Subject(
        name, space, lambda file: read(space, file), files,
        lambda file: [one for one in files if one != file],
        allowed=lambda file: allowed,
    )  # fmt: skip


def _checkpoints(name: str, prepared, folder: Path, zipped: bool) -> Subject:
    folder.mkdir(parents=True)
    model, _, cfg = build(prepared.data, "dependency_transformer", "--share-all-embeddings")
    save_checkpoint(folder / MODEL, model, cfg)
    if not zipped:
        state = torch.load(folder / MODEL)
        torch.save(state, folder / MODEL, _use_new_zipfile_serialization=False)

    def read(space: Workspace, file: str) -> list:
        """As fairseq-generate does."""
        path = str(space / file)
        of_program = {"path": path, "checkpoint_suffix": "", "checkpoint_shard_count": 1}
        task = task_of(prepared.data, "src", "tgt", **of_program)
        (loaded,), saved = checkpoint_utils.load_model_ensemble([path], task=task)
        weights = [(key, value.numpy().tobytes()) for key, value in loaded.state_dict().items()]
        return [*weights, str(saved.model)]

    return _subject(name, folder, read, [MODEL], allowed=WRONG if zipped else OTHER)


def _sentencepiece(prepared, folder: Path) -> Subject:
    folder.mkdir(parents=True)
    shutil.copy(prepared.folder / "sentencepiece.model", folder / "sentencepiece.model")
    lines = (prepared.folder / "words" / "valid.src").read_text().splitlines()

    def read(space: Workspace, file: str) -> list:
        return load_sentencepiece(space / file).encode(lines, out_type=str)

    # The format has no checksum.
    return _subject("sentencepiece", folder, read, ["sentencepiece.model"], allowed=OTHER)


def _parser_config(folder: Path) -> Subject:
    folder.mkdir(parents=True)
    for name in ("tagger.pt", "constituency.pt"):
        (folder / name).touch()
    files = (("pos_model_path", folder / "tagger.pt"),)
    ParserConfig("en", "sentencepiece", folder, files).write(folder / "parser.json")

    def read(space: Workspace, file: str) -> tuple:
        found = ConfiguredParsers.read(space / file)
        return found.config, [path.is_file() for _, path in found.find("constituents").files]

    # Who edits it may write what he likes, if it can be understood.
    return _subject("parser.json", folder, read, ["parser.json"], allowed=OTHER)


def _parts(prepared, folder: Path) -> Subject:
    folder.mkdir(parents=True)
    text = prepared.folder / "words" / "valid.src"
    parts = PartFolder(folder / "out")
    parts.path.mkdir()
    options = options_sum("models", PART_LINES)
    for part in parts_of(text, PART_LINES):
        entries = "".join(f"( {line} )\n" for line in part.lines)
        parts.write(part, options, entries, Counter(lines=len(part.lines)))
    files = sorted(path.name for path in parts.path.iterdir())

    def read(space: Workspace, file: str) -> str:
        output = space.folder.parent / "merged"
        damaged = PartFolder(output)
        damaged.path.unlink(missing_ok=True)
        damaged.path.symlink_to(space.folder)
        try:
            merge_parts(text, output, damaged)
            return output.read_text("utf-8")
        finally:
            output.unlink(missing_ok=True)
            damaged.path.unlink()

    return _subject("finished parts", parts.path, read, files, allowed=WRONG)
