"""What a store promises; any class that keeps these promises is one (tests/conformance/test_stores.py)."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from askwise.store.facts import About, Answer, Fact, Question

F = TypeVar("F", bound=Fact)


@dataclass(frozen=True)
class Places:
    """How many items something has happened to, by where they stand; all others are unlabelled."""

    open: int = 0
    labelled: int = 0
    skipped: int = 0
    quarantined: int = 0


@dataclass(frozen=True)
class Lease:
    """A question that one annotator has for a while; `token` proves it, `until` is the database's time."""

    question: Question
    annotator: str
    token: str
    until: float


@dataclass(frozen=True)
class Taker:
    """Who leases questions, for how many seconds, of which kinds, and whether the newest come first."""

    annotator: str
    seconds: int | float
    kinds: Collection[str] = ("learn",)
    newest: bool = False


@runtime_checkable
class Store(Protocol):
    """Durable facts.

    - Facts are appended and never edited: what was read once is read again, in the same order.
    - `append` is all or nothing, and what it acknowledged survives kill -9 and a power cut.
    - Revisions grow by one with every append, across all kinds of facts and all processes. Who has seen
      a revision has seen everything up to it.
    - One process holds the trainer's role, and another is refused with its name. A new holder has the
      next epoch; rounds and questions of an older one are refused in their transaction. Any number of
      processes may answer, any number may read.
    - What `ONCE` names occurs once. An answer that is there already is returned, not refused.
    - A question about an item takes the place of an older one of its kind that nobody holds, and who
      answers one of them has answered the others.
    - A question can be leased by as many annotators at a time as it wants answers. An answer without a
      lease, or after its end, is kept all the same. Leases are no facts: they are changed and forgotten.
    - What was damaged on the disk is refused with its revision before it is used.
    """

    @property
    def name(self) -> str:
        """What to call this store in a message."""

    @property
    def folder(self) -> Path | None:
        """Where checkpoints are kept; none if the store does not outlive the process."""

    @property
    def revision(self) -> int:
        """The revision of the last append; 0 when there was none."""

    def append(self, facts: Iterable[Fact], *, expect: int | None = None) -> int:
        """The revision under which the facts are now durable; appending nothing changes nothing.

        With `expect`, for facts about plan, classes and resolutions only, it is refused with
        `StaleError` if anything was appended after that revision: read again, decide again.
        """

    def answer(self, answers: Sequence[Answer]) -> list[Answer]:
        """The answers as they are stored, in the same order: new ones now, replays as they were."""

    def facts(self, *kinds: type[F], since: int = 0) -> list[F]:
        """All facts of these kinds with a revision above `since`, in the order they were appended."""

    def last(self, kind: type[F]) -> F | None:
        """The last fact of a kind; it costs the same however many there are."""

    def touched(self, since: int) -> dict[str, list[About]]:
        """All that decides where an item stands, for each one that something happened to after a revision."""

    def ids(self) -> Iterator[str]:
        """The id of every item, without holding them all, and without keeping a writer out."""

    def count(self) -> int:
        """How many items there are."""

    def places(self) -> Places:
        """Where the items stand; it costs the same however long the history is."""

    def times(self, revisions: Collection[int]) -> dict[int, str]:
        """When these revisions were appended, in ISO 8601; those that are not there are left out."""

    def lease(self, taker: Taker) -> Lease | None:
        """A question that the taker has neither answered nor holds; none if there is none free.

        First those that others have answered and that want more answers, last those that were given back;
        between them the oldest first, or with `newest` those asked last.
        """

    def swap(self, back: Collection[Lease], taker: Taker, *, count: int) -> list[Lease]:
        """Up to `count` leases as `lease` gives them, after these are given back; all of it at once."""

    def renew(self, lease: Lease, *, seconds: int | float) -> Lease | None:
        """The lease with a new end; none if it is over and somebody else may have the question."""

    def release(self, lease: Lease) -> None:
        """Give a question back unanswered; the others come before it."""

    def leases(self) -> list[Lease]:
        """The leases that are not over."""

    def checkpoint(self, save: Callable[[Path], object], *, keep: Collection[str]) -> str:
        """The name of what `save` wrote into a folder, durable and complete; of the others `keep` stay."""

    def close(self) -> None:
        """Let another process train."""
