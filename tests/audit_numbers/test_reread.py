"""`audit changes`: the sentences in which something prints otherwise, with both forms; nothing else is listed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from paper_project import Paper, main_record, quantity

from audit.cli import cli, main

TEX = "manuscript/paper.tex"
MAIN, VERDICTS = "results/analyse/main.json", "results/evaluate/pilot.json"
CLAIM = "\\claim{main.untreated.close > main.untreated.gap}{The remedy outperforms.} More text.\n"
BEFORE = "manuscript/paper.tex:8:103: In eight of 10 runs the gap fell to [0.0887 -> 0.0912] nats, by -0.22, or x = 1.2e-5."


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    made = Paper(tmp_path)
    made.replace(TEX, "\\begin{table}", CLAIM + "\\begin{table}")
    made.commit()
    monkeypatch.chdir(tmp_path)
    return made


def changes(*words: str) -> list[str]:
    """What the command prints, without an error, by lines."""
    done = CliRunner().invoke(cli, ["changes", *words])
    assert done.exit_code == 0, done.output
    return done.output.splitlines()


def move(paper: Paper, value: float = 0.0912) -> None:
    paper.replace(MAIN, '"value": 0.0887', f'"value": {value}')


def test_a_moved_value_lists_its_sentences(paper: Paper) -> None:
    """Title, prose and caption, each with the old and the new printed form, and the key below."""
    move(paper)
    lines = changes()
    assert [line.partition(": ")[2] for line in lines if line.startswith(TEX)] == [
        "A gap of [0.0887 -> 0.0912]",
        "In eight of 10 runs the gap fell to [0.0887 -> 0.0912] nats, by -0.22, or x = 1.2e-5.",
        "With [0.0887 -> 0.0912].",
    ]
    assert lines.count("    main.untreated.gap: 0.0887 -> 0.0912") == 3
    assert lines[-1].startswith("3 places to read again from ") and lines[-1].endswith(" to the working tree; 0 cited values moved and print as before")


def test_each_place_is_where_the_source_has_it(paper: Paper) -> None:
    """File, line and column of the first use that moved."""
    move(paper)
    for line in changes()[:-1:2]:
        path, row, column = line.split(": ")[0].split(":")
        assert (paper.root / path).read_text().splitlines()[int(row) - 1][int(column) - 1 :].startswith("{main.untreated.gap}")


def test_a_value_that_prints_as_before_is_counted_only(paper: Paper) -> None:
    """Moved beyond its last printed digit."""
    move(paper, 0.08871)
    assert changes()[:-1] == [] and changes()[-1].endswith("1 cited value moved and print as before")


def test_a_changed_verdict_lists_the_sentence_with_its_new_branch(paper: Paper) -> None:
    """Both uses: the word, and the sentence that the word chooses."""
    paper.replace(VERDICTS, '"verdict": "missed"', '"verdict": "met"')
    paper.replace(VERDICTS, '"verdict": "met"', '"verdict": "undecided"')
    assert changes()[:-1] == ["manuscript/paper.tex:10:71: P1 was [met -> undecided]; it held.", "    pilot.P1: met -> undecided", "    pilot.P2: missed -> met"]


def test_a_claim_whose_truth_changed_is_listed(paper: Paper) -> None:
    """Though no number stands in its sentence."""
    paper.replace(MAIN, '"value": 0.9496', '"value": 0.01')
    assert changes()[:-1] == [
        "manuscript/paper.tex:11:7: The remedy outperforms.", "    main.untreated.close > main.untreated.gap: holds -> does not hold"
    ]  # fmt: skip


def test_a_moved_table_is_listed_by_its_template(paper: Paper) -> None:
    """With how many of its lines differ."""
    paper.replace(MAIN, '"value": 0.51', '"value": 0.61')
    assert changes()[:-1] == ["manuscript/tables/arms.tex.j2: the table it makes differs in 1 line"]


def test_two_commits_are_compared_as_they_stand_in_history(paper: Paper) -> None:
    """In both directions, and whatever lies in the working tree."""
    move(paper)
    paper.commit()
    move_again = (paper.root / MAIN).read_text().replace("0.0912", "0.5")
    paper.write(MAIN, move_again)
    assert "[0.0887 -> 0.0912]" in changes("HEAD~1", "HEAD")[0] and "[0.0912 -> 0.0887]" in changes("HEAD", "HEAD~1")[0]
    assert "[0.0887 -> 0.5000]" in changes("HEAD~1")[0]


def test_by_default_the_last_other_state_counts(paper: Paper) -> None:
    """The commit before the records moved, not the one before the last change of the text."""
    first = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    move(paper)
    paper.commit()
    paper.replace(TEX, "More text.", "Other text.")
    paper.commit()
    assert changes()[-1].startswith(f"3 places to read again from {first[:10]} to the working tree")


def test_a_value_that_was_not_there_is_told_as_such(paper: Paper) -> None:
    """A key that came, and one that went."""
    paper.record(MAIN, main_record() | {"fresh": quantity(3, 0)})
    paper.replace(TEX, "More text.", "More text of \\val{main.fresh} runs.")
    assert "    main.fresh: nothing -> 3" in changes()
    paper.commit()
    assert "    main.fresh: 3 -> nothing" in changes("HEAD", "HEAD~1")


def test_where_nothing_moved_it_says_so(paper: Paper) -> None:
    """Between a commit and itself, and in a history of one state."""
    assert changes("HEAD", "HEAD")[0].startswith("0 places to read again")
    assert changes() == ["no commit holds other values of the records that the manuscript can cite"]


def test_the_json_form_has_the_same(paper: Paper) -> None:
    """Places, texts and moves, by name."""
    move(paper)
    shown = json.loads("\n".join(changes("--format", "json")))
    assert (shown["kind"], shown["to"], shown["moved_and_print_as_before"]) == ("reread", "the working tree", 0)
    assert shown["sentences"][1]["moved"] == [{"what": "main.untreated.gap", "before": "0.0887", "after": "0.0912"}]
    assert BEFORE == f"{shown['sentences'][1]['place']}: {shown['sentences'][1]['text']}"


def test_a_pipe_gets_plain_lines(paper: Paper) -> None:
    """No colour, and no control character of a text reaches the terminal."""
    paper.replace(TEX, "nats,", "na\x1b[31mts,")
    move(paper)
    assert all(line.isprintable() for line in changes()) and any("\\x1b[31m" in line for line in changes())


@pytest.mark.parametrize("revision", ["nope", "--", "HEAD~99", "manuscript", ""])
def test_what_is_no_commit_is_one_line(paper: Paper, capsys: pytest.CaptureFixture[str], revision: str) -> None:
    """Exit code 2, nothing on standard output."""
    with pytest.raises(SystemExit) as stopped:
        main(["changes", "--format", "text", "--", revision])
    shown = capsys.readouterr()
    assert stopped.value.code == 2 and shown.out == "" and len(shown.err.splitlines()) == 1 and "no such commit" in shown.err


def test_without_manuscript_or_history_it_cannot_tell(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """One line each, exit code 2."""
    (paper.root / TEX).rename(paper.root / "kept.tex")
    with pytest.raises(SystemExit) as stopped:
        main(["changes"])
    assert stopped.value.code == 2 and "no manuscript" in capsys.readouterr().err
    (paper.root / "kept.tex").rename(paper.root / TEX)
    (paper.root / ".git").rename(paper.root / "gone")
    with pytest.raises(SystemExit) as stopped:
        main(["changes"])
    assert stopped.value.code == 2 and "no git history" in capsys.readouterr().err
