"""Who signed a commit, as git and the verifier's own keys can tell; a signature bears no time that its author did not type.

Keys come from the verifier: GnuPG's own key ring, and for SSH the file that their global git configuration names as
`gpg.ssh.allowedSignersFile`. Programs and files that the repository's own configuration names are not used.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from audit.context import Context
from audit.history import call_git

PROGRAMS = ("gpg.program=gpg", "gpg.openpgp.program=gpg", "gpg.ssh.program=ssh-keygen", "gpg.x509.program=gpgsm", "gpg.ssh.revocationFile=")


def describe_signature(context: Context, commit: str) -> str:
    """One clause on who signed a commit: `unsigned`, `signed by ...`, or why it cannot be told."""
    header = context.history.objects.read(commit)[1].partition(b"\n\n")[0]
    if not any(line.startswith((b"gpgsig ", b"gpgsig-sha256 ")) for line in header.splitlines()):
        return "unsigned"
    shown = call_git(context.root, *own_keys(context), "log", "-1", "--no-show-signature", "--format=%G?%x00%GS%x00%GF", commit, "--")[1]
    grade, who, key = (shown.decode(errors="replace").rstrip("\n").split("\0") + ["", ""])[:3]
    if grade == "B":
        return "bears a signature that does not fit it"
    if grade == "G" or (grade in "UXYR" and key):
        known = who if grade == "G" else "a key that is not known or no longer good here"
        return f"signed by {known} ({key}): who, not when"
    return "signed, by whom cannot be told here (no such key, or no gpg.ssh.allowedSignersFile in your global git configuration)"


def describe_tags(context: Context, commit: str) -> Iterator[str]:
    """One clause on each signed tag of a commit."""
    for name, target, reference in list_tags(context):
        if target == commit and b"\n-----BEGIN " in context.history.objects.read(name)[1]:
            code, _ = call_git(context.root, *own_keys(context), "verify-tag", name, answers=(0, 1))
            known = "by whom cannot be told here" if code else "with a key of yours: who, not when"
            yield f"tag {reference.removeprefix('refs/tags/')} on the commit that brought the seal: signed{', ' if code else ' '}{known}"


def list_tags(context: Context) -> list[tuple[str, str, str]]:
    """Object, what it points at in the end, and name of every annotated tag; asked once a context."""
    if "_tags" not in context.__dict__:
        shown = call_git(context.root, "for-each-ref", "--format=%(objectname) %(*objectname) %(refname)", "refs/tags")[1]
        lines = (line.split(" ", 2) for line in shown.decode(errors="surrogateescape").splitlines())
        context.__dict__["_tags"] = [(name, target, reference) for name, target, reference in lines if target]
    found: list[tuple[str, str, str]] = context.__dict__["_tags"]
    return found


def own_keys(context: Context) -> list[str]:
    """Options under which git verifies with the verifier's programs and keys alone."""
    settings = (*PROGRAMS, f"gpg.ssh.allowedSignersFile={find_signers(context)}")
    return [part for setting in settings for part in ("-c", setting)]


def find_signers(context: Context) -> str:
    """The verifier's own file of SSH keys; none where it lies in the audited project."""
    code, shown = call_git(context.root, "config", "--global", "--path", "--get", "gpg.ssh.allowedSignersFile", answers=(0, 1))
    path = shown.decode(errors="replace").strip()
    inside = bool(path) and (context.root / path).resolve().is_relative_to(context.root.resolve())
    return "/dev/null" if code or not path or inside or not Path(path).is_file() else path
