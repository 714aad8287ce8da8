"""The table of a model's modules, for people and for programs."""

from __future__ import annotations

import json

import pytest
from tests.unit.domain.profile.test_module_tree import STEP, call
from tests.unit.domain.profile.test_peak_memory import PROFILE as PEAK

from opperf.domain.errors import InputError
from opperf.domain.profile.event import Event, Profile
from opperf.parent.commands.profile import check_rows
from opperf.parent.reports import render
from opperf.parent.reports.profile_modules import document


def test_the_table_has_a_column_for_each_phase_and_none_that_is_empty() -> None:
    lines = render(document(Profile(STEP), 2), "console").splitlines()
    assert lines[0].split() == [
        *("module", "modules", "calls", "operators", "forward", "backward", "recomputed", "optimizer"),
        *("between", "total", "share", "allocated"),
    ]
    assert lines[3].split()[:4] == ["Net.layers.*", "3", "3", "9"]


def test_programs_read_the_same_rows() -> None:
    result = json.loads(render(document(Profile(STEP), 1), "json"))
    assert (result["by"], result["depth"]) == ("module", 1)
    assert [row["name"] for row in result["rows"]] == ["Net", "(optimizer)", "(no module)"]
    assert result["rows"][0]["backward"] == pytest.approx(20e-9)


def test_a_framework_that_names_no_modules_says_so_in_one_message() -> None:
    with pytest.raises(InputError, match="the profile of mxnet names no modules") as refusal:
        document(Profile((call("dot", 0, 10),), processes={1: {"framework": "mxnet"}}), 2)
    assert "--by group" in (refusal.value.hint or "")


@pytest.mark.parametrize(("by", "compared"), [("name", False), ("module", True)])
def test_levels_are_those_of_modules_of_one_profile(by: str, compared: bool) -> None:
    check_rows("module", "self", 2)
    with pytest.raises(InputError, match="`--depth` is for one profile, with `--by module`"):
        check_rows(by, "self", 2, compared=compared)


def test_what_was_alive_at_the_peak_of_memory_is_a_table_below_every_profile() -> None:
    tree = render(document(PEAK, 2), "console")
    assert "Alive at the peak of memory: 160 B allocated since the profile began" in tree
    assert "modules: how many" in tree
    lines = render(PEAK, "console").splitlines()
    assert "aten::mm     Net.layers.*  4x8:float32       2  128 B  80.0 %" in lines
    assert [row["size"] for row in json.loads(render(PEAK, "json"))["peak_memory"]] == [128, 32]


def test_people_see_as_many_rows_of_the_peak_as_of_operators() -> None:
    assert "1 more row: `--format json` has all" in render(PEAK, "console", top=1)


#: Two steps of 50 ms, each with a product of 2 GFLOP, on a machine that does 100 GFLOP/s.
PACED = Profile(
    tuple(
        event
        for begin in (0, 50_000_000)
        for event in (
            Event("step", "step", begin, 50_000_000, 1, "main"),
            Event("aten::mm", "operator", begin + 9, 9_000_000, 1, "main", module="Net", flops=2_000_000_000),
        )
    ),
    processes={1: {"peak_flop_rate": 100e9}},
)
LINE = "2,048 tokens or samples a step: 41.0 k a second; 40.0 GFLOP/s of products and convolutions, 40 % of the machine"


def test_tokens_of_a_step_become_a_rate_and_a_share_of_the_peak() -> None:
    assert LINE in render(PACED, "md", tokens=2048)
    assert LINE in render(document(PACED, 1, tokens=2048), "md")
    (pace,) = json.loads(render(PACED, "json", tokens=2048))["paces"]
    assert (pace["per_second"], pace["flop_rate"], pace["peak_share"]) == (40960, 40e9, 0.4)


def test_a_profile_without_steps_says_that_it_has_no_rate() -> None:
    profile = Profile((call("mm", 0, 10),), processes={1: {}})
    assert "no steps were recognized, so that 9 a step are no rate" in render(profile, "md", tokens=9)
