"""Two workers train as one process does that takes both their batches (`--update-freq 2`)."""

import copy
import os
import shlex
import sys

import pytest
import torch
import torch.distributed as dist
from commands import fairseq, succeed
from fairseq import options, tasks
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.distributed import ModuleProxyWrapper
from fairseq.trainer import Trainer
from forked_programs import SERVER, finished, redirect
from methods import COMMON, METHODS
from nonempty import some
from torch.nn.parallel import DistributedDataParallel

from syntax_nmt.data.ragged import RaggedArray

pytestmark = pytest.mark.dear

WORKERS = 2
TRAINING = (
    *COMMON, "--optimizer", "sgd", "--lr", "0.1", "--clip-norm", "1.0", "--dropout", "0",
    "--num-workers", "0", "--load-dependencies", "--load-phrases", "--load-chunks",
)  # fmt: skip
# Losses of weight 0: what only they train has gradients all the same.
SILENT_LOSSES = {
    f"{name} without its loss": (name, ("--target-factor-weight", "0"))
    for name in ("factor_transformer", "factor_rnn")
}
TRAINED = (*METHODS, *SILENT_LOSSES)
BATCH = 4  # sentences
LENGTH = 13  # of the longest: short ones are quick
ANNOTATED = 6  # the batches after these are without annotation
# The batches of both workers in each update, by number.
UPDATES = [
    ("both", 0, 1),
    ("the second without annotation", 2, 6),
    ("both without annotation", 7, 8),
    ("the second without a batch", 3, None),
    ("both again", 4, 5),
]


class TorchWrapped(Trainer):
    """The trainer with `--ddp-backend pytorch_ddp` on CPUs, where fairseq names a device of none.

    Everything else is as `fairseq.models.DistributedFairseqModel` has it.
    """

    @property
    def model(self):
        if self._wrapped_model is None:
            settings = self.cfg.distributed_training
            self._wrapped_model = ModuleProxyWrapper(
                DistributedDataParallel(
                    self._model,
                    broadcast_buffers=settings.broadcast_buffers,
                    bucket_cap_mb=settings.bucket_cap_mb,
                    process_group=self.data_parallel_process_group,
                    find_unused_parameters=settings.find_unused_parameters,
                    gradient_as_bucket_view=settings.gradient_as_bucket_view,
                )
            )
        return self._wrapped_model


BACKENDS = {"legacy_ddp": Trainer, "pytorch_ddp": TorchWrapped}


def configuration(data, method):
    """The options of `fairseq-train` on one process."""
    name, more = SILENT_LOSSES.get(method, (method, ()))
    (_, *arguments) = fairseq(
        "train", data, *METHODS[name].training, *METHODS[name].silent, *more, *TRAINING
    )
    args = options.parse_args_and_arch(options.get_training_parser(), list(map(str, arguments)))
    return convert_namespace_to_omegaconf(args)


class Training:
    """A method with its data, to be trained from the same start again and again."""

    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.common.seed)
        self.task = tasks.setup_task(cfg.task)
        self.model = self.task.build_model(cfg.model)
        self.criterion = self.task.build_criterion(cfg.criterion)
        self.start = copy.deepcopy(self.model.state_dict())
        self.task.load_dataset("train", combine=True)
        dataset = self.task.dataset("train")
        self.sentences = [i for i in range(len(dataset)) if dataset.num_tokens(i) <= LENGTH]
        bare = set(self.sentences[ANNOTATED * BATCH :])
        for annotation in dataset.annotations:
            object.__setattr__(annotation, "rows", without_annotation(annotation.rows, bare))

    def batch(self, *numbers):
        """Batches by number, as one; {} for that of a worker which has none, as fairseq does."""
        dataset = self.task.dataset("train")
        numbers = [number for number in numbers if number is not None]
        sentences = [i for n in numbers for i in self.sentences[n * BATCH :][:BATCH]]
        return dataset.collater([dataset[i] for i in sentences])

    def train(self, samples_of, kind=Trainer):
        """Gives what is logged and the weights after every update."""
        self.model.load_state_dict(copy.deepcopy(self.start))
        trainer = kind(self.cfg, self.task, self.model, self.criterion)
        trainer.get_train_iterator(epoch=1, load_dataset=False)  # gives the dummy batch
        found = []
        for _, *numbers in UPDATES:
            logs = trainer.train_step(samples_of(*numbers))
            logs = {key: float(value) for key, value in logs.items()}
            found.append((logs, copy.deepcopy(self.model.state_dict())))
        return found


def without_annotation(rows, sentences):
    """Annotation that lacks that of some sentences."""
    return RaggedArray.from_rows(
        [-1] * max(1, len(rows[i])) if i in sentences else rows[i] for i in range(len(rows))
    )


def worker(rank, configurations, folder):
    """What each of two workers does, all methods in one go as starting takes longest."""
    redirect(f"{folder}/{rank}.log")
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=WORKERS)
    found = {}
    for method, cfg in configurations.items():
        cfg.distributed_training.distributed_world_size = WORKERS
        cfg.distributed_training.distributed_rank = rank
        training = Training(cfg)
        for backend, kind in BACKENDS.items():
            cfg.distributed_training.ddp_backend = backend
            found[backend, method] = training.train(
                lambda *numbers, training=training: [training.batch(numbers[rank])], kind
            )
            torch.save(found, f"{folder}/{rank}.pt")
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def configurations(prepared, request):
    """Of the methods that are asked for: `-k` may leave most of them out."""
    chosen = [item for item in request.session.items if item.parent is request.node]
    methods = {item.callspec.params["method"] for item in chosen}
    return {each: configuration(prepared.data, each) for each in TRAINED if each in methods}


@pytest.fixture(scope="module")
def two_workers(configurations, tmp_path_factory):
    folder = tmp_path_factory.mktemp("workers")
    processes = [
        SERVER.Process(target=worker, args=(rank, configurations, str(folder)))
        for rank in range(WORKERS)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=300)
    for rank, process in enumerate(processes):
        process.kill()
        log = (folder / f"{rank}.log").read_text(encoding="utf-8")
        assert process.exitcode == 0, log[-3000:]
    return [torch.load(folder / f"{rank}.pt") for rank in range(WORKERS)]


@pytest.fixture(scope="module")
def one_process(configurations):
    """Gives the same training in this process, of each method."""
    found = {}

    def of(method):
        if method not in found:
            training = Training(configurations[method])
            one = training.batch
            if method in METHODS and METHODS[method].batch_norm:
                found[method] = training.train(lambda *numbers: [one(*numbers)])
            else:
                found[method] = training.train(
                    lambda *numbers: [one(number) for number in numbers if number is not None]
                )
        return found[method]

    return of


@pytest.mark.parametrize("method", TRAINED)
@pytest.mark.parametrize("backend", BACKENDS)
def test_two_workers_are_one(two_workers, one_process, backend, method):
    for worker_s in some(two_workers):
        updates = zip(UPDATES, worker_s[backend, method], one_process(method))
        for (name, *_), (logs, weights), (expected_logs, expected) in updates:
            for key, value in expected.items():
                torch.testing.assert_close(
                    weights[key], value, atol=1e-6, rtol=0, msg=f"{name}: {key}"
                )
            assert logs == pytest.approx(expected_logs, rel=1e-3, abs=2e-3), name


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_command_line(prepared, tmp_path, method):
    """torchrun with two CPU workers, an odd number of batches in each of two epochs."""
    train = (
        *fairseq(
            "train",
            prepared.data,
            *METHODS[method].training,
            *METHODS[method].silent,
            *TRAINING,
            "--disable-validation",
        ),
        *("--max-source-positions", LENGTH, "--max-target-positions", LENGTH, "--batch-size", "8"),
        *("--required-batch-size-multiple", "1", "--max-update", "6"),
    )
    one, two = tmp_path / "one", tmp_path / "two"
    finished((*train, "--update-freq", "2", "--save-dir", one), tmp_path / "log")
    together = (
        *("--distributed-backend", "gloo", "--ddp-backend", "legacy_ddp"),
        *("--distributed-world-size", WORKERS, "--distributed-init-method", "env://"),
        *("--distributed-no-spawn", "--save-dir", two, "--distributed-rank"),
    )
    worker = shlex.join([sys.executable, "-m", *map(str, (*train, *together))]) + " $RANK"
    launch = ("--nproc_per_node", str(WORKERS), "--standalone", "--no-python")
    succeed("torch.distributed.run", *launch, "bash", "-c", worker)
    expected, found = (torch.load(path / "checkpoint_last.pt") for path in (one, two))
    assert found["extra_state"]["train_iterator"] == {
        "version": 2, "epoch": 3, "iterations_in_epoch": 0, "shuffle": True
    }  # fmt: skip
    for name, weight in expected["model"].items():
        if METHODS[method].batch_norm:
            assert found["model"][name].isfinite().all()
        else:
            torch.testing.assert_close(found["model"][name], weight, atol=1e-6, rtol=0, msg=name)
