"""A project: one folder with plan, store, features and exports, all of them plain files."""

import os
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from askwise.errors import InputError, command
from askwise.store import Place, place

PLAN, STORE, EXPORTS = "plan.toml", "store.db", "exports"


@dataclass(frozen=True)
class Project:
    """Where the things of a project are."""

    folder: Path

    @property
    def name(self) -> str:
        """What a person types for it."""
        return str(self.folder)

    @property
    def plan(self) -> Path:
        """What the project intends: a file to be read and edited."""
        return self.folder / PLAN

    @property
    def store(self) -> Path:
        """Every item, question and answer; features and models lie beside it."""
        return self.folder / STORE

    @property
    def place(self) -> Place:
        """Where its facts are: at the address that its plan names, or in its folder."""
        noted = tomllib.loads(self.plan.read_text(encoding="utf-8")).get("store")
        return place(noted) if noted else self.store

    @property
    def encodes(self) -> bool:
        """Whether its plan names an encoder; a plan that cannot be read names none."""
        try:
            noted = tomllib.loads(self.plan.read_text(encoding="utf-8")).get("encoder")
        except (OSError, ValueError):
            return False
        return noted not in (None, "none")

    @property
    def exports(self) -> Path:
        """Where predictions and labels are written unless a place is named."""
        return self.folder / EXPORTS

    def called(self, data: str | Path) -> str:
        """What data are called outside this machine: the way from the project, or their own name if far away.

        A data set by its name stays as it is.
        """
        path, home = Path(data), self.folder.resolve()
        if not path.is_absolute():
            return str(data)
        if not path.resolve().is_relative_to(home.parent):
            return path.name
        return Path(os.path.relpath(path.resolve(), home)).as_posix()


def is_project(folder: Path) -> bool:
    """Whether a folder is a project: it has a plan."""
    return (folder / PLAN).is_file()


def open_project(path: str | Path) -> Project:
    """The project in a folder, or that of a plan in such a folder."""
    folder = Path(path)
    if folder.name == PLAN and is_project(folder.parent):
        return Project(folder.parent)
    if not is_project(folder):
        raise InputError(_no_project(folder))
    return Project(folder)


def _no_project(folder: Path) -> str:
    """What is said of a name that is no project: the project that may be meant, or how to make one."""
    if folder.is_file():
        return (
            f"{folder} is no project: it is a file; if it is the store of a Learner, learner.labels() in "
            "Python lists its labels"
        )
    found = "has no plan.toml" if folder.is_dir() else "is not there"
    beside = [] if folder.is_dir() or not folder.parent.is_dir() else list(folder.parent.iterdir())
    near = get_close_matches(folder.name, [one.name for one in beside if is_project(one)], n=1)
    hint = f"did you mean {folder.with_name(near[0])}? Otherwise make it" if near else "make one"
    return f"{folder} is no project: it {found}; {hint} with: {command('new', folder, '--images', 'DIR')}"
