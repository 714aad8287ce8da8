"""MXNet's operators for sequences of unequal length."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

GIVEN = "use_sequence_length=True"

BINDINGS: dict[str, Binding] = {
    "sequence_mask": call("nd.SequenceMask", "data, lengths", f"{GIVEN}, value=value"),
    "sequence_reverse": call("nd.SequenceReverse", "data, lengths", GIVEN),
    "sequence_last": call("nd.SequenceLast", "data, lengths", GIVEN),
}
