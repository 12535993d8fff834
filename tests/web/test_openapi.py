"""Whatever the OpenAPI allows, and more, is answered as the OpenAPI says, and never with a fault of ours."""

from contextlib import suppress

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from small_page import HEADERS, Page

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)
ENDLESS = "/api/events"


@pytest.fixture
def still(project):
    """A page that does nothing between two requests: Hypothesis wants nobody else to draw random numbers."""
    page = Page(project)
    yield page
    page.client.close()
    page.desk.close()


def asked(page, examples):
    """How many requests were sent for every operation; each reply is held to the OpenAPI."""
    schema = schemathesis.openapi.from_dict(page.get("/openapi.json").json())
    schema.app = _running(page.app)
    sent = {}
    for operation in (one.ok() for one in schema.get_all_operations()):
        if operation.path == ENDLESS:
            continue
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
            with suppress(Unsatisfiable):  # what takes nothing cannot be asked wrongly
                _ask(page, operation, mode, examples, sent)
    return sent


def _running(app):
    """The application without its beginning and end, which are not the requests' business."""

    async def bare(scope, receive, send):
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        for wanted in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{wanted}.complete"})

    return bare


def _ask(page, operation, mode, examples, sent):
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def one(case):
        kept = {
            name: value for name, value in (case.headers or {}).items() if name.lower() != "authorization"
        }
        case.headers = {**kept, **HEADERS}
        reply = case.call(base_url=str(page.client.base_url))
        case.validate_response(reply, checks=CHECKS)
        sent[operation.label] = sent.get(operation.label, 0) + 1

    one()


def test_every_operation_answers_as_its_openapi_says(still):
    sent = asked(still, examples=2)
    paths = still.get("/openapi.json").json()["paths"]
    assert sent.keys() == {
        f"{how.upper()} {path}" for path in paths for how in paths[path] if path != ENDLESS
    }
    assert sum(sent.values()) > 60


def test_control_a_fault_of_ours_is_found(still, monkeypatch):
    monkeypatch.setattr(type(still.desk), "history", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        asked(still, examples=1)


@pytest.mark.slow
def test_twenty_thousand_requests_and_no_fault_of_ours(still, record_property):
    sent = asked(still, examples=1400)
    record_property("requests", sum(sent.values()))
    record_property("operations", len(sent))
    assert sum(sent.values()) >= 20_000
