"""What a user wants judged, from the command line or from the library, until its last verdict."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import field, replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.destination import ScratchFolder
from opperf.domain.judging import tensors
from opperf.domain.plan import Trial
from opperf.parent.analysis.verdict import Rule
from opperf.parent.documents.candidates import Judged, JudgedRun
from opperf.parent.measuring.contest import header, start
from opperf.parent.measuring.judge.batch import judge_batch
from opperf.parent.measuring.judge.candidates import reference_trials
from opperf.parent.measuring.judge.judge import Terms
from opperf.parent.measuring.judge.submissions import Submission, of_source, submission_of, submissions
from opperf.parent.measuring.progress import Progress, Silent, Stoppable
from opperf.parent.planning import request as requests
from opperf.parent.planning.request import Request
from opperf.parent.sources.options import Vetting
from opperf.parent.store.judgements import Lines
from opperf.parent.store.output_lock import lock_output
from opperf.parent.workers import gpus
from opperf.parent.workers.passwords import own_command

if TYPE_CHECKING:
    from opperf.parent.measuring.fleet.dispatch import Fleet

#: What `--room` may be: what confines candidates as far as the machine offers it, or nothing.
ROOMS = ("auto", "none")


@dataclass(frozen=True)
class Order:
    """Which candidates are judged against what, and how they are vetted.

    A candidate is a function, a file that has one, or a text of Python, which has several lines. Verdicts are added to
    `output` as they come; where that is to be resumed those that are there stay.
    """

    candidates: Sequence[str]
    against: str
    vetting: Vetting = field(default_factory=Vetting)
    output: Path | None = None
    force: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = ()


def judge_all(
    order: Order,
    request: Request,
    rule: Rule,
    progress: Progress,
    meet: Callable[[Mapping[str, object]], None] = lambda _: None,
    elsewhere: Fleet | None = None,
) -> Generator[tuple[int, Judged], None, None]:
    """Yield the number of each candidate with its verdict, those of an earlier command first.

    `meet` gets what examiners say of their framework. Raises `InputError` for bad input. Ending the iteration early
    ends every child.
    """
    vetting = order.vetting
    if vetting.resume and order.output is None:
        raise InputError("`--resume` continues a file", hint="name it: `--output FILE.jsonl`")
    if vetting.room not in ROOMS:
        raise InputError(f"`--room` is `{vetting.room}`, expected {' or '.join(ROOMS)}")
    with ExitStack() as stack:
        scratch = stack.enter_context(closing(ScratchFolder("candidates")))
        every = _candidates(order, scratch.path)
        settings = requests.settings(request)
        trials, problem = reference_trials(order.against, request, settings, progress)
        if elsewhere is None:
            gpus.check_devices((trial.side.framework, trial.side.device) for trial in trials)
        constant = _constant(vetting.constant, trials)
        family = replace(rule, family=len(every) * len(trials))
        plugins = requests.plugin_files(request.what.plugin, request.where.framework)
        numbers = {id(one): number for number, one in enumerate(every)}
        lines = _lines(order, trials, rule, stack)
        batches: list[tuple[Trial, Sequence[Submission]]] = []
        for trial in trials:
            left = []
            for number, submission in enumerate(every):
                if lines is not None and lines.has(submission.name, submission.digest, trial.case.id):
                    yield number, lines.earlier[submission.name, trial.case.id]
                else:
                    left.append(submission)
            batches.append((trial, left))
        total = sum(len(left) for _, left in batches)
        # Of one candidate the pairs are shown, of several how many are over.
        pairs: Progress = progress if total == 1 else Silent()
        confined = vetting.room == "auto"
        terms = Terms(settings, family, confined, plugins, meet, constant, vetting.explain, problem, pairs)
        stack.callback(progress.close)
        if elsewhere is None:
            note = progress.note if vetting.many is None else _silent  # of thousands their verdicts are enough
            batch = _judged_here(order.against, batches, terms, note, vetting.jobs)
        else:
            batch = elsewhere.judgements(order.against, batches, terms, jobs=vetting.jobs)
        _show(progress, 0, total)
        for count, (submission, judged) in enumerate(stack.enter_context(closing(batch)), 1):
            _show(progress, count, total)
            if lines is not None:
                lines.add(judged, submission.digest)
            yield numbers[id(submission)], judged


def _candidates(order: Order, folder: Path) -> list[Submission]:
    """Return the candidates, texts of Python as files of a folder; raises `InputError` where there are none."""
    candidates = [
        of_source(f"candidate {number}", text, folder / f"{number}", order.against)
        if "\n" in text
        else submission_of(text, order.against)
        for number, text in enumerate(order.candidates, 1)
    ]
    if order.vetting.many is not None:
        candidates += submissions(order.vetting.many, order.against, folder / "many")
    if not candidates:
        raise InputError("nothing to judge", hint="name candidates: `opperf judge my_kernel.py:f --against softmax`")
    return candidates


def _show(progress: Progress, count: int, total: int) -> None:
    """Show how many candidates have their verdict, where there are several."""
    if total > 1:
        progress.step("judging candidates", count, total)


def _judged_here(
    against: str,
    batches: Sequence[tuple[Trial, Sequence[Submission]]],
    terms: Terms,
    note: Callable[[str], None],
    jobs: int,
) -> Generator[tuple[Submission, Judged], None, None]:
    for trial, left in batches:
        with closing(judge_batch(against, trial, left, terms, note, jobs=jobs)) as batch:
            yield from batch


def judged_run(
    order: Order,
    request: Request,
    rule: Rule,
    progress: Progress,
    each: Callable[[Judged], None] = lambda _: None,
    *,
    elsewhere: Fleet | None = None,
) -> tuple[JudgedRun, BaseException | None]:
    """Return the verdicts as a document, by candidate, and what stopped the judge, None when nothing did.

    `each` gets every verdict as it comes. Raises `InputError` for bad input.
    """
    began = start()
    facts: dict[str, object] = {}
    verdicts: list[tuple[int, Judged]] = []
    with Stoppable() as judging:
        for number, judged in judge_all(order, request, rule, progress, facts.update, elsewhere):
            verdicts.append((number, judged))
            each(judged)
    run = header(requests.settings(request), began, {"reference": facts}, labels=order.labels, command=order.command)
    if elsewhere is not None:
        run = replace(run, environment={**run.environment, "nodes": elsewhere.nodes})
    return JudgedRun(run, tuple(judged for _, judged in sorted(verdicts, key=itemgetter(0)))), judging.cause


def _constant(names: Sequence[str], trials: Sequence[Trial]) -> tuple[str, ...]:
    """Return the inputs that are constant, in order; raises `InputError` for what is no input, and where all are."""
    for trial in trials:
        inputs = list(dict.fromkeys(place.partition("[")[0] for place, _ in tensors(trial.case)))
        listing = f"{trial.case.operator} has {', '.join(f'`{name}`' for name in inputs) or 'no inputs'}"
        for name in names:
            if name not in inputs:
                raise InputError(f"`--constant {name}`: there is no such input", hint=listing, slug="constant")
        if inputs and set(inputs) <= set(names):
            raise InputError(
                "`--constant`: where all inputs are constant nothing is left to compute", hint=listing, slug="constant"
            )
    return tuple(sorted(set(names)))


def _lines(order: Order, trials: Sequence[Trial], rule: Rule, stack: ExitStack) -> Lines | None:
    """Return the file that verdicts are added to; another command that has it is told of."""
    if order.output is None:
        return None
    going_on = order.output if order.vetting.resume else None
    lock = lock_output(order.output, own_command(), force=order.force, inputs=[order.vetting.many], resume=going_on)
    if lock is not None:
        stack.callback(lock.close)
    terms = {
        "against": order.against,
        "side": trials[0].side.to_json(),
        "cases": [trial.case.id for trial in trials],
        "tolerance": rule.tolerance,
        "pairs": rule.pairs,
        "room": order.vetting.room,
        **({"constant": sorted(set(order.vetting.constant))} if order.vetting.constant else {}),
    }
    return stack.enter_context(closing(Lines(order.output, terms, resume=order.vetting.resume)))


def _silent(_: str) -> None:
    """Say nothing."""
