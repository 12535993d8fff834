"""Label Studio over HTTP, against answers recorded from Label Studio 1.23.0; nothing leaves this machine."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from askwise import pool
from askwise.bridges.label_studio import Server, pull, push
from askwise.errors import InputError
from askwise.oracle.labelling import Classes

EXCHANGE = json.loads((Path(__file__).parent / "exchange.json").read_text())
KIND = Classes(("dark", "light"))
PERSONAL = "eyJhbGciOi.eyJ0b2tlbl90.c2lnbmF0dXJl"


class Replay(ThreadingHTTPServer):
    """Answers each request as exchange.json says, and keeps what was asked."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answering)
        self.answers = {one["asked"]: one for one in EXCHANGE}
        self.heard = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Answering(BaseHTTPRequestHandler):
    def answer(self):
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        self.server.heard.append((self.command, self.path, self.headers.get("authorization"), body))
        found = self.server.answers.get(f"{self.command} {self.path}", {"status": 404, "answer": {}})
        self.send_response(found["status"])
        for name, value in found.get("headers", {}).items():
            self.send_header(name, value)
        content = found["answer"] if isinstance(found["answer"], str) else json.dumps(found["answer"])
        self.send_header("content-length", str(len(content.encode())))
        self.end_headers()
        self.wfile.write(content.encode())

    do_GET = do_POST = do_PATCH = answer  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.fixture
def studio():
    server = Replay()
    Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def items():
    return pool.arrays(
        np.zeros((4, 2), dtype=np.float32), ids=["p000.png", "p001.png", "p002.png", "p003.png"]
    )


def rows():
    said = {"p000.png": ("light", 0.1), "p001.png": ("dark", 0.6), "p002.png": ("light", 0.3)}
    found = [
        {"id": name, "class": label, "total": total, "epistemic": total / 2, "error": None}
        for name, (label, total) in said.items()
    ]
    return [*found, {"id": "p003.png", "class": None, "total": None, "error": "cannot be read"}]


def test_annotations_are_pulled_as_an_export_says_them(studio):
    found = pull(Server(studio.url, "a-legacy-token"), 1, KIND)
    assert {one.called: one.told for one in found} == {"p000.png": "light", "p001.png": "dark"}
    assert all(one.annotator for one in found)
    assert {heard[2] for heard in studio.heard} == {"Token a-legacy-token"}


def test_predictions_are_pushed_with_the_lowest_score_for_the_most_uncertain(studio, items):
    done = push(Server(studio.url, "t"), 1, rows(), items, KIND, model_version="askwise-round-1")
    [sent] = [body for method, path, _, body in studio.heard if path == "/api/projects/1/import/predictions"]
    by_score = sorted(sent, key=lambda one: one["score"])
    assert [one["result"][0]["value"]["choices"] for one in by_score] == [["dark"], ["light"], ["light"]]
    assert all(0 < one["score"] <= 1 and one["model_version"] == "askwise-round-1" for one in sent)
    assert done.predictions == 3
    assert len(done.unmatched) == 1  # the task with ../../etc/passwd
    assert "leads out of its folder" in next(iter(done.unmatched.values()))
    [order] = [body for method, _, _, body in studio.heard if method == "PATCH"]
    assert order == {"sampling": "Uncertainty sampling", "model_version": "askwise-round-1"}


def test_the_order_of_the_queue_can_be_left_as_it_is(studio, items):
    push(Server(studio.url, "t"), 1, rows(), items, KIND, model_version="v", order=False)
    assert not [one for one in studio.heard if one[0] == "PATCH"]


def test_a_personal_token_is_traded_for_a_short_lived_one(studio):
    studio.answers["POST /api/token/refresh"] = {"status": 200, "answer": {"access": "short"}}
    pull(Server(studio.url, PERSONAL), 1, KIND)
    assert studio.heard[0] == ("POST", "/api/token/refresh", None, {"refresh": PERSONAL})
    assert {heard[2] for heard in studio.heard[1:]} == {"Bearer short"}


def test_other_choices_than_ours_are_refused_before_anything_is_sent(studio, items):
    with pytest.raises(InputError, match="'light' is only in Label Studio"):
        push(Server(studio.url, "t"), 1, rows(), items, Classes(("dark", "bright")), model_version="v")
    assert [one[0] for one in studio.heard] == ["GET"]


@pytest.mark.parametrize(
    ("status", "answer", "line"),
    [
        (401, {"detail": "Invalid token."}, "answers 401.*Invalid token"),
        (200, "<html>", "does not answer in JSON"),
        (302, "", "answers 302"),
    ],
)
def test_what_goes_wrong_is_said_in_one_line_and_the_token_stays_here(studio, status, answer, line):
    elsewhere = {"location": f"{studio.url}/elsewhere"}
    studio.answers["GET /api/projects/1/"] = {"status": status, "answer": answer, "headers": elsewhere}
    with pytest.raises(InputError, match=line) as refusal:
        pull(Server(studio.url, "secret-token"), 1, KIND)
    assert "secret-token" not in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert [one[1] for one in studio.heard] == ["/api/projects/1/"]  # no redirect is followed


def test_a_server_that_is_not_there_and_an_address_that_is_none_are_said():
    with pytest.raises(InputError, match="cannot be reached"):
        pull(Server("http://127.0.0.1:9", "t"), 1, KIND)
    for url in ("file:///etc/passwd", "127.0.0.1:8080", "http://u:p@host"):
        with pytest.raises(InputError, match="the address of Label Studio"):
            Server(url, "t")
    with pytest.raises(InputError, match="LABEL_STUDIO_API_KEY"):
        Server("http://127.0.0.1:9", "")
