"""Amending a sealed registration, in two steps: `audit amend` writes a draft, and seals it once it is committed."""

from __future__ import annotations

import json

from audit.amendment import MARK, Amendment, AmendmentSeal, amendment_id, parse_amendment, refuse_marks, refuse_strange
from audit.chain import Link, standing_amendments
from audit.context import Context
from audit.digest import sha256_bytes
from audit.finding import Refusal
from audit.load import write_bytes
from audit.records import record_bytes
from audit.registration import Prediction, Registration
from audit.seal import committed_bytes, read_ledger, refuse_attributes, refuse_second_seal, refuse_unknown_metrics
from audit.standing import Standing, read_standing

DRAFT = """\
# Amendment {number} of {name}. The registered predictions keep their verdicts and their count; what stands here is judged beside them.
# Commit this file before the runs it speaks of: an amendment that is sealed after an outcome is shown as such.
amends: {name}
number: {number}
why: "{mark} what changed, and why"
known: "{mark} what was known when this was written: runs, results, or that nothing had run"
# Each prediction whole, under its registered id (judged instead) or a new one (judged besides). Leave out those that stay.
predictions:
{predictions}"""


def main(name: str) -> None:
    """Write the draft of the next amendment, or seal the one that is committed; say what to do next."""
    context = Context.open()
    standing = read_standing(context, name)
    chain = standing_amendments(context, name)
    own = amendment_id(name, len(chain) + 1)
    path, folder = f"{context.config.paths.prereg}/{own}.yaml", context.config.paths.prereg
    if not (context.root / path).exists() and context.history.entry(context.history.head, path) is None:
        refuse_second_seal(context, own)
        write_bytes(context.root / path, draft(standing.registration, len(chain) + 1))
        print(f"wrote the draft {path}: edit what is marked {MARK}")
        print(f"then: git add {path} && git commit -m 'Draft {own}' && audit amend {name}")
        return
    seal = make_amendment_seal(context, standing, chain, path)
    write_bytes(context.root / context.seal_path(own), record_bytes(seal))
    print(f"sealed {own} on {seal.predecessor[:12]}: the registered verdicts stand, the amended ones are printed beside them")
    print(
        f"now: git add {folder} && git commit -m 'Seal {own}', then run; what is judged already, judge again: {context.judging(name, amended=True)}"
    )


def make_amendment_seal(context: Context, standing: Standing, chain: tuple[Link, ...], path: str) -> AmendmentSeal:
    """The seal of a committed amendment, hanging on the last seal of the chain."""
    registration, number = standing.registration, len(chain) + 1
    own = amendment_id(registration.id, number)
    refuse_second_seal(context, own)
    data = committed_bytes(context, path)
    refuse_attributes(context, [path, context.seal_path(own)])
    amendment = parse_amendment(data, path)
    refuse_marks(data, path)
    refuse_strange(amendment, registration, path)
    refuse_unknown_metrics(context, registration.model_copy(update={"id": own, "predictions": amendment.predictions}))
    refuse_unchanged(amendment, registration, chain, path)
    predecessor = chain[-1].seal_sha256 if chain else standing.seal_sha256
    return AmendmentSeal(
        amends=registration.id, number=number, amendment=path, sha256=sha256_bytes(data), predecessor=predecessor, ledger=read_ledger(context)
    )


def refuse_unchanged(amendment: Amendment, registration: Registration, chain: tuple[Link, ...], path: str) -> None:
    """Refuse a prediction that is what it was: an amendment says what is different."""
    before = {prediction.id: prediction for prediction in registration.predictions}
    before |= {prediction.id: prediction for link in chain for prediction in link.amendment.predictions}
    for prediction in amendment.predictions:
        if before.get(prediction.id) == prediction:
            raise Refusal(path, f"{prediction.id} is as it was", expected="a prediction that differs", cure="change it, or leave it out")


def draft(registration: Registration, number: int) -> bytes:
    """The text of a new amendment: its primary prediction as it is registered, to be changed."""
    primary = next(prediction for prediction in registration.predictions if prediction.id == registration.primary)
    return DRAFT.format(number=number, name=registration.id, mark=MARK, predictions=write_prediction(primary)).encode()


def write_prediction(prediction: Prediction) -> str:
    """A prediction as YAML: a line a key, each value as JSON writes it."""
    values = prediction.model_dump(mode="json", exclude_none=True, by_alias=True)
    lines = [f"{json.dumps(key) if key == 'null' else key}: {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "".join(f"  {'- ' if at == 0 else '  '}{line}\n" for at, line in enumerate(lines))
