"""What `bisect` builds: it ends with opperf, leaves nothing running, and begins from nothing but its commit."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import psutil
import pytest

from opperf.domain.errors import EnvironmentFailure
from opperf.domain.plan import Side
from opperf.parent.commands.bisect.builds import Commits
from opperf.parent.workers import commits, supervision
from opperf.parent.workers.commits import Recipe
from opperf.parent.workers.supervision import launch

Start: TypeAlias = Callable[..., "subprocess.Popen[str]"]
Until: TypeAlias = Callable[[Callable[[], Any]], Any]

#: Changes its worktree; then, until it may go on, starts a process in a session of its own, and never ends.
BUILD = """
echo built >> value
if ! test -e {gate}; then
  setsid sleep 600 & echo $! >> {pids}; echo $$ >> {pids}
  touch {started}; sleep 600
fi
cp value "$VIRTUAL_ENV/value"
"""
#: Builds the last commit of a repository, without what an index is needed for.
PARENT = """
import sys
from pathlib import Path
from opperf.domain.plan import Side
from opperf.parent.commands.bisect.builds import Commits
from opperf.parent.workers import commits
commits.uv = lambda *words: ""
both = Commits(Path(sys.argv[1]), "HEAD~1", "HEAD", commits.Recipe(sys.argv[2]), print)
both.side(both.names[-1], Side("numpy"))
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of two commits; environments are built without what an index is needed for."""
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(commits, "uv", lambda *words: "")
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    for number in (1, 2):
        (folder / "value").write_text(f"commit {number}\n")
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", f"commit {number}")
    return folder


def git(folder: Path, *words: str) -> str:
    """Run git without the user's own settings."""
    settings = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", "-C", folder, *settings, *words], check=True, capture_output=True, text=True)
    return done.stdout


def environment(repository: Path, command: str) -> Path:
    """Build the last commit, and return its environment."""
    both = Commits(repository, "HEAD~1", "HEAD", Recipe(command), print)
    return Path(both.side(both.names[-1], Side("numpy")).environment.removeprefix("python=")).parents[1]


def test_ends_are_called_as_the_user_named_them_and_git_says_which_commit_each_is(repository: Path) -> None:
    first = git(repository, "rev-parse", "HEAD~1").strip()
    git(repository, "tag", "v1", "HEAD~1")
    git(repository, "tag", "v2", "HEAD")
    both = Commits(repository, "v1", "HEAD", Recipe("true"), print)
    assert both.names == ["v1", "HEAD"]
    assert both.short_hash("v1") == first[:10]
    good, bad = both.describe(both.names)
    assert (good.build, good.hash, good.subject, good.author, good.tag) == ("v1", first, "commit 1", "A", "v1")
    assert (bad.subject, bad.tag) == ("commit 2", "v2")
    assert bad.date.startswith("20")
    assert Commits(repository, first[:7], "HEAD", Recipe("true"), print).names == [first[:10], "HEAD"]


def lives(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):  # it may end while this looks
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_build_ends_with_opperf_and_what_it_left_is_in_no_other(
    number: int, repository: Path, tmp_path: Path, start: Start, until: Until
) -> None:
    gate, pids, started = (tmp_path / name for name in ("gate", "pids", "started"))
    command = BUILD.format(gate=gate, pids=pids, started=started)
    parent = start("-c", PARENT, repository, command)
    until(started.exists)
    running = [int(line) for line in pids.read_text().split()]
    assert [lives(pid) for pid in running] == [True, True]
    parent.send_signal(number)
    parent.wait()
    until(lambda: not any(map(lives, running)))
    gate.touch()
    assert (environment(repository, command) / "value").read_text() == "commit 2\nbuilt\n"
    assert len(git(repository, "worktree", "list").splitlines()) == 1


def test_a_build_that_leaves_a_daemon_is_not_waited_for_and_the_daemon_ends(
    repository: Path, tmp_path: Path, until: Until
) -> None:
    pid = tmp_path / "pid"
    folder = environment(repository, f'setsid sleep 600 & echo $! > {pid}; cp value "$VIRTUAL_ENV"')
    assert (folder / "value").read_text() == "commit 2\n"
    until(lambda: not lives(int(pid.read_text())))


def test_a_build_that_takes_too_long_ends_with_all_that_it_started(
    repository: Path, tmp_path: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = tmp_path / "pid"

    def begun(*given: Any, **options: Any) -> subprocess.Popen[bytes]:
        """Start a build whose time begins when it has started something."""
        process = launch(*given, **options)
        until(lambda: pid.exists() and pid.read_text())
        return process

    monkeypatch.setattr(supervision, "launch", begun)
    monkeypatch.setattr(commits, "BUILD_PATIENCE", 1.0)
    with pytest.raises(EnvironmentFailure, match="was not built in 1 s"):
        environment(repository, f"setsid sleep 600 & echo $! > {pid}; sleep 600")
    until(lambda: not lives(int(pid.read_text())))


def test_a_commit_that_cannot_be_built_is_not_tried_again_but_one_whose_build_was_killed_is(
    repository: Path, tmp_path: Path
) -> None:
    tries = tmp_path / "tries"
    for command, count in ((f"echo >> {tries}; exit 1", 1), (f"echo >> {tries}; kill -9 $$", 3)):
        for _ in range(2):
            with pytest.raises(EnvironmentFailure, match="cannot be built"):
                environment(repository, command)
        assert len(tries.read_text().splitlines()) == count


def test_an_environment_that_stands_is_not_built_again(repository: Path, tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    first, second = (environment(repository, f"echo >> {tries}") for _ in range(2))
    assert (first, os.stat(tries).st_size) == (second, 1)
