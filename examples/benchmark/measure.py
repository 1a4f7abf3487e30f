"""Times, memory and operations of systems, side by side."""

import platform
import re
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode
from works import System

Work = Callable[[System], None]


def interleaved(
    work: Work, systems: Sequence[System], repeats: int, device: str
) -> list[list[float]]:
    """Seconds of each system and repeat; the systems take turns.

    What slows the machine so slows all of them. A round before the first does not count, and every
    other round goes backwards. On one thread of a CPU the process's own time is taken, which other
    programs change little, otherwise the clock's.

    Args:
        work: what to time.
        repeats: how often each.
    """
    alone = device == "cpu" and torch.get_num_threads() == 1
    clock = time.process_time if alone else time.perf_counter
    seconds: list[list[float]] = [[] for _ in systems]
    for repeat in range(repeats + 1):
        order = list(zip(systems, seconds))
        for system, taken in order if repeat % 2 else reversed(order):
            start = clock()
            work(system)
            if device == "cuda":
                torch.cuda.synchronize()
            if repeat:
                taken.append(clock() - start)
    return seconds


def summary(seconds: Sequence[float], baseline: Sequence[float], items: int) -> dict[str, Any]:
    """Figures of one system.

    Args:
        seconds: of each repeat.
        baseline: of the system that it is compared with, in the same rounds.
        items: done in one repeat.

    Returns:
        `per_second` and `relative_time`, each a median with `_range`: the lowest and the highest.
    """
    rates = [items / taken for taken in seconds]
    ratios = [taken / of_baseline for taken, of_baseline in zip(seconds, baseline)]
    return {
        "seconds": list(seconds),
        "per_second": statistics.median(rates),
        "per_second_range": [min(rates), max(rates)],
        "relative_time": statistics.median(ratios),
        "relative_time_range": [min(ratios), max(ratios)],
    }


def operations(work: Work, system: System) -> int:
    """Floating-point operations of all matrix products.

    Args:
        work: what to count.
    """
    # Written out as matrix products, attention is counted, too.
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        work(system)
    return counter.get_total_flops()


class _Kernels(TorchDispatchMode):
    """Counts operators that compute: neither views, nor memory, nor questions about types."""

    _FREE = re.compile(r"_record_function|(new_)?empty|promote_types|_unsafe_view|unsafe_split")

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += not func.is_view and self._FREE.match(func.__name__) is None
        return func(*args, **(kwargs or {}))


def kernels(work: Work, system: System) -> int:
    """Operators that compute, each about a kernel of a GPU.

    On a CPU, torch's recurrent networks are some for each step; on a GPU one or two for all steps.

    Args:
        work: what to count; it is done once before.
    """
    work(system)
    with _Kernels() as counter:
        work(system)
    return counter.count


def peak_memory(work: Work, system: System, device: str) -> int:
    """Bytes at the highest point of `work`; on a CPU it must be a process of its own.

    Args:
        work: what to measure.

    Returns:
        by how much it lies above what is in use once the system is built: of torch's tensors on a
        GPU, of the process on a CPU, which must run Linux.
    """
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        built = torch.cuda.memory_allocated()
        work(system)
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - built
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets the peak so far
    work(system)
    return _memory("VmHWM") - before


def processor(device: str) -> str:
    """The name of the GPU or, on Linux, of the CPU."""
    if device == "cuda":
        return torch.cuda.get_device_name()
    named = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return named[1] if named else platform.machine()


def _memory(field: str) -> int:
    """A number of bytes that Linux keeps of this process."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return 1024 * int(line.split()[1])
    raise SystemExit(f"/proc/self/status has no {field}: peak memory is measured on Linux alone")
