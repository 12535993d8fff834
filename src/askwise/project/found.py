"""What is in a pool, counted before anything else: items, refused ones by reason, copies."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from askwise.pool import Duplicates, Pool, duplicates
from askwise.train.progress import Follow, meter

_MOST = 20_000
"""Items that are looked through for copies: every picture is decoded, and held against all others."""


@dataclass(frozen=True)
class Found:
    """Items, those that cannot be used and why, and copies of others."""

    items: int
    refused: dict[str, str] = field(default_factory=dict)
    copies: Duplicates | None = None
    """None where there are too many items to look for them."""

    def lines(self) -> list[str]:
        """What was found, for a person: counts that sum up, each reason once with an example."""
        lines = [f"items       {self.items:,}, of which {self.items - len(self.refused):,} can be used"]
        reasons = Counter(map(_kind, self.refused.values()))
        for kind, count in reasons.most_common():
            name = next(name for name, why in self.refused.items() if _kind(why) == kind)
            example = name if count == 1 else f"e.g. {name}"
            lines.append(f"  refused   {count:,}: {self.refused[name]} ({example})")
        if self.copies is None:
            return [*lines, f"copies      not looked for: there are more than {_MOST:,} items"]
        equal = sum(len(group) - 1 for group in self.copies.exact)
        near = sum(len(group) - 1 for group in self.copies.groups) - equal
        return [*lines, f"copies      {equal:,} exact, {near:,} near"]

    def stand_ins(self) -> Mapping[str, str]:
        """For each copy why it is not asked: another one of its group is."""
        if self.copies is None:
            return {}
        exact = {name: group[0] for group in self.copies.exact for name in group}
        found: dict[str, str] = {}
        for first, *others in self.copies.groups:
            for name in others:
                kind = "a copy" if exact.get(name, name) == exact.get(first, first) else "a near copy"
                found[name] = f"it is {kind} of {first}, which is asked instead"
        return found


def look_at(pool: Pool, *, progress: Follow = False) -> Found:
    """What is in a pool; pictures and texts are read for it, features are not computed."""
    refused = pool.quarantined
    if len(pool) > _MOST:
        return Found(len(pool), refused)
    with meter(len(pool), "looking for copies", unit="items", show=progress) as looked:
        copies = duplicates(pool, looked=looked)
    if copies.unread:
        refused = refused | pool.read(copies.unread).quarantined
    return Found(len(pool), refused, copies)


def _kind(why: str) -> str:
    """A reason without what differs from item to item."""
    return re.sub(r"\d+|'[^']*'", "#", why)
