"""The key that random operators draw from, made once and the same at every call.

JAX has no hidden state to draw from. The key is an argument like any tensor: closed over, XLA would draw the numbers
when it compiles. It is of the older, plain kind (`PRNGKey`), since typed keys (`jax.random.key`) miss the fast path of
jitted calls: 8.7 us instead of 5.0 for four numbers.
"""

from __future__ import annotations

import jax

from opperf.child.backends.call import Parameter

NOTE = "the same key at every call"
#: Made when the first binding that draws is asked for, when platform and device are settled.
KEY = Parameter("key", constant=jax.random.PRNGKey(0).block_until_ready())
