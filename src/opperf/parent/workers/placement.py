"""The library that lets both children of a pair have their tensors at the same places, compiled once for a machine."""

from __future__ import annotations

import os
import platform
import random
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from opperf.domain.backend import Unsupported
from opperf.domain.errors import OpperfError
from opperf.domain.extension import build
from opperf.domain.plan import DRAWN, PLANNED, Side
from opperf.parent.workers.package import cache_folder, ensure_folder

#: What serves blocks of memory; it calls glibc by names that only glibc has.
SOURCE = Path(__file__).parents[2] / "child" / "measure" / "placement.c"
#: It must be no compiler's idea of `malloc` and `calloc`, and add little to a call; old versions of glibc have `dlsym`
#: and threads apart.
OPTIONS = ("-fno-builtin", "-fno-plt", "-pthread", "-ldl")
#: The variable that loads a library ahead of the C library.
PRELOADED = "LD_PRELOAD"
#: What lies between one place and the next, in bytes, where a child's own allocator places its tensors; and the number
#: of seeds where opperf does. Anything up to sixteen pages, since the low bits of an address decide what conflicts.
OFFSET_BYTES = 64 * 1024


def variables(sides: Iterable[Side]) -> Mapping[str, str]:
    """Return the variables that place the memory of children; none where that of one cannot be, or is left alone.

    All or none: a side whose blocks come from elsewhere than the other's is not compared with it fairly. Who loads a
    library ahead himself may have an allocator of his own, which stays. Devices have memory of their own.
    """
    if not all(_is_placeable(side) for side in sides):
        return {}
    library = _library(cache_folder() / "loops")
    return {} if library is None else {PRELOADED: str(library)}


def together(facts: Iterable[Mapping[str, object]]) -> str:
    """Return how the tensors of children are placed that said this of themselves: one of `PLACEMENTS`."""
    return PLANNED if all(one.get("placement") == PLANNED for one in facts) else DRAWN


def seeds(placement: str, generator: random.Random) -> tuple[int, int]:
    """Return the seeds of the places of base's and new's tensors in the next round: the same where it is planned."""
    base, new = (1 + generator.randrange(OFFSET_BYTES) for _ in range(2))
    return base, base if placement == PLANNED else new


def _is_placeable(side: Side) -> bool:
    own = PRELOADED in os.environ or PRELOADED in side.variables
    return side.framework != "null" and side.device == "cpu" and side.allocator == "fixed" and not own


@cache
def _library(folder: Path) -> Path | None:
    """Return the library; None where the C library is another one, and where nothing can be compiled."""
    if platform.libc_ver()[0] != "glibc":
        return None
    try:
        return build(SOURCE, ensure_folder(folder), options=OPTIONS)
    except (Unsupported, OpperfError):
        return None
