"""Words that stand for several are parsed as those, and stay one word of the corpus."""

import pytest
from commands import succeed

from syntax_nmt.cli import main
from syntax_nmt.data.conllu import read_conllu

TREEBANK = """\
1-2	cannot	_	_	_	_	_	_	_	_
1	can	can	AUX	_	_	3	aux	_	_
2	not	not	PART	_	_	3	advmod	_	_
3	go	go	VERB	_	_	0	root	_	_

"""


@pytest.fixture(scope="module")
def expander(tmp_path_factory):
    """A model of multiword tokens that knows `cannot`."""
    folder = tmp_path_factory.mktemp("expander")
    text = folder / "train.conllu"
    text.write_text(TREEBANK * 3)
    options = ["--mode", "train", "--dict_only", "--cpu", "--shorthand", "en_tiny"]
    options += ["--train_file", text, "--eval_file", text, "--gold_file", text]
    options += ["--save_dir", folder, "--save_name", "mwt.pt"]
    succeed("stanza.models.mwt_expander", *options)
    return folder / "mwt.pt"


def parse(shared, folder, line, *more):
    (folder / "text.en").write_text(f"{line}\n")
    models = ["--lang", "en", "--stanza-dir", str(shared / "models" / "en"), *more]
    files = ["--input", f"{folder}/text.en", "--output", f"{folder}/text.conllu"]
    main(["parse", *models, *files])
    (tree,) = read_conllu(folder / "text.conllu")
    return tree


def test_parsed_apart_and_one_word_again(shared, expander, tmp_path):
    apart = parse(shared, tmp_path, "I can not go home .")
    together = parse(shared, tmp_path, "I cannot go home .", "--stanza-model", f"mwt={expander}")
    assert together.words == ("I", "cannot", "go", "home", ".")
    assert apart.heads == (3, 3, 3, 3, 3, 3)
    assert together.heads == (2, 2, 2, 2, 2)
    assert together.relations[1] == apart.relations[1] == "aux"
    shouted = parse(shared, tmp_path, "CANNOT you ?", "--stanza-model", f"mwt={expander}")
    assert shouted.words == ("CANNOT", "you", "?")
