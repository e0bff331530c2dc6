"""A shop whose doors are closed: the password page, who is let in, and what is not behind the doors."""

import json

import pytest
from django.core.management import call_command
from django.test import Client

from storefront.content.models import Page
from storefront.kit import clock
from storefront.shops.models import AuditEntry, Shop
from storefront.staff import doors
from tests.answers import words_of
from tests.catalogue.factories import make_category, make_product
from tests.checkout.shopper import link_to
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW
from tests.staff import Desk, admin_url

PAGES = ("/", "/products", "/products/mug", "/basket", "/search/suggestions?q=mu", "/account/sign-in", "/checkout")
HIDDEN = ("Secretcups", "Secretpage", "Mug")
NOWHERE = "7f1d3d1e-8c0d-4b3e-9d2d-2b0c9ad4d111"


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug")


@pytest.fixture
def password(shop, mug) -> str:
    return doors.close_doors(shop=shop, now=clock.now())


def browser(shop: Shop) -> Client:
    return Client(headers={"host": shop.domain})


def enter(client: Client, password: str, path: str = "/products/mug"):
    return client.post("/door", {"password": password, "next": path})


def test_no_page_shows_anything_but_the_password_page(shop, other_shop, password):
    visitor = browser(shop)
    for path in PAGES:
        answer = visitor.get(path)
        assert (answer.status_code, answer["X-Robots-Tag"]) == (403, "noindex"), path
        assert "Opening soon" in answer.content.decode()
        assert "Mug" not in words_of(answer.content.decode())
    assert visitor.post("/basket/add", {"product": "mug"}).status_code == 403
    assert visitor.get("/sitemap.xml").status_code == visitor.get("/sitemap-1.xml").status_code == 404
    assert visitor.get("/robots.txt").content == b"User-agent: *\nDisallow: /\n"
    # All other shops are open.
    assert browser(other_shop).get("/products").status_code == 200


def test_the_password_lets_in_until_there_is_another_one(shop, password):
    visitor = browser(shop)
    wrong = enter(visitor, "not-it")
    assert (wrong.status_code, "The password is incorrect." in wrong.content.decode()) == (422, True)
    answer = enter(visitor, f" {password.upper()} ")
    assert (answer.status_code, answer["Location"]) == (303, "/products/mug")
    assert visitor.get("/products/mug").status_code == 200
    assert enter(visitor, password, "https://evil.example.com")["Location"] == "/"
    shop.refresh_from_db()
    assert password not in shop.door_password
    doors.close_doors(shop=shop, now=clock.now())
    assert visitor.get("/products/mug").status_code == 403


def test_guesses_are_limited(shop, password):
    visitor = browser(shop)
    assert [enter(visitor, "guess").status_code for _ in range(11)][-2:] == [422, 429]
    assert enter(visitor, password).status_code == 429
    assert visitor.get("/").status_code == 403


def test_guesses_from_many_places_keep_nobody_elsewhere_out(shop, password):
    for number in range(51):
        browser(shop).post("/door", {"password": "guess"}, REMOTE_ADDR=f"203.0.113.{number}")
    assert enter(browser(shop), password).status_code == 303


def test_the_api_a_buyers_pages_and_signed_links_are_not_behind_the_doors(shop, api, mug, password):
    assert api.get("/products/mug").status_code == 200
    order = make_order(shop, sale_line(mug))
    assert "Opening soon" not in browser(shop).get(f"/orders/{order.public_id}").content.decode()
    cart = api.post("/cart", {"product_id": mug.pk, "qty": 1}).json()
    link = link_to(api, cart["cart_token"])
    visitor = browser(shop)
    assert visitor.get("/cart/resume?cart=forged").status_code >= 400
    assert visitor.get("/products/mug").status_code == 403
    assert visitor.get(link.removeprefix(shop.base_url)).status_code == 303
    assert visitor.get("/checkout").status_code == visitor.get("/products/mug").status_code == 200


def test_owners_open_and_close_the_doors(desk: Desk, shop):
    url = admin_url(shop, "change").replace("change/", "")
    assert "Close the doors?" in desk.get(f"{url}close-doors/").content.decode()
    shown = desk.post(f"{url}close-doors/")
    shop.refresh_from_db()
    assert "no-store" in shown["Cache-Control"]
    assert doors.is_closed(shop)
    assert enter(browser(shop), shown.context_data["secret"]).status_code == 303
    assert "Open the doors" in desk.get("/admin/").content.decode()
    desk.post(f"{url}open_doors/", {"_form_submitted": "on"})
    assert browser(shop).get("/products").status_code == 200
    actions = AuditEntry.objects.filter(shop=shop, action__startswith="shop.").values_list("action", flat=True)
    assert list(actions.order_by("id"))[1:] == ["shop.closed", "shop.opened"]


@pytest.mark.usefixtures("apart")
def test_with_hosts_of_their_own_the_way_to_the_checkout_takes_along_that_one_was_let_in(shop, mug, password):
    secure = Client(headers={"host": "secure.example.com"})
    visitor = browser(shop)
    assert secure.get(f"/{shop.domain}/checkout").status_code == 403
    for status in (403, 200):
        answer = secure.get(f"/{shop.domain}/arrive?next=/account/sign-in")
        handed = visitor.get(answer["Location"].removeprefix(shop.base_url))
        answer = secure.get(
            handed["Location"].removeprefix("https://secure.example.com").removeprefix("http://secure.example.com")
        )
        assert answer.status_code == 303
        assert secure.get(f"/{shop.domain}/account/sign-in").status_code == status
        enter_by_secure_host(visitor, shop, password)


def enter_by_secure_host(visitor: Client, shop: Shop, password: str) -> None:
    """The password is typed on the secure host, in a session of its own there, which lets in on the shop's host."""
    there = Client(headers={"host": "secure.example.com"})
    answer = there.post(f"/{shop.domain}/door", {"password": password, "next": "/products/mug"})
    answer = visitor.get(answer["Location"].removeprefix(shop.base_url))
    answer = there.get(answer["Location"].partition("secure.example.com")[2])
    assert visitor.get(answer["Location"].removeprefix(shop.base_url))["Location"] == "/products/mug"


def test_a_shop_is_made_with_closed_doors(db, capsys):
    given = ["--domain", "new.example.com", "--name", "New", "--base-url", "https://new.example.com"]
    call_command("createshop", *given, "--closed")
    made = json.loads(capsys.readouterr().out)
    visitor = browser(Shop.objects.get(pk=made["id"]))
    assert visitor.get("/").status_code == 403
    assert enter(visitor, made["password"], "/")["Location"] == "/"
    assert visitor.get("/").status_code == 200


@pytest.mark.usefixtures("apart")
def test_on_the_secure_host_the_password_page_needs_no_page_to_lead_to(shop, password):
    secure = Client(headers={"host": "secure.example.com"})
    door, home = f"/{shop.domain}/door", f"{shop.base_url}/arrive?next=/"
    assert [getattr(secure, method)(door).status_code for method in ("get", "head")] == [200, 200]
    for _ in range(2):
        answer = secure.post(door, {"password": password})
        assert (answer.status_code, answer["Location"]) == (303, home)
        doors.open_doors(shop=shop, now=clock.now())
    assert [getattr(secure, method)(door).get("Location") for method in ("get", "head")] == [home, home]


def check_hidden(answer, path: str) -> None:
    text = answer.content.decode()
    assert answer.status_code >= 400, path
    assert not [name for name in (*HIDDEN, "Search products", "All products") if name in text], path


@pytest.fixture
def secrets(shop, password):
    make_category(shop, "Secretcups")
    Page.objects.create(
        shop=shop, slug="secret", title="Secretpage", in_footer=True, is_published=True, created_at=NOW, updated_at=NOW
    )


def test_error_pages_show_nothing_of_a_closed_shop(shop, secrets, password):
    paths = ["products/mug/", "door/", ".well-known/x", "media/none.png", "documents/1", "downloads/x", "nothing"]
    paths += [f"{place}/{NOWHERE}" for place in ("exports", "orders", "checkout/payment")]
    visitor = browser(shop)
    for path in paths:
        check_hidden(visitor.get(f"/{path}"), path)
    forger = Client(headers={"host": shop.domain}, enforce_csrf_checks=True)
    check_hidden(forger.post("/door", {"password": "x"}), "door")
    enter(visitor, password)
    shown = visitor.get("/nothing").content.decode()
    assert all(name in shown for name in ("Secretcups", "Secretpage", "Search products", "All products"))


@pytest.mark.usefixtures("apart")
def test_error_pages_of_the_secure_host_show_nothing_of_a_closed_shop(shop, secrets):
    for path in (f"{shop.domain}/nothing", f"{shop.domain}/orders/{NOWHERE}"):
        check_hidden(Client(headers={"host": "secure.example.com"}).get(f"/{path}"), path)
