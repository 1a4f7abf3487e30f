"""While fairseq parses a command line: misspelled names, numbers, alignments, text to translate."""

import argparse
import gzip
import io
import random
import sys

import pytest
from commands import USER_DIR, refuse
from fairseq import options

from syntax_nmt.errors import UserError
from syntax_nmt.task.early_options import check_while_parsing
from syntax_nmt.task.misspelled_names import refuse_misspelled_names
from syntax_nmt.task.typed_lines import TypedLines

OURS = ("data-bin", "--user-dir", USER_DIR)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--arch", "pascal_transfomer"), "--arch pascal_transfomer: no such architecture: did "
         "you mean pascal_transformer"),
        (("--arch=lisa_transformr",), "did you mean lisa_transformer"),
        (("-a", "gcn_rn"), "did you mean gcn_rnn"),
        (("--arch", "gcn_rnn", "--criterion", "dependency_cross_entropi"), "no such criterion: "
         "did you mean dependency_cross_entropy"),
        (("--task", "syntax_translatio"), "no such task: did you mean syntax_translation"),
    ],
)  # fmt: skip
def test_the_name_that_was_meant(options, message):
    with pytest.raises(UserError, match=message):
        refuse_misspelled_names([*OURS, *options])


@pytest.mark.parametrize(
    "words",
    [
        OURS,
        (*OURS, "--arch", "pascal_transformer", "--task", "syntax_translation"),
        (*OURS, "--arch", "nothing_like_it_at_all_9"),
        (*OURS, "--arch"),
        # It may import this package, and register its own names afterwards.
        ("data-bin", "--user-dir", "elsewhere", "--arch", "pascal_transfomer"),
        ("data-bin", "--arch", "pascal_transfomer"),
    ],
)
def test_what_fairseq_decides(words):
    refuse_misspelled_names(words)


def test_one_line_of_a_program():
    options = (*OURS, "--arch", "pascal_transfomer")
    line = refuse("fairseq_cli.train", *options, anew=True)
    assert line.endswith("did you mean pascal_transformer?")


@pytest.fixture
def parser(monkeypatch):
    """Has the options of fairseq-interactive's input."""
    monkeypatch.setattr(sys, "stdin", None)  # which the option replaces
    parser = argparse.ArgumentParser()
    parser.add_argument("--buffer-size", default=0)
    parser.add_argument("--input", default="-")
    check_while_parsing(parser)
    return parser


def test_only_newlines_end_lines_and_a_byte_order_mark_is_no_text(parser, tmp_path):
    path = tmp_path / "text"
    path.write_bytes("\ufeffein\rHaus\n\ufeffein Baum\r\n".encode())
    assert parser.parse_args(["--input", str(path)]).input == "-"
    with sys.stdin:
        assert list(sys.stdin) == ["ein\rHaus\n", "\ufeffein Baum\r\n"]


def test_compressed_text_is_read_likewise(parser, tmp_path):
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress("\ufeffein\rHaus\nein Baum\r\n".encode()))
    parser.parse_args(["--input", str(path)])
    with sys.stdin:
        assert list(sys.stdin) == ["ein\rHaus\n", "ein Baum\r\n"]
    path.write_bytes(b"ein Haus\n")
    parser.parse_args(["--input", str(path)])
    with sys.stdin, pytest.raises(UserError, match=r"text\.gz:1: the gzip file is damaged or trun"):
        sys.stdin.readline()
    text = "".join(map(str, random.Random(1).choices(range(10), k=90_000)))
    path.write_bytes(gzip.compress(f"ein Haus\n{text}\n".encode())[:-9_000])
    parser.parse_args(["--input", str(path)])
    with sys.stdin, pytest.raises(UserError, match=r"text\.gz:2: the gzip file is damaged or trun"):
        list(sys.stdin)


def test_a_file_that_is_not_utf8_is_named(parser, tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"good\nbad \xff\n")
    parser.parse_args(["--input", str(path)])
    with sys.stdin, pytest.raises(UserError, match=rf"^line 2 of {path} is not UTF-8: co"):
        TypedLines().add(list(sys.stdin))


def test_piped_text_is_read_likewise_whatever_the_locale(parser, monkeypatch):
    piped = io.BytesIO("\ufeffein Haus\n".encode() + "für\n".encode("latin-1"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(piped, encoding="ascii", errors="strict"))
    for _ in range(2):  # fairseq parses a command line twice
        assert parser.parse_args([]).input == "-"
    assert list(sys.stdin) == ["ein Haus\n", "f\udcfcr\n"]


@pytest.mark.parametrize(
    ("interactive", "given", "said"),
    [
        (True, ("--print-alignment", "soft"), "--print-alignment: invalid choice: 'soft'"),
        (True, ("--beam", "0"), "--beam: '0' is not a whole number of 1 or more"),
        (False, ("--beam", "0"), "--beam: '0' is not a whole number of 1 or more"),
    ],
)
def test_options_that_no_search_has(interactive, given, said, capsys):
    parser = options.get_generation_parser(interactive=interactive)
    check_while_parsing(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(given)
    assert said in capsys.readouterr().err


def test_alignments_that_a_program_prints():
    interactive, generate = (options.get_generation_parser(interactive=x) for x in (True, False))
    for parser in (interactive, generate):
        check_while_parsing(parser)
        assert parser.parse_args([]).print_alignment is None
        assert parser.parse_args([]).beam == 5
        assert parser.parse_args(["--print-alignment"]).print_alignment == "hard"
    soft = generate.parse_args(["--print-alignment", "soft"])
    assert soft.print_alignment == "soft"


@pytest.mark.parametrize(
    ("given", "raw"),
    [
        ((), False),
        (("--dataset-impl", "mmap"), False),
        (("--dataset-impl=mmap",), False),
        (("--dataset-impl", "raw"), True),
        (("--dataset-impl=raw",), True),
    ],
)
def test_words_are_replaced_in_raw_text_alone(given, raw, monkeypatch):
    parser = options.get_generation_parser()
    check_while_parsing(parser)
    words = ["--replace-unk", "", *given]
    monkeypatch.setattr(sys, "argv", ["/bin/fairseq-generate", *words])
    if raw:
        assert parser.parse_args(words).replace_unk == ""
    else:
        with pytest.raises(SystemExit, match="the folder is binarised: give the text to"):
            parser.parse_args(words)
