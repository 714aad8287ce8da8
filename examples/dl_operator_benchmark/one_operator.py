"""One operator: with its default inputs, in another element type, and with inputs of other sizes."""

from opperf.compat.dl_operator_benchmark.nd import Add

add_benchmark = Add()
add_benchmark.run_benchmark()
add_benchmark.print_benchmark_results()

add_benchmark = Add(inputs={"dtype": "float64"})
print(add_benchmark.inputs)
add_benchmark.run_benchmark()
add_benchmark.print_benchmark_results()

varying = Add.varying(warmup=1, runs=3)
for size in ("small", "skewed"):  # and common and large
    varying[size].run_benchmark()
    print(size, varying[size].inputs["lhs"], varying[size].get_benchmark_results())
