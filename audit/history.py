"""The history of a project, read from git in one hardened way; the only module that calls git."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import weakref
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from audit.finding import Refusal
from audit.objects import WHOLE_CLONE, Log, missing_object, parse_batch, parse_commit, parse_log, parse_tree, refuse_altered

__all__ = ["LINK", "SUBMODULE", "WHOLE_CLONE", "History", "Log", "Objects", "call_git"]

CONFIGURATION = (
    "core.commitGraph=false", "core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never", "core.quotePath=false",
    "advice.graftFileDeprecated=false",
)  # fmt: skip
SMALL = 2**16
"""Objects up to this many bytes are kept once read."""
FEW = 40
"""So many objects are asked for one by one in the time that a process of their own takes to start."""
LINK, SUBMODULE, FOLDER = "120000", "160000", "040000"
STARTS = "--glob=refs/tags/audit/start/*"


def git_command(*arguments: str) -> list[str]:
    """A git command line with the options that keep the local configuration out."""
    return ["git", *(part for setting in CONFIGURATION for part in ("-c", setting)), *arguments]


def git_environment() -> dict[str, str]:
    """An environment in which git believes no variable, replace ref or graft, and fetches nothing."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    fixed = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": "/dev/null", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}
    return {**kept, **fixed, "LC_ALL": "C"}


def call_git(root: Path, *arguments: str, answers: tuple[int, ...] = (0,), stdin: bytes = b"") -> tuple[int, bytes]:
    """Run git; any exit code that is not a documented answer means that nothing could be checked."""
    with tempfile.TemporaryFile() as answer:  # no pipe, which other threads would have to let us empty
        try:
            command, env = git_command(*arguments), git_environment()
            done = subprocess.run(command, cwd=root, env=env, input=stdin, stdout=answer, stderr=subprocess.PIPE, check=False)
        except FileNotFoundError:
            raise Refusal(root, "git is not installed", cure="install git 2.30 or newer") from None
        if done.returncode not in answers:
            reason = (done.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {done.returncode}"])[0]
            raise Refusal(root.name, f"git {arguments[0]} gave no answer", observed=reason)
        answer.seek(0)
        return done.returncode, answer.read()


def clone(root: Path, commit: str, work: Path) -> None:
    """Clone the repository around a folder with all of its history, object by object, and check a commit out; nothing but files is read."""
    top = call_git(root, "rev-parse", "--show-toplevel")[1].decode(errors="surrogateescape").removesuffix("\n")
    quiet = ("--quiet", "--no-local", "--no-checkout", "--template=", "-c", "protocol.file.allow=always")
    call_git(root, "clone", *quiet, "--", top, str(work))
    call_git(work, "checkout", "--quiet", "--detach", commit)


class Objects:
    """Git's objects by id, each id recomputed from the bytes that are believed."""

    def __init__(self, root: Path):
        self.root = root
        self._trees: dict[str, dict[str, tuple[str, str]]] = {}
        self._commits: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._digests: dict[str, str] = {}
        self._read: dict[str, tuple[str, bytes]] = {}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            git_command("cat-file", "--batch"), cwd=root, env=git_environment(), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
        )
        weakref.finalize(self, _stop, self._process)

    def read(self, name: str) -> tuple[str, bytes]:
        """The kind and bytes of an object; a missing or altered one could not be checked. Small ones are kept."""
        if name in self._read:
            return self._read[name]
        source, sink = self._process.stdout, self._process.stdin
        assert source is not None and sink is not None
        with suppress(BrokenPipeError):
            sink.write(name.encode() + b"\n")
            sink.flush()
        header = source.readline().split()
        if len(header) != 3:
            raise missing_object(name)
        kind, size = header[1].decode(), int(header[2])
        data = source.read(size)
        source.read(1)
        refuse_altered(name, kind, data)
        if size <= SMALL:
            self._read[name] = kind, data
        return kind, data

    def load(self, names: Iterable[str]) -> None:
        """Read small objects, so that they are known from here on; each id is recomputed. Many, one by one, take ten times as long."""
        wanted = [name for name in dict.fromkeys(names) if name not in self._read and name not in self._trees]
        found: Iterable[tuple[str, str, bytes]] = ((name, *self.read(name)) for name in wanted)
        if len(wanted) > FEW:
            found = parse_batch(call_git(self.root, "cat-file", "--batch", "--buffer", stdin=("\n".join(wanted) + "\n").encode())[1], wanted)
        for name, kind, data in found:
            if kind == "commit":
                self._commits[name] = parse_commit(data)
            elif kind == "tree":
                self._trees[name] = parse_tree(data, len(name) // 2)
            else:
                self._read[name] = kind, data

    def trees(self, names: set[str]) -> list[dict[str, tuple[str, str]]]:
        """Many trees, read at once."""
        self.load(names)
        return [self.tree(name) for name in names]

    def blob(self, name: str) -> bytes:
        """The bytes of a blob."""
        return self.read(name)[1]

    def sha256(self, name: str) -> str:
        """The SHA-256 of a blob's bytes."""
        if name not in self._digests:
            self._digests[name] = hashlib.sha256(self.blob(name)).hexdigest()
        return self._digests[name]

    def tree(self, name: str) -> dict[str, tuple[str, str]]:
        """A tree as name -> (mode, object id)."""
        if name not in self._trees:
            self._trees[name] = parse_tree(self.read(name)[1], len(name) // 2)
        return self._trees[name]

    def commit(self, name: str) -> tuple[str, tuple[str, ...]]:
        """The tree and the parents of a commit."""
        if name not in self._commits:
            kind, data = self.read(name)
            if kind != "commit":
                raise Refusal(f"git object {name[:12]}", "is no commit", observed=kind)
            self._commits[name] = parse_commit(data)
        return self._commits[name]

    def entry(self, commit: str, path: str) -> tuple[str, str] | None:
        """Mode and id of what a commit's tree holds at a path, or None."""
        found: tuple[str, str] | None = (FOLDER, self.commit(commit)[0])
        for part in path.split("/"):
            if part in ("", "."):
                continue
            if found is None or found[0] != FOLDER:
                return None
            found = self.tree(found[1]).get(part)
        return found

    def holds_blob(self, commit: str, blob: str) -> bool:
        """Whether a commit's tree holds a blob at any path."""
        pending = [self.commit(commit)[0]]
        while pending:
            for mode, name in self.tree(pending.pop()).values():
                if name == blob:
                    return True
                if mode == FOLDER:
                    pending.append(name)
        return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.close()
    process.wait()


def _describe_clone(root: Path) -> tuple[bool, str, str]:
    """Whether it is shallow, its HEAD, and where its objects lie: the last may hold a line end, the others cannot."""
    code, shown = call_git(root, "rev-parse", "--is-shallow-repository", "HEAD^{commit}", "--git-common-dir", answers=(0, 128))
    if code:
        call_git(root, "rev-parse", "--verify", "-q", "HEAD^{commit}", answers=(1,))  # anything else is no answer
        raise Refusal(root.name, "the git repository has no commit yet", cure="git add audit.toml && git commit")
    shallow, head, common = shown.decode(errors="surrogateescape").removesuffix("\n").split("\n", 2)
    return shallow == "true", head, common


class History:
    """Every commit reachable from HEAD or from a tag `audit/start/*`, with every parent of every merge."""

    def __init__(self, root: Path, prefix: str, head: str, shallow: bool, grafts: bool, folders: tuple[str, ...]):
        self.root, self.prefix, self.head, self.shallow, self.grafts, self.folders = root, prefix, head, shallow, grafts, folders
        self._ancestors: dict[str, frozenset[str]] = {}
        self._ever: dict[tuple[str, str], list[str]] = {}

    @classmethod
    def open(cls, root: Path, folders: tuple[str, ...] = ()) -> History:
        """Find the repository that tracks the project's `audit.toml`; a repository that merely surrounds it is not its history.

        `folders` are those of the project whose trees decide: their ids are recomputed in every commit.
        """
        try:
            prefix = call_git(root, "rev-parse", "--show-prefix")[1].decode(errors="surrogateescape").removesuffix("\n")
        except Refusal as refusal:
            cure = "clone the repository with its history (a downloaded archive has none)"
            raise Refusal(root.name, "no git history to check the order in", observed=refusal.observed, cure=cure) from None
        shallow, head, common = _describe_clone(root)
        history = cls(root, prefix, head, shallow, (root / common / "info" / "grafts").is_file(), folders)
        if history.entry(history.head, "audit.toml") is None:
            cure = "git add audit.toml && git commit, or clone the project's own repository"
            raise Refusal("audit.toml", "is not tracked by the git repository around it", expected="the project's own history", cure=cure)
        return history

    @cached_property
    def objects(self) -> Objects:
        """The objects of this repository."""
        return Objects(self.root)

    @cached_property
    def log(self) -> Log:
        """One pass over all commits, each id recomputed; never `git log -- path`, which loses commits."""
        log = self._pass("HEAD", STARTS)
        self._recompute(log)
        return log

    @cached_property
    def elsewhere(self) -> Log:
        """The same of what this clone holds beside its history: on branches, experiments, stashes and in reflogs."""
        return self._pass("--all", "--reflog", "--not", "HEAD", STARTS)

    def _pass(self, *revisions: str) -> Log:
        options = ("--diff-merges=separate", "--raw", "--root", "--no-renames", "--no-abbrev", "--no-show-signature", "--no-relative", "-z")
        shown = call_git(self.root, "log", *options, "--format=%x01%H %P", *revisions, "--")[1]
        return parse_log(shown)

    def _recompute(self, log: Log) -> None:
        """Recompute the id of every commit, and of every tree on the way to and inside the folders that decide."""
        self.objects.load(log.parents)
        for commit, parents in log.parents.items():
            if self.objects.commit(commit)[1] != parents and not self.shallow:  # a shallow clone, in which no order is checked, ends in some
                raise Refusal(f"git object {commit[:12]}", "git names other parents than its bytes", cure="git fsck, then clone again")
        roots, level, seen = {self.objects.commit(commit)[0] for commit in log.parents}, set(), set()
        for folder in self.folders:
            below = roots
            for part in filter(None, (self.prefix + folder).split("/")):
                found = (tree.get(part) for tree in self.objects.trees(below))
                below = {entry[1] for entry in found if entry is not None and entry[0] == FOLDER}
            level |= below
        while level := level - seen:
            seen |= level
            level = {name for tree in self.objects.trees(level) for mode, name in tree.values() if mode == FOLDER}

    def knows(self, commit: str) -> bool:
        """Whether a commit belongs to this history."""
        return commit in self.log.parents

    def date(self, commit: str) -> int:
        """When a commit says it was made, in seconds since 1970; it may say anything."""
        line = next(line for line in self.objects.read(commit)[1].split(b"\n") if line.startswith(b"committer "))
        return int(line.split()[-2])

    def entry(self, commit: str, path: str) -> tuple[str, str] | None:
        """Mode and id of what a commit holds at a path of the project."""
        return self.objects.entry(commit, self.prefix + path)

    def blob_at(self, commit: str, path: str) -> str | None:
        """Id of the plain file a commit holds at a path of the project, or None."""
        entry = self.entry(commit, path)
        return entry[1] if entry and entry[0].startswith("100") else None

    def bytes_at(self, commit: str, path: str) -> bytes | None:
        """Bytes of the plain file a commit holds at a path of the project, or None."""
        blob = self.blob_at(commit, path)
        return None if blob is None else self.objects.blob(blob)

    def names_at(self, commit: str, folder: str) -> list[str]:
        """Paths of the entries of a folder of the project in a commit; [] where it has none."""
        entry = self.entry(commit, folder)
        return [f"{folder}/{name}" for name in self.objects.tree(entry[1])] if entry and entry[0] == FOLDER else []

    def versions(self, path: str) -> list[str]:
        """Blobs that ever stood at a path of the project, newest first."""
        return list(self.log.versions.get(self.prefix + path, ()))

    def paths_ever(self, folder: str, suffix: str) -> list[str]:
        """Paths of the project under a folder, with a suffix, that any commit ever held."""
        if (folder, suffix) not in self._ever:
            start = f"{self.prefix}{folder}/"
            found = (path.removeprefix(self.prefix) for path in self.log.versions if path.endswith(suffix) and path.startswith(start))
            self._ever[folder, suffix] = sorted(found)
        return list(self._ever[folder, suffix])

    def blob_id(self, data: bytes) -> str:
        """The id git gives to these bytes."""
        return hashlib.new("sha1" if len(self.head) == 40 else "sha256", b"blob %d\0" % len(data) + data).hexdigest()

    def introductions(self, blob: str) -> list[str]:
        """Commits whose tree holds the blob at any path while the tree of none of their parents does."""
        wanted = self.log.additions.get(blob, {})
        new = [commit for commit, count in wanted.items() if count == max(1, len(self.log.parents[commit]))]
        if len(self.log.paths.get(blob, ())) < 2:
            return new
        return [commit for commit in new if not any(self.objects.holds_blob(parent, blob) for parent in self.log.parents[commit])]

    def ancestors(self, commit: str) -> frozenset[str]:
        """A commit of this history and everything it descends from."""
        if commit not in self._ancestors:
            seen, pending = {commit}, [commit]
            while pending:
                pending += (fresh := [parent for parent in self.log.parents.get(pending.pop(), ()) if parent not in seen])
                seen.update(fresh)
            self._ancestors[commit] = frozenset(seen)
        return self._ancestors[commit]

    @cached_property
    def changed(self) -> tuple[str, ...]:
        """Tracked files of the repository that differ from HEAD, in the index or the working tree, relative to the project."""
        shown = call_git(self.root, "status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames")[1]
        paths = [line[3:].decode(errors="surrogateescape") for line in shown.split(b"\0") if line]
        return tuple(sorted(path.removeprefix(self.prefix) for path in paths))
