"""Segments raw text into the pieces that a model reads, on both sides.

A note on stderr warns of text that does not look like the training text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fairseq.data import encoders
from fairseq.tasks import FairseqTask

from syntax_nmt.arguments import Namespace
from syntax_nmt.data.linearised_folder import LinearisedSubwords, linearised_mode
from syntax_nmt.data.prepared_text import TextSegmentation, prepared_folder, read_segmentation
from syntax_nmt.data.subwords import NO_SUBWORDS, SENTENCEPIECE, SUBWORD_NMT, vocabulary_scheme
from syntax_nmt.data.text_fit import CUT_TWICE, SWAPPED, UNCUT, UNKNOWN, TextFit
from syntax_nmt.errors import UserError, note
from syntax_nmt.inference.settings import SUBWORD_FILES, Segmentation


@dataclass(frozen=True)
class Segment:
    """Segments lines of one side into pieces.

    Attributes:
        tokenizer: fairseq's or ours, whose `encode` is that side's; None = the input is words.
        bpe: fairseq's; None = words are not segmented.
        scheme: how pieces mark words, one of `subwords.SCHEMES`; None = detected from the text.
    """

    tokenizer: Any = None
    bpe: Any = None
    scheme: str | None = None

    def __call__(self, line: str) -> tuple[str, ...]:
        """The pieces of a line of raw text, of words, or of pieces separated by spaces."""
        for step in (self.tokenizer, self.bpe):
            if step is not None:
                line = step.encode(line)
        return tuple(line.split())

    def linearised(self, mode: str, source: bool = False) -> Segment:
        """The segmenter of a side of a linearised folder; it reads and writes no brackets.

        Args:
            mode: one of :data:`~syntax_nmt.data.linearised_folder.MODES`.
        """
        in_pieces = self.scheme == SENTENCEPIECE
        subwords = LinearisedSubwords(
            self.bpe, mode, ready=False, in_pieces=in_pieces, source=source
        )
        return replace(self, bpe=subwords)


# Of fairseq's `bpe`; the pieces of others tell.
_SCHEMES = {"sentencepiece": SENTENCEPIECE, "subword_nmt": SUBWORD_NMT, "fastbpe": SUBWORD_NMT}


def segmenters(
    segmentation: Segmentation, data: str | Path, task: FairseqTask
) -> tuple[Segment, Segment]:
    """The segmenters of source lines and of target lines.

    fairseq's tokenizers encode only the source. The target's tokenizer is the same with the sides
    swapped.

    Args:
        data: the data folder of the model.

    Raises:
        UserError: a tokenizer or a model of subwords does not load, or the prepared folder is of
            other languages.
    """
    cfg: Any = task.cfg
    source, target = cfg.source_lang, cfg.target_lang
    if not segmentation.as_prepared:
        options, bpe = asdict(segmentation), segmentation.bpe
        # Without subwords of fairseq the vocabulary tells: by the text, what a sentence gives would
        # depend on its neighbours in a call.
        schemes = [
            vocabulary_scheme(dictionary) if bpe is None else _SCHEMES.get(bpe)
            for dictionary in (task.source_dictionary, task.target_dictionary)
        ]
        return (
            _segment(options, source, target, schemes[0]),
            _segment(options, target, source, schemes[1]),
        )
    folder, _ = prepared_folder(Path(data))
    languages = read_segmentation(folder)
    for language in (source, target):
        if language not in languages:
            raise UserError(
                f"{folder}: holds {', '.join(languages)}, the model translates {source} to "
                f"{target}: give the folder that it was trained with"
            )
    sides = (
        _as_prepared(languages[source], languages[target], source, target),
        _as_prepared(languages[target], languages[source], target, source),
    )
    mode = linearised_mode(folder)
    return sides if mode is None else (sides[0].linearised(mode, True), sides[1].linearised(mode))


def _as_prepared(
    own: TextSegmentation, other: TextSegmentation, language: str, other_language: str
) -> Segment:
    """From fairseq's options, which encode one language and decode the other."""
    options = {
        "tokenizer": "syntax_words",
        "source_tokenizer": own.tokenizer,
        "source_segmenter": own.segmenter,
        "target_tokenizer": other.tokenizer,
        "target_segmenter": other.segmenter,
    }
    model = own.sentencepiece_model  # each side may have its own, or none
    if model is None:
        return _segment({**options, "bpe": None}, language, other_language, NO_SUBWORDS)
    options |= {"bpe": "sentencepiece", "sentencepiece_model": str(model)}
    return _segment(options, language, other_language, SENTENCEPIECE)


def _segment(options: Mapping[str, Any], language: str, other: str, scheme: str | None) -> Segment:
    args = Namespace(**options, source_lang=language, target_lang=other)
    try:
        segment = Segment(encoders.build_tokenizer(args), encoders.build_bpe(args), scheme)
        if options["tokenizer"] == "nltk":
            segment("word")  # for which it loads its data
        return segment
    except (ImportError, LookupError, OSError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())
        if isinstance(error, LookupError):  # NLTK's takes a page
            reason = re.split(r"[.:] ", reason.lstrip("* "))[0]
            reason += ", `python -m nltk.downloader` gets it"
        files = " ".join(
            str(options[name]) for name in set(SUBWORD_FILES.values()) if options.get(name)
        )
        raise UserError(
            f"the text cannot be segmented: {reason}: check --bpe and --tokenizer {files}".rstrip()
        ) from error


_OTHER_DIRECTION = "give the text of the other language, or a model of the other direction"
_OTHER_TEXT = "give text of that language, segmented as the training text was"

# Of `trees --input`, which takes pieces.
ADVICE_ON_PIECES = {
    UNCUT: "give it in pieces, as `syntax-nmt prepare` writes them to pieces/",
    UNKNOWN: _OTHER_TEXT,
    SWAPPED: _OTHER_DIRECTION,
}


def forcing_advice(segmentation: Segmentation) -> dict[str, str]:
    """What to do about raw text that does not look like the training text, by problem."""
    return {
        CUT_TWICE: "add --segmented",
        UNCUT: "leave --segmented out" if segmentation.segmented else "add --bpe and its model",
        UNKNOWN: _OTHER_TEXT,
        SWAPPED: _OTHER_DIRECTION,
    }


def note_unfit(
    task: FairseqTask,
    name: str,
    lines: Sequence[str],
    pieces: Sequence[Sequence[str]],
    advice: Mapping[str, str],
    target: bool = False,
) -> None:
    """Warns on stderr if a text does not look like the training text.

    Args:
        lines: before segmentation.
        pieces: the model's pieces of each line.
        advice: as of :meth:`TextFit.problem`.
        target: whether they are of the target language.
    """
    cfg: Any = task.cfg
    dictionaries = task.source_dictionary, task.target_dictionary
    fit = TextFit(Path(cfg.data), (cfg.source_lang, cfg.target_lang), dictionaries)
    problem = fit.problem(lines, pieces, advice, target)
    if problem is not None:
        note(f"{name} {problem}")
