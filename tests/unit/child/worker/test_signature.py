"""What a function says of its arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.worker.arguments import call_of
from opperf.child.worker.failures import headline
from opperf.child.worker.signature import defaults_of, parameters_of, unlike
from opperf.domain.case import Case, ListOf
from opperf.domain.tensor import TensorSpec

MATRIX = TensorSpec((2, 2))


def documented(*operands: Any, out: Any = None) -> None:
    """documented(subscripts, *operands, out=None,
    order='K')

    Evaluates something.
    """


def test_what_python_does_not_tell_stands_in_the_documentation() -> None:
    assert parameters_of(documented) == {"subscripts": True, "*operands": True, "out": False, "order": False}
    assert list(parameters_of(np.einsum) or ())[:2] == ["subscripts", "*operands"]


def test_documentation_of_another_function_or_in_other_words_is_not_read() -> None:
    for text in ("other(a, *b)", "Computes (a, *b).", "evil(*a, b=__import__('os').system('x'))", "evil(a, b) no", ""):

        def evil(*operands: Any) -> None:
            """To be replaced."""

        evil.__doc__ = text
        assert (parameters_of(evil) or {}).keys() <= {"*operands", "*a", "b"}


def test_a_list_of_operands_comes_after_what_stands_before_it() -> None:
    case = Case("f", {"operands": ListOf((MATRIX, MATRIX))}, {"subscripts": "ij,jk->ik", "order": "C"})
    call = call_of(case, "numpy.einsum", parameters_of(documented) or {})
    assert [(one.own, one.spread) for one in call.positional] == [("subscripts", False), ("operands", True)]
    assert [one.own for one in call.keywords] == ["order"]
    alone = call_of(Case("f", {"operands": MATRIX}), "f", {"*operands": True})
    assert [(one.own, one.spread) for one in alone.positional] == [("operands", False)]


def test_numbers_are_places() -> None:
    case = Case("f", {"2": MATRIX, "1": MATRIX}, {"0": "ij,jk->ik", "order": "C"})
    call = call_of(case, "f", {})
    assert [one.own for one in call.positional] == ["0", "1", "2"]
    assert [one.own for one in call.keywords] == ["order"]


def test_what_goes_by_its_place_has_the_name_by_which_a_schema_says_what_is_written() -> None:
    call = call_of(Case("f", {"0": MATRIX, "1": MATRIX, "2": MATRIX}), "f", {"self": True, "other": True})
    assert call.own_names == {"self": "0", "other": "1", "2": "2"}


def test_defaults_that_differ_are_told_and_markers_say_nothing() -> None:
    def function(a: Any, axis: Any = None, stride: Any = 1, keepdims: Any = np._NoValue) -> None:
        """Have defaults."""

    defaults = defaults_of(function)
    assert unlike({"axis": 1, "stride": (1, 1), "keepdims": False, "other": 2}, defaults) == ("axis",)
    assert unlike({"axis": None, "stride": (2, 1)}, defaults) == ("stride",)


def test_a_line_that_announces_the_next_is_followed_by_it() -> None:
    text = "failed to match any schema:\nf() is missing value for argument 'src'.\nPosition: 1"
    assert headline(text) == "failed to match any schema: f() is missing value for argument 'src'."
    assert headline("nothing follows:") == "nothing follows:"
