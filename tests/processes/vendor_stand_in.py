"""What stands in for other makers' profilers; which one it is, its own name says.

It takes the options of the tool that opperf gives, and refuses others as the tool would. It runs the command, says on
stderr what the tool says there, leaves a report of what it was given, and ends as the command ended.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path


def nsys() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="nsys profile", allow_abbrev=False)
    parser.add_argument("--trace", type=lambda text: sorted(text.split(",")))
    parser.add_argument("--force-overwrite", choices=["true", "false"])
    parser.add_argument("--output", dest="report", type=lambda text: Path(f"{text}.nsys-rep"))
    return parser


def ncu() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ncu", allow_abbrev=False)
    for flag in ("--nvtx", "--force-overwrite"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--target-processes", choices=["all", "application-only"])
    parser.add_argument("--launch-count", type=int)
    parser.add_argument("--log-file", choices=["stdout", "stderr"])
    parser.add_argument("--export", dest="report", type=lambda text: Path(f"{text}.ncu-rep"))
    return parser


def vtune() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="vtune", allow_abbrev=False)
    parser.add_argument("-collect", choices=["hotspots", "threading", "memory-access"])
    parser.add_argument("-knob", action="append")
    parser.add_argument("-result-dir", dest="report", type=Path)
    for flag in ("-no-summary", "-quiet"):
        parser.add_argument(flag, action="store_true")
    return parser


def perf() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="perf record", allow_abbrev=False)
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--freq", type=int)
    parser.add_argument("--call-graph", choices=["fp", "dwarf", "lbr"])
    parser.add_argument("--output", dest="report", type=Path)
    return parser


def main() -> int:
    tool, words = Path(sys.argv[0]).name, sys.argv[1:]
    verb = {"nsys": "profile", "perf": "record"}.get(tool)
    if verb is not None and words.pop(0) != verb:
        return 2
    parser = {"nsys": nsys, "ncu": ncu, "vtune": vtune, "perf": perf}[tool]()
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = vars(parser.parse_args(words))
    command = given.pop("command")
    if command[:1] == ["--"]:
        del command[0]
    report = given.pop("report")
    print(f"{tool}: connected", file=sys.stderr)
    code = subprocess.run(command, env=os.environ).returncode
    if tool == "vtune":
        report.mkdir()  # refuses one that is there
        report /= "options.json"
    report.write_text(json.dumps(given))
    return code


if __name__ == "__main__":
    sys.exit(main())
