"""Check the arguments of a config against the grammar; what they become is in `sweeps.py` and `cases.py`."""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence

from opperf.domain.dataclass import dataclass
from opperf.param.grammar import ARGUMENTS, COPY, LIST, RANGE, SHARED, TEXT, ZIP, ArgumentType, is_range
from opperf.param.problems import Problems, key, quote

#: A list in a list in a list: more than any framework takes.
DEEPEST = 16


@dataclass(frozen=True)
class Checker:
    """Checks arguments. `sweeps` says that the iterator goes through ranges."""

    problems: Problems
    sweeps: bool

    def spec(self, args: object, kwargs: object, place: str) -> None:
        """Check the arguments of one call."""
        if not isinstance(args, list):
            self.problems.unexpected(key(place, "args"), args, "a list of arguments")
        if not isinstance(kwargs, dict):
            self.problems.unexpected(key(place, "kwargs"), kwargs, "an object of arguments by name")
        if not isinstance(args, list) or not isinstance(kwargs, dict):
            return
        for i, argument in enumerate(args):
            self.argument(argument, f"{key(place, 'args')}[{i}]")
            self._copies(argument, args, f"{key(place, 'args')}[{i}]")
        for name, argument in kwargs.items():
            inside = key(key(place, "kwargs"), name)
            if not name.isidentifier() or keyword.iskeyword(name):
                self.problems.add(inside, f"{quote(name)} cannot be the name of an argument")
            self.argument(argument, inside)
            self._copies(argument, (), inside)

    def argument(self, argument: object, place: str, depth: int = 0) -> None:
        """Check one argument, and those in it."""
        if depth > DEEPEST:
            self.problems.add(place, f"lists in lists, {DEEPEST} deep; expected fewer")
            return
        if not isinstance(argument, dict):
            self.problems.unexpected(place, argument, 'an argument, as in {"type": "int", "value": 1}')
            return
        self.problems.note_repeats(argument, place)
        kind = argument.get("type")
        if not isinstance(kind, str) or kind not in ARGUMENTS:
            if "type" not in argument:
                self.problems.add(place, "an argument without `type`", f"known: {', '.join(ARGUMENTS)}")
            elif isinstance(kind, str):
                self.problems.no_such(key(place, "type"), "type", kind, ARGUMENTS)
            else:
                self.problems.unexpected(key(place, "type"), kind, "a string")
            return
        kind_type = ARGUMENTS[kind]
        ranges = self._names(argument, RANGE, kind_type, place)
        lists = self._names(argument, LIST, kind_type, place)
        if ranges and not self.sweeps:
            self.problems.add(key(place, RANGE), "ranges are not swept here", "ask for `RangeConfigIterator`")
        self._keys(argument, kind, kind_type, place)
        for name, value in _settle(argument).items():
            if name in kind_type.keys:
                self._value(value, name, kind_type, place, ranges, lists)
        if ZIP in argument and not (TEXT.accepts(argument[ZIP]) and (ranges or lists)):
            expected = f"a name, beside `{RANGE}` or `{LIST}`"
            self.problems.unexpected(key(place, ZIP), argument[ZIP], expected)
        if kind in ("genericlist", "tuple") and isinstance(argument.get("value"), list):
            for i, inner in enumerate(argument["value"]):
                self.argument(inner, f"{key(place, 'value')}[{i}]", depth + 1)
                if isinstance(inner, dict) and (RANGE in inner or LIST in inner) and "value" not in ranges:
                    hint = f'`"{RANGE}": ["value"]` beside it'
                    self.problems.add(f"{key(place, 'value')}[{i}]", "what is in a list is not swept", hint)
        self._tensor(argument, kind, place)

    def _keys(self, argument: Mapping[str, object], kind: str, kind_type: ArgumentType, place: str) -> None:
        """Check for unknown and for missing keys."""
        for name in argument:
            if name not in kind_type.keys and name not in SHARED:
                self.problems.no_such(place, "key", name, [*kind_type.keys, *SHARED], of=f"`{kind}`")
        for name, one in kind_type.keys.items():
            if one.required and name not in argument:
                self.problems.add(place, f"`{kind}` without `{name}`", f"expected {one.kind.expected}")
        there = [name for name in kind_type.either if name in argument]
        if kind_type.either and len(there) != 1:
            count = "neither" if not there else "both"
            self.problems.add(
                place, f"found {count} of {', '.join(f'`{name}`' for name in kind_type.either)}, expected one"
            )

    def _value(
        self,
        value: object,
        name: str,
        kind_type: ArgumentType,
        place: str,
        ranges: Sequence[str],
        lists: Sequence[str],
    ) -> None:
        entry = kind_type.keys[name]
        kind, words = entry.kind, entry.kind.expected
        if name in lists:
            if not isinstance(value, list) or not value or not all(map(entry.kind.accepts, value)):
                self.problems.unexpected(key(place, name), value, f"a list, each {words}", entry.kind.names)
            return
        if name in ranges and entry.ranged is not None:
            kind, words = entry.ranged, entry.ranged.expected
        if not kind.accepts(value):
            hint = is_range(value) and name not in ranges and entry.ranged is not None
            more = f'; for a range, `"{RANGE}": ["{name}"]` stands beside it' if hint else ""
            self.problems.unexpected(key(place, name), value, words + more, kind.names)

    def _names(self, argument: Mapping[str, object], macro: str, kind_type: ArgumentType, place: str) -> Sequence[str]:
        """Return the keys that `__range__` or `__list__` names, after checking them."""
        values = argument.get(macro, [])
        able = [name for name, one in kind_type.keys.items() if one.ranged is not None]
        if not isinstance(values, list):
            self.problems.unexpected(key(place, macro), values, "a list of keys", able)
            return ()
        for name in values:
            if name not in able or name not in argument:
                expected = f"a key to sweep: {', '.join(able)}" if able else "nothing: this type has nothing to sweep"
                self.problems.unexpected(key(place, macro), name, expected, able)
        return [name for name in values if name in able]

    def _copies(self, argument: object, args: Sequence[object], place: str) -> None:
        """Check `__copy__`: sizes of this tensor that are sizes of others."""
        if not isinstance(argument, dict) or COPY not in argument:
            return
        inside = key(place, COPY)
        expected = 'a list of {"shape": [dimension, [argument, dimension of it]]}, on a tensor among `args`'
        if not isinstance(argument[COPY], list) or argument.get("type") != "tensor" or not args:
            self.problems.unexpected(inside, argument[COPY], expected)
            return
        for copy in argument[COPY]:
            source = copy_of(copy)
            if source is None or not _in_reach(source, argument, args):
                self.problems.unexpected(inside, copy, f"{expected}, each of them there")

    def _tensor(self, argument: Mapping[str, object], kind: str, place: str) -> None:
        """Check what hangs together in a tensor."""
        if kind != "tensor":
            return
        shape, strides = argument.get("shape"), argument.get("strides")
        if strides is not None and "memory_format" in argument:
            self.problems.add(place, "found both of `strides` and `memory_format`, expected one")
        if isinstance(shape, list) and isinstance(strides, list) and len(shape) != len(strides):
            self.problems.unexpected(key(place, "strides"), strides, f"{len(shape)} of them, as `shape` has sizes")
        dimensions = {"channels_last": 4, "channels_last_3d": 5}.get(str(argument.get("memory_format")))
        if dimensions is not None and isinstance(shape, list) and len(shape) != dimensions:
            self.problems.unexpected(
                key(place, "memory_format"), argument["memory_format"], f"a shape of {dimensions} sizes"
            )


def _settle(argument: Mapping[str, object]) -> Mapping[str, object]:
    """Return an argument with the sizes that `__copy__` puts in place: what stands there in the file says nothing."""
    shape, copies = argument.get("shape"), argument.get(COPY)
    if not isinstance(shape, list) or not isinstance(copies, list):
        return argument
    places = {source[0] for source in map(copy_of, copies) if source is not None}
    return {**argument, "shape": [0 if i in places else size for i, size in enumerate(shape)]}


def copy_of(copy: object) -> tuple[int, int, int] | None:
    """Return dimension, source argument and its dimension of one entry of `__copy__`; None for anything else."""
    if not isinstance(copy, dict) or list(copy) != ["shape"]:
        return None
    shape = copy["shape"]
    if not (isinstance(shape, list) and len(shape) == 2 and isinstance(shape[1], list) and len(shape[1]) == 2):
        return None
    numbers = (shape[0], *shape[1])
    if not all(isinstance(number, int) and not isinstance(number, bool) for number in numbers):
        return None
    return numbers


def _in_reach(copy: tuple[int, int, int], argument: Mapping[str, object], args: Sequence[object]) -> bool:
    """Whether the places that a copy names exist."""
    dimension, source, target = copy
    source_argument = args[source] if 0 <= source < len(args) else None
    here, there = argument.get("shape"), source_argument.get("shape") if isinstance(source_argument, dict) else None
    if not isinstance(here, list) or not isinstance(there, list):
        return False
    return 0 <= dimension < len(here) and 0 <= target < len(there)
