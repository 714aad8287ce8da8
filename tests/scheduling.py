"""Which tests one process runs, one after the other: those of a file, and of files that start the same things."""

from __future__ import annotations

import re

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

#: Folders whose files have the children of every backend, or a browser, which a session starts once.
FOLDERS = {"tests/conformance/": "backends", "tests/backends/": "backends", "tests/browser/": "browser"}
#: Files whose scripts are forked from processes that have imported a framework, one of each for a session.
SCRIPTS = re.compile(r"^from tests\.(in_environment|compat\.in_mxnet) import ", re.MULTILINE)
#: Files whose children are forked from processes with the same frameworks as those of others.
ALIKE = {
    "tests/frameworks/": "scripts",
    "tests/functional/test_compare_suites.py": "backends",
    "tests/functional/test_what_if.py": "scripts",
    "tests/processes/test_library_torch.py": "scripts",
}
#: Up to how many processes such files go together: one of more would be busy with them when the others have ended.
MOST = 5


class Company(LoadFileScheduling):  # type: ignore[misc]
    """Hands out whole files, and together those that share what takes long to start."""

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        """Know of no file yet."""
        super().__init__(config, log)
        self._names: dict[str, str] = {}

    def _split_scope(self, nodeid: str) -> str:
        file = str(super()._split_scope(nodeid))
        if file not in self._names:
            self._names[file] = file if self.numnodes > MOST else self._company(file)
        return self._names[file]

    def _company(self, file: str) -> str:
        """Return the name of the files that go with a file: its own where it goes alone."""
        for beginning, company in (FOLDERS | ALIKE).items():
            if file.startswith(beginning):
                return company
        text = (self.config.rootpath / file).read_text(encoding="utf-8")
        return "scripts" if SCRIPTS.search(text) else file
