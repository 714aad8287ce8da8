"""What an asv suite's settings say, and what of them is taken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.each import each

from opperf.domain.errors import InputError
from opperf.parent.sources.asv_folder import AsvFolder, asv_folder

#: A suite whose settings name its folder, as asv's own template has them.
SETTINGS = {
    "project": "calc",
    "repo": "..",
    "benchmark_dir": "bench",
    "build_command": ["python setup.py build"],
    "matrix": {
        "req": {
            "numpy": ["2.2.6", "2.4.6"],
            "six": ["", None],
            "pip+emcee": [],
            "old": [None, "1"],
            "scipy": [">=1.2"],
        },
        "env": {"OMP_NUM_THREADS": ["1"]},
    },
}


def suite(tmp_path: Path, **settings: object) -> AsvFolder:
    """Write a suite with settings, and return what is read of it."""
    (tmp_path / "asv" / "bench").mkdir(parents=True, exist_ok=True)
    (tmp_path / "asv" / "bench" / "bench.py").touch()
    (tmp_path / "asv" / "asv.conf.json").write_text(json.dumps({**SETTINGS, **settings}))
    return asv_folder(str(tmp_path / "asv"))


def test_packages_and_a_repository_of_this_machine_are_taken_and_no_command(tmp_path: Path) -> None:
    folder = suite(tmp_path)
    assert folder.packages == ("numpy==2.2.6", "six", "emcee", "scipy>=1.2")
    assert (folder.project, folder.repository) == ("calc", tmp_path / "asv" / "..")
    assert len(folder.unread) == 4  # numpy and six have two versions, as has what is left out; a variable
    assert "of `numpy` the first of 2 versions is taken: numpy==2.2.6" in folder.unread
    assert folder.commands == ("build_command",)


def test_the_folder_of_the_benchmarks_has_the_settings_beside_it(tmp_path: Path) -> None:
    whole, inner = suite(tmp_path), asv_folder(str(tmp_path / "asv" / "bench"))
    assert (inner.packages, inner.folder) == (whole.packages, str(tmp_path / "asv" / "bench"))
    (tmp_path / "asv" / "other").mkdir()
    (tmp_path / "asv" / "other" / "bench.py").touch()
    assert asv_folder(str(tmp_path / "asv" / "other")).settings is None


def test_an_older_matrix_has_packages_alone(tmp_path: Path) -> None:
    folder = suite(tmp_path, matrix={"Cython": [], "packaging": ["24.0"]}, repo="https://example.org/calc.git")
    assert (folder.packages, folder.repository) == (("Cython", "packaging==24.0"), None)


def test_what_an_installer_could_take_for_more_than_a_package_is_not_taken(tmp_path: Path) -> None:
    names = {"--index-url=x": [""], "pip+git+file:///x": [""], "numpy": ["1 --pre"], "mkl": ["1.2=py_*"], "six": [""]}
    folder = suite(tmp_path, matrix=names)
    assert folder.packages == ("six",)
    assert [text.partition("`")[2].partition("`")[0] for text in folder.unread] == [
        *("--index-url=x", "git+file:///x", "numpy==1 --pre", "mkl==1.2=py_*"),
    ]


@each(
    ("settings", "message"),
    [
        ({"matrix": {"numpy": [["1"]]}}, "matrix: numpy: found ['1'], expected a version"),
        ({"matrix": ["numpy"]}, "matrix: found ['numpy'], expected an object"),
        ({"matrix": {"req": ["numpy"]}}, "matrix: found ['numpy'], expected an object"),
        ({"benchmark_dir": 3}, "benchmark_dir: found 3, expected a text"),
        ({"benchmark_dir": "none"}, "there is no folder"),
    ],
)
def test_settings_that_mean_nothing_are_one_message(settings: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        suite(tmp_path, **settings)
    assert message in error.value.message
