"""What the functions of `jax.scipy` are given: domains of special functions, signals, matrices of a given form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.notation import Rule, alike

#: Arguments of the functions of distributions: all of them have a density for these.
DISTRIBUTION_ARRAYS: Mapping[str, str] = {
    "x": "n,n 0.1..0.9",
    "q": "n,n 0.1..0.9",
    "p": "n,n 0.1..0.9",
    "k": "n,n int32 0..4",
    "n": "n,n int32 4..8",
    **dict.fromkeys(("a", "b", "c", "beta", "df", "kappa", "mu"), "n,n 1..2"),
}
#: The functions of `x` that continuous distributions have.
CONTINUOUS = ("cdf", "logcdf", "logpdf", "logsf", "pdf", "sf")
DISTRIBUTIONS: Mapping[str, Rule] = {
    **alike("x: 4,nn 0.1..0.9 | alpha: 4 1..2", {}, "dirichlet.logpdf", "dirichlet.pdf"),
    **alike("x: nn,4 int32 0..4 | n: () int32 8..16 | p: 4 0.1..0.9", {}, "multinomial.logpmf", "multinomial.pmf"),
    **alike("x: nn,1 | mean: 1 | cov: 1,1 1..2", {}, "multivariate_normal.logpdf", "multivariate_normal.pdf"),
    "pareto.ppf": ("q: n,n 0.1..0.9 | b: n,n 1..2", {}),
    **alike("x: n,n 1..2 | b: n,n 1..2", {}, *(f"pareto.{name}" for name in CONTINUOUS)),
    **alike("x: n,n | a: n,n -2..-1 | b: n,n 1..2", {}, *(f"truncnorm.{name}" for name in CONTINUOUS)),
    **alike(
        "x: n,n 0.1..0.9 | a: n,n 1..2 fixed | b: n,n 1..2 fixed",
        {},
        *(f"beta.{name}" for name in ("cdf", "logcdf", "logsf", "sf")),
    ),
    "mode": ("a: n,n int32", {}),
    **alike("a: n,n", {}, "rankdata", "sem"),
}
SIGNAL: Mapping[str, Any] = {"nperseg": 64}

SPECIAL: Mapping[str, Rule] = {
    "bernoulli": ("", {"n": 20}),
    "bessel_jn": ("z: n,n 0.1..2", {"v": 3}),
    **alike("a: n,n 1..2 | b: n,n 1..2", {}, "beta", "betaln"),
    "betainc": ("a: n,n 1..2 fixed | b: n,n 1..2 fixed | x: n,n 0.1..0.9", {}),
    **alike("x: n,n 0.1..2 | lmbda: n,n 0.1..2", {}, "boxcox", "boxcox1p"),
    "comb": ("N: n,n 5..10 | k: n,n 1..4", {}),
    **alike("x: n,n 0.1..2", {}, "entr", "exp1", "expi", "sici", "spence"),
    "expn": ("n: n,n int32 1..4 | x: n,n 0.1..2", {}),
    "factorial": ("n: n,n 0..10", {}),
    **alike("x: n,n 1..3", {}, "gamma", "gammasgn", "loggamma"),
    **alike("a: n,n 1..2 | x: n,n 1..2", {}, "gammainc", "gammaincc"),
    "hyp1f1": ("a: n,n 1..2 | b: n,n 1..2 | x: n,n 0..1", {}),
    "hyp2f1": ("a: n,n 1..2 | b: n,n 1..2 | c: n,n 3..4 | x: n,n 0..0.5", {}),
    **alike("p: n,n 0.1..1 | q: n,n 0.1..1", {}, "kl_div", "rel_entr"),
    "logit": ("x: n,n 0.1..0.9", {}),
    "multigammaln": ("a: n,n 3..5", {"d": 2}),
    "ndtri": ("p: n,n 0.1..0.9", {}),
    "poch": ("z: n,n 1..2 | m: n,n 1..2", {}),
    "polygamma": ("n: n,n int32 1..3 | x: n,n 1..2", {}),
    "sph_harm_y": ("n: nn int32 0..4 | m: nn int32 0..1 | theta: nn 0..3 | phi: nn 0..3", {"n_max": 4}),
    "wofz": ("z: n,n complex64", {}),
    "xlog1py": ("x: n,n | y: n,n -0.5..2", {}),
    "xlogy": ("x: n,n | y: n,n 0.1..2", {}),
    "zeta": ("x: n,n 2..3 | q: n,n 1..2", {}),
}
LINALG: Mapping[str, Rule] = {
    "block_diag": ("arrs0: n,n | arrs1: n,n", {}),
    **alike("a: nn,1,1 1..2", {}, "cho_factor", "cholesky"),
    "cho_solve": ("c_and_lower: [n,n 1..2; = True] | b: n,n", {}),
    **alike("c: n", {}, "circulant", "hankel", "toeplitz"),
    **alike("a: n 1..2", {}, "companion", "fiedler", "fiedler_companion"),
    "convolution_matrix": ("a: n", {"n": lambda side: side}),
    **alike("", {"n": lambda side: side}, "dft", "hadamard", "helmert", "hilbert", "pascal"),
    **alike("", {"n": 8}, "invhilbert", "invpascal"),
    "eigh_tridiagonal": ("d: 64 fixed | e: 63 fixed", {"eigvals_only": True}),
    "leslie": ("f: 64 | s: 63", {}),
    "lu_solve": ("lu_and_piv: [n,n 1..2; n int32 0..8] | b: n,n", {}),
    "polar": ("a: n,n fixed", {}),
}
SIGNALS: Mapping[str, Rule] = {
    **alike("in1: nn | in2: n", {}, "convolve", "correlate", "fftconvolve"),
    **alike("in1: n,n | in2: 4,4", {}, "convolve2d", "correlate2d"),
    "csd": ("x: nn | y: nn", SIGNAL),
    "istft": ("Zxx: 33,n complex64", SIGNAL),
    **alike("x: nn", SIGNAL, "stft", "welch"),
}
FUNCTIONS: Mapping[str, Rule] = {
    **{f"special.{name}": rule for name, rule in SPECIAL.items()},
    **{f"linalg.{name}": rule for name, rule in LINALG.items()},
    **{f"signal.{name}": rule for name, rule in SIGNALS.items()},
    "ndimage.map_coordinates": ("input: n,n | coordinates: [nn 0..8; nn 0..8] | order = 1", {}),
}
