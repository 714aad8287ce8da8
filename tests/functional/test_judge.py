"""`opperf judge` on NumPy: what candidates do that are not right, and that those which are right are told so."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.each import each

from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.errors import InputError
from opperf.domain.judging import RIGHT, Judged
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.verdict import Rule
from opperf.parent.judge.judge import Terms, judge

SOFTMAX = """
import numpy as np
def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)
"""
CASE = Case("softmax", {"data": TensorSpec((16, 32))}, {"axis": -1})


def verdict_on(body: str, folder: Path, case: Case = CASE) -> Judged:
    """Return the verdict on a candidate with this code behind a softmax."""
    file = folder / "candidate.py"
    file.write_text(SOFTMAX + body)
    trial = Trial(case, Side("numpy"), "forward")
    (judged,) = judge("softmax", trial, [Code(f"{file}:f")], Terms(Settings(), Rule(pairs=3)), lambda _: None)
    return judged


@each(
    ("body", "verdict", "slug"),
    [
        (
            (
                "memo = {}\ndef f(x):\n    place = x.ctypes.data\n    if place not in memo:\n"
                "        memo[place] = softmax(x)\n    return memo[place]\n"
            ),
            "wrong",
            "replays",
        ),
        ("def f(x):\n    y = softmax(x)\n    x *= 0\n    return y\n", "wrong", "changes_inputs"),
        ("def f(x):\n    return softmax(x.astype(np.float16)).astype(np.float32)\n", "wrong", "precision"),
        ("def f(x):\n    return softmax(x).astype(np.float64)\n", "wrong", "other_type"),
        ("def f(x):\n    return softmax(x)[:-1]\n", "wrong", "other_shape"),
        ("def f(x):\n    return softmax(x), x\n", "wrong", "other_shape"),
        ("def f(x):\n    raise RuntimeError('no')\n", "wrong", "fails"),
        ("raise RuntimeError('no')\n", "wrong", "load"),
        ("def f(x):\n    import os\n    os._exit(0)\n", "cheats", "exits"),
        ("def f(x):\n    import ctypes\n    return ctypes.string_at(0)\n", "wrong", "fails"),
        (
            (
                "out = {}\ndef f(x):\n    y = out.setdefault(x.shape, np.empty_like(x))\n    y[:] = softmax(x)\n"
                "    return y\n"
            ),
            "wrong",
            "outputs_share_memory",
        ),
        (
            (
                "import threading, time\ndef f(x):\n    y = np.zeros_like(x)\n    def work():\n"
                "        time.sleep(0.005)\n"
                "        y[:] = softmax(x)\n    threading.Thread(target=work, daemon=True).start()\n    return y\n"
            ),
            "cheats",
            "works_after_return",
        ),
        ("def f(x):\n    y = softmax(x)\n    y[len(x) // 2:] = 0\n    return y\n", "wrong", "computes_a_part"),
    ],
)
def test_a_candidate_that_is_not_right_is_told_why(tmp_path: Path, body: str, verdict: str, slug: str) -> None:
    judged = verdict_on(body, tmp_path)
    assert (judged.verdict, judged.evidence[0].slug) == (verdict, slug), judged.reason
    assert judged.score == 0.0


def test_a_candidate_that_is_right_gets_a_verdict_on_its_speed(tmp_path: Path) -> None:
    judged = verdict_on("f = softmax\n", tmp_path)
    assert judged.verdict in RIGHT, judged.reason


def test_what_a_candidate_prints_and_says_is_not_believed(tmp_path: Path) -> None:
    body = (
        "import os\ndef f(x):\n    for descriptor in map(int, os.listdir('/proc/self/fd')):\n        try:\n"
        '            os.write(descriptor, b\'{"id": 1, "ok": {}}\\n\')\n        except OSError:\n            pass\n'
        "    return softmax(x)\n"
    )
    judged = verdict_on(body, tmp_path)
    assert judged.verdict == "cheats", judged.reason
    assert judged.evidence[0].slug == "forged_messages"


def test_a_candidate_that_serves_its_shape_alone_is_right_there(tmp_path: Path) -> None:
    case = Case("candidate.py:f", {"x": TensorSpec((16, 32))})
    file = tmp_path / "reference.py"
    file.write_text(SOFTMAX)
    (tmp_path / "candidate.py").write_text(
        SOFTMAX + "def f(x):\n    if x.shape[1] > 32: raise ValueError(x.shape)\n    return softmax(x)\n"
    )
    trial = Trial(case, Side("numpy", implementation=Code(f"{file}:softmax")), "forward")
    terms = Terms(Settings(), Rule(pairs=3))
    (judged,) = judge("reference", trial, [Code(f"{tmp_path / 'candidate.py'}:f")], terms, lambda _: None)
    assert judged.verdict in RIGHT, judged.reason
    assert [one.slug for one in judged.evidence] == ["listed_sizes_only"]


def test_a_reference_that_changes_its_input_as_declared_gets_the_same_values_each_time(tmp_path: Path) -> None:
    declared = "import numpy as np, opperf\n@opperf.operator(framework='numpy', mutates=('x',))\ndef f(x):\n"
    (tmp_path / "reference.py").write_text(f"{declared}    x *= 2\n    return x\n")
    (tmp_path / "candidate.py").write_text(f"{declared}    x *= 2\n    x += 1\n    return x\n")
    reference = Code(f"{tmp_path / 'reference.py'}:f")
    trial = Trial(
        Case("reference.py:f", {"x": TensorSpec((16, 32))}), Side("numpy", implementation=reference), "forward"
    )
    candidate = Code(f"{tmp_path / 'candidate.py'}:f")
    (judged,) = judge("reference", trial, [candidate], Terms(Settings(), Rule(pairs=3)), lambda _: None)
    assert (judged.verdict, judged.evidence[0].slug) == ("wrong", "wrong_values"), judged.reason


def test_a_reference_that_fails_is_bad_input(tmp_path: Path) -> None:
    case = Case("softmax", {"data": TensorSpec((4, 4))}, {"axis": 7})
    with pytest.raises(InputError, match="the reference `softmax` fails"):
        verdict_on("f = softmax\n", tmp_path, case)
