"""The categories of MXNet's opperf, by the functions that measure them: 19 of version 1.9.1, and those added later.

Data only: the functions for scripts and the command line share it.
"""

from __future__ import annotations

from collections.abc import Mapping

from opperf.catalog.groups import GROUPS

#: The category of each function, in the order in which all are measured.
RUNNERS: Mapping[str, str] = {
    "run_mx_unary_operators_benchmarks": "mx_unary",
    "run_mx_binary_broadcast_operators_benchmarks": "mx_binary_broadcast",
    "run_mx_binary_element_wise_operators_benchmarks": "mx_binary_element_wise",
    "run_mx_binary_misc_operators_benchmarks": "mx_binary_misc",
    "run_gemm_operators_benchmarks": "gemm",
    "run_mx_random_sampling_operators_benchmarks": "mx_random_sampling",
    "run_mx_reduction_operators_benchmarks": "mx_reduction",
    "run_sorting_searching_operators_benchmarks": "sorting_searching",
    "run_rearrange_operators_benchmarks": "rearrange",
    "run_indexing_routines_benchmarks": "indexing_routines",
    "run_nn_basic_operators_benchmarks": "nn_basic",
    "run_activation_operators_benchmarks": "nn_activation",
    "run_pooling_operators_benchmarks": "mx_pooling",
    "run_convolution_operators_benchmarks": "mx_convolution",
    "run_optimizer_operators_benchmarks": "mx_optimizer",
    "run_transpose_convolution_operators_benchmarks": "transpose_convolution",
    "run_loss_operators_benchmarks": "mx_loss",
    "run_mx_misc_operators_benchmarks": "mx_misc",
    "run_linalg_operators_benchmarks": "mx_linalg",
    "run_shape_operators_benchmarks": "mx_shape",
    "run_expanding_operators_benchmarks": "expanding",
    "run_rounding_operators_benchmarks": "rounding",
    "run_join_split_operators_benchmarks": "join_split",
}
#: Operators in addition to those of the groups in opperf's own commands.
MORE = {"join_split": ("concat", "stack", "split"), "mx_misc": ("Custom",)}


def members(category: str) -> list[str]:
    """Return the operators of a category, by their names in `mx.nd`.

    >>> members("gemm")
    ['dot', 'batch_dot', 'khatri_rao']
    """
    group = [member.removeprefix("mxnet:nd.") for member in GROUPS.get(category, ())]
    return [*group, *MORE.get(category, ())]
