"""The share of a text that one job of several works on."""

from __future__ import annotations

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


def find_shard(num_shards: int | None, shard_id: int | None) -> Shard:
    """The shard that the options name; the whole work where they are silent.

    Args:
        num_shards: `--num-shards`.
        shard_id: `--shard-id`, from 0.

    Raises:
        UserError: the numbers do not go together.
    """
    if num_shards is None and shard_id is None:
        return Shard()
    if num_shards is None or shard_id is None:
        raise UserError("--num-shards and --shard-id: give both; shards are counted from 0")
    if not 0 <= shard_id < num_shards:
        raise UserError(
            f"shard {shard_id} of {num_shards}: shards are counted from 0 to {num_shards - 1}: "
            "check --num-shards and --shard-id"
        )
    return Shard(shard_id, num_shards)
