"""What the environment says is to be profiled."""

from __future__ import annotations

import json
from typing import Any

import pytest

from opperf.errors import InputError
from opperf.profile.watching import Watching
from opperf.profiling.autostart import Options


def test_nothing_said_is_every_framework_and_operators_alone() -> None:
    options = Options.read("{}")
    assert (options, options.watching) == (Options(), Watching())
    assert (options.framework, options.function, options.ranges) == (None, None, None)


def test_what_is_said_is_watched() -> None:
    said = {"framework": "torch", "memory": True, "shapes": True, "stacks": False, "modules": True, "api": True}
    options = Options.read(json.dumps({**said, "function": "train:Trainer.step", "skip": 2, "calls": 3}))
    assert options.watching == Watching(memory=True, shapes=True, modules=True, api=True)
    assert (options.framework, options.function, options.skip, options.calls) == ("torch", "train:Trainer.step", 2, 3)


@pytest.mark.parametrize(
    ("said", "slug"),
    [("{", "input"), ({"memroy": True}, "unknown_option"), ({"function": "step"}, "unknown_function")],
)
def test_what_makes_no_sense_is_refused(said: Any, slug: str) -> None:
    with pytest.raises(InputError) as refused:
        Options.read(said if isinstance(said, str) else json.dumps(said))
    assert refused.value.slug == slug
