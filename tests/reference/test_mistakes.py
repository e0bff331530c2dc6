"""Each of a list of mistakes is answered with the next step, as `docs/reference/mistakes.md` shows.

    UPDATE_DOCS=1 .venv/bin/python -m pytest tests/reference/test_mistakes.py

writes that page anew.
"""

import json
import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from storefront.catalogue.models import BundleItem, Option, OptionValue
from storefront.kit import clock
from storefront.orders.fulfilling import fulfil_order
from storefront.server.api.codes import CODES
from storefront.shops.models import Shop
from storefront.shops.scopes import SCOPES
from storefront.staff.actions import create_api_token, revoke_api_token
from tests.answers import check_code
from tests.catalogue.factories import make_product, make_variant
from tests.client import ApiClient
from tests.customers.factories import make_customer
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.reference.mistakes import (
    BLUE,
    BOX,
    BUNDLE,
    CUSTOMER,
    DRAFT,
    ELSEWHERE,
    ENGRAVING,
    GOLD,
    HERS,
    MISTAKES,
    MUG,
    MUG_BODY,
    PART,
    RING,
    SHIRT,
    Mistake,
)
from tests.shops.factories import make_token

PAGE = Path("docs/reference/mistakes.md")
INTRODUCTION = """# Mistakes

What people get wrong when they use the API, and how it answers. A test makes each of these mistakes, and writes this
page. An answer's `request_id` and `doc_url` are left out; [every code](errors.md) has an entry at `/api/docs/errors`.
"""


@dataclass
class World:
    """A shop with something of each kind. `names` are the values of the placeholders in calls."""

    callers: dict[str, ApiClient]
    names: dict[str, str]


def make_world(shop: Shop, other_shop: Shop, now: datetime) -> World:
    mug = make_product(shop, "Mug", pk=MUG, stock_qty=3)
    make_variant(make_product(shop, "Shirt", pk=SHIRT), "Blue", pk=BLUE)
    ring = make_product(shop, "Ring", pk=RING)
    option = Option.objects.create(shop=shop, product=ring, pk=ENGRAVING, name="Metal", type="select", required=True)
    OptionValue.objects.create(shop=shop, option=option, pk=GOLD, label="Gold", price=Decimal("5.00"))
    make_product(shop, "Jug", pk=DRAFT, status="draft")
    make_product(shop, "Box", pk=BOX, allow_custom_price=True, min_custom_price=Decimal("5.00"))
    make_variant(make_product(other_shop, "Elsewhere", pk=ELSEWHERE), "Hers", pk=HERS)
    bundle = make_product(shop, "Set", pk=BUNDLE, type="bundle")
    BundleItem.objects.create(shop=shop, bundle=bundle, product=make_product(shop, "Lid", pk=PART), qty=1)
    order = make_order(shop, sale_line(mug))
    fulfilled = fulfil_order(shop=shop, order=make_order(shop, sale_line(mug)), now=now).order
    make_customer(shop, pk=CUSTOMER)
    api, app = ApiClient(make_token(shop)), install(shop, *SCOPES)
    cart = api.post("/cart", {"product_id": MUG, "qty": 1}).json()["cart_token"]
    made = {"shop": shop, "scopes": ["read_products"], "name": "old", "now": now - timedelta(days=2)}
    revoked, revoked_token = create_api_token(**made)
    revoke_api_token(shop=shop, token=revoked, now=now)
    callers = {
        "api": api,
        "app": app.api,
        "nobody": ApiClient(None),
        "expired": ApiClient(create_api_token(**made, expires_in=timedelta(days=1))[1]),
        "revoked": ApiClient(revoked_token),
        "reader": ApiClient(make_token(shop, "read_products")),
    }
    for caller in callers.values():
        caller.prefix = ""
    etag = api.get(f"/api/v1/customers/{CUSTOMER}")["ETag"]
    api.patch(f"/api/v1/customers/{CUSTOMER}", {"name": "Ada"})
    names = {
        "{cart}": cart,
        "{token}": str(api.token),
        "{order}": str(order.pk),
        "{line}": str(order.lines.get().pk),
        "{fulfilled}": str(fulfilled.pk),
        "{etag}": etag,
    }
    return World(callers, names)


@pytest.fixture
def world(shop, other_shop) -> World:
    world = make_world(shop, other_shop, clock.now())
    world.callers["api"].post("/api/v1/cart", MUG_BODY, Idempotency_Key="k1")
    return world


def filled_in(value: Any, world: World) -> Any:
    """The value with the placeholders filled in. One that is all of a text becomes a number."""
    text = json.dumps(value)
    for name, meant in world.names.items():
        text = text.replace(f'"{name}"', meant if meant.isdigit() else json.dumps(meant)).replace(name, meant)
    return json.loads(text)


def make(mistake: Mistake, world: World) -> Any:
    method, path = filled_in(mistake.call, world).split(" ")
    caller, headers = world.callers[mistake.who], filled_in(mistake.headers, world)
    if not isinstance(mistake.body, bytes):
        return caller.call(method.lower(), path, filled_in(mistake.body, world), **headers)
    sent = {"Authorization": f"Bearer {caller.token}"} | headers
    answer = caller.http.generic(method, path, mistake.body, sent.pop("Content-Type"), headers=sent)
    check_code(answer)
    return answer


def shown(mistake: Mistake, answer: Any, world: World) -> str:
    """The mistake and its answer in Markdown."""
    body = {name: value for name, value in answer.json().items() if name not in ("doc_url", "request_id")}
    text = json.dumps(body, ensure_ascii=False, indent=1)
    for name, before in (("order", "/orders/"), ("fulfilled", "/orders/"), ("line", "Of line ")):
        text = text.replace(before + world.names[f"{{{name}}}"], f"{before}{{{name}}}")
    sent = mistake.body if isinstance(mistake.body, bytes) else json.dumps(mistake.body).encode()
    lines = [mistake.call, *(f"{name}: {value}" for name, value in mistake.headers.items())]
    if mistake.body is not None and sent:
        lines += ["", sent.decode() if len(sent) < 200 else f"{sent.decode()[:60]}..."]
    ignored = f"X-Ignored: {answer['X-Ignored']}\n" if answer.has_header("X-Ignored") else ""
    remedy = CODES[mistake.code].remedy
    request = "\n".join(lines)
    return (
        f"## {mistake.what}\n\n```http\n{request}\n```\n\n```\n{answer.status_code}\n{ignored}{text}\n```\n\n{remedy}\n"
    )


@pytest.mark.rule("R-ERR-1", "R-ERR-13")
def test_each_mistake_is_answered_with_the_next_step(world):
    assert len(MISTAKES) >= 60
    sections = []
    for mistake in MISTAKES:
        answer = make(mistake, world)
        assert answer.json().get("code") == mistake.code, (mistake.what, answer.json())
        assert mistake.help in json.dumps(answer.json(), ensure_ascii=False), (mistake.what, answer.json())
        sections.append(shown(mistake, answer, world))
    page = "\n".join([INTRODUCTION, *sections])
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(page)
    assert PAGE.read_text() == page
