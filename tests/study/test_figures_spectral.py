"""Figures of spectral energy, on made-up data: shares and intervals stand where they should, and every distinction is there without colour."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from corpora import read_folder

from rankcollapse import figures_spectral, looks
from rankcollapse.figures_spectral import ArmSurvival, Course, Predictor, Sample
from rankcollapse.looks import Look

PLAIN, STEADY = Look("plain", "#8C8C8C", "-", "o"), Look("steadied", "#0072B2", "--", "s")
ARMS = (
    ArmSurvival(PLAIN, (False,) * 3 + (True,) * 3, (7.5, None, 6.0, 3.1, 3.2, 3.5)),
    ArmSurvival(STEADY, (True,) * 6, (3.0, 3.1, 3.2, 3.3, 3.4, 3.5)),
    ArmSurvival(PLAIN._replace(label="hopeless"), (False,) * 6, (None,) * 6),
)
PREDICTORS = (Predictor("SEC", 0.9), Predictor("learning rate", 0.6))
COURSES = (
    Course((0, 10, 20, 30), (0.2, 0.3, 0.6, 0.9), True, 25),
    Course((0, 10, 20, 30), (0.2, 0.2, 0.3, 0.3)),
    Course((0, 10, 20), (0.3, 0.3, 0.4), True),
    Course((0, 10, 20), (0.1, 0.4, 0.8), True, 20),
)
SAMPLES = (Sample("low-rank $X$", (1, 10, 100), (0, 3, 6), (6, 6, 6)), Sample("full-rank $X$", (1, 10, 100), (0, 0, 1), (6, 6, 0)))
EXACT = {0: (0.0, 0.459258), 3: (0.118117, 0.881883), 6: (0.540742, 1.0)}
"""Clopper-Pearson, 95 %, of so many of six: the closed form 1 - 0.025 ** (1 / 6) for none, and tabulated for half."""


def build():
    """Every figure of the module, by name."""
    with plt.rc_context(looks.STYLE):
        return {
            "survival": figures_spectral.draw_survival(ARMS),
            "warning": figures_spectral.draw_warning(PREDICTORS, COURSES, concentration=r"SEC$(d_q, s)$", read_at=15),
            "sampling": figures_spectral.draw_sampling({"without": SAMPLES, "with": SAMPLES[1:]}),
        }


@pytest.fixture
def built():
    """The figures, closed when they were looked at."""
    yield (found := build())
    for figure in found.values():
        plt.close(figure)


def bars(axis, marker):
    """Ends of the bars of a panel, in the order they were drawn."""
    return [line.get_xydata() for line in axis.get_lines() if line.get_marker() == marker]


def test_shares_have_exact_intervals(built):
    """Half, all and none of six: the points, and the ends of the intervals."""
    axis = built["survival"].axes[0]
    points = [line.get_xydata()[0].tolist() for line in axis.get_lines() if line.get_marker() == "o"]
    assert points == [[0.5, 0], [1.0, 1], [0.0, 2]]
    for ends, count, place in zip(bars(axis, "|"), (3, 6, 0), range(3), strict=True):
        assert ends[:, 0] == pytest.approx(EXACT[count], abs=1e-6) and set(ends[:, 1]) == {place}
    assert [text.get_text() for text in axis.get_yticklabels()] == ["plain", "steadied", "hopeless"]


def test_every_network_has_its_loss(built):
    """A filled circle for each that survived, an open square for each that fell, and a cross over those without a finite loss, right of all."""
    lines = [line for line in built["survival"].axes[1].get_lines() if len(line.get_xdata())]
    shown = [(line.get_marker(), line.get_markerfacecolor() == "white", float(line.get_xdata()[0])) for line in lines]
    assert sorted(x for marker, is_open, x in shown if marker == "o" and not is_open) == [3.0, 3.1, 3.1, 3.2, 3.2, 3.3, 3.4, 3.5, 3.5]
    assert sorted(x for marker, is_open, x in shown if marker == "s" and is_open)[:2] == [6.0, 7.5]
    crosses = [x for marker, _, x in shown if marker == "x"]
    assert len(crosses) == 7 and min(crosses) > 7.5
    heights = [float(line.get_ydata()[0]) for line in lines if line.get_marker() != "x"]
    assert len(set(heights)) == 18 and all(abs(y - round(y)) < 0.3 for y in heights)


def test_a_loss_is_asked_for_each_network():
    """An arm with fewer losses than networks is not drawn without them."""
    with pytest.raises(ValueError, match="shorter"):
        figures_spectral.draw_survival([ArmSurvival(PLAIN, (True, True), (3.0,))])
    plt.close("all")


def test_areas_stand_at_their_values(built):
    """A point for each predictor, by the line of chance."""
    axis = built["warning"].axes[0]
    assert [line.get_xydata()[0].tolist() for line in axis.get_lines() if line.get_marker() == "o"] == [[0.9, 0], [0.6, 1]]
    assert [list(line.get_xdata()) for line in axis.get_lines() if line.get_label() == "chance"] == [[0.5, 0.5]]


def test_a_crash_is_marked_where_it_was_last_measured(built):
    """Crosses at the last measurement not after the crash; survivors are dotted and have none, and neither has what did not learn."""
    axis = built["warning"].axes[1]
    marks = [line.get_xydata()[0].tolist() for line in axis.get_lines() if line.get_marker() == "x"]
    assert marks == [[20, 0.6], [20, 0.8]]
    dashes = {line.get_label(): line.get_linestyle() for line in axis.get_lines()}
    assert dashes["fell"] == "-" and dashes["survived"] != "-"
    assert [line.get_linestyle() for line in axis.get_lines() if len(line.get_xdata()) > 2].count("-") == 3
    assert [list(line.get_xdata()) for line in axis.get_lines() if line.get_label() == "readings taken"] == [[15, 15]]


def test_sampled_shares_have_exact_intervals(built):
    """Of six, none, three and all; a value that nothing was sampled at has no point."""
    axis = built["sampling"].axes[0]
    low, full = (next(line for line in axis.get_lines() if line.get_label() == sample.label) for sample in SAMPLES)
    assert low.get_xydata().tolist() == [[1, 0], [10, 0.5], [100, 1]] and full.get_xydata().tolist() == [[1, 0], [10, 0]]
    ends = [bar[:, 1] for bar in bars(axis, "_")]
    assert len(ends) == 5 and np.allclose(ends, [EXACT[count] for count in (0, 3, 6, 0, 0)], atol=1e-6)


def test_samples_differ_without_colour():
    """Line and marker tell the samples apart in black and white, and more samples than looks are refused."""
    assert len({str(look.dash) for look in figures_spectral.SAMPLES}) == len({look.marker for look in figures_spectral.SAMPLES}) == 4
    with pytest.raises(ValueError, match="6 samples, 4 looks"):
        figures_spectral.draw_sampling({"too many": SAMPLES * 3})
    plt.close("all")


def test_nothing_is_cut_off(built):
    """Every point lies within its panel, and one legend stands below all panels."""
    for name, figure in built.items():
        assert len(figure.legends) == 1 and not any(axis.get_legend() for axis in figure.axes)
        for axis in figure.axes:
            (left, right), (low, high) = sorted(axis.get_xlim()), sorted(axis.get_ylim())
            for line in axis.get_lines():
                if line.get_transform() is axis.transData and len(line.get_xdata()):
                    x, y = line.get_xydata().T
                    assert left <= x.min() and x.max() <= right and low <= y.min() and y.max() <= high, (name, line.get_label())


def test_drawn_twice_is_the_same_bytes(tmp_path):
    """PDF and SVG, byte for byte."""
    found = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        with plt.rc_context(looks.STYLE):
            for name, figure in build().items():
                looks.write(folder / f"{name}.pdf", figure)
        found.append(read_folder(folder))
    assert found[0] == found[1] and len(found[0]) == 6
