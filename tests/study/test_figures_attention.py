"""From the records of attention's spectra to figures: every network once, at its own loss and fate, arms in the order of their looks."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pytest
from corpora import read_folder
from made_spectral import OTHERS, PLAIN, drawn_maps, spectral_results, spectral_runs

from rankcollapse import figures_attention, looks
from rankcollapse.figures_attention import Attention

RUNS, RESULTS, DRAWN = spectral_runs(), spectral_results(), drawn_maps()


def test_arms_in_the_order_of_their_looks():
    """Plain, warm-up, caps by their tau, then the others; each network with its fate and its last loss."""
    arms = figures_attention.list_survivals(RUNS, RESULTS)
    labels = [arm.look.label for arm in arms]
    caps = [rf"AdamW$^2$, $\tau={tau}$" for tau in (0.03, 0.3)]
    assert labels == ["AdamW", "AdamW with warm-up", "AdamW at a lower rate", *caps, r"$\sigma$Reparam", "query-key norm", "QK-clip"]
    assert arms[0].survived == tuple(fate == "learns" for fate in PLAIN) and arms[0].losses == (4.0, 5.3, 4.0, 5.6, 4.0, None)
    assert [arm.survived for arm in arms[1:]] == [(fate == "learns",) * 2 for fate in OTHERS.values()]


def test_readings_by_their_names():
    """What learns has the lower values: every reading that forewarns from above is right about every pair, from below about none."""
    areas = {predictor.label: predictor.auc for predictor in figures_attention.list_predictors(RESULTS)}
    assert len(areas) == len(figures_attention.READINGS) and (areas["mean SEC"], areas["largest logit"], areas["mean entropy"]) == (1.0, 1.0, 0.0)
    assert areas["rank"] == areas["residual"] == 0.5


def test_courses_are_those_of_the_plain_arm():
    """By seed: the concentration, whether the run fell, and where it crashed if it did."""
    courses = figures_attention.list_courses(RUNS, RESULTS)
    assert [course.fell for course in courses] == [fate != "learns" for fate in PLAIN]
    assert [course.crashed_at for course in courses] == [None, None, None, 6, None, 8]
    assert courses[1].values[:2] == (0.6, 0.61) and courses[0].steps == tuple(range(9))


def test_courses_of_another_reading():
    """That reading's values, and no cross where crashes are not what counts."""
    run = RUNS.runs[0].trajectory
    other = RUNS.runs[0].model_copy(update={"trajectory": run.model_copy(update={"extra": run.extra | {"entropy_mean": (0.125,) * 9}})})
    runs = RUNS.model_copy(update={"runs": (other, *RUNS.runs[1:])})
    courses = figures_attention.list_courses(runs, RESULTS, "entropy_mean", crosses=False)
    assert [course.values for course in courses] == [(0.125,) * 9, *(row.trajectory.extra["entropy_mean"] for row in RUNS.runs[1:6])]
    assert [(course.crashed_at, course.fell) for course in courses] == [(None, fate != "learns") for fate in PLAIN]


def test_samples_without_a_mask_and_with_one():
    """Four curves a panel, told by their ranks."""
    panels = figures_attention.list_samples(DRAWN)
    assert list(panels) == ["without a mask", "causal"] and [sample.found for sample in panels["causal"]] == [(0, 10)] * 3 + [(0, 1)]
    assert [sample.label for sample in panels["causal"]][1:3] == ["tokens of rank 2, product of rank 8", "tokens of full rank, product of rank 1"]


def test_the_figures_are_the_same_bytes_twice(tmp_path):
    """Four figures, PDF and SVG."""
    found = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        with plt.rc_context(looks.STYLE):
            figures_attention.draw_attention(folder, Attention(RUNS, RESULTS, DRAWN, RUNS, RESULTS))
        found.append(read_folder(folder))
    assert found[0] == found[1] and sorted(found[0]) == [f"{name}.{kind}" for name in ("restart", "sampling", "survival", "warning") for kind in ("pdf", "svg")]


def test_an_arm_without_a_look_is_not_left_out():
    """It stops the drawing."""
    strange = RESULTS.model_copy(update={"survival": RESULTS.survival | {"strange": RESULTS.survival["sigma"]}})
    with pytest.raises(ValueError, match="strange"):
        figures_attention.list_survivals(RUNS, strange)
