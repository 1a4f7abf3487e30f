"""The options of the models that the tests build are those that fairseq makes."""

from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from nonempty import some
from small_models import configuration

COMMANDS = [
    ["--arch", "syntax_transformer", "--max-tokens", "7", "--phrase-segmentation=ngram"],
    ["--arch", "relation_rnn", "--batch-size", "3", "--lr", "0.5", "-s", "src"],
    ["--arch", "relation_rnn", "--optimizer", "adam", "--adam-betas", "(0.9, 0.98)"],
    ["--arch", "rnn_search", "--optimizer", "adam", "--adam-betas", "(0.8, 0.9)"],
]


def test_options_are_those_of_fairseq():
    """Nothing is left of a model's options in those of another."""
    made = []
    for command in COMMANDS:
        parser = options.get_training_parser()
        command = ["data", "--task", "syntax_translation", *command]
        args = options.parse_args_and_arch(parser, command)
        made.append((args, configuration(args)))
    for args, found in some(made):
        assert found == convert_namespace_to_omegaconf(args)
