"""The tables: one for every kind of fact, one row in `commits` for every append, and a `head` of one row."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from askwise.store.facts import ABOUT, FACTS, ONCE, Fact
from askwise.store.rows import KINDS, REAL, TEXT, WHOLE

VERSION = 2
"""Raised with every change of a table; a store with a higher number is refused."""

metadata = MetaData()

_WHOLE = BigInteger().with_variant(Integer, "sqlite")  # only `INTEGER PRIMARY KEY` is SQLite's own key
_TYPES: dict[str, Any] = {TEXT: Text, WHOLE: _WHOLE, REAL: Double}
_NAMES = {"Quarantine": "quarantines", "ClassEdit": "class_edits", "Policy": "policies", "Planned": "plans"}


def _name(kind: type[Fact]) -> str:
    name = kind.__name__
    return _NAMES.get(name, name.lower() if name.endswith("ed") else f"{name.lower()}s")


def _table(kind: type[Fact]) -> Table:
    name = _name(kind)
    columns: list[Column[object]] = [
        Column("seq", _WHOLE, primary_key=True, autoincrement=False),
        Column("revision", _WHOLE, nullable=False),
    ]
    for field, (column, nullable) in KINDS[kind].columns.items():
        columns.append(Column(field, _TYPES[column], nullable=nullable))
    columns.append(Column("sum", LargeBinary, nullable=False))
    once = [UniqueConstraint(*fields, name=f"{name}_once") for fields in ONCE.get(kind, ())]
    table = Table(name, metadata, *columns, *once)
    if kind in ABOUT:
        Index(f"{name}_by_item", table.c.id)
    return table


TABLES: dict[type[Fact], Table] = {kind: _table(kind) for kind in FACTS}

meta = Table(
    "meta", metadata, Column("name", String, primary_key=True), Column("value", String, nullable=False)
)

head = Table(
    "head",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("revision", _WHOLE, nullable=False),
    Column("sum", String, nullable=False),
    Column("epoch", _WHOLE, nullable=False),
)
"""Its one row is locked by whoever appends, so that revisions become visible in their order."""

commits = Table(
    "commits",
    metadata,
    Column("revision", _WHOLE, primary_key=True, autoincrement=False),
    Column("at", String, nullable=False),
    Column("epoch", _WHOLE, nullable=False),
    Column("last", _WHOLE, nullable=False),  # the seq of the last fact so far
    Column("totals", Text, nullable=False),  # how many facts of each kind, and items in each place, so far
    Column("content", String, nullable=False),  # the sums of its facts
    Column("previous", String, nullable=False),  # the sum of the commit before
    Column("sum", String, nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("id", _WHOLE, primary_key=True, autoincrement=True),
    Column("question", Text, nullable=False),
    Column("item", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("turn", _WHOLE, nullable=False),  # how often it was given back
    Column("barred", _WHOLE, nullable=False),  # whether its item cannot be shown
    Column("annotator", Text, nullable=False),
    Column("token", Text, nullable=False),
    Column("until", Double, nullable=False),
)
"""One row for each answer that a question still wants; the only table that is changed."""

Index("leases_by_question", leases.c.question)
Index("leases_by_item", leases.c.item)
Index("leases_in_order", leases.c.turn, leases.c.id)
