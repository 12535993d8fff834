"""Who may talk to the page's server: one host, one origin, a token, and only so much at a time."""

import hmac
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from hashlib import sha256
from time import monotonic
from typing import Any, TypeAlias

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST = 256 * 1024
"""Bytes of a request's body."""
_LONGEST_PATH = 2048

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


class Rate:
    """So many requests a second, and a burst; what is too much is refused, not queued."""

    def __init__(
        self, per_second: int | float, burst: int | float, *, clock: Callable[[], float] = monotonic
    ) -> None:
        self._rate, self._burst, self._clock = per_second, burst, clock
        self._left, self._at = burst, clock()

    def allows(self) -> bool:
        """Whether one more request may come now."""
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Guard:
    """An ASGI application in front of another: nothing reaches that one unless it is allowed.

    `people` is the name of an annotator by the token of the link that was given to them, as it is at each
    request. `hosts` are the
    values that the header Host may have: a page of another site that resolves to this machine has another.
    """

    def __init__(
        self,
        app: App,
        *,
        people: Mapping[str, str],
        hosts: frozenset[str],
        per_second: int | float = 200,
    ) -> None:
        self._app, self._hosts = app, hosts
        self._people, self._per_second = people, per_second
        self._rates: dict[str, Rate] = {}
        self._strangers, self._readers = Rate(20, 200), Rate(per_second, 5 * per_second)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is allowed; refuse the rest with one sentence."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            code, why = refusal
            extra = {"www-authenticate": "Bearer"} if code == 401 else None
            await JSONResponse({"error": why}, status_code=code, headers=extra)(scope, receive, headed)
            return
        body = await _body(receive) if scope["method"] == "POST" else b""
        if body is None:
            answer = JSONResponse({"error": f"a request has at most {LARGEST} bytes"}, status_code=413)
            await answer(scope, receive, headed)
            return
        await self._app(scope, _again(body, receive) if scope["method"] == "POST" else receive, headed)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """The status and the sentence, where a request is not allowed."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "this address is not one of the server's; open the link that askwise label printed"
        if len(scope["path"]) > _LONGEST_PATH or len(scope.get("query_string", b"")) > _LONGEST_PATH:
            return 414, f"an address has at most {_LONGEST_PATH} characters"
        writes = scope["method"] not in ("GET", "HEAD")
        if not _same_origin(headers, hosts[0].lower(), writes=writes):
            return 403, "a page of another site may not use this server"
        if _is_open(scope["path"]) and not writes:
            return None if self._readers.allows() else (429, "too many requests; wait a moment")
        name = self._person(headers)
        if name is None:
            if not self._strangers.allows():
                return 429, "too many requests without a token; wait a moment"
            return 401, "the token is missing or wrong; open the link that askwise label printed"
        rate = self._rates.setdefault(name, Rate(self._per_second, 2 * self._per_second))
        if not rate.allows():
            return 429, "too many requests; wait a moment"
        scope.setdefault("state", {})["annotator"] = name
        return _unfit(headers) if scope["method"] == "POST" else None

    def _person(self, headers: Headers) -> str | None:
        given = headers.getlist("authorization")
        kind, _, token = (given[0] if len(given) == 1 else "").partition(" ")
        digest = _digest(token)
        # every token is compared, and each in constant time: the time tells nothing
        people = list(self._people.items())
        found = [name for known, name in people if hmac.compare_digest(_digest(known), digest)]
        return found[0] if found and kind.lower() == "bearer" else None


def _is_open(path: str) -> bool:
    """What anybody may read: the page itself, which holds no data."""
    return path in ("/", "/favicon.ico") or path.startswith("/static/")


def _same_origin(headers: Headers, host: str, *, writes: bool) -> bool:
    """Whether a request is of this server's own page, or of no page at all."""
    origins = [origin.lower() for origin in headers.getlist("origin")]
    if any(origin not in (f"http://{host}", f"https://{host}") for origin in origins) or len(origins) > 1:
        return False
    sites = headers.getlist("sec-fetch-site")
    allowed = ("same-origin",) if writes else ("same-origin", "none")
    if headers.get("sec-fetch-mode") == "navigate" and not writes:
        return True  # a link to the page; what it may read needs the token, which no link carries
    return all(site in allowed for site in sites)


def _unfit(headers: Headers) -> tuple[int, str] | None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return 415, "send JSON, with the header content-type: application/json"
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:19]) > LARGEST or len(length) > 18:
        return 413, f"a request has at most {LARGEST} bytes"
    return None


async def _body(receive: Receive) -> bytes | None:
    """The whole body; none if it is larger than it may be, whatever its header said."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return b""
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LARGEST:
            return None
        if not message.get("more_body"):
            return b"".join(parts)


def _again(body: bytes, receive: Receive) -> Receive:
    """A way to receive the body that has been read."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def given() -> Message:
        return waiting.pop() if waiting else await receive()

    return given


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogateescape")).digest()
