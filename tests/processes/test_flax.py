"""Modules of flax in a profile and in a suite: linen's and nnx's, forward and backward."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conformance.conftest import XLA_FLAGS
from tests.functional.conftest import invoke

import opperf

SCRIPT = Path(__file__).with_name("flax_models.py")
#: Trains a model of nnx, whose state is outside of the step.
STEP = """
import jax
import jax.numpy as jnp
from flax import nnx

class Mlp(nnx.Module):
    def __init__(self, rngs):
        self.a, self.b = nnx.Linear(4, 8, rngs=rngs), nnx.Linear(8, 4, rngs=rngs)

    def __call__(self, data):
        return self.b(nnx.relu(self.a(data)))

model, data = Mlp(nnx.Rngs(0)), jnp.ones((16, 4))

@nnx.jit
def train(model, data):
    loss, gradients = nnx.value_and_grad(lambda own: (own(data) ** 2).mean())(model)
    nnx.update(model, jax.tree.map(lambda p, g: p - .01 * g, nnx.state(model), gradients))
    return loss

def step():
    return float(train(model, data))

if __name__ == "__main__":
    for _ in range(4):
        step()
"""

pytestmark = pytest.mark.usefixtures("forked_children")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be in an empty folder, from where programs are compiled in a hurry: they run a few times."""
    monkeypatch.setenv("XLA_FLAGS", XLA_FLAGS)
    monkeypatch.chdir(tmp_path)


def run(*words: object) -> str:
    """Run a command to an end that must be good, and return what it prints."""
    done = invoke(*words)
    assert done.code == 0, done.err
    return done.out


def test_operators_of_compiled_flax_programs_are_told_by_their_modules() -> None:
    words = ("--environment", "flax==0.12.8", "--by", "module", "--format", "json", "--output", "out")
    rows = json.loads(run("profile", *words, SCRIPT))["rows"]
    told = {(row["module"], row["backward"]) for row in rows}
    modules = ("Linen.Dense_0", "Linen.last", "Nnx.blocks.0.dense", "Nnx.blocks.1.dense", "Nnx.head")
    # XLA joins what is small: a gradient may be part of its neighbour's instruction, and is that module's then.
    assert told >= {(module, False) for module in modules}
    assert {module.partition(".")[0] for module, backward in told if backward} >= {"Linen", "Nnx"}

    (file,) = Path("out").glob("*.json")
    profile = opperf.load(file)
    assert isinstance(profile, opperf.Profile)
    tree = {row.name: row for row in profile.modules(3)}
    assert (tree["Nnx.blocks.*"].modules, tree["Nnx.blocks.*.dense"].level) == (2, 3)
    within = tree["Nnx.blocks.*"].forward + tree["Nnx.head"].forward
    assert tree["Nnx"].forward > 0.999 * within > 0


def test_a_step_of_nnx_with_its_state_outside_is_captured_and_profiled_by_its_modules() -> None:
    Path("own.py").write_text(STEP)
    suite = json.loads(run("capture", "own.py:step"))
    products = [entry["origin"] for entry in suite["cases"] if entry["case"]["operator"].endswith("dot_general")]
    assert products == ["train.Mlp.a", "train.Mlp.b", *["train.Mlp.b backward"] * 2, "train.Mlp.a backward"]
    assert "left_out" not in suite

    window = ("--function", "__main__:step", "--skip", "2", "--calls", "2")
    profiled = run("profile", "--by", "module", *window, "--format", "json", "--output", "out", "own.py")
    rows = json.loads(profiled)["rows"]
    assert {row["module"] for row in rows} >= {"Mlp.a", "Mlp.b"}
