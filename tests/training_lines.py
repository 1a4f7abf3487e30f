"""What docs/training.md says, made by the code that prints the lines of `prepare`."""

from syntax_nmt.preparation.training_commands import wrapped
from syntax_nmt.preparation.training_settings import default_vocabulary, training_settings

PAIRS = (1_000, 6_000, 29_000, 160_000, 4_500_000)


def page_line(pairs: int, gpu: bool) -> str:
    """The training line of the page."""
    settings = training_settings(pairs, gpu)
    size = settings.size
    words = [
        *("fairseq-train", "prepared/data-bin", "--user-dir", "syntax_nmt"),
        *("--task", "syntax_translation", "--arch", f"dependency_transformer{size.suffix}"),
        *("--load-dependencies", "--criterion", "dependency_cross_entropy"),
        *("--label-smoothing", "0.1", "--share-all-embeddings", *size.options),
        *settings.options(),
        *("--save-dir", "prepared/heads"),
    ]
    first, *rest = wrapped(words).split("\n")
    return "\n".join([first.strip(), *(line[2:] for line in rest)])


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
