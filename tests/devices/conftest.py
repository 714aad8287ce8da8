"""A PyTorch with a device that is done later than its calls return: the package `late`, in an environment."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

FILES = {
    "METADATA": "Metadata-Version: 2.1\nName: late\nVersion: 1.0\n",
    "WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "entry_points.txt": "[torch.backends]\nlate = late:register\n",
    "RECORD": "",
}


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The environment, as options name it."""
    wheel = tmp_path_factory.mktemp("late") / "late-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(Path(__file__).with_name("late.py"), "late.py")
        for name, text in FILES.items():
            archive.writestr(f"late-1.0.dist-info/{name}", text)
    return f"torch==2.13.0 + {wheel}"
