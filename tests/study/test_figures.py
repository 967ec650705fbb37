"""Figures: the same records give the same bytes, every treatment has its own look, nothing is cut off, and what did not recover is crossed out."""

from __future__ import annotations

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from corpora import read_folder, refusal
from courses import RULES, SAVED, flat, row
from invented import invent
from made_pure import pure_record

from rankcollapse import curves, figures, figures_bursts, figures_forces, figures_path, figures_pure, looks
from rankcollapse.curves import Bursts, Time, find_opening, list_cells, recovery_time
from rankcollapse.looks import ARMS
from rankcollapse.treatments import list_arms

NAMES = ["bursts", "delays", "driver", "forces", "hysteresis", "path", "prediction", "pure", "treatments"]
THRESHOLDS = {"shallow": 8e-6, "deep": 6e-6}


@pytest.fixture(scope="module")
def records():
    """A small study that never ran: two seeds a set, one of them with every arm."""
    return invent(seeds=2, depths=(3, 9), few=1)


def draw(records, out, **changes):
    """All figures as files, by name."""
    bursts = Bursts(records.excursions, records.continuations, records.development, records.openings)
    parts = {"main": records.main, "replication": records.replication, "synthetic": records.synthetic, "bursts": bursts, "pure": pure_record()} | changes
    figures.draw_all(out, records.calibration, **parts, rules=RULES, thresholds=THRESHOLDS)
    return read_folder(out)


def build(records, replication=True, **burst):
    """All figures as matplotlib holds them, by name."""
    cells = list_cells(records.calibration, records.main, records.replication if replication else None)
    bursts = Bursts(records.excursions, records.continuations, **{"development": records.development, "openings": records.openings} | burst)
    with plt.rc_context(looks.STYLE):
        return {
            "driver": figures.draw_driver([cell for cell in cells if cell.first], RULES),
            "treatments": figures.draw_treatments(cells, RULES),
            "path": figures_path.draw_path(cells),
            "hysteresis": figures.draw_hysteresis(cells, RULES),
            "delays": figures.draw_delays(cells, RULES),
            "forces": figures_forces.draw_forces(cells, records.synthetic),
            "prediction": figures.draw_prediction(cells, RULES, THRESHOLDS),
            "bursts": figures_bursts.draw_bursts(bursts, cells, records.calibration.deep, RULES),
            "pure": figures_pure.draw_pure(pure_record()),
        }


@pytest.fixture(scope="module")
def built(records):
    """Every figure with every panel."""
    yield (found := build(records))
    for figure in found.values():
        plt.close(figure)


@pytest.fixture(scope="module")
def drawn(records, tmp_path_factory):
    """Every figure as files."""
    return draw(records, tmp_path_factory.mktemp("figures"))


def test_drawn_twice_is_the_same_bytes(records, drawn, tmp_path):
    """Nine figures, each as PDF and SVG without a date, byte for byte the same when drawn again."""
    assert draw(records, tmp_path / "again") == drawn
    assert sorted(drawn) == sorted(f"{name}.{form}" for name in NAMES for form in ("pdf", "svg"))
    for name, data in drawn.items():
        assert data.startswith(b"%PDF" if name.endswith(".pdf") else b"<?xml")
        assert b"CreationDate" not in data and b"dc:date" not in data


def test_only_changed_records_change_a_figure(records, drawn, tmp_path):
    """Without replication and bursts, the figures that show them lose panels; what shows neither stays as it is."""
    less = draw(records, tmp_path, replication=None, bursts=None)
    assert not {"bursts.pdf", "bursts.svg"} & set(less)
    assert [name for name in NAMES if less.get(f"{name}.svg") == drawn[f"{name}.svg"]] == ["driver", "pure"]


def test_panels_of_absent_sets_are_left_out(records, built):
    """A column a set and depth; the replication's are gone without it, and the bursts' predictor without its readings."""
    fewer = build(records, replication=False, openings=None, development=None)
    counts = {name: (len(built[name].axes), len(fewer[name].axes)) for name in NAMES}
    assert counts == {
        "driver": (8, 8), "treatments": (16, 8), "path": (4, 4), "hysteresis": (4, 2), "delays": (2, 2), "forces": (4, 4), "prediction": (4, 4), "bursts": (3, 2), "pure": (6, 6),
    }  # fmt: skip
    assert any("replication" in text for text in read_texts(built["delays"])) and not any(
        "replication" in text for text in read_texts(fewer["delays"])
    )
    assert "development" in " ".join(read_texts(built["bursts"])) and "development" not in " ".join(read_texts(fewer["bursts"]))
    for figure in fewer.values():
        plt.close(figure)


def test_every_treatment_has_a_look_of_its_own(records):
    """Every arm there is, no two of one colour, of one dash or of one name; markers differ within a row of the figure of treatments."""
    arms = set(list_arms(laptop()))
    assert arms and arms <= set(ARMS)
    for part in ("colour", "label"):
        assert len({getattr(look, part) for look in ARMS.values()}) == len(ARMS), part
    assert len({str(look.dash) for look in ARMS.values()}) == len(ARMS)
    for group in (looks.ADDED, looks.SWITCHED, looks.AGED):
        assert len({look.marker for look in group.values()}) == len(group)


def laptop():
    """The scale of the study's own parameters."""
    from rankcollapse.params import load_params

    return load_params().chosen


def test_a_treatment_looks_the_same_in_every_figure(built):
    """Whatever carries a treatment's label has its colour."""
    colours = {look.label: look.colour for look in ARMS.values()}
    found = {}
    for figure in built.values():
        for axis in figure.axes:
            for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
                if label in colours:
                    found.setdefault(label, set()).add(handle.get_color())
    assert found.keys() >= {"reversed ramp", "switch to 0.3", "first delay, then switched"}
    assert all(seen == {colours[label]} for label, seen in found.items())


def test_nothing_is_cut_off(built):
    """Every point lies within its panel, so that none outside of it stretches an axis; no legend stands in a panel."""
    for name, figure in built.items():
        assert len(figure.legends) == 1 and not any(axis.get_legend() for axis in figure.axes)
        for axis in figure.axes:
            low, high = axis.get_ylim()
            left, right = axis.get_xlim()
            for line in axis.get_lines():
                if line.get_transform() is axis.transData:
                    x, y = (np.asarray(line.get_data()[place], dtype=float) for place in (0, 1))
                    assert ((y >= low) & (y <= high) | np.isnan(y)).all(), (name, axis.get_title(), line.get_label())
                    assert ((x >= left) & (x <= right)).all(), (name, axis.get_title())


def read_texts(figure):
    """Titles, labels and legend entries of a figure, and labels of named ticks."""
    named = [text.get_text() for axis in figure.axes for text in (axis.title, axis.xaxis.label, axis.yaxis.label)]
    ticks = [
        text.get_text()
        for axis in figure.axes
        for text in (*axis.get_xticklabels(), *axis.get_yticklabels())
        if re.search("[a-z]{4}", text.get_text())
    ]
    return named + [text.get_text() for legend in figure.legends for text in legend.get_texts()] + [text for text in ticks if "math" not in text]


def test_text_holds_no_measured_number(built):
    """What is written holds settings only: depths, skip scales, floors, multiples, updates replayed, and slopes of lines."""
    settings = {"3", "9", "4", "0.3", "0.6", "1", "10", "0.04", "0.02", "0.01", "0.005", "20", "2", "0.5", "0.2", "0.1", "0.05"}
    for name, figure in built.items():
        texts = [re.sub(r"\$m_[12]\$", "", text) for text in read_texts(figure)]
        assert len(texts) > 4
        assert {number for text in texts for number in re.findall(r"\d+(?:\.\d+)?", text)} <= settings, name


def test_panels_are_labelled(built):
    """Outer panels say what their axes are, with a unit where there is one."""
    for name, figure in built.items():
        assert any(axis.get_xlabel() for axis in figure.axes) and any(axis.get_ylabel() for axis in figure.axes), name
    labels = {text for figure in built.values() for text in read_texts(figure)}
    assert {"loss, nats per token", "steps to recovery", "steps since switch-on", "block", r"skip scale $\alpha$"} <= labels


def test_censored_point_is_crossed_out_above_the_budget():
    """A run that did not recover has its own mark, and a cross on it, above the budget; one that did has no cross."""
    figure, axis = plt.subplots()
    run = row("switch_03/1", range(100, 131, 2), flat(0.3), flat(1.0), flat(5.0), np.random.default_rng(0))
    budget = looks.draw_budget(axis, [run])
    assert budget == 30
    looks.draw_time(axis, 1.0, Time(12, True), ARMS["switch_03"], True, budget)
    looks.draw_time(axis, 2.0, Time(12, False), ARMS["switch_03"], False, budget)
    points = [(line.get_marker(), *line.get_xydata()[0].tolist()) for line in axis.get_lines()[1:]]
    assert points == [("o", 1.0, 30 * looks.ABOVE), ("x", 1.0, 30 * looks.ABOVE), ("o", 2.0, 12.0)]
    assert axis.get_lines()[3].get_markerfacecolor() == "white" and axis.get_ylim()[1] > 30 * looks.ABOVE
    plt.close(figure)


def test_crosses_of_the_delays_are_the_runs_that_did_not_recover(records, built):
    """In the figure there are as many crosses as runs that the rule never found recovered."""
    cells = list_cells(records.calibration, records.main, records.replication)
    never = sum(recovery_time(run, cell.recover, RULES).censored for cell in cells for arm in figures.TIMED for run in cell.of_arm(arm))
    crosses = [line for axis in built["delays"].axes for line in axis.get_lines() if line.get_marker() == "x"]
    assert len(crosses) == never > 0


def test_wrong_predictions_have_a_ring(records, built):
    """A ring for every network that recovered below the threshold or failed to above it."""
    wrong = 0
    for cell in list_cells(records.calibration, records.main, records.replication):
        for run in cell.of_arm("switch_weak"):
            wrong += (find_opening(cell, run) >= THRESHOLDS[cell.role]) == recovery_time(run, cell.recover, RULES).censored
    rings = [line for axis in built["prediction"].axes for line in axis.get_lines() if line.get_label() == "wrong prediction"]
    assert len(rings) == wrong > 0


def test_groups_of_treatments_hold_every_arm_once():
    """No arm is left out of the figure of treatments, none is in two rows, and the penalties and hinges have an axis of their own below the ramp's."""
    assert sorted(arm for arms in figures.GROUPS.values() for arm in arms) == sorted(ARMS)
    first, second = list(figures.GROUPS.values())[:2]
    assert all(arm.startswith(("penalty", "hinge")) for arm in first) and {"ramp", "untreated", "cosine_1x"} <= set(second)


def test_losses_have_axes_of_their_own(built):
    """The row of penalties and hinges ends at their budget, the others share one end; ranks there fill the panel."""
    axes = np.array(built["treatments"].axes).reshape(4, 4)
    ends = [[axis.get_xlim()[1] for axis in row] for row in axes]
    assert max(ends[0]) < 130 < 340 <= min(ends[1]) and len({end for row in ends[1:] for end in row}) == 1
    assert max(axis.get_ylim()[1] for axis in axes[0]) < min(axis.get_ylim()[1] for axis in axes[1])


def test_floors_show_the_last_measurements(records, built):
    """A point a network at its floor, filled for drivers and open for healthy ones: the median of the last window, its bar from least to most."""
    axis, cell = built["driver"].axes[6], list_cells(records.calibration, records.main, None)[0]
    ends = [curves.ranks_of(run.trajectory)[-RULES.settle_window :] for run in cell.healthy.runs]
    dots = [line for line in axis.get_lines() if line.get_marker() in ("s", "o") and len(line.get_xdata())]
    assert sorted(float(line.get_ydata()[0]) for line in dots) == pytest.approx(sorted(np.median(end) for end in ends))
    bars = sorted(tuple(path.vertices[:, 1]) for part in axis.collections for path in part.get_paths())
    assert np.allclose(bars, sorted((min(end), max(end)) for end in ends))
    assert [text.get_text() for text in axis.get_xticklabels()] == ["0.005", "0.01", "0.02", "0.04", "healthy"]
    filled = {round(float(line.get_xdata()[0])): line.get_markerfacecolor() != "white" for line in dots}
    assert filled == {0: True, 1: True, 2: True, 3: True, 4: False}


def test_switched_gradients_are_over_the_healthy_networks(records, built):
    """Below, the medians of the main set lie where each event's gradient over that of its own healthy network says, and collapse has no line."""
    axis, cell = built["path"].axes[2], list_cells(records.calibration, records.main, None)[0]
    ratios = [np.divide(event.switches[1].task.qk, event.healthy.task.qk) for event in cell.readings()]
    expected = np.median(ratios, axis=0)
    markers = [line for line in axis.get_lines() if line.get_marker() == ARMS["switch_03"].marker and len(line.get_xdata())]
    assert any(np.allclose(line.get_ydata(), expected) and line.get_markerfacecolor() != "white" for line in markers)
    assert not any("collapsed" in line.get_label() for line in axis.get_lines())


@pytest.mark.parametrize("name", ["path", "forces"])
def test_pooled_sets_are_told_apart(records, built, name):
    """Filled and open markers of the two sets, and both in the legend; without a replication all are filled and the legend says main alone."""
    assert {"filled: main", "open: replication"} <= set(read_texts(built[name]))
    draw = {"path": figures_path.draw_path, "forces": lambda cells: figures_forces.draw_forces(cells, records.synthetic)}[name]
    fewer = draw(list_cells(records.calibration, records.main, None))
    assert "filled: main" in read_texts(fewer) and "open: replication" not in read_texts(fewer)
    open_dots = [
        line
        for axis in fewer.axes[1:]
        for line in axis.get_lines()
        if line.get_marker() != "None" and line.get_linestyle() == "None" and line.get_markerfacecolor() == "white" and len(line.get_xdata())
    ]
    assert open_dots == []
    plt.close(fewer)


def test_loss_gaps_are_those_that_the_tests_read(records):
    """Where gaps were read at the end of the bursts, recovery times stand at them, and the axis says which probe; else at the record's own."""
    excursions, first = records.excursions, records.excursions.excursions[0].multiplier
    own = dict(zip(excursions.seeds, excursions.excursions[0].loss_gap, strict=True))
    assert curves.gaps_after(excursions, 0) == {seed: gap for seed, gap in own.items() if gap is not None}
    read = {(first, seed): 0.5 + 0.01 * place for place, seed in enumerate(excursions.seeds)}
    assert curves.gaps_after(excursions, 0, read) == {seed: read[first, seed] for seed in excursions.seeds}
    every = {(m, seed): 0.625 for m in curves.multipliers_of(excursions) for seed in (*excursions.seeds, *records.development.seeds)}
    for gaps, probe in ((None, "rank probe"), (every, "gradient probe")):
        bursts = Bursts(excursions, records.continuations, records.development, gaps=gaps)
        figure = figures_bursts.draw_bursts(bursts, [], records.calibration.deep, RULES)
        axis = figure.axes[1]
        assert probe in axis.get_xlabel()
        if gaps is not None:
            assert {float(x) for line in axis.get_lines() if line.get_marker() in ("o", "D", "^", "v") for x in line.get_xdata()} == {0.625}
        plt.close(figure)


def test_strange_arm_is_refused(records, tmp_path):
    """An arm that no figure knows is not left out in silence."""
    strange = row(f"polish/{11}", range(SAVED, SAVED + 20, 2), flat(1.0), flat(1.0), flat(5.0), np.random.default_rng(0))
    switched = records.main.switched["deep"].model_copy(update={"branches": (strange,)})
    main = records.main._replace(switched={"deep": switched})
    told = refusal(figures.draw_all, tmp_path / "out", records.calibration, main, None, records.synthetic, None, rules=RULES)
    assert "polish" in told and "arms without a look" in told and not (tmp_path / "out").exists()


def empty(records):
    """The same set without a settled collapse in deep networks, and without anything that would follow one."""
    drivers = records.drivers["deep"].model_copy(update={"events": ()})
    treated = records.treated["deep"].model_copy(update={"branches": ()})
    readings = records.readings["deep"].model_copy(update={"events": (), "ends": (), "aged": ()})
    switched = records.switched["deep"].model_copy(update={"branches": (), "replays": ()})
    rest = zip(records, ({"deep": drivers}, {"deep": treated}, {"deep": readings}, {"deep": switched}), strict=True)
    return type(records)(*(part | changed for part, changed in rest))


def test_depth_without_a_collapse_has_empty_panels(records):
    """Drivers are still shown; what needs a collapse shows none, and no figure fails, at a floor of zero neither."""
    main = empty(records.main)
    still = [
        run.model_copy(update={"trajectory": run.trajectory.model_copy(update={"skip": (0.0,) * len(run.trajectory.skip)})})
        for run in main.drivers["deep"].drivers
    ]
    main = main._replace(drivers=main.drivers | {"deep": main.drivers["deep"].model_copy(update={"drivers": tuple(still)})})
    found = build(records._replace(main=main), replication=False)
    assert [len(axis.get_lines()) for axis in found["treatments"].axes[1::2]] == [1, 1, 1, 1]
    assert [len(found[name].axes) for name in ("driver", "path", "forces")] == [8, 4, 3]
    down = next(line for line in found["hysteresis"].axes[1].get_lines() if line.get_label() == "ramped down (driver)")
    assert set(down.get_xdata()) == {curves.LEAST_SKIP}
    for figure in found.values():
        figure.canvas.draw()
        plt.close(figure)
