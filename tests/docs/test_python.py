"""Python in pages runs and says what the page says; so do the examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest
from tests.docs.conftest import PAGES, Page
from tests.each import check_each

import opperf
from opperf.domain.registry import FRAMEWORKS
from opperf.parent.workers.interpreters import imports_here

pytestmark = pytest.mark.usefixtures("few_rounds")

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
#: Frameworks that do not import here; their backends cannot either.
ABSENT = [name for name in FRAMEWORKS if name != "null" and not imports_here(name)]
#: What else imports a framework: the faces for scripts that have it.
FACES = {
    "numpy": r"|child\.backends\.array_api\b",
    "mxnet": r"|child\.profiling\.of_mxnet|compat\.cell_states"
    r"|compat\.mxnet_opperf\.(blocks|custom|inputs|one_name|performance|runners)"
    r"|compat\.dl_operator_benchmark\.(?!benchmark_driver)",
}
WITHOUT = "|".join(rf"child\.backends\.{name}\b{FACES.get(name, '')}" for name in ABSENT)
MODULES = [
    module.name
    for module in pkgutil.walk_packages(opperf.__path__, "opperf.", onerror=lambda name: None)
    if not ABSENT or not re.match(rf"opperf\.({WITHOUT})", module.name)
]


def has_examples(name: str) -> bool:
    """Whether the text of a module has an example in it."""
    spec = importlib.util.find_spec(name)
    return spec is not None and ">>> " in Path(str(spec.origin)).read_text(encoding="utf-8")


WITH_EXAMPLES = [*filter(has_examples, MODULES)]


def failures(test: doctest.DocTest) -> str:
    """Run the examples of a text and return what went otherwise."""
    said: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append, clear_globs=False)
    return "".join(said)


#: Looked for as text: to parse all pages takes a second of each process that collects the tests.
WITH_PYTHON = [page for page in PAGES if "```python\n" in page.text]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_python_in_pages_does_what_it_shows(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in page.blocks("python"):
        if ">>>" in block.text:
            test = doctest.DocTestParser().get_doctest(block.text, names, page.name, page.name, block.line)
            assert failures(test) == ""
            names.update(test.globs)
        else:
            exec(compile(block.text, f"{page.name}:{block.line}", "exec"), {})


@pytest.mark.parametrize("package", sorted({".".join(name.split(".")[:2]) for name in WITH_EXAMPLES}))
def test_examples_in_docstrings_show_what_happens(package: str) -> None:
    def check(name: str) -> None:
        module = importlib.import_module(name)
        for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
            assert failures(test) == ""

    check_each([name for name in WITH_EXAMPLES if f"{name}.".startswith(f"{package}.")], check)
