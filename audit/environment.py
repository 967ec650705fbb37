"""The environment of a stage: what its code may see of it, and what of that the run log shows.

A variable can be a switch that no commit knows. So from the gate on a stage sees three kinds only: variables known to steer numerical
libraries and Python (`LOGGED`), those that the project's own code names in quotes or `audit.toml` lists under `environment`, and those that
say where and how one works (`PASSED`: paths, proxies, clusters, credentials). The first two are written into the run log, the third are not,
unless the code names them. Everything else is taken out of `os.environ`, for worker processes too. A list of what is forbidden would always
lack one; a list that passes nothing else would break CUDA, SLURM and proxies. A value that could tell a host, a person, a place or a secret is
logged as the beginning of its SHA-256, which still shows whether two runs had the same. What escapes: a name that code puts together while it
is imported, before the gate.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from audit.digest import sha256_bytes

TOOL = Path(__file__).resolve().parent

LOGGED = re.compile(
    r"(ARROW|ATEN|AUDIT|BLIS|CUBLAS|CUDA|CUDNN|DNNL|DYLD|GOMP|GOTO|HF|HIP|HUGGING_FACE|JAX|KERAS|KMP|LD|MALLOC|MKL|NCCL|NPY|NUMBA|NUMEXPR|NUMPY"
    r"|NVIDIA|OMP|ONEDNN|OPENBLAS|POLARS|PYTORCH|ROCR|TF|TIKTOKEN|TOKENIZERS|TORCH|TORCHINDUCTOR|TRANSFORMERS|TRITON|VECLIB|XLA)_\w+"
    r"|PYTHON\w+|MPL\w+|CC|CXX|CFLAGS|CXXFLAGS|GLIBC_TUNABLES|RANK|LOCAL_RANK|WORLD_SIZE|SOURCE_DATE_EPOCH"
)
PASSED = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|TERM|COLUMNS|LINES|NO_COLOR|PWD|TMPDIR|TEMP|TMP|VIRTUAL_ENV|SSH_AUTH_SOCK|SYSTEMROOT"
    r"|(AWS|AZURE|CONDA|DASK|DVC|GOOGLE|I_MPI|KRB5|LC|LSB|MAMBA|MASTER|MLFLOW|MODULE|OMPI|PBS|PMI|PMIX|PYDANTIC|PYTEST|SBATCH|SGE|SLURM|SSL|UCX|UV"
    r"|WANDB|XDG)_?\w*|\w+_CA_BUNDLE|\w+_proxy|\w+_PROXY"
)
SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)
PLACE = re.compile(r"[/\\~@]")
INJECTING = ("LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "PYTHONHOME")
HIDDEN = "sha256:"


def restrict_environment(root: Path, sources: Iterable[Path], listed: Iterable[str]) -> dict[str, str]:
    """Take what nobody names out of this process's environment; name -> value, as a log may show it, of what may steer the stage."""
    named = {*listed, *names_in(sources)}
    for name in list(os.environ):
        if name not in named and not LOGGED.fullmatch(name) and not PASSED.fullmatch(name):
            del os.environ[name]
    return {name: show(root, name, value) for name, value in sorted(os.environ.items()) if name in named or LOGGED.fullmatch(name)}


def names_in(sources: Iterable[Path]) -> set[str]:
    """What stands in quotes in source files, the tool's own left out, and is the name of a variable that is set."""
    texts = (source.read_bytes() for source in sources if not source.resolve().is_relative_to(TOOL))
    quoted = (name for text in texts for name in re.findall(rb"[\"']([A-Za-z_]\w*)[\"']", text))
    return {name.decode() for name in quoted} & os.environ.keys()


def show(root: Path, name: str, value: str) -> str:
    """A variable's value as a run log may hold it; paths of PYTHONPATH inside the project are relative to its root."""
    if name == "PYTHONPATH":
        entries = [Path(entry).resolve() for entry in value.split(os.pathsep) if entry]
        if all(entry.is_relative_to(root.resolve()) for entry in entries):
            return os.pathsep.join(entry.relative_to(root.resolve()).as_posix() for entry in entries)
    private = SECRET.search(name) or PASSED.fullmatch(name) or PLACE.search(value) or not value.isprintable() or name in ("PYTHONPATH", *INJECTING)
    return f"{HIDDEN}{sha256_bytes(value.encode(errors='surrogateescape'))[:12]}" if private else value


def injected(environment: Mapping[str, str]) -> list[str]:
    """Variables of a logged environment that bring code from outside the project into the process."""
    elsewhere = environment.get("PYTHONPATH", "").startswith(HIDDEN)
    return [name for name in INJECTING if environment.get(name)] + (["PYTHONPATH"] if elsewhere else [])
