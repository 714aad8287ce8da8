"""The sizes of a KernelBench problem: whole numbers that its module assigns, and the same module with other ones.

    batch_size = 4096            `batch_size`
    height, width = 512, 256     `height`, `width`
    input_shape = (32768,)       `input_shape[0]`
    M = 1024 * 2                 `M`
    height = width = 128         `height`

What is computed of those, as `shape = (batch_size, 3)`, follows them. Numbers inside of functions stay.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator, Mapping
from pathlib import Path

from opperf.domain.arithmetic import NoNumber, evaluate
from opperf.domain.errors import InputError
from opperf.domain.files.text_file import read_text


class Program:
    """A file of Python with numbers in it that can be others."""

    def __init__(self, path: Path) -> None:
        """Read a file; raises `InputError`."""
        self.path = path
        try:
            self._tree = ast.parse(read_text(path), str(path))
        except (SyntaxError, ValueError) as error:
            raise InputError(f"{path}: not Python ({error})", slug="bad_problem") from error
        self._nodes = dict(_constants(self._tree))
        self.constants: Mapping[str, int] = {name: int(node.value) for name, node in self._nodes.items()}  # type: ignore[arg-type]  # whole numbers alone

    def run(self, constants: Mapping[str, int]) -> types.ModuleType:
        """Return the module with these numbers; raises whatever it raises."""
        for name, node in self._nodes.items():
            node.value = constants[name]
        module = types.ModuleType(f"opperf_problem_{self.path.stem}")
        module.__file__ = str(self.path)
        sys.modules[module.__name__] = module  # where its classes look for their module
        try:
            exec(compile(self._tree, str(self.path), "exec"), vars(module))
        except BaseException:
            del sys.modules[module.__name__]
            raise
        return module


def _constants(tree: ast.Module) -> Iterator[tuple[str, ast.Constant]]:
    """Yield each constant by its name, and put a single number where it is computed of others."""
    for statement in tree.body:
        if not isinstance(statement, ast.Assign):
            continue
        target, value = statement.targets[0], statement.value
        if isinstance(target, ast.Name) and (node := _number(value)) is not None:
            statement.value = node
            yield target.id, node
        elif isinstance(value, (ast.Tuple, ast.List)):
            for place, item in enumerate(value.elts):
                name = f"{target.id}[{place}]" if isinstance(target, ast.Name) else _name(target, place)
                node = _number(item)
                if name is not None and node is not None:
                    value.elts[place] = node
                    yield name, node


def _name(target: ast.expr, place: int) -> str | None:
    if isinstance(target, ast.Tuple) and place < len(target.elts):
        one = target.elts[place]
        return one.id if isinstance(one, ast.Name) else None
    return None


def _number(node: ast.expr) -> ast.Constant | None:
    """Return a node of one whole number above zero for an expression of numbers alone."""
    try:
        value = evaluate(node, {})
    except NoNumber:
        return None
    if type(value) is not int or value < 1:
        return None
    return ast.copy_location(ast.Constant(value), node)
