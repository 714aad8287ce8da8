"""Physical cores, their siblings and nodes of memory, read from made-up systems; and the CPUs that jobs get."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opperf.parent.workers.topology import Core, leases, usable_cores


def system(root: Path, cores: Sequence[tuple[Sequence[int], int | None]], quota: str | None = None) -> Path:
    """Write a system whose cores have these CPUs and nodes, with a control group's quota of CPU time."""
    for cpus, node in cores:
        for cpu in cpus:
            folder = root / f"sys/devices/system/cpu/cpu{cpu}"
            (folder / "topology").mkdir(parents=True)
            (folder / "topology/core_cpus_list").write_text(",".join(map(str, cpus)) + "\n")
            if node is not None:
                (folder / f"node{node}").mkdir()
    if quota is not None:
        (root / "sys/fs/cgroup").mkdir(parents=True)
        (root / "sys/fs/cgroup/cpu.max").write_text(quota + "\n")
    return root


def server(root: Path, quota: str | None = None) -> Path:
    """64 cores in two nodes of memory, each with two CPUs: 128."""
    return system(root, [((core, core + 64), core // 32) for core in range(64)], quota)


def test_a_server_has_a_job_for_each_physical_core_and_none_for_siblings(tmp_path: Path) -> None:
    root = server(tmp_path)
    cores = usable_cores(root, range(128))
    assert len(cores) == 64
    assert cores[33] == Core((33, 97), 1)
    sets = leases(cores, 1, root)
    assert len(sets) == 64
    assert sets[0] == (63,)
    assert {cpu for one in sets for cpu in one} == set(range(64))


def test_the_cores_of_a_job_are_of_one_node(tmp_path: Path) -> None:
    root = server(tmp_path)
    sets = leases(usable_cores(root, range(128)), 24, root)
    assert [{cpu // 32 for cpu in one} for one in sets] == [{1}, {0}]
    assert all(len(one) == 24 for one in sets)


def test_a_job_of_more_threads_than_a_node_has_cores_spans_nodes(tmp_path: Path) -> None:
    root = server(tmp_path)
    assert [len(one) for one in leases(usable_cores(root, range(128)), 40, root)] == [40]


def test_only_cpus_of_the_affinity_mask_are_used_and_siblings_once(tmp_path: Path) -> None:
    root = server(tmp_path)
    cores = usable_cores(root, {2, 66, 70})
    assert cores == [Core((2, 66), 0), Core((70,), 0)]
    assert leases(cores, 1, root) == [(70,), (2,)]


def test_a_container_has_as_many_jobs_as_its_limit_grants(tmp_path: Path) -> None:
    root = server(tmp_path, quota="350000 100000")
    cores = usable_cores(root, range(128))
    assert len(leases(cores, 1, root)) == 3
    assert len(leases(cores, 2, root)) == 1


def test_a_limit_below_one_cpu_leaves_one_job(tmp_path: Path) -> None:
    root = server(tmp_path, quota="50000 100000")
    assert len(leases(usable_cores(root, range(128)), 1, root)) == 1


def test_a_group_without_a_limit_limits_nothing(tmp_path: Path) -> None:
    root = server(tmp_path, quota="max 100000")
    assert len(leases(usable_cores(root, range(128)), 1, root)) == 64


def test_a_system_that_tells_nothing_has_a_core_for_each_cpu(tmp_path: Path) -> None:
    cores = usable_cores(tmp_path, {0, 1, 2})
    assert cores == [Core((0,)), Core((1,)), Core((2,))]
    assert leases(cores, 2, tmp_path) == [(1, 2)]


def test_more_threads_than_cores_make_no_lease(tmp_path: Path) -> None:
    assert leases(usable_cores(tmp_path, {0, 1}), 3, tmp_path) == []
