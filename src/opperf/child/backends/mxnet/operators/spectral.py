"""Fourier transforms in MXNet: for CUDA devices only, and none of complex numbers."""

from __future__ import annotations

from opperf.child.backends.call import Binding, Missing

COMPLEX = Missing("MXNet has no complex numbers; `nd.contrib.fft` takes real ones, on CUDA devices only")

BINDINGS: dict[str, Binding] = {
    "fft": COMPLEX,
    "ifft": COMPLEX,
    "rfft": COMPLEX,
    "irfft": COMPLEX,
    "fft2": COMPLEX,
    "rfft2": COMPLEX,
}
