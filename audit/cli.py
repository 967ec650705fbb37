"""The command line: parse and dispatch, nothing else."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
ROOT_HELP = "Root certificate of an authority that you trust, not the repository's; may be repeated."


@contextmanager
def one_line() -> Iterator[None]:
    """Turn an expected failure into one line on stderr and its exit code."""
    try:
        yield
    except KeyboardInterrupt:
        interrupted()
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except Exception as error:
        from pydantic import ValidationError  # here, because it costs `--help` a tenth of a second

        from audit.finding import UNCHECKED, Refusal, escape
        from audit.records import refuse_fault

        if not isinstance(error, Refusal) and os.environ.get("AUDIT_DEBUG"):
            raise
        if isinstance(error, ValidationError):
            error = refuse_fault(error)
        if isinstance(error, Refusal):
            click.echo(f"audit: {error}", err=True)
            sys.exit(error.code)
        click.echo(f"audit: stopped: {escape(f'{type(error).__name__}: {error}')}; cure: AUDIT_DEBUG=1 shows where", err=True)
        sys.exit(UNCHECKED)


def interrupted() -> None:
    """One line, and the exit code of an interruption."""
    click.echo("audit: interrupted; nothing half-written is left", err=True)
    sys.exit(130)


class Commands(click.Group):
    """Commands whose interruption is no finding: click by itself would say `Aborted!` and exit with 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            interrupted()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="rankcollapse-audit", message="%(version)s")
def cli() -> None:
    """Freeze predictions before the runs, prove the order from git, bind every number to its source.

    Exit codes: 0 holds, 1 something was found, 2 something could not be checked (or bad usage).
    """


@cli.command()
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--pass", "stage", type=click.Choice(["before", "after"]), help="Only the checks before Jinja, or after the PDF.")
@click.option("--root", "roots", multiple=True, type=FILE, metavar="FILE", help=ROOT_HELP)
@click.option("--pdf", type=FILE, metavar="FILE", help="Only compare a PDF from elsewhere with the records that are here.")
@click.option("--since", type=FILE, metavar="REPORT", help="Also ask that an earlier report (--format json) rests on a commit of this history.")
def verify(form: str, stage: str | None, roots: tuple[Path, ...], pdf: Path | None, since: Path | None) -> None:
    """Check everything, line by line, and say why one may trust it."""
    if pdf is not None:
        from audit import elsewhere

        sys.exit(elsewhere.main(pdf, form))
    from audit.verify import main

    sys.exit(main(form, stage, roots, since))


@cli.command()
@click.argument("registration")
@click.option("--title", help="What is asked, in one line.")
def new(registration: str, title: str | None) -> None:
    """Write the draft of a registration, guessed from dvc.yaml and the records."""
    from audit.new import main

    main(registration, title)


@cli.command()
@click.argument("registration")
@click.option("--post-hoc", is_flag=True, help="Seal although an outcome exists; every verdict is then labelled post hoc.")
@click.option("--check", is_flag=True, help="Say what sealing would warn of or refuse, and write nothing.")
def seal(registration: str, post_hoc: bool, check: bool) -> None:
    """Seal a committed registration: digests of its text and of what it freezes, once and for ever."""
    from audit.seal import main, rehearse

    (rehearse if check else main)(registration, post_hoc)


@cli.command()
@click.argument("registration")
@click.option("--tsa", "url", required=True, metavar="URL", help="An RFC 3161 time-stamping authority, http or https.")
@click.option("--root", "roots", multiple=True, type=FILE, metavar="FILE", help=ROOT_HELP)
def witness(registration: str, url: str, roots: tuple[Path, ...]) -> None:
    """Ask an authority for a time stamp of a committed seal and store it beside the seal."""
    from audit.witness import main

    main(registration, url, roots)


@cli.command()
@click.argument("registration")
def amend(registration: str) -> None:
    """Draft the next amendment of a sealed registration; once the draft is committed, seal it."""
    from audit.amend import main

    main(registration)


@cli.command()
@click.argument("registration", required=False)
def status(registration: str | None) -> None:
    """Say of each registration how far it is: draft, sealed, run, judged, closed; of one, its amendments and deviations too."""
    from audit.status import main

    sys.exit(main(registration))


@cli.command()
@click.argument("registration")
def seeds(registration: str) -> None:
    """Print the seeds of a sealed registration and how to derive them again with sha256sum."""
    from audit.status import print_seeds

    print_seeds(registration)


@cli.command()
@click.argument("stage")
def gate(stage: str) -> None:
    """Ask whether a stage may run now: each registration that names it must be sealed and committed."""
    from audit.gate import main

    main(stage)


@cli.command()
@click.argument("registration")
@click.option("--on", "other", metavar="FILE", help="Judge this record instead of the registered one; writes nothing.")
@click.option("--out", metavar="FILE", help="Where the verdicts go; default results/evaluate/REGISTRATION.json.")
def evaluate(registration: str, other: str | None, out: str | None) -> None:
    """Judge the predictions of a registration from its records."""
    from audit.evaluate import main

    main(registration, other, out)


@cli.command()
@click.argument("registration")
def close(registration: str) -> None:
    """Write the outcome of a judged registration, so that the code may move on."""
    from audit.close import main

    main(registration)


@cli.command()
@click.argument("code", required=False)
def explain(code: str | None) -> None:
    """Say what a finding's code means, why it matters and how to cure it; `limits`: what the audit does not prove."""
    from audit.explain import main

    main(code)


@cli.command()
def stage() -> None:
    """The body of the DVC stage `audit`: the checks before Jinja, written as findings, failing on any."""
    from audit.verify import run_stage

    sys.exit(run_stage())


@cli.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def numbers(files: tuple[str, ...], form: str) -> None:
    """List every number of LaTeX files and of what they include, with its class and why."""
    from audit.numbers_command import main

    sys.exit(main(files, form))


@cli.command(context_settings={"ignore_unknown_options": True})
@click.argument("what")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def trace(what: str, form: str) -> None:
    """Walk back from a number to its run: quantity, record, stage, command, commits, seeds, predictions and every place that uses it.

    WHAT is a printed number (0.0887, 12%, 1,024), a key (main.force.hinge), a place (manuscript/paper.tex:118) or a
    prediction (pilot.P1). 1 where nothing matches.
    """
    from audit.trace_command import main

    sys.exit(main(what, form))


@cli.command()
@click.argument("files", nargs=-1, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--yes", is_flag=True, help="Ask nothing: bind each number that is the printed form of one key only.")
def bind(files: tuple[Path, ...], yes: bool) -> None:
    """Rewrite typed results of the manuscript (or of FILES of it) as \\val: shows keys and the change, and asks."""
    from audit.bind import main

    sys.exit(main(files, yes))


@cli.command()
def render() -> None:
    """Render the manuscript's macros and tables from the records; refuses while the audit finds anything."""
    from audit.rendering import main

    main()


@cli.command()
def pdf() -> None:
    """Build the manuscript with latexmk and compare the PDF's numbers with the records."""
    from audit.building import main

    sys.exit(main())


@cli.command()
@click.argument("revision", default="HEAD")
@click.option("--with", "other", metavar="PATH", help="Compare the records of this checkout instead of the ones here.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def compare(revision: str, other: str | None, form: str) -> None:
    """Compare the records here with those committed at REVISION, quantity by quantity, within tolerance."""
    from audit.compare import main

    sys.exit(main(revision, other, form))


@cli.command()
@click.argument("before", required=False)
@click.argument("after", required=False)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def changes(before: str | None, after: str | None, form: str) -> None:
    """List the sentences to read again: a value, verdict or claim in them moved from commit BEFORE to AFTER.

    AFTER is the working tree by default, BEFORE the last commit whose cited records differ from those here.
    """
    from audit.reread import main

    main(before, after, form)


@cli.command()
@click.argument("registration")
@click.option("--nonce", required=True, metavar="TEXT", help="Any text of your own: the seeds are derived from it.")
@click.option("--work", metavar="DIR", help="Where the clone goes; default build/challenge/REGISTRATION-DIGEST.")
@click.option("--keep", is_flag=True, help="Leave the clone with its records.")
def challenge(registration: str, nonce: str, work: str | None, keep: bool) -> None:
    """Run the judged stages again on your own seeds, in a clone with an empty cache; 1 when a verdict differs."""
    from audit.challenge import main

    sys.exit(main(registration, nonce, work, keep))


@cli.command()
@click.argument("registration", required=False)
@click.option("--format", "form", type=click.Choice(["prml", "osf", "aspredicted"]), help="Of a registration; needed with one.")
@click.option("--out", metavar="PATH", help="A file; for prml a folder, one manifest a prediction. Default: stdout.")
@click.option("--manuscript", "folder", metavar="DIR", help="Instead: the manuscript as a source tree for a journal or preprint server.")
def export(registration: str | None, form: str | None, out: str | None, folder: str | None) -> None:
    """Show a registration as PRML manifests, or as a page for OSF or AsPredicted; or write the manuscript without macros of ours.

    The manuscript's tree has literal numbers and compiles with plain pdflatex. It is refused while the audit finds anything.
    """
    if (registration is None) == (folder is None):
        raise click.UsageError("name a registration, or --manuscript DIR")
    if folder is not None:
        if form is not None or out is not None:
            raise click.UsageError("--format and --out are for a registration")
        from audit.clean import main as export_manuscript

        return export_manuscript(folder)
    if form is None:
        raise click.UsageError("Missing option '--format'. Choose from: prml, osf, aspredicted")
    from audit.export import main

    main(str(registration), form, out)


@cli.command()
def schema() -> None:
    """Write the JSON Schemas of the audit's own files (registration, seal, verdicts, ...) for editors and readers."""
    from audit.schema import main

    main()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; an expected failure is one line."""
    gc.set_threshold(100_000)  # a command lives a second and leaves few cycles: collecting them took a quarter of it
    atexit.register(gc.freeze)
    with one_line():
        cli.main(args=list(argv) if argv is not None else None, prog_name="audit")
    return 0
