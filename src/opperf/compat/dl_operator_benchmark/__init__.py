"""The interface of dl-operator-benchmark for your own script: one class for each operator.

    from opperf.compat.dl_operator_benchmark.nd import Add, run_all_arithmetic_operations_benchmarks
    from opperf.compat.dl_operator_benchmark.gluon import Conv2D

The classes are made of declarations: opperf's catalog, and the names and defaults that the original had. Keys and units
are the original's: `MX_Add_Forward_Backward_Time`, in seconds. It needs MXNet and nothing else.
"""
