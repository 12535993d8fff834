"""The processes that a process has started, and those they have started."""

import os
import time
from pathlib import Path


def living(pid: int) -> bool:
    """Whether the process is there and has not ended: one that nobody has asked about is a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def descendants(root: int | None = None) -> set[int]:
    """All living processes that descend from this one."""
    parents: dict[int, int] = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it has just ended
    found, new = set(), {root or os.getpid()}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new}
        found |= new
    return {pid for pid in found if living(pid)}


def gone(pids: set[int], seconds: float = 60) -> bool:
    """Whether all of them have ended, or do so within some seconds."""
    end = time.monotonic() + seconds
    while any(map(living, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(living, pids))
