"""KernelBench: a module with a class `Model`, its `get_inputs()` and its `get_init_inputs()`.

The candidate's file has a class `ModelNew` with the same constructor, `forward` and weights. As written, inputs take
gigabytes: sizes are numbers of the module, which are scaled until inputs and weights fit the budget. What fits is asked
of PyTorch's tensors without memory.
"""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from opperf.child import backends
from opperf.child.judging.problems import functions, scale
from opperf.child.judging.problems.constants import Program
from opperf.child.judging.problems.functions import Arguments, Function
from opperf.child.judging.problems.problem import MISSING_HINT, float_type, in_type, shapes_key
from opperf.domain.backend import Backend
from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.problem import Branch, Standing, Tree
from opperf.domain.registry import BUILD_PREFIX
from opperf.domain.tensor import TensorSpec

#: Seconds of CPU time in which a model runs on shapes alone: a recurrent one takes minutes, step by step.
PATIENCE = 1.0
#: Inputs that take more than so many budgets are not made.
MOST_OVER = 16
PARTS = ("Model", "get_inputs", "get_init_inputs")


def load_model(path: Path, standing: Standing, backend: Backend) -> Any:
    """Return the class `Model` of a file, whose numbers are the scaled ones."""
    return functions.member(functions.with_sizes(standing, path), "Model", path)


@dataclass(frozen=True)
class Variant:
    """The problem at one choice of sizes: its module, its case, and how calls are made.

    `drawn_by_itself` says that values are more than a description of each input tells: a triangle, labels of -1 and 1.
    """

    sizes: scale.Sizes
    module: ModuleType
    case: Case
    arguments: tuple[Tree, ...]
    build: tuple[Tree, ...]
    drawn_by_itself: bool


class KernelBench:
    """A problem of KernelBench."""

    workload: Mapping[str, object] = MappingProxyType({})

    def __init__(self, path: Path, name: str, backend: Backend, budget: int, sizes: Sequence[scale.Sizes] = ()) -> None:
        """Read the file and scale it, unless the `sizes` of its cases are known.

        Raises `InputError` for one that does not run.
        """
        self.name = name
        self._backend, self._budget = backend, budget
        self._tools = backends.problem_tools(backend.name)
        self._program = Program(path)
        #: Of the weights, and of what a constructor draws beside them. It is the candidate's too; inputs have others.
        self._seed = secrets.randbits(32)
        self._variants: dict[str, Variant] = {}
        self._models: dict[tuple[str, str | None], Any] = {}
        #: Which inputs a call changes, by the id of the case.
        self._changed: dict[str, tuple[str, ...]] = {}
        #: Whether shapes tell what a model's calls take; else a call does.
        self._trust_shapes = True
        self._build = ""
        self.notes: tuple[str, ...] = ()
        if sizes:
            self._main, *self._hidden = map(self._variant, sizes)
        else:
            self.notes = self._scale()

    def _scale(self) -> tuple[str, ...]:
        """Find the sizes of cases, and return what is said of them."""
        written, budget = self._program.constants, self._budget
        first = self._weight(written)
        sizes = scale.scale(written, self._weigh, budget)
        if not self._trust_shapes:
            sizes = self._running(sizes, written)
        self._main = self._variant(sizes)
        hidden = map(self._variant, scale.neighbours(sizes, self._weigh, budget))
        self._hidden = [variant for variant in hidden if self._trust_shapes or self._runs(variant)]
        notes = scale.describe(written, sizes, (first, self._weigh(sizes)), budget)
        varied = self._reference(self._main.case, None)[1]
        if varied:
            notes.append(f"{len(varied)} weights that are one number everywhere were varied, as `{varied[0]}`")
        return tuple(notes)

    def cases(self) -> Sequence[Case]:
        """Return the case of the scaled sizes: the format has one."""
        return [self._main.case]

    def hidden(self) -> Sequence[Case]:
        """Return cases of sizes near it; none where no size can be another."""
        return [variant.case for variant in self._hidden]

    def sizes(self) -> Sequence[scale.Sizes]:
        """Return the numbers of each."""
        return [variant.sizes for variant in (self._main, *self._hidden)]

    def reference(self, case: Case) -> Function:
        """Return `Model`, built once for each size and type."""
        variant = self._of(case)
        model = self._reference(variant.case, float_type(case))[0]
        return Function(functions.bind(model, variant.arguments, {}, self._backend), model)

    def standing(self, case: Case) -> Standing:
        """Return how `ModelNew` is built and called."""
        variant, written = self._of(case), self._program.constants
        return Standing(
            "kernelbench",
            variant.arguments,
            build=variant.build,
            seed=self._seed,
            dtype=self._type(case),
            sizes={name: (written[name], size) for name, size in variant.sizes.items() if size != written[name]},
            mutates=self.mutates(case),
        )

    def weights(self, case: Case) -> Mapping[str, Any]:
        """Return parameters and buffers by name."""
        weights: Mapping[str, Any] = self._tools.copy_state(self.reference(case).owner)
        return weights

    def mutates(self, case: Case) -> tuple[str, ...]:
        """Return the inputs that the reference was seen to change in a call."""
        variant = self._of(case)
        if variant.case.id not in self._changed:
            self._changed[variant.case.id] = self._changed_inputs(variant)
        return self._changed[variant.case.id]

    def _changed_inputs(self, variant: Variant) -> tuple[str, ...]:
        """Return the inputs that a call of a new model changes; raises whatever that raises."""
        tensors = self._own_inputs(variant)
        before = [self._backend.digest(tensor) for tensor in tensors.values()]
        model = functions.bind(self._new_model(variant), variant.arguments, {}, self._backend)
        self._tools.call_without_gradients(model, *tensors.values())
        pairs = zip(tensors, before, tensors.values())
        return tuple(name for name, digest, tensor in pairs if self._backend.digest(tensor) != digest)

    def draw(self, case: Case, seed: int) -> Sequence[Any] | None:
        """Call `get_inputs()` for its values, where that is more than the case says."""
        variant = self._of(case)
        if not variant.drawn_by_itself:
            return None
        with self._tools.seeded(seed):
            return in_type(list(self._own_inputs(variant).values()), variant.case, case, self._backend)

    def _running(self, scaled: scale.Sizes, sizes: scale.Sizes) -> scale.Sizes:
        """Return sizes that the reference was seen to run with: the scaled ones, or else with one as it is written.

        Raises `InputError` where it does not run at sizes near the budget at all.
        """
        choices = [scaled, *(self._scaled_but(name, sizes) for name in sizes), sizes]
        reason = "it takes far more than the budget, and no size can be smaller"
        for choice in [one for i, one in enumerate(choices) if one not in choices[:i]]:
            weight = self._weigh(choice)
            if weight is None or weight.inputs > MOST_OVER * self._budget:
                continue
            try:
                self._changed_inputs(self._variant(choice))
            except Exception as error:  # as above
                reason = f"`Model` raised {type(error).__name__}: {error}"
            else:
                return choice
        raise self._bad(reason)

    def _scaled_but(self, name: str, sizes: scale.Sizes) -> scale.Sizes:
        """Return scaled sizes of which one is as it is written."""

        def weigh(choice: scale.Sizes) -> scale.Weight | None:
            return self._weigh(choice) if choice[name] == sizes[name] else None

        return scale.scale(sizes, weigh, self._budget)

    def _runs(self, variant: Variant) -> bool:
        try:
            self._changed_inputs(variant)
        except Exception:  # as above
            return False
        return True

    def _of(self, case: Case) -> Variant:
        return self._variants[shapes_key(case)]

    def _type(self, case: Case) -> str | None:
        """Return the float type that a model is converted to: none where it has its own, as most do."""
        dtype = float_type(case)
        return None if dtype == float_type(self._of(case).case) else dtype

    def _new_model(self, variant: Variant) -> Any:
        standing = Standing("kernelbench", variant.arguments, build=variant.build, seed=self._seed)
        return functions.build(standing, variant.module.Model, self._backend)

    def _reference(self, case: Case, dtype: str | None) -> tuple[Any, list[str]]:
        """Return the model of a variant's case in a float type, and the names of the weights that were varied."""
        if dtype == float_type(case):
            dtype = None
        key = (case.id, dtype)
        if key not in self._models:
            model = self._new_model(self._of(case))
            with self._tools.seeded(self._seed + 1):
                varied = self._tools.vary(model)
            self._models[key] = self._tools.settle(model, dtype, self._backend.side.device), varied
        result: tuple[Any, list[str]] = self._models[key]
        return result

    def _own_inputs(self, variant: Variant) -> dict[str, Any]:
        inputs = variant.module.get_inputs()
        contents = Arguments(self._tools.is_tensor)
        for value, name in zip(inputs, _names(variant.module.Model.forward, len(inputs))):
            contents.take(value, name)
        device = self._backend.side.device
        return {name: tensor.to(device) for name, tensor in contents.tensors.items()}

    def _variant(self, sizes: scale.Sizes) -> Variant:
        """Return the problem at a choice of sizes; its values are looked at once."""
        module = self._program.run(sizes)
        contents, built = Arguments(self._tools.is_tensor), Arguments(self._tools.is_tensor)
        with self._tools.Origins() as origins:
            inputs = module.get_inputs()
        names = _names(module.Model.forward, len(inputs))
        arguments = tuple(contents.take(value, name) for value, name in zip(inputs, names))
        init = module.get_init_inputs()
        if not isinstance(init, (list, tuple)):
            raise self._bad(f"`get_init_inputs()` returns {type(init).__name__}, expected a list")
        build_names = _names(module.Model.__init__, len(init))
        build = tuple(built.take(value, f"{BUILD_PREFIX}{name}") for value, name in zip(init, build_names))
        if built.tensors:
            raise self._bad("`get_init_inputs()` returns a tensor, expected numbers and lists of them")
        specs: dict[str, TensorSpec] = {}
        drawn_by_itself = False
        for name, tensor in contents.tensors.items():
            plain = origins.description(tensor)
            drawn_by_itself |= plain is None
            specs[name] = plain or self._tools.shape_of(tensor)
        case = Case(self.name, specs, {**contents.values, **_attributes(built, build)})
        variant = Variant(sizes, module, case, arguments, build, drawn_by_itself)
        self._variants[shapes_key(case)] = variant
        return variant

    def _weigh(self, sizes: scale.Sizes) -> scale.Weight | None:
        try:
            weight = self._shapes_alone(sizes)
        except Exception:  # the problem's code may raise anything: these sizes are none for it
            return None
        # Where nothing tells whether another model runs, the model stays.
        return weight if self._trust_shapes or weight.build == self._build else None

    def _weight(self, sizes: scale.Sizes) -> scale.Weight:
        """Return the cost of the problem as it is written; raises `InputError` where it has not the parts of one."""
        try:
            with self._tools.limited(PATIENCE):
                return self._shapes_alone(sizes)
        except InputError:
            raise
        except Exception:  # of code that reads values, or takes long; what else is wrong is so again below
            self._trust_shapes = False
        try:
            weight = self._shapes_alone(sizes)
        except Exception as error:
            own = "the file has to run by itself: `Model(*get_init_inputs())(*get_inputs())`"
            missing = isinstance(error, ModuleNotFoundError) and error.name
            hint = MISSING_HINT.format(missing) if missing else own
            raise self._bad(f"{type(error).__name__}: {error}", hint=hint) from error
        self._build = weight.build
        return weight

    def _shapes_alone(self, sizes: scale.Sizes) -> scale.Weight:
        """Return the cost of a choice of sizes, and run the model on shapes; raises whatever that raises.

        Where a model reads values while it is built or called, shapes say nothing, and only inputs are looked at.
        """
        module = self._program.run(sizes)
        for name in PARTS:
            if not callable(getattr(module, name, None)):
                raise self._bad(f"no `{name}`", hint=f"a problem of KernelBench has {', '.join(PARTS)}")
        tools = self._tools
        with tools.without_memory():
            inputs, init = module.get_inputs(), module.get_init_inputs()
            weights = results = 0
            if self._trust_shapes:
                model = module.Model(*init)
                results = sum(self._bytes(tools.call_without_gradients(model, *inputs)))
                weights = tools.state_bytes(model)
        shapes = [tools.shape_of(tensor).shape for tensor in self._backend.leaves(inputs)]
        return scale.Weight(sum(self._bytes(inputs)), weights, repr(init), repr(shapes), results)

    def _bytes(self, value: Any) -> list[int]:
        return [self._tools.shape_of(tensor).nbytes for tensor in self._backend.leaves(value)]

    def _bad(self, message: str, hint: str | None = None) -> InputError:
        return InputError(f"{self._program.path}: {message}", hint=hint, slug="bad_problem")


def _attributes(built: Arguments, build: Sequence[Tree]) -> dict[str, Any]:
    """Return the arguments of the constructor; lists of lists are there as their parts."""
    return {name: value for name, value in built.values.items() if build and not isinstance(value, Branch)}


def _names(function: Any, count: int) -> list[str]:
    """Return a name for each argument by place, `self` left out."""
    try:
        parameters = [*inspect.signature(function).parameters.values()][1:]
    except (TypeError, ValueError):
        parameters = []
    names = [one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)][:count]
    return [*names, *(f"argument{number}" for number in range(len(names), count))]
