"""NumPy's Fourier transforms."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    name: call(f"numpy.fft.{name}", "a=data") for name in ("fft", "ifft", "rfft", "irfft", "fft2", "rfft2")
}
