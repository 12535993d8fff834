"""The files of a folder that may be items, and a way to open them that is safe against links and pipes."""

import os
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path


class UnreadableError(ValueError):
    """Why an item cannot be used, as a sentence about it."""


def walk(folder: Path, suffixes: tuple[str, ...]) -> Iterator[str]:
    """The path of every entry with one of these endings, relative to the folder; links are not followed."""
    for root, folders, files in os.walk(folder):
        inside = os.path.relpath(root, folder)
        for name in [*folders, *files]:  # a folder named x.jpg is a mistake that should be seen
            if name.lower().endswith(suffixes):
                yield name if inside == os.curdir else f"{inside}{os.sep}{name}"


def opened(folder: Path, name: str) -> BufferedReader:
    """The file of that name under a resolved folder; what is none, or lies elsewhere, is refused."""
    path = folder / name
    try:
        if not path.resolve(strict=True).is_relative_to(folder):
            raise UnreadableError("it is a link that leaves the folder")
        # non-blocking: a pipe named x.jpg would otherwise wait for ever
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise UnreadableError("it is not there any more") from None
    except (OSError, RuntimeError) as error:  # RuntimeError: how Python < 3.13 reports a loop of links
        why = getattr(error, "strerror", None) or "a loop of links"
        raise UnreadableError(f"it cannot be opened: {why}") from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or not status.st_size:
        os.close(descriptor)
        file = stat.S_ISREG(status.st_mode)
        raise UnreadableError("it is an empty file" if file else "it is a folder, pipe or device, not a file")
    return os.fdopen(descriptor, "rb")
