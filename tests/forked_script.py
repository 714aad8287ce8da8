"""The process that scripts of a framework are forked from (`in_environment.py`).

It imports the framework and nothing else. Each script that is asked for runs in a copy of it, as `python SCRIPT` does
but for the import, which takes longer than most scripts, and for taking the framework apart at the end.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import socket
import sys
import traceback
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

#: A request comes in one piece, and none is longer.
LONGEST = 1 << 20


def fork_on_request(requests: socket.socket) -> None:
    """Run each script in a copy, and answer with its exit code, until no more can come."""
    while True:
        text, descriptors, _, _ = socket.recv_fds(requests, LONGEST, 2)
        if not text:
            os._exit(0)
        copy = os.fork()
        if copy == 0:
            requests.close()
            os._exit(exit_code(json.loads(text), *descriptors))
        for descriptor in descriptors:
            os.close(descriptor)
        requests.send(str(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])).encode())


def exit_code(request: dict[str, Any], output: int, errors: int) -> int:
    """Run a script to its end, with what a process of its own is started with."""
    os.dup2(output, 1)
    os.dup2(errors, 2)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["variables"])
    script, *sys.argv = request["words"]
    if script == "-W":
        choice, script, *sys.argv = sys.argv
        assert choice == "ignore", choice
        warnings.simplefilter("ignore")
    main = sys.modules["__main__"] = ModuleType("__main__")
    if script == "-c":
        text, home = sys.argv.pop(0), ""
    else:
        text, home = Path(script).read_text(encoding="utf-8"), str(Path(script).parent)
        vars(main)["__file__"] = script
    sys.argv.insert(0, script)
    sys.path[:0] = [home, *os.environ["PYTHONPATH"].split(os.pathsep)]
    code: object = 0
    try:
        exec(compile(text, script, "exec", dont_inherit=True), vars(main))
    except SystemExit as left:
        code = left.code
    except BaseException:
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return code if isinstance(code, int) else int(code is not None)


if __name__ == "__main__":
    del sys.path[0]  # where this file lies, and no script looks
    gc.disable()  # an import leaves little behind, and looking for it takes a tenth of its time
    import_module(sys.argv[2])
    gc.freeze()  # a collection would look at all of it in each copy, and copy what they share
    gc.enable()
    fork_on_request(socket.socket(fileno=int(sys.argv[1])))
