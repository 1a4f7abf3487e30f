"""Words a second of parsers, each on one core, on the words of a CoNLL-U file.

python examples/benchmark/parsers.py en_ewt-ud-dev.conllu.gz --lang en --stanza-dir MODELS \\
  --udpipe english.udpipe --spacy en_core_web_sm --rounds 3

Each works as in `syntax-nmt parse`: words in, CoNLL-U out, sentences by length within parts of
2,000 lines. Loading is not counted, and the time is that of the process, which other programs
change little. The last columns compare heads with those of the file: a parser of another scheme
than Universal Dependencies has other ones.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from syntax_nmt.data.conllu import parse_block, read_conllu
from syntax_nmt.errors import one_line_errors
from syntax_nmt.parsing.parsers import ModelPaths, find_parser
from syntax_nmt.preparation.annotators.annotate import PART_SIZE
from syntax_nmt.preparation.annotators.annotator import Annotator, ModelAnnotator
from syntax_nmt.reporting.findings import markdown_lines

Sentences = Sequence[Sequence[str]]
HEAD = ["parser", "words/s", "range", "sentences/s", "heads as in the file"]


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("text", type=Path, help="CoNLL-U; .gz, too")
    parser.add_argument("--lang", required=True)
    parser.add_argument("--stanza-dir", type=Path, help="measure Stanza with these models")
    parser.add_argument("--udpipe", type=Path, help="measure UDPipe with this model")
    parser.add_argument("--spacy", type=Path, help="measure spaCy with this model")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sentences", type=int, default=None, help="the first ones (default: all)")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    if not (args.stanza_dir or args.udpipe or args.spacy):
        parser.error("no parser is named: give --stanza-dir, --udpipe or --spacy")
    with one_line_errors("parsers.py"):
        measure(args)


def measure(args: argparse.Namespace) -> None:
    """Measures the parsers in turn, and prints a row for each."""
    gold = {tuple(tree.words): tree.heads for tree in read_conllu(args.text) if tree is not None}
    sentences = [list(words) for words in gold if not any(" " in word for word in words)]
    sentences = sentences[: args.sentences]
    words = sum(map(len, sentences))
    print(f"{len(sentences):,} sentences, {words:,} words, on {args.device}\n")
    annotators = dict(chosen(args))
    seconds: dict[str, list[float]] = {name: [] for name in annotators}
    heads = {}
    for _ in range(args.rounds):  # in turn
        for name, annotator in annotators.items():
            began = time.process_time() if args.device == "cpu" else time.perf_counter()
            entries = annotate(annotator, sentences)
            now = time.process_time() if args.device == "cpu" else time.perf_counter()
            seconds[name].append(now - began)
            heads[name] = agreement(entries, gold)
    rows = [
        [
            annotator.made_by.rpartition(" (")[0],
            f"{words / median(seconds[name]):,.0f}",
            f"{words / max(seconds[name]):,.0f} to {words / min(seconds[name]):,.0f}",
            f"{len(sentences) / median(seconds[name]):,.0f}",
            f"{heads[name]:.1%}",
        ]
        for name, annotator in annotators.items()
    ]
    for line in markdown_lines([HEAD, *rows]):
        print(line)


def chosen(args: argparse.Namespace) -> Iterator[tuple[str, Annotator]]:
    """The parsers that are named, loaded."""
    for name, model in (("stanza", None), ("udpipe", args.udpipe), ("spacy", args.spacy)):
        if model is None and not (name == "stanza" and args.stanza_dir):
            continue
        models = find_parser("dependencies", args.lang, ModelPaths(name, model, args.stanza_dir))
        annotator = ModelAnnotator(models, args.device)
        annotator.load()
        annotator.annotate([["a", "b", "."]])  # what is made at the first use
        yield name, annotator


def annotate(annotator: Annotator, sentences: Sentences) -> list[str]:
    """The CoNLL-U of all sentences, in order, by parts."""
    entries: list[str] = []
    for start in range(0, len(sentences), PART_SIZE):
        part = sentences[start : start + PART_SIZE]
        order = sorted(range(len(part)), key=lambda place: len(part[place]))
        found = dict(zip(order, annotator.annotate([part[place] for place in order])))
        entries += [
            found[place] or annotator.no_annotation(words) for place, words in enumerate(part)
        ]
    return entries


def agreement(entries: Sequence[str], gold: dict[tuple[str, ...], tuple[int, ...]]) -> float:
    """The share of words with the head that the file has."""
    right = total = 0
    for entry in entries:
        tree = parse_block(entry.strip("\n").split("\n"), "parser", 1)
        if tree is not None:
            wanted = gold[tree.words]
            right += sum(head == other for head, other in zip(tree.heads, wanted))
            total += len(wanted)
    return right / max(1, total)


if __name__ == "__main__":
    main()
