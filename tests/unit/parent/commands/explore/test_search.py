"""The search for cliffs, over made-up costs that are known exactly."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from tests.each import each

from opperf.child.backends.null.scripts import is_cliff
from opperf.domain.case import Case
from opperf.domain.tensor import TensorSpec
from opperf.parent.commands.explore.search import Cliff, LevelSearch, Search
from opperf.parent.commands.explore.space import LAYOUTS, Point, Space


@dataclass
class Known:
    """A meter whose costs are a function of the case, with noise in looks and in the intervals of turns."""

    space: Space
    seconds: Callable[[Case], float]
    noise: float = 0.02
    random: random.Random = field(default_factory=lambda: random.Random(0))
    looks_in_time: float = math.inf
    seen: list[Point] = field(default_factory=list)

    def cost(self, point: Point) -> float | None:
        case = self.space.case(point)
        self.seen.append(point)
        return None if case is None else self.seconds(case) * math.exp(abs(self.random.gauss(0, self.noise)))

    def excess(self, point: Point, other: Point) -> tuple[float, float]:
        case, neighbour = self.space.case(point), self.space.case(other)
        assert case is not None
        assert neighbour is not None
        ratio = math.log(self.seconds(case) / self.seconds(neighbour))
        return ratio - self.noise, ratio + self.noise

    def level(self, point: Point) -> tuple[float, float]:
        case = self.space.case(point)
        assert case is not None
        ratio = math.log(self.seconds(case))
        return ratio - self.noise, ratio + self.noise

    def spent(self, share: float = 1.0) -> bool:
        return share * self.looks_in_time <= len(self.seen)


def space() -> Space:
    """Two dimensions, data.0 from 16 to 1024 and data.1 from 64 to 4096, in any layout."""
    made = Space(Case("mine", {"data": TensorSpec((256, 1024))}))
    made.layouts = LAYOUTS
    return made


def seconds(cliff: str) -> Callable[[Case], float]:
    """A launch and the bytes; 1.3 times that where the cliff is."""

    def time(case: Case) -> float:
        height = 1.3 if any(is_cliff(cliff, tensor) for tensor in case.tensors()) else 1.0
        return (1e-6 + case.input_bytes / 1e10) * height

    return time


def search(cliff: str, seed: int = 0) -> tuple[Space, list[Cliff], Search]:
    """Search for one cliff that is there."""
    dimensions = space()
    searching = Search(dimensions, Known(dimensions, seconds(cliff)), 1.2, random.Random(seed), 500)
    return dimensions, list(searching.run()), searching


@each(
    ("cliff", "sizes", "region"),
    [
        ("residue:1:16:8:1024", (16, 1032), "data.1 % 16 == 8, data.1 from 1,032 on"),
        ("residue:0:8:3:100", (107, 64), "data.0 % 8 == 3, data.0 from 107 on"),
        ("power:1:256", (16, 256), "data.1 a power of two, data.1 from 256 on"),
        ("threshold:0:333", (333, 64), "data.0 from 333 on"),
        ("ratio:1:3", (21, 64), "data.1 > 3 x data.0"),
        ("strided:512", (16, 512), "transposed tensors, data.1 from 512 on"),
    ],
)
def test_a_cliff_is_named_by_its_smallest_case_and_its_region(cliff: str, sizes: tuple[int, ...], region: str) -> None:
    dimensions, cliffs, searching = search(cliff)
    said = {one.region.say(dimensions.dimensions): one.point.sizes for one in cliffs}
    assert said[region] == sizes
    assert len(searching.costs) <= 500


def test_where_there_is_no_cliff_none_is_named() -> None:
    for seed in range(10):
        _, cliffs, _ = search("none", seed)
        assert cliffs == []


def test_every_cliff_that_is_named_is_one() -> None:
    cliff = "residue:1:32:5:128"
    for seed in range(5):
        dimensions, cliffs, _ = search(cliff, seed)
        for one in cliffs:
            case, neighbour = dimensions.case(one.point), dimensions.case(one.other or one.point)
            assert case is not None
            assert neighbour is not None
            assert is_cliff(cliff, case.tensor("data"))
            assert not is_cliff(cliff, neighbour.tensor("data"))


def test_a_doubtful_answer_of_turns_names_nothing() -> None:
    dimensions = space()
    meter = Known(dimensions, seconds("threshold:0:333"), noise=0.1)  # turns say 1.3 within 10 %: from 1.17 on
    assert list(Search(dimensions, meter, 1.2, random.Random(0), 500).run()) == []


def test_the_same_seed_asks_the_same_questions() -> None:
    _, first, one = search("power:0:128", seed=3)
    _, second, other = search("power:0:128", seed=3)
    assert list(one.costs) == list(other.costs)
    assert first == second


def test_growth_with_work_is_no_cliff() -> None:
    dimensions = space()
    meter = Known(dimensions, lambda case: 1e-9 * (case.input_bytes / 1e4) ** 1.4)
    assert list(Search(dimensions, meter, 1.2, random.Random(1), 500).run()) == []


def test_a_small_space_is_looked_at_whole() -> None:
    dimensions = space()
    dimensions.bound({"data.0": (16, 16), "data.1": (1030, 1035)})
    searching = Search(dimensions, Known(dimensions, seconds("residue:1:16:8:1024")), 1.2, random.Random(0), 500)
    (cliff,) = searching.run()
    assert cliff.point.sizes == (16, 1032)


def test_where_another_side_is_faster_than_elsewhere_is_a_region() -> None:
    dimensions = space()

    def ratio(case: Case) -> float:
        return 1.5 if case.tensor("data").shape[1] >= 3000 else 0.9

    (region,) = LevelSearch(dimensions, Known(dimensions, ratio), 1.2, random.Random(0), 500).run()
    assert region.point.sizes == (16, 3000)
    assert region.region.say(dimensions.dimensions) == "data.1 from 3,000 on"
    assert region.other is None


@pytest.mark.parametrize("looks", [150, 400])
def test_when_time_is_short_some_of_it_is_left_for_what_was_seen(looks: int) -> None:
    """Looks alone name nothing: without a share of the time for the rest, a slow framework never had a finding."""
    dimensions = space()
    meter = Known(dimensions, seconds("threshold:0:333"), looks_in_time=looks)
    searching = Search(dimensions, meter, 1.2, random.Random(0), 5000)
    assert [one.point.sizes[0] for one in searching.run()][:1] == [333]
    assert len(meter.seen) <= looks
    assert searching.out_of_time


def test_a_search_with_time_for_all_its_looks_is_not_out_of_time() -> None:
    _, _, searching = search("threshold:0:333")
    assert not searching.out_of_time


def test_suspicions_that_there_was_no_time_for_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    dimensions = space()
    meter = Known(dimensions, seconds("threshold:0:333"))
    searching = Search(dimensions, meter, 1.2, random.Random(0), 500)
    look = searching.look

    def to_the_end() -> None:
        look()
        meter.looks_in_time = 0

    monkeypatch.setattr(searching, "look", to_the_end)
    assert list(searching.run()) == []
    assert searching.unexamined > 0
