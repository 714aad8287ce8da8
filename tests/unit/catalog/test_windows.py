"""Convolutions and pooling of other dimensions and forms: outputs and operations counted by hand."""

from __future__ import annotations

from tests.each import each

from opperf.catalog import operator
from opperf.domain.case import Argument
from opperf.domain.tensor import TensorSpec

VOLUME = TensorSpec((1, 2, 4, 4, 4))


def counted(name: str, **arguments: Argument) -> tuple[tuple[int, ...], int]:
    declared = operator(name)
    case = declared.case_of(arguments)
    return declared.outputs(case)[0].shape, declared.flops(case)


@each(
    ("name", "arguments", "shape", "operations"),
    [
        ("max_pool3d", {"data": VOLUME, "kernel": 2, "stride": 2}, (1, 2, 2, 2, 2), 128),
        ("avg_pool3d", {"data": VOLUME, "kernel": (1, 2, 2), "stride": None}, (1, 2, 4, 2, 2), 128),
        ("global_avg_pool3d", {"data": VOLUME}, (1, 2, 1, 1, 1), 128),
        ("global_max_pool1d", {"data": TensorSpec((1, 2, 9))}, (1, 2, 1), 18),
        ("adaptive_avg_pool2d", {"data": TensorSpec((1, 2, 9, 9)), "output_size": (4, 5)}, (1, 2, 4, 5), 162),
        ("lp_pool2d", {"data": TensorSpec((1, 1, 4, 4)), "kernel": 2, "stride": 2, "power": 2}, (1, 1, 2, 2), 36),
    ],
)
def test_pooling(name: str, arguments: dict[str, Argument], shape: tuple[int, ...], operations: int) -> None:
    assert counted(name, **arguments) == (shape, operations)


def test_a_transposed_convolution_has_a_multiply_add_for_each_element_and_weight() -> None:
    assert counted("conv_transpose1d", data=TensorSpec((1, 2, 5)), weight=TensorSpec((2, 3, 4)), stride=2) == (
        (1, 3, 12),
        240,
    )
    cube = TensorSpec((2, 3, 2, 2, 2))
    assert counted("conv_transpose3d", data=VOLUME, weight=cube, stride=2) == ((1, 3, 8, 8, 8), 6144)


def test_groups_divide_the_work_and_dilation_leaves_it() -> None:
    image = TensorSpec((1, 8, 16, 16))
    whole = counted("conv2d", data=image, weight=TensorSpec((8, 8, 3, 3)), padding=1)
    grouped = counted("grouped_conv2d", data=image, weight=TensorSpec((8, 2, 3, 3)), padding=1, groups=4)
    dilated = counted("dilated_conv2d", data=image, weight=TensorSpec((8, 8, 3, 3)), padding=2, dilation=2)
    assert whole == dilated == ((1, 8, 16, 16), 4 * grouped[1])
