"""An environment's text: what is taken, how it is written back, what is refused."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import each

from opperf.domain.errors import InputError
from opperf.domain.registry import FRAMEWORKS, LAYER_LIBRARIES, REAL_FRAMEWORKS
from opperf.parent.documents.environment import CURRENT, EnvironmentSpec, requirement_name


def test_current_is_the_interpreter_of_opperf() -> None:
    assert EnvironmentSpec.parse(" current ") == CURRENT


@pytest.mark.parametrize("framework", REAL_FRAMEWORKS)
def test_the_name_of_a_framework_is_its_preset(framework: str) -> None:
    spec = EnvironmentSpec.parse(framework)
    assert (spec.kind, spec.framework) == ("preset", framework)
    assert spec.requirements == FRAMEWORKS[framework].preset


def test_the_null_framework_needs_no_environment() -> None:
    assert EnvironmentSpec.parse("null") == CURRENT


@each(
    ("text", "framework", "requirements"),
    [
        ("numpy==1.26.4", "numpy", ("numpy==1.26.4",)),
        ("mxnet-mkl==1.6.0", "mxnet", ("mxnet-mkl==1.6.0", "numpy<1.24")),
        ("mxnet_cu112 >= 1.9, <2", "mxnet", ("mxnet-cu112>=1.9,<2", "numpy<1.24")),
        ("jax[cpu]==0.10.2", "jax", ("jax[cpu]==0.10.2",)),
        ("jax [ CPU , k8s ]", "jax", ("jax[cpu,k8s]",)),
        ("torch@ file:///wheel.whl", "torch", ("torch @ file:///wheel.whl", "numpy", "expecttest")),
        ("torch @ https://host/w.whl", "torch", ("torch @ https://host/w.whl", "numpy", "expecttest")),
        ("numpy (>=1.20,!=1.25.*)", "numpy", ("numpy>=1.20,!=1.25.*",)),
        ("mxnet-mkl", "mxnet", ("mxnet-mkl", "numpy<1.24")),
        ("tensorflow==2.21.0", "tensorflow", ("tensorflow==2.21.0",)),
        ("chainer==7.8.1", None, ("chainer==7.8.1",)),
    ],
)
def test_a_requirement_brings_its_companions(text: str, framework: str | None, requirements: tuple[str, ...]) -> None:
    spec = EnvironmentSpec.parse(text)
    assert (spec.kind, spec.framework, spec.requirements) == ("requirement", framework, requirements)


def test_a_requirement_equal_to_a_preset_asks_for_the_same_packages() -> None:
    assert EnvironmentSpec.parse("mxnet==1.9.1").requirements == EnvironmentSpec.parse("mxnet").requirements


def test_a_path_is_kept_as_it_is() -> None:
    spec = EnvironmentSpec.parse("python = /opt/a b=c/bin/python")
    assert (spec.kind, spec.path, spec.text) == ("python", "/opt/a b=c/bin/python", "python=/opt/a b=c/bin/python")


@each(
    ("text", "hint"),
    [
        ("mxnett", "did you mean `mxnet`?"),
        ("numpy=1.26.4", "write `numpy==1.26.4`"),
        ("python=", "write `python=/path/to/bin/python`"),
        ("python==3.12", "write `python=/path/to/bin/python`"),
        ("torch @ ./torch.whl", "file:///"),
        ("numpy==1.26 ; python_version<'3.12'", "numpy==1.26.4"),
        ("numpy==", "numpy==1.26.4"),
        ("--index-url=x", "numpy==1.26.4"),
        ("-e .", "numpy==1.26.4"),
        ("numpy==1.26.4 --pre", "numpy==1.26.4"),
        ("numpy @ file:///x --pre", "numpy==1.26.4"),
        ("", "numpy==1.26.4"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_hint(text: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        EnvironmentSpec.parse(text)
    assert hint in str(caught.value)


def test_mxnet_is_built_for_no_python_newer_than_its_numpy() -> None:
    assert EnvironmentSpec.parse("mxnet-mkl==1.6.0").newest_python == (3, 11)
    assert EnvironmentSpec.parse("numpy").newest_python is None


def test_a_library_of_layers_stands_beside_what_opperf_builds() -> None:
    preset, pinned = (EnvironmentSpec.parse(text) for text in ("torch + keras", "jax==0.9.2 + keras==3.9.0"))
    assert preset.requirements == (*EnvironmentSpec.parse("torch").requirements, LAYER_LIBRARIES["keras"].requirement)
    assert pinned.requirements == ("jax==0.9.2", "keras==3.9.0")
    assert preset.is_public
    assert [EnvironmentSpec.parse(spec.text) for spec in (preset, pinned)] == [preset, pinned]
    assert [EnvironmentSpec.parse(text).has("keras") for text in ("torch", "torch + keras", "tensorflow")] == [
        False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("current + keras", "opperf cannot add keras to `current`"),
        ("python=/bin/python + keras", "opperf cannot add keras to `python=/bin/python`"),
        ("torch + kera", "no package `kera`"),
        ("torch + + numba==1", "cannot add `+ numba==1` to an environment"),
        ("torch + --pre", "cannot add `--pre` to an environment"),
        ("torch + -e .", "cannot add `-e .` to an environment"),
        ("torch + -r", "cannot add `-r` to an environment"),
        ("torch + numba==1 --index-url=x", "cannot add `numba==1 --index-url=x`"),
    ],
)
def test_what_cannot_be_added_to_an_environment_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        EnvironmentSpec.parse(text)


@each(
    ("text", "requirements"),
    [
        ("numpy==2.2.6 + numba==0.61.2", ("numpy==2.2.6", "numba==0.61.2")),
        ("numpy==2.2.6+local + Numba_ext + scipy >= 1, < 2", ("numpy==2.2.6+local", "numba-ext", "scipy>=1,<2")),
        ("numpy>=2 + mine @ file:///w.whl", ("numpy>=2", "mine @ file:///w.whl")),
        ("numpy>=2 + /w/my_ops-1.0-py3-none-any.whl", ("numpy>=2", "my-ops @ file:///w/my_ops-1.0-py3-none-any.whl")),
        ("numpy>=2 + git+file:///repo@v1", ("numpy>=2", "git+file:///repo@v1")),
        ("numpy>=2 + mine @ git+https://host/repo", ("numpy>=2", "mine @ git+https://host/repo")),
        ("numba==0.61.2 + numpy==2.2.6", ("numba==0.61.2", "numpy==2.2.6")),
        ("numpy>=2 + -r /a/b/req.txt", ("numpy>=2",)),
    ],
)
def test_further_packages_are_installed_beside_a_framework(text: str, requirements: tuple[str, ...]) -> None:
    spec = EnvironmentSpec.parse(text)
    assert (spec.framework, spec.requirements) == ("numpy", requirements)
    assert spec.files == (("/a/b/req.txt",) if "-r" in text else ())
    assert EnvironmentSpec.parse(spec.text) == spec


@each(
    "text",
    ["numpy==2.2.6 + numba==0.61.2", "numpy + numba", "numpy==2.2.6 + -r /req.txt", "numpy + git+file:///repo",
     "torch + keras @ file:///keras.whl", "numpy==2.2.6 + keras==3.9.0 + numba==1",
     "numba==0.61.2 + numpy==2.2.6"],
)  # fmt: skip
def test_further_packages_are_the_users_to_name(text: str) -> None:
    assert not EnvironmentSpec.parse(text).is_public


_NAMES = st.text(string.ascii_letters + string.digits, min_size=1).filter(lambda name: name.lower() != "python")
_SIGNS = st.sampled_from(["==", ">=", "<", "~=", "!="])
_CLAUSES = st.tuples(_SIGNS, st.from_regex(r"[0-9]+(\.[0-9]+){0,2}", fullmatch=True))


@given(name=_NAMES, clauses=st.lists(_CLAUSES, min_size=1, max_size=3))
def test_the_canonical_text_reads_as_the_same_environment(name: str, clauses: list[tuple[str, str]]) -> None:
    spec = EnvironmentSpec.parse(f"{name} " + " , ".join(f"{sign} {version}" for sign, version in clauses))
    assert EnvironmentSpec.parse(spec.text) == spec


@given(st.text(max_size=40))
def test_any_text_is_an_environment_or_an_input_error(text: str) -> None:
    try:
        spec = EnvironmentSpec.parse(text)
    except InputError:
        spec = EnvironmentSpec.parse("current")
    assert EnvironmentSpec.parse(spec.text) == spec
    assert not any(requirement.startswith("-") for requirement in spec.requirements)


def test_the_name_of_a_requirement_is_normalised() -> None:
    assert requirement_name("MXNet_mkl==1.6.0") == "mxnet-mkl"
