"""Which of some commits another descends from, in one pass over a history of any shape."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from audit.ancestry import find_ancestors

PARENTS = {"root": (), "left": ("root",), "right": ("root",), "merge": ("left", "right"), "other": ()}


def test_a_merge_descends_from_both_sides() -> None:
    """Both parents count, a sibling does not, and an unrelated root neither."""
    found = find_ancestors(PARENTS, ["merge", "left", "right", "other", "unknown"])
    assert found == {
        "merge": frozenset({"merge", "left", "right"}), "left": frozenset({"left"}), "right": frozenset({"right"}), "other": frozenset({"other"}),
    }  # fmt: skip


@st.composite
def histories(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    """Commits by number, each with up to three earlier parents."""
    count = draw(st.integers(1, 12))
    return {str(commit): tuple(map(str, draw(st.sets(st.integers(0, commit - 1), max_size=3)))) if commit else () for commit in range(count)}


@given(histories())
def test_it_is_what_walking_from_each_commit_gives(parents: dict[str, tuple[str, ...]]) -> None:
    """The one pass agrees with a walk from every commit."""

    def walk(commit: str) -> set[str]:
        return {commit}.union(*map(walk, parents[commit]))

    assert find_ancestors(parents, parents) == {commit: frozenset(walk(commit)) for commit in parents}
