"""What the environment says is to be profiled."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from opperf.child.profiling import autostart
from opperf.child.profiling.autostart import Options
from opperf.domain.errors import InputError
from opperf.domain.profile.watching import Watching


def test_nothing_said_is_every_framework_and_operators_alone() -> None:
    options = Options.read("{}")
    assert (options, replace(options.watching, memory_limit=None)) == (Options(), Watching())
    assert (options.framework, options.function, options.ranges) == (None, None, None)


def test_what_is_said_is_watched() -> None:
    said = {"framework": "torch", "memory": True, "shapes": True, "stacks": False, "modules": True, "api": True}
    options = Options.read(
        json.dumps({**said, "function": "train:Trainer.step", "skip": 2, "calls": 3, "memory_limit": 1000})
    )
    assert options.watching == Watching(memory=True, shapes=True, modules=True, api=True, memory_limit=1000)
    assert (options.framework, options.function, options.skip, options.calls) == ("torch", "train:Trainer.step", 2, 3)


def test_a_profile_may_take_half_of_what_is_free_where_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for free, limit in ((1000, 500), (None, None), (-5, 0)):
        monkeypatch.setattr(autostart, "free_bytes", lambda free=free: free)
        assert Options().watching.memory_limit == limit


@pytest.mark.parametrize(
    ("said", "slug"),
    [("{", "input"), ({"memroy": True}, "unknown_option"), ({"function": "step"}, "unknown_function")],
)
def test_what_makes_no_sense_is_refused(said: Any, slug: str) -> None:
    with pytest.raises(InputError) as refused:
        Options.read(said if isinstance(said, str) else json.dumps(said))
    assert refused.value.slug == slug
