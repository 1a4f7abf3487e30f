"""Linguistic features as source factors of CTranslate2: the same translations of typed text."""

import json
import shutil
from argparse import Namespace

import pytest
import torch
from parsing_stand_in import MODELS, TAGS, parsing
from small_models import build, enlarge, fill_zeros, save_checkpoint
from translations import refused

from syntax_nmt import load
from syntax_nmt.backbone.source_factors import places
from syntax_nmt.cli import main
from syntax_nmt.data.subwords import pieces_per_word
from syntax_nmt.errors import UserError
from syntax_nmt.export.factored_text import FactoredText, beside
from syntax_nmt.export.translate import translations

pytest.importorskip("ctranslate2", reason="CTranslate2 is not installed")

NAMES = "upos,deprel,subword"
SHARED = "--share-all-embeddings"
MERGES = {
    "sum": (SHARED, "--encoder-normalize-before", "--decoder-normalize-before"),
    "concat": ("--feature-merge=concat", "--feature-dims=3,2,2"),
    "concat, target tied": (
        *("--feature-merge=concat", "--feature-dims=3,2,2", "--share-decoder-input-output-embed"),
    ),
    "overwrite": ("--feature-merge=overwrite", "--feature-dims=3,2,2", SHARED),
    "place alone": ("--source-features=subword", SHARED, "--layernorm-embedding"),
}


@pytest.fixture(scope="module", params=MERGES)
def system(request, prepared, tmp_path_factory):
    """A prepared folder with a parser's configuration, a checkpoint, and what was exported."""
    folder = tmp_path_factory.mktemp("factors")
    options = (f"--source-features={NAMES}", "--max-target-positions=20", *MERGES[request.param])
    model, _, cfg = build(prepared.data, "feature_transformer", *options)
    path = save_checkpoint(folder / "model.pt", fill_zeros(enlarge(model, 1.5)), cfg)
    data = folder / "prepared"
    data.mkdir()
    for part in ("data-bin", "segmentation.json", "sentencepiece.model"):
        (data / part).symlink_to(prepared.folder / part)
    with parsing(data):
        export(path, data, folder / "exported")
    return data, path, folder / "exported"


def export(path, data, output, engine="ctranslate2", *more):
    command = ["export", path, "--data", data, "--to", engine, "--output", output, *more]
    main([str(part) for part in command])


def options_of(folder, **changed):
    """The command line's."""
    usual = {"beam": 1, "segmented": False, "device": "cpu", "threads": 1, "parser_config": None}
    return Namespace(folder=folder, **{**usual, **changed})


def test_greedy_translations_of_typed_text(system, prepared):
    """Those of `syntax_nmt.load`, with the same parser."""
    data, path, exported = system
    lines = (prepared.corpus / "test.src").read_text("utf-8").splitlines()
    lines += ["", "\u2603 unknown words", "lo lo " * 20]  # the last has no parse
    with parsing(data):
        model = load(path, data, device="cpu")
        expected = model.translate(lines, beam=1, max_len_a=0, max_len_b=200)
        assert list(translations(lines, options_of(exported))) == expected
    assert len(set(expected)) > 10


def test_the_exported_folder(system):
    _, _, exported = system
    config = json.loads((exported / "config.json").read_text())
    assert config["source_subwords"] == "sentencepiece"
    assert set(config["source_factors"]) <= {"upos", "deprel", "place"}
    for place, name in enumerate(config["source_factors"], start=2):
        values = json.loads((exported / f"source_{place}_vocabulary.json").read_text())
        assert {"</s>", "<unk>", "<none>"} <= set(values)
        assert len(set(values)) == len(values)
        if name == "place":
            assert {"O", "B", "I", "E"} <= set(values)


def test_quantised(system, tmp_path):
    data, path, exported = system
    with parsing(data):
        export(path, data, tmp_path / "small", "ctranslate2", "--quantization", "int8")
        small, whole = ((x / "model.bin").stat().st_size for x in (tmp_path / "small", exported))
        assert small < whole
        assert all(translations(["lo dostam"], options_of(tmp_path / "small")))


def test_a_wrong_table_is_noticed(prepared, tmp_path, monkeypatch):
    """Which the comparison of log-probabilities is for."""
    from syntax_nmt.methods.linguistic_features.extension import SourceFeatures

    model, _, cfg = build(prepared.data, "feature_transformer", f"--source-features={NAMES}")
    path = save_checkpoint(tmp_path / "model.pt", enlarge(model, 1.5), cfg)
    right = SourceFeatures._factor

    def wrong(self, name, table):
        return right(self, name, torch.roll(table, 1, 0) if name == "deprel" else table)

    monkeypatch.setattr(SourceFeatures, "_factor", wrong)
    message = refused("export", path, "--data", prepared.folder, "--to", "ctranslate2",
                      "--output", tmp_path / "out")  # fmt: skip
    assert "log-probabilities differ from fairseq's" in message
    assert not (tmp_path / "out").exists()


def test_stock_fairseq_has_no_factors(prepared, tmp_path):
    model, _, cfg = build(prepared.data, "feature_transformer", f"--source-features={NAMES}")
    path = save_checkpoint(tmp_path / "model.pt", model, cfg)
    message = refused("export", path, "--data", prepared.folder, "--to", "fairseq",
                      "--output", tmp_path / "out")  # fmt: skip
    assert "--source-features" in message
    assert "fairseq does not know: give --to ctranslate2" in message


def test_features_beside_what_no_engine_knows(prepared, tmp_path):
    options = (f"--source-features={NAMES}", "--parent-scaled-layer=0")
    model, _, cfg = build(prepared.data, "feature_transformer", *options)
    path = save_checkpoint(tmp_path / "model.pt", model, cfg)
    message = refused("export", path, "--data", prepared.folder, "--to", "ctranslate2",
                      "--output", tmp_path / "out")  # fmt: skip
    assert "--parent-scaled-layer 0, which no other engine knows" in message


def test_the_printed_command_names_what_is_missing(prepared, tmp_path, capsys):
    model, _, cfg = build(prepared.data, "feature_transformer", f"--source-features={NAMES}")
    path = save_checkpoint(tmp_path / "model.pt", model, cfg)
    export(path, prepared.folder, tmp_path / "without")
    assert f"translate --parser-config FILE {tmp_path / 'without'} <" in capsys.readouterr().out
    shutil.copytree(prepared.folder, tmp_path / "prepared")
    with parsing(tmp_path / "prepared"):
        export(path, tmp_path / "prepared", tmp_path / "with")
    assert f"translate {tmp_path / 'with'} <" in capsys.readouterr().out


def test_where_a_parser_is_needed(system, tmp_path):
    _, _, exported = system
    folder = shutil.copytree(exported, tmp_path / "copy")
    reads = "upos" in json.loads((folder / "config.json").read_text())["source_factors"]
    (folder / "parser.json").unlink()
    if not reads:
        assert list(translations(["lo"], options_of(folder)))
        return
    with pytest.raises(
        UserError, match=r"reads upos, deprel of the source: give .*--parser-config"
    ):
        list(translations(["lo"], options_of(folder)))
    with parsing(tmp_path / "parser") as (_, config):
        assert list(translations(["lo"], options_of(folder, parser_config=config)))
        (tmp_path / "parser" / MODELS[0]).unlink()
        with pytest.raises(UserError, match=rf"parser\.json: no Stanza models .*{MODELS[0]}"):
            list(translations(["lo"], options_of(folder, parser_config=config)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source_factors": 5}, "source factors are damaged: export again"),
        ({"source_factors": ["colour"]}, "source factor 'colour' is unknown"),
        ({"source_subwords": "other"}, "source factors are damaged: export again"),
    ],
)
def test_damaged_folders(system, tmp_path, change, message):
    _, _, exported = system
    folder = shutil.copytree(exported, tmp_path / "copy")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **change}))
    with pytest.raises(UserError, match=message):
        list(translations(["lo"], options_of(folder)))


@pytest.mark.parametrize(("counts", "expected"), [([1, 2, 3, 4], "O B E B I E B I I E"), ([], "")])
def test_places(counts, expected):
    assert places(counts) == expected.split()


def test_values_beside_pieces(tmp_path):
    """The separator in a piece makes it unknown, and one in a value makes that unknown."""
    assert beside(["a", "b￨c"], [["X", "Y"], ["1", "2"]]) == ["a￨X￨1", "<unk>￨Y￨2"]
    with parsing(tmp_path) as (_, config):
        found = FactoredText(["upos", "place"], "sentencepiece", ["▁a", "b"], config)
        sentences = [["▁a", "b", "▁a"], [], ["▁a", "x", "▁new", "▁a"]]
        assert found.annotated(sentences) == [
            [f"▁a￨{TAGS[0]}￨B", f"b￨{TAGS[0]}￨E", f"▁a￨{TAGS[1]}￨O"],
            [],
            # Unknown pieces have lost their marks for the model, but not for the parser.
            [f"▁a￨{TAGS[0]}￨B", f"x￨{TAGS[0]}￨I", f"▁new￨{TAGS[1]}￨E", f"▁a￨{TAGS[0]}￨O"],
        ]
        assert pieces_per_word(["▁a", "x", "▁new", "▁a"], "sentencepiece", "") == [2, 1, 1]
