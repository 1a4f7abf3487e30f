"""`syntax-nmt trees` from end to end, with an untrained model."""

import json
import random
import shutil

import pytest
from commands import syntax_nmt
from parser_files import PIECES, WORDS, binarise
from small_models import build, save_checkpoint
from translations import row_of, write
from trees_of import words_in

from syntax_nmt.cli import main
from syntax_nmt.data.conllu import format_conllu, format_no_parse, read_conllu
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.scoring.dependencies.parsed_corpus import SentenceFilter

COMMAND = "trees"  # the fixture that runs it
OTHER = ["▁see", *PIECES[1:]]


@pytest.fixture
def trees(parser, tmp_path, capsys):
    """Runs the command; gives what it wrote to --output, stdout and stderr."""

    def run(*arguments, model=True, cpu=True):
        output = tmp_path / "trees.conllu"
        command = ["trees", *(["--cpu"] if cpu else []), "--output", output]
        command += [parser.data, "--path", parser.checkpoint] if model else []
        command += arguments
        main([str(argument) for argument in command])
        captured = capsys.readouterr()
        return output, captured.out, captured.err

    return run


@pytest.fixture
def reference(tmp_path):
    """Random parses of the corpus; the empty line and one more have none."""
    dice = random.Random(5)
    blocks = []
    for number, words in enumerate(WORDS):
        heads = [max(0, dice.randrange(index + 1) - 1) for index in range(len(words))]
        heads = [head if head != index or not index else 0 for index, head in enumerate(heads)]
        block = format_no_parse(words) if not words or number == 5 else format_conllu(words, heads)
        blocks.append(block)
    path = tmp_path / "reference.conllu"
    path.write_text("".join(blocks), encoding="utf-8")
    return path


def test_every_sentence_in_order(trees):
    output, stdout, stderr = trees()
    assert words_in(read_conllu(output)) == WORDS
    assert stdout == ""
    assert stderr == "6 sentences parsed\n\n1 without parse (empty or too long)\n"


def test_the_size_of_batches_changes_nothing(trees):
    expected = trees()[0].read_text()
    for arguments in (["--batch-size", 1], ["--batch-size", 2], ["--max-tokens", 20]):
        assert trees(*arguments)[0].read_text() == expected


def test_segmented_text_instead_of_a_split(trees, parser):
    expected = trees()[0].read_text()
    assert trees("--input", parser.pieces)[0].read_text() == expected
    assert trees("--segmented", parser.pieces)[0].read_text() == expected


def test_scores(trees, reference, tmp_path):
    figures = tmp_path / "figures.json"
    output, _, stderr = trees("--conllu", reference, "--json", figures)
    scored = json.loads(figures.read_text())
    pairs = [
        pair for pair in zip(read_conllu(output), read_conllu(reference)) if pair[1] is not None
    ]
    correct = sum(a == b for tree, gold in pairs for a, b in zip(tree.heads, gold.heads))
    assert scored["words_correct"] == correct
    assert scored["words_scored"] == sum(len(gold) for _, gold in pairs)
    assert scored["uas"] == pytest.approx(100 * correct / scored["words_scored"])
    assert (scored["sentences"], scored["sentences_scored"]) == (len(WORDS), len(WORDS) - 2)
    assert f"{correct} of {scored['words_scored']} heads as in the reference" in stderr
    names = ("uas", "root_accuracy", "uas_before_tree_search")
    assert row_of(stderr, "trees") == [f"{scored[name]:.2f}" for name in names]
    assert "2 sentences without reference left out" in stderr


@pytest.mark.parametrize("by_model", [True, False], ids=["model", "file"])
def test_scores_of_sentences_of_some_length(trees, reference, tmp_path, by_model):
    """3 to 6 words are the first and the last sentence; the trees are written all the same."""
    figures = tmp_path / "figures.json"
    found = trees("--conllu", reference)[0].rename(tmp_path / "found.conllu")
    source = [] if by_model else ["--hypothesis", found]
    chosen = ["--conllu", reference, "--words", "3-6", "--json", figures]
    output, _, stderr = trees(*source, *chosen, model=by_model)
    scored = json.loads(figures.read_text())
    pairs = list(zip(read_conllu(found), read_conllu(reference)))
    correct = [sum(a == b for a, b in zip(*(tree.heads for tree in pairs[n]))) for n in (0, 6)]
    assert scored["words_correct"] == sum(correct)
    assert (scored["words_scored"], scored["sentences_scored"]) == (9, 2)
    assert (scored["sentences_not_selected"], scored["sentences_without_gold"]) == (3, 2)
    assert "3 sentences that do not have 3 to 6 words left out" in stderr
    assert len(words_in(read_conllu(output))) == len(WORDS)


def test_what_is_selected():
    """Every range of lengths, with and without unknown tokens, one sentence at a time."""
    trees = [None, *(DependencyTree(("a",) * n, (0,) * n, (), ()) for n in range(1, 8))]
    unknown = [n % 3 == 0 for n in range(8)]
    for least in range(9):
        for most in [*range(least, 9), None]:
            for known in (False, True):
                chosen = SentenceFilter(least, most, known).apply(trees, unknown)
                for n in range(8):
                    fits = n > 0 and least <= n and (most is None or n <= most)
                    assert chosen[n] == (fits and not (known and n % 3 == 0))


def test_sentences_with_unknown_tokens_are_left_out(parser, tmp_path, capsys, reference):
    """Given as text, one sentence has a piece that the model has never seen."""
    text = parser.pieces.read_text(encoding="utf-8").replace("▁gar dens", "▁gar ☃")
    (tmp_path / "input").write_text(text, encoding="utf-8")
    gold = reference.read_text(encoding="utf-8").replace("gardens", "gar☃")
    reference.write_text(gold, encoding="utf-8")
    command = ["trees", parser.data, "--path", parser.checkpoint, "--cpu", "--known-words"]
    command += ["--input", tmp_path / "input", "--conllu", reference]
    main([*map(str, command), "--output", str(tmp_path / "out")])
    assert "in 4 sentences" in (said := capsys.readouterr().err)
    assert "1 sentences that do not have only known words left out" in said


def test_its_own_trees_score_100(trees):
    output = trees()[0]
    gold = output.rename(output.with_name("gold.conllu"))
    assert row_of(trees("--conllu", gold)[2], "trees")[0] == "100.00"
    out = trees("--hypothesis", gold, "--conllu", gold, "--json", "-", model=False)[1]
    assert json.loads(out)["uas"] == 100
    assert json.loads(out)["uas_before_tree_search"] is None


def test_parses_of_other_systems(trees, reference, tmp_path):
    hypothesis = trees()[0].rename(tmp_path / "a.conllu")
    by_model = trees("--conllu", reference)[2]
    by_file = trees("--hypothesis", hypothesis, "--conllu", reference, model=False)[2]
    assert by_file.splitlines()[0] == by_model.splitlines()[0]
    assert row_of(by_file, "trees") == row_of(by_model, "trees")[:2]


def test_selections_that_cannot_be(refused, reference):
    message = refused("--words", "3-6")
    assert "--words does nothing without --conllu" in message
    assert "give the least and the most" in refused("--conllu", reference, "--words", "6-3")
    assert "no sentence with a reference parse has 40 to 50 words" in refused(
        "--conllu", reference, "--words", "40-50"
    )
    assert "comes without one" in refused(
        "--hypothesis", reference, "--conllu", reference, "--known-words", model=False
    )
    assert "--hypothesis has words: leave it out" in refused(
        "--hypothesis", reference, "--conllu", reference, "--subwords", "none", model=False
    )


def test_drawings(trees, reference):
    _, stdout, _ = trees("--conllu", reference, "--draw", 1, "--sentences", "3,6,7")
    titles = [line for line in stdout.splitlines() if line.startswith("sentence")]
    assert [title.split(":")[0] for title in titles] == [f"sentence {n}" for n in (1, 3, 6, 7)]
    assert titles[1] == "sentence 3: no parse"
    assert titles[2] == "sentence 6: the reference has no parse"
    wrong = int(titles[3].split(" of ")[1][0]) - int(titles[3].split(": ")[1][0])
    assert stdout.split(titles[3])[1].count("✗") == wrong


@pytest.mark.dear
def test_a_fresh_process_prints_trees_and_nothing_else(parser):
    done = syntax_nmt("trees", parser.data, "--cpu", "--path", parser.checkpoint, anew=True)
    assert done.stdout.count("\n\n") == len(WORDS)
    assert done.stderr.count("\n") == 3


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["ga@@ rden see@@ s", "we se@@ e"], [["garden", "sees"], ["we", "see"]]),
        (["see we", "the"], [["see", "we"], ["the"]]),
    ],
)
def test_other_subwords(trees, tmp_path, lines, words):
    text = write(tmp_path / "text", lines)
    assert words_in(read_conllu(trees("--input", text)[0])) == words


@pytest.fixture(scope="module")
def with_unknown(tmp_path_factory):
    """A split that has pieces that training has not; the model's vocabulary is small."""
    folder = tmp_path_factory.mktemp("unknown")
    data = binarise(folder, PIECES, ["▁the ▁gar gle ▁.", "▁the ▁zebra s ▁see"])
    model, _, cfg = build(data, "dependency_transformer")
    return data, save_checkpoint(folder / "heads.pt", model, cfg), folder / "test.src"


def test_unknown_subwords(trees, refused, with_unknown, tmp_path):
    data, checkpoint, pieces = with_unknown
    model = [data, "--path", checkpoint]
    assert "2 with unknown subwords" in trees(*model, model=False)[2]
    output, _, stderr = trees(*model, "--segmented", pieces, model=False)
    assert words_in(read_conllu(output)) == [["the", "gargle", "."], ["the", "zebras", "see"]]
    assert "unknown" not in stderr
    gold = tmp_path / "gold.conllu"
    gold.write_text("".join(format_conllu(tree.words, tree.heads) for tree in read_conllu(output)))
    message = refused(*model, "--conllu", gold, model=False)
    assert "gold.conllu:5: the reference has 3 words" in message
    assert "test:2 has 2: give --segmented" in message
    # Where only the word's inside is unknown, the reference tells its text.
    first = tmp_path / "first.conllu"
    first.write_text(gold.read_text().split("\n\n")[0] + "\n\n" + format_no_parse([]))
    output, _, stderr = trees(*model, "--conllu", first, model=False)
    assert words_in(read_conllu(output))[0] == ["the", "gargle", "."]
    assert "1 with unknown subwords" in stderr


def test_errors_are_one_line(refused, parser, reference, tmp_path):
    short, other = write(tmp_path / "short", ["▁see"]), write(tmp_path / "other", OTHER)
    broken = tmp_path / "broken.pt"
    broken.write_bytes(b"PK nothing")
    assert "no supervised attention heads" in refused("--path", parser.stock)
    assert "no such checkpoint" in refused("--path", tmp_path / "none.pt")
    assert "is no checkpoint, but some other file" in refused("--path", broken)
    assert "has no such split" in refused("--gen-subset", "valid")
    assert "cannot be read" in refused("--input", tmp_path / "none")
    both = ("--input", short, "--gen-subset", "valid")
    assert "--gen-subset is of DATABIN, and --input has the sentences" in refused(*both)
    assert "1 lines, the split test 7 sentences" in refused("--segmented", short)
    assert f"{other}:1: '▁see' was binarised as" in refused("--segmented", other)
    data = shutil.copytree(parser.data, tmp_path / "prepared" / "data-bin")
    (data.parent / "pieces").mkdir()
    pieces = write(data.parent / "pieces" / "test.src", PIECES)
    message = refused(data, "--path", parser.checkpoint, "--segmented", other, model=False)
    assert f"{other}:1: '▁see' was binarised as" in message
    assert message.endswith(f"give --segmented {pieces}")
    assert "has 7 sentences" in refused("--input", short, "--conllu", reference)
    message = refused("--device", "nonsense", cpu=False)
    assert "--device nonsense: no such device; give cpu" in message


def test_options_that_do_not_go_together(refused, parser, reference):
    assert "give DATABIN" in refused(model=False)
    assert "exclude each other" in refused("--hypothesis", reference)
    for option in (["--gen-subset", "valid"], ["--segmented", "x"]):
        message = refused("--hypothesis", reference, *option, model=False)
        assert f"{option[0]} and --hypothesis exclude each other" in message
    assert "does nothing without --conllu" in refused("--no-punctuation")
    assert "cannot take two outputs" in refused("--draw", "1", "--json", "-")
    assert "the corpus has 7 sentences" in refused("--sentences", "8")


def test_nothing_is_left_of_a_failed_run(refused, parser, tmp_path):
    refused("--path", parser.stock)
    assert not list(tmp_path.glob("trees.conllu*"))
