from pathlib import Path
from statistics import median
from typing import Literal

from audit import gate
from audit.cli import one_line
from audit.records import Quantity, Record, read_json, read_yaml


class Analysis(Record):
    kind: Literal["analysis"] = "analysis"
    version: Literal[1] = 1
    gain: Quantity
    deeper: Quantity


def main():
    seeds, source = read_yaml(Path("params.yaml"))["seed_sets"]["main"], "results/simulate/main.json"
    run = gate.start(stage="analyse", parameters={}, inputs=["params.yaml", source], seed_set="main", set_value=seeds)
    depths = read_json(Path(source))["depths"]
    gains = [long - short for long, short in zip(depths["long"]["values"], depths["short"]["values"])]
    deeper = [int(gain > 0) for gain in gains]
    gain = Quantity(value=median(gains), unit="steps", digits=1, tolerance=0, summary="median", values=gains)
    count = Quantity(value=sum(deeper), digits=0, style="integer", tolerance=0, summary="count", values=deeper)
    run.finish(Analysis(provenance=run.provenance, gain=gain, deeper=count), "results/analyse/main.json")


if __name__ == "__main__":
    with one_line():
        main()
