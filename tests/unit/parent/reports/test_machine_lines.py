"""What `opperf doctor` says of a machine: sentences, and nothing of what is not known."""

from __future__ import annotations

from opperf.parent.reports import render
from opperf.parent.reports.machine import Visit, document, machine_lines

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


def test_a_device_is_described_with_what_is_not_known_of_it() -> None:
    gpu = {"uuid": "GPU-ab", "driver": "580.1", "power_limit": 700_000, "mig": True, "memory_bandwidth": 335 * 10**10}
    facts = {"device": "H100", "memory_free": 80 * 10**9, "gpu": gpu, "lacks": {"kernels": "nobody shows them"}}
    visit = Visit("torch", "torch", ["cuda:0", "cpu"], facts)
    text = render(document({}, [], ("cpu", 1), [], [visit]), "console")
    assert "devices: cuda:0, cpu" in text
    line = "H100, 80.0 GB free, driver 580.1, GPU-ab, at most 700 W, memory of 3.35 TB/s at most, divided (MIG)"
    assert line in text
    assert "no kernels: nobody shows them" in text


def test_what_is_not_known_is_left_out() -> None:
    assert [*machine_lines({"cpu": None, "cores_logical": 1, "cores_physical": 1, "swap_used": 0, "gpus": None})] == [
        "1 CPU"
    ]
