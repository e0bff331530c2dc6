"""The statements by hand that carts are written with: whole or not at all, and what the ORM reads back."""

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


def test_a_written_row_is_saved_again_and_not_inserted_again(db):
    cart, line = cart_and_line()
    sql.insert_cart(cart, line)
    line.qty = 3
    line.save()
    cart.save()
    assert CartLine.objects.get().qty == 3


@pytest.mark.django_db(transaction=True)
def test_where_the_line_cannot_be_written_there_is_no_cart():
    cart, line = cart_and_line(qty=0)
    with pytest.raises(IntegrityError):
        sql.insert_cart(cart, line)
    assert not Cart.objects.exists()
