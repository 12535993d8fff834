"""Texts and tags from the lines of a file."""

from collections.abc import Sequence
from pathlib import Path

import torch
from jaxtyping import Int64
from torch import Tensor

from askwise.data import files
from askwise.errors import CorruptError

_LARGEST = 16 * 2**20  # bytes of one file; the largest has 3.5 million


def lines_of(folder: Path, name: str, *, digest: str, encoding: str = "utf-8") -> tuple[Path, list[str]]:
    """Where a published file is, and its lines."""
    path, content = files.published(folder, name, digest=digest, limit=_LARGEST)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as reason:
        raise CorruptError(f"{path} is not {encoding}: {reason}") from reason
    # Not splitlines(): some texts hold line separators of Unicode.
    return path, [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def counted(path: Path, found: int, wanted: int) -> None:
    """Refuse a file that does not hold as many texts as it should."""
    if found != wanted:
        raise CorruptError(f"{path} holds {found} texts, not {wanted}")


def multi_hot(tags: Sequence[Sequence[int]], count: int) -> Int64[Tensor, "N L"]:
    """One row for each item: 1 for its tags, 0 for the others."""
    labels = torch.zeros(len(tags), count, dtype=torch.long)
    for row, own in zip(labels, tags, strict=True):
        row[list(own)] = 1
    return labels
