"""How far each registration is, and its seeds in a form that a reader can derive again."""

from __future__ import annotations

from collections.abc import Iterator

from audit.amendment import is_registration
from audit.changes import count_changes, list_changes
from audit.context import Context
from audit.denominator import VERDICTS
from audit.finding import HOLDS, UNCHECKED, Refusal, escape
from audit.registration import NO_WITNESS, Registration, derive_seeds, parse_registration, seed_text
from audit.standing import all_registrations, read_standing
from audit.tokens import committed_tokens, first_token, witness_line
from audit.under import other_outcomes


def main(name: str | None = None) -> int:
    """One line a registration; of one that is named, its verdicts, amendments and differences too. 2 where one of them cannot be told."""
    context = Context.open()
    registrations = read_registrations(context)
    if name is not None:
        if name not in registrations:
            raise Refusal(f"{context.config.paths.prereg}/{name}.yaml", "no such registration", observed=f"registered: {', '.join(registrations)}")
        registrations = {name: registrations[name]}
    if not registrations:
        print(f"no registration in {context.config.paths.prereg}/ yet")
    told = [tell(context, known, registration, whole=name is not None) for known, registration in sorted(registrations.items())]
    return HOLDS if all(told) else UNCHECKED


def read_registrations(context: Context) -> dict[str, Registration | Refusal]:
    """Every registration, of the working tree or HEAD, by its file's name; of one that cannot be read, the reason."""
    folder, history = context.config.paths.prereg, context.history
    found: dict[str, Registration | Refusal] = {**context.registrations}
    for path in history.names_at(history.head, folder):
        if is_registration(path):
            try:
                found[path.rpartition("/")[2].removesuffix(".yaml")] = parse_registration(history.bytes_at(history.head, path) or b"", path)
            except Refusal as refusal:
                found[path.rpartition("/")[2].removesuffix(".yaml")] = refusal
    return found | {path.rpartition("/")[2].removesuffix(".yaml"): refusal for path, refusal in context.bad_registrations.items()}


def tell(context: Context, name: str, registration: Registration | Refusal, *, whole: bool) -> bool:
    """Print the line of a registration, and with `whole` those below it; False where a file of it cannot be read, which is its line then."""
    parts, below = [], []
    try:
        if isinstance(registration, Refusal):
            raise registration
        parts.append(describe(context, registration))
        parts.append(count_changes(context, name))
        below = [*list_verdicts(context, name), *list_changes(context, name)] if whole else []
    except Refusal as refusal:
        parts.append(f"cannot be told: {refusal}")
    for line in (f"{name:20} {'; '.join(filter(None, parts))}", *(f"  {line}" for line in below)):
        print(escape(line))
    return not parts[-1].startswith("cannot be told")


def describe(context: Context, registration: Registration) -> str:
    """Draft, sealed, run, judged or closed; with what comes next."""
    history, name = context.history, registration.id
    unmet, outcome = registration.unmet(context.parameters), context.outcome_path(name)
    if history.blob_at(history.head, context.seal_path(name)) is None:
        on_disk = (context.root / context.seal_path(name)).exists()
        return "sealed, not committed: git add and commit the seal" if on_disk else f"draft: audit seal {name}"
    if history.blob_at(history.head, outcome) is not None:
        return "closed"
    if (context.root / outcome).exists():
        return f"closed, not committed: git add and commit {outcome}"
    if unmet:
        return f"sealed; not evaluated here ({unmet})"
    if registration.seeds.from_ == "seal+witness" and not committed_tokens(context, name):
        return f"sealed, not witnessed: audit witness {name} --tsa URL, then commit"
    return describe_run(context, registration)


def describe_run(context: Context, registration: Registration) -> str:
    """How far a sealed registration is that holds here: to run, run, or judged."""
    history, name, verdicts = context.history, registration.id, context.verdicts_path(registration.id)
    absent = {item.metric.file for item in registration.predictions if not (context.root / item.metric.file).is_file()}
    missing = sorted(absent | set(other_outcomes(context, registration)))
    if missing:
        return f"sealed; to run: {', '.join(missing)}"
    if not (context.root / verdicts).is_file() or not context.records.get(verdicts, {}).get("evaluated", True):
        return f"run: {context.judging(name)}"
    committed = history.blob_at(history.head, verdicts) is not None
    return f"judged: audit close {name}" if committed else f"judged, not committed: git add and commit {context.config.paths.results}"


def list_verdicts(context: Context, name: str) -> Iterator[str]:
    """A line for each verdict that a registration was closed with."""
    outcome = context.outcomes.get(name)
    claims = {prediction.id: prediction.claim for prediction in context.registrations[name].predictions} if outcome else {}
    for prediction, verdict in outcome.verdicts.items() if outcome else ():
        yield f"{prediction:4} {verdict:{max(map(len, VERDICTS))}} {claims.get(prediction, '')}".rstrip()


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
