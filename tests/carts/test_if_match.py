"""`ETag` and `If-Match` of carts: a write is carried out only on the cart that was read (R-CART-40)."""

from collections.abc import Callable
from typing import Any

import pytest

from storefront.carts.models import Cart
from tests.carts.factories import add, contents, filled
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.races import run_concurrently

Write = Callable[..., Any]


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", stock_qty=100)


WRITES: dict[str, Callable[[ApiClient, Any, str], Write]] = {
    "add": lambda api, mug, cart: (
        lambda **headers: api.post("/cart", {"product_id": mug.pk, "qty": 1}, cart=cart, **headers)
    ),
    "add lines": lambda api, mug, cart: (
        lambda **headers: api.post("/cart/lines", {"lines": [{"product_id": mug.pk, "qty": 1}]}, cart=cart, **headers)
    ),
    "change": lambda api, mug, cart: lambda **headers: api.patch(f"/cart/p{mug.pk}", {"qty": 7}, cart=cart, **headers),
    "remove": lambda api, mug, cart: lambda **headers: api.delete(f"/cart/p{mug.pk}", cart=cart, **headers),
    "empty": lambda api, mug, cart: lambda **headers: api.delete("/cart", cart=cart, **headers),
}


@pytest.fixture(params=WRITES)
def kind(request) -> str:
    return request.param


@pytest.fixture
def cart(api, mug) -> str:
    return filled(api, mug)


@pytest.fixture
def write(api, mug, cart, kind) -> Write:
    return WRITES[kind](api, mug, cart)


@pytest.mark.rule("R-CART-40")
def test_a_write_with_the_current_etag_is_carried_out_and_gives_the_next(api, cart, write):
    read = api.get("/cart", cart=cart)
    written = write(If_Match=read["ETag"])
    assert written.status_code in (200, 201)
    assert written["ETag"] == api.get("/cart", cart=cart)["ETag"] != read["ETag"]


@pytest.mark.rule("R-CART-40")
def test_a_write_with_an_old_etag_changes_nothing(api, cart, write):
    old = api.get("/cart", cart=cart)["ETag"]
    api.post("/cart", {"product_id": make_product(Cart.objects.get().shop).pk, "qty": 1}, cart=cart)
    now, expiry = api.get("/cart", cart=cart), Cart.objects.get().expires_at
    for named in (old, '"other"', f"W/{now['ETag']}", ""):
        answer = write(If_Match=named)
        assert (answer.status_code, answer.json()["code"]) == (412, "precondition_failed"), named
    assert api.get("/cart", cart=cart).content == now.content
    assert Cart.objects.get().expires_at == expiry
    assert write(If_Match=f'"other", {now["ETag"]}').status_code in (200, 201)


@pytest.mark.rule("R-CART-40")
def test_without_a_cart_no_etag_matches_and_none_is_made(api, mug, kind):
    for token in (None, "nonsense", "cart_" + "x" * 43):
        for named in ("*", '"other"'):
            assert WRITES[kind](api, mug, token)(If_Match=named).status_code == 412
    assert not Cart.objects.exists()
    assert not api.get("/cart").has_header("ETag")


@pytest.mark.rule("R-CART-40")
def test_the_etag_of_another_cart_does_not_match(api, mug, write):
    other = filled(api, mug)
    assert write(If_Match=api.get("/cart", cart=other)["ETag"]).status_code == 412


@pytest.mark.rule("R-CART-40")
def test_reads_and_writes_without_a_change_keep_the_etag(api, mug, cart):
    etags = {api.get("/cart", cart=cart)["ETag"] for _ in range(2)}
    etags.add(api.patch(f"/cart/p{mug.pk}", {"qty": 1}, cart=cart)["ETag"])
    assert len(etags) == 1


@pytest.mark.rule("R-CART-40")
def test_a_new_price_in_the_cart_is_a_new_etag(api, mug, cart):
    before = api.get("/cart", cart=cart)["ETag"]
    api.patch(f"/cart/p{mug.pk}", {"qty": 2}, cart=cart)
    back = api.patch(f"/cart/p{mug.pk}", {"qty": 1}, cart=cart)["ETag"]
    assert back == before
    type(mug).objects.filter(pk=mug.pk).update(price="11.00")
    api.patch(f"/cart/p{mug.pk}", {"qty": 0}, cart=cart)
    assert add(api, mug, cart=cart)["ETag"] != before


@pytest.mark.rule("R-CART-40")
def test_a_dry_run_checks_the_etag_too(api, mug, cart):
    etag, body = api.get("/cart", cart=cart)["ETag"], {"lines": [{"product_id": mug.pk, "qty": 1}]}
    assert api.post("/cart/lines?dry_run=1", body, cart=cart, If_Match=etag).status_code == 200
    assert api.post("/cart/lines?dry_run=1", body, cart=cart, If_Match='"other"').status_code == 412


@pytest.mark.slow
@pytest.mark.rule("R-CART-40")
@pytest.mark.django_db(transaction=True)
def test_of_writers_with_the_same_etag_exactly_one_is_carried_out(shop, api, mug, kind):
    for _ in range(3):
        cart = filled(api, mug)
        etag = api.get("/cart", cart=cart)["ETag"]
        rivals = [WRITES[kind](ApiClient(api.token), mug, cart) for _ in range(4)]
        answers = run_concurrently(*(lambda w=w, etag=etag: w(If_Match=etag).status_code for w in rivals))
        assert sorted(answers)[1:] == [412] * 3
        assert sorted(answers)[0] in (200, 201)
        assert sum(item["qty"] for item in contents(api, cart)["items"]) in (0, 2, 7)
