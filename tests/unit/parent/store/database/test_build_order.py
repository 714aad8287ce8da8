"""The order of builds: the list, the version, the date."""

from __future__ import annotations

import random
from datetime import datetime, timedelta, timezone

import pytest

from opperf.parent.store.database.build_order import DatedBuild, arrange

BEGIN = datetime(2026, 11, 1, tzinfo=timezone.utc)


def builds(*versions: str | None) -> list[DatedBuild]:
    """Return builds that were measured a day apart, in this order."""
    return [DatedBuild(version or "?", version, BEGIN + timedelta(days=day)) for day, version in enumerate(versions)]


def test_versions_count_before_dates() -> None:
    released = ["1.9.0", "1.10.0rc1", "1.10.0", "1.10.0.post1", "2.0.0.dev20261101", "2.0.0a0", "2.0.0"]
    assert arrange(reversed(builds(*released))) == released
    assert arrange(builds(*random.Random(5).sample(released, len(released)))) == released


def test_what_stands_behind_a_plus_orders_nothing() -> None:
    assert arrange(builds("2.1+gitf", "2.1+gita", "2.0+gitz")) == ["2.0+gitz", "2.1+gitf", "2.1+gita"]


def test_what_is_no_version_comes_after_what_was_there_before() -> None:
    assert arrange(builds("1.0", "4f2a", "1.2", "77ee", "1.1")) == ["1.0", "4f2a", "1.1", "1.2", "77ee"]


def test_a_commit_is_no_version_though_it_may_read_as_one() -> None:
    commits = ["9f3c0a1d77e2", "123456789012", "31415926535b", "0012a4567890", "e" * 40, "1" * 40, "4d0e7a21b9c3"]
    assert arrange(builds(*commits)) == commits


def test_a_day_in_the_name_is_the_day_of_a_build() -> None:
    assert arrange(builds("night-2026-10-03", "night-2026-10-01", "x")) == ["night-2026-10-01", "night-2026-10-03", "x"]
    assert arrange(builds("b-2026-13-01", "a-2026-13-01")) == ["b-2026-13-01", "a-2026-13-01"]


@pytest.mark.parametrize(
    ("listed", "order"),
    [
        ((), ["1.0", "1.1", "1.2", "2.0"]),
        (("2.0", "1.1"), ["1.0", "2.0", "1.1", "1.2"]),
        (("2.0", "gone"), ["1.0", "1.1", "1.2", "2.0"]),
        (("2.0", "1.2", "1.1", "1.0"), ["2.0", "1.2", "1.1", "1.0"]),
    ],
)
def test_a_list_counts_before_versions(listed: tuple[str, ...], order: list[str]) -> None:
    assert arrange(builds("1.1", "2.0", "1.0", "1.2"), listed) == order


def test_a_build_without_a_version_that_is_listed_is_behind_the_releases_before_it() -> None:
    assert arrange(builds("2.0", "2.1", "own"), ["own"]) == ["2.0", "2.1", "own"]
