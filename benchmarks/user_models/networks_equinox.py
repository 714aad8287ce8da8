"""A perceptron and a recurrent cell of equinox, trained for one step."""

from __future__ import annotations

from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp


@cache
def made() -> tuple[Any, Any, Any]:
    """Return a model, rows, and what they shall be."""
    first, second = jax.random.split(jax.random.key(0))
    model = eqx.nn.MLP(8, 4, 32, 2, key=first), eqx.nn.GRUCell(4, 4, key=second)
    rows = jax.random.normal(jax.random.key(1), (16, 8))
    return model, rows, jax.nn.softmax(rows[:, :4])


def training_step() -> Any:
    """Return the model after one step of gradient descent on a divergence."""
    model, rows, wanted = made()

    @eqx.filter_grad  # type: ignore[untyped-decorator]
    def loss(model: Any) -> Any:
        network, cell = model
        scores = jax.vmap(lambda row: cell(network(row), jnp.zeros(4)))(rows)
        chances = jax.nn.softmax(scores)
        return (wanted * (jnp.log(wanted) - jnp.log(chances))).sum(1).mean()

    gradients = loss(model)
    return eqx.apply_updates(model, jax.tree.map(lambda slope: -0.1 * slope, gradients))
