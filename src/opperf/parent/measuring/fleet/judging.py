"""Candidates on a fleet: their sources go out with an order, and a node judges them in a room, as any judge does.

Only what a user named to be judged travels: the file of each candidate, and that of the function they are held against.
On the node each lies in a private folder while it is judged. A node that has too little for a room judges nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from opperf.domain.code import Code
from opperf.domain.errors import HarnessError, InputError
from opperf.domain.files.destination import ScratchFolder
from opperf.domain.files.text_file import read_bytes
from opperf.domain.plan import Trial
from opperf.domain.reason import Reason
from opperf.parent.documents.candidates import Judged as Verdict
from opperf.parent.measuring.fleet.engine import Answer, JudgedSource, Judging, Order
from opperf.parent.measuring.judge.batch import judge_batch
from opperf.parent.measuring.judge.judge import Terms
from opperf.parent.measuring.judge.submissions import Submission, of_bytes
from opperf.parent.workers.room import belongings


def source_of(code: Code, name: str, content: bytes | None = None) -> JudgedSource:
    """Return the source of a function, read from its file unless it is there; raises `InputError` for what has more."""
    place, _, function = code.name.rpartition(":")
    if content is None:
        file = Path(place)
        if file.suffix != ".py" or belongings(file) != file.absolute():
            what = f"is in the package {belongings(file)}" if file.suffix == ".py" else "is in a module"
            raise InputError(
                f"`{code.name}` {what}, and `--fleet` sends single files",
                hint="name a file that stands alone: `my_kernel.py:f`",
                slug="fleet_code",
            )
        content = read_bytes(file)
    return JudgedSource(name, function, content.decode("latin-1"))


def judge(order: Order, judging: Judging, note: Callable[[str], None]) -> Answer:
    """Return the verdicts on the candidates of an order; raises `HarnessError` where this machine has no room."""
    if order.rule is None:
        raise InputError("an order to judge has no rule")
    facts: dict[str, object] = {}
    terms = Terms(
        order.settings,
        order.rule,
        meet=facts.update,
        constant=judging.constant,
        explain=order.explain,
    )
    verdicts: dict[int, Verdict] = {}
    with closing(ScratchFolder("candidates")) as scratch:
        folder = scratch.path / "many"
        submissions = [_submission(one, folder / f"{number}") for number, one in enumerate(judging.candidates)]
        trial = _trial(judging, scratch.path / "reference")
        try:
            with closing(judge_batch(judging.against, trial, submissions, terms, note, jobs=judging.jobs)) as batch:
                for submission, verdict in batch:
                    verdicts[id(submission)] = verdict
        except InputError as error:
            if error.slug == "no_room":  # another machine may have one; that there is none is no way out over a fleet
                raise HarnessError(error.message, slug=error.slug) from error
            return Answer(fault=Reason(error.slug, error.message, error.hint))
    return Answer(judgements=tuple(verdicts[id(one)] for one in submissions), frameworks=(facts,))


def _submission(one: JudgedSource, folder: Path) -> Submission:
    """Return a candidate as a judge takes it, which is to lie in a folder of its own."""
    return of_bytes(one.name, one.function, one.content.encode("latin-1"), folder)


def _trial(judging: Judging, folder: Path) -> Trial:
    """Return the reference on its side, with its file there where it is code."""
    trial = judging.trial
    if judging.reference is None:
        return trial
    reference = _submission(judging.reference, folder)
    reference.write()
    return replace(trial, side=replace(trial.side, implementation=reference.code))
