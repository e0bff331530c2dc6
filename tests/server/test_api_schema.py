"""Schemathesis calls the API as its description says, and as it says not to: whatever is sent, no crash, and no
status, header or field that the description does not have."""

import threading
from collections.abc import Iterator
from typing import NamedTuple

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, StopReason, from_schema
from schemathesis.engine.events import NonFatalError, ScenarioFinished
from schemathesis.generation import meta
from schemathesis.hooks import GLOBAL_HOOK_DISPATCHER
from werkzeug.serving import make_server

from storefront.apps.actions import change_rate_limit
from storefront.apps.models import Extension
from storefront.catalogue.models import Product
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.payments.actions import mark_paid
from storefront.server.wsgi import application
from storefront.shops.scopes import SCOPES
from tests.apps.test_uninstalling import register_everything
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.factories.apps import Installed, install
from tests.orders.factories import make_order, sale_line

pytestmark = [pytest.mark.strict, pytest.mark.proof]

# A refused add, change or checkout is a 422 to data that fits the description: there was no such product or line.
EXPECTED = ["2xx", "304", "404", "409", "412", "422"]
# An `If-Match` that was made up does not match, whatever else the call has.
REFUSED = ["400", "401", "403", "404", "405", "409", "412", "415", "422", "429", "5xx"]
# With a time to fill it would go round again and again, further on a faster machine.
CONFIG = {
    "seed": 1,
    "continue-on-failure": True,
    "request-timeout": 60,
    "output": {"sanitization": {"enabled": False}},
    "generation": {"max-examples": 15, "deterministic": True},
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
def order(shop, stocked) -> Order:
    order = make_order(shop, sale_line(Product.objects.get(pk=stocked[0]), 100))
    return mark_paid(shop=shop, order=order, now=clock.now())


@pytest.fixture
def served() -> Iterator[str]:
    """The WSGI application behind a real socket, since schemathesis' engine calls over nothing else."""
    server = make_server("127.0.0.1", 0, application, threaded=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(480)
def test_the_public_api_is_as_described(served, api, stocked, cart, order):
    there = {"key": f"p{stocked[0]}", "id_or_slug": str(stocked[0]), "order_id": str(order.pk)}
    succeeded, described = called(served, "/api/v1/", api.token, Standing(stocked, cart, there))
    assert described <= succeeded


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(480)
def test_the_app_api_is_as_described(served, shop, stocked, cart):
    installed = install_unlimited(shop, *SCOPES)
    succeeded, described = called(served, "/api/apps/", installed.token, furnished(installed, stocked, cart))
    assert described <= succeeded


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(480)
def test_the_app_api_is_as_described_to_an_app_without_scopes(served, shop, stocked, cart):
    installed = install_unlimited(shop)
    standing = furnished(installed, stocked, cart)
    # One refusal for whatever is sent: boundaries of values are worth no calls, and nothing comes to be found again.
    off = {"coverage": {"enabled": False}, "stateful": {"enabled": False}}
    succeeded, described = called(served, "/api/apps/", installed.token, standing, "403", **off)
    assert described <= succeeded


class Standing(NamedTuple):
    """What is there: products for a cart, a cart with a line, and ids by the name of their place in a path."""

    stocked: list[int]
    cart: str
    there: dict[str, str]


def install_unlimited(shop, *scopes: str) -> Installed:
    installed = install(shop, *scopes)
    given = {"shop": shop, "installation": installed.installation, "now": clock.now()}
    change_rate_limit(**given, requests_per_minute=10**6)
    return installed


def furnished(installed: Installed, stocked: list[int], cart: str) -> Standing:
    """With something of the app to be found and deleted, though not for long."""
    register_everything(installed)
    own = {"topic": "order.placed", "id": str(Extension.objects.get().pk), "customer_id": "1"}
    return Standing(stocked, cart, own | {"product_id": str(stocked[0])})


def called(
    served: str, under: str, token: str, standing: Standing, *also: str, **phases: dict
) -> tuple[set[str], set[str]]:
    """Call all there is under this path: the operations in which nothing failed, and those that are described."""
    checks = {
        "positive_data_acceptance": {"expected-statuses": [*EXPECTED, *also]},
        "negative_data_rejection": {"expected-statuses": REFUSED},
    }
    # Both, or it would make up the one that is missing.
    credential = {"headers": {"Authorization": f"Bearer {token}", "X-Shop-Access-Token": token}}
    config = SchemathesisConfig.from_dict(CONFIG | credential | {"checks": checks, "phases": phases})
    schema = schemathesis.openapi.from_url(f"{served}/api/openapi.json", config=config)
    schema = schema.include(path_regex=f"^{under}")

    @schemathesis.hook
    def before_call(context, case, kwargs):
        point_at_what_is_there(case, standing)

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
    assert end.stop_reason == StopReason.COMPLETED
    paths = schema.raw_schema["paths"].items()
    described = {f"{verb.upper()} {path}" for path, verbs in paths if path.startswith(under) for verb in verbs}
    return {event.label for event in scenarios if event.status == Status.SUCCESS}, described


def point_at_what_is_there(case, standing: Standing) -> None:
    """Turns about half of what was made up into ids and tokens that stand, so that calls get further than a 404."""
    stocked = standing.stocked
    if isinstance(case.body, dict) and type(case.body.get("product_id")) is int and case.body["product_id"] > 0:
        case.body["product_id"] = stocked[case.body["product_id"] % len(stocked)]
    if len((case.headers or {}).get("X-Cart-Token") or "") % 2:
        case.headers["X-Cart-Token"] = standing.cart
    if case.meta and case.meta.phase.name == meta.TestPhase.STATEFUL:
        # There the place in a path is what the call before has made or deleted.
        return
    for name in standing.there.keys() & (case.path_parameters or {}).keys():
        if len(str(case.path_parameters[name])) % 2:
            case.path_parameters[name] = standing.there[name]
