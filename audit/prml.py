"""A registration as PRML manifests (`application/vnd.prml+yaml`, version 0.1): one claim, one manifest, so one a prediction."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from audit.digest import sha256_bytes
from audit.facts import Facts, Sealed, further_fields
from audit.finding import Refusal
from audit.registration import Prediction

MEDIA_TYPE = "application/vnd.prml+yaml"
LONGEST = 256
"""Characters of a metric's name, by the format's schema."""
UNSTATED = "not stated"
HIDDEN = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Categories of characters that the format forbids, besides the byte-order mark."""


def make_manifests(facts: Facts) -> dict[str, str]:
    """The manifest of each prediction, by its id; a draft has no date, digest or seed to give."""
    if facts.sealed is None:
        name = facts.registration.id
        raise Refusal(f"registration {name}", "is not sealed, and PRML asks for its seeds and digest", cure=f"audit seal {name} && git commit")
    return {prediction.id: emit_manifest(make_manifest(facts, facts.sealed, prediction)) for prediction in facts.registration.predictions}


def make_manifest(facts: Facts, sealed: Sealed, prediction: Prediction) -> dict[str, Any]:
    """The fields of one claim; what the format cannot say stands as text in `metric_args`."""
    registration = facts.registration
    sets = sealed.seeds
    arguments = {
        "prediction": prediction.id,
        "registration": registration.id,
        "seal_sha256": sealed.sha256,
        "seeds": "; ".join(f"{name}: {' '.join(map(str, seeds))}" for name, seeds in sets.items()),
        "stage": prediction.metric.stage,
        **further_fields(prediction),
    }
    if prediction.undecided:
        arguments["undecided"] = prediction.exclusion()
    comparator, threshold = plain_target(prediction) or ("==", 1.0)
    if plain_target(prediction) is None:
        arguments |= {"target": prediction.comparator.text(), "value": "1 where the metric meets the target, else 0"}
    return {
        "version": "prml/0.1",
        "claim_id": claim_id(sealed, prediction),
        "created_at": datetime.fromtimestamp(sealed.time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "metric": f"{prediction.metric.file}#{prediction.metric.key}",
        "metric_args": arguments,
        "comparator": comparator,
        "threshold": threshold,
        "dataset": {"id": f"registration and frozen files of {registration.id}", "hash": sealed.seal.content},
        "seed": next(iter(sets.values()))[0],
        "producer": {"id": UNSTATED},
        "notes": f"{sentence(prediction.claim)} In an uninteresting world: {sentence(prediction.null.text)} The commit that holds the seal, whose own time created_at is: {sealed.commit}",
    }


def sentence(text: str) -> str:
    """A text with a full stop, unless it ends a sentence already."""
    return text.rstrip() if text.rstrip().endswith((".", "!", "?")) else f"{text.rstrip()}."


def plain_target(prediction: Prediction) -> tuple[str, float] | None:
    """Comparator and threshold where the target is one number that one number is compared with, else None."""
    stated = prediction.comparator.model_dump(exclude_defaults=True)
    if set(stated) != {"op", "value"}:
        return None
    try:
        return stated["op"], float(stated["value"])
    except OverflowError:
        raise Refusal(f"prediction {prediction.id}", "has a target that PRML cannot hold", expected="a number of 64 bits") from None


def claim_id(sealed: Sealed, prediction: Prediction) -> str:
    """A UUID of version 7: the seal's time, then digits of the SHA-256 of seal and prediction."""
    time, digits = f"{sealed.time * 1000 & (1 << 48) - 1:012x}", sha256_bytes(f"prml-claim-1\n{sealed.sha256}\n{prediction.id}\n".encode())
    return f"{time[:8]}-{time[8:]}-7{digits[:3]}-{'89ab'[int(digits[3], 16) % 4]}{digits[4:7]}-{digits[7:19]}"


def emit_manifest(manifest: Mapping[str, Any]) -> str:
    """The manifest in the format's YAML: block mappings, keys sorted, every text in double quotes."""
    if len(manifest["metric"]) > LONGEST:
        raise Refusal(manifest["metric"], "is too long a metric for PRML", expected=f"at most {LONGEST} characters")
    return "".join(f"{line}\n" for line in _lines(manifest, ""))


def _lines(mapping: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in sorted(mapping.items()):
        if isinstance(value, Mapping):
            yield f"{indent}{key}:"
            yield from _lines(value, indent + "  ")
        else:
            yield f"{indent}{key}: {_scalar(key, value)}"


def _scalar(key: str, value: str | int | float) -> str:
    if isinstance(value, float):
        mantissa, e, exponent = repr(value).partition("e")
        return f"{mantissa}{'' if '.' in mantissa else '.0'}{e}{exponent}"  # YAML 1.1 reads 1e-06 as a text
    return str(value) if isinstance(value, int) else json.dumps(one_line(key, value), ensure_ascii=False)


def one_line(key: str, text: str) -> str:
    """A text without line ends; characters that the format forbids are refused, since it forbids to change them in silence."""
    line = " ".join(text.split())
    hidden = [letter for letter in line if unicodedata.category(letter) in HIDDEN or letter == "\ufeff"]
    if hidden or not unicodedata.is_normalized("NFC", line):
        observed = ascii(hidden[0]) if hidden else ascii(line)
        raise Refusal(
            f"PRML field {key}", "holds text that the format forbids", expected="Unicode in form NFC, no control characters", observed=observed
        )
    return line
