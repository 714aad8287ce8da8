"""`python -m opperf`, and the command `opperf` itself: nothing is imported before Ctrl-C has a quiet way out."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        from opperf.parent.cli.main import main as command
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    command()


if __name__ == "__main__":
    main()
