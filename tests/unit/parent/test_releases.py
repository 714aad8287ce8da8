"""The releases between a good and a bad one: which there are, and which Python takes each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from opperf.domain.errors import EnvironmentFailure, InputError
from opperf.domain.plan import Side
from opperf.parent.commands.bisect import builds as builds_module
from opperf.parent.commands.bisect import releases as module
from opperf.parent.commands.bisect.builds import Beside, Packages
from opperf.parent.commands.bisect.releases import Releases, releases
from opperf.parent.documents.environment import EnvironmentSpec

NUMPY = Side("numpy")
#: What an index has of some packages.
INDEX = {
    "numpy": ["2.0.0", "1.26.4", "1.26.3", "1.10.0", "1.9.0"],
    "mxnet": ["1.9.1", "1.9.0", "1.6.0", "1.5.0"],
    "mxnet-mkl": ["1.6.0", "1.5.1", "1.5.0"],
    "mxnet-native": ["1.8.0"],
    "numba": ["0.62.1", "0.62.0", "0.61.2", "0.60.0"],
}


@pytest.fixture(autouse=True)
def index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "index_versions", lambda package, pre: INDEX[package])


def names(framework: str, good: str, bad: str) -> list[str]:
    """The releases from one to another."""
    return [*releases(framework, good, bad, pre=False, note=print).names]


def test_releases_are_in_the_order_of_their_versions() -> None:
    assert names("numpy", "1.9.0", "numpy==1.26.4") == ["1.9.0", "1.10.0", "1.26.3", "1.26.4"]


def test_the_index_is_asked_once_for_each_package(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(package: str, *, pre: bool) -> list[str]:
        asked.append(package)
        return INDEX[package]

    monkeypatch.setattr(module, "index_versions", answer)
    names("numpy", "1.9.0", "1.26.4")
    names("mxnet", "mxnet-mkl==1.5.1", "mxnet==1.9.1")
    assert asked == ["numpy", "mxnet-mkl", "mxnet"]


@pytest.mark.parametrize(
    ("good", "bad", "expected"),
    [
        (
            "mxnet-mkl==1.5.1",
            "1.9.1",
            ["mxnet-mkl==1.5.1", "mxnet-mkl==1.6.0", "mxnet==1.6.0", "mxnet==1.9.0", "mxnet==1.9.1"],
        ),
        ("mxnet==1.5.0", "mxnet-mkl==1.5.0", ["mxnet==1.5.0", "mxnet-mkl==1.5.0"]),
        ("mxnet-native==1.8.0", "mxnet==1.9.1", ["mxnet-native==1.8.0", "mxnet==1.9.0", "mxnet==1.9.1"]),
    ],
)
def test_from_one_package_of_a_framework_to_another_they_change_at_the_newest_release_of_both(
    good: str, bad: str, expected: list[str]
) -> None:
    assert names("mxnet", good, bad) == expected


@pytest.mark.parametrize(
    ("framework", "good", "bad", "part"),
    [
        ("numpy", "1.26.4", "1.9.0", "`--good 1.26.4` is newer than `--bad 1.9.0`"),
        ("numpy", "1.26.4", "1.26.4", "are the same release"),
        ("numpy", "abc", "1.26.4", "`abc` is not a version"),
        ("numpy", "1.9.0", "7.0", "the package index has no numpy 7.0"),
        ("mxnet", "mxnet-mkl==1.5.0", "mxnet-mkl==1.9.1", "the package index has no mxnet-mkl 1.9.1"),
        ("numpy", "mxnet==1.5.0", "2.0.0", "are not both packages of numpy"),
        ("null", "1", "2", "null has no releases"),
    ],
)
def test_releases_that_cannot_be_searched_are_one_message(framework: str, good: str, bad: str, part: str) -> None:
    with pytest.raises(InputError) as error:
        names(framework, good, bad)
    assert part in error.value.message


def test_a_package_beside_a_framework_is_exchanged_in_the_environment_of_the_good_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[tuple[str, ...]] = []

    def uv(spec: object, *words: str) -> str:
        runs.append(words)
        return ""

    monkeypatch.setattr(builds_module, "uv", uv)
    monkeypatch.setattr(builds_module, "find_links", list)
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path))
    notes: list[str] = []
    builds = Beside("torch", "numba", "0.61.2", "numba==0.62.1", pre=False, note=notes.append)
    assert builds.names == ["numba==0.61.2", "numba==0.62.0", "numba==0.62.1"]
    sides = [builds.side(name, NUMPY) for name in (*builds.names[:2], builds.names[1])]
    assert [run[-3:] for run in runs if "install" in run] == [
        ("numpy", "expecttest", "numba==0.61.2"),
        ("numpy", "expecttest", "numba==0.61.2"),  # a copy, where the exchange moves what does not suit it
        ("numpy", "expecttest", "numba==0.62.0"),  # with what brings it, which may have to move, too
    ]
    assert "torch" in runs[1]
    assert (len({*sides}), notes) == (2, ["building numba==0.61.2", "building numba==0.62.0"])


@pytest.mark.parametrize(
    ("good", "bad", "part"),
    [
        ("0.61.2", "0.61.2", "are the same release"),
        ("0.61.2", "0.99", "the package index has no numba 0.99"),
        ("numpy==2.2.6", "0.61.2", "`numpy==2.2.6` is no release of numba"),
    ],
)
def test_releases_of_a_package_that_cannot_be_searched_are_one_message(good: str, bad: str, part: str) -> None:
    with pytest.raises(InputError) as error:
        Beside("numpy", "numba", good, bad, pre=False, note=print)
    assert part in error.value.message


def test_from_a_newer_release_to_an_older_one_they_go_backwards() -> None:
    backwards = Beside("numpy", "numba", "0.62.0", "0.60.0", pre=False, note=print)
    assert backwards.names == ["numba==0.62.0", "numba==0.61.2", "numba==0.60.0"]


@pytest.fixture
def pythons(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str | None]]:
    """Three Pythons, of which the own has wheels from 1.26 on, and the next up to 1.26; what was built."""
    wheels = {"3.12": {"1.26.3", "1.26.4", "2.0.0"}, "3.10": {"1.10.0", "1.26.3", "1.26.4"}, "3.13": {"2.0.0"}}
    built: list[tuple[str, str | None]] = []

    def complaint(requirement: str, python: str) -> str | None:
        return None if requirement.partition("==")[2] in wheels[python] else "has no usable wheels"

    def create(spec: EnvironmentSpec, *, progress: Callable[[str], None], python: str | None = None) -> object:
        built.append((spec.text, python))
        return SimpleNamespace(executable=f"/built{python}", python="3.10.1")

    monkeypatch.setattr(module, "pythons", lambda: {version: f"/python{version}" for version in wheels})
    monkeypatch.setattr(module, "_complaint", complaint)
    monkeypatch.setattr(module, "create", create)
    return built


def between(good: str, bad: str, notes: list[str]) -> Releases:
    """Releases of NumPy."""
    return releases("numpy", good, bad, pre=False, note=notes.append)


def test_the_own_python_builds_what_it_has_wheels_of(pythons: list[tuple[str, str | None]]) -> None:
    notes: list[str] = []
    assert between("1.26.3", "2.0.0", notes).side("1.26.4", NUMPY).environment == "numpy==1.26.4"
    assert pythons == [("numpy==1.26.4", None)]
    assert not notes


def test_a_python_that_takes_both_ends_comes_first(pythons: list[tuple[str, str | None]]) -> None:
    notes: list[str] = []
    builds = between("1.10.0", "1.26.4", notes)
    assert builds.side("1.26.3", NUMPY).environment == "python=/built/python3.10"
    assert pythons == [("numpy==1.26.3", "/python3.10")]
    assert notes == ["numpy==1.26.3 is measured in Python 3.10"]


def test_without_one_each_release_has_the_python_that_takes_it(pythons: list[tuple[str, str | None]]) -> None:
    builds = between("1.10.0", "2.0.0", [])
    assert builds.side("1.10.0", NUMPY).environment == "python=/built/python3.10"
    assert builds.side("2.0.0", NUMPY).environment == "numpy==2.0.0"


def test_a_release_that_no_python_takes_is_an_error_that_names_them(pythons: list[tuple[str, str | None]]) -> None:
    with pytest.raises(EnvironmentFailure, match=r"Python 3\.12, 3\.10, 3\.13 have no wheel of numpy==1\.9\.0: has no"):
        between("1.9.0", "2.0.0", []).side("1.9.0", NUMPY)
    assert not pythons


def test_packages_of_one_framework_are_exchanged_together(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = {"python=a": {"mxnet-mkl": "1.6.0", "numpy": "1.23.5"}, "python=b": {"mxnet": "1.9.1", "numpy": "1.23.4"}}
    monkeypatch.setattr("opperf.parent.commands.bisect.builds._packages", sets.__getitem__)
    builds = Packages("python=a", "python=b", None, print)
    assert [*builds.names] == ["good", "mxnet-mkl 1.6.0 -> mxnet 1.9.1", "numpy 1.23.5 -> numpy 1.23.4"]


def test_an_interpreter_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no interpreter"):
        Packages(f"python={tmp_path / 'none'}", f"python={tmp_path}", None, print)
