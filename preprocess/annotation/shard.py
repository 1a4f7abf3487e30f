"""The share of a text that one job of several works on, as torchrun and Slurm number them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

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
    (`SLURM_ARRAY_TASK_ID`, from `SLURM_ARRAY_TASK_MIN` on, `SLURM_ARRAY_TASK_COUNT`) and within
    each of its jobs the task that srun started (`SLURM_PROCID`, `SLURM_STEP_NUM_TASKS`).

    Args:
        num_shards: `--num-shards`.
        shard_id: `--shard-id`, from 0.
        environment: the process's own by default.

    Raises:
        UserError: the numbers do not go together.
    """
    known = os.environ if environment is None else environment
    if num_shards == 1 and shard_id is None:
        return Shard()
    started = _from_environment(known)
    count = started.count if num_shards is None else num_shards
    if shard_id is None and started.count == 1 < count:
        raise UserError(f"--num-shards {num_shards}: give --shard-id, too, counted from 0")
    index = started.index if shard_id is None else shard_id
    if not 0 <= index < count:
        raise UserError(
            f"shard {index} of {count}: shards are counted from 0 to {count - 1}: check "
            "--num-shards and --shard-id"
        )
    return Shard(index, count)


def _from_environment(environment: Mapping[str, str]) -> Shard:
    if "RANK" in environment and "WORLD_SIZE" in environment:
        return Shard(_number(environment, "RANK"), _number(environment, "WORLD_SIZE"))
    array = Shard(
        _number(environment, "SLURM_ARRAY_TASK_ID") - _number(environment, "SLURM_ARRAY_TASK_MIN"),
        _number(environment, "SLURM_ARRAY_TASK_COUNT", 1),
    )
    tasks = _number(environment, "SLURM_STEP_NUM_TASKS", 1)
    # Outside of srun a job's own script has a number, too, but no step.
    task = _number(environment, "SLURM_PROCID") if tasks > 1 else 0
    return Shard(array.index * tasks + task, array.count * tasks)


def _number(environment: Mapping[str, str], name: str, default: int = 0) -> int:
    value = environment.get(name, str(default))
    if not value.isdecimal():
        raise UserError(f"{name}={value} in the environment is no number: give --shard-id")
    return int(value)
