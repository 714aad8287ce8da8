"""TensorFlow's recordings are read by what each release calls their format."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
from tests.each import each

FORMATS = ("tensorflow.tsl.profiler.protobuf.xplane_pb2", "tensorflow.core.profiler.protobuf.xplane_pb2")


@each("place", FORMATS)
def test_the_format_of_a_recording_stands_where_this_release_has_it(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(("tensorflow", "opperf.child.backends.tensorflow"))]:
        monkeypatch.delitem(sys.modules, name)
    parts = place.split(".")
    for length in range(1, len(parts) + 1):
        package = ModuleType(".".join(parts[:length]))
        package.__path__ = []
        monkeypatch.setitem(sys.modules, package.__name__, package)
    from opperf.child.backends.tensorflow import recording

    assert recording._format() is sys.modules[place]
    sys.modules.pop(recording.__name__)  # it belongs to the TensorFlow that was made up here
