"""A run as a piece of HTML that needs nothing else: notebooks show it (`_repr_html_`), and a file of it opens anywhere.

Everything that comes from a record is escaped by the template engine. The piece is plain ASCII, so no charset has to
be declared; its style reaches nothing outside it; every number carries its full precision as a tooltip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined

from opperf.parent.reports import remarks, shares
from opperf.parent.reports.table import table_of

if TYPE_CHECKING:
    from opperf.domain.record import Run

TEMPLATE = """\
<div class="opperf">
<style>
.opperf table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.opperf th, .opperf td { padding: 0.2em 0.8em; text-align: left; vertical-align: top; border-bottom: 1px solid #8884; }
.opperf .right { text-align: right; white-space: nowrap; }
.opperf tr.failed td { color: #c0392b; }
.opperf tr.skipped td { opacity: 0.7; }
</style>
{% if caption %}
<p>{{ caption }}</p>
{% endif %}
{% if table.rows %}
<table>
<thead>
<tr>{% for column in table.columns %}<th class="{{ column.align }}">{{ column.title }}</th>{% endfor %}</tr>
</thead>
<tbody>
{% for row in table.rows %}
<tr class="{{ row.record.status }}">
{%- for cell in row.cells %}
{% set column = table.columns[loop.index0] %}
<td class="{{ column.align }}"
{%- if column.name and cell.raw is number %} title="{{ cell.raw }}"{% endif %}>{{ cell.text }}</td>
{%- endfor %}
</tr>
{% endfor %}
</tbody>
</table>
{% endif %}
{% for line in lines %}
<p>{{ line }}</p>
{% endfor %}
{% for section in sections %}
<p><b>{{ section.title }}</b></p>
<ul>
{% for remark in section.remarks %}
<li><code>{{ remark.slug }}</code> ({{ remark.count }}): {{ remark.wordings | join("; ") }}
{%- for hint in remark.remedies %}<br>hint: {{ hint }}{% endfor %}
{%- for trial in remark.named %}<br>{{ trial }}{% endfor %}</li>
{% endfor %}
</ul>
{% if section.more %}
<p>{{ section.more }}</p>
{% endif %}
{% endfor %}
{% if more %}
<p>{{ more }}</p>
{% endif %}
</div>
"""


def engine() -> Environment:
    """Return what fills a template: it escapes everything, and a name that is missing is an error."""
    return Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )


def render(run: Run) -> str:
    """Return the piece of HTML, with a line break at the end."""
    table = table_of(run.records)
    seen = table.for_people()
    text = (
        engine()
        .from_string(TEMPLATE)
        .render(
            caption=remarks.caption(table),
            table=seen,
            lines=[remarks.tally(run.records), *shares.lines(run), *remarks.legend(seen)],
            sections=remarks.sections(run.records),
            more=remarks.more(run.records),
        )
    )
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")
