"""What shows that two sides of a comparison do different work, so that their ratio is not of implementations alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from opperf.domain.device import FLOAT32_PRODUCTS
from opperf.domain.message.replies import Preparation
from opperf.domain.reason import Warning

#: Results that are named at most: an optimizer returns hundreds.
MOST_NAMED = 3
HINT = "the ratio is of different work; give both sides the same, by element types, arguments or an implementation"
#: What makes two devices different ones, or two settings of one, and what it is called.
OF_DEVICES = {
    FLOAT32_PRODUCTS: "how they multiply float32",
    "float32_convolutions": "how they convolve float32",
    "cudnn_benchmark": "whether cuDNN tries its algorithms first",
    "gpu.name": "their GPUs",
    "gpu.mig": "whether the GPU is divided",
    "gpu.driver": "their drivers",
    "gpu.power_limit": "the power limit, in milliwatts",
    "gpu.ecc": "whether the memory corrects errors",
}
DEVICE_HINT = "give both sides the same, or take the ratio as that of both together"
ORDER = {"kept": "keeps equal elements in their order", "any": "need not keep equal elements in their order"}


def other_work(base: Preparation, new: Preparation) -> tuple[Warning, ...]:
    """Return a warning for results of other types or extents, and one for other promises."""
    return (*_results(base.results, new.results), *_order(base.facts, new.facts))


def other_device(base: Mapping[str, object], new: Mapping[str, object]) -> tuple[Warning, ...]:
    """Return a warning where both sides, by what they say of themselves, are on devices that differ.

    >>> [one.message for one in other_device({"float32_products": "float32"}, {"float32_products": "TF32"})]
    ['the sides differ in how they multiply float32: float32 on the base and TF32 on the new side']
    """
    pairs = ((words, _fact(base, name), _fact(new, name)) for name, words in OF_DEVICES.items())
    apart = [
        f"{words}: {one} on the base and {other} on the new side"
        for words, one, other in pairs
        if None not in (one, other) and one != other
    ]
    if not apart:
        return ()
    return (Warning("different_devices", f"the sides differ in {'; in '.join(apart)}", DEVICE_HINT),)


def _fact(facts: Mapping[str, object], name: str) -> object:
    """Return the fact of that name, of one within another `gpu.uuid`; None where it is not told."""
    outer, _, inner = name.rpartition(".")
    within = facts.get(outer) if outer else facts
    return within.get(inner) if isinstance(within, Mapping) else None


def _results(base: Sequence[str], new: Sequence[str]) -> tuple[Warning, ...]:
    apart = [(one, other) for one, other in zip_longest(base, new, fillvalue="nothing") if one != other]
    if not base or not new or not apart:
        return ()
    text = ", ".join(f"{one} on the base and {other} on the new side" for one, other in apart[:MOST_NAMED])
    more = f", and {len(apart) - MOST_NAMED} more" if len(apart) > MOST_NAMED else ""
    return (Warning("different_results", f"the sides return different results: {text}{more}", HINT),)


def _order(base: Mapping[str, object], new: Mapping[str, object]) -> tuple[Warning, ...]:
    orders = [ORDER.get(str(facts.get("order_of_equals"))) for facts in (base, new)]
    if None in orders or orders[0] == orders[1]:
        return ()
    text = f"the sides promise different results: the base {orders[0]}, the new side {orders[1]}"
    return (Warning("different_promises", text, HINT),)
