"""The ML backend: what Label Studio asks it, who may ask, and that annotations become answers once."""

import json
from pathlib import Path

import pytest
from small_page import HOST
from starlette.testclient import TestClient

from askwise.loop.live import Guess
from askwise.store import open_store
from askwise.store.facts import Answer
from askwise.web.backend import make_backend
from askwise.web.beside import Pair
from askwise.web.desk import Desk
from askwise.web.live import Live

TOKEN = "a-token-in-the-address"  # noqa: S105
CONFIG = """<View><Image name="picture" value="$image"/>
<Choices name="shade" toName="picture"><Choice value="dark"/><Choice value="light"/></Choices></View>"""
EVENTS = json.loads((Path(__file__).parent / "label_studio_events.json").read_text())


class Quiet(Live):
    """The processes beside the server left out; the model's guesses are given."""

    known: dict[str, Guess] = {}  # noqa: RUF012
    woken = 0

    def start(self):
        pass

    def stop(self):
        pass

    def wake(self):
        self.woken += 1

    def guess(self, identity, *, patience=0.0):
        return self.known.get(identity)


@pytest.fixture
def backend(project):
    desk = Desk(project)
    live = Quiet(project.folder, Pair(project.folder, encodes=False), bar=desk.bar)
    app = make_backend(desk, live, token=TOKEN, hosts=frozenset({HOST}))
    with TestClient(app, base_url=f"http://{HOST}") as client:
        client.live = live
        yield client


def answers(project):
    store = open_store(project.place, access="read")
    try:
        return [(one.id, one.verdict, one.label, one.annotator) for one in store.facts(Answer)]
    finally:
        store.close()


def event(name, picture="p003.png"):
    found = json.loads(json.dumps(EVENTS[name]))
    found["task"]["data"] = {"image": f"/data/local-files/?d={picture}"}
    return found


def test_it_says_that_it_is_up_and_takes_a_configuration_with_its_classes(backend):
    assert backend.get(f"/{TOKEN}/health").json()["status"] == "UP"
    said = backend.post(f"/{TOKEN}/setup", json={**EVENTS["setup"], "schema": CONFIG})
    assert said.json() == {"model_version": "askwise-0"}
    other = backend.post(f"/{TOKEN}/setup", json={"schema": CONFIG.replace("light", "bright")})
    assert other.status_code == 400
    assert "'bright' is only in Label Studio" in other.json()["error"]


def test_a_guess_comes_with_a_score_that_is_lower_the_less_sure_it_is(backend):
    backend.live.known = {
        "p001.png": Guess("p001.png", [0.9, 0.1], 0.2, 0.1, 0.1, []),
        "p002.png": Guess("p002.png", [0.4, 0.6], 0.6, 0.1, 0.5, []),
    }
    tasks = [{"id": at, "data": {"image": f"/data/local-files/?d=p00{at}.png"}} for at in (1, 2, 9)]
    tasks.append({"id": 4, "data": {"image": "/data/local-files/?d=../../etc/passwd"}})
    body = {**EVENTS["predict"], "tasks": tasks, "label_config": CONFIG}
    first, second, unknown, outside = backend.post(f"/{TOKEN}/predict", json=body).json()["results"]
    assert first["result"][0]["value"] == {"choices": ["dark"]}
    assert second["result"][0] == {
        "from_name": "shade",
        "to_name": "picture",
        "type": "choices",
        "value": {"choices": ["light"]},
    }
    assert 0 < second["score"] < first["score"] < 1
    assert unknown == outside == {"result": [], "score": 0.0, "model_version": "askwise-0"}


def test_an_annotation_is_learned_from_once_and_an_update_corrects_it(backend, project):
    created = event("created")
    for _ in range(2):  # a webhook may be sent again
        assert backend.post(f"/{TOKEN}/webhook", json=created).json() == {"status": "learned"}
    assert [one[:3] for one in answers(project)] == [("p003.png", "label", 1)]
    assert backend.live.woken == 2
    assert backend.post(f"/{TOKEN}/webhook", json=event("updated")).status_code == 200
    assert [one[:3] for one in answers(project)][-1] == ("p003.png", "label", 0)


def test_a_skip_is_a_skip_and_other_events_are_nothing_to_learn(backend, project):
    created = event("created")
    created["annotation"] = {**created["annotation"], "was_cancelled": True, "result": []}
    assert backend.post(f"/{TOKEN}/webhook", json=created).status_code == 200
    assert [one[1] for one in answers(project)] == ["skip"]
    told = backend.post(f"/{TOKEN}/webhook", json={"action": "PROJECT_UPDATED", "project": {"id": 1}})
    assert told.json() == {"status": "nothing to learn"}


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"task": None}, "no task or no annotation"),
        ({"picture": "nobody.png"}, "no item 'nobody.png'"),
        ({"picture": "../../etc/passwd"}, "leads out of its folder"),
        ({"choice": "bright"}, "'bright'"),
    ],
)
def test_what_it_cannot_learn_from_is_refused_in_one_line_and_nothing_is_stored(
    backend, project, change, line
):
    body = event("created", picture=change.get("picture", "p003.png"))
    if "task" in change:
        body["task"] = None
    if "choice" in change:
        body["annotation"]["result"][0]["value"]["choices"] = [change["choice"]]
    said = backend.post(f"/{TOKEN}/webhook", json=body)
    assert said.status_code == 400
    assert line in said.json()["error"]
    assert not answers(project)


@pytest.mark.parametrize(
    ("path", "headers", "code"),
    [
        ("/health", {}, 401),
        ("/another-token/health", {}, 401),
        (f"/{TOKEN}/health", {"host": "evil.example"}, 421),
        (f"/{TOKEN}/health", {"origin": "http://evil.example"}, 403),
        ("/another-token/health", {"authorization": f"Bearer {TOKEN}"}, 404),
        (f"/{TOKEN}/nothing", {}, 404),
    ],
)
def test_without_the_token_or_by_another_name_nobody_gets_in(backend, path, headers, code):
    assert backend.get(path, headers=headers).status_code == code
