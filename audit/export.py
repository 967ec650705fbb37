"""`audit export`: one registration in the form that another registry reads."""

from __future__ import annotations

from pathlib import Path

from audit.context import Context
from audit.facts import read_facts
from audit.finding import Refusal
from audit.load import write_bytes
from audit.pages import show_aspredicted, show_osf
from audit.prml import MEDIA_TYPE, make_manifests

PAGES = {"osf": show_osf, "aspredicted": show_aspredicted}


def main(name: str, form: str, out: str | None) -> None:
    """Print a registration in a form, or write it: a page into a file, PRML into a folder, one file a manifest."""
    facts = read_facts(Context.open(), name)
    if form in PAGES:
        deliver({out: PAGES[form](facts)})
        return
    manifests = make_manifests(facts)
    if out is not None:
        deliver({f"{out}/{name}-{prediction}.prml.yaml": text for prediction, text in manifests.items()})
    else:
        deliver({None: "---\n".join(f"# {MEDIA_TYPE}: {name}, {prediction}\n{text}" for prediction, text in manifests.items())})


def deliver(texts: dict[str | None, str]) -> None:
    """Write each text whole to its file, or to stdout where it has none."""
    for place, text in texts.items():
        if place is None:
            print(text, end="")
            continue
        try:
            write_bytes(Path(place), text.encode())
        except OSError as error:
            cure = "name a file (for prml: a folder) that can be written"
            raise Refusal(place, "cannot be written", observed=error.strerror or str(error), cure=cure) from None
        print(place)
