"""Who may answer: one secret token for each person, kept in the project, so that links last."""

import json
import os
import secrets
from collections.abc import Sequence

from askwise.errors import InputError
from askwise.files import json_object
from askwise.project import Project

PEOPLE = "people.json"
"""The tokens by name, for the owner's eyes; without the file everybody gets a new link."""


def tokens(project: Project, names: Sequence[str]) -> dict[str, str]:
    """The name of each person by their token: as it was, or a new one."""
    for name in names:
        if not name.strip() or not name.isprintable() or len(name) > 60:
            raise InputError(f"{name!r} is no name of a person; give 1 to 60 letters that can be read")
        if list(names).count(name) > 1:
            raise InputError(f"--person {name} is given twice")
    path = project.folder / PEOPLE
    known = {name: token for name, token in json_object(path).items() if isinstance(token, str)}
    new = {name: secrets.token_urlsafe(32) for name in names if len(known.get(name, "")) < 40}
    if new:
        draft = path.with_suffix(".part")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(known | new, file, indent=1)
        draft.replace(path)
    return {(known | new)[name]: name for name in names}
