"""`python -m opperf.compat.operator_benchmark`: the command line of PyTorch's runner, with opperf's measurement."""

from __future__ import annotations

try:
    from opperf.parent.cli.exit import obey
except KeyboardInterrupt:
    raise SystemExit(130) from None


def main() -> None:
    """Run the command line and exit with its code."""
    obey(benchmark)


def benchmark() -> None:
    """Measure tests, or list them; raises `InputError` before anything runs for what cannot be understood."""
    from opperf.compat.operator_benchmark.command.flags import check, parser
    from opperf.compat.operator_benchmark.command.running import Running, list_tests

    options = parser().parse_args()
    check(options)
    if options.list_tests or options.list_ops:
        list_tests(options)
    else:
        Running(options).run()


if __name__ == "__main__":
    main()
