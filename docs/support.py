"""Write `reference/support.md`: which framework has which operator. It starts every framework, so it runs by itself.

python docs/support.py
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent / "reference" / "support.md"
FRAMEWORKS = ("torch", "tensorflow", "mxnet", "jax", "numpy")
HEAD = """# What each framework has

Every operator of the catalog in PyTorch 2.13, TensorFlow 2.21, MXNet 1.9.1, JAX 0.10.2 and NumPy 2.4: the directions
that can be measured (with both, also both in one go), or the reason why there are none. NumPy has no gradients.
`opperf operators --framework torch --format md` prints the column of any version that you have.

"""


def page() -> str:
    """Return the page, as the frameworks have it now."""
    words = [word for name in FRAMEWORKS for word in ("--framework", name)]
    command = [sys.executable, "-m", "opperf", "operators", "--format", "md", *words]
    return HEAD + subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
