"""A replay needs the scopes that the call needs now (R-CALL-25)."""

from dataclasses import dataclass
from typing import Any

import pytest

from storefront.apps import actions
from storefront.kit import clock
from storefront.payments.actions import mark_paid
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.factories.apps import Installed, install
from tests.orders.factories import make_order, sale_line


@dataclass(frozen=True)
class Write:
    """A POST whose answer shows a record to those who may read it."""

    resource: str
    path: str
    body: Any = None

    @property
    def reading(self) -> str:
        return f"read_{self.resource}"

    @property
    def writing(self) -> str:
        return f"write_{self.resource}"


WRITES = [
    Write("orders", "/orders/{order}/fulfilments"),
    Write("orders", "/orders/{order}/cancellation"),
    Write("orders", "/orders/{order}/refunds", {"amount": "1.00"}),
    Write("customers", "/customers", {"email": "ada@example.com", "name": "Ada"}),
    Write("inventory", "/inventory/adjustments", {"product_id": "{product}", "delta": 1, "reason": "Found"}),
    Write("products", "/products", {"name": "Jug"}),
]


@pytest.fixture(params=WRITES, ids=lambda write: write.path.rpartition("/")[2])
def write(request, shop) -> Write:
    """The call, for a product and a paid order that are there."""
    product = make_product(shop, "Mug", stock_qty=10, track_inventory=True)
    order = mark_paid(shop=shop, order=make_order(shop, sale_line(product)), now=clock.now())
    body = {name: product.pk if value == "{product}" else value for name, value in (request.param.body or {}).items()}
    return Write(request.param.resource, request.param.path.format(order=order.pk), body)


@pytest.fixture
def installed(shop, write) -> Installed:
    return install(shop, write.reading, write.writing)


def send(api: ApiClient, write: Write):
    return api.post(write.path, write.body, Idempotency_Key="k1")


def grant(shop, installed: Installed, *scopes: str) -> None:
    actions.change_scopes(shop=shop, installation=installed.installation, scopes=list(scopes), now=clock.now())


@pytest.mark.rule("R-CALL-25")
def test_a_replay_shows_the_id_alone_once_reading_is_withdrawn(shop, installed, write):
    first = send(installed.api, write)
    assert (first.status_code, "Idempotent-Replayed" in first) == (201, False), first.content
    ((name, record),) = first.json().items()
    assert len(record) > 1
    grant(shop, installed, write.writing)
    again = send(installed.api, write)
    assert (again.status_code, again["Idempotent-Replayed"]) == (201, "true")
    assert again.json() == {name: {"id": record["id"]}}
    assert "ETag" not in again
    # Given back, it is the first answer again.
    grant(shop, installed, write.writing, write.reading)
    assert send(installed.api, write).content == first.content


def test_a_replay_of_the_public_api_shows_the_id_alone_once_reading_is_withdrawn(shop, installed, write):
    if write.resource == "products":
        pytest.skip("products are written by the App API alone")
    api = ApiClient(installed.token)
    record = send(api, write).json()["data"]
    grant(shop, installed, write.writing)
    assert send(api, write).json() == {"data": {"id": record["id"]}}


@pytest.mark.rule("R-CALL-25")
def test_a_replay_is_refused_once_writing_is_withdrawn(shop, installed, write):
    send(installed.api, write)
    grant(shop, installed, write.reading)
    again = send(installed.api, write)
    assert (again.status_code, again.json()["code"]) == (403, "insufficient_scope")


@pytest.mark.rule("R-CALL-25", "R-CALL-26")
def test_a_replay_with_a_new_token_uses_that_tokens_scopes(shop, installed, write):
    first = send(installed.api, write)
    token = actions.rotate_token(shop=shop, installation=installed.installation, now=clock.now())
    for each in (token, installed.token):
        assert send(ApiClient(each, prefix="/api/apps"), write).content == first.content
    grant(shop, installed, write.writing)
    for each in (token, installed.token):
        ((_, record),) = send(ApiClient(each, prefix="/api/apps"), write).json().items()
        assert list(record) == ["id"]


def test_withdrawing_another_scope_does_not_change_a_replay(shop, write):
    installed = install(shop, write.reading, write.writing, "read_cart")
    first = send(installed.api, write)
    grant(shop, installed, write.reading, write.writing)
    assert send(installed.api, write).content == first.content


def test_a_response_with_the_id_alone_is_replayed_so(shop, write):
    installed = install(shop, write.writing)
    first = send(installed.api, write)
    ((_, record),) = first.json().items()
    assert list(record) == ["id"]
    grant(shop, installed, write.reading, write.writing)
    assert send(installed.api, write).content == first.content
