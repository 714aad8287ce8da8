"""Sides as users write them."""

from __future__ import annotations

import pytest
from tests.each import each

from opperf.domain.errors import InputError
from opperf.parent.planning.side_text import read_side


def test_a_framework_is_a_side() -> None:
    side = read_side("torch").side
    assert (side.framework, side.environment, side.mode, side.threads) == ("torch", "current", "eager", 1)


def test_jax_is_compiled_unless_said_otherwise() -> None:
    assert read_side("jax").side.mode == "compiled"
    assert read_side("jax;mode=eager").side.mode == "eager"


@pytest.mark.parametrize(
    ("text", "framework"),
    [("numpy==1.26.4", "numpy"), ("mxnet-mkl==1.6.0", "mxnet"), ("torch @ file:///w.whl", "torch")],
)
def test_a_requirement_tells_its_framework(text: str, framework: str) -> None:
    side = read_side(text).side
    assert side.framework == framework
    assert side.environment != "current"


def test_an_interpreter_needs_its_framework_named() -> None:
    with pytest.raises(InputError, match="does not name its framework"):
        read_side("python=/opt/python")
    assert read_side("python=/opt/python;framework=torch").side.environment == "python=/opt/python"


def test_an_implementation_is_a_side() -> None:
    side = read_side("torch:aten::mm;threads=2").side
    assert (side.framework, side.implementation, side.threads) == ("torch", "aten::mm", 2)


def test_a_dtype_is_kept_apart_because_it_changes_the_case() -> None:
    result = read_side("torch;dtype=fp16")
    assert result.dtype == "float16"
    assert result.side == read_side("torch").side


def test_variables_reach_the_child() -> None:
    assert read_side("torch;env.OMP_NUM_THREADS=1").side.variables == {"OMP_NUM_THREADS": "1"}


def test_attributes_of_one_side_stand_among_its_settings() -> None:
    side = read_side("torch:torch.topk;attribute.k=5;attribute.largest=false;threads=2").side
    assert (side.attributes, side.threads) == ({"k": "5", "largest": "false"}, 2)
    assert side != read_side("torch:torch.topk;attribute.k=6;attribute.largest=false;threads=2").side


def test_a_side_may_differ_by_a_known_share_of_calls_or_by_where_its_process_loads_code() -> None:
    side = read_side("torch;extra_calls=5%;layout=3").side
    assert (side.extra_calls, side.layout) == (0.05, 3)
    assert (read_side("torch").side.extra_calls, read_side("torch").side.layout) == (0.0, 0)


@pytest.mark.parametrize("word", ["extra_calls=0%", "extra_calls=100%", "extra_calls=much", "layout=-1", "layout=101"])
def test_a_difference_that_means_nothing_is_refused(word: str) -> None:
    with pytest.raises(InputError, match=word.partition("=")[0]):
        read_side(f"torch;{word}")


def test_extra_calls_are_for_a_cpu() -> None:
    with pytest.raises(InputError, match="for a CPU"):
        read_side("torch;device=cuda:0;extra_calls=5%")


def test_the_null_framework_takes_settings_of_its_own() -> None:
    assert read_side("null;slowdown=1.05").side.settings == {"slowdown": "1.05"}


@each(
    "text",
    ["", ";threads=2", "torch;threads=0", "torch;threads=two", "torch;speed=2", "torch;threads", "torch;mode=fast",
     "torchh", "torch;dtype=float7", "torch;engine=warp"],
)  # fmt: skip
def test_what_is_no_side_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_side(text)


def test_a_number_with_more_digits_than_python_reads_is_no_number_of_threads() -> None:
    with pytest.raises(InputError, match="expected a whole number >= 1"):
        read_side(f"torch;threads={'9' * 5000}")
