"""Every row of every table is a command line that fairseq takes, and a model that it builds."""

import pytest

pytest.importorskip("jsonschema", reason="the extra `experiments` is not installed")
from commands import REPOSITORY
from fairseq import options, tasks
from fairseq.dataclass.utils import convert_namespace_to_omegaconf

from experiments.programs import fill
from experiments.table_config import read_table

pytestmark = pytest.mark.dear

# One without --slow: its models are tiny.
TABLES = [
    pytest.param(path, id=path.stem, marks=() if path.stem == "builtin" else pytest.mark.slow)
    for path in sorted((REPOSITORY / "examples/experiments/tables").glob("*.yaml"))
]


@pytest.fixture(scope="module")
def parameters(prepared):
    """Of a command line's model; its criterion is built, too."""

    def count(text):
        given = ["--source-lang", "src", "--target-lang", "tgt", "--save-dir", "none"]
        given = [str(prepared.data), *given, *fill(text, {})]
        parser = options.get_training_parser()
        config = convert_namespace_to_omegaconf(options.parse_args_and_arch(parser, given))
        task = tasks.setup_task(config.task)
        model = task.build_model(config.model)
        task.build_criterion(config.criterion)
        return sum(parameter.numel() for parameter in model.parameters())

    return count


@pytest.mark.parametrize("path", TABLES)
def test_rows_are_models(parameters, path):
    counted = {}
    for family in read_table(path).families:
        points = list(family.settings())
        for name, system in family.systems.items():
            if not system.best_of:
                command = f"{family.training} {points[-1]} {system.options}"
                counted[name] = parameters(command)
    # Controls have as many parameters as what they stand against, within 1 %, whatever the words.
    for control, method in (("stock-wide", "phrase"), ("cgru-wide", "relation")):
        if control in counted:
            assert counted[control] == pytest.approx(counted[method], rel=0.01)
