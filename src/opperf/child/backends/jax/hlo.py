"""The text of a compiled program of XLA, read as far as its instructions and their ways of execution.

    %fused_computation (param_0: f32[8,8], param_1: f32[8,8]) -> f32[8,8] {
      %param_0 = f32[8,8]{1,0} parameter(0)
      ROOT %dot.0 = f32[8,8]{1,0} dot(%param_0, %param_1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    }

    ENTRY %main.1 (a.1: f32[8,8], b.1: f32[8,8]) -> f32[8,8] {
      ROOT %ynn_fusion = f32[8,8]{1,0} fusion(%a.1, %b.1), kind=kCustom, calls=%fused_computation
    }

A line that cannot be read is passed over.
"""

from __future__ import annotations

import re

from opperf.domain.explanation import Event

#: A computation begins: `ENTRY`, its name, its parameters.
HEAD = re.compile(r"^(ENTRY )?%?([\w.\-]+) .*\{$")
#: An instruction: its name, its type (a tuple of types stands in brackets), its operation.
INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = (?:\(.*?\)|\S+) ([\w\-]+)\(")
CALLEE = re.compile(r"(?:calls|to_apply)=%?([\w.\-]+)")
#: An instruction: its name, its type, its operands.
DEFINITION = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = (\(.*?\)|\S+) [\w\-]+\((.*?)\)")
#: The type of one tensor: its element type, its extents.
TENSOR = re.compile(r"^\w+\[([\d,]*)\]")
OPERAND = re.compile(r"%([\w.\-]+)")
#: Where an instruction comes from: the scopes of the program around it, and the primitive.
ORIGIN = re.compile(r'metadata=\{[^}]*?op_name="([^";]*)')
#: A transformation of JAX's that a scope stands in: `transpose(jvp(MLP))`.
TRANSFORM = re.compile(r"^(\w+)\((.*)\)$")
#: Scopes that JAX itself makes of loops, branches and calls.
OWN_SCOPES = frozenset({"while", "body", "cond", "closed_call", "checkpoint", "rematted_computation"})
#: How an instruction is carried out, the most telling word first.
WAYS = (re.compile(r'"kind":"([^"]+)"'), re.compile(r'custom_call_target="([^"]+)"'), re.compile(r"\bkind=(\w+)"))
#: Instructions that compute nothing.
IDLE = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast"})
#: Instructions that stand for the computation that they call.
CALLERS = frozenset({"fusion", "call"})
#: A fusion is named by no more operations than these.
MOST_NAMES = 6


def read(text: str) -> list[Event]:
    """Return the instructions of the program's entry, in order."""
    bodies, entry = _computations(text)
    events = []
    for line in bodies.get(entry, ()):
        operation = _operation(line)
        if operation is None or operation in IDLE:
            continue
        callee = CALLEE.search(line)
        name = _fuse(bodies.get(callee[1], []), operation) if operation in CALLERS and callee else operation
        events.append(Event(name, "kernel", 1, None, _way(line)))
    return events


def shapes(text: str) -> dict[str, tuple[tuple[int, ...], ...]]:
    """Return the shapes of the operands of each instruction, in all computations; empty for what is no tensor."""
    results: dict[str, tuple[int, ...]] = {}
    operands: dict[str, list[str]] = {}
    for line in text.splitlines():
        definition = DEFINITION.match(line)
        if definition is not None:
            tensor = TENSOR.match(definition[2])
            results[definition[1]] = tuple(map(int, filter(None, tensor[1].split(",")))) if tensor else ()
            operands[definition[1]] = OPERAND.findall(definition[3])
    return {name: tuple(results.get(operand, ()) for operand in names) for name, names in operands.items()}


def scopes(text: str) -> dict[str, tuple[str, bool]]:
    """Return the scope that each instruction comes from, in all computations, and whether it computes a gradient.

    >>> scopes('  %dot.1 = f32[8] dot(%x), metadata={op_name="jit(step)/transpose(jvp(MLP))/Dense_0/transpose"}')
    {'dot.1': ('MLP.Dense_0', True)}
    """
    origins = ((DEFINITION.match(line), ORIGIN.search(line)) for line in text.splitlines())
    return {definition[1]: _scope(origin[1]) for definition, origin in origins if definition and origin}


def _scope(origin: str) -> tuple[str, bool]:
    *around, _ = origin.split("/")
    names, backward = [], False
    for name in around:
        while transform := TRANSFORM.match(name):
            backward = backward or transform[1] == "transpose"
            name = "" if transform[1] in ("jit", "pjit") else transform[2]
        if name and name not in OWN_SCOPES and not name.startswith("branch_"):
            names.append(name)
    return ".".join(names), backward


def _computations(text: str) -> tuple[dict[str, list[str]], str]:
    """Return the lines of each computation by its name, and the name of the entry."""
    bodies: dict[str, list[str]] = {}
    entry, lines = "", None
    for line in text.splitlines():
        head = HEAD.match(line)
        if head is not None:
            lines = bodies.setdefault(head[2], [])
            entry = head[2] if head[1] else entry
        elif line.startswith("}"):
            lines = None
        elif lines is not None:
            lines.append(line)
    return bodies, entry


def _operation(line: str) -> str | None:
    match = INSTRUCTION.match(line)
    return match[1] if match else None


def _fuse(body: list[str], operation: str) -> str:
    """Name a fusion by what was fused, each operation once; broadcasts are left out where there is anything else."""
    operations = dict.fromkeys(member for line in body if (member := _operation(line)) and member not in IDLE)
    telling = [one for one in operations if one != "broadcast"] or list(operations)
    if not telling:
        return operation
    return "+".join([*telling[:MOST_NAMES], *(["..."] if len(telling) > MOST_NAMES else [])])


def _way(line: str) -> str | None:
    return next((match[1] for way in WAYS if (match := way.search(line))), None)
