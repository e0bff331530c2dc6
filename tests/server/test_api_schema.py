"""Schemathesis calls the API as its description says, and as it says not to: whatever is sent, no crash, and no
status, header or field that the description does not have."""

import threading
from collections.abc import Iterator

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, StopReason, from_schema
from schemathesis.engine.events import NonFatalError, ScenarioFinished
from schemathesis.hooks import GLOBAL_HOOK_DISPATCHER
from werkzeug.serving import make_server

from storefront.server.wsgi import application
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant

# A refused add, change or checkout is a 422 to data that fits the description: there was no such product or line.
CONFIG = {
    "seed": 1,
    "max-time": 40,
    "continue-on-failure": True,
    "generation": {"max-examples": 15, "deterministic": True},
    "checks": {"positive_data_acceptance": {"expected-statuses": ["2xx", "304", "404", "409", "422"]}},
}


@pytest.fixture
def stocked(shop, other_shop) -> list[int]:
    """A catalogue that has one of everything; the ids of what can be put into a cart."""
    cups = make_category(shop, "Cups")
    tall = make_category(shop, "Tall cups", parent=cups)
    mug = make_product(shop, "Mug", categories=(cups, tall), stock_qty=10**6)
    make_media(mug)
    shirt = make_product(shop, "Shirt", categories=(cups,))
    make_variant(shirt, "Blue")
    make_variant(shirt, "Red", stock_qty=0, track_inventory=True)
    engraved = make_product(shop, "Engraved", allow_custom_price=True)
    make_option(engraved, required=True)
    make_product(shop, "Draft", status="draft")
    make_product(other_shop, "Elsewhere")
    return [mug.id, shirt.id, engraved.id]


@pytest.fixture
def cart(api, stocked) -> str:
    return api.post("/cart", {"product_id": stocked[0], "qty": 1}).json()["cart_token"]


@pytest.fixture
def served() -> Iterator[str]:
    """The WSGI application behind a real socket, since schemathesis' engine calls over nothing else."""
    server = make_server("127.0.0.1", 0, application, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(120)
def test_the_api_is_as_described(served, api, stocked, cart):
    credential = {"headers": {"Authorization": f"Bearer {api.token}"}}
    config = SchemathesisConfig.from_dict(CONFIG | credential)
    schema = schemathesis.openapi.from_url(f"{served}/api/openapi.json", config=config)

    @schemathesis.hook
    def before_call(context, case, kwargs):
        point_at_what_is_there(case, stocked, cart)

    try:
        *events, end = from_schema(schema).execute()
    finally:
        GLOBAL_HOOK_DISPATCHER.unregister(before_call)
    assert [str(event.info) for event in events if isinstance(event, NonFatalError)] == []
    scenarios = [event for event in events if isinstance(event, ScenarioFinished)]
    failures = {
        f"{check.name}: {check.failure_info.failure} {check.failure_info.code_sample}"
        for event in scenarios
        for checks in event.recorder.checks.values()
        for check in checks
        if check.failure_info
    }
    assert not failures, "\n\n".join(sorted(failures))
    assert end.stop_reason in (StopReason.COMPLETED, StopReason.MAX_TIME)
    described = {
        f"{method.upper()} {path}" for path, methods in schema.raw_schema["paths"].items() for method in methods
    }
    assert described <= {event.label for event in scenarios if event.status == Status.SUCCESS}


def point_at_what_is_there(case, stocked: list[int], cart: str) -> None:
    """Turns about half of what was made up into ids and tokens that stand, so that calls get further than a 404."""
    if isinstance(case.body, dict) and type(case.body.get("product_id")) is int and case.body["product_id"] > 0:
        case.body["product_id"] = stocked[case.body["product_id"] % len(stocked)]
    if len((case.headers or {}).get("X-Cart-Token") or "") % 2:
        case.headers["X-Cart-Token"] = cart
    for name, there in (("key", f"p{stocked[0]}"), ("id_or_slug", str(stocked[0]))):
        if len(str((case.path_parameters or {}).get(name, ""))) % 2:
            case.path_parameters[name] = there
