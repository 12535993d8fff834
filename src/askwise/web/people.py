"""Who may use the page: one secret token for each person, kept in the project, so that links last."""

import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import RLock

from askwise.errors import InputError
from askwise.files import json_object
from askwise.project import Project

PEOPLE = "people.json"
"""The tokens by name, for the owner's eyes; without the file everybody gets a new link."""
OWNER = "me"
"""Who has started the server: answers where nobody else is named, and may do what concerns the others."""
_SHORTEST = 40  # characters of a token


class People(Mapping[str, str]):
    """The name of each person by their token, as it is by now; safe for threads.

    `tokens` are by name. With a `path` every change is on the disk before it holds.
    """

    def __init__(self, tokens: Mapping[str, str], *, owner: str = OWNER, path: Path | None = None) -> None:
        self.owner = owner
        self._path, self._lock = path, RLock()
        self._names = {token: name for name, token in tokens.items()}

    def __getitem__(self, token: str) -> str:
        return self._names[token]

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self._names))

    def __len__(self) -> int:
        return len(self._names)

    def token(self, name: str) -> str | None:
        """The token of a person; none if they may not use the page."""
        return next((token for token, known in dict(self._names).items() if known == name), None)

    def give(self, name: str) -> str:
        """The token of a person: as it was, or a new one."""
        with self._lock:
            known = self.token(readable(name))
            if known is None:
                known = secrets.token_urlsafe(32)
                self._keep({**self._names, known: name})
            return known

    def take(self, name: str) -> None:
        """Make the token of a person void, for ever: another link is another token."""
        with self._lock:
            if name == self.owner:
                raise InputError(f"{name} is the owner of the page, and stays")
            self._keep({token: known for token, known in self._names.items() if known != name})

    def _keep(self, names: Mapping[str, str]) -> None:
        if self._path is not None:
            draft = self._path.with_suffix(".part")
            draft.unlink(missing_ok=True)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                json.dump({name: token for token, name in names.items()}, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self._path)
        self._names = dict(names)


def people_of(
    project: Project, names: Sequence[str] = (), *, file: str = PEOPLE, owner: str = OWNER
) -> People:
    """The people of a project: its owner, those that had a link before, and these."""
    for name in names:
        readable(name)
        if list(names).count(name) > 1:
            raise InputError(f"--person {name} is given twice")
    path = project.folder / file
    known = {
        name: token
        for name, token in json_object(path).items()
        if isinstance(token, str) and len(token) >= _SHORTEST
    }
    found = People(known, owner=owner, path=path)
    for name in (owner, *names):
        found.give(name)
    return found


def readable(name: str) -> str:
    """A name that a person may have."""
    if not name.strip() or not name.isprintable() or len(name) > 60:
        raise InputError(f"{name!r} is no name of a person; give 1 to 60 letters that can be read")
    return name
