"""Who shares what compilers keep on the disk, where that lies, and who may write there."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from opperf.domain.errors import EnvironmentFailure, InputError
from opperf.domain.plan import Settings, Side
from opperf.parent.documents.environment import EnvironmentSpec, preset
from opperf.parent.workers import compiled_code
from opperf.parent.workers.compiled_code import FOLDERS, NUMBA, WITHOUT, compiler_variables, key

PYTHON = Path("/somewhere/bin/python")
TORCH = Side("torch", "torch", mode="compiled")
OWN = EnvironmentSpec.parse("python=/somewhere")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of opperf's cache."""
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path))
    return tmp_path


def variables(side: Side = TORCH, *, spec: EnvironmentSpec | None = None, choice: str = "shared") -> dict[str, str]:
    """Return what a child of a side gets."""
    return dict(compiler_variables(choice, side, spec or preset("torch"), PYTHON))


def test_equal_children_share_a_folder_in_opperfs_cache_whose_name_says_nothing(home: Path) -> None:
    first = variables(Side("torch", "torch", mode="compiled", implementation="torch.add"))
    assert first == variables(Side("torch", "torch", mode="compiled", implementation="torch.mul"))
    assert set(first) == {*FOLDERS, NUMBA}
    assert all(Path(first[name]).parents[1] == home / "compiled" for name in FOLDERS)


@pytest.mark.parametrize(
    "other",
    [
        Side("torch", "torch", mode="eager"),
        Side("torch", "torch", mode="compiled", threads=2),
        Side("torch", "torch", mode="compiled", settings={"env.OMP_PROC_BIND": "true"}),
        Side("jax", "jax", mode="compiled"),
    ],
)
def test_sides_that_differ_share_nothing(other: Side) -> None:
    assert not set(variables().values()) & set(variables(other).values())
    assert key(TORCH, PYTHON) != key(TORCH, Path("/elsewhere/bin/python"))


def test_a_side_shares_with_itself_at_extra_calls_and_in_another_layout() -> None:
    assert key(Side("torch", settings={"extra_calls": "5%", "layout": "3"}), PYTHON) == key(Side("torch"), PYTHON)


def test_only_the_user_may_enter_the_folder() -> None:
    os.umask(before := os.umask(0))
    folder = Path(variables()["TORCHINDUCTOR_CACHE_DIR"]).parent
    assert [stat.S_IMODE(one.stat().st_mode) for one in (folder, folder.parent)] == [0o700, 0o700]
    assert os.umask(before) == before


@pytest.mark.parametrize("place", ["compiled", f"compiled/{key(TORCH, PYTHON)}"])
def test_a_folder_that_others_may_write_to_is_refused_and_so_is_a_link(place: str, home: Path) -> None:
    (home / place).mkdir(parents=True)
    (home / place).chmod(0o777)
    with pytest.raises(EnvironmentFailure, match="others than you may write to it") as caught:
        variables()
    assert "--compile-cache none" in (caught.value.hint or "")
    (home / place).rmdir()
    (home / place).symlink_to("/tmp")
    with pytest.raises(EnvironmentFailure, match="others than you"):
        variables()


def test_what_nobody_has_used_for_a_month_is_removed(home: Path) -> None:
    old, young = home / "compiled" / "old", home / "compiled" / "young"
    for folder in (old, young):
        folder.mkdir(parents=True)
    os.utime(old, (0, time.time() - 31 * 24 * 3600))
    (home / "compiled").chmod(0o700)
    variables()
    assert (old.exists(), young.exists()) == (False, True)


def test_beneath_an_interpreter_of_the_users_own_nothing_outlives_the_process(home: Path) -> None:
    folder = Path(variables(spec=OWN)["TORCHINDUCTOR_CACHE_DIR"])
    assert folder.parents[1] == compiled_code._of_this_process()
    assert not folder.is_relative_to(home)
    assert stat.S_IMODE(folder.parents[1].stat().st_mode) == 0o700


def test_what_numba_keeps_goes_with_the_process_since_it_does_not_look_at_what_a_function_calls(home: Path) -> None:
    assert not Path(variables()[NUMBA]).is_relative_to(home)


def test_without_a_cache_every_child_compiles_for_itself(home: Path) -> None:
    first, second = (variables(choice="none") for _ in range(2))
    assert first.pop(NUMBA) != second.pop(NUMBA)
    assert first == second == WITHOUT
    assert not (home / "compiled").exists()


def test_on_a_gpu_no_process_gets_the_kernel_that_another_ones_luck_chose() -> None:
    assert set(variables(Side("torch", device="cuda:0", mode="compiled"))) == {NUMBA}


@pytest.mark.parametrize("choice", ["shared", "none"])
def test_no_folder_of_pytorchs_compilers_is_made_for_another_framework(choice: str, home: Path) -> None:
    assert set(variables(Side("jax", "jax", mode="compiled"), choice=choice)) == {NUMBA}
    assert not any(home.iterdir())


def test_the_null_framework_compiles_nothing(home: Path) -> None:
    assert variables(Side("null")) == {}
    assert not any(home.iterdir())


def test_a_setting_that_is_neither_shared_nor_none_is_refused() -> None:
    with pytest.raises(InputError, match="`--compile-cache` is `mine`, expected shared or none"):
        Settings(compile_cache="mine")
