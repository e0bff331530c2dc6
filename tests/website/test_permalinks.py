"""Permalinks: what they bring to the basket, where they lead, and what they never do."""

import base64
import json
from urllib.parse import urlencode

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from storefront.carts.models import Cart, CartLine
from storefront.kit import clock
from storefront.staff import doors
from tests.catalogue.factories import make_option, make_product, make_variant
from tests.pricing.rows import make_code
from tests.races import run_concurrently


@pytest.fixture
def follow(visitor):
    """`follow("/buy/p1:2")` follows the link and returns the page that it leads to."""

    def send(path: str, **query: str) -> str:
        answer = visitor.get(path, query_params=query)
        assert answer.status_code == 303, answer.content
        return visitor.get(answer["Location"]).content.decode()

    return send


def lines() -> list[tuple[str, int]]:
    return list(CartLine.objects.order_by("product_id", "variant_id").values_list("key", "qty"))


def test_fills_the_basket_with_products_and_variants(shop, follow):
    cup, shirt = make_product(shop, "Cup"), make_product(shop, "Shirt", type="variable")
    small, large = make_variant(shirt, "S"), make_variant(shirt, "L")
    token = "~" + base64.urlsafe_b64encode(f"v{large.pk}".encode()).decode().rstrip("=")
    shown = follow(f"/buy/p{cup.pk}:2,v{small.pk}:1,{token}:3")
    assert "Cup" in shown
    assert "Shirt" in shown
    assert lines() == [
        (f"p{cup.pk}", 2),
        (f"p{shirt.pk}-v{small.pk}", 1),
        (f"p{shirt.pk}-v{large.pk}", 3),
    ]


def test_following_it_again_does_not_double(shop, follow):
    cup = make_product(shop, "Cup")
    follow(f"/buy/p{cup.pk}:2")
    follow(f"/buy/p{cup.pk}:2")
    assert lines() == [(f"p{cup.pk}", 2)]
    follow(f"/buy/p{cup.pk}:5")
    follow(f"/buy/p{cup.pk}:1")
    assert lines() == [(f"p{cup.pk}", 5)]


def test_a_program_that_goes_no_further_makes_nothing(shop, visitor):
    cup = make_product(shop, "Cup")
    answer = visitor.get(f"/buy/p{cup.pk}:2")
    assert (answer.status_code, answer["Cache-Control"], answer["Referrer-Policy"]) == (303, "no-store", "no-referrer")
    Client(headers={"host": shop.domain}).get(answer["Location"])
    visitor.get(answer["Location"], headers={"sec-purpose": "prefetch"})
    assert not Cart.objects.exists()
    assert not Session.objects.exists()


def test_another_shop_does_not_accept_what_this_one_stored(shop, other_shop, visitor):
    cup = make_product(other_shop, "Cup")
    answer = visitor.get(f"/buy/p{cup.pk}:2")
    elsewhere = Client(headers={"host": other_shop.domain})
    elsewhere.cookies.load(visitor.cookies.output(header="", attrs=[]))
    assert "Your basket is empty" in elsewhere.get("/basket").content.decode()
    assert "not available" in visitor.get(answer["Location"]).content.decode()
    assert not CartLine.objects.exists()


def test_a_product_with_a_choice_leads_to_its_page(shop, visitor):
    shirt = make_product(shop, "Shirt", type="variable")
    make_variant(shirt, "S")
    make_variant(shirt, "L")
    assert visitor.get(f"/buy/p{shirt.pk}:1")["Location"].endswith("/products/shirt")
    mug = make_product(shop, "Mug")
    make_option(mug, "Engraving", type="text", required=True)
    assert visitor.get(f"/buy/p{mug.pk}:1")["Location"].endswith("/products/mug")


def test_what_cannot_be_sold_is_named_and_the_rest_stands(shop, follow):
    cup, bowl = make_product(shop, "Cup"), make_product(shop, "Bowl", stock_qty=1)
    shown = follow(f"/buy/p{bowl.pk}:2,p{cup.pk}:1")
    assert "Bowl: " in shown
    assert lines() == [(f"p{cup.pk}", 1)]


@pytest.mark.parametrize(
    "items",
    ["p1", "p1:0", "p1:01", "p1:-1", "x%20y:1", "~%25:1", "~cDE=:1", "~cDF:1", "p1:1,", ",", "~AA:1", "sku 1:1"],
)
def test_malformed_items_lead_to_a_safe_page(shop, visitor, items):
    answer = visitor.get(f"/buy/{items}")
    assert (answer.status_code, answer["Location"]) == (303, f"http://{shop.domain}/")
    assert "cannot be read" in visitor.get(answer["Location"]).content.decode()
    assert not Cart.objects.exists()


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/products?sort=new", "/products?sort=new"),
        ("/a/../products", "/products"),
        ("//evil.example/x", "/basket"),
        ("/..//evil.example", "/evil.example"),
        ("/%2e%2e//evil.example", "/basket"),
        ("/\\evil.example", "/basket"),
        ("/%5cevil.example", "/basket"),
        ("https://evil.example", "/basket"),
        ("/x\r\nSet-Cookie: a=b", "/basket"),
        ("/ x", "/basket"),
        ("/buy/p1:1", "/basket"),
        ("javascript:alert(1)", "/basket"),
    ],
)
def test_leads_on_within_the_shop_alone(shop, visitor, path, location):
    cup = make_product(shop, "Cup")
    answer = visitor.get(f"/buy/p{cup.pk}:1", query_params={"continue_to": path})
    assert answer["Location"] == f"http://{shop.domain}{location}"


def test_two_destinations_are_none(shop, visitor):
    answer = visitor.get("/buy?continue_to=/products&continue_to=/")
    assert answer["Location"] == f"http://{shop.domain}/basket"


def test_passes_on_what_other_programs_read(shop, visitor):
    query = {
        "continue_to": "/products",
        "buyer/email": "alice@example.com",
        "/buyer/unknown": "foo",
        "attribution/utm_source": "email",
        "utm_medium": "sms",
        "color": "black",
        "access_token": "secret",
        "line_items/0/quantity": "5",
    }
    cup = make_product(shop, "Cup")
    answer = visitor.get(f"/buy/p{cup.pk}:1?{urlencode(query)}")
    assert answer["Location"] == f"http://{shop.domain}/products?utm_source=email&utm_medium=sms&color=black"
    visitor.get(answer["Location"])
    assert lines() == [(f"p{cup.pk}", 1)]


def test_enters_codes_and_the_place(shop, visitor, follow):
    make_code(shop, "SPRING10")
    cup = make_product(shop, "Cup")
    shown = follow(f"/buy/p{cup.pk}:1", **{"discounts/codes/0": "spring10", "discounts/codes/1": "NOPE"})
    assert Cart.objects.get().discount_codes == ["SPRING10"]
    assert "Spring" in shown


def test_a_forged_cookie_is_ignored(shop, visitor):
    visitor.cookies["storefront_permalink"] = json.dumps({"items": [[1, None, 1]]})
    assert visitor.get("/basket").status_code == 200
    assert not Cart.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_windows_at_once_do_not_double(shop, visitor):
    """The basket exists, without the product. Both windows fill it at the same time."""
    bowl, cup = make_product(shop, "Bowl"), make_product(shop, "Cup")
    visitor.get(visitor.get(f"/buy/p{bowl.pk}:1")["Location"])
    visitor.get(f"/buy/p{cup.pk}:2")
    windows = [Client(headers={"host": shop.domain}) for _ in range(4)]
    for window in windows:
        window.cookies.load(visitor.cookies.output(header="", attrs=[], sep=";"))
    run_concurrently(*(lambda window=window: window.get("/basket") for window in windows))
    assert lines() == [(f"p{bowl.pk}", 1), (f"p{cup.pk}", 2)]


def test_a_shop_behind_its_doors_fills_nothing_and_names_nothing(shop, visitor):
    mug, gone = make_product(shop, "Secretmug"), make_product(shop, "Secretgone", stock_qty=0)
    cup = make_product(shop, "Secretbox")
    make_option(cup, "Secretoption", {"Gold": "5.00"}, type="radio")
    visitor.get(f"/buy/p{mug.pk}:1,p{gone.pk}:1")
    doors.close_doors(shop=shop, now=clock.now())
    for path in ("/basket", "/door", f"/buy/p{cup.pk}:1"):
        answer = visitor.get(path)
        assert "secret" not in (answer.content.decode() + answer.get("Location", "")).lower(), path
    assert not Cart.objects.exists()
