from tests.carts.factories import add, filled, only_key, quantities
from tests.catalogue.factories import make_option, make_product


def test_all_of_the_stock_can_be_added(shop, api):
    assert add(api, make_product(shop, stock_qty=3), 3).status_code == 201


def test_refuses_more_than_stock_and_says_what_is_left(shop, api):
    answer = add(api, make_product(shop, "Mug", stock_qty=3), 4)
    assert (answer.status_code, answer.json()["code"], answer.json()["available"]) == (422, "insufficient_stock", 3)
    assert "Mug" in answer.json()["message"]


def test_pieces_already_in_the_cart_count(shop, api):
    mug = make_product(shop, stock_qty=3)
    token = filled(api, mug, 2)
    assert add(api, mug, 2, cart=token).json()["available"] == 1


def test_other_lines_with_the_same_stock_count(shop, api):
    mug = make_product(shop, stock_qty=3)
    option = make_option(mug, values={"Gold": "0.00"})
    token = filled(api, mug, 2)
    answer = add(api, mug, 2, cart=token, options={str(option.pk): option.values.get().pk})
    assert (answer.json()["code"], answer.json()["available"]) == ("insufficient_stock", 1)


def test_other_carts_do_not_reserve_stock(shop, api):
    mug = make_product(shop, stock_qty=3)
    filled(api, mug, 3)
    assert add(api, mug, 3).status_code == 201
    mug.refresh_from_db()
    assert mug.stock_qty == 3


def test_backordered_and_untracked_products_sell_past_zero(shop, api):
    for given in ({"allow_backorders": True}, {"track_inventory": False}):
        assert add(api, make_product(shop, stock_qty=0, **given), 50).status_code == 201


def test_negative_stock_counts_as_none_left(shop, api):
    mug = make_product(shop, stock_qty=-2, allow_backorders=True)
    token = filled(api, mug, 1)
    type(mug).objects.update(allow_backorders=False, stock_qty=0)
    assert add(api, mug, 1, cart=token).json()["available"] == 0


def test_change_to_more_than_stock_does_not_change_the_line(shop, api):
    mug = make_product(shop, stock_qty=3)
    token = filled(api, mug, 2)
    answer = api.patch(f"/cart/{only_key(api, token)}", {"qty": 4}, cart=token)
    assert (answer.status_code, answer.json()["code"], answer.json()["available"]) == (422, "insufficient_stock", 3)
    assert list(quantities(api, token).values()) == [2]


def test_a_change_counts_the_other_lines(shop, api):
    mug = make_product(shop, stock_qty=3)
    token = filled(api, mug, 1)
    add(api, mug, 1, cart=token, custom_fields=[{"name": "To", "value": "Ada"}])
    assert api.patch(f"/cart/p{mug.pk}", {"qty": 3}, cart=token).json()["available"] == 2


def test_quantity_of_a_sold_out_product_can_be_lowered(shop, api):
    mug = make_product(shop, stock_qty=5)
    token = filled(api, mug, 5)
    mug.stock_qty = 0
    mug.save()
    assert api.patch(f"/cart/p{mug.pk}", {"qty": 4}, cart=token).status_code == 200


def test_quantity_of_an_unavailable_product_cannot_be_raised(shop, api):
    mug = make_product(shop)
    token = filled(api, mug)
    mug.status = "draft"
    mug.save()
    assert api.patch(f"/cart/p{mug.pk}", {"qty": 2}, cart=token).json()["code"] == "product_unavailable"
    assert api.patch(f"/cart/p{mug.pk}", {"qty": 0}, cart=token).status_code == 200
