"""The command line: parse, call, print. Nothing heavy is imported before a command needs it."""

import signal
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from askwise.cli import (
    classes,
    compare,
    data,
    demo,
    doctor,
    encode,
    encoders,
    export,
    find,
    label,
    labelstudio,
    mend,
    new,
    plan,
    predict,
    report,
    reproduce,
    run,
    status,
    store,
    trust,
)
from askwise.errors import AskwiseError

app = typer.Typer(
    help="Deep Bayesian active learning: ask for exactly the labels a network needs.",
    epilog="Start with: askwise demo",
    add_completion=False,
    rich_markup_mode=None,  # plain help comes in half the time, and wraps its paragraphs
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo.demo)
app.command()(new.new)
app.command()(label.label)
app.command()(run.run)
app.command()(status.status)
app.command()(report.report)
app.command()(predict.predict)
app.command()(export.export)
app.command()(classes.classes)
app.command()(mend.correct)
app.command()(trust.certify)
app.command()(trust.estimate)
app.command()(trust.suspects)
app.command()(find.find)
app.command()(trust.finish)
app.command()(compare.compare)
app.command()(reproduce.reproduce)
app.add_typer(data.app, name="data")
app.add_typer(plan.app, name="plan")
app.command()(encode.encode)
app.command()(encoders.encoders)
app.command()(doctor.doctor)
app.add_typer(store.app, name="store")
app.add_typer(labelstudio.app, name="labelstudio")

_Usage: type[Exception] = typer.BadParameter.__mro__[1]
"""What typer raises for bad usage; where it is defined has changed between versions."""

INTERRUPTED = 130
_SHORT = {(): ["--help"], ("data",): ["data", "list"], ("plan",): ["plan", "--help"]}
"""What is meant where a command is left out."""


def _version(wanted: bool) -> bool:
    if wanted:
        from askwise import __version__

        typer.echo(__version__)
        raise typer.Exit
    return wanted


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Deep Bayesian active learning: ask for exactly the labels a network needs."""


def call(arguments: Sequence[str]) -> int:
    """The exit code of a command; a refusal is one line on standard error, and 2."""
    words = _SHORT.get(tuple(arguments), list(arguments))
    try:
        code = typer.main.get_command(app).main(words, prog_name="askwise", standalone_mode=False)
        if code == INTERRUPTED:  # how typer reports it; older versions raise
            raise KeyboardInterrupt
        sys.stdout.flush()
    except _Usage as error:
        return _refuse(error.format_message())  # type: ignore[attr-defined]
    except AskwiseError as error:
        return _refuse(str(error))
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        sys.stderr.close()
        return 0
    except OSError as error:
        return _refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("askwise: interrupted; run the same command again to go on", err=True)
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def main() -> None:
    """The command `askwise`."""
    try:
        code = call(sys.argv[1:])
    except KeyboardInterrupt:  # a second Ctrl+C, while the first was answered
        code = INTERRUPTED
    if code == INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends already: one more says nothing new
    sys.exit(code)


def _refuse(message: str) -> int:
    typer.echo(f"askwise: {' '.join(message.split())}", err=True)
    return 2
