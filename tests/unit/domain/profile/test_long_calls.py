"""Few calls that make up a row are told from calls that are long for a reason."""

from __future__ import annotations

from tests.each import each

from opperf.domain.profile.event import Event, Profile
from opperf.domain.profile.rows import long_calls, rows


def result(*durations: int) -> tuple[int, float] | None:
    """Return what is said of calls of one operator."""
    return long_calls([Event("sqrt", "operator", 0, one, 1, "main") for one in durations], durations)


@each(
    ("durations", "told"),
    [
        ([10] * 9 + [101], (1, 101 / 191)),
        ([10] * 9 + [100], None),  # ten times the median is not far beyond it
        ([10] * 8 + [500], None),  # one of nine calls is more than a tenth
        ([10] * 20 + [101], None),  # it takes a third of the time
        ([10] * 20 + [201], (1, 201 / 401)),
        ([10] * 20 + [200], None),  # just half
        ([0] * 20 + [200], None),  # nothing tells how long the others were
        ([10] * 50, None),
        ([10], None),
        ([], None),
    ],
)
def test_long_calls_are_few_far_beyond_the_median_and_most_of_the_time(
    durations: list[int], told: tuple[int, float] | None
) -> None:
    assert result(*durations) == told


def test_a_call_is_held_against_those_of_its_shapes() -> None:
    small = [Event("mm", "operator", 100 * i, 10, 1, "main", shapes=((4, 4),)) for i in range(98)]
    large = [Event("mm", "operator", 10_000 + 9000 * i, 9000, 1, "main", shapes=((900, 900),)) for i in range(2)]
    (row,) = rows(Profile((*small, *large)))
    assert (row.calls, row.long_calls, row.long_share) == (100, None, None)


def test_what_a_call_took_within_another_makes_only_that_one_long() -> None:
    events = []
    for i in range(100):
        inner = 9000 if i == 50 else 10
        begin = 20_000 * i
        events.append(Event("linear", "operator", begin, inner + 5, 1, "main"))
        events.append(Event("addmm", "operator", begin + 2, inner, 1, "main"))
    assert {row.name: row.long_calls for row in rows(Profile(tuple(events)))} == {"addmm": 1, "linear": None}
