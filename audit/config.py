"""Where a project keeps its things: `audit.toml`, a closed schema."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Literal

from audit.finding import Refusal
from audit.load import read_bytes
from audit.records import Frozen, parse_model

NAME = "audit.toml"


class Paths(Frozen):
    """Places of the project, relative to its root."""

    prereg: str = "prereg"
    results: str = "results"
    schemas: str = "schemas"
    parameters: str = "params.yaml"
    manuscript: str = "manuscript/paper.tex"
    generated: str = "manuscript/generated"
    pdf: str = "manuscript/paper.pdf"
    exemptions: str = "manuscript/exemptions.yaml"
    sources: tuple[str, ...] = ("audit", "src", "stages")
    """Folders with the project's own code: its loaded modules are logged and must lie in the checkout."""
    lock: str = "requirements.lock"
    """Pins of the packages (`name==version`) that runs under a seal must have; compared where the project has such a file."""

    def findings(self) -> str:
        """The file the DVC stage `audit` writes; not a record."""
        return f"{self.results}/audit/findings.json"


class Config(Frozen):
    """The whole of `audit.toml`."""

    version: Literal[1]
    paths: Paths = Paths()
    records: dict[str, str] = {}
    """Name under which a record's quantities may be cited -> the record's path."""
    environment: tuple[str, ...] = ()
    """Environment variables, beyond those that the project's code names in quotes, that stages may see and run logs show."""
    foreign: tuple[str, ...] = ()
    """Modules of neither project nor packages (`_virtualenv`), and variables that bring in code (`LD_PRELOAD`), that are known and meant: a note."""


def find_root(start: Path | None = None) -> Path:
    """The nearest folder, from `start` upwards, that holds `audit.toml`."""
    here = Path(start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / NAME).is_file():
            return folder
    raise Refusal(here, f"no {NAME} here or above", cure="run inside a project, or write audit.toml with `version = 1`")


def load_config(root: Path) -> Config:
    """Read `audit.toml`; an unknown key, a wrong type or a path that leaves the project is refused."""
    try:
        value = tomllib.loads(read_bytes(root / NAME).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refusal(NAME, "not readable as TOML", observed=str(error)) from None
    config = parse_model(Config, value, NAME)
    for path in (*_each_path(config.paths), *config.records.values()):
        if Path(path).is_absolute() or ".." in Path(path).parts:
            raise Refusal(NAME, "a path leaves the project", observed=path, expected="a path relative to the project's root")
    for name, path in config.records.items():
        if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
            raise Refusal(NAME, f"a record's name {name!r} cannot begin a key", expected="letters, digits, underscores", cure="rename it under [records]")
        refuse_strange_record(config, path, NAME)
    return config


def refuse_strange_record(config: Config, path: str, place: str) -> None:
    """Refuse a record where no check would look for it."""
    if not path.startswith(f"{config.paths.results}/") or not path.endswith(".json"):
        cure = f"write it there, or name another folder as paths.results in {NAME}"
        raise Refusal(place, "names a record where no check looks", expected=f"{config.paths.results}/**.json", observed=path, cure=cure)


def _each_path(paths: Paths) -> list[str]:
    flat: list[str] = []
    for value in paths.model_dump().values():
        flat.extend([value] if isinstance(value, str) else value)
    return flat
