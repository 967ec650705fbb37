import random
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import Literal

from audit import gate
from audit.cli import one_line
from audit.records import Quantity, Record, read_yaml


class Simulation(Record):
    kind: Literal["simulation"] = "simulation"
    version: Literal[1] = 1
    depths: dict[str, Quantity]


def main():
    params = read_yaml(Path("params.yaml"))
    run = gate.start(stage="simulate", parameters=params["steps"], inputs=["params.yaml"], seed_set="main", set_value=params["seed_sets"]["main"])
    depths = {}
    for name, steps in params["steps"].items():
        walks = [random.Random(f"{name} {seed}").choices((-1, 1), k=steps) for seed in run.seeds]
        values = [-min(accumulate(walk, initial=0)) for walk in walks]  # how deep each walk went
        depths[name] = Quantity(value=median(values), unit="steps", digits=1, tolerance=0, summary="median", values=values)
    run.finish(Simulation(provenance=run.provenance, depths=depths), "results/simulate/main.json")


if __name__ == "__main__":
    with one_line():
        main()
