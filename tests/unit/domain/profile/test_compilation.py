"""What a program compiled, as its profile's facts have it."""

from __future__ import annotations

import pytest

from opperf.domain.errors import InputError
from opperf.domain.profile.compilation import compilations
from opperf.domain.profile.event import Profile
from opperf.parent.pages.profile_page import render as page
from opperf.parent.reports import render

FACTS = {
    "graphs": [
        {"id": "0/0", "function": "forward", "operators": {"linear": 3, "relu": 1}, "modules": {"Net.layers.0": 2}},
        {"id": "0/1", "function": "forward", "operators": {"sin": 1}, "modules": {"": 1}},
    ],
    "breaks": {"call of print": 2},
    "recompilations": ["0/1: size mismatch"],
}
PROFILE = Profile(processes={7: {"framework": "torch", "compiled": FACTS}})


def test_graphs_breaks_and_recompilations_are_counted_below_the_profile() -> None:
    text = render(PROFILE, "console")
    assert "Compiled: 2 graphs, 2 graph breaks, 1 recompilation" in text
    assert "0/0    forward       4  linear 3, relu 1  Net.layers.* 2" in text
    assert "graph break, 2 times: call of print" in text
    assert "recompiled 0/1: size mismatch" in text


def test_a_program_that_compiled_nothing_has_no_such_section() -> None:
    assert compilations(Profile(processes={7: {}})) == {}
    assert "Compiled" not in render(Profile(processes={7: {}}), "console")


def test_facts_of_another_form_are_refused_with_their_place() -> None:
    wrong = Profile(processes={7: {"compiled": {"graphs": [{"id": 3}]}}})
    with pytest.raises(InputError, match=r"process 7: compiled\.graphs\[0\]\.id: found 3"):
        compilations(wrong)


def test_a_page_does_not_list_graphs_among_the_facts_of_a_process() -> None:
    assert "size mismatch" not in page(PROFILE)
