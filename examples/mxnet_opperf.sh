#!/usr/bin/env bash
# The command line of MXNet's opperf: its flags, its rows; some operators in place of all, and rows from a file.
set -euo pipefail

python -m opperf.compat.mxnet_opperf --output-format json --output-file add.json --warmup 1 --runs 3 \
  --operator elemwise_add
cat add.json

echo '{"dot": [{"lhs": [64, 64], "rhs": [64, 64]}, {"lhs": [64, 8], "rhs": [64, 8], "transpose_b": true}]}' > rows.json
python -m opperf.compat.mxnet_opperf -f md -o rows.md -w 1 -r 3 --profiler python --inputs rows.json
cat rows.md
