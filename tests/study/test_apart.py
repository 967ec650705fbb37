"""Residuals below rounding: mean and differences apart agree with many digits, and a layer cubes the residual."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from audit.records import Refusal
from rankcollapse import apart, pure
from rankcollapse.demonstration import run_script


def draw(seed: int = 1, length: int = 8, width: int = 6, layers: int = 4, offset: float = 1.0):
    """Tokens around a common vector, and layers."""
    generator = np.random.default_rng(seed)
    drawn = [pure.draw_heads(generator, width) for _ in range(layers)]
    mean, spread = generator.standard_normal(width), generator.standard_normal((length, width))
    return offset * mean, spread, drawn


def size(tokens: apart.Apart) -> float:
    """Natural log of the composite norm of the differences."""
    return tokens.log_scale + log(pure.composite_norm(tokens.shape))


@pytest.mark.parametrize("scale", [3.0, 1.0, 1e-3, 1e-9])
def test_apart_agrees_with_many_digits(scale):
    """Residuals of four layers, from ordinary ones to ones of 10^-300, to ten digits of the log."""
    mean, spread, layers = draw()
    x = mean + scale * spread
    exact = apart.follow_exact(x, layers, 2000)
    assert [size(each) for each in apart.follow_apart(x, layers[:3])] == pytest.approx(exact[:4], rel=1e-6 if scale == 1e-9 else 1e-10)


def test_apart_agrees_with_plain_attention():
    """Where nothing is lost the tokens are the same, mean included."""
    mean, spread, layers = draw()
    x, tokens = mean + spread, apart.take_apart(mean + spread)
    for heads in layers[:2]:
        x, tokens = pure.attend(x, heads), apart.attend_apart(tokens, heads)
        assert tokens.mean + np.exp(tokens.log_scale) * tokens.shape == pytest.approx(x)


@pytest.mark.parametrize("offset", [1.0, 0.0])
def test_a_layer_cubes_the_residual(offset):
    """KAT-4: the slope between distances 1 to 0.003 goes to three, in the distance with a common vector and in its square without."""
    known = (2.82, 2.89, 2.94, 2.98, 2.994) if offset else (3.10, 3.02, 3.002, 3.0002, 3.00002)
    mean, spread, (heads, *_) = draw(layers=1, offset=offset)
    points = []
    for delta in (1.0, 0.3, 0.1, 0.03, 0.01, 0.003):
        before = apart.take_apart(mean + delta * spread)
        points.append((size(before), size(apart.attend_apart(before, heads))))
        assert points[-1][1] < apart.log_factor(heads) + 3 * points[-1][0]
    slopes = [(after[1] - before[1]) / (after[0] - before[0]) for before, after in zip(points, points[1:], strict=False)]
    assert slopes == pytest.approx(known, abs=0.08) and slopes[1:] == sorted(slopes[1:], key=lambda slope: -abs(slope - 3))
    assert abs(slopes[-1] - 3) < (0.01 if offset else 1e-4)


def test_slopes_of_known_series():
    """Cubing has slope three and halving one; the fit says the same."""
    cubes, halves = [-(3.0**layer) for layer in range(6)], [-0.7 * layer for layer in range(6)]
    assert apart.local_slopes(cubes) == pytest.approx([3] * 4) and apart.fit_slope(cubes) == pytest.approx(3)
    assert apart.local_slopes(halves) == pytest.approx([1] * 4) and apart.fit_slope(halves) == pytest.approx(1)


def test_digits_that_do_not_suffice_are_refused():
    """A residual near the last digit is not reported."""
    mean, spread, layers = draw()
    with pytest.raises(Refusal, match="pure.digits: a residual lies in the last of the digits; found 30; cure: raise it"):
        apart.follow_exact(mean + 0.01 * spread, layers, 30)


def test_the_bound_holds_and_can_fail():
    """The theorem's bound is above each residual of a small network; with a factor of a millionth less it is not."""
    mean, spread, layers = draw()
    logs = apart.follow_exact(mean + spread, layers, 400)
    bounds = apart.log_bounds(logs, layers)
    assert all(bound > own for bound, own in zip(bounds, logs[1:], strict=True))
    assert any(bound - log(1e6) < own for bound, own in zip(bounds, logs[1:], strict=True))


GOLDEN = {
    0: (58.3599, 58.3599), 1: (37.1641, 56.7506), 2: (14.2489, 55.8900), 3: (4.9429, 55.2960), 5: (1.0, 54.1422),
    8: (1.0, 53.3431), 12: (1.0, 52.6704), 16: (1.0, 52.0563), 20: (1.0, 51.4945),
}  # fmt: skip


def test_the_demonstration():
    """With seed 42 it prints the text's numbers; from layer 4 on the residual is rounding, and the rank there is not the tokens'."""
    shown = run_script()
    assert {layer: (round(shown.pure[layer], 4), round(shown.block[layer], 4)) for layer in GOLDEN} == GOLDEN
    assert round(shown.block[4], 4) == 54.7014 and 1 < shown.pure[4] < 1.5
    assert shown.residual[1:4] == pytest.approx((8.31e-1, 1.10e-2, 6.89e-9), rel=0.01) and max(shown.residual[4:]) < 1e-14
    assert shown.at_floor.index(True) == 4 and all(shown.at_floor[4:])
    assert shown.apart[:4] == pytest.approx(shown.pure[:4], rel=1e-5) and shown.apart[4] == pytest.approx(2.5925, abs=1e-3)
