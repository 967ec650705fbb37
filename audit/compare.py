"""`audit compare`: quantity by quantity, do these records agree with the committed ones within their own tolerance?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from audit.context import Context
from audit.finding import FOUND, HOLDS, Refusal, escape
from audit.history import History, call_git
from audit.load import parse_json, parse_yaml, read_bytes
from audit.quantities import walk_quantities

__all__ = ["Comparison", "Difference", "compare_records", "main"]

State = Literal["within", "beyond", "only here", "only there"]


@dataclass(frozen=True)
class Difference:
    """One quantity (or text, such as a verdict) that differs."""

    place: str
    """`path:key`."""
    there: float | int | str | None
    here: float | int | str | None
    tolerance: float
    state: State
    flipped: bool = False
    """A count or a verdict: what a reader would call another outcome."""


@dataclass(frozen=True)
class Comparison:
    """Everything that was compared."""

    quantities: int
    identical: int
    differences: tuple[Difference, ...]

    def count(self, *states: State) -> int:
        return sum(difference.state in states for difference in self.differences if not isinstance(difference.here, str))

    @property
    def agrees(self) -> bool:
        """Whether every quantity agrees within its tolerance and no verdict flipped."""
        return not any(difference.state != "within" for difference in self.differences)


def compare_records(there: dict[str, Any], here: dict[str, Any]) -> Comparison:
    """Compare plain records by path; the tolerance is that of the committed record."""
    differences: list[Difference] = []
    quantities = identical = 0
    for path in sorted(there.keys() | here.keys()):
        old, new = (dict(walk_quantities(side.get(path))) if path in side else {} for side in (there, here))
        for key in sorted(old.keys() | new.keys()):
            quantities += 1
            difference = compare_quantity(f"{path}:{key}", old.get(key), new.get(key))
            if difference is None:
                identical += 1
            else:
                differences.append(difference)
        differences += compare_verdicts(path, there.get(path), here.get(path))
    return Comparison(quantities, identical, tuple(differences))


def compare_quantity(place: str, old: Any, new: Any) -> Difference | None:
    """One quantity on both sides; None where it is the same."""
    if old is None or new is None:
        return Difference(place, value_of(old), value_of(new), 0, "only there" if new is None else "only here")
    tolerance = float(old.get("tolerance", 0))
    pairs = [(old["value"], new["value"])]
    before, after = old.get("values"), new.get("values")
    if (before is None) != (after is None) or len(before or ()) != len(after or ()):
        return Difference(place, old["value"], new["value"], tolerance, "beyond", flipped=True)
    pairs += zip(before or (), after or (), strict=True)
    if all(same(left, right) for left, right in pairs):
        return None
    counted = old.get("summary") in ("count", "share") or old.get("style") == "integer"
    beyond = not close(old["value"], new["value"], tolerance)
    return Difference(
        place, old["value"], new["value"], tolerance, "beyond" if beyond else "within", flipped=counted and old["value"] != new["value"]
    )


def value_of(quantity: Any) -> float | int | None:
    return None if quantity is None else quantity["value"]


def same(left: float, right: float) -> bool:
    return left == right


def close(left: float, right: float, tolerance: float) -> bool:
    """Within the tolerance, as the decimal texts of the records say it."""
    from decimal import Decimal

    return abs(Decimal(repr(left)) - Decimal(repr(right))) <= Decimal(repr(tolerance))


def compare_verdicts(path: str, old: Any, new: Any) -> Iterator[Difference]:
    """Predictions whose verdict is another one."""
    rows = [
        {row["id"]: row["verdict"] for row in side["predictions"]} for side in (old, new) if isinstance(side, dict) and side.get("kind") == "verdicts"
    ]
    if len(rows) == 2:
        for name in sorted(rows[0].keys() | rows[1].keys()):
            before, after = rows[0].get(name), rows[1].get(name)
            if before != after:
                yield Difference(f"{path}:{name}", before or "absent", after or "absent", 0, "beyond", flipped=True)


def records_below(context: Context, root: Path) -> dict[str, Any]:
    """The records of a folder that holds the project, or another checkout of it, by path."""
    paths = Context(root, context.config).record_paths
    return {path: parse_json(read_bytes(root / path), path) for path in paths}


def resolve(context: Context, revision: str) -> str:
    """The commit a revision names."""
    if not revision.startswith("-"):
        code, shown = call_git(context.root, "rev-parse", "--verify", "-q", f"{revision}^{{commit}}", answers=(0, 1, 128))
        if code == 0:
            return shown.decode().strip()
    raise Refusal(revision, "no such commit", cure="give a branch, tag or commit of this repository")


def files_at(history: History, commit: str, folder: str) -> Iterator[str]:
    """Every plain file below a folder in a commit, sorted."""
    for path in sorted(history.names_at(commit, folder)):
        if history.blob_at(commit, path):
            yield path
        else:
            yield from files_at(history, commit, path)


def committed(context: Context, revision: str) -> tuple[dict[str, Any], Any]:
    """The records and the parameters that a commit holds."""
    history, results = context.history, context.config.paths.results
    commit = resolve(context, revision)
    records: dict[str, Any] = {}
    files = frozenset(files_at(history, commit, results))
    for path in sorted(files):
        if path.endswith(".json") and context.is_record(path, files):
            records[path] = parse_json(history.bytes_at(commit, path) or b"", f"{revision}:{path}")
    data = history.bytes_at(commit, context.config.paths.parameters)
    return records, parse_yaml(data, f"{revision}:{context.config.paths.parameters}") if data else {}


def scale_of(parameters: Any) -> Any:
    return parameters.get("scale") if isinstance(parameters, dict) else None


def main(revision: str, other: str | None, form: str) -> int:
    """Compare the records here (or in another checkout) with the committed ones; 0 where they agree, else 1."""
    context = Context.open()
    there, parameters = committed(context, revision)
    here, here_parameters = dict(context.records), context.parameters
    if other is not None:
        root = Path(other)
        if not (root / context.config.paths.results).is_dir():
            raise Refusal(other, f"no folder {context.config.paths.results} there", expected="a checkout of this project")
        file = root / context.config.paths.parameters
        here, here_parameters = records_below(context, root), parse_yaml(read_bytes(file), file) if file.is_file() else {}
    if not there:
        raise Refusal(revision, "holds no records", cure="name a commit that holds results")
    scales = scale_of(parameters), scale_of(here_parameters)
    if scales[0] != scales[1]:
        print(
            json.dumps({"kind": "comparison", "version": 1, "scale": list(scales), "compared": False})
            if form == "json"
            else f"another scale ({scales[1]}, committed {scales[0]}), nothing compared"
        )
        return HOLDS
    comparison = compare_records(there, here)
    print(as_json(comparison) if form == "json" else "\n".join(map(escape, as_text(comparison))))
    return HOLDS if comparison.agrees else FOUND


def as_text(comparison: Comparison) -> Iterator[str]:
    """One line a difference, then flipped outcomes, then the sum."""
    for found in comparison.differences:
        yield f"{found.state:10}  {found.place}  {found.there} -> {found.here}  (tolerance {found.tolerance})"
    flipped = [found.place for found in comparison.differences if found.flipped]
    if flipped:
        yield f"flipped counts and verdicts: {', '.join(flipped)}"
    beyond = comparison.count("beyond", "only here", "only there")
    yield f"{comparison.quantities} quantities: {comparison.identical} identical, {comparison.count('within')} within tolerance, {beyond} beyond"


def as_json(comparison: Comparison) -> str:
    """The comparison as one JSON object."""
    rows = [asdict(found) for found in comparison.differences]
    head = {
        "kind": "comparison",
        "version": 1,
        "compared": True,
        "agrees": comparison.agrees,
        "quantities": comparison.quantities,
        "identical": comparison.identical,
    }
    return json.dumps({**head, "differences": rows}, indent=1, ensure_ascii=False)
