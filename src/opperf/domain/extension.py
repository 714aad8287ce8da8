"""Compile a file of C or C++ once for an environment, and keep the library in opperf's cache.

What is compiled depends on nothing but the file, its compiler and options, and the `key` that the caller gives (the
framework's version, where its headers go in). So a library that is there is used as it is, by every process.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from opperf.domain.backend import Unsupported
from opperf.domain.files.destination import ensure_private

#: The variable that names a compiler, and the commands that are tried without it, by the ending of the file.
COMPILERS = {".c": ("CC", ("cc", "gcc", "clang")), ".cpp": ("CXX", ("c++", "g++", "clang++"))}
#: Seconds after which a compiler is stopped. PyTorch's headers take 10 s on a quiet machine.
TIMEOUT = 300.0


def build(source: Path, folder: Path, *, options: Sequence[str] = (), key: str = "") -> Path:
    """Return the library that is compiled from a file, in `folder`; raises `Unsupported` with the compiler's reason."""
    # Libraries come behind what needs them.
    command = [*_compiler(source), "-O2", "-fPIC", "-shared", str(source), *options]
    text = "\0".join([source.read_text(), *(word for word in command if word != str(source)), key])
    library = folder / f"{source.parent.name}-{source.stem}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.so"
    if not library.is_file():
        try:
            _compile(command, library)
        except OSError as error:
            raise Unsupported(f"`{source.name}` cannot be built in `{folder}`: {error}", slug="no_build") from error
    return library


def _compiler(source: Path) -> list[str]:
    variable, commands = COMPILERS[source.suffix]
    words = shlex.split(os.environ.get(variable, ""))
    compiler = words or [command for command in commands if shutil.which(command)][:1]
    if not compiler:
        language = "C++" if source.suffix == ".cpp" else "C"
        raise Unsupported(
            f"there is no {language} compiler here: none of {', '.join(commands)}",
            slug="no_compiler",
            hint=f"install one, or name it in the variable {variable}",
        )
    return compiler


def _compile(command: Sequence[str], library: Path) -> None:
    """Compile into a file of its own first: another process may do the same, and none must see half of one."""
    ensure_private(library.parent)
    with tempfile.TemporaryDirectory(dir=library.parent, prefix="building-") as scratch:
        output = Path(scratch) / library.name
        try:
            with _all_memory():
                process = subprocess.run([*command, "-o", str(output)], capture_output=True, text=True, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            raise Unsupported(f"`{command[0]}` was not finished within {TIMEOUT:g} s", slug="no_build") from None
        if process.returncode:
            lines = process.stderr.splitlines()
            why = next(
                (line for line in lines if "error" in line), lines[-1] if lines else f"exit {process.returncode}"
            )
            raise Unsupported(f"`{command[0]}` cannot compile {library.stem}: {why.strip()[:300]}", slug="no_build")
        output.replace(library)


@contextmanager
def _all_memory() -> Iterator[None]:
    """Lift the limit that a child's operators are held to while a compiler, which inherits it, is started."""
    import resource  # not on Windows, where nothing is compiled

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
