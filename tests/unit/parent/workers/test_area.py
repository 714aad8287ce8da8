"""An area of shared memory is told from all other memory of a process."""

from __future__ import annotations

import os
import sys
from contextlib import closing

import pytest

from opperf.parent.workers.area import Area

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it shares by what Linux offers")


def test_the_addresses_of_an_area_are_those_of_its_mappings() -> None:
    with closing(Area("one", 8192)) as area, closing(Area("one", 4096)) as other:
        assert area.spans(os.getpid()) == []
        views = [area.map(), area.map(), other.map()]
        assert sorted(len(span) for span in area.spans(os.getpid())) in ([8192, 8192], [16384])
        assert [len(span) for span in other.spans(os.getpid())] == [4096]
        assert not set(area.spans(os.getpid())) & set(other.spans(os.getpid()))
        del views
