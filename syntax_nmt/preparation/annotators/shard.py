"""The share of a text that one job of several works on, as torchrun and Slurm number them."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from syntax_nmt.errors import UserError


@dataclass(frozen=True)
class Shard:
    """One of several jobs that work on the same text: it does every `count`-th part.

    Attributes:
        index: from 0.
        count: how many jobs there are.
    """

    index: int = 0
    count: int = 1

    def holds(self, number: int) -> bool:
        """Whether a part is this job's.

        Args:
            number: of the part, from 0.
        """
        return number % self.count == self.index


def find_shard(
    num_shards: int | None, shard_id: int | None, environment: Mapping[str, str] | None = None
) -> Shard:
    """The shard that the options name, or the environment where they are silent.

    torchrun's `RANK` and `WORLD_SIZE` are read; without them those of Slurm: the array
    (`SLURM_ARRAY_TASK_ID`) and within each of its jobs the task that srun started (`SLURM_PROCID`,
    `SLURM_STEP_NUM_TASKS`). How many shards there are is told by the environment, too; with
    `--num-shards` single tasks of an array can be started again.

    Args:
        num_shards: `--num-shards`.
        shard_id: `--shard-id`, from 0.
        environment: the process's own by default.

    Raises:
        UserError: the numbers do not go together.
    """
    known = os.environ if environment is None else environment
    if shard_id is not None and num_shards is None:
        raise UserError(f"--shard-id {shard_id}: give --num-shards, too")
    if num_shards == 1 and shard_id is None:
        return Shard()
    index = _index(known) if shard_id is None else shard_id
    if index is None:
        if num_shards is None:
            return Shard()
        raise UserError(f"--num-shards {num_shards}: give --shard-id, too, counted from 0")
    count = _count(known) if num_shards is None else num_shards
    if not 0 <= index < count:
        raise UserError(
            f"shard {index} of {count}: shards are counted from 0 to {count - 1}: check "
            "--num-shards and --shard-id, or how torchrun or Slurm number the jobs"
        )
    return Shard(index, count)


def _index(environment: Mapping[str, str]) -> int | None:
    """The number of this job; None if it is the only one."""
    if "RANK" in environment:
        return _number(environment, "RANK")
    tasks = _tasks(environment)
    if "SLURM_ARRAY_TASK_ID" not in environment and tasks == 1:
        return None
    # Outside of srun a job's own script has a number, too, but no step.
    task = _number(environment, "SLURM_PROCID") if tasks > 1 else 0
    return _number(environment, "SLURM_ARRAY_TASK_ID") * tasks + task


def _count(environment: Mapping[str, str]) -> int:
    """How many jobs there are.

    Raises:
        UserError: an array does not begin at 0, or has gaps: its numbers do not tell.
    """
    if "RANK" in environment:
        return _number(environment, "WORLD_SIZE", 1)
    count = _number(environment, "SLURM_ARRAY_TASK_COUNT", 1)
    first = _number(environment, "SLURM_ARRAY_TASK_MIN")
    last = _number(environment, "SLURM_ARRAY_TASK_MAX", count - 1)
    if (first, last) != (0, count - 1):
        raise UserError(
            f"a Slurm array of {count} tasks from {first} to {last} does not tell how many shards "
            "there are: give --num-shards"
        )
    return count * _tasks(environment)


def _tasks(environment: Mapping[str, str]) -> int:
    return _number(environment, "SLURM_STEP_NUM_TASKS", 1)


def _number(environment: Mapping[str, str], name: str, default: int = 0) -> int:
    return int(environment.get(name, default))


def merge_command(shard: Shard, text: Path, output: Path) -> str:
    """A line that says what to do when all jobs are done.

    Args:
        shard: the one that is done.
    """
    command = shlex.join(["syntax-nmt", "merge", "--input", str(text), "--output", str(output)])
    return f"shard {shard.index} of {shard.count} is done; when all are: {command}"
