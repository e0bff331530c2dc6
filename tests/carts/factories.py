"""Carts filled through the API as by integrations, and carts of signed-in shoppers."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.http import HttpResponse

from storefront.carts.models import LIFETIME, Cart
from storefront.catalogue.models import BundleItem, Product, Variant
from storefront.customers.models import Customer, CustomerGroup
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.shops.factories import NOW


def add(api: ApiClient, product: Product, qty: int = 1, *, cart: str | None = None, **more: Any) -> HttpResponse:
    """POST /api/v1/cart."""
    return api.post("/cart", {"product_id": product.pk, "qty": qty} | more, cart=cart)


def filled(api: ApiClient, product: Product, qty: int = 1, **more: Any) -> str:
    """The token of a new cart with this product."""
    answer = add(api, product, qty, **more)
    assert answer.status_code == 201, answer.content
    return answer.json()["cart_token"]


def contents(api: ApiClient, cart: str | None) -> dict[str, Any]:
    """`data` of a cart read."""
    return api.get("/cart", cart=cart).json()["data"]


def quantities(api: ApiClient, cart: str | None) -> dict[str, int]:
    return {item["key"]: item["qty"] for item in contents(api, cart)["items"]}


def only_key(api: ApiClient, cart: str) -> str:
    (item,) = contents(api, cart)["items"]
    return item["key"]


def make_bundle(shop: Shop, name: str = "Set", parts: dict[Product | Variant, int] | None = None, **given) -> Product:
    bundle = make_product(shop, name, type="bundle", stock_qty=0, **given)
    for order, (part, qty) in enumerate((parts or {}).items()):
        variant = part if isinstance(part, Variant) else None
        product = part.product if isinstance(part, Variant) else part
        BundleItem.objects.create(shop=shop, bundle=bundle, product=product, variant=variant, qty=qty, sort_order=order)
    return bundle


def make_group(shop: Shop, percent: str = "0", name: str = "Trade") -> CustomerGroup:
    return CustomerGroup.objects.create(shop=shop, name=name, discount_percent=Decimal(percent))


def make_customer(shop: Shop, group: CustomerGroup | None = None, email: str = "ada@example.com") -> Customer:
    return Customer.objects.create(shop=shop, email=email, group=group, created_at=NOW, updated_at=NOW)


def make_cart(shop: Shop, customer: Customer | None = None, now: datetime = NOW, **given: Any) -> Cart:
    given = {"created_at": now, "updated_at": now, "expires_at": now + LIFETIME} | given
    return Cart.objects.create(shop=shop, customer=customer, **given)
