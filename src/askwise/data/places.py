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


def locate(name: str, wanted: Collection[str], *, data_dir: str | Path | None = None) -> Path:
    """The folder that holds the files of a data set.

    A folder that is named is the only place searched; the cache is searched after ASKWISE_DATA.
    """
    if data_dir is not None:
        roots = [Path(data_dir)]
    else:
        named = os.environ.get(VARIABLE)
        roots = [*([Path(named)] if named else []), cache()]
    for root in roots:
        for folder in (root / name, root / name.replace("_", "-")):  # Debian writes a hyphen
            missing = [file for file in wanted if files.find(folder, file) is None]
            if not missing:
                return folder
            if len(missing) < len(wanted):
                raise CorruptError(f"{name} in {folder} lacks {', '.join(missing)}")
    raise InputError(
        f"{name} is not here; fetch it with: askwise data fetch {name}, "
        f"or point to a folder with --data DIR (searched: {', '.join(map(str, roots))})"
    )
