"""How MXNet spells the neutral operators, family by family."""

import mxnet as mx

from opperf.child.backends.binding import OwnNames

OWN_NAMES = OwnNames({"nd": mx.nd})
