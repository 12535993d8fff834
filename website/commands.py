"""The page of all commands, from the command line itself."""

from typing import Any

from askwise.cli import app
from website.tables import code, table


def page() -> str:
    """Every command with its arguments and options."""
    import typer

    root = typer.main.get_command(app)
    parts = [
        "# Commands",
        "Every command says the same with `--help`. A refusal is one line on standard error and exit code "
        "2; an interrupted command (Ctrl+C) ends with 130 and goes on when it is called again. "
        "With `--json` a command prints one JSON object for other programs.",
    ]
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        parts += _section(f"askwise {name}", command)
    return "\n\n".join(parts) + "\n"


def _section(name: str, command: Any) -> list[str]:
    if hasattr(command, "commands"):
        return [part for inner, one in command.commands.items() for part in _section(f"{name} {inner}", one)]
    context = command.make_context(name, [], resilient_parsing=True)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    records = [one.get_help_record(context) for one in command.params if one.name != "help"]
    rows = [(code(spelled), said) for spelled, said in filter(None, records)]
    parts = [f"## {name}", command.help.strip(), f"```text\n{usage}\n```"]
    return [*parts, table(["given", "what it is"], rows)] if rows else parts
