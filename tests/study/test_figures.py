"""Figures: the same records give the same bytes, other records others, and every treatment has its own look."""

from __future__ import annotations

import pytest
from corpora import read_folder

from rankcollapse import figures
from rankcollapse.tables import ARMS

NAMES = ["hysteresis", "path", "treatments"]


def draw(records, out, window=2):
    """The figures of a study's records, by name."""
    figures.draw_all(out, records.calibration, records.collapsed, records.branched, records.paths, window)
    return read_folder(out)


@pytest.fixture(scope="module")
def drawn(study, tmp_path_factory):
    """The tiny study's figures."""
    return draw(study.records, tmp_path_factory.mktemp("figures"))


def test_drawn_twice_is_the_same_bytes(study, drawn, tmp_path):
    """Three vector files without dates, byte for byte the same when drawn again."""
    assert draw(study.records, tmp_path / "again") == drawn
    assert sorted({name.partition(".")[0] for name in drawn}) == NAMES and {f"{name}.pdf" for name in NAMES} <= set(drawn)
    for name, data in drawn.items():
        assert data.startswith(b"%PDF" if name.endswith(".pdf") else b"<?xml")
        assert b"CreationDate" not in data and b"dc:date" not in data


def changed(one, other):
    """The figures that differ, whatever the format."""
    return sorted({name.partition(".")[0] for name in one if one[name] != other[name]})


def test_other_data_is_another_figure(study, drawn, tmp_path):
    """A changed branch changes the figures that show it and no other; a changed path changes its own."""
    record = study.records.branched["deep"]
    rows = [run.model_copy(update={"trajectory": run.trajectory.model_copy(update={"rank": tuple(rank + 0.5 for rank in run.trajectory.rank)})}) for run in record.branches]
    shifted = draw(study.records._replace(branched=study.records.branched | {"deep": record.model_copy(update={"branches": tuple(rows)})}), tmp_path / "rank")
    assert changed(drawn, shifted) == ["hysteresis", "treatments"]
    path = study.records.paths["deep"]
    silent = [event.model_copy(update={"collapsed": event.collapsed.model_copy(update={"qk": (0.0,) * 3})}) for event in path.events]
    closed = draw(study.records._replace(paths=study.records.paths | {"deep": path.model_copy(update={"events": tuple(silent)})}), tmp_path / "path")
    assert changed(drawn, closed) == ["path"]


def test_another_window_is_another_figure(study, drawn, tmp_path):
    """Only the figure that shows trailing medians depends on their window."""
    assert changed(drawn, draw(study.records, tmp_path / "window", window=1)) == ["treatments"]


def test_every_treatment_has_a_look_of_its_own():
    """One entry per arm, no two of the same colour and dash."""
    assert set(figures.ARM_STYLE) == set(ARMS)
    looks = [(colour, dash) for _, colour, dash in figures.ARM_STYLE.values()]
    assert len(set(looks)) == len(looks) == len({label for label, *_ in figures.ARM_STYLE.values()})


def test_curves_are_trailing_medians_with_floors_at_one(study):
    """A curve starts at the first full window and shows a rank at floor as 1."""
    run = study.records.branched["deep"].branches[0].trajectory
    run = run.model_copy(update={"step": tuple(range(7)), "rank": (1.0, 9.0, 2.0, 3.0, 4.0, 5.0, 6.0), "at_floor": (False,) * 6 + (True,)})
    assert figures.smooth_rank(run, 5) == ([4, 5, 6], [3.0, 4.0, 3.0])
    assert figures.smooth_rank(run, 2) == ([1, 2, 3, 4, 5, 6], [5.0, 5.5, 2.5, 3.5, 4.5, 3.0])
