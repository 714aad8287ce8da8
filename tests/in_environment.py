"""Scripts in the environment of a framework, by its own Python.

They are forked from a process that has imported the framework, where such a process may be forked: one for each
framework serves a session.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder

#: How long a script may take on a busy machine, in seconds.
LIMIT = 600
FORKED_SCRIPT = Path(__file__).with_name("forked_script.py")
#: How the names of variables begin that a framework reads when it is imported: other values need another process.
READ = {"torch": "TORCH", "tensorflow": "TF_", "jax": "JAX_", "mxnet": "MXNET_"}


def printed(framework: str, *words: object, folder: Path | None = None, fresh: bool = False, **variables: str) -> str:
    """Run a script with opperf's package and no more beside the framework, to an end that must be good.

    A `fresh` process is not forked.
    """
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), framework), framework=framework)
    python = python.parent.resolve() / python.name  # the same one, whichever cache leads there
    command, variables = [*map(str, words)], {"PYTHONPATH": str(package_folder()), **variables}
    if not fresh and is_forkable(framework, variables):
        read = tuple(item for item in sorted(variables.items()) if item[0].startswith(READ[framework]))
        done = _imported(python, framework, read).run(command, folder or Path.cwd(), variables)
    else:
        done = subprocess.run(
            [str(python), *command],
            cwd=folder,
            env=os.environ | variables,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def is_forkable(framework: str, variables: Mapping[str, str]) -> bool:
    """Whether a process that has imported a framework can be forked: MXNet's, if its engine has no threads."""
    return framework in READ and (framework != "mxnet" or variables.get("MXNET_ENGINE_TYPE") == "NaiveEngine")


class Imported:
    """A process that has imported a framework, from which scripts are forked, one after the other."""

    def __init__(self, python: Path, framework: str, variables: Mapping[str, str]) -> None:
        """Start it, and do not wait."""
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._requests.settimeout(LIMIT)
        with theirs:
            self._process = subprocess.Popen(
                [python, FORKED_SCRIPT, str(theirs.fileno()), framework],
                env=os.environ | variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        atexit.register(self.close)

    def run(self, words: Sequence[str], folder: Path, variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """Run a script to its end."""
        request = {"words": words, "folder": str(folder), "variables": os.environ | variables}
        with TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
            socket.send_fds(self._requests, [json.dumps(request).encode()], [output.fileno(), errors.fileno()])
            try:
                code = self._requests.recv(16)
            except BaseException:  # it would go on
                os.killpg(self._process.pid, signal.SIGKILL)
                raise
            assert code, f"{FORKED_SCRIPT} forks no more"
            for stream in (output, errors):
                stream.seek(0)
            return subprocess.CompletedProcess([*words], int(code), output.read(), errors.read())

    def close(self) -> None:
        """End it."""
        self._requests.close()
        self._process.wait()


@cache
def _imported(python: Path, framework: str, variables: tuple[tuple[str, str], ...]) -> Imported:
    return Imported(python, framework, dict(variables))
