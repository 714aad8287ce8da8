"""Frameworks that plugins bring: what their files say, read without running them."""

from __future__ import annotations

from pathlib import Path

import pytest

from opperf.domain import registry
from opperf.domain.errors import InputError
from opperf.domain.registry import FRAMEWORKS, PRESETS, Framework
from opperf.parent.sources.plugin_file import declared_framework, register_frameworks

TEXT = 'FRAMEWORK = Framework("tiny", "tiny.core", ("tiny",), ("tiny==1",), gradients=False)\nraise SystemExit\n'


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test makes known is forgotten after it."""
    for name in ("FRAMEWORKS", "PRESETS"):
        table = getattr(registry, name)
        for key in list(table):
            monkeypatch.setitem(table, key, table[key])
        monkeypatch.delitem(table, "tiny", raising=False)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    path = tmp_path / "tiny_backend.py"
    path.write_text(TEXT)
    return path


def test_a_plugins_framework_is_known_with_its_environment_and_the_file_is_not_run(plugin: Path) -> None:
    try:
        assert register_frameworks([plugin], ["tiny"]) == [plugin]
        assert FRAMEWORKS["tiny"] == Framework("tiny", "tiny.core", ("tiny",), ("tiny==1",), gradients=False)
        assert PRESETS["tiny"] == ("tiny", ("tiny==1",))
        assert register_frameworks([plugin], ["tiny"]) == [plugin]  # the same again is no other
    finally:
        FRAMEWORKS.pop("tiny", None)
        PRESETS.pop("tiny", None)


def test_a_plugin_that_brings_none_is_a_plugin_still(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import torch\n")
    assert declared_framework(tmp_path / "mine.py") is None
    assert register_frameworks([tmp_path / "mine.py"], []) == [tmp_path / "mine.py"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("FRAMEWORK = Framework(name)", "line 1: cannot read what `FRAMEWORK` is"),
        ('FRAMEWORK = "tiny"', "not a call"),
        ('FRAMEWORK = Framework("tiny")', "missing 3 required positional arguments"),
        ('FRAMEWORK = Framework("tiny", "t", (), (), speed=9)', "unexpected keyword argument 'speed'"),
    ],
)
def test_what_is_no_framework_says_so(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(InputError, match=message):
        declared_framework(tmp_path / "mine.py")


def test_a_name_that_is_taken_is_refused(plugin: Path) -> None:
    plugin.write_text(TEXT.replace('"tiny", "tiny.core"', '"numpy", "tiny.core"'))
    with pytest.raises(InputError, match="framework `numpy` already exists"):
        register_frameworks([plugin], [])
