"""How far each registration is, and its seeds in a form that a reader can derive again."""

from __future__ import annotations

from collections.abc import Iterator

from audit.chain import standing_amendments
from audit.context import Context
from audit.deviations import find_deviations
from audit.finding import Refusal, escape
from audit.registration import NO_WITNESS, Registration, derive_seeds, seed_text
from audit.standing import all_registrations, read_standing
from audit.tokens import committed_tokens, first_token, witness_line


def main(name: str | None = None) -> None:
    """One line a registration; of one that is named, its amendments and every difference between registered and run too."""
    context = Context.open()
    registrations = all_registrations(context)
    if name is not None:
        if name not in registrations:
            raise Refusal(f"{context.config.paths.prereg}/{name}.yaml", "no such registration", observed=f"registered: {', '.join(registrations)}")
        registrations = {name: registrations[name]}
    if not registrations:
        print(f"no registration in {context.config.paths.prereg}/ yet")
    for known, registration in sorted(registrations.items()):
        print(f"{known:20} {describe(context, registration)}{describe_changes(context, known)}")
    for line in list_changes(context, name) if name is not None else ():
        print(escape(f"  {line}"))


def describe(context: Context, registration: Registration) -> str:
    """Draft, sealed, run, judged or closed; with what comes next."""
    history, name = context.history, registration.id
    unmet = registration.unmet(context.parameters)
    if history.blob_at(history.head, context.seal_path(name)) is None:
        on_disk = (context.root / context.seal_path(name)).exists()
        return "sealed, not committed: git add and commit the seal" if on_disk else f"draft: audit seal {name}"
    if history.blob_at(history.head, context.outcome_path(name)) is not None:
        return "closed"
    if unmet:
        return f"sealed; not evaluated here ({unmet})"
    if registration.seeds.from_ == "seal+witness" and not committed_tokens(context, name):
        return f"sealed, not witnessed: audit witness {name} --tsa URL, then commit"
    verdicts = context.verdicts_path(name)
    if (context.root / verdicts).is_file():
        committed = history.blob_at(history.head, verdicts) is not None
        return f"judged: audit close {name}" if committed else f"judged, not committed: git add and commit {context.config.paths.results}"
    missing = [path for path in sorted({item.metric.file for item in registration.predictions}) if not (context.root / path).is_file()]
    return f"sealed; to run: {', '.join(missing)}" if missing else f"run: audit evaluate {name}"


def describe_changes(context: Context, name: str) -> str:
    """Amendments and deviations, where there are any."""
    drafts = len(list((context.root / context.config.paths.prereg).glob(f"{name}.amendment-*.yaml")))
    amended = len(standing_amendments(context, name))
    rows = find_deviations(context, name) if name in context.seals else ()
    undeclared = sum(1 for row in rows if row.why is None and context.seals[name].version > 1)
    parts = [f"{amended} amended" if amended else "", f"{drafts - amended} amendments not sealed" if drafts > amended else ""]
    parts += [f"{len(rows)} deviations" + (f", {undeclared} not declared" if undeclared else "") if rows else ""]
    return "".join(f"; {part}" for part in parts if part)


def list_changes(context: Context, name: str) -> Iterator[str]:
    """A line for each amendment and each deviation."""
    for link in standing_amendments(context, name):
        amended = ", ".join(prediction.id for prediction in link.amendment.predictions)
        yield f"amendment {link.amendment.number}, sealed {link.sealed}: {amended}; why: {link.amendment.why}; known: {link.amendment.known}"
    for row in find_deviations(context, name) if name in context.seals else ():
        yield f"deviation, {row.kind} {row.what}: registered {row.registered}, run {row.run}; why: {row.why or 'not declared'}"


def print_seeds(name: str) -> None:
    """The seeds of every set of a sealed registration, and the commands that give them again."""
    context = Context.open()
    if name not in all_registrations(context):
        raise Refusal(f"{context.config.paths.prereg}/{name}.yaml", "no such registration")
    standing = read_standing(context, name)
    if standing.registration.seeds.same_as:
        print(f"{name} shares the seeds of {standing.registration.seed_owner}: audit seeds {standing.registration.seed_owner}")
        return
    seal = standing.seal
    history = context.history
    born = min(history.introductions(history.blob_at(history.head, context.seal_path(name)) or ""), default=history.head)
    each = f'git show {born[:10]}:./$f | sha256sum | sed "s|-$|$f|"'  # there, since code may move on once the registration is closed
    print(f"content of the seal (SHA-256 over registration and frozen files, as commit {born[:10]} sealed them):")
    print(f"  for f in {' '.join(sorted(seal.files))}; do {each}; done | LC_ALL=C sort -k2 | sha256sum")
    print(f"  {seal.content}")
    witness = print_witness(context, standing.registration)
    for seed_set, count in standing.registration.seeds.sets.items():
        print(f"set {seed_set}, {count} seeds: the first 16 hex digits, top bit cleared, of")
        for index, seed in enumerate(derive_seeds(seal, seed_set, count, witness)):
            escaped = seed_text(seal, seed_set, index, witness).replace("\n", "\\n")
            print(f"  printf '{escaped}' | sha256sum   # seed {index}: {seed}")


def print_witness(context: Context, registration: Registration) -> str:
    """The fourth line of the seeds' texts, and where it is a time stamp the commands that give it again."""
    witness = witness_line(context, registration)
    first = None if witness == NO_WITNESS else first_token(context, registration.id)
    if first is None:
        return witness
    print(f"signed content (TSTInfo) of the first time stamp of the seal, as commit {first.commit[:10]} brought it:")
    opened = f"openssl ts -reply{' -token_in' if first.token.bare else ''} -in /dev/stdin -token_out"
    print(f"  git show {first.commit[:10]}:./{first.path} | {opened} | openssl cms -verify -noverify -inform DER -binary | sha256sum")
    print(f"  {witness}")
    return witness
