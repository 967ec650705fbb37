"""Numbers of a manuscript: a LaTeX reader, literals with their class, keys, the one rounding rule, exemptions."""
