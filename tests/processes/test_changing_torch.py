"""PyTorch's operators that write into their arguments: no call of one gets what another has left."""

from __future__ import annotations

import json
from pathlib import Path

from tests.in_environment import printed

SCRIPT = Path(__file__).with_name("changing_torch.py")
#: Of 1,435 overloads that PyTorch 2.13 says to write into a tensor; the others are internal, or find no arguments.
CALLED = 950


def test_every_call_of_an_overload_that_writes_gets_its_inputs_as_they_were_made() -> None:
    report = json.loads(printed("torch", SCRIPT))
    assert (report["unmarked"], report["wrong"]) == ([], [])
    assert report["called"] >= CALLED, report
