"""Where stacks are trained: devices and workers, which decide no result, as `params.yaml` names them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from audit.records import Frozen


class Hardware(Frozen):
    """What a stack is trained on: `auto` is a GPU where there is one; the precision is that of the trunk on a GPU."""

    device: Literal["cpu", "cuda", "auto"] = "cpu"
    precision: Literal["float32", "tf32", "bf16"] = "float32"
    graph: bool = False
    """Whether a GPU's step is captured as one CUDA graph."""


class Fanout(Frozen):
    """Who trains the stacks: processes of this machine, or a Dask cluster. It decides no result."""

    kind: Literal["local", "dask"] = "local"
    workers: Annotated[int, Field(ge=1)] | None = None
    """At most this many processes at a time; without it, one a core."""
    scheduler: str | None = None
    """Address of a running Dask scheduler."""
    slurm: dict[str, str | int | list[str]] | None = None
    """Arguments of dask_jobqueue.SLURMCluster, and `jobs`, how many of them to start."""
    gpus: Annotated[int, Field(ge=0)] = 0
    """GPUs a stack needs, as workers announce them (`--resources GPU=1`)."""
    keep: bool = True
    """Whether a stage's finished stacks stay in `.checkpoints` when its record is written, so that an added seed trains only its own blocks."""

    @model_validator(mode="after")
    def one_cluster(self) -> Fanout:
        if self.kind == "dask" and (self.scheduler is None) == (self.slurm is None):
            raise ValueError("scheduler or slurm, one of them, for kind: dask")
        return self
