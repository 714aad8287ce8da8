"""The initial states of Gluon's recurrent cells: zeros, for each row of a batch."""

from __future__ import annotations

from typing import Any

import mxnet as mx


def states_of(block: Any, data: Any, context: Any) -> tuple[list[Any], ...]:
    """Return the states that a cell takes behind its data, one list of states; nothing for a block that is no cell."""
    if not isinstance(block, mx.gluon.rnn.RecurrentCell):
        return ()
    # A cell that modifies another begins with symbols unless it is told what to begin with.
    return (block.begin_state(batch_size=data.shape[0], func=mx.nd.zeros, ctx=context, dtype=data.dtype),)
