"""What `opperf doctor` says of a machine: sentences, and nothing of what is not known."""

from __future__ import annotations

from opperf.parent.reports.machine import machine_lines

FACTS = {
    "cpu": "AMD EPYC",
    "cores_logical": 8,
    "cores_physical": 4,
    "cores_usable": 2,
    "hypervisor": True,
    "gpus": [{"name": "H100", "memory": 80 * 2**30, "driver": "550.1"}],
    "memory_total": 16 * 10**9,
    "memory_available": 4 * 10**9,
    "swap_used": 10**9,
    "governor": "performance",
    "frequency_max": 3.5e9,
    "turbo": False,
    "distribution": "Debian 12",
    "system": "Linux",
    "kernel": "6.1",
    "architecture": "x86_64",
    "libc": "glibc 2.36",
    "container": "docker",
    "python": "3.13.1",
}


def test_a_machine_is_described_in_a_few_lines() -> None:
    assert [*machine_lines(FACTS)] == [
        "AMD EPYC, 8 CPUs on 4 cores, 2 of them for this process, a virtual machine",
        "GPU: H100, 85.9 GB, driver 550.1",
        "memory: 16.0 GB, 4.00 GB free, 1.00 GB swapped out",
        "clock: governor `performance`, at most 3.5 GHz, turbo off",
        "Debian 12, Linux 6.1 x86_64, glibc 2.36, in docker",
        "Python 3.13.1",
    ]


def test_what_is_not_known_is_left_out() -> None:
    assert [*machine_lines({"cpu": None, "cores_logical": 1, "cores_physical": 1, "swap_used": 0, "gpus": None})] == [
        "1 CPU"
    ]
