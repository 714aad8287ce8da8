"""What `opperf.run` returns, and `opperf.run` itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from opperf.domain.files.destination import write_text
from opperf.domain.plan import Settings
from opperf.domain.record import Record, Run
from opperf.parent import request as requests
from opperf.parent.reports import render
from opperf.parent.session import Interrupted, Options, Session

if TYPE_CHECKING:
    import pandas

Names = Union[str, Sequence[str], None]


class Results:
    """The records of a run, with every form that they can be written in.

    >>> results = run("null:steady", runs=5)
    >>> results[0].time.median
    0.0001
    """

    def __init__(self, run: Run) -> None:
        self.run = run

    def __len__(self) -> int:
        return len(self.run.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.run.records)

    def __getitem__(self, place: int) -> Record:
        return self.run.records[place]

    def to_dict(self) -> dict[str, Any]:
        """Return the document of a result file; times are seconds, memory is bytes."""
        return self.run.to_json()

    def to_json(self) -> str:
        """Return the document as text."""
        return render(self.run, "json")

    def to_csv(self) -> str:
        """Return one row for each record, in full precision."""
        return render(self.run, "csv")

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        return render(self.run, "md")

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows of `to_csv` as a data frame; raises `ImportError` where pandas is not installed."""
        import io

        import pandas

        return pandas.read_csv(io.StringIO(self.to_csv()))

    def save(self, path: str | Path) -> None:
        """Write a result file, which `opperf show` and `--resume` read."""
        write_text(Path(path), self.to_json())

    def __str__(self) -> str:
        return render(self.run, "console")

    def _repr_html_(self) -> str:
        return render(self.run, "html")


def run(
    operators: Names = None,
    *,
    framework: Names = None,
    inputs: Mapping[str, object] | Sequence[Mapping[str, object]] | None = None,
    shapes: str | Path | None = None,
    attributes: Mapping[str, object] | None = None,
    plugin: str | Path | Sequence[str | Path] = (),
    category: Names = None,
    all: bool = False,
    skip: Names = None,
    suite: str | Path | None = None,
    config: str | Path | Sequence[str | Path] = (),
    environment: Names = None,
    device: Names = None,
    dtype: Names = None,
    values: Names = None,
    random: int | None = None,
    size: Names = None,
    direction: Names = None,
    mode: Names = None,
    threads: int = 1,
    engine: str = "naive",
    allocator: str = "fixed",
    labels: Mapping[str, str] | None = None,
    keep_samples: bool = True,
    **settings: Any,
) -> Results:
    """Measure operators and return their records.

    `operators` are neutral names (`add`), a framework's own (`mxnet:nd.broadcast_mod`) or your code
    (`my_kernels:fast_softmax`); `plugin` is a file or module with operators of your own, or with iterators and data
    generators for `config`, a PARAM benchmark config. Each entry of `inputs` makes one case: tensor arguments by shape,
    attributes by value; so does each row of the file `shapes`. Results keep their order and number: what is equal is
    measured once, and its record stands at each place. `values` are distributions of input values, as in `sorted`;
    `random` draws so many cases from `seed`. `settings` are fields of `opperf.Settings`; durations are seconds. Raises
    `InputError` for what cannot be understood. An operator that fails is a record, not an exception.

    >>> print(run("null:steady", runs=5)[0].status)
    ok
    """
    given = {name: value for name, value in locals().items() if name not in ("operators", "settings")}
    selection = requests.selection(_names(operators), given)
    with Session(selection, Settings(**settings)) as session:
        plan = session.plan()
        try:
            measured = session.run(plan, Options(labels=labels or {}, keep_samples=keep_samples))
        except Interrupted as stopped:
            raise stopped.cause from None
    records = {record.trial.key: record for record in measured}
    return Results(replace(measured, records=tuple(records[trial.key] for trial in plan.asked)))


def _names(given: Names) -> tuple[str, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)
