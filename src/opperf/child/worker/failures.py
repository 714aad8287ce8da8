"""The reply to a request that raised: why, in one line, and what helps."""

from __future__ import annotations

from opperf.child.worker.code import FatalImport
from opperf.child.worker.correctness import WrongResult
from opperf.child.worker.seal import Patched
from opperf.child.worker.side_work import Unfair
from opperf.domain.backend import Unsupported
from opperf.domain.errors import InputError
from opperf.domain.message.replies import Failure
from opperf.domain.reason import Reason

#: What a benchmark of asv raises to be left out.
SKIP = "SkipNotImplemented"


def failure(error: BaseException) -> Failure:
    """Return the reply to a request that raised: a skip for `Unsupported`, else a failure."""
    import traceback  # a child that fails at nothing starts without it

    if isinstance(error, Unsupported):
        return Failure(Reason(error.slug, str(error), error.hint), skipped=True, last=error.last)
    text = str(error).strip() or type(error).__name__
    if isinstance(error, SystemExit):
        text = f"it called `sys.exit({error.code!r})`"
    if type(error).__name__ == SKIP:
        return Failure(Reason("skipped_by_suite", f"asv: skipped: {error!r}"), skipped=True)
    if isinstance(error, FatalImport):
        return Failure(error.reason)
    if isinstance(error, WrongResult):
        return Failure(Reason("wrong_result", text, "fix it, or measure it anyway with `--no-check`"))
    if isinstance(error, Patched):
        return Failure(Reason("patched", text, "leave it alone, or measure it anyway with `--no-check`"), last=True)
    if isinstance(error, Unfair):
        return Failure(Reason(error.slug, text, error.hint), last=True)  # its threads would disturb the next one
    slug = "out_of_memory" if is_out_of_memory(error, text) else "operator_error"
    trace = "".join(traceback.format_exception(error))[-8000:]
    hint = error.hint if isinstance(error, InputError) else None
    return Failure(Reason(slug, headline(text)[:500], hint, exception=type(error).__name__, traceback=trace))


def headline(text: str) -> str:
    """Return the line that says what went wrong.

    MXNet's messages begin with a traceback of C++, TensorFlow's with where an operator ran, and those of its programs
    with a traceback of Python; the message is before the node then.
    """
    lines = [line.partition("}} ")[2] if line.startswith("{{function_node ") else line for line in text.splitlines()]
    node = next((i for i, line in enumerate(lines) if line.startswith("\t [[{{node ")), 0)
    if node and lines[0] == "Graph execution error:":
        return lines[node - 1].strip()
    telling = (line.strip() for line in lines if not line.startswith((" ", "\t", "Traceback")) and line.strip())
    first = next(telling, lines[0].strip())
    # A line that ends so announces the next: PyTorch's say there what was tried of an overload.
    return f"{first} {next(telling, '')}".rstrip() if first.endswith(":") else first


def is_out_of_memory(error: BaseException, text: str) -> bool:
    """Whether an error, and its text, say that memory is short."""
    words = ("out of memory", "cannot allocate memory", "can't allocate memory", "resource_exhausted", "bad_alloc")
    return isinstance(error, MemoryError) or any(word in text.lower() for word in words)
