"""The variables of the environment that a process in a room gets: what programs and frameworks need, and no secret.

A user's shell holds keys and tokens. What is not named here stays outside; a side's own `env.NAME=` settings are added.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Where programs and libraries are found, the language of messages, names of the user, and compilers.
NAMES = frozenset({
    "PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH", "PYTHONHASHSEED", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE",
    "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "CC", "CXX", "CONDA_PREFIX", "NPROC", "GLIBC_TUNABLES",
})  # fmt: skip
#: How the names of settings begin: of threads, of numerical libraries and allocators, of frameworks and compilers.
PREFIXES = (
    "LC_", "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "GOTO_", "BLIS_", "NUMEXPR_", "VECLIB_", "TBB_",
    "DNNL_", "ONEDNN_", "MALLOC_", "TORCH_", "TORCHINDUCTOR_", "PYTORCH_", "ATEN_", "TRITON_", "NPY_", "NUMBA_",
    "JAX_", "XLA_", "TF_", "MXNET_", "CUDA_",
)  # fmt: skip


def needed(variables: Mapping[str, str]) -> dict[str, str]:
    """Return those of some variables that a room lets in.

    >>> needed({"PATH": "/usr/bin", "OMP_NUM_THREADS": "1", "CLOUD_TOKEN": "secret", "HOME": "/home/ann"})
    {'PATH': '/usr/bin', 'OMP_NUM_THREADS': '1'}
    """
    return {name: value for name, value in variables.items() if name in NAMES or name.startswith(PREFIXES)}
