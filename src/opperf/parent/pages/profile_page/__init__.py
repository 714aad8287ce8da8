"""A profile as one web page that needs nothing else: operators by share, spans and memory over time, stacks, tables.

Bars are SVG as on other pages. What is enlarged, moved and pointed at is drawn by the page's own script, from the trace
that Perfetto reads and that can be saved from the page. Nothing is fetched; the page forbids itself to. What the page
holds is bounded, and it says what it leaves out. `change.py` has the page of two profiles, of the same parts.
"""

from __future__ import annotations

from opperf.domain.profile.event import Profile
from opperf.parent.pages.profile_page.flame import frames
from opperf.parent.pages.profile_page.head import fill, processes, title
from opperf.parent.pages.profile_page.tables import groupings, outside, peak
from opperf.parent.pages.profile_page.timeline import trace_of, typical, windows
from opperf.parent.reports.text import one_line


def render(profile: Profile) -> str:
    """Return the page."""
    stretches, left_out = windows(profile)
    trace = trace_of(profile)
    spans = [[window.begin - trace.epoch, window.end - window.begin] for window in stretches]
    return fill(
        "page.html",
        title=title(profile),
        processes=processes(profile),
        notes=[one_line(note) for note in profile.notes],
        tables=groupings(profile),
        sorted_by="self",
        peak=peak(profile),
        outside=outside(profile),
        windows=stretches,
        typical=typical(stretches),
        steps_left_out=left_out,
        trace=trace,
        traces={"trace": trace.content},
        data={"windows": spans, "flame": frames(profile)},
    )
