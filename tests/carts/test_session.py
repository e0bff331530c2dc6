from types import SimpleNamespace

from storefront.carts import actions
from storefront.carts.session import basket_of, remember_basket
from tests.carts.factories import make_cart
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW


def visit(shop, session=None, now=NOW):
    return SimpleNamespace(shop=shop, session={} if session is None else session, now=now)


def test_a_basket_is_found_again(shop):
    cart = make_cart(shop)
    request = visit(shop)
    remember_basket(request, cart)
    assert basket_of(visit(shop, request.session)) == cart


def test_each_shop_has_its_own_basket(shop, other_shop):
    session = {}
    mine, theirs = make_cart(shop), make_cart(other_shop)
    remember_basket(visit(shop, session), mine)
    remember_basket(visit(other_shop, session), theirs)
    assert basket_of(visit(shop, session)) == mine
    assert basket_of(visit(other_shop, session)) == theirs


def test_new_visitor_has_no_basket(shop):
    assert basket_of(visit(shop)) is None


def test_expired_or_deleted_basket_is_none(shop):
    session = {}
    cart = make_cart(shop)
    remember_basket(visit(shop, session), cart)
    assert basket_of(visit(shop, session, now=cart.expires_at)) is None
    cart.delete()
    assert basket_of(visit(shop, session)) is None


def test_integrations_cart_never_becomes_a_basket(shop):
    request = visit(shop)
    cart = make_cart(shop, token_digest="0" * 64)
    remember_basket(request, cart)
    assert request.session == {}
    assert basket_of(visit(shop, {"baskets": {str(shop.pk): str(cart.public_id)}})) is None


def test_invalid_id_in_a_session_is_no_basket(shop):
    assert basket_of(visit(shop, {"baskets": {str(shop.pk): "nonsense"}})) is None


def test_a_basket_that_begins_in_the_shop_gets_no_token(shop):
    mug = make_product(shop)
    added = actions.add_line(shop=shop, now=NOW, product_id=mug.pk, qty=1, with_token=False)
    assert (added.token, added.cart.token_digest) == (None, None)


def test_basket_deleted_meanwhile_is_replaced_by_a_new_one(shop):
    mug, cart = make_product(shop), make_cart(shop)
    type(cart).objects.all().delete()
    added = actions.add_line(shop=shop, now=NOW, cart=cart, product_id=mug.pk, qty=1)
    assert added.cart.public_id != cart.public_id
    assert (added.line.qty, added.token) == (1, None)
