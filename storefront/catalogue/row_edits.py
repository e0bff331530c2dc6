"""Changes one price or stock from a list, where somebody sees a value and types another. The value that was seen comes
with the change: if it has changed since, by a sale or by somebody else, nothing is written."""

from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext_lazy as _lazy

from storefront.catalogue.actions import update_product
from storefront.catalogue.dated import sale_periods
from storefront.catalogue.inventory.actions import adjust_stock
from storefront.catalogue.inventory.ledger import Author
from storefront.catalogue.models import Product
from storefront.kit.refusals import NotFound, Refusal
from storefront.shops.models import Shop


class ValueChanged(Refusal):
    """The value is no longer the one that was seen. `now_is` is the present one."""

    status, code = 409, "value_changed"
    message = _lazy("Somebody changed it meanwhile.")

    def __init__(self, now_is: Decimal | int) -> None:
        super().__init__()
        self.now_is = now_is


class SetElsewhere(Refusal):
    """The product's price or stock is not one number of its own."""

    code = "set_elsewhere"
    message = _lazy("This cannot be changed in the list. Open the product.")


def has_own_price(product: Product) -> bool:
    """Returns False if the price is that of variants, or of a sale that runs."""
    return product.type != Product.Type.VARIABLE and not sale_periods.holds(product) and product.deleted_at is None


def has_own_stock(product: Product) -> bool:
    return product.type != Product.Type.VARIABLE and product.track_inventory and product.deleted_at is None


@transaction.atomic
def set_price(*, shop: Shop, product_id: int, seen: Decimal, price: Decimal, now: datetime) -> Product:
    """Set the price. Raises ValueChanged, SetElsewhere, NotFound and InvalidFields."""
    product = _locked(shop, product_id)
    if not has_own_price(product):
        raise SetElsewhere
    if product.price != seen:
        raise ValueChanged(product.price)
    if price == seen:
        return product
    return update_product(shop=shop, product=product, price=price, now=now)


@transaction.atomic
def set_stock(
    *, shop: Shop, product_id: int, seen: int, stock: int, reason: str, author: Author, now: datetime
) -> Product:
    """Set the stock, which the stock ledger records with the reason. Raises as `set_price` does."""
    product = _locked(shop, product_id)
    if not has_own_stock(product):
        raise SetElsewhere
    if product.stock_qty != seen:
        raise ValueChanged(product.stock_qty)
    if stock != seen:
        adjust_stock(shop=shop, product_id=product_id, to=stock, reason=reason, author=author, now=now)
        product.stock_qty = stock
    return product


def _locked(shop: Shop, product_id: int) -> Product:
    rows = Product.objects.select_for_update(no_key=True)
    product = rows.filter(shop=shop, pk=product_id, deleted_at=None).first()
    if product is None:
        raise NotFound
    product.shop = shop
    return product
