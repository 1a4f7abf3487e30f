"""Which Stanza models to parse with: found and checked before anything is loaded."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from syntax_nmt.data.checksum import checksum
from syntax_nmt.errors import UserError


@dataclass(frozen=True)
class ParserModels:
    """A tagger and a parser of one language.

    Attributes:
        lang: language code.
        stanza_dir: a folder in Stanza's own layout to take both from, or None.
        tagger: the tagger's file, where it is not taken from `stanza_dir`.
        parser: the parser's file, where it is not taken from `stanza_dir`.
    """

    lang: str
    stanza_dir: Path | None
    tagger: Path | None
    parser: Path | None

    def fingerprint(self) -> list[str]:
        """Checksums of everything that decides what the models say."""
        if self.stanza_dir is not None:
            files = sorted((self.stanza_dir / self.lang).rglob("*.pt"))
        else:
            files = [path for path in (self.tagger, self.parser) if path is not None]
        return [self.lang, *(checksum(path) for path in files)]


def find_models(
    lang: str,
    stanza_dir: Path | None = None,
    pos_model: Path | None = None,
    depparse_model: Path | None = None,
) -> ParserModels:
    """The models that the options name, looked for on disk only; nothing is downloaded.

    Args:
        lang: language code of the text.
        stanza_dir: a folder holding `tagger.pt` and `parser.pt`, or a folder in Stanza's own layout
            (`resources.json` and `LANG/…`); by default Stanza's own folder.
        pos_model: the tagger's file; it overrides what is in `stanza_dir`.
        depparse_model: the parser's file; likewise.

    Raises:
        UserError: names what was looked for where, and what to do.
    """
    for option, path in (("--pos-model", pos_model), ("--depparse-model", depparse_model)):
        if path is not None and not path.is_file():
            raise UserError(f"{option} {path}: no such file")
    if pos_model is not None and depparse_model is not None:
        return ParserModels(lang, None, pos_model, depparse_model)
    folder = stanza_dir if stanza_dir is not None else _stanza_default_dir()
    tagger = pos_model or folder / "tagger.pt"
    parser = depparse_model or folder / "parser.pt"
    if tagger.is_file() and parser.is_file():
        return ParserModels(lang, None, tagger, parser)
    known = _installed(folder, lang)
    if known is not None and pos_model is None and depparse_model is None:
        return ParserModels(known, folder, None, None)
    raise UserError(
        f"no Stanza models for language '{lang}': looked for {tagger} and {parser}, and for "
        f"resources.json with {lang}/pos/*.pt and {lang}/depparse/*.pt in {folder}; give "
        "--stanza-dir, or --pos-model and --depparse-model, or on a machine with internet run "
        f"python -c \"import stanza; stanza.download('{lang}', '{folder}')\""
    )


def _installed(folder: Path, lang: str) -> str | None:
    """The name Stanza knows the language by, if its tagger and parser are in the folder."""
    try:
        resources = json.loads((folder / "resources.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if lang not in resources:
        return None
    lang = resources[lang].get("alias", lang)
    complete = all(any((folder / lang / step).glob("*.pt")) for step in ("pos", "depparse"))
    return lang if complete else None


def _stanza_default_dir() -> Path:
    from stanza.resources.common import DEFAULT_MODEL_DIR

    return Path(DEFAULT_MODEL_DIR)
