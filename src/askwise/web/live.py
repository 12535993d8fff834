"""The two processes beside the server, and the last message of each."""

import json
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Condition
from time import monotonic
from typing import Any

from askwise.errors import BusyError, InputError
from askwise.loop.live import Guess
from askwise.loop.sweeping import Sweepable
from askwise.project.compare import last_verdict
from askwise.web.beside import Message, Pair
from askwise.web.models import Encoding

_REMEMBERED = 2_000  # items whose guess is kept for a page that wants to know why
_LISTED = 48
_PATIENCE = 1.5  # seconds for the trainer to answer a request: a page asks again, and a server ends soon
_LATE = 30.0  # seconds that an answer holds which came too late
_KEPT = 16  # answers


class Live:
    """A trainer and an encoder that live as long as the server, and what they have told; safe for threads."""

    def __init__(self, folder: Path, beside: Pair, *, bar: Callable[[dict[str, str]], None]) -> None:
        self._beside, self._bar = beside, bar
        self.trainer, self.encoder = beside.trainer, beside.encoder
        self._heard = Condition()
        self._guesses: OrderedDict[str, Guess] = OrderedDict()
        self._last: list[str] = []
        self._answered: set[str] = set()
        self._ready = 0
        self._requests = 0
        self._asked: dict[str, tuple[int, int]] = {}
        self._replies: OrderedDict[int, tuple[float, Message]] = OrderedDict()
        self._encoding: Encoding | None = None
        self._began: tuple[float, int, str | None] | None = None
        self.encoder_now: str | None = None
        """Whose features the trainer works with; none where it has no encoder."""
        self.seen = 0
        """The revision up to which the last model has seen the answers."""
        self.refused: str | None = None
        """Why the trainer could not work, in its own words."""
        self.sweepable: list[Sweepable] = []
        """The items that the last model is sure of, class by class."""
        told = last_verdict(folder)
        self.compared = None if told is None else told.said
        """What a comparison of the installed encoders said."""
        self.turns = 0
        """Counts what has been heard, for whoever waits for news."""
        self.trainer.follow(self._trained)
        if self.encoder is not None:
            self.encoder.follow(self._encoded)

    def start(self) -> None:
        """Begin both, unless they are at work."""
        self._beside.start()

    def stop(self) -> None:
        """End both."""
        self._beside.stop()

    def wake(self) -> None:
        """Tell the trainer that something was answered."""
        self.trainer.send({})

    def guess(self, identity: str, *, patience: float = 0.0) -> Guess | None:
        """What the last model thinks of an item; the trainer is asked where it has not said so yet."""
        with self._heard:
            if identity not in self._guesses and patience and self.trainer.running:
                self._answered.discard(identity)
                self.trainer.send({"why": [identity]})
                self._heard.wait_for(
                    lambda: identity in self._guesses or identity in self._answered, timeout=patience
                )
            return self._guesses.get(identity)

    def request(self, name: str, /, *, patience: float = _PATIENCE, **values: Any) -> Any:
        """What the trainer answers to one of `web/requests.py`; `BusyError` where it does not in time.

        Asked again, the same request is not sent again while it is under way, and one that was answered too
        late has its answer then.
        """
        key = json.dumps([name, values], sort_keys=True)
        with self._heard:
            if not self.running:
                raise BusyError("the model is not at work just now; try again in a moment")
            pid = self.trainer.pid or 0
            asked = self._asked.get(key)
            late = None if asked is None else self._replies.get(asked[0])
            if asked is None or asked[1] != pid or (late is not None and monotonic() - late[0] > _LATE):
                self._requests += 1
                asked = self._asked[key] = self._requests, pid
                self.trainer.send({"request": name, "number": asked[0], "values": values})
            number = asked[0]
            self._heard.wait_for(lambda: number in self._replies or self.trainer.pid != pid, timeout=patience)
            if number not in self._replies:
                raise BusyError("the model is at work; try again in a moment")
            reply = self._replies[number][1]
            if self._asked.get(key) == asked:
                del self._asked[key]
        if "error" in reply:
            raise InputError(reply["error"])
        return reply["found"]

    def unsure(self, count: int) -> list[Guess]:
        """The items that were asked last, the most uncertain first."""
        with self._heard:
            known = [self._guesses[name] for name in self._last if name in self._guesses]
        return sorted(known, key=lambda one: -one.total)[:count]

    @property
    def running(self) -> bool:
        """Whether the trainer is at work; while it begins it is not."""
        return self.trainer.running and self._ready == self.trainer.pid

    def encoding(self) -> Encoding | None:
        """How far the encoder is; none when it is done, or where there is none."""
        with self._heard:
            if self.encoder is None or self._encoding is None or self._began is None:
                return None
            now, (at, before, _) = self._encoding, self._began
            if now.done >= now.of and now.then is None:
                return None
            left = None
            if now.done > before:
                left = round((now.of - now.done) * (monotonic() - at) / (now.done - before), 1)
        return now.model_copy(update={"seconds_left": left})

    def _trained(self, message: Message) -> None:
        with self._heard:
            self.turns += 1
            match message:
                case {"kind": "ready"}:
                    self._ready, self.refused = self.trainer.pid or 0, None
                    self.encoder_now = message.get("encoder")
                case {"kind": "round", "seen": int(seen)}:
                    self.seen = seen
                case {"kind": "guesses", "guesses": list(found)}:
                    self._take(found)
                case {"kind": "sweepable", "found": list(sure)}:
                    self.sweepable = [Sweepable(**one) for one in sure]
                case {"kind": "answered", "why": list(names)}:
                    self._answered.update(names)
                case {"kind": "reply", "number": int(number)}:
                    self._replies[number] = monotonic(), message
                    if len(self._replies) > _KEPT:
                        self._replies.popitem(last=False)
                case {"kind": "refused", "error": str(why)}:
                    self.refused = why
                case {"kind": "elsewhere"}:
                    self.refused = None  # another server of the store has the trainer
                case {"kind": "waiting"}:
                    self.turns -= 1  # nothing new
            self._heard.notify_all()

    def _take(self, found: list[dict[str, Any]]) -> None:
        for one in found:
            self._guesses[one["id"]] = Guess(**one)
            self._guesses.move_to_end(one["id"])
        while len(self._guesses) > _REMEMBERED:
            self._guesses.popitem(last=False)
        if len(found) > 1:
            self._last = [one["id"] for one in found][:_LISTED]

    def _encoded(self, message: Message) -> None:
        bad: dict[str, str] = {}
        with self._heard:
            self.turns += 1
            match message:
                case {"kind": "encoding", "done": int(done), "of": int(of), "bad": dict(bad)}:
                    by, then = message.get("encoder"), message.get("then")
                    self._encoding = Encoding(done=done, of=of, seconds_left=None, encoder=by, then=then)
                    if self._began is None or self._began[2] != by:
                        self._began = monotonic(), done, by
                case {"kind": "compared", "said": str(said)}:
                    self.compared = said
                case {"kind": "encoded", "again": bool(again)}:
                    self._encoding = None
                    if again:
                        self.trainer.restart()  # it takes the features that are complete by now
                case {"kind": "refused", "error": str(why)}:
                    self.refused = why
            self._heard.notify_all()
        if bad:
            self._bar(bad)
