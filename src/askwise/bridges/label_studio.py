"""Label Studio over HTTP: annotations come in, predictions go out with scores that order its queue."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from askwise.errors import InputError
from askwise.oracle.label_studio import Said, called_in, matched, result_of, said_in, score_of
from askwise.oracle.label_studio_config import Interface, interface
from askwise.oracle.labelling import Labelling
from askwise.pool import Pool

BY = ("total", "epistemic")
"""The uncertainty that orders the queue."""
_PAGE, _BATCH = 100, 200  # tasks in a page, predictions in a request
_SECONDS = 60.0
_LARGEST = 2**28  # bytes of an answer
_LOWEST_FIRST = "Uncertainty sampling"  # its name for a queue with the lowest score first


class Server:
    """One Label Studio, with the access token of somebody who may see the project."""

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.username:
            raise InputError(f"the address of Label Studio is like http://127.0.0.1:8080, not {url!r}")
        if not token or not token.isprintable() or not token.isascii():
            raise InputError("no access token; put it into the environment variable LABEL_STUDIO_API_KEY")
        self._url, self._token, self._header = url.rstrip("/"), token, ""
        self._opener = build_opener(_NoRedirect())  # a redirect would carry the token elsewhere

    def get(self, path: str, **query: Any) -> Any:
        """The server's reply to a GET."""
        return self._ask("GET", f"{path}?{urlencode(query)}" if query else path)

    def send(self, method: str, path: str, body: Any) -> Any:
        """The server's reply to a body of JSON."""
        return self._ask(method, path, body)

    def _ask(self, method: str, path: str, body: Any = None, *, signed: bool = True) -> Any:
        headers = {"content-type": "application/json", "accept": "application/json"}
        if signed:
            headers["authorization"] = self._authorization()
        content = None if body is None else json.dumps(body, allow_nan=False).encode()
        request = Request(f"{self._url}{path}", content, headers, method=method)  # noqa: S310 - checked above
        try:
            with self._opener.open(request, timeout=_SECONDS) as answer:
                found = answer.read(_LARGEST + 1)
        except HTTPError as error:
            with error:
                said = " ".join(error.read(2000).decode("utf-8", "replace").split())[:300]
            raise InputError(f"Label Studio at {self._url}{path} answers {error.code}: {said}") from None
        except (URLError, HTTPException, OSError) as error:
            why = getattr(error, "reason", error)
            raise InputError(
                f"Label Studio at {self._url} cannot be reached: {why}; is it running?"
            ) from None
        if len(found) > _LARGEST:
            raise InputError(f"Label Studio's answer to {path} is larger than {_LARGEST >> 20} MB")
        try:
            return json.loads(found) if found else None
        except (ValueError, RecursionError):
            raise InputError(f"{self._url}{path} does not answer in JSON; is it a Label Studio?") from None

    def _authorization(self) -> str:
        """The header that this token wants: a personal one is traded for a short-lived one first."""
        if not self._header:
            if self._token.count(".") == 2:
                traded = self._ask("POST", "/api/token/refresh", {"refresh": self._token}, signed=False)
                self._header = f"Bearer {traded['access']}"
            else:
                self._header = f"Token {self._token}"
        return self._header


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """None: the answer is then the redirect itself, as an error."""


@dataclass(frozen=True)
class Pushed:
    """How many predictions `push` sent, and what it left out."""

    predictions: int
    unmatched: dict[str, str]
    """Tasks that show no item of the project, and why."""
    model_version: str


def pull(server: Server, project: int, kind: Labelling) -> list[Said]:
    """What the annotations of a project say, as an export of it would."""
    control = _interface(server, project, kind).control
    tasks = server.get(f"/api/projects/{project}/export", exportType="JSON")
    return said_in(tasks, kind, what=f"project {project}", control=control)


def push(
    server: Server,
    project: int,
    rows: Iterable[Mapping[str, Any]],
    pool: Pool,
    kind: Labelling,
    *,
    model_version: str,
    by: str = "total",
    order: bool = True,
) -> Pushed:
    """Send what the model says of every item that a task shows; the most uncertain come first in its queue.

    `rows` are those of `export.predictions`. Label Studio asks for the lowest score first, so the score is
    how sure the model is. With `order` the project is set to that order, and shows these predictions.
    """
    face = _interface(server, project, kind)
    tasks, unmatched = _tasks(server, project, pool)
    made, sent = [], 0
    for row in rows:
        for task in tasks.get(row["id"], ()) if not row.get("error") else ():
            label = kind.label(_guess(row, kind), what=f"the guess of {row['id']!r}")
            result = result_of(label, kind, control=face.control, to=face.to)
            made.append(
                {
                    "task": task,
                    "result": result,
                    "score": score_of(float(row[by])),
                    "model_version": model_version,
                }
            )
    for at in range(0, len(made), _BATCH):
        answer = server.send("POST", f"/api/projects/{project}/import/predictions", made[at : at + _BATCH])
        sent += int(answer["created"])
    if order and made:
        wanted = {"sampling": _LOWEST_FIRST, "model_version": model_version}
        server.send("PATCH", f"/api/projects/{project}/", wanted)
    return Pushed(sent, unmatched, model_version)


def _guess(row: Mapping[str, Any], kind: Labelling) -> Any:
    if "class" in row:
        return row["class"]
    return row["tags"] if "tags" in row else [row[name] for name in kind.names]


def _interface(server: Server, project: int, kind: Labelling) -> Interface:
    found = server.get(f"/api/projects/{project}/")
    return interface(found["label_config"], kind, what=f"project {project}")


def _tasks(server: Server, project: int, pool: Pool) -> tuple[dict[str, list[int]], dict[str, str]]:
    """The tasks that show each item, and those that show none."""
    found: dict[str, list[int]] = {}
    unmatched = {}
    for task in _pages(server, project):
        try:
            found.setdefault(matched(called_in(task["data"]), pool.find), []).append(int(task["id"]))
        except InputError as error:
            unmatched[f"task {task['id']}"] = str(error).partition(";")[0]
    return found, unmatched


def _pages(server: Server, project: int) -> Iterator[Mapping[str, Any]]:
    seen, page = 0, 1
    while True:
        answer = server.get("/api/tasks/", project=project, page=page, page_size=_PAGE, fields="all")
        yield from answer["tasks"]
        seen, page = seen + len(answer["tasks"]), page + 1
        if seen >= answer["total"] or not answer["tasks"]:
            return
