"""Test questions as the last tested round has noted them, brought up to date by what came since alone."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from askwise.loop.tally import Tally, Trial, tally
from askwise.loop.testing import Tested, Testing, in_region
from askwise.store import labels
from askwise.store.contract import Store
from askwise.store.facts import RULES, Group, Item, Round
from askwise.store.labels import Label
from askwise.store.standing import Rules, moves_labels, rules

TESTING = "testing"
"""Where a round notes, among its metrics, what its model says of the items that are kept for testing."""
KEPT, TALLY, SAID, GROWN = "kept", "tally", "said", "grown"
_WAITS = ""  # written where a label would be
_NEAR = 64  # revisions looked back on for the last round that was tested, at first


@dataclass(frozen=True)
class Noted:
    """What `Testing` tells of counts and answers, without the pool and the history; nothing can be asked."""

    size: int
    tally: Tally
    said: Mapping[str, Label | None]
    """Of the items that the round has scored the labels of those with all the answers they were asked for."""
    rules: Rules
    """How what was said becomes a label by now."""
    groups: Mapping[str, str] = field(default_factory=dict)
    asked: Collection[str] = ()
    """Those of the items that the round has scored that were asked."""
    on: bool = True

    def left(self) -> int:
        """How many items of the region have not been asked."""
        return self.size - self.tally.used

    def tested(self) -> list[Tested]:
        """Those of the test items that were scored, in the order in which they were drawn."""
        return [Tested(name, label) for name, label in self.said.items()]

    def group_of(self, identity: str) -> str:
        """An item is its own group: where there are others, nothing is noted."""
        return identity


def note_tests(testing: Testing, scored: Collection[str], *, seen: int) -> dict[str, Any]:
    """What a round notes of the test questions as they stood at revision `seen`, for the items it scored."""
    written = {one.id: _written(one.label) for one in testing.tested_at(seen)}
    return {
        KEPT: testing.size,
        GROWN: testing.grown(),
        TALLY: asdict(testing.tally_at(seen)),
        SAID: {name: written.get(name, _WAITS) for name in testing.trials if name in scored},
    }


def noted_tests(store: Store, past: Round | None, share: float) -> Noted | None:
    """The test questions by the note of a round; none where that and what came since do not say it all.

    That is where groups share a fate, or where classes or the policy have changed since.
    """
    told = {} if past is None else past.metrics.get(TESTING, {})
    counted = told.get(TALLY, {}).keys() == asdict(Tally()).keys()  # an older version noted less
    if past is None or not counted or store.last(Group) is not None:
        return None
    ruling = store.facts(*RULES)
    if any(fact.revision > past.seen and moves_labels(fact) for fact in ruling):
        return None
    how, found, said = rules(ruling), Tally(**told[TALLY]), dict[str, str | None](told[SAID])
    touched = store.touched(past.seen)
    inside = in_region(store, share, touched)
    trials = {name: Trial.of(history) for name, history in touched.items()}
    for name in sorted(touched, key=lambda one: trials[one].first):
        before = [fact for fact in touched[name] if fact.revision <= past.seen]
        now = tally(touched[name], how, inside=name in inside)
        found += now - tally(before, how, inside=name in inside)
        if now.asked and name in told.get("items", ()):
            said[name] = _written(trials[name].standing(how).label) if now.tested else _WAITS
    new = in_region(store, share, [item.id for item in store.facts(Item, since=past.revision)])
    texts = {name: text for name, text in said.items() if text != _WAITS}
    read = {name: None if text is None else labels.read(text) for name, text in texts.items()}
    return Noted(told[KEPT] + len(new), found, read, how, asked=said.keys())


def last_tested(store: Store) -> Round | None:
    """The last round that was tested; none before there is one. Older ones are not read."""
    last = store.last(Round)
    if last is None or TESTING in last.metrics:
        return last
    back = _NEAR
    while back < 8 * last.revision:
        found = store.facts(Round, since=max(0, last.revision - back))
        tested = [one for one in found if TESTING in one.metrics]
        if tested:
            return tested[-1]
        back *= 8
    return None


def _written(label: Label | None) -> str | None:
    return None if label is None else labels.written(label)
