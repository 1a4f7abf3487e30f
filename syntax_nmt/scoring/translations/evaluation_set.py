"""The translations to score: files of any system, and their references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from syntax_nmt.data.subwords import (
    CONTINUED,
    NO_SUBWORDS,
    SUBWORD_NMT,
    detect_scheme,
    join_pieces,
    pieces_per_word,
    scheme_of_text,
)
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError, note
from syntax_nmt.scoring.parallel_text import check_parallel
from syntax_nmt.scoring.translations.linearised_output import LinearisedOutput
from syntax_nmt.scoring.translations.output_formats import GenerateOutput, read_output
from syntax_nmt.text.unspaced import lacks_spaces

UNKNOWN = "<<unk>>"  # fairseq's symbol for unknown words of a reference
_LOOKS_TOKENISED = 100  # sentences; sacrebleu warns at as many


@dataclass(frozen=True)
class Text:
    """Sentences, and their file.

    Attributes:
        name: for messages and tables.
        sentences: one string each, without spaces at its end, as sacrebleu reads them.
    """

    name: str
    sentences: tuple[str, ...]

    def check_parallel(self, reference: Text) -> None:
        """Refuses a text of another length.

        Args:
            reference: what it goes with.

        Raises:
            UserError: it has another number of sentences.
        """
        counts = len(self.sentences), len(reference.sentences)
        check_parallel(self.name, counts[0], reference.name, counts[1], "sentences")


@dataclass(frozen=True)
class System:
    """A system to score.

    Attributes:
        name: for tables.
        runs: its translations, one text for each training seed.
        balanced: in percent, how many of its lines are whole trees, by run; none = it writes none.
    """

    name: str
    runs: tuple[Text, ...]
    balanced: tuple[float, ...] = ()

    @property
    def files(self) -> list[str]:
        """The file of each run."""
        return [run.name for run in self.runs]

    def own_files(self, what: str, given: Mapping[str, Sequence[str]]) -> Sequence[str]:
        """The files that are given for each of its runs.

        Args:
            what: the option that gives them, or what they are; messages put the name behind it.
            given: the files, by system.

        Raises:
            UserError: other numbers than of runs.
        """
        paths = given.get(self.name, ())
        if len(paths) != len(self.runs):
            raise UserError(
                f"{what} {self.name}: {len(paths)} files for {len(self.runs)} runs: give every "
                "system as many as it has translations"
            )
        return paths

    @property
    def balanced_trees(self) -> list[float] | None:
        """`balanced`, or None where it writes no trees."""
        return list(self.balanced) or None


@dataclass(frozen=True)
class TestSet:
    """A test set: its references, and the translations of systems.

    Attributes:
        systems: the first one is the baseline of comparisons.
        references: one or more.
        source: the text whose lengths count, in words or in pieces; None = not known.
    """

    systems: tuple[System, ...]
    references: tuple[Text, ...]
    source: Text | None

    @classmethod
    def read(
        cls,
        systems: Mapping[str, Sequence[str]],
        references: Sequence[str] = (),
        source: str | None = None,
        *,
        linearised: Mapping[str, LinearisedOutput] = MappingProxyType({}),
        join_subwords: bool = False,
        quiet: bool = False,
    ) -> TestSet:
        """Reads the files; warns on stderr of those that do not look like plain words.

        Args:
            systems: the files of each system by its name, one for each training seed: plain text
                with one sentence per line, or the output of fairseq-generate or
                fairseq-interactive, or an n-best list of Moses or Marian; may be `.gz`.
            references: plain texts; none = the T- lines of fairseq-generate.
            source: the text whose lengths count; None = the S- lines of fairseq-generate, if there
                are any.
            linearised: of systems whose tokens have brackets, how they become text.
            join_subwords: joins subwords in segmented texts.
            quiet: no warnings.

        Raises:
            UserError: a file is damaged or given for two runs of a system, or the files have
                unequal numbers of sentences.
        """
        for name, paths in systems.items():
            _refuse_same_runs(name, paths)
        read = {path: read_output(path) for paths in systems.values() for path in paths}
        translations = {
            name: tuple(_translations(path, read[path], linearised.get(name)) for path in paths)
            for name, paths in systems.items()
        }
        of_references = [read_text(path) for path in references] or [_generated_reference(read)]
        for text in (*of_references[1:], *chain.from_iterable(translations.values())):
            text.check_parallel(of_references[0])
        if not of_references[0].sentences:
            raise UserError(f"{of_references[0].name}: is empty: give a sentence a line")
        if join_subwords:
            of_references = [in_words(text) for text in of_references]
            translations = {name: tuple(map(in_words, runs)) for name, runs in translations.items()}
        of_systems = [
            System(name, runs, _balanced(systems[name], read, linearised.get(name)))
            for name, runs in translations.items()
        ]
        of_source = _generated_source(read) if source is None else read_text(source)
        if of_source is not None:
            of_source.check_parallel(of_references[0])
        found = cls(tuple(of_systems), tuple(of_references), of_source)
        if not quiet:
            note_if_lengths_unknown(found)
        if not (join_subwords or quiet):
            note_if_in_pieces(found, "join_subwords=True", "quiet=True")
        return found

    @property
    def sentences(self) -> int:
        """How many there are."""
        return len(self.references[0].sentences)

    @cached_property
    def source_words(self) -> tuple[str, ...]:
        """The sentences of the source in words."""
        return () if self.source is None else words_of(self.source).sentences

    @cached_property
    def without_spaces(self) -> str | None:
        """The name of a text whose words cannot be counted: of the source, or of a translation."""
        if self.source is not None and lacks_spaces(self.source_words):
            return self.source.name
        runs = (run for system in self.systems for run in system.runs)
        return next((run.name for run in runs if lacks_spaces(run.sentences)), None)


def read_text(path: str) -> Text:
    """A plain text, read as sacrebleu reads it: only a newline ends a line.

    Args:
        path: the file, plain or `.gz`.

    Raises:
        UserError: it cannot be read or is not UTF-8.
    """
    return _text(path, read_lines(path))


def _refuse_same_runs(name: str, paths: Sequence[str]) -> None:
    """Refuses a file that is there twice: as two training seeds that do not differ at all."""
    files = [Path(path).resolve() for path in paths]
    for place, file in enumerate(files):
        if file in files[:place]:
            raise UserError(
                f"{name}: {paths[place]} is given for two runs: give the file of each training seed"
            )


def _translations(path: str, output: GenerateOutput, brackets: LinearisedOutput | None) -> Text:
    """The text of a file; of a model that writes brackets, from its own tokens."""
    if brackets is None:
        return _text(path, output.hypotheses)
    raw = output.tokens is not None
    return _text(path, brackets.texts(output.tokens or output.hypotheses, path, raw))


def _balanced(
    paths: Sequence[str], read: Mapping[str, GenerateOutput], brackets: LinearisedOutput | None
) -> tuple[float, ...]:
    """The percentage of whole trees in each file; none of systems that write none."""
    if brackets is None or not brackets.trees:
        return ()
    outputs = [read[path] for path in paths]
    return tuple(brackets.balanced(output.tokens or output.hypotheses) for output in outputs)


def words_of(text: Text) -> Text:
    """A text in words; raw text, of which a few words may end in `@@`, as it is."""
    return text if scheme_of_text(text.sentences) == NO_SUBWORDS else in_words(text)


def in_words(text: Text) -> Text:
    """A text with pieces joined to words.

    Raises:
        UserError: a piece reaches over the end of a word.
    """
    scheme = detect_scheme(text.sentences)
    if scheme == NO_SUBWORDS:
        return text
    joined = []
    for number, sentence in enumerate(text.sentences, start=1):
        pieces = sentence.split()
        counts = pieces_per_word(pieces, scheme, f"{text.name}:{number}")
        words = " ".join(join_pieces(pieces, counts, scheme))
        # A translation that was cut off at --max-len may end within a word.
        joined.append(words.removesuffix(CONTINUED) if scheme == SUBWORD_NMT else words)
    return Text(text.name, tuple(joined))


def note_if_in_pieces(test_set: TestSet, join: str, quiet: str) -> None:
    """Warns on stderr of texts in pieces.

    Args:
        join: what the caller adds to have them joined: an option, or an argument.
        quiet: what the caller adds to have no note.
    """
    runs = (run for system in test_set.systems for run in system.runs)
    for text in (*test_set.references, *runs):
        scheme = scheme_of_text(text.sentences)
        if scheme != NO_SUBWORDS:
            note(
                f"{text.name} is in pieces of {scheme}, and scores of pieces are not those of "
                f"words: add {join}, or score the text in words ({quiet}: no note)"
            )


def note_if_unspaced(test_set: TestSet) -> None:
    """Warns on stderr of references of which every sentence would be one word."""
    for reference in test_set.references:
        if lacks_spaces(reference.sentences):
            note(
                f"{reference.name} has no spaces between words, so that words of the default "
                "tokeniser are whole sentences: give --tokenize zh if it is Chinese, or char, and "
                "--ter-normalized --ter-asian-support (--force: no note)"
            )
            return


def note_if_lengths_unknown(test_set: TestSet) -> None:
    """Warns on stderr of a source whose words cannot be counted."""
    if test_set.source is not None and lacks_spaces(test_set.source_words):
        note(
            f"{test_set.source.name} has no spaces between words, so that lengths in words are not "
            "known: give the source text in words as --source"
        )


def note_if_tokenised(test_set: TestSet) -> None:
    """Warns on stderr of texts that look tokenised, which BLEU would tokenise again."""
    for run in (run for system in test_set.systems for run in system.runs):
        tokenised = sum(line.endswith(" .") for line in run.sentences)
        if tokenised >= _LOOKS_TOKENISED:
            note(
                f"{run.name}: {tokenised} lines end in ' .', as tokenised text does: give "
                f"detokenised text, or --tokenize none (--force: no note)"
            )


def _text(name: str, lines: Iterable[str]) -> Text:
    return Text(name, tuple(line.rstrip() for line in lines))


def _generated_reference(read: Mapping[str, GenerateOutput]) -> Text:
    """The T- lines, which must be the same in all files."""
    found = {path: output.references for path, output in read.items() if output.references}
    if not found:
        raise UserError("no --reference: give one file or several")
    (path, reference), *others = found.items()
    remedy = "give the original text as the reference"
    for other, sentences in others:
        differing = [i for i, (one, two) in enumerate(zip(reference, sentences)) if one != two]
        if differing:
            raise UserError(f"{other}: T-{differing[0]} is not that of {path}: {remedy}")
    unknown = sum(UNKNOWN in sentence for sentence in reference)
    if unknown:
        note(
            f"{unknown} references (T- lines) of {path} have words that fairseq did not "
            f"know ({UNKNOWN}): {remedy}"
        )
    return _text(f"the T- lines of {path}", reference)


def _generated_source(read: Mapping[str, GenerateOutput]) -> Text | None:
    """The S- lines of the first file that has them, if their words can be counted.

    fairseq makes text of them as it does of translations, by the rules of the target's language and
    pieces.
    """
    for path, output in read.items():
        if output.sources:
            found = _text(f"the S- lines of {path}", output.sources)
            if _is_in_words(found):
                return found
            note(
                f"{found.name} are not in words, so that lengths of the source are not known: give "
                "the source text in words as --source"
            )
            break
    return None


def _is_in_words(text: Text) -> bool:
    try:
        return not lacks_spaces(in_words(text).sentences)
    except UserError:  # of pieces that were joined across words
        return False
