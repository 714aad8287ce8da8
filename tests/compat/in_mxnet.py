"""Scripts in an environment with MXNet alone."""

from __future__ import annotations

from pathlib import Path

from tests.in_environment import printed


def run(script: Path, folder: Path, *words: str, engine: str = "ThreadedEnginePerDevice") -> str:
    """Run a script by the Python of MXNet's environment, and return what it printed."""
    return printed("mxnet", "-W", "ignore", script, *words, folder=folder, MXNET_ENGINE_TYPE=engine)
