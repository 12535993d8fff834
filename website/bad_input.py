"""The page of bad input: what is given, and the line that it gets, as the code says now.

    python -m website.bad_input        writes docs/bad-input.md

Every case is done in an empty folder. It is refused (an error of one line), set aside (that item alone,
with the reason), or taken.
"""

import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from website.cases import arrays, honest, labels, pictures, plans, tables
from website.pages import ROOT
from website.tables import table

PAGE = ROOT / "docs" / "bad-input.md"
Cases = Callable[[], Iterator[tuple[str, str]]]
SECTIONS: dict[str, Cases] = {
    "Pictures": pictures.cases,
    "Texts and tables": tables.cases,
    "Arrays and models": arrays.cases,
    "Labels": labels.cases,
    "Settings": plans.cases,
    "Promises": honest.cases,
}
_CHOICES = re.compile(r"(choose one of: (?:[^,]+, ){3}[^,]+), .*")  # the first four say enough
_OPENING = """# Bad input
Refuse, don't guess: whatever cannot be meant gets one line that says what was
wanted, what was found and, where it helps, what to do. A command then ends with exit code 2, and nothing
is lost. A bad item is set aside by its name; the others are asked about as if it were not there.

This page is made from the code by `python -m website.bad_input`; a test holds it to what the code says."""


def page() -> str:
    """The page as Markdown."""
    parts = [_OPENING]
    for title, cases in SECTIONS.items():
        rows = [(what, _shown(line)) for what, line in done(cases)]
        parts += [f"## {title}", table(["given", "what it gets"], rows)]
    return "\n\n".join(parts) + "\n"


def done(cases: Cases) -> list[tuple[str, str]]:
    """What every case of a section gets, in a folder of its own that is gone afterwards."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        try:
            return [(what, line.replace(f"{Path(folder).resolve()}/", "")) for what, line in cases()]
        finally:
            os.chdir(here)


def _shown(line: str) -> str:
    line = _CHOICES.sub(r"\1, ...", line)
    plain = re.sub(r"[<>&]", lambda sign: {"<": "&lt;", ">": "&gt;", "&": "&amp;"}[sign[0]], line)
    return plain.replace("*", "\\*").replace("`", "'").replace("_", "\\_")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
