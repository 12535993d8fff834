"""Facts in SQLite or PostgreSQL, through the same SQLAlchemy Core."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from heapq import merge
from itertools import chain
from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, Engine, select

from askwise.errors import InputError, StaleError, StoreError
from askwise.store import checkpoints
from askwise.store.contract import F, Lease, Places, Taker
from askwise.store.facts import ABOUT, FENCED, GUARDED, TRAINER, About, Answer, Fact, Item, Question, Role
from askwise.store.lock import Lock, one_name, this_process
from askwise.store.rows import KINDS
from askwise.store.sql import connecting, reading, slots
from askwise.store.sql.connecting import sensible, told
from askwise.store.sql.migrate import from_version_1, layout
from askwise.store.sql.reading import Commit, Head
from askwise.store.sql.schema import TABLES, commits
from askwise.store.sql.server_lock import ServerLock
from askwise.store.sql.writing import Writing

Access = Literal["train", "answer", "read"]

_FEW = 100  # facts of one kind that are kept once they have been read: plans, segments, policies
_ROWS = 10_000  # rows of one short read: a reader never keeps a writer waiting for longer


class SqlStore:
    """A SQLite file or a PostgreSQL database: one trainer, any number of answerers and readers."""

    def __init__(
        self,
        target: str | Path,
        *,
        access: Access = "train",
        on_write: Callable[[str], None] | None = None,
    ) -> None:
        self._access: Access = access
        self._on_write = on_write or (lambda _: None)
        self._pid = os.getpid()
        self._lock: Lock | ServerLock | None = None
        self._epoch = 0
        self._claimed = False  # whether this epoch is a fact: that is with the first question or round
        self._commits: dict[int, Commit] = {}
        self._few: dict[type[Fact], list[Fact]] = {}
        self._closed = False
        self.path: Path | None = None
        self.folder: Path | None = None
        self._engine = self._found(target)
        with told(self.name), sensible(self.name):
            try:
                self._prepare()
            except BaseException:
                self.close()
                raise

    def _found(self, target: str | Path) -> Engine:
        """The database, and what it is called."""
        read_only = self._access == "read"
        if connecting.is_url(target):
            url, self.folder = connecting.server_url(str(target))
            self.name = url.render_as_string(hide_password=True)
            if self.folder is None and self._access == "train":
                raise InputError(
                    f"store {self.name} needs a folder for models; add it: {self.name}?folder=/path/to/models"
                )
            return connecting.postgres_engine(url)
        self.name = str(target)
        path = Path(target).absolute()
        connecting.check_path(path, read_only=read_only)
        self.path = one_name(path)
        self.folder = self.path.with_name(self.path.name + ".checkpoints")
        return connecting.sqlite_engine(self.path, read_only=read_only)

    @property
    def revision(self) -> int:
        """The revision of the last append; 0 when there was none."""
        return self._head().commit.revision

    def append(self, facts: Iterable[Fact], *, expect: int | None = None) -> int:
        """The revision under which the facts are now on the disk."""
        rest = iter(facts)
        first = next(rest, None)
        if first is None:
            return self.revision
        kind = type(first).__name__
        with told(self.name):
            self._on_write(f"before {kind}")
            with self._writing() as connection:
                now = reading.read_head(connection, self.name, lock=True)
                if expect is not None and expect != now.commit.revision:
                    at = now.commit.revision
                    raise StaleError(f"store {self.name} is at revision {at}, not {expect}; read it again")
                writing = Writing(connection, self.name, now)
                writing.add(self._fenced(chain([first], rest), now, writing, guarded=expect is not None))
                revision = writing.finish().revision
                self._on_write(f"within {kind}")
            self._on_write(f"after {kind}")
        self._claimed = self._claimed or writing.epoch > now.epoch
        return revision

    def answer(self, answers: Sequence[Answer]) -> list[Answer]:
        """The answers as they are stored, in the same order: new ones now, replays as they were."""
        with told(self.name):
            self._on_write("before Answer")
            with self._writing() as connection:
                for annotator in sorted({answer.annotator for answer in answers}):
                    slots.serial(connection, annotator)
                now = reading.read_head(connection, self.name, lock=True)
                self._check_questions(connection, answers)
                known = {_mark(answer): answer for answer in self._stored(connection, answers)}
                new = {
                    _mark(one): one for one in reversed(answers) if _mark(one) not in known
                }  # the first of equals
                if new:
                    writing = Writing(connection, self.name, now)
                    for answer in writing.added(one for one in answers if new.get(_mark(one)) is one):
                        if isinstance(answer, Answer):
                            known[_mark(answer)] = answer
                    writing.finish()
                self._on_write("within Answer")
            self._on_write("after Answer")
        return [known[_mark(answer)] for answer in answers]

    def facts(self, *kinds: type[F], since: int = 0) -> list[F]:
        """All facts of these kinds with a revision above `since`, in the order they were appended."""
        now = self._head().commit
        lists: list[list[F]] = [self._every(kind, since, now) for kind in kinds]  # type: ignore[misc]
        return lists[0] if len(lists) == 1 else list(merge(*lists, key=lambda fact: fact.seq))

    def _every(self, kind: type[Fact], since: int, now: Commit) -> list[Fact]:
        """The facts of one kind; where they are few they are read once, and again when there are more."""
        count = now.counts().get(kind.__name__, 0)
        known = self._few.get(kind, [])
        if not since and known and len(known) == count:
            return list(known)
        found = [fact for some in self._pages(kind, since, now) for fact in some]
        if not since and count <= _FEW:
            self._few[kind] = found
        return list(found)

    def last(self, kind: type[F]) -> F | None:
        """The last fact of a kind; it costs the same however many there are."""
        now = self._head().commit
        with self._reading() as connection:
            return reading.last(connection, kind, self.name, now)  # type: ignore[return-value]

    def touched(self, since: int) -> dict[str, list[About]]:
        """All that decides where an item stands, for each one that something happened to after a revision."""
        now = self._head().commit
        last: dict[str, About] = {}
        for kind in ABOUT:
            for fact in self._every(kind, since, now):
                if isinstance(fact, About) and (fact.id not in last or last[fact.id].seq < fact.seq):
                    last[fact.id] = fact
        with self._reading() as connection:
            found = reading.about(connection, last, self.name, now.counts())
        for identity, fact in last.items():
            known = [one for one in found.get(identity, []) if one.seq <= now.last]
            reading.unbroken(identity, known, self.name, wanted=fact.nth + 1)
            found[identity] = known
        return found

    def ids(self) -> Iterator[str]:
        """The id of every item, without holding them all, and without keeping a writer out."""
        now = self._head().commit
        left = wanted = now.counts().get(Item.__name__, 0)
        above = 0
        while left > 0:
            with self._reading() as connection:
                some = reading.page_of_ids(connection, self.name, above=above, upto=now.last, most=_ROWS)
            left -= len(some)
            if not some or left < 0:
                raise reading.missing(self.name, Item.__name__, wanted, wanted - left)
            above = some[-1][0]
            yield from (identity for _, identity in some)

    def count(self) -> int:
        """How many items there are."""
        return self._head().commit.counts().get(Item.__name__, 0)

    def places(self) -> Places:
        """Where the items stand."""
        found = self._head().commit.counts()
        return Places(*(found.get(name, 0) for name in ("open", "labelled", "skipped", "quarantined")))

    def times(self, revisions: Collection[int]) -> dict[int, str]:
        """When these revisions were appended, in ISO 8601."""
        found: dict[int, str] = {}
        for some in reading.chunks(sorted(revisions), 500):
            with self._reading() as connection:
                order = select(commits.c.revision, commits.c.at).where(commits.c.revision.in_(some))
                found |= {row[0]: row[1] for row in connection.execute(order)}
        return found

    def lease(self, taker: Taker) -> Lease | None:
        """A question that the taker has neither answered nor holds; none if there is none free."""
        found = self.swap([], taker, count=1)
        return found[0] if found else None

    def swap(self, back: Collection[Lease], taker: Taker, *, count: int) -> list[Lease]:
        """Up to `count` leases as `lease` gives them, after these are given back; all of it at once."""
        found: list[tuple[str, str, float]] = []
        with told(self.name), self._writing() as connection:
            for lease in back:
                slots.give_back(connection, lease.token)
            while len(found) < count:
                one = slots.take(connection, taker)
                if one is None:
                    break
                found.append(one)
            asked = self._asked(connection, [name for name, *_ in found])
            return [Lease(asked[name], taker.annotator, token, until) for name, token, until in found]

    def renew(self, lease: Lease, *, seconds: int | float) -> Lease | None:
        """The lease with a new end; none if it is over and somebody else may have the question."""
        with told(self.name), self._writing() as connection:
            until = slots.extend(connection, lease.token, seconds=seconds)
        return None if until is None else Lease(lease.question, lease.annotator, lease.token, until)

    def release(self, lease: Lease) -> None:
        """Give a question back unanswered; the others come before it."""
        with told(self.name), self._writing() as connection:
            slots.give_back(connection, lease.token)

    def leases(self) -> list[Lease]:
        """The leases that are not over."""
        with self._reading() as connection:
            found = slots.live(connection)
            asked = self._asked(connection, [name for name, *_ in found])
            return [Lease(asked[name], who, token, until) for name, who, token, until in found]

    def checkpoint(self, save: Callable[[Path], object], *, keep: Collection[str]) -> str:
        """The name of what `save` wrote into a folder, on the disk when this returns; `keep` stay, too."""
        if self.folder is None:
            raise InputError(f"store {self.name} has no folder for models; add ?folder=/path/to/models")
        with told(self.name):
            name = checkpoints.write(self.folder, save, self._on_write)
            checkpoints.keep(self.folder, {name, *keep})
        return name

    def close(self) -> None:
        """Let another process train."""
        self._closed = True
        self._engine.dispose(close=os.getpid() == self._pid)
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _pages(self, kind: type[Fact], since: int, now: Commit) -> Iterator[list[Fact]]:
        """The facts of one kind up to a commit, in short reads; their count tells that none is missing."""
        before = self._commit(since) if since else Commit()
        name = kind.__name__
        left = wanted = now.counts().get(name, 0) - before.counts().get(name, 0)
        above = before.last
        while left > 0:
            with self._reading() as connection:
                some = reading.page(connection, kind, self.name, above=above, upto=now.last, most=_ROWS)
            left -= len(some)
            if not some or left < 0:
                raise reading.missing(self.name, name, wanted, wanted - left)
            above = some[-1].seq
            yield some

    def _head(self) -> Head:
        with self._reading() as connection:
            found = reading.read_head(connection, self.name)
        self._remember(found.commit)
        return found

    def _commit(self, revision: int) -> Commit:
        if revision not in self._commits:
            with self._reading() as connection:
                self._remember(reading.read_commit(connection, self.name, revision))
        return self._commits[revision]

    def _remember(self, commit: Commit) -> None:
        """Keep the last few commits that were found right: the next reader begins where one of them ended."""
        known = dict(list(self._commits.items())[-7:])
        known[commit.revision] = commit
        self._commits = known

    def _fenced(self, facts: Iterable[Fact], now: Head, writing: Writing, *, guarded: bool) -> Iterator[Fact]:
        """The facts, as long as this store may append them; the first time with its role before them."""
        free = self._epoch if self._claimed else self._epoch - 1
        for fact in facts:
            if guarded and not isinstance(fact, GUARDED):
                raise InputError(f"a {type(fact).__name__} is not appended by an expected revision")
            if isinstance(fact, FENCED):
                if self._access != "train":
                    raise StoreError(f"store {self.name} is open for answers only; it takes no new questions")
                if now.epoch != free:
                    raise StoreError(
                        f"store {self.name} has another trainer by now (epoch {now.epoch}, this one has "
                        f"{self._epoch}); close this one"
                    )
                if writing.epoch < self._epoch:
                    writing.epoch = self._epoch
                    yield Role(role=TRAINER, holder=str(this_process()), epoch=self._epoch)
            yield fact

    def _check_questions(self, connection: Connection, answers: Sequence[Answer]) -> None:
        asked = self._questions(connection, [answer.question for answer in answers if answer.question])
        for answer in answers:
            if answer.question and (answer.question not in asked or asked[answer.question].id != answer.id):
                raise InputError(f"item {answer.id!r} was not asked by a question {answer.question!r}")

    def _questions(self, connection: Connection, names: Collection[str]) -> dict[str, Question]:
        table, kind = TABLES[Question], KINDS[Question]
        found: dict[str, Question] = {}
        for some in reading.chunks(sorted(set(names)), 500):
            for row in connection.execute(select(table).where(table.c.question.in_(some))):
                fact = reading.checked_fact(kind, row, self.name)
                found[fact.question] = fact  # type: ignore[attr-defined, assignment]
        return found

    def _asked(self, connection: Connection, names: Collection[str]) -> dict[str, Question]:
        """The questions of leases: those are always there."""
        found = self._questions(connection, names)
        if len(found) < len(set(names)):
            raise reading.missing(self.name, Question.__name__, len(set(names)), len(found))
        return found

    def _stored(self, connection: Connection, answers: Sequence[Answer]) -> Iterator[Answer]:
        """The answers that are there already, among others about the same items."""
        table, kind = TABLES[Answer], KINDS[Answer]
        for some in reading.chunks(sorted({answer.id for answer in answers}), 500):
            for row in connection.execute(select(table).where(table.c.id.in_(some))):
                yield reading.checked_fact(kind, row, self.name)  # type: ignore[misc]

    def _prepare(self) -> None:
        if self._access == "read":
            self._engine = from_version_1(self._engine, self.name) or self._engine
            return
        if self._access == "train":
            self._lock = (
                ServerLock(self._engine, name=self.name)
                if self.path is None
                else Lock(self.path, name=self.name)
            )
        with self._writing() as connection:  # also proves now that the store can be written
            layout(connection, self.name)
            self._epoch = reading.read_head(connection, self.name).epoch + 1

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with told(self.name), sensible(self.name), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        if self._access == "read" or self._closed:
            raise StoreError(f"store {self.name} is closed, or open for reading only")
        if os.getpid() != self._pid:
            raise StoreError(
                f"store {self.name} belongs to process {self._pid}; open the store again in this one"
            )
        with self._engine.connect().execution_options(writes=True) as connection, connection.begin():
            yield connection


def _mark(answer: Answer) -> tuple[str, str, str, str]:
    return answer.id, answer.question, answer.annotator, answer.key
