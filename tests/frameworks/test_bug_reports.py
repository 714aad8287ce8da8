"""Every command of the page `from-a-bug-report.md`, on small shapes: it means what it says, and is measured.

The names, arguments and inputs are those of the page; sizes are small, releases are those that opperf builds by
themselves, and a side of a comparison is measured once instead of beside the other. All commands share a child for each
environment.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.conftest import ROOT, Page
from tests.docs.test_commands import commands
from tests.functional.conftest import invoke

from opperf.domain.plan import Side
from opperf.parent.documents.comparison import Verdict
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest
from opperf.parent.workers.pool import Pool
from opperf.parent.workers.process import Worker

FILE = ROOT / "docs" / "how-to" / "from-a-bug-report.md"
PAGE = Page(FILE, FILE.read_text(encoding="utf-8"))
COMMANDS = [words for block in PAGE.blocks("sh") for words in commands(block.text)]
#: One sample, of what is not checked: whether a result is right is tested elsewhere.
ONCE = ("--runs", "1", "--warmup", "0", "--no-check", "--format", "json")
#: Sizes up to this are as they are.
SMALL = 8
#: A size, a number or a bound; no part of an element type.
SIZE = re.compile(r"(?<![a-wyz.\d])\d+|(?<=\.\.)\d+")


def small(number: int) -> int:
    """Return a small size: equal ones stay equal, and none overtakes another."""
    return number if number <= SMALL else SMALL + math.ceil(math.log2(number / SMALL))


def small_text(text: str) -> str:
    """Return an input or an attribute with small sizes; strides fit their own shape alone."""
    if "strides" in text or "2^" in text:
        return text.replace("1000000", "20")
    name, _, value = text.partition("=")
    return f"{name}={SIZE.sub(lambda match: str(small(int(match[0]))), value)}"


def small_words(words: list[str]) -> list[str]:
    """Return a command on small shapes, in the environments that opperf builds by themselves."""
    result = []
    for option, word in zip(["", *words], words):
        if option in ("--input", "--attribute"):
            result.append(small_text(word) if "=" in word else small_text(f"x={word}").removeprefix("x="))
        elif option in ("--base", "--new"):
            plain = re.sub(r"(torch|jax|onnxruntime)==[0-9.]+", r"\1", word).replace(";mode=compiled", "")
            result.append(re.sub(r"^numpy==(1.26.4|2.2.4|2.0.0)$", "numpy", plain).replace("0.61.2", "0.62.1"))
        else:
            result.append(word)
    if result[0] == "bisect":
        ends = [result.index("--good"), result.index("--bad")]
        return [
            "run",
            *(word for place, word in enumerate(result[1:], 1) if place - 1 not in ends and place not in ends),
        ]
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, one_cache: Path, forked_children: None) -> Iterator[Path]:
    """A folder with the files of the page, where commands share their children, which are forked."""
    place = tmp_path_factory.mktemp("reports")
    for block in PAGE.blocks("py"):
        title, _, _ = block.text.partition("\n")
        (place / title.removeprefix("# ")).write_text(block.text)
    pools: dict[tuple[object, ...], Pool] = {}
    worker = Pool.worker

    def shared(pool: Pool, side: Side) -> Worker:
        one = pools.setdefault(side.process, pool)
        pool.facts = one.facts
        return worker(one, side)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPPERF_CACHE_DIR", str(one_cache))
        patch.chdir(place)
        patch.setattr(Pool, "worker", shared)
        patch.setattr(Pool, "begin", lambda pool, trial: None)
        patch.setattr(Pool, "__exit__", lambda *trouble: None)
        patch.setattr(Comparing, "run", measure_both)
        yield place
    for pool in pools.values():
        pool.close()


def measure_both(comparing: Comparing, contests: list[Contest], pairs: int | None = None) -> None:
    """Measure each side of each comparison once, without the other."""
    with Pool(comparing.settings, print) as pool:
        for contest in contests:
            for trial in (contest.base, contest.new):
                outcome = pool.measure(trial, 0)
                assert outcome.status == "ok", outcome.reason
            contest.verdict = Verdict("same", 1.0, (0.99, 1.01), "each was measured once", 1)


def test_sizes_stay_in_their_order() -> None:
    assert small_text("index=128x256x128:int64:range=0..64") == "index=12x13x12:int64:range=0..11"
    assert [small_text(text) for text in ("k=50", "axis=-1", "weight=64x64x3x3:denormal")] == [
        "k=11",
        "axis=-1",
        "weight=11x11x3x3:denormal",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_a_report_is_one_command(words: list[str], folder: Path) -> None:
    once = ONCE if words[0] != "compare" else ("--format", "json", "--no-check")
    done = invoke(*small_words(words), *once)
    assert done.code == 0, f"{small_words(words)}\n{done.err}"
    document = json.loads(done.out)
    statuses = [one["status"] for one in document.get("records", ())]
    verdicts = [one["verdict"] for one in document.get("comparisons", ())]
    assert set(statuses + verdicts) <= {"ok", "same"}
