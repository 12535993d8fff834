"""GoEmotions (Demszky et al. 2020): comments with any of 28 emotions."""

from dataclasses import dataclass, field
from pathlib import Path

from askwise.data.dataset import Dataset, Part, Published
from askwise.data.lines import counted, lines_of, multi_hot
from askwise.errors import CorruptError


@dataclass(frozen=True)
class GoEmotions(Published):
    """What the three tables must hold: a comment, the numbers of its emotions, and its id."""

    counts: dict[str, int] = field(default_factory=lambda: {"train": 43_410, "dev": 5_426, "test": 5_427})

    def dataset(self, folder: Path) -> Dataset:
        """The comments and their emotions."""
        train, validation, test = (self._part(folder, part) for part in ("train", "dev", "test"))
        return self.joined("multilabel", train, test, validation=validation)

    def _part(self, folder: Path, part: str) -> Part:
        file = f"{part}.tsv"
        path, lines = lines_of(folder, file, digest=self.digests[file])
        counted(path, len(lines), self.counts[part])
        texts, tags, ids = [], [], []
        for number, line in enumerate(lines, start=1):
            cells = line.split("\t")
            own = cells[1].split(",") if len(cells) == 3 else []
            if not own or not all(tag.isdecimal() and int(tag) < len(self.classes) for tag in own):
                raise CorruptError(
                    f"line {number} of {path} is not a text, tags 0 to {len(self.classes) - 1} and an id"
                )
            texts.append(cells[0])
            tags.append([int(tag) for tag in own])
            ids.append(f"{self.name}-{cells[2]}")
        return Part(texts, multi_hot(tags, len(self.classes)), tuple(ids))


GOEMOTIONS = GoEmotions(
    name="goemotions",
    classes=(
        "admiration", "amusement", "anger", "annoyance", "approval", "caring", "confusion",
        "curiosity", "desire", "disappointment", "disapproval", "disgust", "embarrassment",
        "excitement", "fear", "gratitude", "grief", "joy", "love", "nervousness", "optimism",
        "pride", "realization", "relief", "remorse", "sadness", "surprise", "neutral",
    ),
    digests={
        "train.tsv": "1c254a142be5c00e80d819b9ae1bbd36d94b2eeb8f4b1271846508d57e57d9c5",
        "dev.tsv": "575489c079c9de1097062a01738f998590d6b7ead66dd1c9fd1d2ba01fd8bc62",
        "test.tsv": "0587b2dd8b27b97352adbfc3fb083d46005c8946657fdc2b1ca8b1cc7f1f8be4",
    },
)  # fmt: skip
