"""What the finding codes of numbers (A4xx) and of the document (A5xx) mean, why they matter, how to cure them."""

EXPLAINED_DOCUMENT: dict[str, tuple[str, str, str]] = {
    "A400": (
        "A check of numbers stopped before its end.",
        "What was not checked is not known to hold.",
        "Read the line: it names the file that gave no answer.",
    ),
    "A401": (
        "A measured number is typed into the manuscript or a template.",
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
        "An exemption matches another number of places than it says, or stands twice.",
        "An exemption that is wider than its reason lets typed results through.",
        "Correct its pattern or count, or remove it.",
    ),
    "A405": (
        "Part of the manuscript could not be read: an open brace, formula or environment, or an included file that is missing or outside.",
        "A number on an unread line would go unseen.",
        "Close what is open, restore the file, or remove the command.",
    ),
    "A406": (
        "The verdict of a registered prediction stands nowhere in the document.",
        "Leaving out the missed ones is how a registration is made to lie.",
        "Show it with \\verdict{registration.prediction}, \\ifverdict, or a table over `verdicts`.",
    ),
    "A407": (
        "A source (or a local class or package) redefines one of our macros, reaches macros by name, or holds a construct that can print numbers unseen.",
        "The reader of the source and the reader of the PDF would see different numbers.",
        "Remove it. Where it is harmless and needed, exempt it by its name with a reason.",
    ),
    "A408": (
        "A template does not render: bad syntax, an unknown name, a bare number, an empty or placeholder text.",
        "A table with a hole in it would look finished.",
        "Print quantities with `<< quantity | val >>` and record texts with `<< text | label >>`.",
    ),
    "A409": (
        "A printed form would get another verdict than the stored value.",
        "0.9496 printed as 0.95 meets a target that the value misses.",
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
    "A500": (
        "A check of the document stopped before its end.",
        "What was not checked is not known to hold.",
        "Read the line: it names the file that gave no answer.",
    ),
    "A501": (
        "The PDF is not built here (a note), or could not be read.",
        "Its numbers were not compared with the records.",
        "dvc repro paper, or audit pdf; install poppler-utils to read it.",
    ),
    "A502": (
        "A bound value or verdict of the source does not stand in the PDF, or LaTeX typeset it less often than the source says.",
        "The PDF is older than the source, was exchanged, or hides the value.",
        "audit render, audit pdf.",
    ),
    "A503": (
        "The PDF shows a number that sources, generated files, figures and bibliography do not account for.",
        "It was typed where the scanner does not look, drawn, computed by LaTeX, or edited in.",
        "Find the number in the PDF's text and cite it with \\val.",
    ),
    "A504": (
        "The PDF was built from other sources than those that are here.",
        "What a reader sees is not what was audited.",
        "dvc repro paper, or audit pdf.",
    ),
}
"""Code -> what it means, why it matters, how to cure it."""
