"""What stands in for NVIDIA's `ncu` and `nsys` where there is no GPU; which one it is, its own name says.

It refuses what the tools would refuse, runs the command behind its options, and writes their formats. It knows ranges
by what the null framework prints, and has one kernel launched in each call: `add_kernel`, in `backward` ranges
`grad_kernel` as well. What is launched outside of all ranges is `warm_kernel`.
"""

import argparse
import csv
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

RANGES = [
    "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
    "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
]
NAMES = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size"]


def ncu(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="ncu", allow_abbrev=False)
    for flag in ("--csv", "--nvtx"):
        parser.add_argument(flag, action="store_true", required=True)
    parser.add_argument("--page", choices=["raw"], required=True)
    parser.add_argument("--print-units", choices=["base"], required=True)
    parser.add_argument("--target-processes", choices=["all"], required=True)
    parser.add_argument("--log-file", type=Path, required=True)
    parser.add_argument("--nvtx-include", required=True)
    parser.add_argument("--metrics", default="gpu__time_duration.sum")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args(words)
    code, launches = run(given.command)
    seen = [(kernel, ranges) for kernel, ranges in launches if given.nvtx_include in ranges]
    metrics = given.metrics.split(",")
    with given.log_file.open("w", newline="") as file:
        file.write("==PROF== Connected to process 7 (python)\n==PROF== Disconnected from process 7\n")
        if "no_such_metric" in metrics:
            file.write("==ERROR== Failed to find metric no_such_metric\n")
            return 9
        if not seen:
            file.write("==WARNING== No kernels were profiled.\n")
            return code
        rows = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        rows.writerow([*NAMES, *RANGES, "Device", "CC", *metrics])
        rows.writerow([""] * (len(NAMES) + 4) + ["ns" if "time" in name else "byte" for name in metrics])
        for number, (kernel, ranges) in enumerate(seen):
            told = " ".join(
                f'"{i}:<default domain>:{name}:none:none:none:none:none:none"' for i, name in enumerate(ranges)
            )
            place = [number, 7, "python", "127.0.0.1", f"{kernel}(float *, int)", 1, 7, "(128, 1, 1)", "(2, 1, 1)"]
            rows.writerow([*place, "", told, 0, "9.0", *("1,500" if "time" in name else "64" for name in metrics)])
    return code


def nsys(words: list[str]) -> int:
    assert words.pop(0) == "profile"
    parser = argparse.ArgumentParser(prog="nsys profile", allow_abbrev=False)
    parser.add_argument("--trace", choices=["cuda,nvtx"], required=True)
    parser.add_argument("--export", choices=["sqlite"], required=True)
    parser.add_argument("--force-overwrite", choices=["true"], required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args(words)
    code, launches = run(given.command)
    Path(f"{given.output}.nsys-rep").write_bytes(b"")
    with sqlite3.connect(f"{given.output}.sqlite") as database:
        database.executescript("""
            CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
            CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
                textId INTEGER, globalTid INTEGER);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
                globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL);
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
                correlationId INTEGER, demangledName INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL,
                gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL);
            INSERT INTO StringIds VALUES (0, 'cudaLaunchKernel_v7000');
        """)
        for number, (kernel, ranges) in enumerate(launches, 1):
            # The range of a call spans the launch; the kernel itself begins after that, 2 us later.
            at = number * 100_000
            database.execute("INSERT INTO StringIds VALUES (?, ?)", (2 * number, f"{kernel}(float *, int)"))
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 2, ?, 0)", (at, at + 1000, number))
            row = (at + 2000, at + 3500, number, 2 * number, 2, 1, 1, 128, 1, 1)
            database.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({', '.join('?' * len(row))})", row)
            for name in ranges:
                database.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 60, ?, NULL, 1)", (at - 500, at + 9000, name))
    return code


def run(command: list[str]) -> tuple[int, list[tuple[str, list[str]]]]:
    """Run a command; return its exit code, and each kernel with the ranges that are open when it is launched."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    launches: list[tuple[str, list[str]]] = [("warm_kernel", [])]
    ranges: list[str] = []
    for verb, name in re.findall(r"^range (start|end) (.*)$", done.stdout, re.MULTILINE):
        if verb == "start":
            ranges.append(name)
        elif name == ranges[-1]:
            kernels = ["add_kernel", *(["grad_kernel"] if name.endswith(".backward") else [])]
            launches += [(kernel, list(ranges)) for kernel in kernels if len(ranges) == 2]
            ranges.pop()
    return done.returncode, launches


if __name__ == "__main__":
    sys.exit({"ncu": ncu, "nsys": nsys}[Path(sys.argv[0]).name](sys.argv[1:]))
