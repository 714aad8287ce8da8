"""Files of expectations: read whole, written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from opperf.errors import InputError
from opperf.expectation import Expectation, document, from_document
from opperf.store.run_file import write_text


def read_expected(path: Path) -> tuple[Expectation, ...]:
    """Read a file of expectations; raises `InputError` that says what is wrong and where."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot read `{path}`: {getattr(error, 'strerror', None) or error}",
            hint="`opperf gate --update-expected` writes it",
            slug="input",
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error})", slug="input") from error
    return from_document(data, str(path))


def write_expected(path: Path, expectations: Sequence[Expectation]) -> None:
    """Write a file of expectations, so that it has the old content or the new one."""
    write_text(path, json.dumps(document(expectations), indent=1, allow_nan=False) + "\n")
