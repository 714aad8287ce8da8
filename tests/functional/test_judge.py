"""`opperf judge` on NumPy: what candidates do that are not right, and that those which are right are told so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.each import each
from tests.watched import Watched

from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.errors import InputError
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.verdict import Rule
from opperf.parent.documents.candidates import RIGHT, Judged
from opperf.parent.measuring.judge.judge import Terms, judge

SOFTMAX = """
import numpy as np
def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)
"""
NUMPY = Side("numpy")
CASE = Case("softmax", {"data": TensorSpec((16, 32))}, {"axis": -1})
TERMS = Terms(Settings(), Rule(pairs=3, tolerance=10.0))


def verdicts_on(
    bodies: Sequence[str], folder: Path, case: Case = CASE, side: Side = NUMPY, terms: Terms = TERMS
) -> list[Judged]:
    """Return the verdicts on candidates with this code behind a softmax."""
    files = [folder / f"candidate_{number}.py" for number in range(len(bodies))]
    for file, body in zip(files, bodies):
        file.write_text(SOFTMAX + body)
    codes = [Code(f"{file}:f") for file in files]
    return list(judge("softmax", Trial(case, side, "forward"), codes, terms, lambda _: None))


RAISES = "def f(x):\n    raise KeyError('no')\n"
#: What is not right, the verdict on it and why.
WRONG = [
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
    ("class Own(np.ndarray):\n    pass\ndef f(x):\n    return x.view(Own)\n", "wrong", "other_type"),
    ("def f(x):\n    return x[:]\n", "wrong", "outputs_share_memory"),
    ("def f(x):\n    return x.copy()\n", "wrong", "copies_an_input"),
    ("def f(x):\n    return softmax(x)[:-1]\n", "wrong", "other_shape"),
    ("def f(x):\n    return softmax(x), x\n", "wrong", "other_shape"),
    (RAISES, "wrong", "fails"),
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
            "        time.sleep(0.03)\n"
            "        y[:] = softmax(x)\n    threading.Thread(target=work, daemon=True).start()\n    return y\n"
        ),
        "cheats",
        "works_after_return",
    ),
    ("def f(x):\n    y = softmax(x)\n    y[len(x) // 2:] = 0\n    return y\n", "wrong", "computes_a_part"),
]


def test_candidates_that_are_not_right_are_told_why(tmp_path: Path) -> None:
    judged = verdicts_on([body for body, _, _ in WRONG], tmp_path)
    seen = [(body, one.verdict, one.evidence[0].slug) for (body, _, _), one in zip(WRONG, judged)]
    assert seen == WRONG, [one.reason for one in judged]
    assert {one.score for one in judged} == {0.0}
    assert next(one.reason for (body, _, _), one in zip(WRONG, judged) if body == RAISES) == "KeyError: 'no'"


def test_candidates_that_are_right_get_a_verdict_on_their_speed(tmp_path: Path) -> None:
    slow_at_its_shape = (
        "def f(x):\n    if x.shape != (16, 32): raise ValueError(x.shape)\n    np.ctypeslib.as_ctypes(x)\n"
        "    return [softmax(x) for _ in range(30)][-1]\n"
    )
    progress = Watched()
    as_fast, slow = verdicts_on(["f = softmax\n", slow_at_its_shape], tmp_path, terms=replace(TERMS, progress=progress))
    assert progress.lines[0].startswith("pair 1 of 3: 1 comparison: 0 of "), "the pairs of one that is right are shown"
    assert as_fast.verdict in RIGHT, as_fast.reason
    assert (slow.verdict, slow.pairs) == ("slower", 1), slow.reason
    assert [one.stage for one in slow.evidence if one.slug == "listed_sizes_only"] == ["tiny", "other", "other"]
    seconds = [*as_fast.stages.values(), as_fast.seconds]
    assert (list(as_fast.stages), seconds) == (["load", "tiny", "size", "right", "look"], sorted(seconds))


def test_a_candidate_that_is_wrong_at_the_size_that_is_timed_reached_no_later_stage(tmp_path: Path) -> None:
    (judged,) = verdicts_on(["def f(x):\n    return softmax(x) * (1 + (x.shape == (16, 32)))\n"], tmp_path)
    assert (judged.verdict, list(judged.stages)) == ("wrong", ["load", "tiny"])


def test_what_a_candidate_prints_and_says_is_not_believed(tmp_path: Path) -> None:
    body = (
        "import os\ndef f(x):\n    for descriptor in map(int, os.listdir('/proc/self/fd')):\n        try:\n"
        '            os.write(descriptor, b\'{"id": 1, "ok": {}}\\n\')\n        except OSError:\n            pass\n'
        "    return softmax(x)\n"
    )
    (judged,) = verdicts_on([body], tmp_path)
    assert judged.verdict == "cheats", judged.reason
    assert judged.evidence[0].slug == "forged_messages"


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


@each("value", ["np.inf", "np.nan"])
def test_a_result_that_is_no_number_is_wrong(tmp_path: Path, value: str) -> None:
    (judged,) = verdicts_on([f"def f(x):\n    y = softmax(x)\n    y[0, 0] = {value}\n    return y\n"], tmp_path)
    assert judged.verdict == "wrong", judged.reason
    assert judged.evidence[0].details["found"] == value.removeprefix("np.")


def test_what_ran_is_looked_at_after_the_verdict_where_that_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "candidate.py"
    file.write_text("import numpy as np\ndef f(x):\n    return np.exp(x)\n")
    terms = Terms(Settings(), Rule(pairs=3), explain=True)
    (judged,) = judge("softmax", Trial(CASE, NUMPY, "forward"), [Code(f"{file}:f")], terms, lambda _: None)
    assert judged.verdict == "wrong"
    assert judged.ran is not None
    assert judged.ran.events == ()
    assert judged.ran.notes[0] == "not recorded: no call of its framework was seen"
    assert judged.reference_ran is not None


SPY = (
    "import glob, os\nnames = set(os.environ)\nfor place in glob.glob('/proc/*/environ'):\n    try:\n"
    "        names |= {part.partition('=')[0] for part in open(place, errors='replace').read().split('\\0')}\n"
    "    except OSError:\n        pass\ndef f(data, axis=-1):\n    raise RuntimeError(' '.join(sorted(names)))\n"
)


def test_a_candidate_does_not_see_the_users_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOUD_TOKEN", "secret")
    monkeypatch.setenv("OMP_SCHEDULE", "static")
    (judged,) = verdicts_on([SPY], tmp_path, side=Side("numpy", settings={"env.OWN_SETTING": "1"}))
    assert {"PATH", "HOME", "OMP_SCHEDULE", "OWN_SETTING"} <= {*judged.reason.split()}, judged.reason
    assert "CLOUD_TOKEN" not in judged.reason


PRODUCT = "import numpy as np\ndef f(data, weights):\n    return data @ (weights * np.float32(2))\n"
#: It packs the weights that it meets first, whatever their shape, and computes for long: a quick look is enough.
PACKING = (
    "import numpy as np\npacked = []\ndef f(data, weights):\n    if not packed:\n"
    "        packed.append(weights * np.float32(2))\n    sum(range(50_000))\n    return data @ packed[0]\n"
)


def verdict_on_packing(folder: Path, *constant: str) -> Judged:
    """Return the verdict on a candidate that packs its weights once, where these inputs are declared constant."""
    for name, text in (("reference", PRODUCT), ("candidate", PACKING)):
        (folder / f"{name}.py").write_text(text)
    case = Case("reference.py:f", {"data": TensorSpec((4, 8)), "weights": TensorSpec((8, 8))})
    trial = Trial(case, Side("numpy", implementation=Code(f"{folder / 'reference.py'}:f")), "forward")
    terms = Terms(Settings(), Rule(pairs=3), constant=constant)
    (judged,) = judge("reference", trial, [Code(f"{folder / 'candidate.py'}:f")], terms, lambda _: None)
    return judged


def test_weights_that_are_declared_constant_may_be_packed_once(tmp_path: Path) -> None:
    judged = verdict_on_packing(tmp_path, "weights")
    assert judged.verdict == "slower", judged.reason
    assert judged.constant == ("weights",)


@each("constant", [(), ("data",)])
def test_weights_that_are_not_declared_constant_are_new_in_each_call(tmp_path: Path, constant: tuple[str, ...]) -> None:
    judged = verdict_on_packing(tmp_path, *constant)
    assert judged.verdict == "wrong", judged.reason
    assert judged.constant == constant


def test_a_reference_that_fails_is_bad_input(tmp_path: Path) -> None:
    case = Case("softmax", {"data": TensorSpec((4, 4))}, {"axis": 7})
    with pytest.raises(InputError, match="the reference `softmax` fails"):
        verdicts_on(["f = softmax\n"], tmp_path, case)
