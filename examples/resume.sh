#!/usr/bin/env bash
# Kill a run in the middle, and go on with it: every trial is measured once.
set -euo pipefail

measure() {
  exec opperf run null:steady null:noisy --category reduction --framework null --runs 10 --output resumed.json "$@"
}

measure > first.txt 2>&1 &
run=$!
for _ in $(seq 600); do # wait for its first finished trials
  if [ "$(cat resumed.json.journal 2> /dev/null | wc -l)" -gt 3 ]; then break; fi
  sleep 0.05
done
kill -9 "$run" 2> /dev/null || true
wait "$run" 2> /dev/null || true

(measure --resume resumed.json) > second.txt
grep "trials:" second.txt
