"""A PyTorch with a device that is done later than its calls return: the package `late`, in an environment."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from opperf.parent.workers.package import cache_folder

FILES = {
    "METADATA": "Metadata-Version: 2.1\nName: late\nVersion: 1.0\n",
    "WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "entry_points.txt": "[torch.backends]\nlate = late:register\n",
    "RECORD": "",
}


@pytest.fixture(scope="session")
def environment() -> str:
    """The environment, as options name it.

    The wheel stays where environments do: an environment is that of a file with its date, and to install PyTorch for
    another, and compile what it imports, takes longer than all tests of the device.
    """
    code = Path(__file__).with_name("late.py").read_bytes()
    wheel = cache_folder() / "late" / hashlib.sha256(code).hexdigest()[:16] / "late-1.0-py3-none-any.whl"
    if not wheel.exists():
        wheel.parent.mkdir(parents=True, exist_ok=True)
        made = wheel.with_suffix(f".{os.getpid()}")
        with zipfile.ZipFile(made, "w") as archive:
            archive.writestr("late.py", code)
            for name, text in FILES.items():
                archive.writestr(f"late-1.0.dist-info/{name}", text)
        made.rename(wheel)
    return f"torch==2.13.0 + {wheel}"
