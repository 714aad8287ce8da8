"""The reference of a problem reads what it is loaded from, and its candidates read none of that."""

from __future__ import annotations

from pathlib import Path

import pytest

from opperf.domain.code import ProblemCode
from opperf.parent.measuring.judge.problems import hidden_files, readable_files


@pytest.mark.parametrize(
    ("kind", "readable", "hidden"),
    [
        ("backendbench", [""], []),  # its name is the operator's, or that of the only folder in it
        ("gpumode", ["", ".."], ["reference.py"]),
        ("flashinfer", [""], ["definition.json"]),
    ],
)
def test_a_folder_is_read_by_the_reference_alone(
    kind: str, readable: list[str], hidden: list[str], tmp_path: Path
) -> None:
    problem = ProblemCode(kind, str(tmp_path))
    assert [path.resolve() for path in readable_files(problem)] == [(tmp_path / name).resolve() for name in readable]
    assert hidden_files(problem) == [tmp_path / name for name in hidden]


def test_a_file_is_read_by_the_reference_alone(tmp_path: Path) -> None:
    problem = ProblemCode("kernelbench", str(tmp_path / "1_A.py"))
    assert readable_files(problem) == hidden_files(problem) == [tmp_path / "1_A.py"]
