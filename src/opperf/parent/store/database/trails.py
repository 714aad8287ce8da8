"""How series went over the latest builds: their ratios to one anchor, of which small charts in rows are drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from statistics import fmean, quantiles
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from opperf.domain.dataclass import dataclass
from opperf.parent.store.database import schema
from opperf.parent.store.database.builds import BuildRows
from opperf.parent.store.database.series import EVERYTHING, Filters, begin, filter_series

#: The builds that a trail has, at most: a small chart shows no more, and a large database has them at once.
LATEST = 20


class Spot(NamedTuple):
    """A ratio to the anchor with its interval; `place` counts builds from 0. A plain tuple, since there are many."""

    place: int
    ratio: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Trails:
    """The latest builds, the oldest first, and the ratios of each series to the anchor in the order of builds."""

    builds: Sequence[str]
    spots: Mapping[int, Sequence[Spot]]

    @cached_property
    def trend(self) -> list[Spot]:
        """The geometric mean over all series of each build, with the quartiles that hold the middle half."""
        ratios_by_place: dict[int, list[float]] = {}
        for spots in self.spots.values():
            for spot in spots:
                ratios_by_place.setdefault(spot.place, []).append(spot.ratio)
        result = []
        for place, ratios in sorted(ratios_by_place.items()):
            low, _, high = quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else (None, None, None)
            result.append(Spot(place, math.exp(fmean(map(math.log, ratios))), low, high))
        return result


def read_trails(
    connection: Connection, builds: Sequence[BuildRows], anchor: BuildRows, filters: Filters = EVERYTHING
) -> Trails:
    """Return how every series went over the first of these builds, which are the latest ones, latest first.

    Of a series that a build was compared in several times the latest comparison counts.
    """
    latest = [build for build in builds if "new" in build.parts and build != anchor][:LATEST][::-1]
    places = {environment: place for place, build in enumerate(latest) for environment in build.environments}
    table = schema.comparisons.c
    query = (
        select(table.new_series_id, table.new_environment_id, table.ratio, table.low, table.high)
        .where(
            table.new_environment_id.in_(places), table.base_environment_id.in_(anchor.environments), table.ratio > 0
        )
        .order_by(table.started)
    )
    spots: dict[int, dict[int, Spot]] = {}
    query = begin(filter_series(query, table.new_series_id, filters), table.started, filters.since)
    rows: Sequence[Sequence[Any]] = connection.execute(query).all()
    for series, environment, ratio, low, high in rows:
        place = places[environment]
        spots.setdefault(series, {})[place] = Spot(place, ratio, low, high)
    trails = {series: [by_place[place] for place in sorted(by_place)] for series, by_place in spots.items()}
    return Trails([build.build.version for build in latest], trails)
