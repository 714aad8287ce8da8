"""What a process is told that makes calls for a tool which watches it: a file, and not a request over a pipe."""

from __future__ import annotations

from typing import Optional

from opperf.domain.codec import Exact
from opperf.domain.dataclass import dataclass
from opperf.domain.message.own_code import TrialWithCode
from opperf.domain.plan import Side


@dataclass(frozen=True)
class LabeledTrial(Exact):
    """A trial of a batch, and the range in which its calls lie."""

    label: str
    trial: TrialWithCode


@dataclass(frozen=True)
class Batch(Exact):
    """What a process calls that a tool watches, and the file where it leaves what became of each trial."""

    sparse = ("execution_trace",)

    side: Side
    seed: int
    folder: str
    filter: str
    warmup: int
    iterations: int
    outcomes: str
    trials: tuple[LabeledTrial, ...]
    execution_trace: Optional[str] = None
