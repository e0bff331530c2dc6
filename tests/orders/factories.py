"""Orders, placed as the checkout does."""

from decimal import Decimal

from storefront.catalogue.models import Product, Variant
from storefront.catalogue.stock import StockUse
from storefront.orders import actions
from storefront.orders.models import Order
from storefront.orders.rules import Promise, Sale, SaleLine
from storefront.shops.models import Shop
from tests.addresses import ADDRESS
from tests.shops.factories import NOW


def sale_line(item: Product | Variant, qty: int = 1, **given) -> SaleLine:
    product = item.product if isinstance(item, Variant) else item
    kind = "variant" if isinstance(item, Variant) else "product"
    return SaleLine(
        **{
            "product_id": product.pk,
            "variant_id": item.pk if isinstance(item, Variant) else None,
            "sku": item.sku,
            "name": item.name,
            "image": None,
            "qty": qty,
            "unit_price": item.price,
            "line_total": item.price * qty,
            "uses": (StockUse(kind, item.pk, qty),),
        }
        | given
    )


def sale(*lines: SaleLine, **given) -> Sale:
    subtotal = sum((line.line_total for line in lines), Decimal("0.00"))
    amounts = {"subtotal": subtotal, "total": subtotal} | {
        name: Decimal("0.00") for name in ("discount", "shipping", "tax")
    }
    parties = {"email": "ada@example.com", "billing_address": ADDRESS, "shipping_address": ADDRESS}
    return Sale(**{"lines": list(lines), **parties, **amounts} | given)


def make_order(shop: Shop, *lines: SaleLine, promise: Promise | None = None, now=NOW, **given) -> Order:
    what = sale(*lines, **given)
    return actions.place_order(shop=shop, sale=what, promise=promise or Promise("manual", what.total), now=now)
