"""fairseq-validate, fairseq-score, language models and ensembles of different methods."""

import contextlib
import io
import math
import re
import shutil
import sys

import pytest
import sacrebleu
from commands import USER_DIR
from fairseq import options, tasks
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.logging.progress_bar import SimpleProgressBar
from fairseq_cli import score, validate
from methods import METHODS, inputs_of
from prepared_corpus import TEST_SENTENCES
from programs import System
from small_models import save_checkpoint

pytestmark = pytest.mark.dear

QUICK = ("bi_scale_rnn",)
EACH = [pytest.param(m, marks=[] if m in QUICK else pytest.mark.slow) for m in METHODS]
SEARCH = ("--beam", "4", "--max-len-b", "16")
FLOOR = -100  # probabilities that are smaller are lost in float32, in which fairseq adds them up


@pytest.fixture(scope="module", params=EACH)
def system(request, make_system) -> System:
    return make_system(request.param)


def test_validation_loss_is_that_of_the_scored_references(system, monkeypatch):
    """Of each token, in base 2; auxiliary losses are not in it."""
    plugin = ("--user-dir", USER_DIR, "--task", "syntax_translation", "--cpu")
    flags = ("--valid-subset", "test", "--batch-size", "7", "--num-workers", "0")
    flags = (*flags, "--log-format", "simple")
    command = [str(system.data), *plugin, "--path", str(system.path), *flags, *system.inputs]
    arguments = options.parse_args_and_arch(
        options.get_validation_parser(default_task="syntax_translation"), command
    )
    printed = []
    monkeypatch.setattr(SimpleProgressBar, "print", lambda bar, stats, **_: printed.append(stats))
    validate.main(convert_namespace_to_omegaconf(arguments))
    # fairseq-validate loads what training loaded; others must be told.
    told = METHODS[system.method].scores_chunks
    flags = ("--load-chunks",) if told else ()
    scored = system.generate("--score-reference", *flags).tokens.values()
    tokens = [token for lines in scored for line in lines for token in line]
    assert printed[0]["gold_nll_loss" if told else "nll_loss"] == pytest.approx(
        -sum(tokens) / len(tokens), abs=0.01
    )


def test_scores_of_written_translations(system, tmp_path, monkeypatch, capsys):
    """fairseq-score of the files gives what fairseq-generate said; sacreBLEU does without it."""
    printed = system.generate("--beam", "1", "--prefix-size", "6", "--max-len-b", "16")
    files = {}
    for name, kind in (("sys", "H"), ("ref", "T")):
        lines = printed.one(kind)
        files[name] = [lines[n] for n in range(TEST_SENTENCES)]
        text = "".join(f"{line}\n" for line in files[name])
        (tmp_path / name).write_text(text, encoding="utf-8")
    flags = ["--sys", str(tmp_path / "sys"), "--ref", str(tmp_path / "ref")]
    said = re.search(r"BLEU4 = ([\d.]+), [\d./]+ \(BP=[\d.]+", printed.text).group()
    monkeypatch.setattr(sys, "argv", ["fairseq-score", *flags])
    score.cli_main()
    assert float(re.search(r"BLEU4 = ([\d.]+)", said)[1]) > 1
    assert said in capsys.readouterr().out
    flags = ("--beam", "1", "--prefix-size", "6", "--max-len-b", "16", "--scoring", "sacrebleu")
    sacre = system.generate(*flags)
    expected = sacrebleu.corpus_bleu(files["sys"], [files["ref"]]).format()
    assert expected.split(" (")[0] in sacre.text


@pytest.fixture(scope="module")
def language_model(prepared, tmp_path_factory):
    """A data folder with a dictionary for it, and a language model of fairseq's own."""
    folder = tmp_path_factory.mktemp("lm")
    data = shutil.copytree(prepared.data, folder / "data-bin")
    shutil.copy(data / "dict.tgt.txt", data / "dict.txt")
    sizes = ("--decoder-layers", "1", "--decoder-embed-dim", "16", "--decoder-ffn-embed-dim", "16")
    heads = ("--decoder-attention-heads", "2", "--tokens-per-sample", "64")
    command = [str(data), "--task", "language_modeling", "--arch", "transformer_lm", *sizes, *heads]
    args = options.parse_args_and_arch(options.get_training_parser(), command)
    cfg = convert_namespace_to_omegaconf(args)
    model = tasks.setup_task(cfg.task).build_model(cfg.model)
    return data, save_checkpoint(folder / "lm.pt", model, cfg)


def test_a_language_model_helps(system, language_model):
    data, path = language_model
    method = System(system.method, data, system.path)
    plain = method.generate(*SEARCH)
    flags = (*SEARCH, "--lm-path", path, "--lm-weight")
    assert method.generate(*flags, "0").best == plain.best
    weighed = method.generate(*flags, "0.8")
    assert sorted(weighed.best) == list(range(TEST_SENTENCES))
    assert weighed.scores != plain.scores


def neighbour(method: str) -> str:
    """The next method."""
    methods = list(METHODS)
    return methods[(methods.index(method) + 1) % len(methods)]


def test_ensembles_of_different_methods(system, make_system):
    """The probability of a reference's token is the mean of both models'."""
    other = make_system(neighbour(system.method))
    assert other.method != system.method
    both = System(system.method, system.data, f"{system.path}:{other.path}")
    inputs = inputs_of(other.method)
    printed = both.generate(*SEARCH, *inputs, "--nbest", "4", "--print-alignment")
    assert all(len(set(found)) == 4 for found in printed.nbest.values())
    assert sorted(printed.best) == list(range(TEST_SENTENCES))
    together = both.generate("--score-reference", *inputs).tokens
    alone = [each.generate("--score-reference").tokens for each in (system, other)]
    for n, (line,) in together.items():
        for token, *two in zip(line, *(scores[n][0] for scores in alone)):
            mean = sum(2 ** max(score, 10 * FLOOR) for score in two) / 2
            assert max(token, FLOOR) == pytest.approx(max(math.log2(mean), FLOOR), abs=0.02)


def test_phrases_for_one_model_alone(make_system):
    """A model of fairseq's own would not know the argument."""
    first, second = (make_system(m) for m in ("phrase_transformer+parsed", "lstm"))
    both = System(first.method, first.data, f"{first.path}:{second.path}")
    with (
        contextlib.redirect_stdout(io.StringIO()),
        pytest.raises(SystemExit, match=r"^syntax-nmt: error: .*leave the latter out of --path"),
    ):
        both.generate(*SEARCH)
