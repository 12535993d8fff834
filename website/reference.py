"""The reference of commands, plans, names and results, made from the code and the files themselves."""

from pathlib import Path

from website import api, commands, plan
from website.pages import ROOT
from website.tables import table


def pages() -> dict[str, str]:
    """Every page of the reference: where it is on the site, and its Markdown."""
    return {
        "reference/commands.md": commands.page(),
        "reference/plan.md": plan.page(),
        "reference/results.md": results(),
        **api.pages(),
    }


def results() -> str:
    """The page that lists every file of results/ by its title."""
    files = sorted((ROOT / "results").rglob("*.md"))
    rows = [(_title(file), f"[{_path(file)}](../repository/{_path(file)})") for file in files]
    said = "Each says the command that made it, the commit, the seeds and the protocol."
    return f"# Results\n\n{said}\n\n{table(['what', 'file'], rows)}\n"


def _path(file: Path) -> str:
    return str(file.relative_to(ROOT))


def _title(file: Path) -> str:
    return str(file.read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# "))
