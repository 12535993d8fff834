"""A small server that keeps the page's contract in memory: a test sees everything, and can break it."""

import json
import re
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

import askwise
from askwise.web import certify, check, find, models, sweep

STATIC = Path(askwise.__file__).parent / "web" / "static"
TOKEN = "token-of-the-test"  # noqa: S105
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
NOTHING_LEFT = "Every item is labelled or skipped: there is nothing left to ask."
RECORDS: dict[str, Any] = {
    "/api/project": models.ProjectShown,
    "/api/questions": models.Questions,
    "/api/answers": models.AnswersKept,
    "/api/history": models.History,
    "/api/certificate": certify.Certificates,
    "/api/certify": certify.AttemptShown,
    "/api/check": check.Check,
    "/api/guessed": find.FoundItems,
    "/api/lasso": find.FoundItems,
    "/api/map": find.PoolMap,
    "/api/search": find.FoundItems,
    "/api/similar/*": find.FoundItems,
    "/api/classes": models.Classes,
    "/api/status": models.Status,
    "/api/unsure": models.Unsure,
    "/api/sweep": sweep.SweepShown,
    "/api/items/*/text": models.Text,
    "/api/items/*/why": models.Why,
}
SHARES = [0.58, 0.22, 0.11, 0.06, 0.03]
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415478da63686060000002"
    "840101c16f6a330000000049454e44ae426082"
)


class ContractServer:
    """Speaks in the server's own records; `facts` holds every stored answer in order, each key once.

    Items are called i0, i1, … here and by opaque ids on the wire.
    """

    def __init__(
        self,
        *,
        task: str = "classification",
        kind: str = "text",
        classes: list[str] | None = None,
        items: list[dict[str, Any]] | int = 100,
        pictures: list[bytes] | None = None,
        neighbours: int = 3,
    ) -> None:
        names = ["cat", "dog", "owl"] if classes is None else classes
        letters = iter("abcdefghijklmnopqrstuvwxyz")
        keys = [*"1234567890", *letters]
        self.classes = [
            {
                "name": name,
                "key": keys[place] if place < len(keys) else None,
                "parent": None,
                "retired": False,
            }
            for place, name in enumerate(names)
        ]
        self.task, self.kind, self.pictures, self.neighbours = task, kind, pictures or [PNG], neighbours
        if isinstance(items, int):
            items = [{"name": f"item {i}", "text": f"The text of item {i}."} for i in range(items)]
        self.items = {f"i{place}": {"item": f"i{place}", **item} for place, item in enumerate(items)}
        self.name, self.annotator = "pets", "you"
        self.facts: list[dict[str, Any]] = []
        self.keys: dict[str, int] = {}
        self.class_revision = 0
        self.status: dict[str, Any] = {}
        self.reason: str | None = None
        self.model = False
        self.more: dict[str, Any] = {}
        """Other routes: what each replies to its query or body."""
        self.refuse: str | None = None  # an item whose answers are refused
        self.posts = self.asked = 0
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.port = 0
        self.server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/#{TOKEN}"

    def start(self) -> None:
        """Listens, on the same port as before where it was killed."""
        contract = self

        class Handler(_Handler):
            server_contract = contract

        self.server = _Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()

    def kill(self) -> None:
        """Closes every connection at once; what was stored stays."""
        server, self.server = self.server, None
        if server is not None:
            server.shutdown()
            server.drop()
            server.server_close()
        with self.changed:
            self.changed.notify_all()

    def __enter__(self) -> "ContractServer":
        self.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()

    # What a test looks at.
    def verdicts(self) -> dict[str, tuple[str, Any]]:
        """The latest fact of each item that is not taken back."""
        latest = {fact["item"]: (fact["verdict"], fact["value"]) for fact in self.facts}
        return {item: fact for item, fact in latest.items() if fact[0] != "retract"}

    def tell(self, **status: Any) -> None:
        """Changes the status and tells the page."""
        with self.changed:
            self.status.update(status)
            self.changed.notify_all()

    # What the page calls.
    def project(self) -> dict[str, Any]:
        held = Counter(verdict for verdict, _ in self.verdicts().values())
        counts = {"labelled": held["label"], "skipped": held["skip"], "unclear": held["unclear"]}
        rest = len(self.items) - sum(counts.values())
        return {
            "name": self.name, "task": self.task, "kind": self.kind, "classes": self.classes,
            "counts": {"items": len(self.items), **counts, "open": 0, "quarantined": 0, "unlabelled": rest},
            "encoder": "none", "revision": self.class_revision, "annotator": self.annotator,
        }  # fmt: skip

    def questions(self, count: int) -> dict[str, Any]:
        self.asked += 1
        held = self.verdicts()
        free = [] if self.reason else [item for item in self.items.values() if item["item"] not in held]
        shared = {"kind": self.kind, "lease_until": "2099-01-01T00:00:00Z"}
        asked = [
            {**shared, **item, "question": f"q-{item['item']}", "item": wire(item["item"])}
            for item in free[:count]
        ]
        return {"questions": asked, "reason": None if asked else self.reason or NOTHING_LEFT}

    def answers(self, given: list[dict[str, Any]]) -> dict[str, Any]:
        self.posts += 1
        for answer in given:
            models.AnswerGiven.model_validate(answer)
        given = [{**answer, "item": short(answer["item"])} for answer in given]
        for answer in given:
            if answer["item"] == self.refuse:
                raise ProblemError(422, f"{self.items[self.refuse]['name']} is not in the pool")
        for answer in given:
            if answer["key"] not in self.keys:
                self.facts.append({**answer, "revision": len(self.facts) + 1})
                self.keys[answer["key"]] = len(self.facts)
        with self.changed:
            self.changed.notify_all()
        kept = [{"key": answer["key"], "revision": self.keys[answer["key"]]} for answer in given]
        return {"answers": kept, "refused": []}

    def history(self, query: dict[str, str]) -> dict[str, Any]:
        text, named, count = query.get("text", "").lower(), query.get("class"), int(query.get("n", 50))
        before = int(query.get("before", 10**9))
        found = []
        for fact in reversed(self.facts):
            name = self.items[fact["item"]]["name"]
            words = f"{name} {fact['note'] or ''}".lower()
            values = fact["value"] if isinstance(fact["value"], list) else [fact["value"]]
            if fact["revision"] < before and text in words and (not named or named in values):
                told = {key: fact[key] for key in ("revision", "verdict", "value", "assisted", "note")}
                who = {"item": wire(fact["item"]), "name": name, "annotator": self.annotator}
                found.append({**told, **who, "at": "2026-11-16T21:00:00Z"})
        return {"answers": found[:count], "more": len(found) > count}

    def edit(self, body: dict[str, Any]) -> dict[str, Any]:
        if body["revision"] != self.class_revision:
            raise ProblemError(409, "the classes have changed meanwhile; look again")
        if body["edit"] == "split":
            for name in body["to"]:
                self.classes.append({"name": name, "key": None, "parent": None, "retired": False})
        if body["edit"] != "add":
            named = next(one for one in self.classes if one["name"] == body["name"])
            after = {"rename": {"name": body.get("to")}, "parent": {"parent": body.get("to")}}
            named |= after.get(body["edit"], {"retired": True, "key": None})
            self.class_revision += 1
            return {"revision": self.class_revision, "classes": self.classes}
        key = next((k for k in "123456789" if k not in [c["key"] for c in self.classes]), None)
        self.classes.append({"name": body["name"], "key": key, "parent": None, "retired": False})
        self.class_revision += 1
        return {"revision": self.class_revision, "classes": self.classes}

    def sweep(self, query: dict[str, str]) -> dict[str, Any]:
        held = self.verdicts()
        free = [item for item in self.items.values() if item["item"] not in held]
        name = query.get("class", self.classes[0]["name"])
        tiles = [{"kind": self.kind, **item, "item": wire(item["item"])} for item in free[: int(query["n"])]]
        grid = {"id": f"{self.posts:016x}", "name": name, "revision": 1, "tiles": tiles, "precision": 0.9}
        offers = [{"name": one["name"], "count": len(free), "precision": 0.9} for one in self.classes]
        return {
            "offers": offers if tiles else [], "grid": grid if tiles else None, "state": "whole",
            "misses": {"missed": 1, "shown": 12, "rate": 0.0833, "low": 0.0021, "high": 0.3848},
            "to_check": 0, "reason": None if tiles else "No class is sure enough yet.",
        }  # fmt: skip

    def swept(self, body: dict[str, Any]) -> dict[str, Any]:
        """A grid: every tile is a fact with the grid's key, and a mark without a class is none."""
        self.posts += 1
        given = sweep.SweepGiven.model_validate(body)
        wrong = {one.item: one.value for one in given.wrong}
        if given.key not in self.keys:
            for item in given.tiles:
                value = wrong.get(item, given.name)
                if given.undo or value is not None:
                    verdict, value = ("retract", None) if given.undo else ("label", value)
                    fact = {"item": short(item), "verdict": verdict, "value": value, "view": "sweep"}
                    more = {"key": given.key, "assisted": True, "note": None}
                    self.facts.append({**fact, **more, "revision": len(self.facts) + 1})
            self.keys[given.key] = len(self.facts)
        with self.changed:
            self.changed.notify_all()
        return {"key": given.key, "revision": self.keys[given.key], "labels": len(given.tiles)}

    def why(self, item: str) -> dict[str, Any]:
        if not self.model:
            raise ProblemError(409, "no model yet")
        names = [one["name"] for one in self.classes][:5]
        near = list(self.items.values())[-self.neighbours :]
        return {
            "guess": names[0],
            "probabilities": [{"name": n, "p": p} for n, p in zip(names, SHARES, strict=False)],
            "uncertainty": {"total": 1.14, "epistemic": 0.31, "aleatoric": 0.83},
            "neighbours": [{"item": wire(n["item"]), "name": n["name"], "label": names[0]} for n in near],
        }  # fmt: skip

    def snapshot(self) -> dict[str, Any]:
        labels = [value for verdict, value in self.verdicts().values() if verdict == "label"]
        flat = Counter(str(v) for value in labels for v in (value if isinstance(value, list) else [value]))
        balance = [{"name": one["name"], "count": flat[one["name"]]} for one in self.classes]
        return {
            "labels": len(labels), "balance": balance, "seen": len(self.keys),
            "given": len(self.keys), "curve": [],
            "accuracy": None, "encoding": None, "speed": None, "model": "learning" if self.model else "cold",
            "trainer": "running", "next": "Go on: the model learns from every answer.",
            "revision": len(self.facts), **self.status,
        }  # fmt: skip


def wire(item: str) -> str:
    """An item's opaque id."""
    return f"{int(item[1:]):024x}"


def short(item: str) -> str:
    """The item of an opaque id."""
    return f"i{int(item, 16)}"


class ProblemError(Exception):
    """A refusal with its status."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, *arguments: Any) -> None:
        self.open: set[Any] = set()
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that hangs up is nothing to speak of."""

    def drop(self) -> None:
        for request in list(self.open):
            self.shutdown_request(request)


class _Handler(BaseHTTPRequestHandler):
    server_contract: ContractServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: Any) -> None:
        pass

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/" or parts.path.startswith("/static/"):
            file = STATIC / ("index.html" if parts.path == "/" else parts.path.removeprefix("/static/"))
            return self.reply(200, file.read_bytes(), KINDS[file.suffix])
        return self.guarded(
            lambda: self.look(parts.path, {k: v[0] for k, v in parse_qs(parts.query).items()})
        )

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        contract = self.server_contract
        routes = {"/api/answers": contract.answers, "/api/classes": contract.edit, **contract.more}
        swept = self.path.startswith("/api/sweeps/")
        self.guarded(lambda: (contract.swept if swept else routes[self.path])(body))

    def look(self, path: str, query: dict[str, str]) -> Any:
        contract = self.server_contract
        shape = re.sub(r"[0-9a-f]{24}", "*", path)
        if shape in contract.more:
            return contract.more[shape](query)
        if path == "/api/project":
            return contract.project()
        if path == "/api/questions":
            return contract.questions(int(query["n"]))
        if path == "/api/history":
            return contract.history(query)
        if path == "/api/sweep":
            return contract.sweep(query)
        if path == "/api/status":
            return contract.snapshot()
        if path == "/api/unsure":
            items = list(contract.items.values())[-int(query["n"]) :]
            shared = {"guess": "x", "uncertainty": 0.5}
            return {"items": [{**shared, "item": wire(i["item"]), "name": i["name"]} for i in items]}
        found = re.fullmatch(r"/api/items/([0-9a-f]{24})/(image|text|why)", path)
        if not found or short(found[1]) not in contract.items:
            raise ProblemError(404, "no such item")
        item = short(found[1])
        if found[2] == "image":
            return contract.pictures[int(item[1:]) % len(contract.pictures)]
        if found[2] == "text":
            return {"text": contract.items[item].get("text", ""), "row": contract.items[item].get("row")}
        return contract.why(item)

    def guarded(self, work: Any) -> None:
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.reply(401, b'{"error": "the token is not valid"}', "application/json")
        if self.path == "/api/events":
            return self.stream()
        try:
            with self.server_contract.lock:
                found = self.checked(work())
        except ProblemError as problem:
            found, status = {"error": str(problem)}, problem.status
            return self.reply(status, json.dumps(found).encode(), "application/json")
        if isinstance(found, bytes):
            return self.reply(200, found, "image/png" if found[:4] == PNG[:4] else "image/webp")
        return self.reply(200, json.dumps(found).encode(), "application/json")

    def checked(self, found: Any) -> Any:
        """A reply as the server's own record has it: what that does not know cannot be told here either."""
        record = RECORDS.get(re.sub(r"[0-9a-f]{24}", "*", urlsplit(self.path).path))
        return found if record is None else record.model_validate(found).model_dump(mode="json")

    def reply(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", CSP)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def stream(self) -> None:
        contract, mine = self.server_contract, self.server
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Security-Policy", CSP)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        with contract.changed:
            while contract.server is mine:
                status = models.Status.model_validate(contract.snapshot()).model_dump_json()
                self.wfile.write(f"event: status\ndata: {status}\n\n".encode())
                contract.changed.wait(15)
