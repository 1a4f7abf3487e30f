"""`syntax-nmt trees --kind constituents` from end to end, with an untrained model."""

import gzip
import json

import nltk
import pytest
from forced_models import latent_checkpoint
from parser_files import PIECES, TARGET_WORDS, TARGETS, WORDS
from translations import write
from trees_of import words_in

from syntax_nmt.cli import main
from syntax_nmt.data.constituents import format_tree, read_trees
from syntax_nmt.inference.extraction.constituents import tree_of_spans
from syntax_nmt.scoring.constituents.bracketing import BASELINES, COLLINS_LABELS

COMMAND = "trees"  # the fixture that runs it


@pytest.fixture(scope="session")
def latent(parser, tmp_path_factory):
    return latent_checkpoint(parser.data, tmp_path_factory.mktemp("latent") / "latent.pt")


@pytest.fixture
def trees(parser, latent, tmp_path, capsys):
    """Runs the command; gives the file of trees, stdout and stderr."""

    def run(*arguments, model=True, kind="constituents", output=True):
        path = tmp_path / "induced.trees"
        command = ["trees", "--kind", kind, *(["--output", path] if output else [])]
        command += [parser.data, "--path", latent, "--cpu"] if model else []
        main([str(argument) for argument in [*command, *arguments]])
        captured = capsys.readouterr()
        return path, captured.out, captured.err

    return run


def baseline(name, words=WORDS):
    """Trees of a baseline over sentences, full stops tagged as Penn does."""
    lines = []
    for sentence in words:
        tree = tree_of_spans(sentence, BASELINES[name](len(sentence))) if sentence else None
        lines.append(format_tree(tree).replace("(W .)", "(. .)"))
    return lines


@pytest.fixture
def gold(tmp_path):
    """Left-branching trees; the empty sentence and one more have none."""
    lines = baseline("left-branching")
    lines[5] = "()"
    return write(tmp_path / "gold.trees", lines)


def test_every_sentence_in_order(trees):
    path, stdout, stderr = trees()
    assert words_in(read_trees(path)) == WORDS
    assert stdout == ""
    assert stderr == "6 trees\n\n1 without tree (empty or too long)\n"
    for line, words in zip(path.read_text().splitlines(), WORDS):
        if words:
            tree = nltk.Tree.fromstring(line)
            assert tree.leaves() == words
            assert len(words) == 1 or all(
                len(part) == 2 for part in tree.subtrees(lambda part: part.label() == "X")
            )


def test_both_sides_of_one_text(trees, parser):
    """Both sides are the same text, and both are read from the split or from files."""
    source = trees()[0].read_text()
    target = trees("--side", "target")[0].read_text()
    assert source != target
    pieces = parser.pieces
    assert trees("--input", pieces)[0].read_text() == source
    assert trees("--segmented", pieces, "--side", "source")[0].read_text() == source
    target_text = ["--side", "target", "--segmented", pieces]
    assert trees(*target_text)[0].read_text() == target
    texts = ["--side", "target", "--input", pieces, "--translations", pieces]
    assert trees(*texts)[0].read_text() == target
    assert trees(*texts, "--batch-size", 1)[0].read_text() == target
    assert trees("--layer", 1)[0].read_text() != source
    assert trees("--layer", 1, "--side", "target")[0].read_text() != target


def test_translations_count_for_the_target(trees, parser, tmp_path):
    others = write(tmp_path / "others", TARGETS)
    path = trees("--side", "target", "--input", parser.pieces, "--translations", others)[0]
    assert words_in(read_trees(path)) == TARGET_WORDS


def test_figures(trees, gold, tmp_path):
    figures = tmp_path / "figures.json"
    path, _, stderr = trees("--trees", gold, "--json", figures)
    scored = json.loads(figures.read_text())
    assert (scored["sentences"], scored["sentences_scored"]) == (7, 5)
    assert scored["sentences_without_gold"] == 2
    assert scored["deleted_labels"] == []
    scores = scored["bracket_f1"]
    assert list(scores) == ["trees", *BASELINES]
    left = scores["left-branching"]
    assert left["with_whole_sentence"]["f1"] == left["without_whole_sentence"]["sentence_f1"] == 100
    # By hand: words of the scored sentences 6, 1, 12, 1, 3, so n − 1 brackets of each binary tree.
    found = scores["trees"]["with_whole_sentence"]
    sizes = [len(words) for index, words in enumerate(WORDS) if index not in (2, 5)]
    assert found["gold"] == found["predicted"] == sum(size - 1 for size in sizes)
    spans = [set(), set()]
    for side, name in enumerate((path, gold)):
        for index, tree in enumerate(read_trees(name)):
            if tree is not None and index not in (2, 5):
                nodes = [node for node in tree.nodes if node.end - node.start > 1]
                spans[side] |= {(index, node.start, node.end) for node in nodes}
    assert found["correct"] == len(spans[0] & spans[1])
    assert found["f1"] == pytest.approx(100 * len(spans[0] & spans[1]) / len(spans[1]))
    # Right-branching has nothing but the whole sentences of left-branching, which are 3.
    right = scores["right-branching"]
    assert right["with_whole_sentence"]["correct"] == 3
    assert right["without_whole_sentence"]["correct"] == 0
    assert found["sentences_averaged"] == 3
    assert "with the bracket around the whole sentence" in stderr
    assert "without it" in stderr
    assert "5 sentences; unlabelled, nothing deleted" in stderr
    assert "2 sentences without gold tree left out\n1 without tree" in stderr


def test_collins(trees, gold, tmp_path):
    hypothesis = write(tmp_path / "h.trees", baseline("right-branching"))
    arguments = ["--hypothesis", hypothesis, "--trees", gold, "--json", "-"]
    scores = {}
    for more in ([], ["--collins"]):
        scored = json.loads(trees(*arguments, *more, model=False, output=False)[1])
        right = scored["bracket_f1"]["right-branching"]["with_whole_sentence"]
        assert scored["bracket_f1"]["trees"]["with_whole_sentence"] == right
        scores[len(more)] = scored
    assert scores[1]["deleted_labels"] == sorted(COLLINS_LABELS)
    assert (scores[0]["deleted_words"], scores[1]["deleted_words"]) == (0, 2)
    left = [scores[each]["bracket_f1"]["left-branching"]["with_whole_sentence"] for each in (0, 1)]
    assert left[0]["gold"] - left[1]["gold"] == 2
    assert left[1]["f1"] == 100


def test_a_missing_tree_finds_no_bracket(trees, gold, tmp_path):
    lines = gold.read_text().splitlines()
    hypothesis = write(tmp_path / "h.trees", ["()", *lines[1:]])
    arguments = ["--hypothesis", hypothesis, "--trees", gold, "--json", "-"]
    _, out, err = trees(*arguments, model=False, output=False)
    found = json.loads(out)["bracket_f1"]["trees"]["with_whole_sentence"]
    assert found["precision"] == 100
    assert found["gold"] - found["predicted"] == len(WORDS[0]) - 1
    assert "3 without tree (empty or too long), 1 of them with a gold tree" in err


def test_other_systems_trees_are_written_anew(trees, tmp_path):
    with gzip.open(tmp_path / "h.trees.gz", "wt") as stream:
        stream.write("( (S (NP we)   (VP (V see)) ) )\n()\n")
    path, _, _ = trees("--hypothesis", tmp_path / "h.trees.gz", model=False)
    assert path.read_text() == "(S (NP we) (VP (V see)))\n()\n"


def test_drawings(trees, gold):
    _, stdout, _ = trees("--trees", gold, "--draw", 1, "--sentences", "3,6,7")
    titles = [line for line in stdout.splitlines() if line.startswith("sentence")]
    assert titles[1:3] == ["sentence 3: no tree", "sentence 6: no gold tree"]
    right, all_ = titles[0].split(": ")[1].split(" brackets")[0].split(" of ")
    assert stdout.split(titles[1])[0].count("✗") == int(all_) - int(right)
    assert titles[0].endswith(f"the {len(WORDS[0]) - 1} of the gold tree")
    assert "✗" not in trees("--draw", 2)[1]


def test_files_that_do_not_belong_together(refused, parser, gold, tmp_path):
    short = write(tmp_path / "short", ["▁see"])
    other = write(tmp_path / "other", baseline("balanced", [["x"] * len(words) for words in WORDS]))
    longer = write(tmp_path / "longer", baseline("balanced", [[*words, "x"] for words in WORDS]))
    broken = write(tmp_path / "broken", ["(X (W a)"] * 7)
    none = write(tmp_path / "none", ["()"] * 7)
    message = refused("--trees", other)
    assert f"{other}:1: the words differ from " in message
    assert "test:1" in message
    message = refused("--trees", longer)
    assert f"{longer}:1: the reference has 7 words" in message
    assert "test:1 has 6: give the parses" in message
    assert f"{broken}:1: the line ends before 1 of its brackets" in refused("--trees", broken)
    assert "there is nothing to score" in refused("--trees", none)
    assert "gold.trees has 7 trees" in refused("--trees", gold, "--input", short)
    message = refused("--hypothesis", longer, "--trees", gold, model=False)
    assert "gold.trees:1: the reference has 6 words" in message
    assert f"{longer}:1 has 7" in message
    message = refused("--hypothesis", short, "--trees", gold, model=False)
    assert "7 trees" in message
    assert f"{short} 1 sentences" in message
    message = refused("--side", "target", "--input", parser.pieces, "--translations", short)
    assert f"{short} has 1 lines" in message
    assert "'▁see' was binarised as" in refused(
        "--side", "target", "--segmented", write(tmp_path / "o", ["▁see", *PIECES[1:]])
    )
    assert "give --segmented the target text" in refused("--side", "target", "--segmented", short)


def test_models_without_distances(refused, parser, latent):
    arguments = [parser.data, "--path", parser.stock]
    for side in ("source", "target"):
        assert "no syntactic distances" in refused(*arguments, "--side", side, model=False)
    for layer in (-1, 2):
        message = refused("--layer", layer)
        assert f"--layer {layer}: the model's encoder has " in message
        assert "0 to 1" in message
    arguments = [parser.data, "--path", latent]
    message = refused(*arguments, model=False, kind="dependencies")
    assert "no supervised attention heads" in message


def test_options_that_do_not_go_together(refused, gold):
    for options in (["--conllu", "a"], ["--no-punctuation"]):
        assert f"{options[0]} is about dependencies" in refused(*options)
    for options in (["--trees", gold], ["--collins"], ["--layer", 0]):
        message = refused(*options, kind="dependencies")
        assert f"{options[0]} is about constituents: add --kind constituents" in message
    assert "--layer and --hypothesis" in refused("--hypothesis", gold, "--layer", 0, model=False)
    assert "add --trees" in refused("--hypothesis", gold, model=False, output=False)
    assert "does nothing without --trees" in refused("--collins")
    assert "does nothing without --input" in refused("--translations", "a")
    assert "parses --translations" in refused("--side", "target", "--input", "a")
