"""What turning a hue multiplies by."""

from __future__ import annotations

import numpy as np
import pytest

from opperf.catalog.image import GRAY, hue_rotation


@pytest.mark.parametrize("angle", [0.0, 0.1, 0.5, 0.9])
def test_gray_stays_gray_however_far_a_hue_is_turned(angle: float) -> None:
    assert np.array([0.5, 0.5, 0.5]) @ np.array(hue_rotation(angle)) == pytest.approx([0.5] * 3, abs=1e-9)


def test_a_hue_that_is_turned_all_the_way_is_what_it_was_and_no_lighter_on_the_way() -> None:
    pixel = np.array([0.9, 0.2, 0.4])
    third = np.array(hue_rotation(1 / 3))
    assert pixel @ third @ third @ third == pytest.approx(pixel, abs=0.01)
    assert (pixel @ third) @ np.array(GRAY) == pytest.approx(pixel @ np.array(GRAY), abs=0.01)
    assert abs(pixel @ third - pixel).max() > 0.3
