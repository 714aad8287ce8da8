"""Backward in NumPy: there is none."""

from __future__ import annotations

from typing import NoReturn

from opperf.domain.backend import Unsupported


def refuse() -> NoReturn:
    """Say that no gradient can be taken."""
    raise Unsupported(
        "NumPy has no automatic differentiation",
        slug="no_gradient",
        hint="`--direction forward`; JAX has the gradients of NumPy's functions",
    )
