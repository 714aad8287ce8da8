"""What is compiled once for an environment, as far as no compiler is started; `tests/processes` starts one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from opperf.domain.backend import Unsupported
from opperf.domain.extension import build

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("name", "language", "variable"), [("loop.c", "C", "CC"), ("loop.cpp", "C++", "CXX")])
def test_where_there_is_no_compiler_the_reason_says_what_to_do(
    name: str, language: str, variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(variable, raising=False)
    source = tmp_path / name
    source.write_text("")
    with pytest.raises(Unsupported, match=rf"no {language.replace('+', '.')} compiler here") as caught:
        build(source, tmp_path / "cache")
    assert caught.value.slug == "no_compiler"
    assert f"the variable {variable}" in str(caught.value.hint)
    assert not (tmp_path / "cache").exists()
