"""Leases: one row for each answer that a question still wants, taken for a while by one annotator."""

from collections.abc import Sequence
from dataclasses import replace
from secrets import token_hex

from sqlalchemy import Connection, ScalarSelect, delete, exists, func, insert, select, update

from askwise.store.contract import Taker
from askwise.store.facts import Answer, Quarantine, Question
from askwise.store.sql.connecting import now
from askwise.store.sql.reading import chunks
from askwise.store.sql.schema import TABLES, leases

_FREE = {"annotator": "", "token": "", "until": 0.0}


def offer(connection: Connection, questions: Sequence[Question]) -> None:
    """As many rows as the questions want answers; those of older questions that nobody holds go."""
    for some in chunks(questions, 500):
        connection.execute(
            delete(leases).where(
                leases.c.item.in_([one.id for one in some]),
                leases.c.kind.in_(sorted({one.kind for one in some})),
                leases.c.until <= now(connection),
            )
        )
    rows = [
        {"question": one.question, "item": one.id, "kind": one.kind, "turn": 0, "barred": 0, **_FREE}
        for one in questions
        for _ in range(one.needed)
    ]
    if rows:
        connection.execute(insert(leases), rows)


def one_more(connection: Connection, question: Question) -> None:
    """A row for a question whose answers are a tie, unless it has one."""
    if not connection.scalar(select(exists().where(leases.c.question == question.question))):
        offer(connection, [replace(question, needed=1)])


def answered(connection: Connection, answer: Answer) -> None:
    """Take back what the annotator held; a final answer also uses up one place of its question."""
    own = (leases.c.question == answer.question) & (leases.c.annotator == answer.annotator)
    if answer.verdict in ("skip", "retract"):
        connection.execute(update(leases).where(own).values(turn=leases.c.turn + 1, **_FREE))
        return
    free = leases.c.until <= now(connection)
    kind = select(TABLES[Question].c.kind).where(TABLES[Question].c.question == answer.question)
    others = (leases.c.item == answer.id) & (leases.c.question != answer.question)
    connection.execute(delete(leases).where(others, leases.c.kind == kind.scalar_subquery(), free))
    table = TABLES[Answer]
    again = connection.scalar(
        select(func.count())
        .select_from(table)
        .where(
            table.c.id == answer.id,
            table.c.question == answer.question,
            table.c.annotator == answer.annotator,
            table.c.verdict.in_(("label", "cannot_tell")),
            table.c.seq < answer.seq,
        )
    )
    if again:  # a correction: the place was used up before
        connection.execute(delete(leases).where(own))
        return
    order = (
        select(leases.c.id)
        .where(leases.c.question == answer.question, own | free)
        .order_by((leases.c.annotator == answer.annotator).desc(), leases.c.id)
        .limit(1)
    )
    connection.execute(delete(leases).where(leases.c.id == order.scalar_subquery()))
    # what somebody has answered comes first for the next: it is not forgotten behind newer questions
    connection.execute(update(leases).where(leases.c.question == answer.question).values(turn=-1))


def bar(connection: Connection, notes: Sequence[Quarantine]) -> None:
    """Nobody is given an item that cannot be read."""
    last = {note.id: note.reason is not None for note in notes}
    for barred in (True, False):
        for some in chunks([name for name, found in last.items() if found is barred], 500):
            connection.execute(update(leases).where(leases.c.item.in_(some)).values(barred=int(barred)))


def take(connection: Connection, taker: Taker) -> tuple[str, str, float] | None:
    """The question, the token and the end of a new lease; none if nothing is free for this taker."""
    annotator = taker.annotator
    serial(connection, annotator)
    time = now(connection)
    held, table = leases.alias("held"), TABLES[Answer]
    answered = (
        select(table.c.seq)
        .where(
            table.c.id == leases.c.item,
            table.c.question == leases.c.question,
            table.c.annotator == annotator,
            table.c.verdict.in_(("label", "cannot_tell")),
        )
        .limit(1)
        .scalar_subquery()  # looked up item by item: as a join, PostgreSQL may read every answer for each
    )
    # an item is not shown twice at a time, be it by an older question
    holds = exists().where(
        held.c.item == leases.c.item,
        held.c.kind == leases.c.kind,
        held.c.until > time,
        (held.c.question != leases.c.question) | (held.c.annotator == annotator),
    )
    order = (
        select(leases.c.id)
        .where(leases.c.until <= time, leases.c.barred == 0, leases.c.kind.in_(tuple(taker.kinds)))
        .where(answered.is_(None), ~holds)
        .order_by(leases.c.turn, *([_asked().desc()] if taker.newest else []), leases.c.id)
        .limit(1)
    )
    if connection.dialect.name != "sqlite":
        order = order.with_for_update(skip_locked=True, of=leases)
    token = token_hex(16)
    row = connection.execute(
        update(leases)
        .where(leases.c.id == order.scalar_subquery())
        .values(annotator=annotator, token=token, until=time + taker.seconds)
        .returning(leases.c.question, leases.c.until)
    ).first()
    return None if row is None else (row[0], token, row[1])


def _asked() -> ScalarSelect[int]:
    """The revision under which the question of a lease was asked."""
    table = TABLES[Question]
    return select(table.c.revision).where(table.c.question == leases.c.question).scalar_subquery()


def serial(connection: Connection, annotator: str) -> None:
    """One transaction at a time for each annotator, who may have two pages open."""
    if connection.dialect.name != "sqlite":
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(annotator, 7))))


def extend(connection: Connection, token: str, *, seconds: int | float) -> float | None:
    """The new end of a lease; none if it is over."""
    time = now(connection)
    found: float | None = connection.scalar(
        update(leases)
        .where(leases.c.token == token, leases.c.until > time)
        .values(until=time + seconds)
        .returning(leases.c.until)
    )
    return found


def give_back(connection: Connection, token: str) -> None:
    """Free what the token holds; others come before it."""
    connection.execute(update(leases).where(leases.c.token == token).values(turn=leases.c.turn + 1, **_FREE))


def live(connection: Connection) -> list[tuple[str, str, str, float]]:
    """Question, annotator, token and end of every lease that is not over."""
    order = (
        select(leases.c.question, leases.c.annotator, leases.c.token, leases.c.until)
        .where(leases.c.until > now(connection))
        .order_by(leases.c.id)
    )
    return [(row[0], row[1], row[2], row[3]) for row in connection.execute(order)]
