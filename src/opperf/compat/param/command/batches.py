"""Batches: cases that one start of a tool looks at, in one process that the tool starts.

The tool's results are read back for each trial. Its report stays next to the results, and so does the batch
itself, so that the command can be given again.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from opperf.compat.param.command.kernels import FILTER, Launch, label, summarize
from opperf.compat.param.command.tools import OBSERVER, Tool
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import HarnessError, OpperfError
from opperf.domain.files.destination import write_text
from opperf.domain.message.batch import Batch, LabeledTrial
from opperf.domain.plan import Settings, Trial
from opperf.domain.reason import Reason
from opperf.param.cases import ConfigCase
from opperf.parent.workers.interpreters import interpreter
from opperf.parent.workers.package import package_folder
from opperf.parent.workers.passwords import environment_of
from opperf.parent.workers.supervision import carry_out
from opperf.parent.workers.variables import child_variables

#: A case and what is measured of it.
Part = tuple[ConfigCase, Sequence[Trial]]
#: What a tool saw, or why it saw nothing, by trial.
Seen = dict[tuple[object, ...], dict[str, Any]]


@dataclass(frozen=True)
class Watch:
    """How batches are run: the settings, the file next to which they write, and who is notified."""

    options: argparse.Namespace
    settings: Settings
    beside: Path
    note: Callable[[str], None]

    def run(self, tool: Tool, waiting: Sequence[Part]) -> Iterator[tuple[dict[str, Any], Seen]]:
        """Start a tool on each batch; yield PARAM's line of the batch, and what was seen."""
        observes = tool.name == OBSERVER
        pattern = f"{glob.escape(self.beside.stem)}_{tool.name}*_batch.json"
        earlier = len(list(self.beside.parent.glob(pattern))) if self.options.append else 0
        most = len(waiting) if observes else self.options.run_batch_size  # PARAM's observer sees the whole run
        for number, parts in enumerate(batches(waiting, most), earlier):
            suffix = "" if observes and number == 0 else f"_{number}"
            stem = self.beside.absolute().with_name(f"{self.beside.stem}_{tool.name}{suffix}")
            labels = {
                observed(case.run_id, trial.direction) if observes else label(i, trial.direction): trial
                for i, (case, trials) in enumerate(parts)
                for trial in trials
            }
            batch = self._batch(tool, stem, labels).to_json()
            line: dict[str, Any] = {
                f"{tool.name}_file": str(tool.report(stem)),
                f"{tool.name}_cmd_str": None,
                "config": batch,
                "start_run_id": parts[0][0].run_id,
                "end_run_id": parts[-1][0].run_id,
            }
            self.note(f"{tool.name}: batch {number}, {len(parts)} cases from {line['start_run_id']}")
            try:
                command, variables = self._command(tool, stem, next(iter(labels.values())))
                assignments = [f"{name}={value}" for name, value in variables.items() if os.environ.get(name) != value]
                line[f"{tool.name}_cmd_str"] = shlex.join(["env", *assignments, *command])
                write_text(_file(stem), json.dumps(batch))
                reports = self._reports(tool, stem, command, variables, labels)
            except OpperfError as error:  # no environment, no tool, no report: the operators are measured all the same
                reason = Reason(error.slug, error.message, error.hint)
                self.note(f"{tool.name}: {error.message}")
                reports = {trial.key: {"reason": reason.to_json()} for trial in labels.values()}
            yield line, reports

    def _batch(self, tool: Tool, stem: Path, labels: Mapping[str, Trial]) -> Batch:
        """Return the request to a batch's process."""
        trials = list(labels.values())
        if self.options.batch_cuda_device is not None:  # the only one that the process sees
            trials = [
                replace(one, side=replace(one.side, device=_first_of_its_kind(one.side.device))) for one in trials
            ]
        return Batch(
            side=replace(trials[0].side, implementation=None),
            seed=self.settings.seed,
            folder=str(Path.cwd()),
            filter=FILTER,
            warmup=tool.warmup,
            iterations=tool.iterations,
            outcomes=str(_outcomes(stem)),
            trials=tuple(map(LabeledTrial, labels, trials)),
            execution_trace=str(tool.report(stem)) if tool.name == OBSERVER else None,
        )

    def _command(self, tool: Tool, stem: Path, first: Trial) -> tuple[list[str], dict[str, str]]:
        """Return the command of a batch, and the variables that it runs with."""
        spec = environment_of(first.side.environment)
        python = interpreter(spec, framework=first.side.framework, progress=self.note)
        variables = child_variables(package_folder(), own_path=spec.kind == "current", bytecode=False)
        if self.options.batch_cuda_device is not None:
            variables["CUDA_VISIBLE_DEVICES"] = str(self.options.batch_cuda_device)
        own = [str(python), "-m", "opperf.child.worker.batch"]
        behind = shlex.split(self.options.batch_cmd) if self.options.batch_cmd else own
        return tool.command(stem, [*behind, str(_file(stem))]), {**variables, **first.side.variables}

    def _reports(
        self, tool: Tool, stem: Path, command: Sequence[str], variables: Mapping[str, str], labels: Mapping[str, Trial]
    ) -> Seen:
        """Run a command, and return what its report says of each trial; raises `HarnessError`."""
        for old in (tool.report(stem), _outcomes(stem)):
            old.unlink(missing_ok=True)
        code, output = run(command, variables, self.settings.timeout * len(labels))
        if code != 0:
            why = " / ".join(tool.complaints(stem) or output)
            hint = "`--run-batch-size 1` shows which case it is, if it is one"
            raise HarnessError(f"`{command[0]}` ended with {code}: {why}", hint=hint, slug="tool_failed")
        try:
            launches = tool.read(tool.report(stem))
            # A command of the user's own need not write any.
            failures = json.loads(_outcomes(stem).read_text(encoding="utf-8")) if _outcomes(stem).exists() else {}
        except (OSError, ValueError) as error:
            raise HarnessError(f"the report of {tool.name} cannot be read: {error}", slug="tool_failed") from error
        _outcomes(stem).unlink(missing_ok=True)
        return {
            trial.key: _of_trial(tool, launches.get(name), failures.get(name)) | {"file": str(tool.report(stem))}
            for name, trial in labels.items()
        }


def observed(run_id: str, direction: str) -> str:
    """Return PARAM's label of a case's calls in an execution trace.

    >>> observed("torch.mm|0|0|0", "forward")
    '[param|torch.mm|0|0|0|measure|forward]'
    """
    return f"[param|{run_id}|measure|{direction}]"


def batches(waiting: Sequence[Part], most: int) -> Iterator[list[Part]]:
    """Yield the cases in batches, each of one side; a trial that several cases share is in the first one's."""
    keys: set[tuple[object, ...]] = set()
    sides: dict[tuple[object, ...], list[Part]] = {}
    for case, trials in waiting:
        new = [trial for trial in trials if trial.key not in keys]
        keys.update(trial.key for trial in new)
        for process in dict.fromkeys(trial.side.process for trial in new):
            part = (case, [trial for trial in new if trial.side.process == process])
            sides.setdefault(process, []).append(part)
    for parts in sides.values():
        yield from (parts[first : first + most] for first in range(0, len(parts), most))


def run(command: Sequence[str], variables: Mapping[str, str], timeout: float) -> tuple[int, list[str]]:
    """Run a command to its end; return its exit code and its last words, or raise `HarnessError`."""
    folder = Path(variables["PYTHONPATH"].split(os.pathsep)[0])  # `-m` looks there first, and must find nothing else
    try:
        done = carry_out(command, timeout, variables, folder, errors=subprocess.STDOUT)
    except OSError as error:
        raise HarnessError(f"cannot start `{command[0]}`: {error}", slug="tool_failed") from error
    except subprocess.TimeoutExpired as error:
        raise HarnessError(f"`{command[0]}` was not finished within {timeout:g} s", slug="tool_failed") from error
    return done.returncode, done.stdout.strip().splitlines()[-3:]


def _of_trial(tool: Tool, launches: Sequence[Launch] | None, failure: Mapping[str, Any] | None) -> dict[str, Any]:
    if failure is not None:
        return {"reason": Reason.from_json(failure).to_json()}
    if tool.name == OBSERVER:
        return {}
    if launches is None:
        reason = Reason("no_kernels", f"{tool.name} saw no kernel of these calls", "kernels run on a GPU: `-d cuda`")
        return {"reason": reason.to_json()}
    return summarize(launches, tool.iterations)


def _first_of_its_kind(device: str) -> str:
    return device if device == "cpu" else "cuda:0"


def _file(stem: Path) -> Path:
    return stem.with_name(f"{stem.name}_batch.json")


def _outcomes(stem: Path) -> Path:
    return stem.with_name(f"{stem.name}_outcomes.json")
