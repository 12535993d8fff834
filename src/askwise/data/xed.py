"""XED (Öhman et al. 2020): lines of films, in French or English, with any of eight emotions."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from askwise.data.dataset import Dataset, Part, Published
from askwise.data.lines import counted, lines_of, multi_hot
from askwise.errors import choose
from askwise.seeding import hashes

_FILES = {"fr": "fr-projections.tsv", "en": "en-annotated.tsv"}
_LINE = re.compile(r"([^\t]*\S[^\t]*)\t([1-8](?:, [1-8])*)")
_TEST_EVERY = 5


@dataclass(frozen=True)
class Xed(Published):
    """What the files must hold, and how many of their lines are a sentence and its emotions."""

    counts: dict[str, int] = field(default_factory=lambda: {"fr": 7_303, "en": 17_528})

    def dataset(self, folder: Path, *, language: str = "fr") -> Dataset:
        """The sentences of one language; a fifth is for testing.

        The published set has no split: a hash of the sentence decides, so that equal sentences
        stay together. 257 lines of the French file are pieces of the alignment with the English
        one, left there by a quotation mark, and not sentences.
        """
        file = _FILES[choose("language", language, _FILES)]
        path, lines = lines_of(folder, file, digest=self.digests[file])
        found = [(number, match) for number, line in enumerate(lines) if (match := _LINE.fullmatch(line))]
        counted(path, len(found), self.counts[language])
        texts = [match[1] for _, match in found]
        tags = multi_hot(
            [[int(tag) - 1 for tag in match[2].split(", ")] for _, match in found], len(self.classes)
        )
        test = hashes(0, texts) % _TEST_EVERY == 0

        def part(rows: list[int]) -> Part:
            ids = tuple(f"{self.name}-{language}-{found[row][0]:05d}" for row in rows)
            return Part([texts[row] for row in rows], tags[rows], ids)

        rows = ((~test).nonzero().flatten().tolist(), test.nonzero().flatten().tolist())
        return self.joined("multilabel", *(part(some) for some in rows))


XED = Xed(
    name="xed",
    classes=("anger", "anticipation", "disgust", "fear", "joy", "sadness", "surprise", "trust"),
    digests={
        "fr-projections.tsv": "261c9ed2de974d8e38882699825bd2905ae0482c620dd15200bc5f43055b04b6",
        "en-annotated.tsv": "26ac0254fbdb8b09cf2b00d44041d9084ece31bd200ae7c0e0662fbd8b037d98",
    },
)
