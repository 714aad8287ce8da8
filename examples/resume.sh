#!/usr/bin/env bash
# Kill a run in the middle, and go on with it: every trial is measured once.
set -euo pipefail

measure() {
  exec opperf run sum mean max min prod logsumexp --framework numpy --direction forward --size small \
    --trial-budget 0.3 --output resumed.json "$@"
}

measure > first.txt 2>&1 &
run=$!
# Its first finished trials stand in the journal, behind a line that says which run this is.
while kill -0 "$run" 2> /dev/null && [ "$(cat resumed.json.journal 2> /dev/null | wc -l)" -lt 3 ]; do
  sleep 0.05
done
kill -9 "$run" 2> /dev/null || true
wait "$run" 2> /dev/null || true

(measure --resume resumed.json) > second.txt
grep "trials:" second.txt
