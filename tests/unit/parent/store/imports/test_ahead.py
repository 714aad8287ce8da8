"""Files that a process beside this one reads: they are what this one would read, and their errors are its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opperf.domain.errors import InputError
from opperf.parent.store.imports.ahead import Ahead
from opperf.parent.store.imports.asv import Folder
from opperf.parent.store.imports.builds import Build


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A folder of three builds, of which the second cannot be read."""
    (tmp_path / "vm").mkdir()
    (tmp_path / "vm" / "machine.json").write_text(json.dumps({"machine": "vm", "cpu": "EPYC"}))
    for number in range(3):
        file = {"commit_hash": f"{number}", "date": 1000 * number, "results": {"time_sum": [[1e-3 + number], []]}}
        (tmp_path / "vm" / f"{number}-py.json").write_text(json.dumps(file) if number != 1 else "{")
    return Folder(tmp_path)


def test_what_is_read_ahead_is_what_is_read_here(folder: Folder) -> None:
    with Ahead(folder, large=0) as ahead, Ahead(folder) as here:
        builds = [ahead.build(number, {}) for number in (0, 2)]
        assert builds == [here.build(number, {}) for number in (0, 2)]
        (first, last) = (build for build in builds if isinstance(build, Build))
        assert (first.version, last.blocks[0].times, last.machine) == ("0", [2.001], {"cpu": "EPYC"})
        with pytest.raises(InputError, match=r"1-py\.json: not JSON") as refusal:
            ahead.build(1, {})
        assert refusal.value.slug == "input"


def test_what_is_there_is_not_read_again(folder: Folder) -> None:
    build = Ahead(folder).build(0, None)
    assert isinstance(build, Build)
    with Ahead(folder, large=0) as ahead:
        assert ahead.build(0, {build.digest: "there"}) == "there"
        assert isinstance(ahead.build(2, {build.digest: "there"}), Build)
