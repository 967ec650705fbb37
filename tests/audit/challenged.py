"""A project of two short stages that DVC runs, for tests that challenge it; `DVC` leaves one cached file, the rest git carries."""

from __future__ import annotations

REGISTRATION = """\
id: pilot
title: A pilot that can be challenged
holds_for: {scale: laptop, seed_sets.main: pilot}
seeds: {from: seal, sets: {main: 3}}
stages: [train]
freezes: {outputs: [results/calibrate/calibration.json], parameters: [scale, rules]}
primary: P1
predictions:
  - id: P1
    claim: Every network gains.
    metric: {file: results/analyse/main.json, stage: analyse, key: gain}
    comparator: {op: ">", value: 0, units: 3}
    "null": No gain.
  - id: P2
    claim: The gain is large.
    metric: {file: results/analyse/main.json, stage: analyse, key: gain}
    comparator: {op: ">", value: 5}
    "null": A gain of about one.
readings:
  - {when: {P1: met}, text: It gains.}
"""
PARAMETERS = "# the scale\nscale: laptop\nseed_sets: {other: [1, 2], main: pilot} # kept\nrate: 1e-4\nrules: {share: 0.45}\n"
OUTS = "outs: [{1}{{results/{0}.json: {{cache: false, persist: true}}}}, {{results/{0}.run.json: {{cache: false, persist: true}}}}]"
DVC = f"""\
stages:
  train:
    cmd: python -m stages.train
    deps: [stages/train.py]
    params: [seed_sets.main]
    {OUTS.format("train/main", "states, ")}
  analyse:
    cmd: python -m stages.analyse
    deps: [stages/analyse.py, results/train/main.json]
    params: [seed_sets.main]
    {OUTS.format("analyse/main", "")}
"""
TRAIN = """\
from typing import Literal
from audit import gate
from audit.records import Quantity, Record, read_yaml
class Training(Record):
    kind: Literal["training"] = "training"
    version: Literal[1] = 1
    score: Quantity
set_value = read_yaml("params.yaml")["seed_sets"]["main"]
run = gate.start(stage="train", parameters={}, inputs=["params.yaml"], seed_set="main", set_value=set_value)
seeds = run.seeds
open("states", "w").write(repr(seeds))
values = tuple((1 + seed % 997) / 1000 for seed in seeds)
run.finish(Training(provenance=run.provenance, score=Quantity(value=max(values), digits=3, tolerance=0, summary="max", values=values)), "results/train/main.json")
"""
ANALYSE = """\
import json
from typing import Literal
from audit import gate
from audit.records import Quantity, Record, read_yaml
class Analysis(Record):
    kind: Literal["analysis"] = "analysis"
    version: Literal[1] = 1
    gain: Quantity
    best: Quantity
    line: Quantity
    runs: Quantity
    share: Quantity
set_value = read_yaml("params.yaml")["seed_sets"]["main"]
run = gate.start(stage="analyse", parameters={}, inputs=["results/train/main.json"], seed_set="main", set_value=set_value)
values = tuple(json.load(open("results/train/main.json"))["score"]["values"])
def quantity(summary, values):
    value = max(values) if summary == "max" else len(values)
    return Quantity(value=value, digits=4, tolerance=0, summary=summary, values=tuple(values))
best = max(values) / 3
record = Analysis(
    provenance=run.provenance, gain=quantity("max", values), best=Quantity(value=best, digits=4, tolerance=0),
    line=Quantity(value=0.5, digits=1, tolerance=0.01), runs=quantity("count", [1 for value in values]),
    share=Quantity(value=0.45, digits=2, tolerance=0),
)
run.finish(record, "results/analyse/main.json")
"""
