"""How both towers speak of a device beside the CPU: what a child is told of it, and what it says."""

from __future__ import annotations

from collections.abc import Mapping

#: The variables that show a process some GPUs of NVIDIA, and by which order they are numbered: that of their places on
#: the bus, as NVIDIA's own tools number them.
SHOWN, ORDER, BY_BUS = "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "PCI_BUS_ID"
#: How a child says that its framework has no such device, or runs on the CPU alone.
NO_DEVICE = ("no_device", "no_such_device")
#: The variable that names the command which a child on a device belongs to.
COMMAND = "OPPERF_COMMAND"
#: The variable that says how many children hold tensors on the device at a time, and how much of its memory they
#: divide: contexts and the libraries of each take the rest.
SHARERS, DIVIDED = "OPPERF_SHARERS", 0.9
#: The fact that says how products of float32 are computed: as float32, or rounded to the 10 bits of TF32.
FLOAT32_PRODUCTS, FLOAT32, TF32 = "float32_products", "float32", "TF32"
#: The element types that this is about.
ROUNDED = ("float32", "complex64")


def memory_share(variables: Mapping[str, str]) -> float:
    """Return the share of the device's memory that a child with these variables may take.

    >>> memory_share({}), memory_share({"OPPERF_SHARERS": "2"})
    (1.0, 0.45)
    """
    sharers = int(variables.get(SHARERS, "1"))
    return DIVIDED / sharers if sharers > 1 else 1.0
