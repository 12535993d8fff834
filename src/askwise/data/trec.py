"""TREC questions (Li and Roth 2002): what kind of answer a question wants."""

from dataclasses import dataclass, field
from pathlib import Path

import torch

from askwise.data.dataset import Dataset, Part, Published, numbered
from askwise.data.lines import counted, lines_of
from askwise.errors import CorruptError

_FILES = {"train": "train_5500.label", "test": "TREC_10.label"}


@dataclass(frozen=True)
class Trec(Published):
    """What the two files must hold: `COARSE:fine question` on every line."""

    counts: dict[str, int] = field(default_factory=lambda: {"train": 5_452, "test": 500})

    def dataset(self, folder: Path, *, fine: bool = False) -> Dataset:
        """The questions and their coarse class, or the fine one, written `COARSE:fine`."""
        train, test = (self._pairs(folder, part, fine=fine) for part in ("train", "test"))
        classes = tuple(sorted({label for label, _ in train})) if fine else self.classes
        positions = {label: position for position, label in enumerate(classes)}
        unknown = [label for label, _ in train + test if label not in positions]
        if unknown:
            raise CorruptError(f"{folder} has a question of the unknown class {unknown[0]}")

        def part(name: str, pairs: list[tuple[str, str]]) -> Part:
            labels = torch.tensor([positions[label] for label, _ in pairs])
            return Part([text for _, text in pairs], labels, numbered(f"{self.name}-{name}", len(pairs)))

        return self.joined("classification", part("train", train), part("test", test), classes=classes)

    def _pairs(self, folder: Path, part: str, *, fine: bool) -> list[tuple[str, str]]:
        file = _FILES[part]
        path, lines = lines_of(folder, file, digest=self.digests[file], encoding="latin-1")
        counted(path, len(lines), self.counts[part])
        pairs = []
        for number, line in enumerate(lines, start=1):
            label, space, text = line.partition(" ")
            if not space or ":" not in label:
                raise CorruptError(f"line {number} of {path} is not COARSE:fine and a question")
            pairs.append((label if fine else label.partition(":")[0], text))
        return pairs


TREC = Trec(
    name="trec",
    classes=("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"),
    digests={
        "train_5500.label": "8bd6e79493f43bbd22c364587366a1dced54e1e31259eaa92721a0f526031116",
        "TREC_10.label": "86ad53c8fc9d397ab2f4be7c967d8efb470b260140557d3e57afad69d1b88b76",
    },
)
