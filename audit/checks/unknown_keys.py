"""A402: every key that the manuscript cites names one quantity, verdict or provenance value, in a form that fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches

from audit.context import Context
from audit.denominator import State, read_reasons, registered, verdict_words
from audit.document import Use, load_document
from audit.finding import Finding, Refusal
from audit.numbers.keys import Keys
from audit.provenance import look_up_provenance, provenance_values
from audit.render import print_use

CODE = "A402"


def check_keys(context: Context) -> Iterator[Finding]:
    """Each use of our macros whose key gives nothing; of a record that is absent or unreadable, the uses are counted once."""
    keys, words, provenance = Keys.of(context), verdict_words(context), provenance_values(context)
    uses = load_document(context).uses()
    yield from check_reasons(context, [use for use in uses if use.command == "unjudged"])
    uses = [use for use in uses if use.command not in ("unjudged", "claim")]
    absent = Counter(name for use in uses if (name := use.key.partition(".")[0]) in keys.records and keys.records[name] is None)
    for name, uses_of in absent.items():
        what = f"{uses_of} cited values need a record that is absent or unreadable"
        cure = "rerun the stage that writes it (dvc repro), or git checkout HEAD -- it"
        yield Finding(code=CODE, place=keys.paths[name], what=what, expected="a readable record", cure=cure)
    for use in uses:
        if use.key.partition(".")[0] in absent:
            continue
        try:
            check_use(use, keys, words, provenance)
        except Refusal as refusal:
            yield Finding(code=CODE, place=use.place, what=str(refusal).removeprefix(f"{use.place}: "))


def check_use(use: Use, keys: Keys, words: dict[str, str], provenance: dict[str, str]) -> None:
    """Refuse a use that prints nothing."""
    if use.command == "val":
        print_use(use, keys)
    elif use.command == "confirmatory":
        keys.resolve(use.key, use.place)
    elif use.command == "prov":
        look_up_provenance(provenance, use.key, use.place)
    elif use.key not in words:
        nearest = ", ".join(get_close_matches(use.key, list(words), n=3, cutoff=0.3)) or "none"
        raise Refusal(use.place, f"no verdict {use.key!r}", observed=f"nearest: {nearest}", cure="correct it, or run audit evaluate")


def check_reasons(context: Context, uses: list[Use]) -> Iterator[Finding]:
    """Each `\\unjudged`: it names a sealed registration that has no verdicts, and gives a reason."""
    sealed, reasons = registered(context), read_reasons(context)
    for use in uses:
        if use.key not in sealed:
            nearest = ", ".join(get_close_matches(use.key, list(sealed), n=3, cutoff=0.3)) or "none"
            yield Finding(code=CODE, place=use.place, what=f"no sealed registration {use.key!r}", observed=f"nearest: {nearest}", cure="correct it")
        elif sealed[use.key].state is State.JUDGED:
            yield Finding(code=CODE, place=use.place, what=f"{use.key} has verdicts", cure=f"show them: \\verdict{{{use.key}.PREDICTION}}")
        elif reasons.get(use.key) == "":
            yield Finding(
                code=CODE, place=use.place, what=f"\\unjudged{{{use.key}}} gives no reason", expected="words in its second argument", cure="say why"
            )
