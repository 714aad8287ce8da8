"""What names mean in this child: neutral operators, paths of the framework, and the user's own code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import takewhile
from pathlib import Path

from opperf.catalog import Operator, catalog
from opperf.child.backends.binding import Call, Missing, Parameter
from opperf.child.backends.naming.paths import Refusal
from opperf.child.worker import arguments, code, promises, suites
from opperf.child.worker.seal import Seal
from opperf.child.worker.signature import defaults_of, has_defaults, names_of, parameters_of, unlike
from opperf.domain.backend import Backend, Unsupported
from opperf.domain.case import Case
from opperf.domain.code import Code, ProblemCode, SuiteCode
from opperf.domain.custom import declaration_of
from opperf.domain.dataclass import dataclass
from opperf.domain.message.replies import Discovery, Example, Meaning
from opperf.domain.plan import Trial
from opperf.domain.registry import SPREAD


@dataclass(frozen=True)
class CheckPair:
    """A small case, and two calls that should compute the same of it."""

    case: Case
    own: Call
    other: Call
    against: str


#: Said of a neutral operator that a backend says nothing of.
NOT_BOUND = "not bound yet"


class Names:
    """Looks names up with one backend; the user's code is looked for in `folder`, and loaded once.

    What the framework does not have may be an operator that `plugins` register with it.
    """

    def __init__(self, backend: Backend, folder: Path, plugins: code.Plugins) -> None:
        self._backend = backend
        self.folder = folder
        self._plugins = plugins
        self._loaded: dict[Code, Callable[..., object]] = {}
        self._suites: dict[SuiteCode, suites.Suite] = {}
        #: What measures, as it was before the first of the user's own functions was loaded.
        self.seal: Seal | None = None

    def call(self, trial: Trial) -> Call:
        """Return how to call the operator of a trial: by its binding, or by the path that the user named.

        Raises `Unsupported` for an operator that the framework does not have.
        """
        bindings = self._backend.bindings()
        path = trial.side.implementation
        binding = bindings.get(trial.case.operator)
        if isinstance(path, Code):
            return self._call_code(path, trial.case)
        if isinstance(path, SuiteCode):
            return self._suite(path).call(trial.case)
        if isinstance(path, ProblemCode):
            raise Unsupported(f"`{path}` is a problem: candidates are judged against it", slug="no_such_operator")
        if path is not None:
            call = binding.at(path) if isinstance(binding, Call) else None
            function = None if call else self._function(path)
            takes = None if function is None else self._parameters(function)
            return call or arguments.call_of(trial.case, path, takes or {})
        if isinstance(binding, Call):
            return binding
        why = binding.reason if isinstance(binding, Missing) else NOT_BOUND
        raise Unsupported(f"{self._backend.name} has no `{trial.case.operator}`: {why}", slug="no_such_operator")

    def _call_code(self, path: Code, case: Case) -> Call:
        binding = self._backend.bindings().get(case.operator)
        own_names = binding.own_names if isinstance(binding, Call) else {}
        return code.call(path, self._load(path), case, self._backend.name, own_names)

    def describe(self, name: str | Code | SuiteCode | None) -> Meaning:
        """Say what a name means here: a neutral operator's binding, a bound path, or any existing function."""
        if isinstance(name, Code):
            return self._describe_code(name)
        if name is None or isinstance(name, SuiteCode):
            raise ValueError("no operator is named")
        bindings = self._backend.bindings()
        if name in bindings:
            binding = bindings[name]
            if isinstance(binding, Missing):
                return Meaning(operator=name, reason=binding.reason)
            return _meaning(name, binding, binding.path, {})
        if name in catalog():
            return Meaning(operator=name, reason=NOT_BOUND)
        try:
            function = self.resolve(name)
        except Refusal as refusal:
            return Meaning(reason=f"it is not called: {refusal.why}")
        except LookupError:
            return Meaning(near=tuple(self._near_paths(name)))
        except code.CodeError as error:
            return _wrong(error)
        except Unsupported as error:
            return Meaning(reason=str(error), hint=error.hint)
        takes = self._parameters(function)
        builds = tuple(self._backend.builds(name))
        schemas = tuple(self._backend.schemas(function))
        meaning = Meaning(name, takes=None if takes is None else tuple(takes), builds=builds, schemas=schemas)
        bound = self._bound_at(function)
        if bound is None:
            return meaning
        return replace(bound, takes=meaning.takes, unlike=self._unlike(bound, function), schemas=schemas)

    def _unlike(self, meaning: Meaning, function: Callable[..., object]) -> tuple[str, ...]:
        """Return the attributes that are something else to a bound function than to its neutral operator."""
        defaults = {**self._backend.defaults(function), **defaults_of(function)}
        neutral = {meaning.arguments.get(name, ""): value for name, value in defaults.items()}
        return unlike(catalog()[meaning.operator or ""].case("common").attributes, neutral)

    def resolve(self, path: str) -> Callable[..., object]:
        """Return the framework's function at a path; raises as the backend does, and `CodeError` for plugins."""
        try:
            return self._backend.resolve(path)
        except LookupError:
            if not self._plugins.load():
                raise
            return self._backend.resolve(path)

    def _bound_at(self, function: Callable[..., object]) -> Meaning | None:
        """Return the operator that a function is bound to; one function has several paths (`np.add`, `numpy.add`).

        A function that constants make several operators of (`nd.Activation`) is none of them by itself, and one that
        writes where a binding tells it (`out=lhs`) is the operator that it is without that, where there is one.
        """
        calls = {name: call for name, call in self._backend.bindings().items() if isinstance(call, Call)}
        parameters = self._parameters(function) or {}
        own = [name for name, call in calls.items() if call.function is None and self._is_at(function, call.path)]
        plain = [name for name in own if not calls[name].fixed] or (own if len(own) == 1 else [])
        free = [name for name in plain if "out" not in calls[name].own_names]
        if free:
            return _meaning(free[0], calls[free[0]], calls[free[0]].path, parameters)
        for name, call in calls.items():
            for path in call.also:
                if self._is_at(function, path):
                    return _meaning(name, call, path, parameters)
        return _meaning(plain[0], calls[plain[0]], calls[plain[0]].path, parameters) if plain else None

    def _is_at(self, function: Callable[..., object], path: str) -> bool:
        try:
            return self._backend.resolve(path) is function
        except (LookupError, Unsupported):  # an older version of the framework may lack what a binding names
            return False

    def draws(self, path: str) -> bool:
        """Whether an operator at a path draws numbers, so that no two results need be the same."""
        return path in self._random_paths

    @cached_property
    def _random_paths(self) -> set[str]:
        calls = ((name, call) for name, call in self._backend.bindings().items() if isinstance(call, Call))
        return {path for name, call in calls if catalog()[name].random for path in (call.path, *call.also)}

    def discover(
        self, path: str | Code | SuiteCode | None, size: str, listing: bool = False, limit: float | None = None
    ) -> Discovery:
        """Say which operators the framework has registered that no binding names, or give example cases of one.

        Of benchmark files it gives all cases; one may be imported for `limit` seconds.
        """
        if isinstance(path, SuiteCode):
            try:
                suite = self._suite(path)
                if listing:
                    return Discovery(listing=tuple(suite.listing()) if isinstance(suite, suites.Index) else ())
                cases = suite.cases(limit)
                return Discovery(examples=tuple(one if isinstance(one, Example) else Example(one) for one in cases))
            except code.CodeError as error:
                return Discovery(reason=error.message, hint=error.hint)
        if isinstance(path, Code):
            return Discovery(examples=tuple(map(Example, code.examples(path, self._load(path), size))))
        if path is not None:
            try:
                cases = self._backend.examples(path, size)
            except Unsupported as error:
                return Discovery(reason=str(error))
            # Only PyTorch's are samples scaled up.
            return Discovery(examples=tuple(Example(case, getattr(case, "scale", 1)) for case in cases))
        calls = [call for call in self._backend.bindings().values() if isinstance(call, Call)]
        paths = {name for call in calls if call.function is None for name in (call.path, *call.also)}
        bound = [self._function(name) for name in sorted(paths)]
        call = {id(function) for function in bound if function is not None}
        others = [name for name in self._backend.registered() if name not in paths]  # a method is made at each look
        return Discovery(tuple(name for name in others if id(self._function(name)) not in call))

    def _function(self, path: str) -> Callable[..., object] | None:
        try:
            return self.resolve(path)
        except (LookupError, Unsupported):  # what an older version lacks, or what is refused: its trial says why
            return None

    def order_of_equals(self, call: Call, case: Case) -> str | None:
        """Return whether a sort keeps equal elements in their order; None for any other call."""
        return promises.order_of_equals(call, case, self._function)

    def _parameters(self, function: Callable[..., object]) -> Mapping[str, bool] | None:
        """Return a function's arguments in their order, and whether each may go by place; None where nobody tells."""
        own = parameters_of(function)
        return self._backend.parameters(function) if own is None else own

    def _near_paths(self, name: str) -> list[str]:
        """Return paths that resemble a name: those with the same ending first."""
        from difflib import get_close_matches  # a child whose names are right starts without it

        bound = [call.path for call in self._backend.bindings().values() if isinstance(call, Call)]
        call = [*self._backend.names(), *bound]
        last = name.rpartition(".")[2]
        alike = [path for path in call if path.rpartition(".")[2] == last]
        return list(dict.fromkeys([*alike, *get_close_matches(name, call, n=5, cutoff=0.6)]))[:5]

    def peers(self, trial: Trial) -> CheckPair | None:
        """Return the reference for the user's own code: its declared one, or the framework's operator."""
        path = trial.side.implementation
        if not isinstance(path, Code):
            return None
        function = self._load(path)
        definition = catalog().get(trial.case.operator)
        case = self._small(path, function, trial, definition)
        other = self.reference(trial, case)
        return None if other is None else CheckPair(case, self._call_code(path, case), *other)

    def reference(self, trial: Trial, case: Case) -> tuple[Call, str] | None:
        """Return the function that should compute of a case the same as the user's own code, and whose it is."""
        path, definition = trial.side.implementation, catalog().get(trial.case.operator)
        if not isinstance(path, Code):
            return None
        function = self._load(path)
        reference = declaration_of(function).reference
        if reference is not None:
            return replace(self._call_code(path, case), function=reference), "its reference"
        binding = self._backend.bindings().get(trial.case.operator)
        if definition is None or definition.random or not isinstance(binding, Call):
            return None
        return binding, f"{self._backend.name}:{binding.path}"

    def _small(self, path: Code, function: Callable[..., object], trial: Trial, definition: Operator | None) -> Case:
        """Return the small case, in the element type that is measured."""
        if definition is None:
            return next(iter(code.examples(path, function, "small")), trial.case)
        return definition.small_case(trial.case)

    def _load(self, path: Code) -> Callable[..., object]:
        if path not in self._loaded:
            self.seal = self.seal or Seal(self._originals())
            self._loaded[path] = code.load(path, self.folder)
        return self._loaded[path]

    def _suite(self, path: SuiteCode) -> suites.Suite:
        if path not in self._suites:
            home = self.folder if path.home is None else Path(path.home)
            self._suites[path] = suites.load(path, home, self._backend.side)
        return self._suites[path]

    def stage(self, trial: Trial) -> Callable[[Callable[[], object]], None] | None:
        """Return the run of the test in which the call of a trial is made, None where a call needs none."""
        path = trial.side.implementation
        suite = self._suite(path) if isinstance(path, SuiteCode) else None
        return partial(suite.enter, trial.case) if isinstance(suite, suites.Stage) else None

    def check_seal(self) -> None:
        """Raise `Patched` where the user's own code has replaced what measures it."""
        if self.seal is not None:
            self.seal.check()

    def _originals(self) -> dict[str, Callable[[], object]]:
        """Return a look-up of each of the framework's functions that the user's own code may be held against.

        Random ones never are, and their modules need not be imported: that may move the allocator's thresholds.
        """
        random = {name for name, definition in catalog().items() if definition.random}
        calls = (one for name, one in self._backend.bindings().items() if isinstance(one, Call) and name not in random)
        return {call.path: partial(self._function, call.path) for call in calls if call.function is None}

    def _describe_code(self, path: Code) -> Meaning:
        """Describe the user's code: what it implements and its parameters; or what is wrong with it."""
        try:
            function = self._load(path)
            declaration = declaration_of(function)
            code.mutates(function)
            names = code.neutral_names(function, declaration)
            takes, by_default = names_of(function), has_defaults(function)
            return Meaning(str(path), declaration.implements, names, takes=takes, by_default=by_default)
        except code.CodeError as error:
            return _wrong(error)


def _wrong(error: code.CodeError) -> Meaning:
    return Meaning(wrong=error.message, hint=error.hint)


def _meaning(name: str, call: Call, path: str, parameters: Mapping[str, bool]) -> Meaning:
    """Return the description of a bound path; only arguments of the operator can be given by their own names.

    That is the binding's name for it, or the one among the `parameters` of the function that the user wrote: what the
    binding calls `input` is `self` in ATen.
    """
    definition = catalog()[name]
    roles = (*definition.inputs, *definition.attributes)
    places = (own for own, has_place in parameters.items() if has_place and SPREAD not in own)
    by_place = zip(places, _single(call.positional))
    names = {own: parameter.neutral for own, parameter in by_place} | call.own_names
    return Meaning(path, name, {own: role for own, role in names.items() if role in roles}, call.unsupported, call.note)


def _single(parameters: Sequence[Parameter]) -> Iterator[Parameter]:
    """Return the parameters before the first list that is spread."""
    return takewhile(lambda parameter: not parameter.spread, parameters)
