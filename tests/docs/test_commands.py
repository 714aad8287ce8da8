"""Every command in the pages and examples is one that exists, with options that exist and names that are known."""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from tests.docs.conftest import Page, of_each_page

from opperf.catalog import DIRECTIONS, INT64, SIZES, categories, operator
from opperf.child.worker.suites.pytest_tests import FLAGS, OPTIONAL, VALUES
from opperf.compat.dl_operator_benchmark import benchmark_driver
from opperf.compat.mxnet_opperf import __main__ as mxnet_opperf
from opperf.compat.operator_benchmark.command import flags as operator_benchmark
from opperf.compat.param.command import tools as param
from opperf.domain.code import is_code, read_suite_code
from opperf.domain.registry import FRAMEWORKS, PRESETS, framework, split_implementation
from opperf.parent.cli.main import app
from opperf.parent.cli.options import with_values
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.planning.commit_sides import with_frameworks
from opperf.parent.planning.side_text import parse_side
from opperf.parent.reports.formats import FORMATS
from opperf.parent.sources.plugin_file import register_frameworks

ROOT = Path(__file__).parents[2]
#: Built once: typer makes it anew at each call, option by option.
COMMAND: Any = typer.main.get_command(app)
#: What a value of an option must be, beyond what the parser checks.
CHECKS: dict[str, Any] = {
    "framework": framework,
    "environment": EnvironmentSpec.parse,
    "category": lambda name: categories().index(name),
    "size": (*SIZES, INT64).index,
    "direction": DIRECTIONS.index,
    "format": list(FORMATS).index,
}


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each `opperf` command of a shell script, without comments, pipes and redirections."""
    for line in text.replace("\\\n", " ").splitlines():
        for inner in re.findall(r"\$\((opperf [^)]*)\)", line):
            yield shlex.split(inner)[1:]
        if "opperf" not in line:
            continue
        words = shlex.split(re.sub(r"\$\([^)]*\)|\"\$@\"", "", line), comments=True)
        for i, word in enumerate(words):
            if Path(word).name == "opperf" and (i == 0 or words[i - 1] in ("exec", "&&", "|", "{")):
                rest = words[i + 1 :]
                end = next((j for j, other in enumerate(rest) if other in ("|", "&&", ">", "}")), len(rest))
                yield rest[:end]


def check(words: list[str]) -> None:
    """Parse a command as the command line does, and look at the values that it does not look at."""
    command, given = COMMAND, with_values(words)
    while hasattr(command, "commands") and given and not given[0].startswith("-"):
        command = command.commands[given.pop(0)]
    if not given and hasattr(command, "commands"):
        return
    try:
        context = command.make_context(command.name, given)
    except Exception as error:
        if type(error).__name__ == "Exit":  # --help and --version
            return
        raise AssertionError(f"opperf {shlex.join(words)}: {error}") from error
    names = context.params.get("framework") or ()
    with frameworks_of(context.params.get("plugin") or (), [names] if isinstance(names, str) else names):
        check_values(command, context, words)


@contextmanager
def frameworks_of(plugins: Iterable[Path], names: Iterable[str]) -> Iterator[None]:
    """Know the frameworks that plugins of this project bring, and array libraries that are named, meanwhile."""
    before = set(FRAMEWORKS)
    register_frameworks([ROOT / path for path in plugins if (ROOT / path).is_file()], names)
    try:
        yield
    finally:
        for name in set(FRAMEWORKS) - before:
            del FRAMEWORKS[name], PRESETS[name]


def check_values(command: Any, context: Any, words: list[str]) -> None:
    """Look at the values that the parser does not look at."""
    for name, checked in CHECKS.items():
        value = context.params.get(name)
        for each in value if isinstance(value, (list, tuple)) else [value] * (value is not None):
            checked(each)
    sides = [text for text in (context.params.get("base"), *(context.params.get("new") or ())) if text]
    for text in with_frameworks(sides, context.params.get("operators") or ()):
        parse_side(text, lambda code: "torch")
    if command.name == "compare" and context.params["second"] is not None:
        assert context.params["suite"] is not None
        return
    if command.name == "compare" and not sides:
        assert [Path(file).suffix for file in context.params["operators"]] == [".json", ".json"]
        return
    for name in context.params.get("operators") or ():
        prefix, rest = split_implementation(name)
        if prefix is None and not context.params.get("plugin"):  # a plugin that is not there may have any name
            assert is_code(name) or read_suite_code(name) or operator(rest)


#: Pages that make what their commands name: `tests/recipes` follows them.
RECIPES = ("add-an-operator.md", "add-a-report.md")


@of_each_page
def test_commands_in_pages_can_be_given(page: Page) -> None:
    for block in () if Path(page.name).name in RECIPES else page.blocks("sh"):
        for words in commands(block.text):
            check(words)


@of_each_page
def test_commands_of_other_systems_in_pages_can_be_given(page: Page) -> None:
    for block in page.blocks("sh"):
        for line in block.text.splitlines():
            if line.startswith("python -m opperf.compat."):
                check_compat(shlex.split(line)[2:])


@of_each_page
def test_workflows_in_pages_can_be_run(page: Page) -> None:
    for block in page.blocks("yaml"):
        jobs = yaml.safe_load(block.text).get("jobs", {}) if "jobs:" in block.text else {}
        for step in (step for job in jobs.values() for step in job["steps"]):
            for words in commands(step.get("run", "")):
                check(words)


def check_compat(words: list[str]) -> None:
    """Parse a command of `opperf.compat` as it does."""
    if words[0].endswith(".benchmark_driver"):
        benchmark_driver.parser().parse_args(words[1:])
    elif words[0].endswith(".param"):
        param.parser().parse_args(words[1:])
    elif words[0].endswith(".operator_benchmark"):
        operator_benchmark.parser().parse_args(words[1:])
    else:
        command: Any = typer.main.get_command(importlib.import_module(f"{words[0]}.__main__").app)
        command.make_context(words[0], words[1:])


def test_commands_in_example_scripts_can_be_given(root: Path) -> None:
    for script in root.glob("examples/*.sh"):
        for words in commands(script.read_text(encoding="utf-8")):
            check(words)


def test_commands_in_example_workflows_can_be_given(root: Path) -> None:
    for workflow in root.glob("examples/ci/*.yml"):
        result = list(commands(workflow.read_text(encoding="utf-8")))
        assert {"gate", "nightly"} & {words[0] for words in result}, workflow.name
        for words in result:
            check(words)


def test_what_serves_a_team_are_commands_that_exist_and_variables_that_are_told(root: Path) -> None:
    folder = root / "examples" / "serve"
    unit = (folder / "opperf-serve.service").read_text(encoding="utf-8")
    (line,) = re.findall(r"^ExecStart=\S+/opperf (.*)$", unit, re.MULTILINE)
    text = (folder / "compose.yml").read_text(encoding="utf-8")
    service = yaml.safe_load(text)["services"]["opperf"]
    for words in (shlex.split(line), service["command"]):
        check(words)
    told = set(re.findall(r"^(\w+)=", (folder / "env.example").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"\$\{(\w+):\?\}", text)) == told
    page = (root / "docs" / "how-to" / "serve-a-team.md").read_text(encoding="utf-8")
    assert all(name in page for name in {"OPPERF_TOKEN", "OPPERF_MACHINES"} & told)


def test_systemd_has_nothing_to_say_of_the_unit_that_serves_a_team(root: Path, tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("there is no systemd on this machine")
    unit = (root / "examples" / "serve" / "opperf-serve.service").read_text(encoding="utf-8")
    # It looks for the program as well.
    (tmp_path / "opperf-serve.service").write_text(unit.replace("/opt/opperf/bin/opperf", sys.executable))
    done = subprocess.run([analyze, "verify", tmp_path / "opperf-serve.service"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture(scope="module")
def known() -> set[str]:
    """Every option of ours, and those of docker, pip, ncu and our benchmarks that pages name."""
    verbs = [*_verbs(COMMAND), *_verbs(typer.main.get_command(mxnet_opperf.app))]
    own = {option for verb in verbs for parameter in verb.params for option in _options(parameter)}
    parsers = (param.parser(), operator_benchmark.parser())
    own |= {option for parser in parsers for action in parser._actions for option in action.option_strings}
    own |= {f"--benchmark-{name}" for name in f"{FLAGS} {VALUES} {OPTIONAL}".split()}
    return own | {"--cpuset-cpus", "--no-deps", "--metrics", "--nvtx-include", "--alone", "--loops", "--real"}


@of_each_page
def test_commands_in_running_text_have_options_that_exist(page: Page, known: set[str]) -> None:
    prose = "\n".join(
        child.content for token in page.tokens for child in token.children or () if child.type == "code_inline"
    )
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z0-9_-]+", prose)) <= known


def test_the_readers_of_commands_find_them() -> None:
    assert list(commands("opperf run add --runs 5 | head  # opperf nothing\n$(opperf env python jax) x.py")) == [
        ["run", "add", "--runs", "5"],
        ["env", "python", "jax"],
    ]


def test_every_command_is_on_the_page_of_commands(root: Path) -> None:
    text = (root / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    for name, verb in COMMAND.commands.items():
        assert f"<!-- generated: help {name} -->" in text
        for inner in getattr(verb, "commands", {}):
            assert f"<!-- generated: help {name} {inner} -->" in text


@of_each_page
def test_targets_of_make_exist(page: Page, root: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {word for block in page.blocks("sh") for word in re.findall(r"^make ([\w-]+)", block.text, re.MULTILINE)}
    named |= set(re.findall(r"`make ([\w-]+)`", page.text))
    assert named <= targets


def _options(parameter: Any) -> list[str]:
    return [*parameter.opts, *parameter.secondary_opts, "--help"]


def _verbs(command: Any) -> Iterator[Any]:
    yield command
    for inner in getattr(command, "commands", {}).values():
        yield from _verbs(inner)
