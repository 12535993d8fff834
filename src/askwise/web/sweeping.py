"""Many items confirmed at once as one class: what is offered, and how far it can be trusted."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic

from askwise.assess import Misses, misses
from askwise.loop.sweeping import Sweepable
from askwise.seeding import derive, hashes
from askwise.store.facts import Sweep
from askwise.web.desk import LEASE, Desk
from askwise.web.sweep_facts import kept_for_testing, standing

SIZE, LARGEST = 24, 60
"""Tiles of a grid, the sentinels included, and the most that a person may choose."""
PRECISION = 0.8
"""The share of a grid that must be expected to be right."""
HALVE, REST = 0.1, 0.2
"""Misses above which grids have half the size, and above which there are none until the last are checked."""
FEWEST = 6  # items for which a grid is worth while: Enter and a sentinel are two actions
_LAST = 3  # grids by which the model's own precision is corrected
_DOUBT = 5.0  # wrong tiles expected and found that are added to theirs, so that few say little
_FIRST = 10  # sentinels that are shown two at a time; from then on one in each grid


@dataclass(frozen=True)
class Past:
    """What one annotator has swept so far, by the facts."""

    misses: Misses
    """Of the sentinels since the last time that sweeping rested."""
    used: Counter[str]
    """How often each item was a sentinel."""
    to_check: list[str]
    """What is to be checked before there are more grids; nothing unless sweeping rests."""

    def size(self, wanted: int) -> int:
        """How many tiles a grid may have."""
        if self.to_check:
            return 0
        return max(wanted // 2, FEWEST + 1) if self.misses.above(HALVE) else wanted


@dataclass(frozen=True)
class Offer:
    """A class that can be swept: its items, the most sure first, and the share expected to be right."""

    number: int
    ids: list[str]
    precision: float


@dataclass(frozen=True)
class Grid:
    """Items to look at, sentinels among them; who has them sees no difference."""

    sweep: str
    number: int
    revision: int
    tiles: list[str]
    precision: float | None


class Sweeps:
    """The grids that people have on their screens, so that no two get the same items; safe for threads."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._held: dict[str, tuple[str, float]] = {}
        self._expected: dict[str, float] = {}  # how many tiles of each grid should be wrong, by the model

    def past(self, annotator: str) -> Past:
        """What an annotator has swept."""
        return past(self._desk, annotator)

    def offers(self, annotator: str, found: Iterable[Sweepable], *, size: int = SIZE) -> list[Offer]:
        """The classes of which four of five items can be expected to be right, the largest first.

        What is expected is what the model says, corrected by what people have found in the last grids. No
        more items of each than the budget has room for.
        """
        desk = self._desk
        with desk.lock:
            active, offers = set(desk.classes.active()), list[Offer]()
            room, left = past(desk, annotator).size(size), desk.room()
            error = self._error()
            for one in found if room else ():
                free = self._free(annotator, one.number, one.ids)
                told = zip(one.ids, one.sure, strict=True)
                sure = [max(0.0, 1 - error * (1 - p)) for name, p in told if name in free]
                ids = [name for name in one.ids if name in free]
                count = min(_offered(sure), left)
                if count >= FEWEST and one.number in active:
                    first = sure[: min(count, room)]
                    offers.append(Offer(one.number, ids[:count], sum(first) / len(first)))
        return sorted(offers, key=lambda one: (-len(one.ids), one.number))

    def grid(self, annotator: str, offer: Offer, *, size: int = SIZE) -> Grid | None:
        """The next grid of a class for an annotator, with its sentinels; none while sweeping rests."""
        desk = self._desk
        with desk.lock:
            before = past(desk, annotator)
            room, revision = before.size(size), desk.store.revision
            if not room:
                return None
            known = _labelled_otherwise(desk, annotator, offer.number)
            wanted = 2 if before.misses.shown < _FIRST and room > 2 * FEWEST else 1
            name = sha256(f"{annotator} {offer.number} {revision} {offer.ids[:1]}".encode()).hexdigest()[:16]
            seed = derive(desk.plan.seed, "sentinels", name)
            keys = dict(zip(known, hashes(seed, known).tolist(), strict=True)) if known else {}
            sentinels = sorted(known, key=lambda one: (before.used[one], keys[one]))[:wanted]
            tiles = offer.ids[: room - len(sentinels)]
            if offer.precision:  # nothing is expected of what a person has picked
                self._expected[name] = len(tiles) * (1 - offer.precision) / self._error()
            until = monotonic() + LEASE
            self._held |= dict.fromkeys(tiles, (annotator, until))
            for one in sentinels:
                tiles.insert(keys[one] % (len(tiles) + 1), one)
        return Grid(name, offer.number, revision, tiles, offer.precision)

    def _error(self) -> float:
        """By how much the model is wrong more often than it says, by the last grids that people confirmed.

        A person who overlooks some of what is wrong has found fewer than there were. Nothing is known of
        grids that were made before this server began.
        """
        grids = standing(self._desk.sweeps())
        last = [one for one in grids if one.sweep in self._expected][-_LAST:]
        overlooked = {
            who: min(_rate([one for one in grids if one.annotator == who]).rate, 0.5)
            for who in {one.annotator for one in last}
        }
        found = sum(len(one.wrong) / (1 - overlooked[one.annotator]) for one in last)
        return (found + _DOUBT) / (sum(self._expected[one.sweep] for one in last) + _DOUBT)

    def chosen(self, annotator: str, number: int, ids: Sequence[str]) -> Offer:
        """What a person has picked for a class, as far as it may be labelled."""
        with self._desk.lock:
            free, left = self._free(annotator, number, ids), max(0, self._desk.room())
        return Offer(number, [name for name in ids if name in free][:left], 0.0)

    def _free(self, annotator: str, number: int, ids: Collection[str]) -> set[str]:
        """Those that have no label, are nobody's just now, test nothing and were not found wrong."""
        desk, now = self._desk, monotonic()
        ledger = desk.ledger.refresh()
        leased = {lease.question.id for lease in desk.store.leases()}
        self._held = {name: held for name, held in self._held.items() if held[1] > now}
        others = {name for name, (who, _) in self._held.items() if who != annotator}
        wrong = {name for grid in standing(desk.sweeps()) if grid.number == number for name in grid.wrong}
        return {
            name
            for name in ids
            if name in desk.pool
            and name not in leased | others | wrong
            and not ledger.answered(name)
            and name not in ledger.quarantined
            and not kept_for_testing(desk, name)
        }


def past(desk: Desk, annotator: str) -> Past:
    """What an annotator has swept, by the facts: a run of grids ends with a rest, once that is over."""
    run, used = list[Sweep](), Counter[str]()
    desk.ledger.refresh()  # what the last grid has labelled counts, too
    for grid in standing(one for one in desk.sweeps() if one.annotator == annotator):
        used.update(grid.sentinels)
        run.append(grid)
        if _rate(run).above(REST) and not _unchecked(desk, run[-2:]):
            run = []
    rests = _rate(run).above(REST)
    return Past(_rate(run), used, _unchecked(desk, run[-2:]) if rests else [])


def to_check(desk: Desk) -> list[str]:
    """The items of the last two grids of everybody whose sweeping rests, as far as nobody has looked again.

    Whatever is answered about an item after its grid counts as a look, also the same label once more.
    """
    with desk.lock:
        desk.ledger.refresh()
        people = dict.fromkeys(one.annotator for one in desk.sweeps())
        return list(dict.fromkeys(name for who in people for name in past(desk, who).to_check))


def _rate(grids: Sequence[Sweep]) -> Misses:
    return misses(sum(len(one.missed) for one in grids), sum(len(one.sentinels) for one in grids))


def _unchecked(desk: Desk, grids: Sequence[Sweep]) -> list[str]:
    """What these grids have labelled, where nothing was said since."""
    return [
        name
        for grid in grids
        for name in grid.items
        if (said := desk.ledger.history(name))
        and (said[-1].annotator, said[-1].key) == (grid.annotator, grid.key)
        and ((word := desk.ledger.resolved(name)) is None or word.seq < said[-1].seq)
    ]


def _labelled_otherwise(desk: Desk, annotator: str, number: int) -> list[str]:
    """What this annotator has labelled as another class without having seen a guess, and what holds."""
    last = {one.id: one for one in desk.answers() if one.annotator == annotator}
    labels = desk.ledger.refresh().labels
    return sorted(
        name
        for name, one in last.items()
        if one.verdict == "label"
        and not one.assisted
        and name in desk.pool
        and labels.get(name, number) != number
        and desk.ledger.rules.counts_for(one.label) == labels[name]
    )


def _offered(sure: Sequence[float]) -> int:
    """The most items, from the surest on, of which the expected share is right."""
    best, total = 0, 0.0
    for count, value in enumerate(sure, 1):
        total += value
        if total >= PRECISION * count:
            best = count
    return best
