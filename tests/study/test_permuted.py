"""Each prediction about the replication can lose: with labels exchanged in a study made by hand it is missed."""

from __future__ import annotations

import json

import pytest
from made_events import CALIBRATION, PROVENANCE, SCALE
from permuted import PATH_WORLDS
from test_path_tests import FITTED, REPLICATION
from test_registrations import REGISTRATIONS

from audit.records import record_bytes
from audit.verdict import judge
from rankcollapse.arm_records import SetRecords
from rankcollapse.path_tests import evaluate_path, forecast_set

OWNERS = {name: owner for owner in ("path-1", "delay-1", "ageing-1", "order-1") for name in (row.id for row in REGISTRATIONS[owner].predictions)}


def judge_world(records: SetRecords) -> dict[str, str]:
    """Prediction -> verdict of what came of a replication, its forecasts made anew from what was read."""
    forecast = forecast_set(PROVENANCE, SCALE, records.readings, FITTED)
    record = json.loads(record_bytes(evaluate_path(PROVENANCE, SCALE, CALIBRATION, records, FITTED, forecast)))
    return {row.prediction.id: row.verdict for owner in set(OWNERS.values()) for row in judge(REGISTRATIONS[owner], lambda _: record)}


def test_each_prediction_has_its_world():
    """None of these registrations is left out in part; what the study made by hand misses as it is needs none."""
    assert set(PATH_WORLDS) == set(OWNERS)
    assert {name for name, verdict in judge_world(REPLICATION).items() if verdict == "met"} == set(PATH_WORLDS) - {"P1"}


@pytest.mark.parametrize("name", PATH_WORLDS)
def test_prediction_is_missed_in_its_world(name):
    """Exchanging labels turns what was met into missed."""
    assert judge_world(PATH_WORLDS[name](REPLICATION))[name] == "missed"
