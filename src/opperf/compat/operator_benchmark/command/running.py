"""A run of the command line of PyTorch's runner: which tests it takes, and its lines as soon as a test is done."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from opperf.compat.operator_benchmark.command.flags import USUAL_TAG, first_letters, names
from opperf.compat.operator_benchmark.command.results import Results, Test, header
from opperf.domain.code import SuiteCode
from opperf.domain.errors import InputError, way_out
from opperf.domain.measurement import Outcome
from opperf.domain.plan import Plan, Settings
from opperf.parent.cli.output import tell
from opperf.parent.cli.places import emit, take_output
from opperf.parent.cli.progress import Bar
from opperf.parent.cli.run import leave
from opperf.parent.measuring.progress import Relay
from opperf.parent.measuring.session import Interrupted, Options, Session
from opperf.parent.planning.benchmarks import benchmark_files, labelled_trials
from opperf.parent.planning.selection import Selection
from opperf.parent.workers.passwords import own_command

#: The most seconds that a test may take in all.
TIMEOUT = 3600.0
#: A precision that no sampling reaches, so that it goes on for as long as it may.
NEVER = 1e-9


def settings_of(options: argparse.Namespace) -> Settings:
    """Return the settings that the flags mean."""
    seconds = options.min_time_per_test
    return Settings(
        warmup=None if options.warmup_iterations == -1 else options.warmup_iterations,
        runs=options.iterations if (options.iterations or 0) > 0 else None,
        processes=options.num_runs,
        timeout=TIMEOUT,
        trial_budget=float(seconds) if seconds else Settings.trial_budget,
        precision=NEVER if seconds else Settings.precision,
        latency=False,
    )


def selection_of(options: argparse.Namespace) -> Selection:
    """Return the selection that the flags mean: of all files every test, which `is_selected` chooses from."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Selection(
        benchmarks=[*chain.from_iterable(benchmark_files(SuiteCode("op_bench", path), tell) for path in options.paths)],
        select="",
        environments=() if options.environment is None else (options.environment,),
        devices=() if options.device == "None" else (options.device,),
        modes=("compiled",) if options.use_compile else (),
        threads=options.omp_num_threads or options.mkl_num_threads or cpus or 1,
    )


def is_selected(test: Test, options: argparse.Namespace) -> bool:
    """Whether flags select a test; one that is named is taken whatever its tag, and one that cannot be loaded too."""
    if test.is_broken:
        return options.test_name is None
    tag = options.tag_filter or ("all" if options.list_tests or options.list_ops else USUAL_TAG)
    operators, letters = names(options.operators), first_letters(options.operator_range)
    return (
        options.test_name in (None, test.name)
        and (operators is None or test.operator in operators)
        and (letters is None or test.operator[:1].lower() in letters)
        and (tag == "all" or options.test_name is not None or test.tag == tag)
        and not (options.forward_only and test.is_backward)
    )


def selected_tests(session: Session, options: argparse.Namespace) -> list[Test]:
    """Return the tests that flags select; raises `InputError` where there are none."""
    selection = selection_of(options)
    every = [
        Test(trial, labels)
        for side in session.sides()
        for trial, labels in labelled_trials(selection, side, session.answers)
    ]
    selected = [test for test in every if is_selected(test, options)]
    if not selected:
        examples = ", ".join(f"`{test.name}` ({test.tag})" for test in every[:3])
        raise InputError("no test is selected by these flags", hint=f"there are {len(every)}, such as {examples}")
    return selected


def list_tests(options: argparse.Namespace) -> None:
    """Print the names of tests, or those of their operators."""
    with Session(selection_of(options), settings_of(options), Bar()) as session:
        tests = selected_tests(session, options)
    for test in (test for test in tests if test.is_broken):
        tell(f"left out: `{test.trial.origin}` cannot be loaded; measuring it says why")
    tests = [test for test in tests if not test.is_broken]
    lines = [
        header(options.tag_filter or USUAL_TAG),
        f"# List of {'tests' if options.list_tests else 'Operators to run'}:",
    ]
    lines += [f"# {test.name}" for test in tests] if options.list_tests else _operators(tests)
    emit("\n".join(lines) + "\n")


def _operators(tests: list[Test]) -> Iterator[str]:
    return (f"# {operator}" for operator in dict.fromkeys(test.operator for test in tests))


class Running:
    """Follows a run: when all runs of a test are measured, its lines are printed and written."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._settings = settings_of(options)
        self._progress = Relay(Bar(), self._tell)
        self._waiting: dict[tuple[object, ...], Test] = {}
        self._outcomes: dict[tuple[object, ...], list[Outcome]] = {}
        self._results = Results(options, self._settings)

    def run(self) -> None:
        """Measure; raises `InputError` for bad input, and leaves as `opperf run` does."""
        options, cause = self._options, None
        files = (options.output_csv, options.output_json, options.output_json_for_dashboard)
        for path in filter(None, files):
            take_output(Path(path), force=True, inputs=[Path(name) for name in options.paths if Path(name).is_file()])
        self._results.check()
        with Session(selection_of(options), self._settings, self._progress) as session:
            tests = selected_tests(session, options)
            self._waiting = {test.trial.key: test for test in tests}
            trials = tuple(test.trial for test in self._waiting.values())
            emit(header(None if options.test_name is not None else options.tag_filter or USUAL_TAG) + "\n")
            try:
                run = session.run(Plan(trials, self._settings, trials), Options(command=own_command()))
            except Interrupted as interrupted:
                run, cause = interrupted.run, interrupted.cause
            finally:
                self._progress.close()
            self._write_ready(final=True)
        self._results.write()
        if cause is not None:
            raise way_out(cause)
        leave(run, strict=False)

    def _write_ready(self, *, final: bool) -> None:
        """Write the tests that are measured: in order, up to the first that is not; or all, when nothing more comes."""
        for key, test in list(self._waiting.items()):
            outcomes = self._outcomes.get(key, [])
            if len(outcomes) < self._settings.processes and not final:
                return
            if outcomes:
                emit(self._results.add(test, outcomes))
            del self._waiting[key]

    def _tell(self, outcome: Outcome) -> None:
        """Take what became of a run of a test."""
        self._outcomes.setdefault(outcome.trial.key, []).append(outcome)
        self._write_ready(final=False)
