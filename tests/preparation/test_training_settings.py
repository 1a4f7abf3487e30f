"""Training lines by the number of pairs: every number, and what docs/training.md says."""

import math
from pathlib import Path

import pytest
from fairseq import options

from syntax_nmt.preparation.training_settings import default_vocabulary, training_settings

PAIRS = (1_000, 6_000, 29_000, 160_000, 4_500_000)
PAGE = Path(__file__).resolve().parents[2] / "docs/training.md"


@pytest.mark.parametrize("gpu", [False, True])
def test_the_warm_up_is_short_for_every_number_of_pairs(gpu):
    numbers = [*range(1, 20_000, 7), *range(20_000, 1_100_000, 997), 4_500_000, 10**8]
    for pairs in numbers:
        settings = training_settings(pairs, gpu)
        tokens_of_an_update = settings.max_tokens * settings.update_freq
        updates = math.ceil(25 * pairs / tokens_of_an_update) * settings.epochs
        assert 1 <= settings.warmup <= updates / 4
        assert updates >= 700
        assert settings.epochs // settings.validate_interval >= 8
        assert settings.epochs % settings.validate_interval == 0  # the last epoch is validated
        assert settings.gpu == gpu
        assert 1 <= default_vocabulary(pairs) <= 8000


def test_larger_corpora_have_no_fewer_pieces_and_take_longer():
    sizes = [training_settings(pairs, False) for pairs in (1_000, 6_000, 29_000)]
    assert [round(settings.minutes) for settings in sizes] == sorted(
        round(settings.minutes) for settings in sizes
    )
    pieces = [default_vocabulary(pairs) for pairs in range(1, 40_000, 100)]
    assert pieces == sorted(pieces)


@pytest.mark.parametrize("pairs", [100, 1_000, 6_000, 29_000, 160_000, 4_500_000])
@pytest.mark.parametrize("gpu", [False, True])
def test_fairseq_takes_the_options(pairs, gpu):
    settings = training_settings(pairs, gpu)
    arguments = ["data", "--task", "syntax_translation", *settings.size.options]
    arguments += settings.options()
    arguments += ["--arch", f"syntax_transformer{settings.size.suffix}"]
    chosen = options.parse_args_and_arch(options.get_training_parser(), arguments)
    assert chosen.warmup_updates == settings.warmup
    assert chosen.cpu != gpu
    assert chosen.decoder_embed_dim == chosen.encoder_embed_dim


def test_the_page_has_the_table():
    assert page_table() in PAGE.read_text(encoding="utf-8")


def page_table() -> str:
    """The rows of the page's table."""
    rows = []
    for pairs in PAIRS:
        cpu, gpu = training_settings(pairs, False), training_settings(pairs, True)
        rows.append(
            f"| {pairs:,} | {default_vocabulary(pairs):,} | {_size(cpu)} | "
            f"{_both(cpu.max_tokens * cpu.update_freq, gpu.max_tokens * gpu.update_freq)} | "
            f"{_both(cpu.warmup, gpu.warmup)} | {_both(cpu.dropout, gpu.dropout)} | "
            f"{cpu.epochs}{_time(cpu.minutes)} | {gpu.epochs} |"
        )
    return "\n".join(rows)


def _both(cpu: float, gpu: float) -> str:
    return f"{cpu:,}" if cpu == gpu else f"{cpu:,}, GPU {gpu:,}"


def _size(settings) -> str:
    size = settings.size
    if size.width is None:
        return f"`{size.suffix}`"
    suffix = f"`{size.suffix}`, " if size.suffix else ""
    return f"{suffix}width {size.width}, {size.layers}+{size.layers} layers"


def _time(minutes: float) -> str:
    return f" ({max(1, round(minutes))} minutes)" if minutes else ""
