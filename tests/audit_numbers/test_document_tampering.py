"""Each finding code of numbers and document: absent before the act, found after it, and gone with its check disabled."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from paper_project import Paper, main_record, quantity, verdict_record

from audit.building import build
from audit.finding import Severity
from audit.load import write_bytes

TEX = "manuscript/paper.tex"
END = "\\end{document}"


def add(text: str) -> Callable[[Paper], None]:
    """Put a sentence before the end of the document."""
    return lambda paper: paper.replace(TEX, END, text + "\n" + END)


def exempt(pattern: str, count: int = 1) -> Callable[[Paper], None]:
    """An exemption for a pattern in the main source."""
    text = f"version: 1\nexemptions:\n  - {{place: {TEX}, pattern: '{pattern}', reason: quoted from the archive, count: {count}}}\n"
    return lambda paper: paper.write("manuscript/exemptions.yaml", text)


def both(*acts: Callable[[Paper], None]) -> Callable[[Paper], None]:
    return lambda paper: [act(paper) for act in acts][0]


def preamble(text: str) -> Callable[[Paper], None]:
    """Put a line before the document begins."""
    return lambda paper: paper.replace(TEX, "\\begin{document}", text + "\n\\begin{document}")


def write(name: str, text: str) -> Callable[[Paper], None]:
    """A file beside the manuscript."""
    return lambda paper: paper.write(f"manuscript/{name}", text)


def package(name: str, load: str, text: str) -> Callable[[Paper], None]:
    """A package beside the manuscript that the manuscript loads."""
    return both(write(name, text), preamble(load))


PARAMETERS = lambda paper: paper.write("params.yaml", "scales:\n  a: {optimiser: {learning_rate: 2.0e-3, weight_decay: 0.1}}\n  b: {optimiser: {weight_decay: 0.1}}\n")


def edit_record(paper: Paper) -> None:
    paper.replace("results/analyse/main.json", "0.0887", "0.0881")


def exclude(paper: Paper) -> None:
    """Two runs of twelve did not settle; that no more than eight recovered hangs on them."""
    paper.replace("prereg/pilot.yaml", 'comparator: {op: ">=", value: 9}', 'comparator: {op: "<=", value: 8}\n    undecided: {key: settled, op: "<", value: 5}')
    paper.record("results/analyse/main.json", main_record() | {"settled": quantity(10, 0, style="integer", values=[1] * 10 + [0] * 2, summary="count")})
    paper.replace("results/evaluate/pilot.json", '"missed"', '"met"')


def tabulate(template: str) -> Callable[[Paper], None]:
    """Include a table made from a template."""
    return both(write("tables/more.tex.j2", template), add("\\input{generated/more}"))


ATTRITION = "%% for row in attrition()\n<< row.prediction | label >>: << row.verdict >>, << row.against >><% if row.excluded is defined %>, << row.excluded | val >><% endif %>\n%% endfor\n"
PHRASES = "%% for row in denominator().registrations\n<< row.id | label >>: << row.phrase | label >>\n%% endfor\n"
VERDICTS = "%% for row in verdicts.pilot.predictions\n<< row.id | label >> << row.verdict >>\n%% endfor\n"
COUNTS = "Of \\val{pilot.of} predictions \\val{pilot.met} was met."


def shares(paper: Paper) -> None:
    """Two shares, one near none and one near all."""
    paper.record("results/analyse/main.json", main_record() | {"small": quantity(0.004, 3), "nearly": quantity(0.996, 3)})


def observe(paper: Paper) -> None:
    """The verdicts' own copy of what was judged."""
    record = verdict_record()
    record["predictions"][0]["observed"] = quantity(0.0887, 4)
    paper.record("results/evaluate/pilot.json", record)


def loosen(paper: Paper) -> None:
    """A gap that a recomputation may move."""
    record = main_record()
    record["untreated"]["gap"]["tolerance"] = 0.001
    paper.record("results/analyse/main.json", record)


def uncount(paper: Paper) -> None:
    paper.replace(TEX, COUNTS, "")


ACTS: dict[str, tuple[str, str, Callable[[Paper], None], str]] = {
    "typed result": ("A401", "numbers", add("The gap was 0.0887 nats."), r"nearest: \val{main.untreated.gap} = 0.0887"),
    "typed rounding": ("A401", "numbers", add("The gap was 0.09 nats."), r"nearest: \val[fixed.2]{main.untreated.gap} = 0.09, a rounding of 0.0887"),
    "invented result": ("A401", "numbers", add("The gap was 0.7777 nats."), "matches nothing: no record's quantity prints it"),
    "typed in a caption": ("A401", "numbers", lambda paper: paper.replace(TEX, "\\caption{With", "\\caption{Of 0.51, with"), "typed number 0.51"),
    "typed in a footnote": ("A401", "numbers", add("Text\\footnote{The gain was 0.52.}."), "typed number 0.52"),
    "typed in words": ("A401", "numbers", add("Eight of ten runs recovered."), "number in words Eight of ten"),
    "typed in a template": ("A401", "numbers", lambda paper: paper.replace("manuscript/tables/arms.tex.j2", "\\bottomrule", "ours & 0.53 \\\\ \\bottomrule"), "arms.tex.j2:6"),
    "typed in an included file": ("A401", "numbers", both(lambda paper: paper.write("manuscript/more.tex", "The gap was 0.54."), add("\\input{more}")), "manuscript/more.tex:1:13"),
    "typed in verbatim text": ("A401", "numbers", add("We got \\verb|0.4417| nats.\n\\begin{verbatim}\nloss 0.5\n\\end{verbatim}"), "note: not checked: 2 numbers in verbatim text or a listing, first 0.4417"),
    "mistyped key": ("A402", "keys", add("\\val{main.untreated.gpa}"), "nearest keys: main.untreated.gap"),
    "unlisted record": ("A402", "keys", add("\\val{other.untreated.gap}"), "nearest keys: main.untreated.gap"),
    "not a quantity": ("A402", "keys", add("\\val{main.untreated}"), "ends at no quantity"),
    "unfit format": ("A402", "keys", add("\\val[word]{main.untreated.gap}"), "not a whole number"),
    "constant unlike its parameter": ("A412", "constants", both(PARAMETERS, add("We trained with a learning rate of 0.003.")), "learning rate 0.003 is not what params.yaml holds; found 0.002"),
    "percentage unlike its parameter": ("A412", "constants", both(PARAMETERS, add("The weight decay was set to 20\\%.")), "weight decay 20\\%"),
    "own result beside a citation": ("A413", "quoted", add("We reach less than the 0.45 of \\cite{x2019} here."), "0.45 (line "),
    "unknown verdict": ("A402", "keys", add("\\verdict{pilot.P9}"), "nearest: pilot.P"),
    "unknown provenance": ("A402", "keys", add("\\prov{main.commit}"), "no provenance value"),
    "record moved on": ("A403", "generated", edit_record, "made from another version of results/analyse/main.json"),
    "generated file edited": ("A403", "generated", lambda paper: paper.replace("manuscript/generated/arms.tex", "0.51", "0.61"), "edited by hand"),
    "generated file lost": ("A403", "generated", lambda paper: (paper.root / "manuscript/generated/arms.tex").unlink(), "is missing"),
    "generated file planted": ("A403", "generated", lambda paper: paper.write("manuscript/generated/x.tex", "0.5"), "a file that nothing generates"),
    "exemption of nothing": ("A404", "exemptions", exempt("0.99"), "expected 1 place, named once; found 0"),
    "exemption too wide": ("A404", "exemptions", both(add("The gap was 0.99, then 0.99."), exempt("0.99")), "found 2"),
    "missing input": ("A405", "manuscript", add("\\input{gone}"), "included file is missing: gone"),
    "manuscript deleted": ("A405", "manuscript", both(Paper.commit, lambda paper: (paper.root / TEX).unlink()), "the manuscript is missing; its numbers were not read"),
    "manuscript misnamed": ("A405", "manuscript", lambda paper: paper.write("audit.toml", "version = 1\n[paths]\nmanuscript = 'manuscript/papr.tex'\n"), "or correct [paths] in audit.toml"),
    "open brace": ("A405", "manuscript", add("{ open"), "a group"),
    "verdict left out": ("A406", "shown", lambda paper: paper.replace(TEX, "\\ifverdict{pilot.P2}{it held}{it failed}{it is open}", "no"), "the verdict of pilot.P2 is not shown"),
    "verdict left out by empty sentences": ("A406", "shown", lambda paper: paper.replace(TEX, "{it held}{it failed}{it is open}", "{}{}{}"), "the verdict of pilot.P2 is not shown"),
    "one sentence for both verdicts": (
        "A406", "shown", lambda paper: paper.replace(TEX, "{it held}{it failed}", "{it\n held}{it held}"), "\\ifverdict{pilot.P2} says the same whether it is met or missed"
    ),
    "verdict in a comment": ("A406", "shown", lambda paper: paper.replace(TEX, "P1 was \\verdict", "% P1 was \\verdict"), "the verdict of pilot.P1 is not shown"),
    "macro redefined": ("A407", "constructs", lambda paper: paper.replace(TEX, "\\begin{document}", "\\renewcommand{\\val}[2][]{0.5}\\begin{document}"), "redefined outside generated/"),
    "macro let": ("A407", "constructs", lambda paper: paper.replace(TEX, "\\begin{document}", "\\let\\verdict\\relax\\begin{document}"), "redefined"),
    "number computed by TeX": ("A407", "constructs", add("\\the\\numexpr 90+9\\relax"), "computes a number"),
    "catcode": ("A407", "constructs", add("\\catcode`\\1=13"), "changes what characters mean"),
    "siunitx rounds": ("A407", "constructs", add("\\sisetup{round-mode=places}"), "lets LaTeX round"),
    "siunitx rounds everything": ("A407", "constructs", preamble(r"\usepackage[round-mode = places, round-precision=1]{siunitx}"), "round-precision lets LaTeX round"),
    "siunitx rounds one number": ("A407", "constructs", add(r"\qty[round-precision=1]{\val{main.untreated.gap}}{\nat}"), "round-precision lets LaTeX round"),
    "siunitx rounds a column": ("A407", "constructs", add(r"\begin{tabular}{lS[table-format=1.2,round-mode=places]} a & x \\ \end{tabular}"), "round-mode lets LaTeX round"),
    "siunitx adds digits": ("A407", "constructs", add("\\sisetup{minimum-decimal-digits=5}"), "minimum-decimal-digits lets LaTeX round"),
    "macro by name": ("A407", "constructs", preamble(r"\AtBeginDocument{\expandafter\def\csname verdict\endcsname#1{met}}"), r"\csname reaches macros by name"),
    "macro copied over": ("A407", "constructs", preamble(r"\RenewCommandCopy\verdict\textbf"), r"\verdict is redefined"),
    "macro made robust": ("A407", "constructs", preamble(r"\usepackage{etoolbox}\renewrobustcmd\verdict[1]{met}"), r"\verdict is redefined"),
    "macro by etoolbox": ("A407", "constructs", preamble(r"\csdef{verdict}#1{met}"), r"\csdef reaches macros by name"),
    "macro in LaTeX3": ("A407", "constructs", preamble(r"\ExplSyntaxOn\cs_set:Npn\verdict#1{met}\ExplSyntaxOff"), r"\ExplSyntaxOn reaches"),
    "macro passed on": ("A407", "constructs", preamble(r"\def\x{\verdict}\expandafter\renewcommand\x[1]{met}"), r"\verdict stands without its arguments"),
    "macro in a local package": ("A407", "constructs", package("own.sty", r"\usepackage{own}", r"\renewcommand\verdict[1]{met}"), "manuscript/own.sty:1"),
    "macro in a package's package": ("A407", "constructs", both(package("own.sty", r"\usepackage{own}", r"\RequirePackage{in}"), write("in.sty", r"\csname x\endcsname")), "manuscript/in.sty:1"),
    "macro in settings": ("A407", "constructs", write("geometry.cfg", r"\def\verdict#1{met}"), "manuscript/geometry.cfg:1"),
    "number in a local package": ("A401", "numbers", package("own.sty", r"\usepackage{own}", "\\newcommand\\gap{The gap fell to 0.7777 nats.}"), "manuscript/own.sty:1"),
    "counter": ("A407", "constructs", add(r"\newcounter{c}\setcounter{c}{977}0.\arabic{c}"), "sets the counter c"),
    "register": ("A407", "constructs", add(r"\count255=977 0.\the\count255"), "keeps a number in a register"),
    "file read as text": ("A407", "constructs", add(r"\verbatiminput{x}"), "reads a file that is not checked"),
    "first row of a table": ("A401", "numbers", add(r"\begin{tabular}{lr} rank & 0.977 \\ loss & 0.966 \\ \end{tabular}"), "0.977"),
    "first row above a rule": ("A401", "numbers", add(r"\begin{tabular}{lr} rank & 0.977 \\ \midrule loss & x \\ \end{tabular}"), "0.977"),
    "count in a first row": ("A401", "numbers", add(r"\begin{tabular}{lr} recovered & 977 \\ lost & 966 \\ \end{tabular}"), "977"),
    "row after a note": ("A401", "numbers", add(r"\begin{tabular}{lr} a & b \\ rank\footnote{n} & 0.977 \\ c & d \\ \end{tabular}"), "0.977"),
    "broken template": ("A408", "templates", lambda paper: paper.replace("manuscript/tables/arms.tex.j2", "arm.gap", "arm.gpa"), "has no gpa"),
    "bare number in a template": ("A408", "templates", lambda paper: paper.replace("manuscript/tables/arms.tex.j2", "\\bottomrule", "<< 5 >>"), "only quantities and text"),
    "label of nothing": ("A402", "keys", add("\\confirmatory{main.untreated.gpa}"), "nearest keys: main.untreated.gap"),
    "unknown registration": ("A402", "keys", add("\\unjudged{pilto}{it was never run}"), "no sealed registration 'pilto'"),
    "label redefined": ("A407", "constructs", preamble(r"\renewcommand{\confirmatory}[1]{confirmatory}"), r"\confirmatory is redefined"),
    "reason redefined": ("A407", "constructs", preamble(r"\let\unjudged\relax"), r"\unjudged is redefined"),
    "claim that does not hold": ("A416", "claims", add("\\claim{main.untreated.close < main.untreated.gap}{The remedy outperforms.}"), "main.untreated.close = 0.9496, main.untreated.gap = 0.0887"),
    "claim that a record no longer bears out": ("A416", "claims", both(add("\\claim{main.untreated.gap >= 0.0885}{It does not differ.}"), edit_record), "claim does not hold: main.untreated.gap >= 0.0885"),
    "claim of a verdict that is another": ("A416", "claims", add("\\claim{pilot.P2 is met}{More recover.}"), "pilot.P2 is missed"),
    "claim that may turn": ("A418", "claims", both(loosen, add("\\claim{main.untreated.gap < 0.089}{It stays small.}")), "claim holds, and may not after a recomputation within tolerance"),
    "claim of nothing": ("A417", "claims", add("\\claim{main.untreated.gpa > 1}{The remedy outperforms.}"), "nearest keys: main.untreated.gap"),
    "claim without a condition": ("A417", "claims", add("\\claim{}{The remedy outperforms.}"), "the condition '' cannot be read"),
    "claim redefined": ("A407", "constructs", preamble(r"\renewcommand\claim[2]{#2}"), r"\claim is redefined"),
    "number typed in a claim": ("A401", "numbers", add("\\claim{main.untreated.gap < 1}{The gap fell to 0.7777 nats}."), "typed number 0.7777"),
    "typed in a reason": ("A401", "numbers", add("\\unjudged{pilot}{the gap was 0.7777 nats}"), "typed number 0.7777"),
    "verdict that hangs on what was left out": ("A410", "attrition", exclude, "pilot.P2 is met without 2 excluded units (undecided where settled < 5) and missed with them"),
    "attrition in a table that is not included": ("A410", "attrition", both(exclude, write("tables/more.tex.j2", ATTRITION)), "an included table over attrition()"),
    "verdicts without their number": ("A411", "denominator", uncount, "shows verdicts of pilot and not of how many"),
    "half of the number": ("A411", "denominator", lambda paper: paper.replace(TEX, "Of \\val{pilot.of} predictions", "Predictions:"), "shows verdicts of pilot"),
    "none of some": ("A409", "rounding", both(shares, add("\\val[percent.0]{main.small}")), "main.small is printed 0%, which reads as none"),
    "all of nearly all": ("A409", "rounding", both(shares, add("\\val[percent.0]{main.nearly}")), "main.nearly is printed 100%, which reads as all"),
    "nothing of something": ("A409", "rounding", add("\\val[fixed.0]{main.untreated.gap}"), "main.untreated.gap is printed 0, which reads as none"),
    "rounded across the target in a table": (
        "A409", "rounding", both(write("tables/more.tex.j2", '<< main.untreated.gap | val("fixed.3") >>'), add("\\input{generated/more}")),
        "manuscript/tables/more.tex.j2 main.untreated.gap is printed 0.089, which would change the verdict of pilot.P1",
    ),
    "judged value rounded in the table of verdicts": (
        "A409", "rounding", both(observe, write("tables/more.tex.j2", '<< verdicts.pilot.predictions[0].observed | val("fixed.3") >>'), add("\\input{generated/more}")),
        "pilot.predictions.0.observed is printed 0.089, which would change the verdict of pilot.P1",
    ),
    "number put together by a template": (
        "A408", "templates", lambda paper: paper.replace("manuscript/tables/arms.tex.j2", "\\bottomrule", '<< "eight" >> runs recovered \\\\ \\bottomrule'), "prints eight, a measured number that no filter printed",
    ),
    "another unit": ("A419", "units", add("It took \\val{main.untreated.gap}~seconds."), r"\val{main.untreated.gap} is followed by 'seconds'; expected its unit, nats"),
    "rounded across the target": ("A409", "rounding", add("\\val[fixed.3]{main.untreated.gap}"), "would change the verdict of pilot.P1"),
}


@pytest.fixture
def paper(tmp_path: Path) -> Paper:
    made = Paper(tmp_path)
    made.render()
    return made


def test_the_untouched_project_holds(paper: Paper) -> None:
    """Nothing is found before anything is done; what is not built is a note."""
    assert [finding.line() for finding in paper.report().findings if finding.severity is not Severity.NOTE] == []


@pytest.mark.parametrize(("code", "check", "act", "words"), ACTS.values(), ids=ACTS)
def test_each_act_is_found_by_its_check(paper: Paper, code: str, check: str, act: Callable[[Paper], None], words: str) -> None:
    """The finding has the code and says what it should; with the check disabled the code is not found."""
    act(paper)
    found = [finding for finding in paper.report().findings if finding.code == code]
    assert found and any(words in finding.line() for finding in found)
    assert all(finding.code != code for finding in paper.report(check).findings)


HONEST: dict[str, Callable[[Paper], None]] = {
    "exempted with the right count": both(add("The gap was 0.99, then 0.99."), exempt("0.99", 2)),
    "number in a comment": add("% The gap was 0.98."),
    "year, section and seed": add("In 2019, see Section 3; we used seed 7 and 12 layers."),
    "code without results": add("\\begin{verbatim}\nfor i in range(3): run(seed=7)\n\\end{verbatim}"),
    "value quoted from elsewhere": add("An earlier study found 0.61 \\cite{x2019}."),
    "constant like its parameter": both(PARAMETERS, add("We trained with a learning rate of $2\\times10^{-3}$ and a weight decay of 10\\%.")),
    "constant of something else": both(PARAMETERS, add("We set the temperature to 0.7 and used 12 layers; the rate of learning is not at issue.")),
    "construct exempted by name": both(add("\\catcode`\\@=11"), exempt("\\catcode")),
    "siunitx does not round": both(preamble(r"\usepackage{siunitx}\sisetup{round-mode=none}"), add("% \\sisetup{round-mode=places}\n\\num{\\val{main.untreated.gap}}")),
    "page layout": preamble(r"\setcounter{topnumber}{3}\setcounter{secnumdepth}{2}\renewcommand{\topfraction}{0.9}"),
    "local package": package("own.sty", r"\usepackage{own}", "\\NeedsTeXFormat{LaTeX2e}\n\\setlength{\\parskip}{0.5ex}\n\\newcommand{\\ours}{the remedy}\n"),
    "header of a table": add(r"\begin{tabular}{lrrr} share & 0.1 & 0.5 & 0.9 \\ \midrule depth & x & y & z \\ \end{tabular}"),
    "no manuscript at all": lambda paper: (paper.root / TEX).unlink(),
    "header of depths": add(r"\begin{tabular}{lr} depth & 12 \\[2pt] \hline a & x \\ \end{tabular}"),
    "macro broken over lines": add("\\val%\n  [fixed.5] {main.untreated.gap}"),
    "verdict that hangs on what was left out, and says so": both(exclude, tabulate(ATTRITION)),
    "number by a table of all verdicts": both(uncount, tabulate(VERDICTS)),
    "label in a sentence": add("The gap is \\confirmatory{main.untreated.gap}."),
    "rounded, and said with its decimals": both(shares, add("\\val[percent.1]{main.small}, \\val[percent.1]{main.nearly}, \\val[fixed.1]{main.small}, \\val[min]{main.untreated.recovered}")),
    "macro of a template": both(write("tables/more.tex.j2", "<% macro row(q) %>\\textbf{<< q | val >>}<% endmacro %><< row(main.untreated.gap) >>"), add("\\input{generated/more}")),
    "claim that holds": add("\\claim{main.untreated.gap < 0.1 and main.untreated.close - main.untreated.gap > 0.7777}{The remedy outperforms \\val{main.untreated.gap}.}"),
    "claim for another outcome": lambda paper: paper.replace(TEX, "{it held}", "{\\claim{main.untreated.recovered > 9}{more held}}"),
    "its own unit": add("A gap of \\val{main.untreated.gap} nats, of \\val[percent]{main.untreated.share} steps, \\val{main.untreated.gap} a step, one \\val[max]{main.untreated.recovered}-step run."),
    "more digits": add("\\val[fixed.5]{main.untreated.gap}"),
}


@pytest.mark.parametrize("act", HONEST.values(), ids=HONEST)
def test_the_honest_twin_stays_green(paper: Paper, act: Callable[[Paper], None]) -> None:
    """The honest form of the same act finds nothing of numbers or sources."""
    act(paper)
    codes = {finding.code for finding in paper.report("generated", "pdf").findings if finding.severity is not Severity.NOTE}
    assert codes == set()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Paper:
    """A project with its PDF, built once."""
    made = Paper(tmp_path_factory.mktemp("built"))
    made.render()
    (folder := made.root / "out").mkdir()
    write_bytes(made.root / "manuscript/paper.pdf", build(made.context, folder)[0].read_bytes())
    return made


def copy(built: Paper, root: Path) -> Paper:
    shutil.copytree(built.root, root / "copy")
    made = object.__new__(Paper)
    made.root = root / "copy"
    return made


PDF_ACTS: dict[str, tuple[str, Callable[[Paper], None], str]] = {
    "built from other sources": ("A504", add("More text."), "built from other sources"),
    "no PDF at all": ("A501", lambda paper: (paper.root / "manuscript/paper.pdf").unlink(), "not built here"),
    "no generated files": ("A501", lambda paper: shutil.rmtree(paper.root / "manuscript/generated"), "could not check: the generated files that it was built from are not here"),
    "no PDF but a text": ("A501", lambda paper: paper.write("manuscript/paper.pdf", "text"), "not readable as a PDF"),
}


def test_the_built_project_holds(built: Paper) -> None:
    """A PDF built from the sources finds nothing, not even a note."""
    assert [finding.line() for finding in built.report().findings] == []


@pytest.mark.parametrize(("code", "act", "words"), PDF_ACTS.values(), ids=PDF_ACTS)
def test_each_pdf_act_is_found(built: Paper, tmp_path: Path, code: str, act: Callable[[Paper], None], words: str) -> None:
    """What was done to the PDF is found, and gone with the check disabled."""
    paper = copy(built, tmp_path)
    act(paper)
    assert any(finding.code == code and words in finding.line() for finding in paper.report().findings)
    assert all(finding.code != code for finding in paper.report("pdf").findings)
