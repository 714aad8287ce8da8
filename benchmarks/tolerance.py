"""What the judge's tolerance refuses: no framework's own results, and nearly every error that is planted in them.

Each operator of the catalog is computed by PyTorch, JAX and NumPy at three sizes. Each in turn is the reference whose
own error sets the bounds; the results of the others are honest candidates, and errors are planted in its own.

python benchmarks/tolerance.py
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np
from report import publish
from warm_worker import start_worker

from opperf.catalog import Operator, catalog
from opperf.child.judging.elements import decode, rounded, roundoff, smallest
from opperf.child.judging.reference import Problem, problem
from opperf.child.judging.sensitivity import Moves, measure
from opperf.child.judging.tolerance import SINGLE, difference, settle
from opperf.domain.backend import Unsupported
from opperf.domain.case import Case
from opperf.domain.errors import OperatorFailure
from opperf.domain.message.requests import Evaluate
from opperf.domain.plan import REFERENCE, Side, Trial
from opperf.domain.registry import FRAMEWORKS
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment
from opperf.parent.workers.process import Worker

NAMES = ("torch", "jax", "numpy")
#: The third has one dimension that dwarfs another, and extents that are no powers of two.
SIZES = ("small", "common", "skewed")
#: Larger cases take minutes of one CPU: operations, and bytes of the inputs or of the results.
MOST_FLOPS, MOST_BYTES = 5e7, 5e6
#: Of the operators, which are in the order of their families, every so many are computed at the larger sizes too.
EVERY = {"small": 1, "common": 7, "skewed": 7}
#: Errors of so many units; the share of the terms that is dropped, and of the result that is the last tile.
UNITS, DROPPED, TILE = 10, 1e-3, 1 / 16
#: Elements below this share of the largest one are small, and terms are dropped where a sum has at least so many.
SMALL, MANY_TERMS = 1e-3, 100
Arrays = Sequence[Any]


def cases() -> Iterator[tuple[Operator, str, Case]]:
    """Go through the operators that compute the same at each call, at each size that is not too large."""
    for number, operator in enumerate(catalog().values()):
        for size in (size for size in SIZES if number % EVERY[size] == 0):
            case = operator.case(size)
            output = sum(tensor.nbytes for tensor in operator.outputs(case))
            large = operator.flops(case) > MOST_FLOPS or max(case.input_bytes, output) > MOST_BYTES
            if not operator.random and not large:
                yield operator, size, case


def evaluate(worker: Worker, case: Case, count: int, folder: Path) -> tuple[Arrays, Sequence[str]] | None:
    """Return what a framework computes and in which element types, None where it cannot."""
    try:
        outputs = worker.ask(Evaluate(Trial(case, worker.side, "forward"), 0, str(folder)), 300).outputs[:count]
    except OperatorFailure:
        return None
    values = [decode(Path(one.file).read_bytes(), one.shape, one.dtype) for one in outputs]
    return values, [one.dtype for one in outputs]


def planted(one: Problem, moves: Moves, own: Arrays, dtypes: Sequence[str]) -> Iterator[tuple[str, Arrays]]:
    """Make results with an error, as far as each changes anything."""
    generator = np.random.default_rng(1)
    floats = [place for place, dtype in enumerate(dtypes) if roundoff(dtype) and own[place].size]
    if not floats:
        return
    yield "one element off by 10 units", one_off(moves, own, dtypes, generator)
    for half in ("float16", "bfloat16"):
        with suppress(Unsupported):  # of equal elements the order is not defined, and half makes them equal
            halves = one.exact(lower(one.inputs, one.dtypes, half))
            yield f"{half} inside", narrow(lower(halves, dtypes, half), dtypes)
    if moves.terms >= MANY_TERMS:
        yield "one term in a thousand dropped", narrow(one.exact(drop(one, generator)), dtypes)
    yield "last tile missing", [without_tile(each) for each in own]
    largest = [np.abs(each).max(initial=0, where=np.isfinite(each)) for each in own]
    yield "zeros for small elements", [np.where(np.abs(e) < SMALL * most, 0, e) for e, most in zip(own, largest)]


def one_off(moves: Moves, own: Arrays, dtypes: Sequence[str], generator: Any) -> Arrays:
    """Return a result one element of which is off by units: what rounding, and the order of its terms, make of it."""
    results = [each.copy() for each in own]
    place = next(place for place, dtype in enumerate(dtypes) if roundoff(dtype) and own[place].size)
    truth, unit = moves.truth[place].reshape(-1), roundoff(dtypes[place])
    there = np.flatnonzero(np.isfinite(truth) & (truth != 0))
    if not there.size:
        return own
    number = int(generator.choice(there))
    scale = unit * abs(truth[number]) + moves.moves[place].reshape(-1)[number] + smallest(dtypes[place])
    flat = results[place].reshape(-1)
    flat[number] += UNITS * scale * max(1.0, moves.terms**0.5 * min(1.0, SINGLE / unit))
    return narrow(results, dtypes)


def drop(one: Problem, generator: Any) -> Arrays:
    """Return inputs with zeros in place of one element in a thousand of the largest one, at least one.

    They are of the larger half: a term that is nearly zero makes no difference where it is missing.
    """
    place = max(range(len(one.inputs)), key=lambda place: one.inputs[place].size * bool(roundoff(one.dtypes[place])))
    inputs = [each.copy() for each in one.inputs]
    flat = inputs[place].reshape(-1)
    large = np.argsort(np.abs(flat))[flat.size // 2 :]
    flat[generator.choice(large, max(1, round(DROPPED * flat.size)), replace=False)] = 0
    return inputs


def without_tile(values: Any) -> Any:
    """Return a tensor whose last elements are zero."""
    result = values.copy()
    result.reshape(-1)[-max(1, int(TILE * values.size)) :] = 0
    return result


def narrow(values: Arrays, dtypes: Sequence[str]) -> Arrays:
    """Return numbers rounded to the element types of a result."""
    with np.errstate(all="ignore"):
        return [rounded(each, dtype) if roundoff(dtype) else each for each, dtype in zip(values, dtypes)]


def lower(values: Arrays, dtypes: Sequence[str], half: str) -> Arrays:
    """Return numbers rounded to half the precision, those that are real."""
    pairs = zip(values, dtypes)
    return [rounded(each, half) if roundoff(dtype) and each.dtype.kind == "f" else each for each, dtype in pairs]


def differs(values: Arrays, others: Arrays) -> bool:
    """Whether any element is another."""
    return not all(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc") for one, other in zip(values, others))


class Tally:
    """Counts what was refused, for each framework whose own results set the bounds."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, ...]] = Counter()
        self.misses: list[dict[str, Any]] = []

    def add(self, where: Mapping[str, str], kind: str, expected: Any, values: Arrays, *, honest: bool) -> None:
        """Hold a result against the bounds."""
        wrong = next((d for place, one in enumerate(values) if (d := difference(one, expected, place))), None)
        self.counts[where["reference"], kind, "of"] += 1
        self.counts[where["reference"], kind, "refused"] += wrong is not None
        if honest == (wrong is not None):
            self.misses.append({**where, "kind": kind, "why": wrong.sentence("the reference") if wrong else ""})

    def share(self, reference: str, kind: str) -> float:
        """Return the share that was refused."""
        return self.counts[reference, kind, "refused"] / max(1, self.counts[reference, kind, "of"])

    def total(self, kinds: Sequence[str], what: str) -> int:
        """Return how many results of some kinds there are, or were refused, whoever is the reference."""
        return sum(self.counts[name, kind, what] for name in NAMES for kind in kinds)

    def judge(self, operator: Operator, size: str, case: Case, results: Mapping[str, Any]) -> None:
        """Hold the results of each framework against the bounds of each."""
        try:
            one = problem(case, 0, Side("numpy", settings=REFERENCE))
        except (LookupError, Unsupported):
            return
        outputs = [tensor.dtype for tensor in operator.outputs(case)]
        usual = [roundoff(dtype) or SINGLE for dtype in outputs]
        moves = measure(one.exact, one.inputs, one.dtypes, usual, np.random.default_rng(0))
        for name, (own, dtypes) in results.items():
            where = {"operator": operator.name, "size": size, "reference": name}
            expected = settle(moves, own, dtypes)
            for other, (values, kinds) in results.items():
                if [roundoff(kind) for kind in kinds] == [roundoff(kind) for kind in dtypes]:
                    kind = "its own" if other == name else f"of {other}"
                    self.add(where, kind, expected, values, honest=True)
            for kind, values in planted(one, moves, own, dtypes):
                if differs(values, own) and differs(values, narrow(moves.truth, dtypes)):
                    self.add(where, kind, expected, values, honest=False)


def main() -> None:
    """Compute, judge, and print what was refused."""
    tally, count = Tally(), Counter[str]()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        spec = EnvironmentSpec.parse("current")
        sides = [
            Side(name, environment=choose_environment(spec, name).text, mode=FRAMEWORKS[name].mode) for name in NAMES
        ]
        workers = [stack.enter_context(start_worker(side)) for side in sides]
        for operator, size, case in cases():
            number = len(operator.outputs(case))
            results = {each.side.framework: evaluate(each, case, number, Path(folder)) for each in workers}
            count.update(name for name, result in results.items() if result is not None)
            tally.judge(operator, size, case, {name: result for name, result in results.items() if result is not None})
    report(tally, count)


def report(tally: Tally, count: Mapping[str, int]) -> None:
    """Print the tables, and write them."""
    kinds = list(dict.fromkeys(kind for _, kind, what in tally.counts if what == "of"))
    honest = [kind for kind in kinds if kind == "its own" or kind.startswith("of ")]
    wrong = [kind for kind in kinds if kind not in honest]
    rows = [
        {"reference": name, "cases": count[name], **{kind: tally.counts[name, kind, "refused"] for kind in honest}}
        for name in NAMES
    ]
    seen = [{"reference": name, **{kind: tally.share(name, kind) for kind in wrong}} for name in NAMES]
    others = [kind for kind in honest if kind != "its own"]
    figures = {
        "a framework's own results refused": (tally.total(["its own"], "refused"), 0, "results"),
        "other frameworks' results refused": (tally.total(others, "refused") / tally.total(others, "of"), 0.01, ""),
        **{
            f"{kind}: share not seen": (1 - tally.total([kind], "refused") / tally.total([kind], "of"), 0.01, "")
            for kind in wrong
        },
    }
    more = {"planted errors seen, share": seen, "what was not as it should be": tally.misses}
    publish("tolerance", "honest results refused, by whose own error sets the bounds", rows, figures, more)


if __name__ == "__main__":
    main()
