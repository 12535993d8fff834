"""Nobody but the page with its token gets through; each check has a control that passes."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from urllib.parse import unquote_to_bytes

import pytest
from small_page import HOST, TOKEN, Page

from askwise.errors import InputError
from askwise.store import open_store
from askwise.store.facts import Answer
from askwise.web.guard import HEADERS, LARGEST, Rate
from askwise.web.people import PEOPLE, people_of
from askwise.web.serve import hosts, serve

GOOD = {
    "host": HOST,
    "origin": f"http://{HOST}",
    "sec-fetch-site": "same-origin",
    "authorization": f"Bearer {TOKEN}",
    "content-type": "application/json",
}


def asked(page, method, path, headers, body=b"", *, query=b"", chunks=None):
    """Status, headers and body of a request as it is on the wire: nothing tidies the path up."""
    sent, waiting = [], list(chunks or [body])

    async def receive():
        if not waiting:
            await asyncio.Event().wait()  # the client stays until it has its reply
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote_to_bytes(path).decode("utf-8", "replace"),
        "raw_path": path.encode(),
        "query_string": query,
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers],
        "client": ("127.0.0.1", 4),
        "server": ("127.0.0.1", 8765),
    }
    with ThreadPoolExecutor(1) as own:  # a browser's test leaves a loop running in this thread
        own.submit(asyncio.run, page.app(scope, receive, send)).result()
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], found, b"".join(one.get("body", b"") for one in sent[1:])


def answers(page):
    store = open_store(page.project.store, access="read")
    try:
        return store.facts(Answer)
    finally:
        store.close()


def a_skip(page):
    one = page.questions(n=1)[0]
    return f'[{{"key": "some-press", "item": "{one["item"]}", "verdict": "skip"}}]'.encode()


TARGETS = ("etc/passwd", "plan.toml", "store.db", "photos/p000.png")
CLIMBS = (
    "../",
    "..%2f",
    "%2e%2e/",
    "%2e%2e%2f",
    "..%5c",
    "..\\",
    "%252e%252e%252f",
    "..%c0%af",
    "..%00/",
    "....//",
    "..;/",
    "%u002e%u002e/",
    "/",
    "//",
    "file:///",
)
BASES = ("/static/", "/api/items/", "/static/sub/", "/")


def traversals():
    for base, climb, times, target in product(BASES, CLIMBS, (1, 3), TARGETS):
        yield f"{base}{climb * times}{target}"
        if base == "/api/items/":
            yield f"{base}{climb * times}{target}/image"


def test_no_traversal_leaves_the_pool(page, record_property):
    secret = [page.project.plan.read_bytes()[:40], b"SQLite format", b"root:", b"\x89PNG"]
    paths = list(traversals())
    assert len(paths) >= 400
    for path in paths:
        status, _, body = asked(page, "GET", path, GOOD.items())
        assert status in (400, 404, 405, 422), path
        assert not any(word in body for word in secret), path
    record_property("traversals", len(paths))
    control, _, body = asked(page, "GET", "/static/index.html", GOOD.items())
    assert control == 200
    assert b"<html" in body


FOREIGN_HOSTS = (
    "evil.example",
    "evil.example:8765",
    "127.0.0.1",
    "127.0.0.1:80",
    "127.0.0.1:8765.evil.example",
    "127.0.0.1.nip.io:8765",
    "localhost.evil.example:8765",
    "0.0.0.0:8765",
    "[::]:8765",
    "",
)
FOREIGN_ORIGINS = (
    "null",
    "http://evil.example",
    "https://evil.example",
    f"http://{HOST}.evil.example",
    "http://127.0.0.1",
    "http://127.0.0.1:9999",
    f"http://user@{HOST}",
    f"file://{HOST}",
    "http://localhost:1",
    f"http://{HOST}/",
)
FOREIGN_SITES = ("cross-site", "same-site", "none")
SIMPLE_TYPES = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "text/json")


def attempts():
    """Headers of requests that a page of another site can cause, each but one as they should be."""
    for host in FOREIGN_HOSTS:
        yield {"host": host}
        yield {"host": host, "origin": f"http://{host}"}
        yield {"host": host, "authorization": "", "origin": f"http://{host}"}
    for origin in FOREIGN_ORIGINS:
        yield {"origin": origin}
        yield {"origin": origin, "sec-fetch-site": None}
    for site in FOREIGN_SITES:
        yield {"sec-fetch-site": site}
        yield {"sec-fetch-site": site, "origin": None}
    for kind in SIMPLE_TYPES:
        yield {"content-type": kind}
    for token in ("", "Bearer", "Bearer ", f"Basic {TOKEN}", f"bearer{TOKEN}", f"Bearer {TOKEN}x", TOKEN):
        yield {"authorization": token}


def test_no_request_that_another_site_can_cause_writes_anything(page, record_property):
    body = a_skip(page)
    every = list(attempts())
    assert len(every) >= 60
    for change in every:
        headers = {name: value for name, value in {**GOOD, **change}.items() if value is not None}
        status, said, _ = asked(page, "POST", "/api/answers", headers.items(), body)
        assert status in (401, 403, 415, 421), change
        assert "access-control-allow-origin" not in said
    record_property("requests of another site or host", len(every))
    assert not answers(page)
    status, _, _ = asked(page, "POST", "/api/answers", GOOD.items(), body)
    assert status == 200
    assert len(answers(page)) == 1


def test_two_hosts_or_two_origins_or_two_tokens_are_refused(page):
    body = a_skip(page)
    for name in ("host", "origin", "authorization"):
        headers = [*GOOD.items(), (name, GOOD[name])]
        assert asked(page, "POST", "/api/answers", headers, body)[0] in (401, 403, 421), name
    assert not answers(page)


@pytest.mark.parametrize("path", ["/openapi.json", "/api/project", "/api/status", "/api/events", "/api/none"])
def test_every_route_but_the_page_wants_the_token(page, path):
    headers = {**GOOD, "authorization": "Bearer wrong"}
    status, said, body = asked(page, "GET", path, headers.items())
    assert status == 401
    assert said["www-authenticate"] == "Bearer"
    assert b"error" in body


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "DELETE", "PATCH", "TRACE"])
def test_no_other_method_and_no_preflight_is_answered(page, method):
    status, said, _ = asked(page, method, "/api/answers", GOOD.items())
    assert status in (404, 405)
    assert not any(name.startswith("access-control") for name in said)


@pytest.mark.parametrize("path", ["/", "/static/index.html", "/static/none", "/api/project", "/api/x"])
def test_every_reply_has_the_strict_headers(page, path):
    for headers in (GOOD, {"host": HOST}, {"host": "evil.example"}):
        _, said, _ = asked(page, "GET", path, headers.items())
        assert {name: said.get(name) for name in HEADERS} == HEADERS
        assert "unsafe" not in said["content-security-policy"]


def test_a_body_is_bounded_by_its_header_and_by_its_bytes(page):
    large = b'"' + b"x" * LARGEST + b'"'
    stated = {**GOOD, "content-length": str(len(large))}
    assert asked(page, "POST", "/api/answers", stated.items(), large)[0] == 413
    assert asked(page, "POST", "/api/answers", GOOD.items(), large)[0] == 413
    parts = [b"x" * 65536] * 20
    lying = {**GOOD, "content-length": "10"}
    assert asked(page, "POST", "/api/answers", lying.items(), chunks=parts)[0] == 413
    for wrong in ("-1", "1e9", "9" * 400, "٣"):
        headers = list(GOOD.items())
        assert asked(page, "POST", "/api/answers", [*headers, ("content-length", wrong)])[0] == 413
    assert asked(page, "POST", "/api/answers", GOOD.items(), a_skip(page))[0] == 200


def test_a_long_address_is_refused(page):
    assert asked(page, "GET", "/api/" + "x" * 3000, GOOD.items())[0] == 414
    assert asked(page, "GET", "/api/history", GOOD.items(), query=b"text=" + b"x" * 3000)[0] == 414


def test_too_many_requests_are_refused_until_time_has_passed():
    now = [0.0]
    rate = Rate(10, 20, clock=lambda: now[0])
    assert [rate.allows() for _ in range(21)] == [True] * 20 + [False]
    now[0] = 0.3
    assert [rate.allows() for _ in range(4)] == [True] * 3 + [False]


def test_one_person_s_rate_is_not_another_s(project):
    page = Page(project, per_second=1, people={TOKEN: "ann", "the-token-of-ben": "ben"})
    ben = {**GOOD, "authorization": "Bearer the-token-of-ben"}
    statuses = [asked(page, "GET", "/api/nothing", GOOD.items())[0] for _ in range(4)]
    assert statuses == [404, 404, 429, 429]
    assert asked(page, "GET", "/api/nothing", ben.items())[0] == 404


def test_wrong_tokens_are_slowed_down_for_everybody_without_one(page):
    wrong = {**GOOD, "authorization": "Bearer wrong"}
    statuses = {asked(page, "GET", "/api/project", wrong.items())[0] for _ in range(260)}
    assert statuses == {401, 429}
    assert asked(page, "GET", "/api/project", GOOD.items())[0] == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org"])  # noqa: S104
def test_another_host_than_this_machine_wants_tokens_and_says_how_to_have_tls(project, host):
    with pytest.raises(InputError, match=r"--person .* TLS"):
        serve(project, host=host, port=8765)


def test_a_server_with_tls_in_front_wants_people_and_is_the_only_host(project):
    with pytest.raises(InputError, match=r"labels.example is open to others; .* --person"):
        serve(project, public="labels.example", port=8765)
    assert hosts("127.0.0.1", 8765, public="Labels.example") == {"labels.example"}


def test_the_hosts_of_a_server_on_this_machine_are_its_own_names_alone():
    assert hosts("127.0.0.1", 8765) == {"127.0.0.1:8765", "localhost:8765", "[::1]:8765"}
    assert hosts("box.example", 80) == {"box.example:80", "box.example"}


def test_every_person_has_a_long_token_of_their_own_that_stays_and_is_for_the_owner_s_eyes(project):
    found = dict(people_of(project, ["ann", "ben"]))
    assert sorted(found.values()) == ["ann", "ben", "me"]
    assert all(len(token) >= 40 for token in found)
    assert dict(people_of(project, ["ben"])) == found
    assert found.items() < dict(people_of(project, ["eve", "ann"])).items()
    assert (project.folder / PEOPLE).stat().st_mode & 0o777 == 0o600
    for wrong in (["ann", "ann"], [" "], ["a\nb"], ["x" * 61]):
        with pytest.raises(InputError):
            people_of(project, wrong)
