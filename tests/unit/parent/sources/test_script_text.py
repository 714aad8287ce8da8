"""What a script's text tells before it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from opperf.domain.errors import InputError
from opperf.parent.sources.script_text import check_function, frameworks_of, libraries_of

TEXT = """
from layers import dense as layer
import torch.nn as nn
class Trainer:
    def step(self): ...
def train(): ...
for late in (train,): ...
"""


@pytest.mark.parametrize(
    ("text", "framework"),
    [
        ("import os, torch.nn as nn", "torch"),
        ("from mxnet import gluon", "mxnet"),
        ("def step():\n    import jax.numpy as jnp", "jax"),
        ("def late():\n    import torch\nimport mxnet", "mxnet"),
        ("from .torch import x\nimport numpy", None),
        ("import keras, numpy", "tensorflow"),
        ("import os\nos.environ['KERAS_BACKEND'] = 'jax'\nfrom keras import layers", "jax"),
        ("os.environ.setdefault('KERAS_BACKEND', 'torch')\nimport keras", "torch"),
        ("import keras, torch", "torch"),
        ("torch = 1", None),
        ("no python at all", None),
    ],
)
def test_the_framework_that_a_script_imports_is_found_in_its_text(
    text: str, framework: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    (tmp_path / "train.py").write_text(text)
    assert frameworks_of([str(tmp_path / "train.py"), "--lr", "0.1"])[:1] == (framework,)[: framework is not None]


def test_the_framework_of_a_module_is_found_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pack" / "train").mkdir(parents=True)
    (tmp_path / "pack" / "train" / "__main__.py").write_text("import torch")
    (tmp_path / "pack" / "other.py").write_text("import jax")
    assert frameworks_of(["-m", "pack.train"]) == ("torch",)
    assert frameworks_of(["-m", "pack.other"]) == ("jax",)
    assert frameworks_of(["-m", "installed.elsewhere"]) == ()


def test_the_libraries_of_modules_are_those_that_a_script_imports_beside_their_framework(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import jax\nfrom flax import nnx\nimport torch, keras")
    assert libraries_of([str(script)], "jax") == ("flax", "keras")
    assert libraries_of([str(script)], "torch") == ("keras",)
    assert libraries_of([str(script)], "mxnet") == ()


@pytest.mark.parametrize("name", ["train", "Trainer.step", "Trainer.made_later", "layer", "nn", "late"])
def test_a_function_that_the_script_may_have_is_accepted(name: str, tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(TEXT)
    check_function([str(tmp_path / "run.py")], f"__main__:{name}")


@pytest.mark.parametrize("more", ["", "import os", "x = 1"])
def test_a_function_that_stands_nowhere_in_the_script_is_refused_before_it_runs(more: str, tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(TEXT + more)
    with pytest.raises(InputError, match="no function `trian`, which `--function` names") as refused:
        check_function([str(tmp_path / "run.py")], "__main__:trian")
    assert (refused.value.slug, refused.value.hint) == ("unknown_function", "did you mean `train`?")


def test_a_module_beside_the_script_is_looked_into(tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text("import trainer")
    (tmp_path / "trainer.py").write_text(TEXT)
    words = [str(tmp_path / "run.py")]
    check_function(words, "trainer:train")
    with pytest.raises(InputError, match=r"trainer\.py` has no function `step`"):
        check_function(words, "trainer:step")


@pytest.mark.parametrize(
    "text", ["from layers import *", "exec('def step(): ...')", "globals()['step'] = print", "1 +"]
)
def test_a_script_that_may_have_any_name_is_left_to_run(text: str, tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(text)
    check_function([str(tmp_path / "run.py")], "__main__:step")
    check_function([str(tmp_path / "run.py")], "installed.elsewhere:step")
