"""A child under Valgrind's callgrind that counts instructions, and the instruction set that both clocks measure.

Valgrind has no AVX-512. A library that chooses its kernels by the processor would count one and time another, so every
child of such a run is told to leave AVX-512 alone. Counts of hardware counters would be of the kernels that run here,
but they are another number on each processor, and virtual machines hide them; those of Valgrind are the same anywhere.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from opperf.domain.errors import InputError, OperatorFailure, OpperfError
from opperf.domain.files.destination import ScratchFolder
from opperf.domain.measurement import Measurement, Quantity
from opperf.domain.message.replies import Instructions, Preparation
from opperf.domain.message.requests import CountInstructions, Prepare
from opperf.domain.plan import COUNTING, EXTRA_CALLS, INSTRUCTIONS, LAYOUT_BYTES, UNCHECKED, Settings, Side, Trial
from opperf.domain.reason import Reason, Warning
from opperf.parent.documents.comparison import PairValue
from opperf.parent.workers.other_work import other_work
from opperf.parent.workers.package import cache_folder, ensure_folder
from opperf.parent.workers.pair import Pair
from opperf.parent.workers.process import START_TIMEOUT, Launch, Worker
from opperf.parent.workers.rounds import Patience
from opperf.parent.workers.starting import start

#: What keeps libraries from AVX-512: PyTorch, NumPy, OpenBLAS, MKL, oneDNN by either of its names, and XLA.
NO_AVX512 = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4",
    "OPENBLAS_CORETYPE": "Haswell",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "DNNL_MAX_CPU_ISA": "AVX2",
    "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
}
#: The order of dictionaries and sets decides how many steps a look-up takes.
REPEATABLE = {"PYTHONHASHSEED": "0"}
#: What is allocated ahead of what is counted, so that a freed result does not lie at the end of the heap.
AHEAD_BYTES = 1
#: How many times as long a child may take under Valgrind: most of its start is spent on translating code.
SLOWER = 10
#: What the processor's flags call each set of vectors, widest first.
SETS = {"avx512f": "avx512", "avx2": "avx2", "avx": "avx", "sse2": "sse2", "asimd": "neon"}


def check(sides: Iterable[Side]) -> None:
    """Raise `InputError` where instructions of these sides cannot be counted on this machine."""
    sides = [*sides]
    measured = [side for side in sides if side.framework != "null"]
    device = next((side.device for side in measured if side.device != "cpu"), None)
    if device is not None:
        raise InputError(
            f"`--clock instructions` counts the instructions of a CPU, but a side is on `{device}`",
            hint="measure on `--device cpu`, or leave out `--clock instructions`",
            slug="no_counts",
        )
    if any(side.extra_calls for side in sides):
        raise InputError(
            "extra calls take time, and `--clock instructions` counts a single call",
            hint=f"leave out `{EXTRA_CALLS}` or `--clock instructions`",
        )
    if measured and shutil.which("valgrind") is None:
        raise InputError(
            "`--clock instructions` needs Valgrind, and there is no `valgrind` here",
            hint="install it with its headers: `apt-get install valgrind`",
            slug="no_valgrind",
        )


def variables(settings: Settings) -> Mapping[str, str]:
    """Return the environment variables that every child of a run gets."""
    if settings.clock != INSTRUCTIONS or native_set(flags()) != "avx512":
        return {}
    return NO_AVX512


def flags(path: Path = Path("/proc/cpuinfo")) -> frozenset[str]:
    """Return the processor's flags, none where the system does not tell."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return frozenset()
    return frozenset(next((line for line in lines if line.startswith(("flags", "Features"))), "").split())


def native_set(names: Iterable[str]) -> str:
    """Return the widest vectors of a processor with these flags."""
    names = frozenset(names)
    return next((word for name, word in SETS.items() if name in names), "unknown")


class Counter:
    """A child that counts what the trials of a side execute. Close it with its side."""

    def __init__(
        self,
        side: Side,
        settings: Settings,
        progress: Callable[[str], None],
        plugins: Sequence[Path] = (),
        *,
        layout: int = 0,
    ) -> None:
        """Start it, and do not wait: importing a framework takes its time under Valgrind.

        Equal `layout`s place the child's memory alike, different ones do not.
        """
        self._settings = settings
        self._folder = ScratchFolder("counts")
        self._files = self._folder.path / "counts"
        try:
            self.worker, _ = start(
                side,
                Launch(
                    cpus=settings.cpus,
                    plugins=plugins,
                    variables={**REPEATABLE, **NO_AVX512, COUNTING: "1" * (1 + layout * LAYOUT_BYTES)},
                    under=() if side.framework == "null" else self._command(),
                ),
                progress=progress,
                sharing=2,
                greet=False,
                compile_cache=settings.compile_cache,
            )
        except BaseException:
            self._folder.close()
            raise
        self._greeted = False
        #: What the child said of the trial that was counted last.
        self.preparation: Preparation | None = None

    def _command(self) -> list[str]:
        return [
            *("valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", "--dump-line=no"),
            *("--compress-strings=no", "--compress-pos=no"),
            f"--callgrind-out-file={self._files}",
        ]

    @property
    def alive(self) -> bool:
        """Whether the child can be asked."""
        return self.worker.alive

    def greet(self) -> None:
        """Wait until the framework is imported."""
        self.worker.greet(SLOWER * START_TIMEOUT)
        self._greeted = True

    def count(self, trial: Trial) -> Instructions:
        """Count what one call of a trial executes; raises `OperatorFailure` and `WorkerFailure`."""
        settings, timeout = self._settings, SLOWER * self._settings.timeout
        if not self._greeted:
            self.greet()
        request = Prepare(trial, settings.seed, UNCHECKED, AHEAD_BYTES, settings.memory_limit, results=True)
        libraries = ensure_folder(cache_folder() / "loops")
        with self.worker.prepared(request, timeout) as self.preparation:
            counting = CountInstructions(self.preparation.handle, str(libraries), str(self._files))
            return self.worker.ask(counting, timeout)

    def close(self) -> None:
        """End the child, and remove its files."""
        self.worker.close() if self._greeted else self.worker.kill()
        self._folder.close()


def with_instructions(measurement: Measurement, settings: Settings, count: Callable[[], Instructions]) -> Measurement:
    """Return a measurement with the instructions of a call; without them it says why."""
    try:
        counted = count()
    except OpperfError as error:
        reason = error.reason if isinstance(error, OperatorFailure) else Reason(error.slug, error.message, error.hint)
        text = f"instructions are not counted: {reason.message}"
        return replace(measurement, warnings=(*measurement.warnings, Warning(reason.slug, text, reason.hint)))
    return replace(
        measurement,
        metrics={**measurement.metrics, "instructions": Quantity(counted.per_call, "callgrind")},
        facts={**measurement.facts, "instructions": fact(counted, settings)},
    )


def fact(counted: Instructions, settings: Settings) -> dict[str, object]:
    """Return the fact of a count on a record: how it was taken, and with which instruction set."""
    native = native_set(flags())
    return {
        "spread": counted.spread,
        "calls": counted.calls,
        "rounds": counted.rounds,
        "instruction_set": counted.instruction_set,
        "native_instruction_set": native,
        "timed_instruction_set": "avx2" if variables(settings) else native,
    }


class CountingDuel(Pair):
    """A pair that is counted."""

    def __init__(
        self,
        base: Side,
        new: Side,
        settings: Settings,
        progress: Callable[[str], None],
        *,
        layout: int,
        plugins: Sequence[Path] = (),
    ) -> None:
        """Start both at once; nothing is timed."""
        self._counters: list[Counter] = []
        try:
            for side in (base, new):
                self._counters.append(Counter(side, settings, progress, plugins, layout=layout))
            for counter in self._counters:
                counter.greet()
        except BaseException:
            self.close()
            raise

    @property
    def workers(self) -> Sequence[Worker]:
        """The children of base and new."""
        return [counter.worker for counter in self._counters]

    def compare(self, base: Trial, new: Trial, patience: Patience | None = None) -> PairValue:
        """Count one case on both sides, which needs no patience; raises `OperatorFailure` and `WorkerFailure`."""
        counts = []
        for self.turn, trial in enumerate((base, new)):
            counts.append(self._counters[self.turn].count(trial).per_call)
        first, second = ({"instructions": count} for count in counts)
        if min(counts) <= 0:
            reason = "a side executes no instructions"
            return PairValue(None, first, second, 1, reason, INSTRUCTIONS, metric=INSTRUCTIONS)
        prepared, other = (counter.preparation for counter in self._counters)
        warnings = other_work(prepared, other) if prepared and other and base.case == new.case else ()
        ratio = math.log(counts[1] / counts[0])
        return PairValue(ratio, first, second, 1, clock=INSTRUCTIONS, warnings=warnings, metric=INSTRUCTIONS)

    def close(self) -> None:
        """End both children."""
        for counter in self._counters:
            counter.close()
