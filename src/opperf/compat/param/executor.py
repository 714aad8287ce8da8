"""Measure one operator in this process, with arguments that are made already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from opperf.child.worker.directions import Ready, call_once, ready
from opperf.child.worker.mutation import keep
from opperf.compat.param.metrics import fields
from opperf.compat.param.operators import DeviceEngine, NamedOperator, OperatorInterface, device_engine
from opperf.compat.param.options import ExecutionPass, OpExecutionMode
from opperf.domain.call import Bound, Work
from opperf.domain.plan import Settings
from opperf.domain.stats.order import median


class OpExecutor:
    """Measures an operator as the options of a run say: warm-up, iterations, device, mode and pass."""

    def __init__(self, name: str, op: OperatorInterface, run_options: Mapping[str, Any]) -> None:
        self.name = name
        self.op = op
        self.device = str(run_options.get("device") or "cpu")
        self.backward = run_options.get("pass_type") in (ExecutionPass.BACKWARD, ExecutionPass.BACKWARD.value)
        mode = run_options.get("op_exec_mode", OpExecutionMode.DISCRETE)
        self.discrete = mode in (OpExecutionMode.DISCRETE, OpExecutionMode.DISCRETE.value)
        self.settings = Settings(
            warmup=run_options.get("warmup", 1), runs=run_options.get("iteration", 1), latency=self.discrete
        )

    def run(self, input_args: Sequence[Any], input_kwargs: Mapping[str, Any], op_run_id: str) -> dict[str, Any]:
        """Return the metrics of each pass, by PARAM's names and in its units. Raises what the operator raises."""
        place = device_engine(self.device)
        result = {"forward": self._measure(place, self._forward(place, input_args, input_kwargs))}
        if self.backward:
            result["backward"] = self._measure(place, self._backward(place, input_args, input_kwargs, op_run_id))
        return result

    def _measure(self, place: DeviceEngine, work: Ready) -> dict[str, Any]:
        measurement = place.engine.measure(work.work, self.settings, output_bytes=work.output_bytes, took=work.took)
        samples = measurement.samples("latency" if self.discrete else "time") or measurement.time
        numbers = fields(
            samples, measurement.quantity("memory_peak"), on_device=self.device != "cpu", discrete=self.discrete
        )
        seconds = samples.seconds() or samples.seconds(clean_only=False)
        numbers["statistics"] = {
            "unit": "ms",
            "of": "latency" if self.discrete else "time",
            "median": median(seconds) * 1e3,
            "min": min(seconds) * 1e3,
            "max": max(seconds) * 1e3,
            "samples": len(seconds),
        }
        return numbers

    def _forward(self, place: DeviceEngine, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Ready:
        bound = self._bound(place, args, kwargs)
        return ready(place.backend, keep(place.backend, bound), "forward", None, self.name)

    def _backward(self, place: DeviceEngine, args: Sequence[Any], kwargs: Mapping[str, Any], op_run_id: str) -> Ready:
        """Return the gradients alone: opperf's own of a named operator, else those of the operator's `backward`."""
        if isinstance(self.op, NamedOperator):
            bound = self._bound(place, args, kwargs)
            return ready(place.backend, keep(place.backend, bound), "backward", None, f"{self.name}/{op_run_id}")

        def before() -> tuple[Any, ...]:
            self.op.forward(*args, **kwargs)
            self.op.create_grad()
            return ()

        work = Work(self.op.backward, (), {}, nullcontext, before=before)
        call_once(place.backend, work)
        return Ready(work, 0)

    def _bound(self, place: DeviceEngine, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
        """Return the call; a gradient flows to the tensors that ask for one, and to a layer's parameters."""
        by_name = isinstance(self.op, NamedOperator)
        leaves = [leaf for value in (*args, *kwargs.values()) for leaf in place.backend.leaves(value)]
        asking = [leaf for leaf in leaves if leaf.requires_grad]
        function = self.op.function if isinstance(self.op, NamedOperator) else self.op.forward
        parameters = self.op.parameters if isinstance(self.op, NamedOperator) else ()
        return Bound(function, tuple(args), dict(kwargs), (*asking, *parameters) if by_name else ())
