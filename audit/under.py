"""Whether a record may be judged under a registration: only what was made under its seal is an outcome of it."""

from __future__ import annotations

from audit.context import Context
from audit.digest import sha256_bytes
from audit.finding import Refusal
from audit.order import names_seal
from audit.registration import Registration


def other_outcomes(context: Context, registration: Registration) -> list[str]:
    """The metric files that are there and name another seal than this registration's, or none; a post-hoc seal and sealed copies ask for none."""
    seal, sealed = context.seals.get(registration.id), context.bytes_of(context.seal_path(registration.id))
    if seal is None or sealed is None or seal.post_hoc:
        return []
    files = sorted({prediction.metric.file for prediction in registration.predictions} - set(seal.origins.values()))
    found = {file: context.bytes_of(file) for file in files}
    return [file for file, data in found.items() if data is not None and not names_seal(data, registration.id, sha256_bytes(sealed))]


def refuse_other_outcomes(context: Context, registration: Registration) -> None:
    """Refuse to judge a registration on the outcome of another one, or of an exploratory run."""
    for file in other_outcomes(context, registration):
        said = context.provenance.get(file)
        raise Refusal(
            file, f"was not made under the seal of {registration.id}: it is no outcome of it",
            expected=f"a run that names {context.seal_path(registration.id)}", observed=f"under {', '.join(said.seals) if said and said.seals else 'no seal'}",
            cure=f"run its stage (dvc repro); audit evaluate {registration.id} --on {file} judges it and writes nothing",
        )  # fmt: skip
