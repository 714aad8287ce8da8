"""Facts of a machine, read from a folder that stands for one; and what is called noisy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.each import each

from opperf.parent.documents.machine_signs import Signs, judge
from opperf.parent.workers import machine_noise
from opperf.parent.workers.machine import available_memory, cpu_ranges, facts
from opperf.parent.workers.machine_noise import facts_of_noise

_FILES = {
    "proc/cpuinfo": "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu avx2 fma hypervisor\n",
    "proc/sys/kernel/randomize_va_space": "2\n",
    "proc/1/cgroup": "0::/kubepods/pod1\n",
    "sys/devices/system/cpu/cpu0/cache/index0/level": "1\n",
    "sys/devices/system/cpu/cpu0/cache/index0/size": "48K\n",
    "sys/devices/system/cpu/cpu0/cache/index0/type": "Data\n",
    "sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list": "0,4\n",
    "sys/devices/system/cpu/cpu0/cache/index3/level": "3\n",
    "sys/devices/system/cpu/cpu0/cache/index3/size": "32M\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
    "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "3500000\n",
    "sys/devices/system/cpu/intel_pstate/no_turbo": "0\n",
    "sys/devices/system/cpu/smt/active": "1\n",
    "sys/devices/system/cpu/isolated": "\n",
    "sys/fs/cgroup/cpu.max": "150000 100000\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A noisy machine."""
    for name, text in _FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """No nvidia-smi is started."""
    monkeypatch.setattr("shutil.which", lambda program: None)


def test_facts_are_read_from_the_kernel(root: Path) -> None:
    result = facts(root)
    expected = {
        "cpu": "Some CPU",
        "instruction_sets": ["avx2", "fma"],
        "caches": [
            {"level": 1, "type": "data", "size": 48 * 1024, "shared_by": 2},
            {"level": 3, "type": None, "size": 32 * 2**20, "shared_by": None},
        ],
        "governor": "powersave",
        "frequency_max": 3.5e9,
        "turbo": True,
        "smt": True,
        "isolated_cpus": "",
        "cpu_limit": 1.5,
        "hypervisor": True,
        "container": "kubepods",
        "aslr": 2,
        "huge_pages": "always",
        "gpus": None,
    }
    assert {name: result[name] for name in expected} == expected


def test_what_a_machine_does_not_tell_is_none(tmp_path: Path) -> None:
    result = facts(tmp_path)
    for name in ("caches", "governor", "turbo", "smt", "isolated_cpus", "cpu_limit", "container", "aslr", "huge_pages"):
        assert result[name] is None, name
    assert set(result) == set(facts())


def test_the_load_is_told_to_the_hundredth(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (0.126, 1.239, 2.0))
    assert facts(root)["load"] == [0.13, 1.24, 2.0]


def test_facts_are_json(root: Path) -> None:
    result = facts(root)
    assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_an_older_control_group_has_its_limit_read(tmp_path: Path) -> None:
    folder = tmp_path / "sys/fs/cgroup/cpu"
    folder.mkdir(parents=True)
    (folder / "cpu.cfs_quota_us").write_text("50000")
    (folder / "cpu.cfs_period_us").write_text("100000")
    assert facts_of_noise(tmp_path)["cpu_limit"] == 0.5
    (folder / "cpu.cfs_quota_us").write_text("-1")
    assert facts_of_noise(tmp_path)["cpu_limit"] is None


def test_boost_is_turbo_by_another_name(tmp_path: Path) -> None:
    folder = tmp_path / "sys/devices/system/cpu/cpufreq"
    folder.mkdir(parents=True)
    (folder / "boost").write_text("0")
    assert facts_of_noise(tmp_path)["turbo"] is False


def test_a_quiet_machine_gets_no_warning() -> None:
    quiet = Signs(
        cores=8,
        load=0.5,
        governor="performance",
        turbo=False,
        smt=False,
        huge_pages="madvise",
        isolated_cpus="2-7",
        cpu_limit=8.0,
        swap_used=0,
        hypervisor=False,
        stolen=0.0,
        pauses=0.001,
    )
    assert judge(quiet) == []


def test_an_unknown_machine_gets_no_warning() -> None:
    assert judge(Signs(cores=1)) == []


@each(
    ("sign", "slug"),
    [
        ({"load": 4.5}, "load"),
        ({"governor": "powersave"}, "governor"),
        ({"turbo": True}, "turbo"),
        ({"smt": True}, "smt"),
        ({"huge_pages": "always"}, "huge_pages"),
        ({"isolated_cpus": ""}, "isolation"),
        ({"cpu_limit": 1.5}, "cpu_limit"),
        ({"swap_used": 2**20}, "swap"),
        ({"hypervisor": True}, "virtual_machine"),
        ({"stolen": 0.02}, "steal"),
        ({"pauses": 0.02}, "interrupted"),
    ],
)
def test_each_sign_of_noise_has_a_warning_with_a_remedy(sign: dict[str, object], slug: str) -> None:
    (warning,) = judge(Signs(cores=8, **sign))  # type: ignore[arg-type]
    assert warning.slug == slug
    assert warning.hint


def test_the_noise_of_this_machine_can_be_asked_for(root: Path) -> None:
    slugs = {warning.slug for warning in machine_noise.noise(0.01, root)}
    assert {"governor", "turbo", "smt", "huge_pages", "isolation", "virtual_machine"} <= slugs


def test_a_list_of_cpus_is_read_as_the_kernel_writes_it() -> None:
    assert cpu_ranges("0-2,5\n") == [range(3), range(5, 6)]
    assert cpu_ranges("") == []


@pytest.mark.parametrize(
    "files",
    [
        {"memory.max": "3000000\n", "memory.current": "1000000\n"},
        {"memory/memory.limit_in_bytes": "3000000\n", "memory/memory.usage_in_bytes": "1000000\n"},
    ],
)
def test_memory_that_a_control_group_of_either_version_leaves_is_seen(files: dict[str, str], tmp_path: Path) -> None:
    for name, text in files.items():
        path = tmp_path / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert available_memory(tmp_path) == 2000000


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"memory.max": "max\n", "memory.current": "1\n"},
        {"memory/memory.limit_in_bytes": "9223372036854771712\n", "memory/memory.usage_in_bytes": "1\n"},
    ],
)
def test_a_control_group_without_a_limit_leaves_what_the_machine_has(files: dict[str, str], tmp_path: Path) -> None:
    for name, text in files.items():
        path = tmp_path / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert available_memory(tmp_path) > 10**7
