"""The examples of the API's description are calls that were made, and their answers.

    UPDATE_DOCS=1 .venv/bin/python -m pytest tests/server/test_api_examples.py

writes `storefront/server/api/examples.json` anew.
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import time_machine
from django.db import connection
from jsonschema_rs import Draft202012Validator

from storefront.documents.jobs import issue_due_documents
from storefront.documents.models import InvoiceSettings
from storefront.gift_cards import codes
from storefront.payments.actions import mark_paid
from storefront.server.api import examples
from storefront.server.api.api import api as ninja_api
from storefront.shops.scopes import SCOPES
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Delivery
from tests.addresses import ADDRESS
from tests.catalogue.factories import make_category, make_media, make_product, make_variant
from tests.client import ApiClient
from tests.factories.apps import install, make_app
from tests.gift_cards.factories import make_card
from tests.orders.factories import make_order, sale_line
from tests.orders.files import add_file
from tests.pricing.rows import make_code
from tests.shops.factories import NOW, make_token

pytestmark = pytest.mark.any_database

FILE = Path("storefront/server/api/examples.json")
PICTURE = "https://cdn.example.com/mug.jpg"
HOOK = "https://app.example.com/webhooks"
BLOCK = "https://app.example.com/blocks/gift-note"


@dataclass(frozen=True)
class Call:
    """An operation's example. `keep` names members of the answer that later calls need, by placeholder."""

    operation: str
    request: str
    body: Any = None
    cart: bool = False
    keep: dict[str, str] = field(default_factory=dict)


V1, APPS = "/api/v1", "/api/apps"
CALLS = [
    Call("list_products", f"GET {V1}/products?q=mug&per_page=1"),
    Call("get_product", f"GET {V1}/products/stoneware-mug"),
    Call("list_categories", f"GET {V1}/categories"),
    Call("get_category", f"GET {V1}/categories/mugs"),
    Call("add_to_cart", f"POST {V1}/cart", {"product_id": 101, "qty": 2}, keep={"{cart}": "cart_token"}),
    Call(
        "add_cart_lines",
        f"POST {V1}/cart/lines",
        {"lines": [{"product_id": 101, "qty": 1}, {"product_id": 102, "variant_id": 1, "qty": 1}]},
        cart=True,
    ),
    Call("set_discount_codes", f"PUT {V1}/cart/discount-codes", {"codes": ["spring10"]}, cart=True),
    Call("set_gift_cards", f"PUT {V1}/cart/gift-cards", {"codes": ["K7QM-2VXR-9TWB-4HNC-M3PD"]}, cart=True),
    Call("get_cart", f"GET {V1}/cart", cart=True),
    Call("update_cart_line", f"PATCH {V1}/cart/p101", {"qty": 1}, cart=True),
    Call(
        "create_checkout_link",
        f"POST {V1}/cart/checkout",
        {
            "return_url": "https://www.example.com/thanks?order={ORDER_NUMBER}",
            "client_reference": "session-4711",
            "metadata": {"campaign": "autumn"},
        },
        cart=True,
    ),
    Call("remove_cart_line", f"DELETE {V1}/cart/p101", cart=True),
    Call("empty_cart", f"DELETE {V1}/cart", cart=True),
    Call("start_export", f"POST {V1}/exports", {"kind": "products", "include": ["variants"]}),
    Call("get_export", f"GET {V1}/exports/1"),
    *[
        call
        for prefix, end in ((V1, ""), (APPS, "_for_app"))
        for call in (
            Call(f"list_customers{end}", f"GET {prefix}/customers?email=ada@example.com"),
            Call(f"get_customer{end}", f"GET {prefix}/customers/1"),
            Call(
                f"create_customer{end}",
                f"POST {prefix}/customers",
                {"email": f"grace{len(end)}@example.com", "name": "Grace Hopper", "addresses": [ADDRESS]},
            ),
            Call(f"update_customer{end}", f"PATCH {prefix}/customers/1", {"note": "Prefers to be called."}),
            Call(f"list_inventory{end}", f"GET {prefix}/inventory?sku=MUG-1"),
            Call(
                f"adjust_inventory{end}",
                f"POST {prefix}/inventory/adjustments",
                {"product_id": 101, "delta": 5, "reason": "Delivery of 22 November"},
            ),
            Call(f"list_orders{end}", f"GET {prefix}/orders?status=open&per_page=1"),
            Call(f"get_order{end}", f"GET {prefix}/orders/1"),
            Call(f"list_documents{end}", f"GET {prefix}/orders/1/documents"),
            Call(f"update_order{end}", f"PATCH {prefix}/orders/1", {"note": "Call before delivery.", "tags": ["gift"]}),
            Call(
                f"fulfil_order{end}",
                f"POST {prefix}/orders/{2 if end else 1}/fulfilments",
                {"carrier": "DHL", "tracking_number": "00340434161094042557"},
            ),
            Call(f"refund_order{end}", f"POST {prefix}/orders/{2 if end else 1}/refunds", {"amount": "5.00"}),
            Call(
                f"cancel_fulfilment{end}",
                f"POST {prefix}/orders/{2 if end else 1}/fulfilments/{2 if end else 1}/cancellation",
            ),
            Call(
                f"cancel_order{end}",
                f"POST {prefix}/orders/{4 if end else 3}/cancellation",
                {"reason": "The customer changed their mind."},
            ),
        )
    ],
    Call("get_shop", f"GET {APPS}/shop"),
    Call("list_products_for_app", f"GET {APPS}/products?status=active&per_page=1"),
    Call("get_product_for_app", f"GET {APPS}/products/101"),
    Call(
        "create_product_for_app",
        f"POST {APPS}/products",
        {
            "name": "Linen shirt",
            "price": "49.00",
            "variants": [
                {"name": "Small", "price": "49.00", "stock_qty": 4, "option_values": {"Size": "S"}},
                {"name": "Large", "price": "52.00", "stock_qty": 2, "option_values": {"Size": "L"}},
            ],
        },
    ),
    Call("update_product_for_app", f"PATCH {APPS}/products/101", {"price": "12.00", "tags": ["new"]}),
    Call("delete_product_for_app", f"DELETE {APPS}/products/103"),
    Call("register_extension", f"POST {APPS}/extensions", {"type": "checkout_block", "callback_url": BLOCK}),
    Call("list_extensions", f"GET {APPS}/extensions"),
    Call("get_extension", f"GET {APPS}/extensions/1"),
    Call("update_extension", f"PATCH {APPS}/extensions/1", {"timeout_ms": 2000}),
    Call("delete_extension", f"DELETE {APPS}/extensions/1"),
    Call(
        "register_script_tag",
        f"POST {APPS}/script-tags",
        {"src": "https://app.example.com/hello.js", "location": "body_end"},
    ),
    Call("list_script_tags", f"GET {APPS}/script-tags"),
    Call("delete_script_tag", f"DELETE {APPS}/script-tags/1"),
    Call("register_webhook", f"POST {APPS}/webhooks", {"topic": "order.paid", "address": HOOK}),
    Call("list_webhooks", f"GET {APPS}/webhooks"),
    Call("get_webhook", f"GET {APPS}/webhooks/order.paid"),
    Call("update_webhook", f"PATCH {APPS}/webhooks/order.paid", {"address": f"{HOOK}/paid", "state": "active"}),
    Call("test_webhook", f"POST {APPS}/webhooks/order.paid/test"),
    Call("list_events", f"GET {APPS}/events?topic=order.paid&limit=1"),
    Call("list_deliveries", f"GET {APPS}/webhooks/deliveries?status=dead&limit=1"),
    Call("replay_delivery", f"POST {APPS}/webhooks/deliveries/{{delivery}}/replay"),
    Call("replay_events", f"POST {APPS}/webhooks/replay", {"topic": "order.placed"}),
    Call("delete_webhook", f"DELETE {APPS}/webhooks/order.paid"),
    Call("list_audit_entries", f"GET {APPS}/audit?action=order.updated&per_page=1"),
]


@pytest.fixture
def frozen() -> Iterator[None]:
    with time_machine.travel(NOW + timedelta(minutes=1), tick=False):
        yield


@pytest.fixture
def first_ids(db) -> None:
    """Ids count from 1 again."""
    if connection.vendor != "sqlite":
        pytest.skip("examples show ids, which count on from test to test on PostgreSQL")
    connection.cursor().execute("DELETE FROM sqlite_sequence")


@pytest.fixture
def callers(first_ids, frozen, shop, other_shop) -> dict[str, ApiClient]:
    """A shop in which every example works, and its integration and app, by prefix."""
    app = install(shop, *SCOPES, app=make_app("gift-notes"), now=NOW).api
    api = ApiClient(make_token(shop))
    shop.allowed_origins.create(origin="https://www.example.com")
    app.post("/webhooks", {"topic": "order.placed", "address": HOOK})
    mugs = make_category(shop, "Mugs")
    text = {"description": "<p>Thrown by hand.</p>", "short_description": "Thrown by hand.", "tags": ["kitchen"]}
    mug = make_product(
        shop, "Stoneware mug", pk=101, sku="MUG-1", price=Decimal("14.50"), categories=(mugs,), stock_qty=40, **text
    )
    make_media(mug, PICTURE, alt="A mug on a table", width=1200, height=1200)
    make_variant(make_product(shop, "Apron", pk=102), "Blue", sku="APRON-BLUE")
    make_product(shop, "Old jug", pk=103)
    make_product(other_shop, "Elsewhere")
    make_code(shop, minimum_subtotal=Decimal("20.00"))
    with patch.object(codes, "new_code", return_value="K7QM2VXR9TWB4HNCM3PD"):
        make_card(shop, "10.00")
    api.post("/customers", {"email": "ada@example.com", "name": "Ada Lovelace", "addresses": [ADDRESS]})
    add_file(mug, "glaze-and-care.pdf")
    mug.max_downloads = mug.download_expiry_days = 5
    mug.save()
    for number in range(4):
        order = make_order(shop, sale_line(mug, 2))
        if number < 2:
            mark_paid(shop=shop, order=order, now=NOW)
    InvoiceSettings.objects.create(shop=shop, is_on=True, legal_name="Lighthouse GmbH", address="Am Kai 12")
    issue_due_documents(now=NOW, limit=10)
    dispatch(NOW)
    Delivery.objects.filter(event__topic="order.placed").update(status="dead", tries=10, ended_at=NOW)
    api.prefix = app.prefix = ""
    return {V1: api, APPS: app}


SECRETS = [
    (
        re.compile(r"\b(cart|api|app)_(?:[0-9a-f]{14})?[A-Za-z0-9_-]{43}"),
        r"\1_5xExampleOfATokenThatOpensNothingAtAll0000000",
    ),
    (re.compile(r"signature=[0-9a-f]+"), "signature=" + "5" * 64),
    (re.compile(r"(/downloads/[0-9-]+\.)[A-Za-z0-9_-]+"), r"\g<1>" + "5" * 43),
    (
        re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
        "0d9a6f2e-5b1c-4c7e-9a43-2f6b8d1e7c50",
    ),
    (re.compile(r"\b[0-9a-f]{32}\b"), "0b9e3a1c5d7f4e2a9b8c6d5e4f3a2b1c"),
]


def without_secrets(text: str) -> str:
    for pattern, shown in SECRETS:
        text = pattern.sub(shown, text)
    return text


def make(callers: dict[str, ApiClient]) -> dict[str, Any]:
    """All examples, by the operation's name."""
    made, names = {}, {"{delivery}": str(Delivery.objects.filter(status="dead").earliest("pk").pk)}
    for call in CALLS:
        method, path = call.request.split(" ")
        for name, value in names.items():
            path = path.replace(name, value)
        caller = callers[APPS if path.startswith(APPS) else V1]
        answer = caller.call(method.lower(), path, call.body, cart=names["{cart}"] if call.cart else None)
        assert answer.status_code < 300, (call.operation, answer.json())
        body = answer.json()
        names |= {name: body[member] for name, member in call.keep.items()}
        made[call.operation] = json.loads(
            without_secrets(
                json.dumps(
                    {"method": method, "path": path, "cart": call.cart, "request": call.body}
                    | {"status": answer.status_code, "response": body}
                )
            )
        )
    return made


@pytest.mark.slow
def test_every_example_is_answered_as_it_is_shown(callers):
    made = make(callers)
    if os.environ.get("UPDATE_DOCS"):
        FILE.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n")
    assert json.loads(FILE.read_text()) == made


@pytest.mark.slow
def test_every_operation_has_an_example(stranger):
    stranger.prefix = "/api"
    document = stranger.get("/openapi.json").json()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            name = operation["operationId"]
            example = examples.EXAMPLES[name]
            assert example["method"].lower() == method, name
            pattern = re.sub(r"\{\w+\}", r"[^/?]+", path)
            assert re.fullmatch(pattern + r"(\?.*)?", example["path"]), name
            content = operation["responses"][str(example["status"])]["content"]["application/json"]
            assert content["example"] == example["response"], name
            Draft202012Validator(document | content["schema"]).validate(example["response"])
            if "requestBody" in operation and example["request"] is not None:
                body = operation["requestBody"]["content"]["application/json"]
                assert body["example"] == example["request"], name
                Draft202012Validator(document | body["schema"]).validate(example["request"])
            assert [sample["label"] for sample in operation["x-codeSamples"]] == ["curl", "Python", "TypeScript"], name
    assert examples.EXAMPLES.keys() == {operation.view_func.__name__ for operation in all_operations()}


def all_operations():
    for _, router in ninja_api._routers:
        for view in router.path_operations.values():
            yield from view.operations
