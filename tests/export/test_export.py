"""`syntax-nmt export`: another engine gives the same translations, or the command refuses."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from commands import USER_DIR, refuse, succeed, syntax_nmt
from fairseq import checkpoint_utils
from fairseq.sequence_generator import SequenceGenerator
from forced_models import hypotheses
from methods import BASES
from nonempty import some
from small_models import batch, build, enlarge, save_checkpoint
from translations import refused

from syntax_nmt.cli import main
from syntax_nmt.errors import UserError
from syntax_nmt.export import ctranslate2_model
from syntax_nmt.export.exporting import new_folder
from syntax_nmt.export.stock_transformer import feature_in_the_way
from syntax_nmt.export.translate import segmentation

# What fairseq itself does with an exported folder; nothing here imports this package.
WITHOUT_THE_PLUGIN = """
import sys, torch
from fairseq import checkpoint_utils
folder, pieces, output = sys.argv[1:]
(model,), cfg, task = checkpoint_utils.load_model_ensemble_and_task(
    [folder + "/model.pt"], {"data": folder}
)
cfg.generation.max_len_b = 20
generator = task.build_generator([model.eval()], cfg.generation)
beams = []
for line in open(pieces, encoding="utf-8"):
    tokens = task.source_dictionary.encode_line(line, add_if_not_exist=False).long()
    net_input = {"src_tokens": tokens[None], "src_lengths": torch.tensor([len(tokens)])}
    (found,) = task.inference_step(generator, [model], {"net_input": net_input})
    beams.append([(h["tokens"].tolist(), h["score"].item()) for h in found])
assert not any(name.startswith("syntax_nmt") for name in sys.modules)
torch.save(beams, output)
"""
TRANSLATE = "syntax_nmt.export.translate"
EXPORTABLE = {"syntax_transformer", "dependency_transformer", "tree_reg_transformer"}


@pytest.fixture(scope="module")
def trained(prepared, tmp_path_factory):
    """A model with supervised heads over a prepared folder, and its checkpoint."""
    options = ("--share-all-embeddings", "--encoder-normalize-before")
    model, task, cfg = build(prepared.data, "dependency_transformer", *options,
                             "--decoder-normalize-before")  # fmt: skip
    path = tmp_path_factory.mktemp("trained") / "model.pt"
    return save_checkpoint(path, enlarge(model, 1.5), cfg), model, task


@pytest.fixture(scope="module")
def exported(trained, prepared, tmp_path_factory):
    """The folder that `--to fairseq` wrote, and the line that it printed."""
    folder = tmp_path_factory.mktemp("fairseq") / "exported"
    done = syntax_nmt(
        *("export", trained[0], "--data", prepared.folder, "--to", "fairseq", "--output", folder)
    )
    return folder, done.stdout.split("\n", 1)[1]


@pytest.fixture(scope="module")
def pieces(prepared):
    """The test set, cut into pieces."""
    return prepared.folder / "pieces" / "test.src"


def export(path, data, engine, output, *more):
    command = ["export", path, "--data", data, "--to", engine, "--output", output, *more]
    main([str(part) for part in command])


def refused_export(path, data, engine, output, *more):
    """The line of an export that must be refused."""
    return refused("export", path, "--data", data, "--to", engine, "--output", output, *more)


@pytest.mark.dear
def test_fairseq_alone_finds_the_same_beams(trained, exported, pieces, tmp_path):
    command = [sys.executable, "-c", WITHOUT_THE_PLUGIN, exported[0], pieces, tmp_path / "beams"]
    subprocess.run(command, check=True)
    expected = hypotheses(*trained[1:], pieces.read_text("utf-8").splitlines(), max_len_b=20)
    found = torch.load(tmp_path / "beams")
    assert len({str(tokens) for ((tokens, _), *_) in expected}) > 5
    for one, other in zip(found, expected):
        assert [tokens for tokens, _ in one] == [tokens.tolist() for tokens, _ in other]
        assert [score for _, score in one] == pytest.approx([score for _, score in other], abs=1e-5)


@torch.no_grad()
def test_torchscript_compiles_what_is_exported(exported, pieces, tmp_path):
    """The model within fairseq's search, saved and loaded again."""
    folder, _ = exported
    (model,), _, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(folder / "model.pt")], {"data": str(folder)}
    )
    generator = SequenceGenerator([model.eval()], task.target_dictionary, max_len_b=10)
    torch.jit.script(generator).save(str(tmp_path / "scripted"))
    sources = [task.source_dictionary.encode_line(x).long() for x in pieces.open(encoding="utf-8")]
    sample = {"net_input": batch(task.source_dictionary, sources[:3], sources[:3])["net_input"]}
    found = torch.jit.load(str(tmp_path / "scripted"))(sample)
    for one, other in some(zip(found, generator.forward(sample), strict=True)):
        for ours, theirs in zip(one, other, strict=True):
            assert ours["tokens"].tolist() == theirs["tokens"].tolist()
            torch.testing.assert_close(ours["score"], theirs["score"], rtol=1e-4, atol=1e-4)


def test_the_printed_line_translates_raw_text(exported, prepared, trained):
    _, line = exported
    lines = (prepared.corpus / "test.src").read_text("utf-8").splitlines(keepends=True)
    text = "".join(lines[:2])
    program, *arguments = shlex.split(line.replace("\\\n", " ").split(" < ")[0])
    assert program == "fairseq-interactive"
    own = succeed("fairseq_cli.interactive", *arguments, stdin=text)
    words = [*arguments[1:], "--path", trained[0], "--user-dir", USER_DIR]
    words += ["--task", "syntax_translation"]
    ours = succeed("fairseq_cli.interactive", prepared.data, *words, stdin=text)
    assert len(translations(own)) == 2
    assert translations(own) == translations(ours)


def translations(done):
    return re.findall(r"^D-\d+\t\S+\t(.*)$", done.stdout, re.MULTILINE)


@pytest.mark.dear
def test_ctranslate2(trained, prepared, pieces, tmp_path):
    pytest.importorskip("ctranslate2", reason="CTranslate2 is not installed")
    path, model, task = trained
    export(path, prepared.folder, "ctranslate2", tmp_path / "whole")
    text = (prepared.corpus / "test.src").read_text("utf-8")
    line = (TRANSLATE, tmp_path / "whole", "--beam", "1")
    expected = []
    for ((tokens, _),) in hypotheses(model, task, pieces.read_text("utf-8").splitlines(), beam=1):
        translation = task.target_dictionary.string(tokens)
        expected.append(translation.replace(" ", "").replace("▁", " ").strip())
    assert succeed(*line, stdin=text).stdout.splitlines() == expected
    small = tmp_path / "small"
    export(path, prepared.folder, "ctranslate2", small, "--quantization", "int8")
    sizes = [(folder / "model.bin").stat().st_size for folder in (small, tmp_path / "whole")]
    assert sizes[0] < 0.75 * sizes[1]


@pytest.fixture(scope="module")
def of_few_positions(prepared, tmp_path_factory):
    """An exported folder; its model has positions for eight tokens and six, EOS included."""
    pytest.importorskip("ctranslate2", reason="CTranslate2 is not installed")
    folder = tmp_path_factory.mktemp("few")
    limits = ("--max-source-positions", "8", "--max-target-positions", "6")
    model, _, cfg = build(prepared.data, "syntax_transformer", *limits)
    path = save_checkpoint(folder / "model.pt", enlarge(model, 2.0), cfg)
    export(path, prepared.folder, "ctranslate2", folder / "exported")
    return folder / "exported"


def test_the_symbol_of_beginnings_is_no_part_of_the_text(prepared, pieces, tmp_path):
    """Of a model that generates it; fairseq's text has none either."""
    pytest.importorskip("ctranslate2", reason="CTranslate2 is not installed")
    model, task, cfg = build(prepared.data, "syntax_transformer", "--max-target-positions", "6")
    source = pieces.read_text("utf-8").splitlines()[0]
    weight = enlarge(model, 2.0).decoder.output_projection.weight.data
    ((tokens, _), *_) = hypotheses(model, task, [source])[0]
    bos, first = task.target_dictionary.bos(), int(tokens[0])
    weight[[bos, first]] = weight[[first, bos]]
    generated = hypotheses(model, task, [source])[0][0][0]
    assert generated[0] == bos
    path = save_checkpoint(tmp_path / "model.pt", model, cfg)
    export(path, prepared.folder, "ctranslate2", tmp_path / "out")
    line = (TRANSLATE, "--segmented", tmp_path / "out")
    (found,) = succeed(*line, stdin=source + "\n").stdout.splitlines()
    assert found == task.target_dictionary.string(generated)


def test_unknown_words_are_joined_as_fairseq_joins_them(prepared):
    _, join = segmentation(prepared.folder)
    assert join(["▁ka", "<unk>", "▁lo"]) == "ka<unk> lo"


def test_a_line_that_is_too_long_is_named_and_the_others_come_out(of_few_positions, pieces):
    piece = pieces.read_text("utf-8").split()[0]
    lines = [" ".join([piece] * count) for count in (1, 8, 7, 1)]
    done = succeed(TRANSLATE, of_few_positions, "--segmented", stdin="\n".join(lines))
    found = [len(line.split()) for line in done.stdout.split("\n")]
    assert found[1] == 0
    assert all(0 < found[i] <= 5 for i in (0, 2, 3))
    assert done.stderr.splitlines() == [
        "warning: line 2 (9 source tokens) is too long (the limit is 8, EOS counts): "
        "its translation is left empty"
    ]


LIGHT = """
import sys
from syntax_nmt.export.translate import main
assert not {"torch", "fairseq"} & set(sys.modules)
main()
assert "fairseq" not in sys.modules
"""


def test_a_model_without_factors_translates_without_fairseq(of_few_positions):
    """Which takes ten times as long to start as the model to translate a line."""
    command = [sys.executable, "-c", LIGHT, of_few_positions]
    done = subprocess.run(command, input="ka\n", capture_output=True, text=True)
    assert (done.returncode, done.stdout.count("\n")) == (0, 1), done.stderr


def test_folders_without_such_a_model_are_named(of_few_positions, exported, tmp_path):
    for folder in (tmp_path / "nowhere", exported[0], exported[0] / "model.pt"):
        message = refuse(TRANSLATE, folder, stdin="a\n")
        assert f"{folder}: no model that `syntax-nmt export --to ctranslate2` wrote" in message
    damaged = shutil.copytree(of_few_positions, tmp_path / "damaged")
    (damaged / "model.bin").write_bytes((damaged / "model.bin").read_bytes()[:1000])
    assert f"{damaged}: cannot be loaded" in refuse(TRANSLATE, damaged, stdin="a\n")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", "[" * 100_000),
        ("config.json", '{"max_source_positions": Infinity, "max_target_positions": 8}'),
        ("segmentation.json", "[" * 100_000),
        ("segmentation.json", "{}"),
        ("sentencepiece.model", "no model"),
        ("shared_vocabulary.json", "[1]"),
    ],
)
def test_damaged_folders_are_named_in_one_line(of_few_positions, tmp_path, name, content):
    damaged = shutil.copytree(of_few_positions, tmp_path / "damaged")
    (damaged / name).write_text(content)
    assert str(damaged) in refuse(TRANSLATE, damaged, stdin="a\n")


@pytest.fixture
def prepared_copy(prepared, tmp_path):
    """A data folder that somebody else made."""
    folder = tmp_path / "prepared"
    shutil.copytree(prepared.folder, folder)
    (tmp_path / "private").write_text("a key")
    return folder


@pytest.mark.parametrize(
    "named",
    ["{tmp}/private", "../private", "data-bin/../../private", "link", "prepare.json", "data-bin",
     "pipe", "", "x" * 5_000, 3, None, ["sentencepiece.model"], "sentencepiece.model\0"],
)  # fmt: skip
def test_no_other_file_is_published(trained, prepared_copy, tmp_path, named):
    """What `segmentation.json` names is a model of the folder, or nothing is exported."""
    (prepared_copy / "link").symlink_to(tmp_path / "private")
    os.mkfifo(prepared_copy / "pipe")
    path = prepared_copy / "segmentation.json"
    sides = json.loads(path.read_text("utf-8"))
    named = named.format(tmp=tmp_path) if isinstance(named, str) else named
    if named is None:  # no model: nothing to export
        del sides["src"]["sentencepiece_model"]
        sides["tgt"] |= {"sentencepiece_model": ".."}
    else:
        sides["src"]["sentencepiece_model"] = named
    path.write_text(json.dumps(sides), "utf-8")
    for engine in ("fairseq", "ctranslate2"):
        assert refused_export(trained[0], prepared_copy, engine, tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_models_get_names_of_their_own(trained, prepared_copy, tmp_path):
    """A name of the folder replaces neither the exported weights nor the other side's model."""
    path = prepared_copy / "segmentation.json"
    sides = json.loads(path.read_text("utf-8"))
    for language in ("src", "tgt"):
        (prepared_copy / language).mkdir()
        model = prepared_copy / language / "model.pt"
        shutil.copy(prepared_copy / "sentencepiece.model", model)
        sides[language]["sentencepiece_model"] = f"{language}/model.pt"
    path.write_text(json.dumps(sides), "utf-8")
    export(trained[0], prepared_copy, "fairseq", tmp_path / "out")
    assert torch.load(tmp_path / "out" / "model.pt", weights_only=False)["model"]
    found = json.loads((tmp_path / "out" / "segmentation.json").read_text("utf-8"))
    names = [found[language]["sentencepiece_model"] for language in ("src", "tgt")]
    assert names == ["sentencepiece.src.model", "sentencepiece.tgt.model"]
    assert all((tmp_path / "out" / name).is_file() for name in names)


@pytest.mark.dear
@pytest.mark.parametrize("command", ["average", "fairseq", "ctranslate2"])
def test_a_full_disk_is_named_in_one_line(trained, prepared, tmp_path, command):
    program = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
from syntax_nmt.cli import main
main(sys.argv[1:])
"""
    arguments = ["average", trained[0]]
    if command != "average":
        arguments = ["export", trained[0], "--data", prepared.folder, "--to", command]
    arguments = map(str, (*arguments, "--output", tmp_path / "out"))
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr, done.stderr
    assert done.stderr.splitlines()[-1].endswith("(File too large): check the folder")
    assert not list(tmp_path.iterdir())


def test_a_carriage_return_ends_no_line(of_few_positions):
    done = succeed(TRANSLATE, of_few_positions, stdin="lo\rka\na\r\n\rb\n")
    assert done.stdout.count("\n") == 3


def test_a_byte_order_mark_is_no_part_of_the_text(of_few_positions, pieces):
    def translated(text):
        return succeed(TRANSLATE, of_few_positions, "--segmented", stdin=text).stdout.splitlines()

    known = list(dict.fromkeys(pieces.read_text("utf-8").split()))
    *found, of_unknown = translated("\n".join([*known, "unknown"]))
    first = next(place for place, each in enumerate(found) if each != of_unknown)
    assert translated(f"\ufeff{known[first]}") == [found[first]]


@pytest.mark.dear
@pytest.mark.parametrize("locale", ["C.UTF-8", "POSIX"])
def test_a_line_that_is_not_utf8_is_named(of_few_positions, tmp_path, monkeypatch, locale):
    monkeypatch.setenv("LC_ALL", locale)
    program = [sys.executable, "-m", TRANSLATE, str(of_few_positions)]
    done = subprocess.run(program, input=b"a\nb \xff\n", capture_output=True)
    assert done.returncode == 1
    assert b"error: line 2 of the input is not UTF-8" in done.stderr
    assert b"Traceback" not in done.stderr


PRE_NORM = ("--encoder-normalize-before", "--decoder-normalize-before")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (PRE_NORM[:1], "--decoder-normalize-before"),
        ((*PRE_NORM, "--no-decoder-final-norm"), "know --no-decoder-final-norm:"),
        (("--cross-self-attention",), "know --cross-self-attention:"),
        (
            ("--cross-self-attention", "--no-cross-attention"),
            "know --cross-self-attention and --no-cross-attention:",
        ),
        (("--decoder-output-dim", "8"), "know --decoder-output-dim:"),
        (
            ("--adaptive-softmax-cutoff", "20", "--criterion", "adaptive_loss"),
            "know --adaptive-softmax-cutoff:",
        ),
    ],
)
def test_a_model_that_ctranslate2_computes_otherwise_is_refused(options, named, prepared, tmp_path):
    """By the option that it does not know."""
    pytest.importorskip("ctranslate2", reason="CTranslate2 is not installed")
    model, _, cfg = build(prepared.data, "syntax_transformer", *options)
    path = save_checkpoint(tmp_path / "model.pt", enlarge(model, 2.0), cfg)
    message = refused_export(path, prepared.data, "ctranslate2", tmp_path / "out")
    assert named in message
    assert "--to fairseq" in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arch", sorted(EXPORTABLE))
def test_what_an_engine_knows(arch, folder):
    model, _, cfg = build(folder, arch)
    assert feature_in_the_way(model, cfg.model) is None


@pytest.mark.parametrize(
    ("arch", "option", "said"),
    [
        *((arch, None, "--") for arch in sorted(BASES - EXPORTABLE)),
        ("syntax_transformer", "--local-attention-window=2", "--local-attention-window 2"),
        ("syntax_transformer", "--position-bias=alibi", "--position-bias alibi"),
        ("syntax_transformer", "--latent-phrase-layers=1", "--latent-phrase-layers 1"),
        ("syntax_transformer", "--phrase-segmentation=ngram", "--phrase-segmentation ngram"),
    ],
)
def test_what_no_engine_knows_is_named_with_what_translates(arch, option, said, folder, tmp_path):
    model, _, cfg = build(folder, arch, *([option] if option else []))
    path = save_checkpoint(tmp_path / "model.pt", model, cfg)
    message = refused_export(path, folder, "fairseq", tmp_path / "out")
    assert str(path) in message
    assert said in message
    if option or arch == "pascal_transformer":
        assert ("--parser-config" in message) == (option is None)
    assert not [name for name in tmp_path.iterdir() if "out" in name.name]


def test_mistakes(trained, prepared, tmp_path, monkeypatch):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    message = refused_export(trained[0], prepared.folder, "fairseq", tmp_path / "full")
    assert str(tmp_path / "full") in message
    more = ("--quantization", "int8")
    message = refused_export(trained[0], prepared.folder, "fairseq", tmp_path / "out", *more)
    assert "--quantization" in message
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    monkeypatch.setitem(sys.modules, "ctranslate2.converters", None)
    message = refused_export(trained[0], prepared.folder, "ctranslate2", tmp_path / "out")
    assert "syntax-nmt[export]" in message
    assert not (tmp_path / "out").exists()


def test_a_data_folder_without_segmentation_takes_pieces(
    trained, prepared, pieces, tmp_path, capsys
):
    pytest.importorskip("ctranslate2", reason="CTranslate2 is not installed")
    data = tmp_path / "data"
    data.mkdir()
    for name in ("dict.src.txt", "dict.tgt.txt"):
        (data / name).write_bytes((prepared.data / name).read_bytes())
    export(trained[0], data, "ctranslate2", tmp_path / "out")
    assert "--segmented" in capsys.readouterr().out
    text = pieces.read_text("utf-8")
    line = (TRANSLATE, "--segmented", tmp_path / "out")
    assert len(succeed(*line, stdin=text).stdout.splitlines()) == len(text.splitlines())


def test_what_a_killed_export_left_is_used_again(tmp_path):
    """And a running one is not disturbed."""
    (tmp_path / ".out.unfinished" / "folder").mkdir(parents=True)
    (tmp_path / ".out.unfinished" / "model.bin").write_text("half")
    with new_folder(tmp_path / "out") as unfinished:
        assert not any(unfinished.iterdir())
        with (
            pytest.raises(UserError, match="another process writes there"),
            new_folder(tmp_path / "out"),
        ):
            pass
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("more", [(), ("--quantization", "int8")])
def test_all_that_an_export_makes_is_in_the_folder_that_it_locks(
    trained, prepared, tmp_path, monkeypatch, more
):
    """So that nothing stays of a killed one, and nobody else comes in."""
    pytest.importorskip("ctranslate2", reason="CTranslate2 is not installed")
    output = tmp_path / "out"
    made = []

    def difference(*_):
        with pytest.raises(UserError, match="another process writes there"), new_folder(output):
            pass
        made.extend(path.name for path in tmp_path.iterdir())
        return 0.0

    monkeypatch.setattr(ctranslate2_model, "_difference", difference)
    export(trained[0], prepared.folder, "ctranslate2", output, *more)
    assert made == [".out.unfinished"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert not any(path.is_dir() for path in output.iterdir())
    assert not (output / "model.pt").exists()


def test_an_output_that_is_a_loop_of_links_is_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(UserError, match="a: cannot be written"), new_folder(tmp_path / "a"):
        pass


def test_an_output_that_is_a_link_stays_one(tmp_path):
    """To an empty folder, perhaps on another disk, or to one that is to be made."""
    (tmp_path / "empty").mkdir()
    for target in ("empty", "deep/new"):
        link = tmp_path / f"link to {Path(target).name}"
        link.symlink_to(target)
        with new_folder(link) as unfinished:
            (unfinished / "model").touch()
        assert link.is_symlink()
        assert [path.name for path in (tmp_path / target).iterdir()] == ["model"]


def test_a_link_in_the_way_keeps_what_it_leads_to(tmp_path):
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "theirs").write_text("kept")
    (tmp_path / ".new.unfinished").symlink_to("others")
    with pytest.raises(UserError, match=r"\.new\.unfinished, .*, is a link: remove it"):
        new_folder(tmp_path / "new").__enter__()
    assert (tmp_path / "others" / "theirs").read_text() == "kept"


def test_an_empty_folder_that_is_there_stays(tmp_path, monkeypatch):
    """A shell may stand in it, for which `.` is another place as soon as it is replaced."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with new_folder(Path(".")) as unfinished:
        (unfinished / "model.pt").write_text("all")
        (unfinished / "part").mkdir()
    assert sorted(os.listdir(".")) == ["model.pt", "part"]
    assert os.listdir("..") == ["empty"]


def test_where_a_path_leads_is_looked_at_before_anything_is_written(tmp_path):
    (tmp_path / "sub").mkdir()
    with pytest.raises(UserError, match="already exists: give a new folder"):
        new_folder(tmp_path / "sub" / ".." / "missing" / "..").__enter__()
