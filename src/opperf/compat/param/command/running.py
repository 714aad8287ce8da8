"""A run of PARAM's command line: a config, its requested part, and a line as soon as a case is done.

A trace that Chrome's viewer and Perfetto show: the samples of a run as they were taken, one row for each direction.
Each sample is an event as long as its wall time. When it began was not recorded, so samples follow each other without
the pauses between them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import socket
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from opperf import __version__
from opperf.compat.param.command.lines import Lines, LineStyle, cases_between
from opperf.compat.param.command.tools import Tool, quiet
from opperf.domain.errors import InputError
from opperf.domain.files.destination import write_text
from opperf.domain.measurement import Outcome, Samples
from opperf.domain.plan import Plan, Settings, Trial
from opperf.domain.record import Run
from opperf.domain.units import format_seconds, parse_jobs
from opperf.param.cases import ConfigCase, cases
from opperf.param.config import ParamConfig
from opperf.parent.cli.places import emit
from opperf.parent.cli.progress import Bar
from opperf.parent.measuring.progress import Relay, Silent
from opperf.parent.measuring.session import Interrupted, Options, Session
from opperf.parent.planning.selection import Selection
from opperf.parent.reports.text import one_line
from opperf.parent.workers import machine
from opperf.parent.workers.passwords import own_command

#: The most seconds that an operator may take in all; PARAM has no limit, and a hung one would hang the run.
TIMEOUT = 3600.0


def settings_of(options: argparse.Namespace) -> Settings:
    """Return the settings that the flags mean."""
    return Settings(
        warmup=options.warmup,
        runs=options.iteration or 1,
        timeout=TIMEOUT,
        cache="cold" if options.cuda_l2_cache == "off" else "hot",
        latency=options.exec_mode == "discrete",
        jobs=parse_jobs(options.jobs, name="`--jobs`"),
    )


def selection_of(options: argparse.Namespace, config: ParamConfig) -> Selection:
    """Return the selection that the flags mean."""
    return Selection(
        configs=[config],
        devices=(options.device,),
        environments=tuple(options.environment or ()),
        modes=mode_of(options),
        directions=("forward", "backward") if options.backward else ("forward",),
    )


def mode_of(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the mode that the flags mean, if any; a CUDA graph, which needs a GPU, comes before compiling."""
    if options.cuda_graph and "cuda" in options.device:
        return ("cuda_graph",)
    return ("compiled",) if options.pt2_model else ()


class Running:
    """Follows a run: when all directions of a case are measured, it writes a line, and a word on stdout."""

    def __init__(self, options: argparse.Namespace, config: ParamConfig, tools: Sequence[Tool] = ()) -> None:
        self._options = options
        self._config = config
        self._tools = tools
        self._reports: dict[tuple[object, ...], dict[str, Any]] = {}
        self._progress = Relay(Silent() if quiet(options) else Bar(), self._tell)
        self._settings = settings_of(options)
        self._show = LineStyle(self._settings, discrete=options.exec_mode == "discrete")
        self._lines: Lines | None = None
        self._waiting: dict[str, tuple[ConfigCase, list[Trial]]] = {}
        self._outcomes: dict[tuple[object, ...], Outcome] = {}
        self._sampled: list[tuple[str, str, Samples]] = []

    def run(self, path: Path, trace: Path | None) -> tuple[Run, BaseException | None]:
        """Measure, and write lines to a file, and a trace; return the run and what stopped it before its end."""
        every = list(cases(self._config, self._settings.seed))
        selection = cases_between(every, self._options.resume_id, self._options.stop_id)
        cause: BaseException | None = None
        if not selection:
            what = "config has no operator to run" if not every else "run ids leave no case: the stop id is excluded"
            self._progress.note(f"note: nothing to run: the {what}")
        if not selection or not self._options.iteration:
            self._lines = Lines(path, append=self._options.append)
            return self._expand(selection, self._lines), None
        with Session(selection_of(self._options, self._config), self._settings, self._progress) as session:
            plan = self._part(self._plan(session), selection)
            session.check_devices(plan)  # before there is a file
            self._lines = Lines(path, append=self._options.append)
            self._lines.add(header(self._options, self._config))
            if self._tools:
                self._watch(path, self._lines)
            try:
                run = session.run(plan, Options(command=own_command()))
            except Interrupted as interrupted:
                run, cause = interrupted.run, interrupted.cause
            finally:
                self._progress.close()
            self._write_ready(final=True)
            self._lines.add({"finish_time": _timestamp(), "environment": dict(run.environment)})
            if trace is not None:
                write_trace(trace, self._sampled)
                self._lines.add({"trace_file": str(trace)})
            self._lines.close()
        return run, cause

    def _plan(self, session: Session) -> Plan:
        """Return the trials of a session, which may be nothing: the framework has none of the operators."""
        try:
            return session.plan()
        except InputError as error:
            if error.slug != "empty_plan":
                raise
            return Plan((), self._settings)

    def _expand(self, cases: Sequence[ConfigCase], lines: Lines) -> Run:
        """Write a line for each case, and measure none."""
        lines.add(header(self._options, self._config))
        for case in cases:
            lines.add(self._show.line(case, case.run_id.partition("|")[0], {}))
            print(one_line(case.run_id), flush=True)
        lines.add({"finish_time": _timestamp()})
        lines.close()
        return Run(uuid.uuid4().hex[:12], _timestamp(), own_command(), self._settings)

    def _watch(self, path: Path, lines: Lines) -> None:
        """Have the tools look at the cases, before anything is timed; each batch is a line."""
        from opperf.compat.param.command.batches import Watch  # few runs need it

        watch = Watch(self._options, self._settings, path, self._progress.note)
        for tool in self._tools:
            for line, reports in watch.run(tool, list(self._waiting.values())):
                lines.add(line)
                for key, report in reports.items():
                    self._reports.setdefault(key, {})[tool.name] = report

    def _part(self, plan: Plan, cases: Sequence[ConfigCase]) -> Plan:
        """Return the trials of the requested cases, and remember which case waits for which."""
        trials: dict[str, list[Trial]] = {}
        for trial in plan.trials:
            trials.setdefault(trial.case.id, []).append(trial)
        nowhere = dict.fromkeys(case.run_id.partition("|")[0] for case in cases if case.case.id not in trials)
        for operator in nowhere:
            self._progress.note(f"warning: no operator `{operator}`; skipped")
        self._waiting = {case.run_id: (case, trials.get(case.case.id, [])) for case in cases}
        keys = {trial.key for _, several in self._waiting.values() for trial in several}
        return replace(plan, trials=tuple(trial for trial in plan.trials if trial.key in keys))

    def _tell(self, outcome: Outcome) -> None:
        """Take what became of a trial, which may be all that several run ids waited for."""
        self._outcomes[outcome.trial.key] = outcome
        self._write_ready(final=False)

    def _write_ready(self, *, final: bool) -> None:
        """Write the cases that are measured: in order, up to the first that is not; or all, when nothing more comes."""
        while self._waiting:
            run_id, (case, trials) = next(iter(self._waiting.items()))
            complete = bool(trials) and all(trial.key in self._outcomes for trial in trials)
            if not complete and not final:
                return
            if complete:
                self._write(case, trials)
            del self._waiting[run_id]

    def _write(self, case: ConfigCase, trials: Sequence[Trial]) -> None:
        """Write a line for each framework that measured a case: all but one of them measure neutral operators."""
        operator = case.run_id.partition("|")[0]
        for side in dict.fromkeys(trial.side.process for trial in trials):
            outcomes = {trial.direction: self._outcomes[trial.key] for trial in trials if trial.side.process == side}
            if self._lines is not None:
                reports = {name: self._reports.get(outcome.trial.key, {}) for name, outcome in outcomes.items()}
                self._lines.add(self._show.line(case, operator, outcomes, reports))
            for direction, outcome in outcomes.items():
                samples, summary = self._show.samples(outcome), self._show.summary(outcome)
                if samples is not None:
                    self._sampled.append((case.run_id, direction, samples))
                why = outcome.reason.message if outcome.reason is not None else ""
                text = format_seconds(summary.median) if summary is not None else f"{outcome.status}: {why}"
                emit(f"{one_line(f'{case.run_id}  {direction}  {text}')}\n")


def header(options: argparse.Namespace, config: ParamConfig) -> dict[str, Any]:
    """Return the first line: the request, and where it is measured."""
    values = {name: str(value) if isinstance(value, Path) else value for name, value in vars(options).items()}
    return {
        "run_options": {
            **values,
            "pass_type": "backward" if options.backward else "forward",
            "op_exec_mode": options.exec_mode,
            "time_unit": "millisecond",
        },
        "sys_info": {
            "hostname": socket.gethostname(),
            "pid": os.getpid(),
            "cwd": str(Path.cwd()),
            "python_version": platform.python_version(),
            "opperf_version": __version__,
            "machine": machine.facts(),
        },
        "start_time": _timestamp(),
        "notes": list(config.notes),
    }


def _timestamp() -> str:
    return datetime.now().isoformat(timespec="seconds")


#: The format counts microseconds.
MICRO = 1e3


def write_trace(path: Path, samples: Iterable[tuple[str, str, Samples]]) -> None:
    """Write the trace of samples, each with its run id and direction."""
    events: list[dict[str, Any]] = []
    rows: dict[str, int] = {}
    clock = 0.0
    for run_id, direction, metric_samples in samples:
        row = rows.setdefault(direction, len(rows) + 1)
        for number, sample in enumerate(metric_samples.samples):
            length = sample.wall_ns / MICRO
            events.append(
                {
                    "name": run_id, "cat": direction, "ph": "X", "ts": clock, "dur": length, "pid": 1, "tid": row,
                    "args": {
                        "sample": number, "calls": sample.calls, "clean": sample.clean,
                        "cpu_us": sample.cpu_ns / MICRO,
                    },
                }
            )  # fmt: skip
            clock += length
    names = [
        _metadata("process_name", "opperf", 0),
        *(_metadata("thread_name", name, row) for name, row in rows.items()),
    ]
    write_text(path, json.dumps({"traceEvents": [*names, *events], "displayTimeUnit": "ms"}))


def _metadata(what: str, name: str, row: int) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": 1, "tid": row, "args": {"name": name}}
