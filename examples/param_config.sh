#!/usr/bin/env bash
# Check a PARAM config, measure it, and write PARAM's own file of results for a part of it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

opperf config check "$here/param_config.json"
opperf run --config "$here/param_config.json" --framework numpy --direction forward --runs 10
python -m opperf.compat.param -c "$here/param_config.json" -w 2 -i 5 -s "softmax|0|0|0" -o out.json
