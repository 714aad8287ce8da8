"""Read a config whole, and check it whole, before anything runs. Nothing in it is evaluated or imported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from opperf.domain.code import refusal
from opperf.domain.files.json_text import show
from opperf.domain.files.text_file import read_json
from opperf.param import grammar, names
from opperf.param.arguments import Checker
from opperf.param.cases import check
from opperf.param.config import ConfiguredOperator, Entry, ParamConfig, Spec, Way, Workloads
from opperf.param.problems import Problem, Problems, did_you_mean, key, quote, refuse

#: Without plugins nothing is the user's own.
NONE = Workloads()
#: The keys that name who makes arguments.
GENERATOR_KEYS = ("input_data_generator", "build_data_generator")


def read_config(path: Path, workloads: Workloads = NONE, *, lenient: bool = False) -> ParamConfig:
    """Read a config, which may name the user's own iterators and generators.

    `lenient` passes over names that are not known, as PARAM does, and over operators that are written wrongly beside
    sound ones, with a note on each. Raises `InputError` that lists everything that is wrong with it.
    """
    config, problems = examine(path, workloads, lenient=lenient)
    refuse(str(path), problems.mistakes)
    return config


def examine(path: Path, workloads: Workloads = NONE, *, lenient: bool = False) -> tuple[ParamConfig, Problems]:
    """Read a config and its problems from a file; raises `InputError` for one that is no JSON."""
    data = read_json(path, object_pairs_hook=_object)
    reading = _Reading(workloads, lenient=lenient)
    operators = reading.document(data)
    reading.skip(operators)
    if not lenient and not reading.problems.mistakes:
        for operator in operators:
            if operator.is_complete:
                check(operator, reading.problems)
    notes = [*reading.notes, *(f"{problem}; skipped" for problem in reading.problems.passed_over or ())]
    return ParamConfig(path, operators, tuple(dict.fromkeys(notes)), lenient), reading.problems


class _Object(dict[str, object]):
    """An object of the file, with the keys that it has twice; Python's reader keeps the last one and says nothing."""

    repeated: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, object]]) -> _Object:
    document = _Object(pairs)
    if len(document) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        document.repeated = tuple(name for name, times in counts.items() if times > 1)
    return document


class _Reading:
    """Goes through a document from the outside in."""

    def __init__(self, workloads: Workloads, *, lenient: bool = False) -> None:
        self.problems = Problems(passed_over=[] if lenient else None)
        self.notes: list[str] = []
        self._own = workloads
        self._skipped: list[Problem] = []

    def document(self, data: object) -> tuple[ConfiguredOperator, ...]:
        """Return the operators of a document."""
        if not isinstance(data, dict):
            self.problems.unexpected("$", data, "an object of operators by name")
            return ()
        self.problems.note_repeats(data, "$")
        if "op_name" in data and "op_info" in data:
            return self._batch(data)
        if not data and self.problems.passed_over is None:
            self.problems.add("$", "no operator in it", "expected an object of operators by name")
        operators = [self._sound(name, info, key("$", name)) for name, info in data.items()]
        return tuple(operator for operator in operators if operator is not None)

    def _sound(self, name: str, info: object, place: str) -> ConfiguredOperator | None:
        """Return an operator; None for one that is skipped, of which the mistakes are put aside."""
        if self.problems.passed_over is None:
            return self._operator(name, info, place)
        before, self.problems.mistakes = self.problems.mistakes, []
        operator = self._operator(name, info, place)
        if operator is not None and operator.is_complete and not self.problems.mistakes:
            check(operator, self.problems)
        mistakes, self.problems.mistakes = self.problems.mistakes, before
        self._skipped += mistakes
        return None if mistakes else operator

    def skip(self, operators: Sequence[ConfiguredOperator]) -> None:
        """Pass over the mistakes that were put aside, unless nothing else is in the file."""
        sound = any(operator.entries for operator in operators)
        for problem in self._skipped:
            (self.problems.pass_over if sound else self.problems.add)(problem.place, problem.text, problem.hint)

    def _batch(self, data: Mapping[str, object]) -> tuple[ConfiguredOperator, ...]:
        """Return the one operator of a file of PARAM's `run_batch`."""
        self.notes.append("a file of PARAM's `run_batch`; its `run_options` are not read")
        for name in data:
            if name not in grammar.BATCH_KEYS:
                self.problems.no_such("$", "key", name, grammar.BATCH_KEYS)
        build = data.get("build_id")
        for name in ("op_name", "build_id"):
            if name in data and not isinstance(data[name], str):
                self.problems.unexpected(key("$", name), data[name], "a string")
        if not isinstance(data["op_name"], str):
            return ()
        batch = build.replace(":", "|") if isinstance(build, str) else None
        operator = self._operator(data["op_name"], data["op_info"], "$.op_info", batch)
        return () if operator is None else (operator,)

    def _operator(self, name: str, info: object, place: str, batch: str | None = None) -> ConfiguredOperator | None:
        meaning = names.meaning(name) or self._own.operators.get(name)
        reason = None if name in names.FORMER else refusal(name)
        if name in names.FORMER:
            self.notes.append(f"`{name}` is read as `{names.FORMER[name]}`")
        if reason is not None:
            self.problems.add(place, *reason)
        elif meaning is None:
            hint = did_you_mean(self.problems.near(name, [*names.known_names(), *self._own.operators]))
            expected = "a name of PARAM, PyTorch or the catalog, or one as `mxnet:nd.dot`"
            self.problems.pass_over(place, f"no operator {quote(name)}", hint or expected)
            if self.problems.passed_over is not None and isinstance(info, dict):
                return None
        if not isinstance(info, dict):
            self.problems.unexpected(place, info, "an object with `config` and `input_data_generator`")
            info = None
        entries = () if info is None else self._entries(name, info, place)
        return None if meaning is None else ConfiguredOperator(name, place, meaning, entries, batch)

    def _entries(self, name: str, info: Mapping[str, object], place: str) -> tuple[Entry, ...]:
        info = self._current(info, place)
        self.problems.note_repeats(info, place)
        for word in info:
            if word not in grammar.OPERATOR_KEYS:
                self.problems.no_such(place, "key", word, grammar.OPERATOR_KEYS, of="an operator")
        choices = (*grammar.GENERATORS, *self._own.generators)
        inputs = self._by_name(info, "input_data_generator", choices, place, required=True)
        builds = self._by_name(info, "build_data_generator", choices, place)
        generators = [info.get(word) for word in GENERATOR_KEYS]
        missing = generators[0] is None or any(isinstance(n, str) and n not in choices for n in generators)
        if self.problems.passed_over is not None and missing:
            return ()  # its arguments are never made
        choices = (*grammar.ITERATORS, *self._own.iterators)
        iterators = [self._by_name(info, f"{part}_iterator", choices, place) for part in grammar.CONFIG_KEYS]
        is_bags = names.FORMER.get(name, name) == names.EMBEDDINGS
        if not is_bags and grammar.EMBEDDING_ITERATOR in iterators:
            self.problems.add(key(place, "input_iterator"), f"it is made for `{names.EMBEDDINGS}` alone")
        if is_bags and not {inputs, builds} <= set(grammar.GENERATORS):
            self.problems.add(place, f"`{names.EMBEDDINGS}` takes no data generator of your own")
        entries = info.get("config")
        inside = key(place, "config")
        if not isinstance(entries, list) or not entries:
            wrong = f"found {show(entries)}, expected a list of what to build and call it with"
            (self.problems.add if entries else self.problems.pass_over)(inside, wrong)
            return ()
        entries = self._with_input(entries, inside)
        ways = [self._way(*both) for both in zip(iterators, (builds, inputs))]
        return tuple(self._entry(entry, f"{inside}[{i}]", iterators, ways) for i, entry in enumerate(entries))

    def _with_input(self, entries: Sequence[object], place: str) -> Sequence[object]:
        """Return the entries before the first without `input`, where PARAM gives an operator up."""
        if self.problems.passed_over is None:
            return entries
        for i, entry in enumerate(entries):
            if isinstance(entry, dict) and "input" not in entry:
                self.problems.pass_over(f"{place}[{i}]", "no `input`", "what follows it is not called either")
                return entries[:i]
        return entries

    def _way(self, iterator: str, generator: str) -> Way:
        """Return the user's own entries of two names."""
        return Way(
            iterator if iterator in self._own.iterators else None,
            generator if generator in self._own.generators else None,
        )

    def _current(self, info: Mapping[str, object], place: str) -> dict[str, object]:
        """Return the entry of an operator with old words replaced by new ones; each is noted."""
        current: dict[str, object] = _Object()
        for name, value in info.items():
            word = grammar.OLD_NAMES.get(name, name) if name not in grammar.OPERATOR_KEYS else name
            new = grammar.OLD_NAMES.get(value, value) if isinstance(value, str) else value
            for old, now in ((name, word), (value, new)):
                if old is not now and old != now:
                    self.notes.append(f"`{old}` is read as `{now}`")
            if word in current:
                self.problems.add(place, f"found both of {quote(name)} and `{word}`, expected one")
            current[word] = new
        if isinstance(info, _Object) and isinstance(current, _Object):
            current.repeated = info.repeated
        return current

    def _by_name(
        self, info: Mapping[str, object], word: str, names: Sequence[str], place: str, *, required: bool = False
    ) -> str:
        """Return the iterator or generator that a key names; the default one for a key that is not there."""
        if info.get(word) is None:  # PARAM's own functions write null for what has its default
            if required:
                expected = f"expected {' or '.join(f'`{name}`' for name in names)}"
                self.problems.pass_over(place, f"no `{word}`", expected)
            return names[0]
        name = info[word]
        if not isinstance(name, str):
            self.problems.unexpected(key(place, word), name, "a name", names)
        elif name not in names:
            self.problems.no_such(key(place, word), word.replace("_", " "), name, names)
        else:
            return name
        return names[0]

    def _entry(self, entry: object, place: str, iterators: Sequence[str], ways: Sequence[Way]) -> Entry:
        if not isinstance(entry, dict):
            self.problems.unexpected(place, entry, "an object with `input`, and `build` where something is built")
            return Entry(None, ())
        self.problems.note_repeats(entry, place)
        for word in entry:
            if word not in grammar.CONFIG_KEYS:
                self.problems.no_such(place, "key", word, grammar.CONFIG_KEYS, of="an entry of `config`")
        if "input" not in entry and "build" not in entry:
            self.problems.add(place, "neither `input` nor `build`", "expected what to call the operator with")
        nothing = entry.get("build") is None  # null is as good as no word
        builds = () if nothing else self._specs(entry, "build", place, iterators[0], ways[0])
        inputs = self._specs(entry, "input", place, iterators[1], ways[1]) if "input" in entry else (Spec(),)
        swept = [iterator != grammar.DEFAULT_ITERATOR for iterator in iterators]
        return Entry(builds or None, inputs, (swept[0], swept[1]), (ways[0], ways[1]), entry)

    def _specs(self, entry: Mapping[str, object], part: str, place: str, iterator: str, way: Way) -> tuple[Spec, ...]:
        """Return the entries of `build` or `input`; none where an iterator of the user's own makes them of these."""
        if way.iterator is not None:
            return ()
        inside = key(place, part)
        specs = entry[part]
        # `"build": []` is how PARAM writes that nothing is said of it; an empty `input` would measure nothing.
        if not isinstance(specs, list) or (part == "input" and not specs):
            self.problems.unexpected(inside, specs, "a list of `args` and `kwargs`, not empty")
            return ()
        sweeps = iterator != grammar.DEFAULT_ITERATOR
        entries = enumerate(specs)
        return tuple(read_spec(spec, f"{inside}[{i}]", self.problems, sweeps=sweeps, way=way) for i, spec in entries)


def read_spec(spec: object, place: str, problems: Problems, *, sweeps: bool, way: Way) -> Spec:
    """Return one entry of `build` or `input`, after checking it.

    What a data generator of the user's own takes is its own affair, but for what is swept before.
    """
    if not isinstance(spec, dict):
        problems.unexpected(place, spec, "an object with `args`, `kwargs` or both")
        return Spec()
    problems.note_repeats(spec, place)
    more = {word: value for word, value in spec.items() if word not in grammar.SPEC_KEYS}
    for word in more if way.generator is None else ():
        problems.no_such(place, "key", word, grammar.SPEC_KEYS)
    identifier = spec.get("id")
    if identifier is not None and not _is_id(identifier):
        problems.unexpected(key(place, "id"), identifier, "a short name without `|`")
    args, kwargs = spec.get("args", []), spec.get("kwargs", {})
    if sweeps or way.generator is None:
        Checker(problems, sweeps).spec(args, kwargs, place)
    elif not isinstance(args, list) or not isinstance(kwargs, dict):
        problems.unexpected(place, spec, "a list of `args` and an object of `kwargs`")
    return Spec(args, kwargs, identifier, more, raw=spec) if isinstance(args, list) else Spec()


def _is_id(value: object) -> bool:
    """Whether a value can be a part of a run id."""
    return isinstance(value, str) and value.isprintable() and 0 < len(value) < 100 and "|" not in value
