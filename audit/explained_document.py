"""What the finding codes of numbers (A4xx) and of the document (A5xx) mean, why they matter, how to cure them."""

EXPLAINED_DOCUMENT: dict[str, tuple[str, str, str]] = {
    "A400": (
        "A check of numbers stopped before its end.",
        "What was not checked is not known to hold.",
        "Read the line: it names the file that gave no answer.",
    ),
    "A401": (
        "A measured number is typed into the manuscript or a template; as a note: what verbatim text and listings show was not checked.",
        "It stays when the result moves, and nobody can say which run it came from.",
        "Cite it with \\val{record.path}; or, where it is no result, exempt it in exemptions.yaml with a reason.",
    ),
    "A402": (
        "A key in \\val, \\verdict, \\ifverdict, \\prov, \\confirmatory or \\unjudged names nothing, its format does not fit, or a reason is missing.",
        "LaTeX would stop, or a number would stand in the text that no record holds.",
        "Take one of the nearest keys the line names, or rerun the stage that writes the record.",
    ),
    "A403": (
        "A generated file is not what records and templates give now: stale, edited, missing, or nobody's.",
        "The PDF would print yesterday's numbers under today's records.",
        "dvc repro render, or audit render. Never edit generated files.",
    ),
    "A404": (
        "An exemption matches another number of places than it says, or stands twice; or exemptions.yaml is not valid, and exempts nothing.",
        "An exemption that is wider than its reason lets typed results through.",
        'Correct it, or remove it. An entry is {place: manuscript/paper.tex, pattern: "140", count: 1, reason: the clinical threshold}: the file, the number '
        "as it is typed there and no more, in how many places, and a reason in words.",
    ),
    "A405": (
        "Part of the manuscript could not be read: an open brace, formula or environment, or an included file that is missing or outside.",
        "A number on an unread line would go unseen.",
        "Close what is open, restore the file, or remove the command.",
    ),
    "A406": (
        "The verdict of a registered prediction stands nowhere in the document, or one sentence stands for a met and for a missed one.",
        "Leaving out the missed ones is how a registration is made to lie.",
        "Show it with \\verdict{registration.prediction}, \\ifverdict, or a table over `verdicts`.",
    ),
    "A407": (
        "A source (or a local class or package) redefines one of our macros, reaches macros by name, or holds a construct that can print numbers unseen.",
        "The reader of the source and the reader of the PDF would see different numbers.",
        "Remove it. Where it is harmless and needed, exempt it by its name with a reason.",
    ),
    "A408": (
        "A template does not render (bad syntax, an unknown name, a bare number, an empty or placeholder text), or puts a number together itself.",
        "A table with a hole in it would look finished.",
        "Print quantities with `<< quantity | val >>` and record texts with `<< text | label >>`.",
    ),
    "A409": (
        "A printed form would get another verdict than the stored value, or reads as none or all (`0`, `0%`, `100%`) of what is neither.",
        "0.9496 printed as 0.95 meets a target that the value misses; 0.996 printed as 100% says that nothing failed.",
        "Print more digits: \\val[fixed.3]{key}.",
    ),
    "A410": (
        "A verdict would be another one if the excluded units counted against it, and the document does not say so.",
        "Units that fail or do not settle can be chosen until the rest agrees.",
        "Include a table over `attrition()` that prints `<< row.against >>`.",
    ),
    "A411": (
        "The document shows verdicts of a registration and not of how many predictions.",
        "Three met of three and three met of thirty read alike.",
        "\\val{ID.met} of \\val{ID.of}, a table of all verdicts, or << row.phrase | label >> of a registration in `denominator()`.",
    ),
    "A412": (
        "A constant is typed behind the name of a parameter (`learning rate of 0.003`), and the parameter file holds another value.",
        "The reader is told of a setting that no run had.",
        "Correct the text or the parameter; names of two words or more are looked for, and a value of any scale fits.",
    ),
    "A413": (
        "Numbers beside a citation count as quoted from others, in a sentence that also speaks of this work or in a table's row that cites (a note).",
        "An own result beside a citation would pass as somebody else's and be bound to nothing.",
        "Read the places named; cite from a record what this work measured.",
    ),
    "A416": (
        "The condition of a \\claim is false by the records; in a branch that is not chosen, or under parameters that no registration holds for, a note.",
        "A sentence without a number stays when the result turns, and nobody sees it.",
        "Rewrite the sentence and its condition; LaTeX stops at a claim that does not hold.",
    ),
    "A417": (
        "The condition of a \\claim cannot be read, or names a key or verdict that is not there.",
        "A sentence whose condition says nothing is bound to nothing, and LaTeX stops at it.",
        "Correct it: main.a / main.b > 2, all of main.a > 0, at least 9 of main.a > 0, min(main.a) > max(main.b), pilot.P1 is met; and, or, not.",
    ),
    "A418": (
        "The condition of a \\claim holds for the recorded values and not for all that agree with them within tolerance (a note).",
        "Whoever recomputes the records may get the other answer.",
        "Claim less, say that it is close, or leave it and know it.",
    ),
    "A419": (
        "The text beside a \\val gives it another unit, sign or power of ten than its quantity has (a note).",
        "The right key may stand in the wrong sentence.",
        "Cite the quantity that the sentence is about, or correct the word.",
    ),
    "A500": (
        "A check of the document stopped before its end.",
        "What was not checked is not known to hold.",
        "Read the line: it names the file that gave no answer.",
    ),
    "A501": (
        "The PDF is not built here (a note), or it, or what it was built from, could not be read.",
        "Its numbers were not compared with the records.",
        "dvc repro paper, or audit pdf; install poppler-utils to read it.",
    ),
    "A502": (
        "A bound value, a verdict or a row of a generated table does not stand in the PDF where LaTeX put it, or LaTeX did not typeset it at all.",
        "The PDF shows another number there, or none: it was exchanged, a macro was redefined, or the value stands in a box that nobody sees.",
        "audit render, audit pdf; where that does not help, look at the place that the line names.",
    ),
    "A503": (
        "The PDF shows a number that no macro of ours printed and that neither sources, figures, bibliography nor LaTeX account for, or bound values run together with digits or with each other.",
        "It was typed where the scanner does not look, drawn, computed by LaTeX, or edited in.",
        "Find the number by the page and the words around it, and cite it with \\val.",
    ),
    "A504": (
        "The PDF was built from other sources than those that are here.",
        "What a reader sees is not what was audited.",
        "audit pdf; or dvc repro paper, which sees a change in files only that are deps of its stage: figures, bibliography, sections too.",
    ),
    "A505": (
        "A bound value or verdict stands in the text layer of the PDF, and nobody can read it on the page: too small, as pale as its ground, or covered.",
        "What no reader sees has not been shown.",
        "Print it like the text around it. `audit pdf` and `audit verify --pdf` look at the drawn page; `audit verify` at sizes only.",
    ),
    "A506": (
        "LaTeX read a file that the audit did not read; as a note: a second document lies beside the audited one.",
        "What nobody scanned may define macros and print numbers; and readers may be given another document than the audited one.",
        "Load files by plain \\input or \\usepackage from beside the manuscript.",
    ),
    "A507": (
        "A figure is not the one that its run log names, or older than the records that it was made from; as a note: no run made it, and its numbers were not read.",
        "A figure carries numbers that no macro binds: its digests do.",
        "Run its stage again; make every figure in a stage that logs its outputs.",
    ),
    "A509": (
        "What a comparison of a PDF from elsewhere rests on, and what it cannot tell (a note).",
        "Text that is drawn as a picture, or that gives itself out as other text, passes a comparison of texts.",
        "Build the PDF here with audit pdf and compare the two, or look at the pages that the line names.",
    ),
    "A508": (
        "The sources name a verdict, and no reader of the PDF sees it: it stands in a phantom, in a box that nobody uses, or in print too small.",
        "Hiding the missed ones is how a registration is made to lie.",
        "Print it in the text, or in a table over `verdicts`.",
    ),
}
"""Code -> what it means, why it matters, how to cure it."""
