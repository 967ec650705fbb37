"""What the audit does not prove: one list, printed by `audit explain limits`, by the report as JSON, and by templates."""

LIMITS = (
    "That the records came from running this code, unless a reader runs it again: records, run logs and dvc.lock can be forged together.",
    "That nobody ran, looked, and then registered: only runs that left a trace in this history are seen. "
    "For seeds that derive from the seal this is excluded, up to the next item.",
    "That this was the only registration tried: seals never committed, deleted branches and other repositories are not seen.",
    "That history was not rewritten before the earliest outside witness. A witness bounds the age of the seal, not that of the run.",
    "Who wrote it (a signature shows a key), and when (a signature shows no time).",
    "That the auditor you ran is the published one, and that Python, git, DVC, LaTeX, the hardware and a package patched without trace "
    "did what they say.",
    "That a number stands in the right sentence, and that words, images, axes and comparisons without numbers are fair.",
    "That the PDF you read elsewhere is the audited one, or that its visible marks equal its text layer in every case.",
    "That the predictions were worth making, or their thresholds sensible.",
)
"""The items, in the order of how much they leave open."""

POINTER = "what the audit does not prove: audit explain limits"
"""The line of every report."""
