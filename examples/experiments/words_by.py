"""Which words gain: dependency heads on Multi30k, by distance, relation and frequency.

    PYTHONPATH=examples python -m experiments.words_by --data DATA --stanza STANZA

DATA and STANZA are those of `run.py`. Nothing is trained: translations come from the records in
`results/multi30k_en_de`, where `words.md`, `words.json` and `words_….svg` are written.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.compared_words import SIGNIFICANCE
from experiments.programs import run_program, write_json
from experiments.records import Records
from experiments.table_results import TableResult
from experiments.word_links import link_words
from syntax_nmt.cli import main as syntax_nmt
from syntax_nmt.data.text_files import find_text, read_lines, write_bytes_atomically
from syntax_nmt.errors import UserError, one_line_errors
from syntax_nmt.reporting.findings import MARKDOWN, Findings
from syntax_nmt.reporting.result import Result
from syntax_nmt.scoring.alignments.alignment import format_alignment
from syntax_nmt.scoring.translations.evaluation_set import System, TestSet, Text
from syntax_nmt.scoring.translations.metrics import MetricSettings, words_of_bleu
from syntax_nmt.scoring.words.bucket_scores import compare_words
from syntax_nmt.scoring.words.bucket_tables import BucketTable, comparison_tables, word_notes
from syntax_nmt.scoring.words.buckets import DEPREL, DISTANCE, FREQUENCY
from syntax_nmt.scoring.words.settings import WordSettings

_TABLE = Path(__file__).resolve().parent / "results" / "multi30k_en_de"
_TEST_SET, _TEST, _TRAIN = "flickr2016", "multi30k/test_2016_flickr", "multi30k/train"
_NAMES = {
    "stock": "Transformer",
    "dependency": "heads",
    "dependency-borrowed": "heads of other sentences",
}
_PAIRS = (("stock", "dependency"), ("dependency-borrowed", "dependency"))
_KINDS = (DISTANCE, DEPREL, FREQUENCY)


@dataclass
class PairByWords(Result):
    """Which words a system finds and the other does not, by each kind of buckets."""

    system: str
    against: str
    words_by: list[BucketTable]


@dataclass(frozen=True)
class _Files:
    """What the comparison reads.

    Attributes:
        conllu: trees of the source.
        links: of the words of source and reference.
        training: the target side of the training text.
    """

    conllu: str
    links: str
    training: str


def main(argv: Sequence[str] | None = None) -> None:
    """Compares, and writes tables and pictures."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--data", type=Path, required=True, help="folder of the texts")
    parser.add_argument("--stanza", type=Path, required=True, help="folder of the English models")
    args = parser.parse_args(argv)
    with one_line_errors("words_by"), tempfile.TemporaryDirectory() as work:
        reference = Text(_TEST, tuple(_lines(args.data, _TEST, "de")))
        files = _annotated(args.data, args.stanza, Path(work))
        settings = WordSettings(
            _KINDS, source_conllu=files.conllu, links=files.links, training_text=files.training
        )
        systems = _systems(_TABLE)
        pairs = []
        for against, system in _PAIRS:
            both = TestSet((systems[against], systems[system]), (reference,), None)
            found = compare_words(both, settings, SIGNIFICANCE)
            pairs.append(PairByWords(system, against, found))
        _write(pairs, _TABLE, Path(work))


def _lines(data: Path, name: str, lang: str) -> Iterator[str]:
    found = find_text(data / f"{name}.{lang}")
    if found is None:
        raise UserError(f"{data / name}.{lang}: no such file, nor with .gz: check --data")
    return (line.rstrip() for line in read_lines(found))


def _annotated(data: Path, stanza: Path, work: Path) -> _Files:
    """Parses the source and links its words with those of the reference."""
    split = words_of_bleu(MetricSettings())
    words = {
        lang: [[split(line) for line in _lines(data, name, lang)] for name in (_TRAIN, _TEST)]
        for lang in ("en", "de")
    }
    count = len(words["en"][1])
    source = work / "test.en"
    source.write_text("".join(f"{' '.join(line)}\n" for line in words["en"][1]), encoding="utf-8")
    parse = ["parse", "--lang", "en", "--input", str(source), "--output", f"{source}.conllu"]
    run_program("syntax_nmt.cli", [*parse, "--stanza-dir", str(stanza)], work / "parse.log")
    sides = [[*train, *test] for train, test in words.values()]
    links = link_words(sides[0], sides[1], count)
    lines = "".join(f"{format_alignment(each)}\n" for each in links)
    (work / "links").write_text(lines, encoding="utf-8")
    training = find_text(data / f"{_TRAIN}.de")
    return _Files(f"{source}.conllu", str(work / "links"), str(training))


def _systems(table: Path) -> dict[str, System]:
    """The translations of all seeds, as the table has them."""
    result = TableResult.read(table / "table.json")
    (keys,) = (test.keys for test in result.tests if test.test == _TEST_SET)
    records = Records(table)
    return {
        system: System(
            name,
            tuple(Text(key, tuple(records.lines(key, _TEST_SET))) for key in keys[system]),
        )
        for system, name in _NAMES.items()
    }


def _write(pairs: Sequence[PairByWords], folder: Path, work: Path) -> None:
    """The tables of all pairs, and a picture for each kind of buckets."""
    tables = [table for pair in pairs for table in comparison_tables(pair.words_by, 1)]
    heading = "Multi30k English→German: which words gain"
    notes = list(dict.fromkeys(note for pair in pairs for note in word_notes(pair.words_by)))
    text = f"# {Findings(tables, heading, notes).text(MARKDOWN)}"
    write_bytes_atomically(folder / "words.md", text.encode())
    write_json(folder / "words.json", [pair.to_json() for pair in pairs])
    parts = []
    for place, pair in enumerate(pairs):
        parts.append(str(work / f"{place}.json"))
        write_json(Path(parts[-1]), pair.to_json())
    for kind in _KINDS:
        picture = str(folder / f"words_{kind}.svg")
        options = ["--words-by", kind, "--differences", "--output", picture]
        syntax_nmt(["plot", "words", *parts, *options])


if __name__ == "__main__":
    main()
