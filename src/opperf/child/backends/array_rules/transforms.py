"""Inputs of polynomials and of Fourier transforms."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.child.backends.notation import Rule, alike

RULES: Mapping[str, Rule] = {
    # Polynomials ------------------------------------------------------------------------------------------------------
    "poly": ("seq_of_zeros: 8", {}),
    **alike("a1: nn | a2: nn", {}, "polyadd", "polysub"),
    **alike("p: nn", {}, "polyder", "polyint"),
    "polymul": ("a1: n | a2: n", {}),
    "polydiv": ("u: 2n | v: n 1..2", {}),
    "polyfit": ("x: nn | y: nn", {"deg": 3}),
    "polyval": ("p: 8 | x: n,n", {}),
    "roots": ("p: 8 1..2", {}),
    "vander": ("x: n", {}),
    # Fourier transforms -----------------------------------------------------------------------------------------------
    **alike(
        "a: n,n complex64",
        {},
        *(f"fft.{name}" for name in ("fftn", "hfft", "ifft2", "ifftn", "irfft2", "irfftn")),
    ),
    **alike("", {"n": lambda side: side * side}, "fft.fftfreq", "fft.rfftfreq"),
}
