"""What the samplers of `numpy.random.Generator` are given: their distribution, and how many numbers to draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.notation import Rule

#: The parameters of each distribution that have no default.
PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    "beta": {"a": 2.0, "b": 3.0},
    "binomial": {"n": 10, "p": 0.3},
    "chisquare": {"df": 3.0},
    "choice": {"a": 100},
    "dirichlet": {"alpha": (0.5, 1.0, 2.0)},
    "exponential": {},
    "f": {"dfnum": 3.0, "dfden": 8.0},
    "gamma": {"shape": 2.0},
    "geometric": {"p": 0.3},
    "gumbel": {},
    "hypergeometric": {"ngood": 20, "nbad": 30, "nsample": 10},
    "laplace": {},
    "logistic": {},
    "lognormal": {},
    "logseries": {"p": 0.3},
    "multinomial": {"n": 10, "pvals": (0.25, 0.25, 0.5)},
    "multivariate_hypergeometric": {"colors": (10, 20, 30), "nsample": 10},
    "multivariate_normal": {"mean": (0.0, 1.0), "cov": ((2.0, 0.5), (0.5, 1.0))},
    "negative_binomial": {"n": 10, "p": 0.3},
    "noncentral_chisquare": {"df": 3.0, "nonc": 1.0},
    "noncentral_f": {"dfnum": 3.0, "dfden": 8.0, "nonc": 1.0},
    "normal": {},
    "pareto": {"a": 2.0},
    "poisson": {"lam": 3.0},
    "power": {"a": 2.0},
    "random": {},
    "rayleigh": {},
    "standard_cauchy": {},
    "standard_exponential": {},
    "standard_gamma": {"shape": 2.0},
    "standard_normal": {},
    "standard_t": {"df": 3.0},
    "triangular": {"left": 0.0, "mode": 0.5, "right": 1.0},
    "uniform": {},
    "vonmises": {"mu": 0.0, "kappa": 4.0},
    "wald": {"mean": 1.0, "scale": 2.0},
    "weibull": {"a": 2.0},
    "zipf": {"a": 2.0},
}
RULES: Mapping[str, Rule] = {
    **{name: ("", {**given, "size": lambda side: (side, side)}) for name, given in PARAMETERS.items()},
    "bytes": ("", {"length": lambda side: side * side}),
    "permutation": ("x: nn", {}),
    "permuted": ("x: nn", {}),
    "shuffle": ("x: nn", {}),
}
