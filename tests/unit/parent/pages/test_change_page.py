"""The page of two profiles as text. `tests/browser` has what a browser makes of it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.each import each
from tests.unit.parent.pages.test_profile_page import EPOCH, US, Reader, operator, step

from opperf.domain.profile.event import Event, Profile
from opperf.parent.analysis.call_trees import aligned_trees
from opperf.parent.pages.profile_page import flame
from opperf.parent.pages.profile_page.change import frames, render

BEFORE = Profile(
    (
        step(0, 100, "step 0"),
        operator(0, 40, "mm", module="Net.a"),
        operator(40, 10, "relu", module="Net.a"),
        operator(50, 15, "exp", module="Net.b"),
    )
)
AFTER = Profile(
    (
        step(1000, 130, "step 0"),
        operator(1000, 60, "mm", module="Net.a"),
        operator(1060, 10, "relu", module="Net.a"),
        operator(1070, 8, "gelu", module="Net.b"),
    )
)


def test_the_table_has_the_largest_change_first_and_says_what_only_one_has() -> None:
    page = Reader(render(BEFORE, AFTER))
    head, *rows = page.rows[:5]
    assert head == ["operator", "change", "before", "after", "ratio", "only", *head[6:]]
    assert [row[:6] for row in rows] == [
        ["mm", "+20.0 us", "40.0 us", "60.0 us", "1.50", ""],
        ["exp", "-15.0 us", "15.0 us", "", "", "before"],
        ["gelu", "+8.00 us", "", "8.00 us", "", "after"],
        ["relu", "0 s", "10.0 us", "10.0 us", "1.00", ""],
    ]
    tables = [attributes["id"] for _, attributes in page.elements if attributes.get("class") == "scroll"]
    assert tables == ["by-name", "by-group", "by-module"]


def test_the_largest_changes_are_bars_that_need_no_script() -> None:
    text = render(BEFORE, AFTER)
    assert text.count('class="slower"') + text.count('class="faster"') == 9  # three bars, at three widths
    assert "+20.0 us, 1.50x" in text
    assert "only before, 1 call" in text


def test_both_trees_are_one_in_which_a_place_is_as_wide_as_its_longer_side() -> None:
    data = frames(aligned_trees(BEFORE, AFTER))
    rows = zip(*(data[name] for name in ("names", "took", "before", "after", "state")), strict=True)
    assert [tuple(row) for row in rows] == [
        ("all operators", 93 * US, 65 * US, 78 * US, "wider"),
        ("Net", 93 * US, 65 * US, 78 * US, "wider"),
        ("a", 70 * US, 50 * US, 70 * US, "wider"),
        ("mm", 60 * US, 40 * US, 60 * US, "wider"),
        ("b", 23 * US, 15 * US, 8 * US, "narrower"),
        ("exp", 15 * US, 15 * US, 0, "gone"),
        ("relu", 10 * US, 10 * US, 10 * US, "same"),
        ("gelu", 8 * US, 0, 8 * US, "new"),
    ]


def test_places_that_took_least_are_joined_where_they_stood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flame, "MOST_FRAMES", 5)
    data = frames(aligned_trees(BEFORE, AFTER))
    assert data["names"][5:] == ["2 others", "1 other"] or data["names"][5:] == ["1 other", "2 others"]
    assert sum(data["took"][5:]) == 33 * US  # type: ignore[arg-type]


def test_steps_of_one_number_begin_together_and_those_of_median_length_come_first() -> None:
    page = Reader(render(BEFORE, AFTER))
    assert page.text["option"].splitlines()[:3] == [
        "the whole profile, 100 us before, 130 us after",
        "the median step of each, 100 us before, 130 us after",
        "step 0, 100 us before, 130 us after",
    ]
    assert page.data["windows"][2] == [[0, 100 * US], [0, 130 * US]]
    assert {"trace-before", "trace-after"} <= {str(attributes.get("id")) for _, attributes in page.elements}


@each("name", ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "{{ 7 * 7 }}"])
def test_a_name_is_a_text_wherever_it_stands(name: str) -> None:
    def page(word: str) -> Reader:
        facts: dict[str, Any] = {"framework": word, "command": [word]}
        events = (operator(0, 5, word, module=word, shapes=((2,),)), Event(word, "kernel", EPOCH, 9000, 8, word))
        other = Profile((operator(0, 9, word, stack=(f"{word}(1): {word}",)),), (), {7: facts})
        return Reader(render(Profile(events, (), {7: facts}, (word,)), other, (word, word)))

    assert page(name).shape == page("a" * len(name)).shape


def test_profiles_without_anything_are_a_page_that_says_so() -> None:
    page = Reader(render(Profile(), Profile()))
    assert "No operator takes more or less." in page.text["p"]
    assert page.data == {"windows": [], "flame": {}}
