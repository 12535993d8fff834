"""What the owner of a page does about the others: access given and taken, agreement, the last word."""

from collections import Counter

from askwise.errors import InputError
from askwise.loop.agreement import Disagreement, agreement, disagreements
from askwise.store.facts import Act, Annotator, Answer, Resolution
from askwise.web import team_models
from askwise.web.desk import STORED, VERDICTS, Desk, opaque
from askwise.web.people import People
from askwise.web.qr import modules

_ACTS, _QUEUE = 50, 100  # how many are shown


def give_access(desk: Desk, people: People, name: str, *, by: str) -> None:
    """A link for a person; who had one keeps it."""
    name = name.strip()
    if people.token(name) is None:
        people.give(name)
        desk.store.append([Annotator(annotator=name), Act(by=by, act="give access", about=name)])


def take_access(desk: Desk, people: People, name: str, *, by: str) -> None:
    """End a person's access at once, on every server of the store; what they hold is free again."""
    if people.token(name) is None:
        raise InputError(f"nobody called {name!r} has access")
    people.take(name)
    desk.store.append([Annotator(annotator=name, active=False), Act(by=by, act="take access", about=name)])
    release(desk, name)


def release(desk: Desk, name: str) -> None:
    """Give back what a person holds."""
    for lease in desk.store.leases():
        if lease.annotator == name:
            desk.store.release(lease)


class Following:
    """Takes the access of those who lost it on another server of the same store."""

    def __init__(self, desk: Desk, people: People) -> None:
        self._desk, self._people = desk, people
        self._seen = desk.store.revision

    def look(self) -> None:
        """Take the access of everybody who lost it since the last look."""
        new = self._desk.store.facts(Annotator, since=self._seen)
        for fact in new:
            if not fact.active and fact.annotator != self._people.owner:
                self._people.take(fact.annotator)
            self._seen = fact.revision


def shown(desk: Desk, people: People, *, base: str) -> team_models.PeopleShown:
    """Everybody who answered or may answer, and what was done about them; links are for the owner's eyes."""
    answers, labels, last = Counter[str](), Counter[str](), dict[str, Answer]()
    for one in desk.answers():
        answers[one.annotator] += 1
        labels[one.annotator] += one.verdict == "label"
        last[one.annotator] = one
    acts = desk.store.facts(Act)[-_ACTS:]
    times = desk.store.times({one.revision for one in [*last.values(), *acts]})
    held = Counter(lease.annotator for lease in desk.store.leases())
    names = dict.fromkeys([people.owner, *people.values(), *answers])
    return team_models.PeopleShown(
        people=[
            team_models.PersonShown(
                name=name,
                owner=name == people.owner,
                access=token is not None,
                answers=answers[name],
                labels=labels[name],
                held=held[name],
                last=times.get(last[name].revision) if name in last else None,
                link=f"{base}/#{token}" if token is not None else None,
                qr=modules(f"{base}/#{token}") if token is not None else None,
            )
            for name in names
            for token in [people.token(name)]
        ],
        acts=[
            team_models.ActShown(at=times.get(one.revision), by=one.by, act=one.act, about=one.about)
            for one in reversed(acts)
        ],
    )


def agreeing(desk: Desk) -> team_models.AgreementShown:
    """How far people agree, by their blind answers alone, and what waits for the last word."""
    answers, how = desk.answers(), desk.ledger.refresh().rules
    found = agreement(answers, how, kind=desk.plan.kind, classes=len(desk.classes.names))
    waiting = disagreements(answers, desk.store.facts(Resolution), how)
    times = desk.store.times({word.revision for one in waiting[:_QUEUE] for word in one.words})
    return team_models.AgreementShown(
        items=found.items,
        same=found.same,
        krippendorff=found.krippendorff,
        fleiss=found.fleiss,
        pairs=[
            team_models.PairShown(first=one.first, second=one.second, items=one.items, cohen=one.cohen)
            for one in found.pairs
        ],
        disagreements=[_told(desk, one, times) for one in waiting[:_QUEUE]],
        waiting=len(waiting),
    )


def _told(desk: Desk, one: Disagreement, times: dict[int, str]) -> team_models.DisagreementShown:
    classes = desk.classes
    return team_models.DisagreementShown(
        item=opaque(one.id),
        name=desk.name(one.id),
        answers=[
            team_models.WordShown(
                annotator=word.annotator,
                verdict=VERDICTS[word.verdict],
                value=desk.shown_label(word.label, classes),
                at=times.get(word.revision),
                assisted=word.assisted,
            )
            for word in one.words
        ],
    )


def resolve(desk: Desk, given: team_models.ResolutionGiven, *, by: str) -> int:
    """The revision of the word that holds for an item in spite of its answers; said again, it is one word."""
    identity = desk.find(given.item)
    label = desk.label(given.value) if given.verdict == "label" else None
    with desk.lock:
        said = tuple(one.seq for one in desk.ledger.refresh().history(identity))
        if not said:
            raise InputError("nobody has answered this item yet; answer it first")
        word = Resolution(
            id=identity,
            verdict=STORED[given.verdict],
            label=label,
            annotator=by,
            answers=said,
            note=given.note,
        )
        past = [one for one in desk.store.facts(Resolution) if one.id == identity]
        if past and _told_of(past[-1]) == _told_of(word):
            return past[-1].revision
        act = "take back the last word" if given.verdict == "retract" else "resolve"
        return desk.store.append([word, Act(by=by, act=act, about=desk.name(identity))])


def _told_of(word: Resolution) -> tuple[object, ...]:
    return word.verdict, word.label, word.annotator, word.answers, word.note
