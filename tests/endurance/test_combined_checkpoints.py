"""Checkpoints averaged, and models of different methods that translate together."""

import re
from itertools import combinations

import pytest
import torch
from commands import fairseq
from fairseq import options, tasks
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from forked_programs import finished, refused
from methods import COMMON, METHODS, inputs_of
from prepared_corpus import TEST_SENTENCES
from small_models import save_checkpoint

from syntax_nmt.cli import main as syntax_nmt

SEARCH = ("--beam", "2", "--max-len-a", "0", "--max-len-b", "10", *inputs_of(*METHODS))


@pytest.fixture(scope="module")
def untrained(prepared, tmp_path_factory):
    """Gives the path of a checkpoint of a method with random weights."""
    folder = tmp_path_factory.mktemp("untrained")

    def checkpoint(method, seed=1):
        path = folder / f"{method}.{seed}.pt"
        if not path.is_file():
            (_, *arguments) = fairseq("train", prepared.data, *METHODS[method].training, *COMMON)
            parser = options.get_training_parser()
            cfg = convert_namespace_to_omegaconf(
                options.parse_args_and_arch(parser, list(map(str, arguments)))
            )
            torch.manual_seed(seed)
            model = tasks.setup_task(cfg.task).build_model(cfg.model)
            save_checkpoint(path, model, cfg)
        return path

    return checkpoint


def translations(prepared, paths, log, *options):
    """What models translate the test set to."""
    together = ":".join(map(str, paths))
    output = finished(
        fairseq("generate", prepared.data, "--path", together, *SEARCH, *options), log
    )
    found = dict(re.findall(r"^H-(\d+)\t(.*)$", output, flags=re.MULTILINE))
    assert sorted(map(int, found)) == list(range(TEST_SENTENCES))
    return found


def average(untrained, method, folder):
    """Paths of two checkpoints of a method and of their average."""
    paths = [untrained(method, seed) for seed in (1, 2)]
    averaged = folder / "averaged.pt"
    syntax_nmt(["average", *map(str, paths), "--output", str(averaged)])
    return [*paths, averaged]


def test_average_translates(prepared, untrained, tmp_path):
    translations(prepared, average(untrained, "relation_rnn", tmp_path)[2:], tmp_path / "log")


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_averages_of_all_methods_translate(prepared, untrained, method, tmp_path):
    """In another way than what they are the average of."""
    paths = average(untrained, method, tmp_path)
    found = [translations(prepared, [path], tmp_path / "log") for path in paths]
    assert all(one != other for one, other in combinations(found, 2))


def test_all_methods_translate_together(prepared, untrained, tmp_path):
    """Transformers and RNNs, with phrases and without, in one search."""
    translations(prepared, [untrained(method) for method in METHODS], tmp_path / "log")


@pytest.mark.slow
@pytest.mark.parametrize("pair", combinations(METHODS, 2), ids="+".join)
def test_pairs_of_methods_translate_together(prepared, untrained, pair, tmp_path):
    """Whatever their order, and not as one of them alone."""
    paths = [untrained(method) for method in pair]
    one = translations(prepared, paths, tmp_path / "log")
    other = translations(prepared, paths[::-1], tmp_path / "log")
    texts = [[line.split("\t")[1] for line in found.values()] for found in (one, other)]
    assert texts[0] == texts[1]
    assert one not in [translations(prepared, [path], tmp_path / "log") for path in paths]


def test_an_ensemble_without_the_phrases_that_one_needs(prepared, untrained, tmp_path):
    paths = [untrained("syntax_transformer"), untrained("phrase_transformer+parsed")]
    command = fairseq("generate", prepared.data, "--path", ":".join(map(str, paths)))
    assert "--load-phrases" in refused(command, tmp_path / "log")
