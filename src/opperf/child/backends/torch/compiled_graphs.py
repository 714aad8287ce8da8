"""What `torch.compile` compiled while a program was watched: operators and modules of each graph, breaks, repetitions.

A compiled graph is one operator to the profiler. Dynamo hands each graph to its compiler as a list of calls that still
know the module they come from, which is looked at there. Nothing of Dynamo is imported for a program that compiles
nothing: it is followed from the first call of `torch.compile` on.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any

import torch

#: Where Dynamo hands graphs over, and what the function is called that does.
PLACE, FUNCTION = "torch._dynamo.output_graph", "call_user_compiler"
#: How a path of modules begins: with a local or global variable.
VARIABLE = re.compile(r"[LG]\['(\w+)'\]")
#: The most graphs that are told one by one.
MOST_GRAPHS = 200


class CompiledGraphs:
    """Follows what is compiled, from `start` to `stop`, any number of times."""

    def __init__(self) -> None:
        self._graphs: list[dict[str, Any]] = []
        self._restore: list[Callable[[], None]] = []
        self._breaks: Counter[str] = Counter()

    def start(self) -> None:
        """Follow what is compiled from now on."""
        if PLACE in sys.modules:
            self._follow()
            return
        compile_function = torch.compile

        @wraps(compile_function)
        def following(*arguments: Any, **options: Any) -> Any:
            torch.compile = compile_function
            import_module(PLACE)
            self._follow()
            return compile_function(*arguments, **options)

        torch.compile = following
        self._restore.append(lambda: setattr(torch, "compile", compile_function))

    def stop(self) -> None:
        """Follow nothing more."""
        while self._restore:
            self._restore.pop()()

    def facts(self) -> Mapping[str, object]:
        """Return graphs, breaks and recompilations since the beginning, as JSON has them; empty without any."""
        utils = sys.modules.get("torch._dynamo.utils")
        counters = getattr(utils, "counters", {}).get("graph_break", {})
        breaks = {_first_line(reason): count for reason, count in (Counter(counters) - self._breaks).items()}
        if not self._graphs and not breaks:
            return {}
        return {"graphs": self._graphs[:MOST_GRAPHS], "breaks": breaks, "recompilations": self._recompilations(utils)}

    def _recompilations(self, utils: Any) -> list[str]:
        """Return why functions were compiled again, one line each, where Dynamo says so."""
        again = {graph["id"] for graph in self._graphs if not graph["id"].endswith("/0")}
        metrics = utils.get_compilation_metrics() if hasattr(utils, "get_compilation_metrics") else ()
        reasons = {str(one.compile_id): getattr(one, "recompile_reason", None) or "" for one in metrics}
        return [f"{number}: {_first_line(reasons.get(number, '')).partition(': ')[2]}" for number in sorted(again)]

    def _follow(self) -> None:
        place = getattr(sys.modules.get(PLACE), "OutputGraph", None)
        function = getattr(place, FUNCTION, None)
        if function is None:  # a version that hands graphs over elsewhere
            return
        utils = sys.modules.get("torch._dynamo.utils")
        self._breaks = self._breaks or Counter(getattr(utils, "counters", {}).get("graph_break", {}))

        @wraps(function)
        def following(output: Any, graph: Any, *arguments: Any, **options: Any) -> Any:
            try:
                self._graphs.append(_graph(output, graph))
            except (AttributeError, KeyError, TypeError, IndexError):  # of a version that has other graphs
                self._graphs.append({"id": "", "function": "", "operators": {}, "modules": {}})
            return function(output, graph, *arguments, **options)

        setattr(place, FUNCTION, following)
        self._restore.append(lambda: setattr(place, FUNCTION, function))


def _graph(output: Any, graph: Any) -> dict[str, Any]:
    """Return the calls that a graph is made of: how often each operator is called, and how often within each module."""
    frame = getattr(output, "root_tx", None)
    code = getattr(frame, "f_code", None)
    roots = _roots(getattr(frame, "f_locals", {}))
    caller = roots.get(next(iter(getattr(code, "co_varnames", ())), ""), "")
    operators: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    for node in graph.graph.nodes:
        if node.op in ("call_function", "call_method", "call_module"):
            operators[_name(node.target)] += 1
            modules[_module(node, roots) or caller] += 1
    return {
        "id": str(torch._guards.CompileContext.current_compile_id()),
        "function": getattr(code, "co_name", ""),
        "operators": dict(operators.most_common()),
        "modules": dict(modules.most_common()),
    }


def _name(target: Any) -> str:
    return target if isinstance(target, str) else str(getattr(target, "__name__", target))


def _roots(variables: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of the classes of the modules among the variables of a function, by the variable."""
    return {name: type(value).__name__ for name, value in variables.items() if isinstance(value, torch.nn.Module)}


def _module(node: Any, roots: Mapping[str, str]) -> str:
    """Return the path of the innermost module that a call comes from; empty where it comes from none.

    Paths in a graph begin with the variable that holds the outermost one, `L['self'].layers.0`.
    """
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    path = str(stack[-1][0]) if stack else ""
    place = VARIABLE.match(path)
    return path if place is None else f"{roots.get(place[1], place[1])}{path[place.end() :]}"


def _first_line(text: object) -> str:
    return str(text).strip().partition("\n")[0][:200]
