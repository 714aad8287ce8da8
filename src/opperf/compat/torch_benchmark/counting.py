"""What `collect_callgrind` counts, and of it the number that `--clock instructions` reports.

PyTorch's own collection runs the statement under Valgrind, in a process that imports PyTorch anew. Its sums change from
run to run with what the allocator looked through. So the file that callgrind wrote is read once more, by opperf's rule:
a call of an allocator counts as a fixed number of instructions.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from torch.utils import benchmark

from opperf.child.measure.instructions import spelled, total


@dataclass(repr=False, eq=False, frozen=True)
class InstructionStats(benchmark.CallgrindStats):  # type: ignore[misc]  # what reads PyTorch's takes it
    """PyTorch's counts by function, and `instructions`: those of one call by opperf's rule, without the loop's own.

    None where callgrind's file does not say.
    """

    instructions: float | None = None

    def __repr__(self) -> str:
        lines = [str(super().__repr__())]
        if self.instructions is not None:
            lines.append(f"{self.instructions:.0f} instructions a call, by opperf's rule for allocators")
        return "\n".join(lines)

    def as_standardized(self) -> InstructionStats:
        """Strip what differs between two builds from the names of functions."""
        return _stats(super().as_standardized(), self.instructions)


def counted(stats: benchmark.CallgrindStats, *, retains_file: bool) -> InstructionStats:
    """Read the file that comes with counts, and drop it unless it is asked for."""
    text = stats.stmt_callgrind_out
    executed, loop = None if text is None else total(spelled(text)), stats.baseline_exclusive_stats.sum()
    own = stats if retains_file else replace(stats, stmt_callgrind_out=None)
    return _stats(own, None if executed is None else max(0.0, (executed - loop) / stats.number_per_run))


def _stats(stats: benchmark.CallgrindStats, instructions: float | None) -> InstructionStats:
    own = {field.name: getattr(stats, field.name) for field in fields(benchmark.CallgrindStats)}
    return InstructionStats(**own, instructions=instructions)
