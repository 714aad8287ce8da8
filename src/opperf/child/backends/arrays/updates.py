"""Steps of optimizers written once, by the functions of a module like NumPy's.

`mean *= beta1` changes an array in place where it can change, and makes a new one of the same name where it cannot.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.binding import Binding, composition
from opperf.domain.dataclass import dataclass

#: What each step is made of.
MADE_OF: Mapping[str, str] = {
    "sgd_update": "a product and a difference",
    "sgd_momentum_update": "products, a sum and a difference",
    "nag_update": "products, sums and differences",
    "signsgd_update": "sign, a product and a difference",
    "adam_update": "square, sqrt and arithmetic",
    "adamw_update": "square, sqrt and arithmetic",
    "rmsprop_update": "square, sqrt and arithmetic",
    "adagrad_update": "square, sqrt and arithmetic",
    "adadelta_update": "square, sqrt and arithmetic",
    "ftrl_update": "square, sqrt, sign, abs and arithmetic",
    "lamb_update": "square, sqrt, linalg.norm and arithmetic",
}


@dataclass(frozen=True)
class Updates:
    """The steps by the functions of `np`; they return the weight, and the states too where arrays are `immutable`."""

    np: Any
    immutable: bool

    def binding(self, name: str) -> Binding:
        """Return the binding of one."""
        into = "into new arrays" if self.immutable else "in place"
        return composition(getattr(self, name), note=f"{MADE_OF[name]} of {self.np.__name__}, {into}")

    def bindings(self) -> dict[str, Binding]:
        """Return the bindings of all."""
        return {name: self.binding(name) for name in MADE_OF}

    def sgd_update(self, weight: Any, gradient: Any, learning_rate: float) -> Any:
        """Take `learning_rate` times the gradient from the weight."""
        weight -= learning_rate * gradient
        return weight

    def sgd_momentum_update(
        self, weight: Any, gradient: Any, velocity: Any, learning_rate: float, momentum: float
    ) -> Any:
        """Take a step along the velocity."""
        velocity *= momentum
        velocity -= learning_rate * gradient
        weight += velocity
        return self._result(weight, velocity)

    def nag_update(self, weight: Any, gradient: Any, velocity: Any, learning_rate: float, momentum: float) -> Any:
        """Take the next step along the velocity, too."""
        velocity *= momentum
        velocity -= learning_rate * gradient
        weight += momentum * velocity - learning_rate * gradient
        return self._result(weight, velocity)

    def signsgd_update(self, weight: Any, gradient: Any, learning_rate: float) -> Any:
        """Take a step of one length in each direction."""
        weight -= learning_rate * self.np.sign(gradient)
        return weight

    def adam_update(
        self,
        weight: Any,
        gradient: Any,
        mean: Any,
        variance: Any,
        learning_rate: float,
        beta1: float,
        beta2: float,
        epsilon: float,
    ) -> Any:
        """Divide the moving mean by the root of that of squares."""
        mean, variance = self._remember(gradient, mean, variance, beta1, beta2)
        weight -= learning_rate * mean / (self.np.sqrt(variance) + epsilon)
        return self._result(weight, mean, variance)

    def adamw_update(
        self,
        weight: Any,
        gradient: Any,
        mean: Any,
        variance: Any,
        learning_rate: float,
        beta1: float,
        beta2: float,
        epsilon: float,
        weight_decay: float,
    ) -> Any:
        """Shrink the weight before the step."""
        weight *= 1 - learning_rate * weight_decay
        return self.adam_update(weight, gradient, mean, variance, learning_rate, beta1, beta2, epsilon)

    def rmsprop_update(
        self, weight: Any, gradient: Any, squares: Any, learning_rate: float, rho: float, epsilon: float
    ) -> Any:
        """Divide by the root of the moving mean of squares."""
        squares *= rho
        squares += (1 - rho) * self.np.square(gradient)
        weight -= learning_rate * gradient / self.np.sqrt(squares + epsilon)
        return self._result(weight, squares)

    def adagrad_update(self, weight: Any, gradient: Any, squares: Any, learning_rate: float, epsilon: float) -> Any:
        """Divide by the root of the sum of squares."""
        squares += self.np.square(gradient)
        weight -= learning_rate * gradient / (self.np.sqrt(squares) + epsilon)
        return self._result(weight, squares)

    def adadelta_update(
        self, weight: Any, gradient: Any, squares: Any, steps: Any, learning_rate: float, rho: float, epsilon: float
    ) -> Any:
        """Scale the step by the steps before it."""
        squares *= rho
        squares += (1 - rho) * self.np.square(gradient)
        step = gradient * self.np.sqrt((steps + epsilon) / (squares + epsilon))
        steps *= rho
        steps += (1 - rho) * self.np.square(step)
        weight -= learning_rate * step
        return self._result(weight, squares, steps)

    def ftrl_update(
        self, weight: Any, gradient: Any, sums: Any, squares: Any, learning_rate: float, l1: float, beta: float
    ) -> Any:
        """Follow the regularized leader."""
        before = self.np.sqrt(squares)
        squares += self.np.square(gradient)
        root = self.np.sqrt(squares)
        sums += gradient - weight * (root - before) / learning_rate
        step = (l1 * self.np.sign(sums) - sums) * learning_rate / (beta + root)
        out: dict[str, Any] = {} if self.immutable else {"out": weight}
        weight = self.np.multiply(step, self.np.abs(sums) > l1, **out)
        return self._result(weight, sums, squares)

    def lamb_update(
        self,
        weight: Any,
        gradient: Any,
        mean: Any,
        variance: Any,
        learning_rate: float,
        beta1: float,
        beta2: float,
        epsilon: float,
        weight_decay: float,
    ) -> Any:
        """Scale the step to the length of the weight."""
        norm = self.np.linalg.norm
        mean, variance = self._remember(gradient, mean, variance, beta1, beta2)
        step = mean / (self.np.sqrt(variance) + epsilon) + weight_decay * weight
        weight -= learning_rate * norm(weight) / norm(step) * step
        return self._result(weight, mean, variance)

    def _remember(self, gradient: Any, mean: Any, variance: Any, beta1: float, beta2: float) -> tuple[Any, Any]:
        mean *= beta1
        mean += (1 - beta1) * gradient
        variance *= beta2
        variance += (1 - beta2) * self.np.square(gradient)
        return mean, variance

    def _result(self, weight: Any, *states: Any) -> Any:
        return (weight, *states) if self.immutable else weight
