"""Measure a selection: plan it, report unused parts, and keep what is finished even if the run is stopped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, OpperfError
from opperf.domain.plan import Plan, Settings, Side
from opperf.domain.record import Run
from opperf.domain.registry import REAL_FRAMEWORKS, framework, parse_device
from opperf.parent.measuring import processes
from opperf.parent.measuring.calibration import stored_rates
from opperf.parent.measuring.fleet import fleet_of
from opperf.parent.measuring.progress import Progress, planning
from opperf.parent.measuring.session import Interrupted, Options, Session
from opperf.parent.measuring.shares import guess
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.wishes import Wishes
from opperf.parent.store.journal import journal_of
from opperf.parent.workers import gpus

#: What a child takes to start, in seconds.
CHILD_START = 4.0


@dataclass(frozen=True)
class RunResult:
    """A run and its plan. `cause` is the exception that stopped it, or None."""

    run: Run
    plan: Plan
    cause: BaseException | None = None


def measure(
    selection: Selection, settings: Settings, options: Options, progress: Progress, fleet: Wishes | None = None
) -> RunResult:
    """Measure a selection, here or on a fleet.

    Raises `InputError` for bad input, and what stopped the run where nothing was measured by then.
    """
    if fleet is not None and settings.jobs != 1:
        raise InputError(
            "`--jobs` applies to this machine, but `--fleet` measures on others", hint="leave out one of them"
        )
    if fleet is None:
        names = [framework(name).name for name in selection.frameworks or REAL_FRAMEWORKS]
        gpus.check_devices((name, parse_device(device)) for name in names for device in selection.named_devices)
    with Session(selection, settings, progress) as session, fleet_of(fleet, selection, progress) as elsewhere:
        plan = _plan(session, selection, progress)
        try:
            return RunResult(session.run(plan, options, elsewhere), plan)
        except Interrupted as stop:
            if not stop.run.records and isinstance(stop.cause, OpperfError):
                raise stop.cause from None  # such as a fleet that cannot be reached: there is nothing to report
            return RunResult(stop.run, plan, stop.cause)
        finally:
            progress.close()


def plan_of(selection: Selection, settings: Settings, progress: Progress) -> Plan:
    """Return the plan; raises `InputError` for bad input."""
    with Session(selection, settings, progress) as session:
        return _plan(session, selection, progress)


def seconds(plan: Plan) -> float:
    """Return about how long a plan takes."""
    starts = len({trial.side.process for trial in plan.trials}) * plan.settings.processes
    return len(plan.trials) * processes.seconds(plan.settings) + starts * CHILD_START


def by_cost(plan: Plan) -> Plan:
    """Return a plan with what takes most in all first, as its formulas let guess."""
    return replace(plan, trials=tuple(sorted(plan.trials, key=lambda trial: -trial.count * guess(trial))))


def drop_journal(options: Options) -> None:
    """Take the journal of a run away, whose document stands whole."""
    if options.output is not None:
        journal_of(options.output).unlink(missing_ok=True)


def without_peaks(run: Run) -> Side | None:
    """Return a side that something was measured on, and whose limits are not known; None where all are."""
    pairs = {(rate.device, rate.threads) for rate in stored_rates()}
    sides = (record.trial.side for record in run if record.time is not None)
    return next((one for one in sides if one.framework != "null" and (one.device, one.threads) not in pairs), None)


def _plan(session: Session, selection: Selection, progress: Progress) -> Plan:
    with planning(progress):
        plan = session.plan()
    for note in _notes(selection, plan):
        progress.note(f"note: {note}")
    return plan


def _notes(selection: Selection, plan: Plan) -> Iterator[str]:
    """Yield notes on unused parts of a plan, such as a framework named for another one's operators."""
    busy = {trial.side.framework for trial in plan.trials}
    for name in selection.frameworks:
        if framework(name).name not in busy:
            yield f"`--framework {name}` is unused: no selected operator runs on it"
    if plan.again:
        yield f"{plan.again} of {len(plan.selection)} trials are equal to earlier ones; each is measured once"
