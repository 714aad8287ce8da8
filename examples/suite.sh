#!/usr/bin/env bash
# Measure the cases of a suite file, keep the result, and print it again in another format.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

opperf run --suite "$here/suite.json" --framework numpy --direction forward --runs 10 --output suite_result.json
opperf show suite_result.json --format md
