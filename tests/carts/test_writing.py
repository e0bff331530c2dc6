"""The hand-written INSERTs of carts: they are atomic, and the ORM reads the same rows."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError

from storefront.carts import sql
from storefront.carts.models import Cart, CartLine
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW, make_shop


def cart_and_line(**line) -> tuple[Cart, CartLine]:
    shop = make_shop()
    cart = Cart(shop=shop, token_digest="d" * 64, created_at=NOW, updated_at=NOW, expires_at=NOW + timedelta(days=7))
    given = {
        "key": "p1-0123456789ab",
        "qty": 2,
        "price_snapshot": Decimal("12.50"),
        "name_snapshot": "Becher “100 %”",
        "image_snapshot": None,
        "options": [{"id": 1, "name": "Glaze", "value": "blue", "price": "1.00", "value_id": 2}],
        "custom_fields": [{"name": "Dedication", "value": "for %s"}],
        "custom_price": Decimal("3.00"),
        "is_damaged": True,
    }
    return cart, CartLine(shop=shop, product=make_product(shop), created_at=NOW, **given | line)


def stored(row: Cart | CartLine) -> dict:
    return {name: value for name, value in vars(row).items() if not name.startswith("_")}


def test_a_cart_and_its_line_are_read_back_as_they_were_written(db):
    cart, line = cart_and_line()
    sql.insert_cart(cart, line)
    assert line.cart_id == cart.pk
    assert stored(Cart.objects.get()) == stored(cart)
    assert stored(CartLine.objects.get()) == stored(line)


def test_inserted_row_is_updated_by_save(db):
    cart, line = cart_and_line()
    sql.insert_cart(cart, line)
    line.qty = 3
    line.save()
    cart.save()
    assert CartLine.objects.get().qty == 3


@pytest.mark.django_db(transaction=True)
def test_no_cart_is_created_if_its_line_cannot_be_inserted():
    cart, line = cart_and_line(qty=0)
    with pytest.raises(IntegrityError):
        sql.insert_cart(cart, line)
    assert not Cart.objects.exists()
