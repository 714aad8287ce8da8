"""Ask a Python for its version and for the frameworks that it can import."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from opperf.domain.errors import EnvironmentFailure, InputError
from opperf.domain.registry import FRAMEWORKS
from opperf.parent.workers.installer import heard

#: Where the Python of an environment is, in its folder.
PYTHON = "Scripts/python.exe" if os.name == "nt" else "bin/python"
#: How long an interpreter may take to say what it is. Seconds: a cold disk takes most of it.
PROBE_LIMIT = 60.0

# Runs in any Python, an old one too. The current folder is on the path, and is not the interpreter's own.
_PROBE = """
import json, sys
sys.path = [entry for entry in sys.path if entry]
found = []
if sys.version_info >= (3, 10):
    import importlib.util
    specs = [(name, importlib.util.find_spec(name)) for name in sys.argv[1:]]
    found = [name for name, spec in specs if spec is not None and spec.origin is not None]
print(json.dumps({"version": list(sys.version_info[:3]), "modules": found}))
"""


def probe(python: Path, text: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the version of a Python, and the frameworks that it can import.

    `text` is what the user called it. Raises `InputError` for what is no Python, `EnvironmentFailure` for one that does
    not answer.
    """
    modules = {framework.module: name for name, framework in FRAMEWORKS.items() if name != "null"}
    try:
        answer = heard([str(python), "-c", _PROBE, *modules], PROBE_LIMIT)
    except subprocess.TimeoutExpired as problem:
        raise EnvironmentFailure(
            f"`{text}` has not answered in {PROBE_LIMIT:.0f} s", hint=f"try `{python} -c ''`", slug="python_path"
        ) from problem
    except OSError as problem:
        raise InputError(f"`{python}` cannot be run: {problem.strerror}", slug="python_path") from problem
    try:
        # The last line: whatever runs as Python starts (a .pth file) may have printed before.
        document = json.loads(answer.stdout.splitlines()[-1])
        return tuple(document["version"]), tuple(modules[name] for name in document["modules"])
    except (IndexError, ValueError, KeyError, TypeError) as problem:
        raise InputError(
            f"`{python}` does not run as a Python: asked for its version, it ended with exit code {answer.returncode}",
            hint=f"try `{python} --version`",
            slug="python_path",
        ) from problem


def dotted(version: tuple[int, ...]) -> str:
    """Return a version as it is written."""
    return ".".join(str(part) for part in version)
