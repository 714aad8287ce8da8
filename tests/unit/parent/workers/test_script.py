"""A script that does not start: no process is."""

from __future__ import annotations

from pathlib import Path

import pytest

from opperf.domain.errors import HarnessError
from opperf.parent.workers.script import run


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(HarnessError) as caught:
        run([f"{tmp_path}/python", "train.py"], {})
    assert str(caught.value).startswith(f"cannot start `{tmp_path}/python`: No such file or directory")
