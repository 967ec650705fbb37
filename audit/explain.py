"""What each finding code means, why it matters, and how to cure it: `audit explain CODE`."""

from __future__ import annotations

import difflib

from audit.explained_document import EXPLAINED_DOCUMENT
from audit.finding import Refusal
from audit.limits import LIMITS

EXPLAINED: dict[str, tuple[str, str, str]] = {
    "A100": (
        "A check of registrations stopped before its end.",
        "What was not checked is not known to hold.",
        "Read the line: it names the file or git command that gave no answer.",
    ),
    "A101": (
        "A file in prereg/ is no valid registration: unreadable YAML, an unknown or missing key, a wrong type, or a symbolic link.",
        "Two readers could understand it differently, so its predictions cannot be judged.",
        "Correct the key the line names. A sealed registration is restored from git, never edited.",
    ),
    "A102": (
        "A registration has no seal. With an outcome in the tree this is a finding, before that a note.",
        "A seal made after the outcome proves nothing.",
        "Before the run: audit seal ID, commit. After it: register anew, under another id, and run again.",
    ),
    "A103": (
        "A seal cannot be read, is a symbolic link, or its digests do not agree with each other.",
        "Somebody edited it: a seal is written once by the tool and holds digests of itself.",
        "git checkout HEAD -- prereg/ID.seal.json",
    ),
    "A104": (
        "A seal is not one blob for ever: edited, made again, renamed, or gone from HEAD.",
        "With two seals under one name one could choose the luckier; with a dropped one, hide a loss.",
        "Restore the first one from history. If the registration must change, register anew.",
    ),
    "A105": (
        "A file that a seal covers has other bytes than were sealed, or is missing.",
        "The prediction, the judge or a threshold may have been changed after looking.",
        "Restore it: git checkout HEAD -- PATH. Code may move on after audit close ID.",
    ),
    "A106": (
        "A sealed file differs only in line endings, which git rewrites on some machines.",
        "Nothing was tampered with, but the bytes no longer hash to the seal; making a new seal would destroy the proof.",
        "Put `PATH -text` into .gitattributes and check the file out again.",
    ),
    "A107": (
        "A parameter that a registration freezes has another value.",
        "A threshold moved after sealing decides the verdict.",
        "Restore the value; for another setting give the seed set a list: the run is then exploratory.",
    ),
    "A108": (
        "The ledger of a seal does not name every seal before it, or names one that is gone.",
        "The ledger is how a reader sees that no losing registration was dropped.",
        "Restore the earlier seal from history.",
    ),
    "A109": (
        "The commit that brought a seal does not hold the bytes it seals.",
        "Committing the digest first and a fitting text later is the oldest trick.",
        "Register anew, and commit registration, copies and seal together.",
    ),
    "A110": (
        "A git attribute may change the bytes of a sealed file on checkout.",
        "Digests would differ from clone to clone.",
        "`prereg/** -text` (and the frozen code) in .gitattributes.",
    ),
    "A111": (
        "Two registrations make the same predictions.",
        "The same question with new seeds is a second throw of the dice.",
        "Drop the later one, or say what is different in its predictions.",
    ),
    "A112": (
        "A frozen output, made again, differs from its sealed copy beyond its own tolerance.",
        "Judging reads the copy, so no verdict moves, but the threshold would not come out again.",
        "Find out why; restore the committed output. In no commit, it is a note.",
    ),
    "A113": (
        "A prediction names a metric that no record has.",
        "It could never be judged, so it could never lose.",
        "Correct file, stage or key before sealing; after it, register anew.",
    ),
    "A114": (
        "The outcome of a closed registration is not what history holds, or not what closing gives. In no commit yet, it counts for nothing: a note.",
        "It is the last word on the registration; an edited one could turn missed into met.",
        "git checkout HEAD -- prereg/ID.outcome.json",
    ),
    "A115": (
        "The registration is not evaluated under these parameters (a note).",
        "It holds for the scale and the seed sets it was sealed for.",
        "Nothing to cure; restore the parameters to judge it.",
    ),
    "A116": (
        "A metric is another than was registered: its record declares a wider tolerance, another summary, or more units than the population has.",
        "A tolerance widened, a median that became a mean and doubled units each move a verdict after the prediction was fixed.",
        "Rerun the stage with the registered code; another question is a new registration.",
    ),
    "A117": (
        "A registration was sealed after its outcome, and says so: post hoc (a note).",
        "Its verdicts are labelled, and no claim of confirmation can stand on it.",
        "Nothing to cure; a confirmatory claim needs a new registration and new seeds.",
    ),
    "A122": (
        "Two registrations claim one seed set, or one that shares another's seeds (`same_as`) was sealed after a run on them.",
        "Predictions about seeds that have been run already are no predictions.",
        "`seeds: {same_as: ID}`, sealed before the first run on them; after it, register anew on other seeds.",
    ),
    "A123": (
        "A sealed registration has no verdicts (not run, run in part, or gone from the tree), and the document does not say so.",
        "The registrations that are never heard of again are the ones that lost: without them `k of n` has no n.",
        "Run and judge it; or write \\unjudged{ID}{the reason} into the manuscript. Not run, with none judged after it, it is a note, and "
        "audit render waits.",
    ),
    "A118": (
        "Amendments do not form one chain: two on one predecessor, a gap, one that was edited, dropped or sealed twice. A draft is a note.",
        "Of two amendments one could keep the luckier; an edited one could have been written after looking.",
        "Restore the sealed files from history: git checkout HEAD -- prereg. A fork cannot be mended: register anew.",
    ),
    "A119": (
        "A run differs from what was registered, and nobody declared it. Under a seal of version 1 this is a note.",
        "Whatever a registration leaves unfrozen (parameters, code, data, packages, the audit's own configuration) can be tuned after looking.",
        "Run again as registered, or declare it with why in prereg/ID.deviations.yaml: it is printed beside the verdicts.",
    ),
    "A120": (
        "prereg/ID.deviations.yaml cannot be read, belongs to no registration, or declares a difference that there is not. Before any run: a note.",
        "A declaration that matches nothing hides which differences there are.",
        "Correct or remove the entry; audit status counts the differences, A119 names those that are missing.",
    ),
    "A121": (
        "The outcome of a closed registration leaves out a deviation of its own runs, makes one up, or gives no reason for one.",
        "After closing nothing else says how the runs differed from what was registered.",
        "git checkout HEAD -- prereg/ID.outcome.json; an outcome is never written again.",
    ),
    "A200": (
        "A check of order stopped before its end.",
        "What was not checked is not known to hold.",
        "Read the line: it names the git object or file that is missing.",
    ),
    "A201": (
        "Git's evidence: no parent of the commit that brought a judged record holds the seal.",
        "Then the record was there before the prediction, or came with it. Dates are never asked.",
        "A record that came first cannot be confirmed: register anew, run again. After a squash, push the start commit as tag audit/start/N.",
    ),
    "A202": (
        "The run's evidence: no run log in the history names the record with a start commit that holds the seal, or the record names another seal.",
        "A run held back and committed after the seal looks in order to git alone.",
        "Commit run logs with their records. Never squash or rebase a seal and its run together.",
    ),
    "A203": (
        "A run read something older than the seal that the seal does not freeze.",
        "Train, then seal, then only analyse: every step but the first would look in order.",
        "Freeze the input in the registration, or make it by a logged stage after the seal.",
    ),
    "A204": (
        "Another outcome under the same seal, later or on a side branch, stands in history with other quantities, by the first one's tolerance.",
        "The first outcome is the outcome; a later one may have been mended.",
        "Restore and report the first version, or declare both by SHA-256 in prereg/<id>.deviations.yaml; the first verdict counts in any case.",
    ),
    "A205": (
        "There is no whole git history: no repository, a shallow clone, objects that do not give their ids, or a repository around the project.",
        "Order is proved by ancestry; what is cut off cannot be told.",
        "git fetch --unshallow, or clone with history (in CI: fetch-depth 0).",
    ),
    "A206": (
        "Replace refs or a grafts file show git a history that is not there.",
        "They are local, invisible in git status, and fool git log and git merge-base; this audit ignores them.",
        "git replace -d REF; remove .git/info/grafts.",
    ),
    "A207": (
        "Git is told not to look at a tracked file (assume-unchanged, skip-worktree).",
        "The tree looks clean while the file is edited.",
        "git update-index --no-assume-unchanged (or --no-skip-worktree) PATH",
    ),
    "A208": (
        "A branch, experiment, stash or reflog of this clone holds a judged record in a commit without its seal. "
        "What else stands there on the same seeds, and seals that only stand there, are counted in a note.",
        "What was tried and left behind is in no history that others see; a clone without these refs cannot find it.",
        "git branch -a --contains COMMIT, git reflog: if the record came first, register anew. Report the other runs.",
    ),
    "A209": (
        "A run log's times cannot be right: it ends before it starts, or starts before its start commit was made (a note).",
        "Dates can be typed, so they decide nothing; an odd one is still worth a look.",
        "Look whether a clock was wrong.",
    ),
    "A210": (
        "A witness is refuted: of another seal, altered, signed by nobody who might, at a time its certificate does not cover; or a required one is gone.",
        "A false witness is worse than none, and seeds that take a time stamp take the first one that was committed.",
        "Restore the file from history. If it was never right, ask again (audit witness ID --tsa URL) and say so.",
    ),
    "A211": (
        "What witnesses are worth to you (a note): anchored under a root of yours, unanchored, pending, claimed; and who signed.",
        "An authority you do not know, or whose root only this repository ships, could be the author. A signature says who, never when.",
        "Get the authority's root from the authority: audit verify --root FILE, or a folder of roots in AUDIT_ROOTS.",
    ),
    "A212": (
        "A time stamp or proof cannot be read, or nothing to verify it with is installed.",
        "A truncated token says nothing, neither for nor against.",
        "git checkout HEAD -- prereg/ID.tsr; pip install 'rankcollapse-audit[witness]'.",
    ),
    "A300": (
        "A check of records stopped before its end.",
        "What was not checked is not known to hold.",
        "Read the line: it names the file.",
    ),
    "A301": (
        "A record cannot be read in one way only: truncated, a key twice, NaN, a symbolic link or a Git LFS pointer in its place.",
        "A reader that shrugs at it takes a number from nowhere.",
        "Restore it from git, or rerun its stage.",
    ),
    "A302": (
        "A record does not fit the JSON Schema that is committed for its kind, or there is none.",
        "Extra keys, texts for numbers and typed counts hide behind loose records.",
        "Rerun its stage; stages write the schemas, the audit only reads them.",
    ),
    "A303": (
        "A record is not the one its run log names.",
        "It was edited, or comes from another run.",
        "git checkout HEAD -- RECORD, or rerun its stage.",
    ),
    "A304": (
        "An output, a file or a folder, is not the one dvc.lock names, or there is no dvc.lock.",
        "It was edited, with or without its run log.",
        "git checkout HEAD -- PATH dvc.lock, or dvc repro.",
    ),
    "A305": (
        "A record's run log is missing or unreadable.",
        "Without it nobody knows which commit, inputs and seeds the record came from.",
        "Restore it from git, or rerun the stage.",
    ),
    "A306": (
        "Something committed is absent, or an output without cache that was made once. What only a cache carries is a note: not built here.",
        "A missing result is how an inconvenient cell disappears.",
        "git checkout HEAD -- PATH, or dvc repro.",
    ),
    "A307": (
        "A quantity's summary does not follow from its own values.",
        "Median, count and share are computed again here; a typed one is caught.",
        "Rerun the stage.",
    ),
    "A308": (
        "The seeds of a record are not those that derive from the seal it stands under.",
        "Swapped, doubled, dropped or added seeds choose the outcome.",
        "audit seeds ID shows the derivation; run the stage again.",
    ),
    "A309": (
        "The verdicts' record is not what registration and records give; or it is not that of the outcome, of a closed one whose parameters moved on.",
        "Verdicts are computed, never typed, and those of a closed registration stay.",
        "audit evaluate ID, or dvc repro the stage that calls it.",
    ),
    "A310": (
        "A DVC stage upstream of a judged record is frozen.",
        "DVC then calls stale results up to date.",
        "dvc unfreeze STAGE, dvc repro.",
    ),
    "A311": (
        "A run loaded code that its commits do not hold, or frozen code other than sealed.",
        "The result cannot be made again from history. Without a seal, or before it is committed, this is a note.",
        "Commit the code, then run again.",
    ),
    "A312": (
        "A record is not the output of exactly one stage.",
        "A file nobody makes can say anything.",
        "Declare it as an out of its stage, or remove it.",
    ),
    "A313": (
        "dvc.lock disagrees with dvc.yaml about a stage or its command, or with params.yaml about what a record was run with; or a run read a file "
        "that is none of its stage's dependencies. As a note: a stage that a registration names does not go stale with the seal.",
        "The results were made by another command, or with other parameters, than those that are shown, or DVC would not see what they were made from.",
        "dvc repro, and commit dvc.lock; declare the dependency (a named stage depends on prereg/<id>.seal.json) and dvc commit the stage.",
    ),
    "A314": (
        "A record was made from other records, or under other seals, than those that are here.",
        "A chain with one stale link is not a result.",
        "dvc repro",
    ),
    "A316": (
        "A later run of a closed registration gives another verdict than the outcome that was closed.",
        "The first outcome is the result; a better one may not replace it. In no commit yet, or not evaluated here, only a note.",
        "Report the first: restore the verdicts' record; a new question is a new registration.",
    ),
    "A317": (
        "A run loaded a module that is neither the project's, nor Python's, nor listed in an installed package's RECORD.",
        "A sitecustomize, a .pth file, PYTHONPATH or a file that git ignores changes results while the tree stays clean. Without a seal, a note.",
        "Remove it, or install it with pip, and run again. A module that is meant (_virtualenv) is named as `foreign` in audit.toml: then it is a note.",
    ),
    "A318": (
        "A run loaded a package's file that is not what its RECORD says, or had another version than the lock file of its start commit pins.",
        "The same code computes other things with a patched or another library. Without a seal, a note.",
        "Install afresh from the lock file, run again.",
    ),
    "A319": (
        "A run started with code brought in by its environment: LD_PRELOAD, LD_AUDIT, PYTHONHOME, or PYTHONPATH outside the project.",
        "Such code runs before any of the project's, and no commit holds it. Without a seal, a note.",
        "Unset the variable, run again. One that is meant (an allocator) is named as `foreign` in audit.toml: then it is a note.",
    ),
    "A320": (
        "A pattern of a .dvcignore matches a tracked file that a stage depends on, or that a run read or loaded.",
        "DVC does not see the file change and calls stale results up to date.",
        "Narrow the pattern, then dvc repro.",
    ),
    **EXPLAINED_DOCUMENT,
}


def main(code: str | None) -> None:
    """Print one explanation, what the audit does not prove (`limits`), or the list of all codes."""
    if code is None:
        for name, (meaning, _, _) in sorted(EXPLAINED.items()):
            print(f"{name}  {meaning}")
        return
    print("\n".join(f"{number}. {limit}" for number, limit in enumerate(LIMITS, 1)) if code == "limits" else explain(code))


def explain(code: str) -> str:
    """What the code means, why it matters, how to cure it."""
    known = EXPLAINED.get(code.upper())
    if known is None:
        nearest = ", ".join(difflib.get_close_matches(code.upper(), EXPLAINED, n=3, cutoff=0.4)) or "audit explain lists all"
        raise Refusal(code, "no such finding code", observed=f"nearest: {nearest}")
    meaning, why, cure = known
    return f"{code.upper()}  {meaning}\nWhy it matters: {why}\nCure: {cure}"
