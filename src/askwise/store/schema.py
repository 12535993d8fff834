"""The tables: one for every kind of fact, and one row in `commits` for every append."""

from sqlalchemy import JSON, Column, Float, Integer, MetaData, String, Table, Text, UniqueConstraint

from askwise.store.facts import (
    Answer,
    Asked,
    ClassName,
    Fact,
    Item,
    Planned,
    Quarantine,
    Question,
    Round,
    Segment,
    Snapshot,
)

VERSION = 1
"""Raised with every change of a table; a store with a higher number is refused."""

metadata = MetaData()


def _table(name: str, *columns: Column[object] | UniqueConstraint) -> Table:
    revision: Column[int] = Column("revision", Integer, nullable=False, index=name != "items")
    return Table(name, metadata, revision, *columns)


def _text(name: str, *, nullable: bool = False, index: bool = False) -> Column[object]:
    return Column(name, Text, nullable=nullable, index=index)


def _number(name: str, *, nullable: bool = False) -> Column[object]:
    return Column(name, Integer, nullable=nullable)


def _json(name: str) -> Column[object]:
    return Column(name, JSON, nullable=False)


meta = Table(
    "meta", metadata, Column("name", String, primary_key=True), Column("value", String, nullable=False)
)

commits = Table(
    "commits",
    metadata,
    Column("revision", Integer, primary_key=True),
    Column("at", String, nullable=False),
)

TABLES: dict[type[Fact], Table] = {
    Item: _table("items", Column("id", Text, primary_key=True)),
    Quarantine: _table("quarantines", _text("id"), _text("reason", nullable=True)),
    ClassName: _table("classes", _number("position"), _text("name")),
    Planned: _table("plans", _json("plan")),
    Segment: _table("segments", _json("conditions"), _json("changed")),
    Question: _table(
        "questions",
        _text("id", index=True),
        _number("round"),
        _number("rank"),
        Column("score", Float, nullable=True),
        _number("guess", nullable=True),
    ),
    Answer: _table(
        "answers",
        _text("id", index=True),
        _text("key"),
        _text("kind"),
        _number("label", nullable=True),
        _text("author"),
        UniqueConstraint("key"),  # at most one answer per act of answering, whatever the code above does
    ),
    Snapshot: _table("snapshots", _number("round"), _number("seen"), _number("count"), _text("sha256")),
    Round: _table(
        "rounds",
        _number("number"),
        _number("seen"),
        _number("labels"),
        _text("weights"),
        _text("checkpoint"),
        _json("metrics"),
        _json("seconds"),
        UniqueConstraint("number"),
    ),
    Asked: _table(
        "asked", _number("round"), _number("scored"), _number("picks"), _text("scores"), _json("seconds")
    ),
}
