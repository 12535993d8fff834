"""Actions: each reads facts, does its work, and appends what came of it."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from time import perf_counter
from typing import Any

import torch

from askwise.bayes.evaluate import evaluate
from askwise.bayes.fitted import Fitted
from askwise.bayes.predict import predict
from askwise.errors import CorruptError, TrainingError
from askwise.loop.axes import encoded_part
from askwise.loop.calibration import Tempered, calibration, note, with_temperature
from askwise.loop.choose import Choice, choose_items, described
from askwise.loop.decide import Ask, Train
from askwise.loop.edits import asked_anew
from askwise.loop.measure import measure
from askwise.loop.models import fit_round, in_use
from askwise.loop.noted import TESTING
from askwise.loop.setting import Labelled, Setting
from askwise.pool.features import FeaturePool
from askwise.pool.source import Reading
from askwise.seeding import generator
from askwise.store.facts import Answer, Asked, Quarantine, Question, Round, Snapshot
from askwise.store.labels import Label

_SHOWN = 100  # measured numbers that a round keeps for a picture
_SORTED = 2_000  # items of a class that was split which are sorted by their guess at a time


def perform(action: Train | Ask, setting: Setting) -> None:
    """Do it, and leave the result in the store; killed before that, it is done again the same way."""
    number = setting.number + isinstance(action, Train)
    try:
        if isinstance(action, Train):
            train_round(setting)
        else:
            ask_questions(setting, action.count, tests=action.tests)
    except TrainingError as error:
        raise TrainingError(f"round {number}: {error}") from error


def train_round(setting: Setting, *, checkpoint: bool = True, tested: bool = True) -> None:
    """Train the next model on a snapshot of the labels, keep it, and append its round.

    Without a checkpoint it is kept in memory alone; whoever wants it later trains it again from the facts.
    If it is not `tested`, what it says of the items kept for testing is not noted: there may be many.
    """
    started = perf_counter()
    number = setting.number + 1
    taken = _take_snapshot(setting, number)
    if taken is None:
        return
    snapshot, labels, reading = taken
    read = perf_counter()
    fitted = fit_round(setting, number, reading, labels)
    trained = perf_counter()
    name = setting.store.checkpoint(fitted.save, keep=in_use(setting, number)) if checkpoint else ""
    saved = perf_counter()
    tempered = calibration(setting, fitted, number, seen=snapshot.seen)
    metrics = _metrics(setting, fitted, snapshot, tempered, tested=tested)
    seconds = {
        "read": read - started,
        "train": trained - read,
        "save": saved - trained,
        "measure": perf_counter() - saved,
    }
    setting.remember(number, fitted)  # before anybody hears of the round
    setting.store.append(
        [
            Round(
                number=number,
                seen=snapshot.seen,
                labels=snapshot.count,
                weights=fitted.digest(),
                checkpoint=name,
                metrics=metrics,
                seconds=seconds,
            )
        ]
    )


def ask_questions(
    setting: Setting,
    count: int,
    *,
    tests: int = 0,
    again: Sequence[str] = (),
    among: int | None = None,
    since: int | None = None,
) -> None:
    """Choose items and append the questions, before anyone is asked; test questions are mixed in.

    `again` are test items that were asked already, and are asked once more. The tests come at random places
    `among` so many of the first others, or among all. While items are scored people go on: what somebody
    has answered after the revision `since`, or looks at by now, is left out.
    """
    number = setting.number
    turn = _turn(setting)
    anew = _anew(setting, count, turn)
    choice = choose_items(setting, count - len(anew.ids), turn=turn, without=setting.ledger.split)
    encoded = encoded_part(setting, number) if tests else None
    wanted = [*again, *(setting.testing().next(tests, among=encoded) if tests else ())]
    drawn = described(setting, wanted, turn=turn) if wanted else Choice()
    rng = generator(setting.plan.seed, "mix", number, turn)
    mixed = _mixed(len(choice.ids), len(drawn.ids), rng, among=among)
    told = [("learn", *anew.told(place)) for place in range(len(anew.ids))]
    told += [
        ("test" if testing else "learn", *(drawn if testing else choice).told(place))
        for testing, place in mixed
    ]
    if since is not None:
        taken = _taken(setting, since)
        told = [one for one in told if one[1] not in taken]
    asked = Asked(
        round=number,
        turn=turn,
        scored=choice.scored,
        picks=len(told),
        scores=choice.sha256,
        seconds=choice.seconds,
    )
    questions = [
        Question(
            id=name,
            round=number,
            rank=rank,
            score=score,
            guess=guess,
            kind=kind,
            needed=setting.plan.wanted(name) if kind == "learn" else setting.plan.needed,
        )
        for rank, (kind, name, score, guess) in enumerate(told)
    ]
    setting.store.append(
        [asked, *questions, *_quarantines(anew.quarantined | choice.quarantined | drawn.quarantined)]
    )


def ask_unscored(setting: Setting, count: int) -> None:
    """Ask the first items in the order of encoding that may be asked, before anything is known of them.

    They are read, as people will see them, and not encoded.
    """
    pool, kept, ids, bad = setting.pool, setting.testing(), list[str](), dict[str, str]()
    assert isinstance(pool, FeaturePool)  # noqa: S101  nothing else has items that are encoded later
    for name in setting.order():
        if len(ids) == count:
            break
        if not (name in setting.held or name in kept or setting.ledger.known(name)):
            bad |= (why := pool.unreadable([name]))
            ids += [] if why else [name]
    number = setting.number
    asked = Asked(round=number, turn=_turn(setting), scored=0, picks=len(ids), scores="", seconds={})
    plan = setting.plan
    questions = [Question(id=n, round=number, rank=at, needed=plan.wanted(n)) for at, n in enumerate(ids)]
    setting.store.append([*([asked] if ids else []), *questions, *_quarantines(bad)])


def _turn(setting: Setting) -> int:
    """How many choices were made with the model of the last round."""
    made = setting.store.facts(Asked, since=_begun(setting))
    return sum(asked.round == setting.number for asked in made)


def _anew(setting: Setting, count: int, turn: int) -> Choice:
    """Items whose class was split, those of one guess together: they are asked before all others."""
    among = asked_anew(setting, _SORTED) if count > 0 else {}
    if not among:
        return Choice()
    found = described(setting, list(among), turn=turn, among=among)
    places = sorted(range(len(found.ids)), key=lambda at: (str(found.guesses[at]), found.ids[at]))[:count]
    ids, scores, guesses = zip(*map(found.told, places), strict=True) if places else ((), (), ())
    return Choice(list(ids), list(scores), list(guesses), quarantined=found.quarantined)


def _taken(setting: Setting, since: int) -> set[str]:
    """The items that somebody looks at now, or has answered after a revision."""
    held = {lease.question.id for lease in setting.store.leases()}  # first: who answers meanwhile held it
    return held | {one.id for one in setting.store.facts(Answer, since=since)}


def _mixed(
    learn: int, tests: int, rng: torch.Generator, *, among: int | None = None
) -> list[tuple[bool, int]]:
    """Whether each question tests, and which one of its kind it is: the tests at random places.

    These are `among` so many of the first others, where that is given.
    """
    first = learn if among is None else min(learn, among)
    places = set(torch.randperm(first + tests, generator=rng)[:tests].tolist())
    kinds = [place in places for place in range(learn + tests)]
    return [(testing, kinds[:place].count(testing)) for place, testing in enumerate(kinds)]


def _take_snapshot(setting: Setting, number: int) -> tuple[Snapshot, dict[str, Label], Reading] | None:
    """The labels to train on, written down first; none if no labelled item can be read.

    A round that was interrupted goes on with its own snapshot, even if more is known by now.
    """
    begun = setting.store.facts(Snapshot, since=_begun(setting))
    pending = [past for past in begun if past.round == number]
    snapshot = pending[-1] if pending else None
    while True:
        seen = snapshot.seen if snapshot else setting.ledger.refresh().revision
        labels = setting.ledger.labels_at(seen)
        digest = sha256(repr(list(labels.items())).encode()).hexdigest()
        if snapshot is None:
            snapshot = Snapshot(round=number, seen=seen, count=len(labels), sha256=digest)
            setting.store.append([snapshot])
        if snapshot.sha256 != digest:
            raise CorruptError(
                f"store {setting.store.name}: the labels of round {number} are not those it noted"
            )
        reading = setting.pool.read([name for name in labels if name in setting.pool])
        gone = {name: "it is not in the pool any more" for name in labels if name not in setting.pool}
        if not (reading.quarantined or gone):
            return (snapshot, labels, reading) if labels else None
        setting.store.append(_quarantines(gone | reading.quarantined))
        snapshot = None


def _begun(setting: Setting) -> int:
    """The revision of the last round: what belongs to the next one came after it."""
    last = setting.last()
    return 0 if last is None else last.revision


def _metrics(
    setting: Setting, fitted: Fitted, snapshot: Snapshot, tempered: Tempered | None, *, tested: bool
) -> dict[str, Any]:
    """What is handed over is measured with its temperature; test answers meet the model without it."""
    number = snapshot.round
    seed, handed = setting.plan.draw_seed(number), with_temperature(fitted, tempered)
    how: dict[str, Any] = {"engine": setting.engine, "progress": setting.follow}
    found = {
        name: evaluate(handed, (data.inputs, data.labels), draws=setting.plan.draws, seed=seed, **how)
        for name, data in setting.measured.items()
    }
    if setting.plan.kind == "regression":
        for name, data in setting.measured.items():
            found[name]["points"] = _points(fitted, data, draws=setting.plan.draws, seed=seed)
    if tested and setting.testing().on:
        found[TESTING] = measure(setting, fitted, snapshot)
    return found | note(tempered)


def _points(fitted: Fitted, data: Labelled, *, draws: int, seed: int) -> list[list[float]]:
    """Truth, mean and standard deviation of some measured numbers, for a picture."""
    some = predict(fitted, data.inputs[:_SHOWN], draws=draws, seed=seed)
    truth = data.labels[:_SHOWN].reshape(some.mean.shape)
    parts = (truth, some.mean, some.total.sqrt())
    return torch.stack([part.double().cpu().flatten() for part in parts], dim=1)[:_SHOWN].tolist()


def _quarantines(reasons: Mapping[str, str]) -> list[Quarantine]:
    return [Quarantine(id=name, reason=reason) for name, reason in reasons.items()]
