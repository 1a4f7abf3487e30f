"""`syntax_nmt.load`: what the commands give, from Python."""

import json
import math
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import parsing_stand_in
import pytest
import torch
from commands import USER_DIR
from fairseq.models import ARCH_MODEL_REGISTRY
from forced_models import checkpoint_of
from methods import METHODS, READERS
from nonempty import some
from parsing_stand_in import TAGS, DependencyParser, Parser, parsing
from programs import System
from small_models import build, enlarge, save_checkpoint

from syntax_nmt import cli, load
from syntax_nmt.data.annotation import COLUMNS, PARSED_KINDS, TREES
from syntax_nmt.data.conllu import format_conllu
from syntax_nmt.data.constituents import format_tree
from syntax_nmt.errors import UserError
from syntax_nmt.inference import loading
from syntax_nmt.inference.given_sentences import ONE_AT_A_TIME

QUICK = ("dependency_transformer", *READERS)
EACH = [pytest.param(m, marks=[] if m in QUICK else pytest.mark.slow) for m in METHODS]


@pytest.fixture(scope="module", params=EACH)
def system(request, make_system) -> System:
    return make_system(request.param)


def options_of(inputs):
    """What a model that reads parses is loaded with."""
    return {"parser_config": inputs[1]} if inputs else {}


@pytest.fixture(scope="module")
def lines(prepared):
    """Source and target of the test set."""
    return [
        (prepared.corpus / f"test.{side}").read_text(encoding="utf-8").splitlines()
        for side in ("src", "tgt")
    ]


@pytest.fixture(scope="module")
def model(make_system, prepared):
    """One that tells dependencies, loaded."""
    return load(make_system("dependency_transformer").path, prepared.folder, device="cpu")


@pytest.fixture
def written(prepared, tmp_path):
    """Gives the lines that a command of ours writes, given a model."""

    def run(name, system, *arguments):
        output = tmp_path / f"{name}.output"
        given = (name, prepared.data, "--path", system.path, "--cpu", "--output", output)
        cli.main([str(part) for part in (*given, *arguments)])
        return output.read_text(encoding="utf-8").splitlines()

    return run


@pytest.fixture
def forced(prepared):
    """Options that name the test set and its translation."""
    return "--source", prepared.corpus / "test.src", "--target", prepared.corpus / "test.tgt"


@pytest.fixture
def segmented(prepared):
    """Options that name the pieces of the test set."""
    return "--segmented", prepared.folder / "pieces" / "test.src"


def test_translates_as_interactive_does(system, inputs, prepared, lines, text):
    model = load(system.path, prepared.folder, device="cpu", **options_of(inputs))
    translated = model.translate(lines[0], beam=3, max_len_b=12)
    options = ("--beam", "3", "--max-len-b", "12", *text, "--input", prepared.corpus / "test.src")
    assert dict(enumerate(translated)) == system.type(*options, *inputs).one("D")
    assert model.translate(lines[0][3], beam=3, max_len_b=12) == translated[3]
    assert model.translate([]) == []


def test_from_pretrained_translates_alike(system, inputs, prepared, lines):
    """fairseq's own way, of every model; a parser that is missing is named."""
    options = {"bpe": "sentencepiece", "tokenizer": "syntax_words", "user_dir": USER_DIR}
    options["sentencepiece_model"] = str(prepared.folder / "sentencepiece.model")
    options |= {"source_tokenizer": "none", "target_tokenizer": "none"}
    place = (str(system.path.parent), system.path.name, str(prepared.data))
    from_pretrained = ARCH_MODEL_REGISTRY[METHODS[system.method].training[1]].from_pretrained
    hub = from_pretrained(*place, **options, **options_of(inputs))
    translated = hub.translate(lines[0], beam=3, max_len_b=12)
    model = load(system.path, prepared.folder, device="cpu", **options_of(inputs))
    assert translated == model.translate(lines[0], beam=3, max_len_b=12)
    odd = hub.translate(["", "  ", lines[0][3], "👨\u200d👩 \x00"], beam=3, max_len_b=12)
    assert odd[2] == translated[3]
    assert odd[0] == odd[1]
    if inputs:
        with pytest.raises(UserError, match="--parser-config FILE"):
            from_pretrained(*place, **options).translate("ka", beam=1)


def test_trees_are_those_of_the_command(make_system, model, lines, written, segmented):
    found = written("trees", make_system("dependency_transformer"), *segmented)
    assert "".join(model.trees(lines[0], as_text=True)).splitlines() == found


def test_a_picture_of_a_sentence_that_is_translated_now(make_system, prepared, lines, tmp_path):
    system, picture = make_system("dependency_transformer"), tmp_path / "sentence.svg"
    given = ("--text", lines[0][4], "--beam", "2", "--output", picture)
    cli.main(
        [str(x) for x in ("plot", "translation", prepared.folder, "--path", system.path, *given)]
    )
    model = load(system.path, prepared.folder)
    words = [*lines[0][4].split(), *model.translate(lines[0][4], beam=2).split()]
    drawn = picture.read_text(encoding="utf-8")
    assert all(f">{word}<" in drawn for word in some(words))


def test_constituents_are_those_of_the_command(make_system, prepared, lines, written, segmented):
    system = make_system("latent_phrase_transformer")
    trees = load(system.path, prepared.folder, device="cpu").trees(lines[0])
    found = written("trees", system, "--kind", "constituents", *segmented)
    assert [*map(format_tree, trees)] == found


def test_alignments_are_those_of_the_command(system, inputs, prepared, lines, written, forced):
    """Also after a search, for which fairseq changes the model."""
    model = load(system.path, prepared.folder, device="cpu", **options_of(inputs))
    model.translate(lines[0][:2], beam=1, max_len_b=5)
    pairs = model.align(*lines)
    assert [*map(str, pairs)] == written("align", system, *forced, *inputs)
    assert " ".join(pairs[4].target) == lines[1][4]
    assert model.align(lines[0][4], lines[1][4]).links == pairs[4].links
    heads = model.heads(*lines)[4]
    (attended, *_), entropies = heads.layers["cross"], heads.entropies("cross")
    queries, keys = attended.weights.shape[1:]  # keys may be more than pieces: constituents
    assert queries == len(heads.target) + attended.with_eos
    assert keys >= len(heads.source) + attended.with_eos
    assert 0 <= entropies.min() <= entropies.max() <= math.log2(keys) + 1e-6


def test_chunks_are_those_of_the_command(make_system, prepared, lines, written, forced):
    system = make_system("bi_scale_rnn")
    model = load(system.path, prepared.folder, device="cpu")
    found = written("chunks", system, *forced, "--format", "brackets")
    assert [*map(str, model.chunks(*lines))] == found


def test_bits_of_words_are_those_of_the_command(make_system, model, prepared, lines, written):
    found = model.likelihood(*lines)
    text = "--source", prepared.corpus / "test.src", "--reference", prepared.corpus / "test.tgt"
    rows = written("likelihood", make_system("dependency_transformer"), *text)
    expected = [row.split("\t") for row in rows if row]
    pairs = [pair for sentence in some(found) for pair in sentence]
    assert [word for word, _ in pairs] == [word for word, _ in expected]
    assert [f"{bits:.6f}" for _, bits in pairs] == [bits for _, bits in expected]
    words = [word for word, _ in model.likelihood(lines[0][4], lines[1][4])]
    assert words == [*lines[1][4].split(), "</s>"]


def test_text_in_pieces_needs_no_prepared_folder(make_system, model, prepared, lines, tmp_path):
    shutil.copytree(prepared.data, tmp_path / "bin")
    path = make_system("dependency_transformer").path
    of_pieces = load(path, tmp_path / "bin", device="cpu", segmented=True)
    pieces = (prepared.folder / "pieces" / "test.src").read_text(encoding="utf-8").splitlines()
    assert of_pieces.trees(pieces) == model.trees(lines[0])
    unlike = lines[0][0]  # no piece begins a word
    alone = of_pieces.trees(pieces[0]), of_pieces.align(pieces[0], pieces[0])
    among = [pieces[0], unlike, unlike, unlike]
    assert (of_pieces.trees(among)[0], of_pieces.align(among, among)[0]) == alone
    assert of_pieces.trees([unlike, *pieces])[0] == of_pieces.trees(unlike)


def test_hypotheses_and_trees_as_text(model, lines):
    line = lines[0][0]
    found = model.nbest(line, beam=3)
    assert len(found) == 3
    assert str(found[0]) == model.translate(line, beam=3)
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert [each[0].score for each in model.nbest([line], beam=3)] == [found[0].score]
    tree = model.trees(line)
    text = model.trees(line, as_text=True)
    assert text == format_conllu(tree.words, tree.heads, tree.relations, tree.upos)
    assert model.trees([line], as_text=True) == [text]


def test_an_empty_sentence_has_an_empty_translation(model, lines):
    """A model that never saw one makes up a translation."""
    line = lines[0][0]
    found = model.translate(["", line, "   "])
    assert found[0] == found[2] == model.translate("") == ""
    assert found[1] == model.translate(line) != ""


def test_an_empty_sentence_under_the_task_of_fairseq(prepared, tmp_path):
    stock = load(checkpoint_of("lstm", prepared.data, tmp_path), prepared.folder, device="cpu")
    assert [found.text for found in stock.nbest("")] == [""]


def test_a_model_of_the_other_direction(prepared, tmp_path):
    """The folder tells of languages, not of sides."""
    languages = json.loads((prepared.folder / "segmentation.json").read_text(encoding="utf-8"))
    assert languages == {
        lang: {"tokenizer": "none", "sentencepiece_model": "sentencepiece.model"}
        for lang in ("src", "tgt")
    }


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ("nowhere", {}, "nowhere: no such folder; give the data-bin folder"),
        ("bin", {}, "syntax-nmt prepare` did not make it, so how text is segmented is not known"),
        ("bin", {"tokeniser": "moses"}, "tokeniser: no such option: use segmented, tokenizer"),
        ("bin", {"bpe": "subword_nmt"}, "bpe subword_nmt needs its model: add bpe_codes$"),
        ("bin", {"device": "cuda:99"}, "device cuda:99: torch sees"),
        ("bin", {"tokenizer": "mosess"}, "tokenizer mosess: choose .*moses"),
        ("bin", {"bpe": "sentencepeice"}, "bpe sentencepeice: choose "),
        ("bin", {"device": 0}, "^device 0: no such device; give cpu, cuda or cuda:N"),
        ("bin", {"segmented": "no"}, "^segmented 'no': give True or False$"),
        ("bin", {"bpe": "subword_nmt", "bpe_codes": 3}, "^bpe_codes 3: give the path of a file$"),
        ("p:q", {"segmented": True}, "p:q: fairseq takes : for the end of a folder's name"),
        (
            "bin",
            {"segmented": True, "parser_config": "nowhere.json"},
            "^parser_config nowhere.json: the model reads nothing that is parsed",
        ),
    ],
)
def test_mistakes_are_exceptions(make_system, prepared, tmp_path, data, options, message):
    for name in ("bin", "p:q"):
        (tmp_path / name).symlink_to(prepared.data)
    with pytest.raises(UserError, match=message):
        load(make_system("dependency_transformer").path, tmp_path / data, **options)


def test_data_of_a_tokenizer_that_is_not_there(make_system, prepared, monkeypatch):
    """NLTK looks for it at the first word, and tells of it on a page."""
    nltk = pytest.importorskip("nltk", reason="NLTK is not installed")
    monkeypatch.setattr(nltk.data, "path", [])
    with pytest.raises(UserError, match=r"Resource 'punkt.*' not found, `python -m nltk"):
        load(make_system("dependency_transformer").path, prepared.data, tokenizer="nltk")


@pytest.mark.parametrize("device", ["cpu:0", torch.device("cpu")])
def test_devices_as_torch_has_them(make_system, prepared, device):
    model = load(make_system("dependency_transformer").path, prepared.folder, device=device)
    assert model.hub.device == torch.device("cpu")


def test_a_checkpoint_that_is_not_there(prepared):
    """From Python it is no option; `serve`, which loads likewise, has none of that name."""
    with pytest.raises(UserError, match=r"^nowhere.pt: no such checkpoint: give the file that"):
        load("nowhere.pt", prepared.folder)


@pytest.mark.parametrize(
    ("ask", "arguments", "message"),
    [
        ("align", (["a", "b"], ["c"]), "2 sentences and 1 translations"),
        ("align", ("a", ["c"]), "a sentence and a list"),
        ("chunks", ("a", "b"), "the model chooses no chunks"),
        ("translate", (["a", "a " * 3000],), "sentence 2 has 3[0-9]+ tokens, .* 1024: shorten"),
        ("translate", (5,), "5 is no text: give a sentence, or a list"),
        ("trees", (["a", None],), "sentence 2: None is no text"),
        ("translate", (["a", "a\ud800"],), r"sentence 2: U\+D800 is half of a character"),
        ("trees", ("a", "nonsense"), "^kind nonsense: choose dependencies or constituents"),
        ("trees", ("a", "constituents"), "encoder has no syntactic distances"),
    ],
)
def test_mistakes_in_what_is_asked(model, ask, arguments, message):
    with pytest.raises(UserError, match=message):
        getattr(model, ask)(*arguments)


def test_threads_take_turns(make_system, prepared, lines):
    """A server's threads share one model."""
    model = load(make_system("latent_phrase_transformer").path, prepared.folder, device="cpu")
    translated = [model.translate(line, beam=4, max_len_b=10) for line in lines[0]]
    links = [str(model.align(*pair)) for pair in zip(*lines)]
    with ThreadPoolExecutor(4) as pool:
        again = pool.map(lambda line: model.translate(line, beam=4, max_len_b=10), lines[0])
        linked = pool.map(lambda pair: str(model.align(*pair)), zip(*lines))
        assert [*again] == translated
        assert [*linked] == links


def test_a_model_is_loaded_while_no_other_computes(prepared, monkeypatch):
    """Otherwise the log level that one restores may be what the other raised it to."""
    locked = []
    monkeypatch.setattr(loading, "load_model", lambda *_: locked.append(ONE_AT_A_TIME.locked()))
    with pytest.raises(TypeError):
        load("a.pt", prepared.folder)
    assert locked == [True]
    assert not ONE_AT_A_TIME.locked()


def test_the_trainings_batches_are_no_limit(make_system, prepared, lines):
    model = load(make_system("dependency_transformer").path, prepared.folder, device="cpu")
    translated = model.translate(lines[0], max_len_b=10)
    model.hub.cfg.dataset.max_tokens = 3
    assert model.translate(lines[0], max_len_b=10) == translated


@pytest.fixture(scope="module")
def reader(prepared, tmp_path_factory):
    """A model that tells trees and reads everything that is parsed."""
    path = tmp_path_factory.mktemp("reader") / "checkpoint.pt"
    reads = ("--phrase-segmentation", "parsed", "--parent-scaled-layer", "0")
    tells = ("--supervised-layer=-1", "--latent-phrase-layers", "1")
    features = ["--source-features", ",".join(column.name for column in COLUMNS)]
    for column in COLUMNS:  # in place of lists of the data folder
        features += [f"--{column.key.replace('_', '-')}", f"<unk> {' '.join(TAGS)} _"]
    model, _, cfg = build(prepared.data, "phrase_transformer", "--share-all-embeddings",
                          *reads, *tells, *features)  # fmt: skip
    assert set(model.reads_annotation) == {*PARSED_KINDS} - {TREES}  # which RNN encoders read
    return System("", prepared.data, save_checkpoint(path, enlarge(model), cfg))


def test_values_of_typed_words_change_translations(reader, prepared, lines, tmp_path, monkeypatch):
    """Those of the parser, numbered as the model's; unknown ones are others than known ones."""
    found = []
    for tags in (TAGS, TAGS[::-1], ("other",)):
        monkeypatch.setattr(parsing_stand_in, "TAGS", tags)
        with parsing(tmp_path / "parser") as inputs:
            model = load(reader.path, prepared.folder, device="cpu", **options_of(inputs))
            found.append(model.translate(lines[0], max_len_b=10))
    assert found[0] != found[1] != found[2] != found[0]


@pytest.mark.parametrize("kind", ["dependencies", "constituents"])
def test_trees_of_a_model_that_reads_parses(
    reader, prepared, lines, written, segmented, tmp_path, kind
):
    flags = ("--kind", kind, *segmented)
    with pytest.raises(SystemExit, match=r"reads .* give the parser's .* as --parser-config"):
        written("trees", reader, *flags)
    with parsing(tmp_path / "parser") as inputs:
        model = load(reader.path, prepared.folder, device="cpu", **options_of(inputs))
        assert model.structures == ("dependencies", "constituents")
        trees = model.trees(lines[0], kind, as_text=True)
        found = written("trees", reader, *flags, *inputs)
    assert "".join(trees).splitlines() == found


def test_parses_that_a_model_reads(reader, model, prepared, lines, tmp_path):
    """Over the words of the text, and beside the trees that the model finds."""
    line = lines[0][3]
    with parsing(tmp_path / "parser") as inputs:
        reading = load(reader.path, prepared.folder, device="cpu", **options_of(inputs))
        assert set(reading.reads) == {"dependencies", "constituents"}
        tree = DependencyParser.tree(line.split())
        assert reading.parses(["", line, "ka " * 31], "dependencies") == [None, tree, None]
        brackets = reading.parses(line, "constituents")
        assert format_tree(brackets) == Parser.tree(line.split()).replace(" w", " {}").format(
            *line.split()
        )
        with pytest.raises(UserError, match="chunks: choose "):
            reading.parses(line, "chunks")
    assert model.reads == ()
    with pytest.raises(UserError, match="reads no trees of a parser"):
        model.parses(line)


def test_features_that_a_model_reads(make_system, model, prepared, lines, tmp_path):
    line, path = lines[0][3], make_system("feature_transformer").path
    with parsing(tmp_path / "parser") as inputs:
        reading = load(path, prepared.folder, device="cpu", **options_of(inputs))
        assert reading.features == ("upos", "deprel")
        assert reading.parses(line) == DependencyParser.tree(line.split())
        with pytest.raises(UserError, match="constituents: choose "):
            reading.parses(line, "constituents")
    assert (reading.reads, model.features) == ((), ())
    assert repr(reading) == (
        "<LoadedModel: src-tgt, feature_transformer_tiny; reads feature upos, feature deprel>"
    )
    assert repr(model) == "<LoadedModel: src-tgt, dependency_transformer_tiny; has dependencies>"


def test_the_parser_of_the_prepared_folder(make_system, prepared, lines, tmp_path):
    """Without another; where there is none, the message says who writes it."""
    path = make_system("pascal_transformer").path
    folder = tmp_path / "prepared"
    folder.mkdir()
    for part in ("data-bin", "segmentation.json", "sentencepiece.model"):
        (folder / part).symlink_to(prepared.folder / part)
    with pytest.raises(UserError, match=r"parser\.json: no such file, .* dependency trees .*prep"):
        load(path, folder, device="cpu")
    with parsing(folder) as inputs:
        found = load(path, folder, device="cpu").translate(lines[0], max_len_b=5)
        named = load(path, prepared.folder, device="cpu", **options_of(inputs))
        assert named.translate(lines[0], max_len_b=5) == found
        (folder / "parser.pt").unlink()
        with pytest.raises(UserError, match=r"parser\.json: no Stanza models .*parser\.pt"):
            load(path, folder, device="cpu")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lenpenn": -100}, "lenpenn: fairseq's search has no such option: did you mean lenpen"),
        ({"colour": 1}, "colour: .* leave it out"),
        ({"lenpen": "long"}, "^lenpen: Value 'long'"),
        ({"beam": 0}, "^beam 0: give a finite number from 1$"),
        ({"beam": 2.5}, "^beam: Value '2.5'"),
        ({"retain_dropout": True}, "retain_dropout is for fairseq's programs, not for Python"),
        ({"constraints": "ordered"}, "constraints is for fairseq's programs"),
        ({"verbose": True}, "^verbose: fairseq's search has no such option: leave it out"),
        ({"inference_step_args": {}}, "^inference_step_args: .* no such option: leave it out"),
        ({"lenpen": math.nan}, "^lenpen nan: give a finite number$"),
        ({"lenpen": "inf"}, "^lenpen inf: give a finite number$"),
        ({"max_len_a": -1.0}, "^max_len_a -1.0: give a finite number from 0$"),
        ({"diverse_beam_groups": 0}, "^diverse_beam_groups 0: give a finite number from 1$"),
        ({"sampling": True, "sampling_topk": 10**6}, r"^sampling_topk 1000000: .* from 1 to \d+$"),
        ({"sampling": True, "sampling_topp": 2.0}, "^sampling_topp 2.0: .* from 0 to 1$"),
        ({"temperature": 0.0}, "fairseq's search cannot do this: temperature must be"),
        ({"min_len": 500, "max_len_b": 9}, "fairseq's search cannot do this: min_len cannot"),
        ({"diverse_beam_groups": 7}, "fairseq's search cannot do this: DiverseBeamSearch"),
    ],
)
def test_options_of_the_search_are_checked(model, options, message):
    with pytest.raises(UserError, match=message):
        model.translate("a", **options)
    assert model.translate("ka", beam=2, lenpen=1, sampling_topk=-1)


def test_values_of_the_search_as_text(model, lines):
    """As in YAML files, and not true because they are there."""
    found = model.nbest(lines[0][0], beam="3", max_len_b="8", unnormalized="no")
    assert found == model.nbest(lines[0][0], beam=3, max_len_b=8, unnormalized=False)
    assert found != model.nbest(lines[0][0], beam=3, max_len_b=8, unnormalized="yes")


@pytest.mark.parametrize("constraints", ["ordered", 5, [1], {"a": 1}])
def test_constraints_of_a_checkpoint(make_system, prepared, tmp_path, constraints):
    """fairseq-train writes none; its search would fail at them."""
    state = torch.load(make_system("dependency_transformer").path)
    generation = {**state["cfg"]["generation"], "constraints": constraints}
    changed = {**state, "cfg": {**state["cfg"], "generation": generation}}
    torch.save(changed, tmp_path / "model.pt")
    with pytest.raises(UserError, match="constraints: the text has none here"):
        load(tmp_path / "model.pt", prepared.folder, device="cpu").translate("ka")


def test_is_quiet(make_system, prepared, capfd, recwarn):
    path = make_system("dependency_transformer").path
    recwarn.clear()
    model = load(path, prepared.folder, device="cpu")
    model.translate("ka")
    assert capfd.readouterr() == ("", "")
    assert [str(each.message) for each in recwarn if each.category is UserWarning] == []


@pytest.mark.dear
@pytest.mark.parametrize("setup", ["", "logging.basicConfig(level=logging.INFO); "])
def test_logging_stays_as_the_program_has_it(setup):
    """Importing fairseq has the root logger print what libraries say for debugging."""
    state = "root = logging.getLogger(); state = lambda: (root.level, root.handlers[:])"
    program = f"import logging; {setup}{state}; before = state(); from syntax_nmt import load; "
    check = "assert state() == before"
    subprocess.run([sys.executable, "-c", program + check], check=True)


def test_a_missing_language_is_an_exception_in_fairseqs_own_way(make_system, prepared, tmp_path):
    from syntax_nmt.models.syntax_transformer import SyntaxTransformerModel

    system = make_system("dependency_transformer")
    (tmp_path / "data").mkdir()
    with pytest.raises(UserError, match="no data-bin folder"):
        SyntaxTransformerModel.from_pretrained(
            str(system.path.parent), system.path.name, str(tmp_path / "data"), user_dir=USER_DIR
        )
