"""`audit new`: the draft of a registration, guessed from the pipeline and the records, with the places marked that only a person can write."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from typing import Any

from audit.amendment import MARK
from audit.context import Context
from audit.finding import Refusal
from audit.load import write_bytes
from audit.pipeline import DEFINED, body
from audit.quantities import walk_quantities
from audit.registration import parse_registration, refuse_strange_id

DRAFT = """\
{schema}# The draft of a registration: write over every mark, check the rest, then commit and seal it before anything runs on its seeds.
id: {name}
title: {title}
# Elsewhere it is not evaluated. {parameters} must say the same when it is sealed.
holds_for: {holds}
# Number of seeds of each set; the seeds themselves derive from the seal.
seeds: {{from: seal, sets: {sets}}}
# These wait for the committed seal: every stage that makes something from the seeds.
stages: {stages}
# code: the judge. outputs: records that exist already (thresholds, manifests). parameters: dotted keys of {parameters}.
freezes: {{code: [], outputs: {outputs}, parameters: {frozen}}}
primary: P1
predictions:
  - id: P1
    claim: "{mark} one sentence that can lose"
    # {mark} where the number will stand: a quantity of a record, and the stage that writes it.
    metric: {{file: {file}, stage: {stage}, key: {key}}}
    comparator: {{op: ">=", value: 1}} # {mark} >=, >, <=, <, == with value (or than: another key); in with low and high; units: so many of them
    population: {{set: {first}}} # its units: every seed of this set; with `depths: [a, b]` every seed at each of these
    # {mark} chance: that it is met in an uninteresting world; instead, with units, unit_chance: that one unit compares so. Neither where
    # it follows, as against a rival. With `in` and `==` also mde: the smallest effect that would be noticed.
    "null": {{text: "{mark} what an uninteresting world would give", chance: 1}}
readings: # what the verdicts will be taken to mean
  - {{when: {{P1: met}}, text: "{mark} what it means if P1 is met"}}
  - {{when: {{P1: missed}}, text: "{mark} what it means if P1 is missed"}}
"""


def main(name: str, title: str | None) -> None:
    """Write `prereg/<id>.yaml` and say what to do next."""
    context = Context.open()
    folder = context.config.paths.prereg
    path = f"{folder}/{name}.yaml"
    refuse_used(context, name, path)
    data = draft(context, name, title).encode()
    registration = parse_registration(data, path)
    write_bytes(context.root / path, data)
    print(f"wrote the draft {path}: write what is marked {MARK}; a marked draft is not sealed")
    if unmet := registration.unmet(context.parameters):
        print(f"before it is sealed, commit {context.config.paths.parameters} as registered: {unmet}")
    if context.seal_path(name) not in context.pipeline.dependencies:
        print(f"the first of {', '.join(registration.stages)} depends on {context.seal_path(name)}: add it to its deps in {DEFINED}")
    print(f"then: git add {path} && git commit -m 'Register {name}' && audit seal {name}")


def refuse_used(context: Context, name: str, path: str) -> None:
    """Refuse an id that no registration may have, or that one has or ever had."""
    refuse_strange_id(name)
    if (context.root / path).exists() or (context.root / context.seal_path(name)).exists():
        raise Refusal(path, "exists already", cure="edit it while it is not sealed, or take another id")
    if context.history.versions(path) or context.history.versions(context.seal_path(name)):
        raise Refusal(path, "was registered before: history holds it", cure="take another id")


def draft(context: Context, name: str, title: str | None) -> str:
    """The text of the draft."""
    file, stage, key = guess_metric(context)
    sets, stages = guess_sets(context), guess_stages(context, stage, guess_sets(context))
    holds = {f"seed_sets.{seed_set}": name for seed_set in sets} | ({"scale": scale} if (scale := context.parameters.get("scale")) else {})
    schema = f"{context.config.paths.schemas}/registration.json"
    place = os.path.relpath(schema, context.config.paths.prereg) if (context.root / schema).is_file() else ""
    return DRAFT.format(
        schema=f"# yaml-language-server: $schema={place}\n" if place else "",
        mark=MARK, name=name, title=_flow(title or f"{MARK} what is asked, in one line"), parameters=context.config.paths.parameters,
        holds=_flow(holds), sets=_flow(sets), first=_flow(next(iter(sets))), stages=_flow(stages), file=_flow(file), stage=_flow(stage), key=_flow(key),
        outputs=_flow(guess_outputs(context, stages)), frozen=_flow(["scale"] if scale else []),
    )  # fmt: skip


def guess_metric(context: Context) -> tuple[str, str, str]:
    """A record's file, the stage that writes it and the key of a quantity: the last stage that has one."""
    written = {
        path: stage for path, stage in reversed(context.pipeline.uncached.items()) if path.endswith(".json") and not path.endswith(".run.json")
    }
    own = {path for path, record in context.records.items() if record.get("kind") == "verdicts"} | {context.config.paths.findings()}
    files = [path for path, stage in written.items() if path not in own and "audit evaluate" not in _command(context, stage)]
    for file in files:
        key = next((key for key, _ in walk_quantities(context.records.get(file, {}))), "")
        if key:
            return file, written[file], key
    return (files[0], written[files[0]], MARK) if files else (f"{context.config.paths.results}/{MARK}.json", MARK, MARK)


def guess_stages(context: Context, stage: str, sets: Collection[str]) -> list[str]:
    """Stages that depend on a seal already; without any, those up to the metric's that take seeds of these sets, or, where none says so, all;
    never one that is frozen or whose output a seal holds: it is older."""
    stages, own = context.pipeline.stages, stage.partition("@")[0]
    sealed = [
        name for name in stages if any(dep.endswith(".seal.json") for dep in _deps(stages[name])) and "audit evaluate" not in _command(context, name)
    ]
    held = {context.pipeline.uncached.get(path, "").partition("@")[0] for seal in context.seals.values() for path in seal.origins.values()}
    among = {own, *context.pipeline.ancestors(own)} - {name for name in stages if context.pipeline.is_frozen(name)} - held
    upstream = [name for name in stages if name in among]
    seeded = [name for name in upstream if any(_takes(str(key), sets) for key in body(stages[name]).get("params") or ())]
    return sealed or seeded or upstream or [own]


def _takes(key: str, sets: Collection[str]) -> bool:
    """Whether a parameter of a stage may be one of these seed sets."""
    return key == "seed_sets" or key.startswith("seed_sets.${") or key.removeprefix("seed_sets.") in sets


def guess_outputs(context: Context, stages: list[str]) -> list[str]:
    """Records that the waiting stages read and do not write."""
    writers = {path: writer.partition("@")[0] for path, writer in context.pipeline.uncached.items()}
    read = {dep for name in stages for dep in _deps(context.pipeline.stages.get(name, {})) if dep in context.records}
    return sorted(path for path in read if writers.get(path) not in stages)


def guess_sets(context: Context) -> dict[str, int]:
    """The seed sets that runs use now, with their sizes; five seeds of `main` where nothing says so."""
    found = context.parameters.get("seed_sets") if isinstance(context.parameters, Mapping) else None
    named = {str(name): value for name, value in found.items() if isinstance(value, str)} if isinstance(found, Mapping) else {}
    counts = {name: context.registrations[value].seeds.sets.get(name, 5) for name, value in named.items() if value in context.registrations}
    lists = {str(name): len(value) for name, value in found.items() if isinstance(value, list) and value} if isinstance(found, Mapping) else {}
    return counts or lists or {"main": 5}


def _deps(definition: Mapping[str, Any]) -> list[str]:
    return [dep if isinstance(dep, str) else str(next(iter(dep), "")) for dep in body(definition).get("deps") or ()]


def _command(context: Context, stage: str) -> str:
    return str(body(context.pipeline.definition(stage)).get("cmd", ""))


def _flow(value: Any) -> str:
    """A value in flow form: plain words bare, all else as JSON writes it, which YAML reads the same."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    bare = isinstance(value, str) and re.fullmatch(r"[A-Za-z][\w./-]*", value) and value not in ("true", "false", "null")
    return str(value) if bare else json.dumps(value, ensure_ascii=False)
