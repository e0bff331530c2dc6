"""Limits on the rows that anonymous visitors can create."""

import pytest
from django.contrib.sessions.models import Session

from storefront.carts.models import Cart
from storefront.server import environment
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.customers.factories import make_customer
from tests.website.accounts import Member, link_in


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", stock_qty=1000)


@pytest.fixture(autouse=True)
def few(settings) -> None:
    few = {"baskets": "2/hour", "accounts": "3/hour", "accounts_each": "2/hour"}
    settings.LIMITS = settings.LIMITS | {name: environment.limits("UNSET", text) for name, text in few.items()}


def add(visitor: Shopper, product, **given):
    return visitor.post("/basket/add", {"product": product.pk, "qty": "1", "axis-0": "typed"}, **given)


def test_limits_new_baskets_per_network(shop, other_shop, mug):
    answers = [add(Shopper(shop), mug) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [302, 302, 429]
    assert answers[-1]["Retry-After"] in ("3599", "3600")
    page = answers[-1].content.decode()
    assert "Too many attempts. Please try again in 60 minutes." in page
    assert "Mug" in page
    assert (Cart.objects.count(), Session.objects.count()) == (2, 2)
    assert add(Shopper(shop), mug, REMOTE_ADDR="192.0.2.9").status_code == 302
    assert add(Shopper(other_shop), make_product(other_shop)).status_code == 302


def test_htmx_shows_the_limit_too(shop, mug):
    for _ in range(2):
        add(Shopper(shop), mug)
    answer = add(Shopper(shop), mug, headers={"HX-Request": "true"})
    assert answer.status_code == 429
    assert "Please try again in" in answer.content.decode()
    # htmx is configured to show responses with this status, like other refusals.
    assert '{"code":"429","swap":true}' in Shopper(shop).get(f"/products/{mug.slug}").content.decode()


def test_filling_an_existing_basket_is_not_limited(shop, mug):
    visitor = Shopper(shop)
    assert [add(visitor, mug).status_code for _ in range(5)] == [302] * 5


def test_the_baskets_of_signed_in_customers_are_not_limited(shop, mug):
    make_customer(shop)
    for _ in range(2):
        add(Shopper(shop), mug)
    for _ in range(3):
        browser = Shopper(shop)
        browser.sign_in()
        assert add(browser, mug).status_code == 302
    assert Cart.objects.filter(customer__isnull=False).count() == 1


def test_signing_out_without_a_sign_in_creates_no_session(shop):
    for _ in range(3):
        assert Shopper(shop).post("/account/sign-out", {}).status_code == 303
    assert not Session.objects.exists()


def test_viewing_the_shop_creates_no_session(shop, mug):
    visitor = Shopper(shop)
    pages = ("/", "/products", f"/products/{mug.slug}", "/basket", "/checkout", "/account", "/account/sign-in")
    for path in (
        *pages,
        "/account/register",
        "/account/link?email=x",
        "/account/password",
        "/account/e-mail",
        "/nowhere",
    ):
        visitor.get(path)
    visitor.post("/account/sign-in", {"email": "ada@example.com", "password": "wrong"})
    visitor.post("/basket/update", {"key": "p1", "qty": "1"})
    visitor.post("/basket/add", {"product": "99999", "qty": "1"})
    visitor.post("/checkout", {})
    assert not Session.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_an_emailed_link_creates_a_limited_number_of_sessions(shop, mailbox):
    member = Member(shop, mailbox)
    member.request_link("register")
    link = link_in(member.mails()[-1])
    answers = [Member(shop, mailbox).follow(link) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [303, 303, 429, 429]
    assert int(answers[-1]["Retry-After"]) > 0
    assert "Please try again in" in answers[-1].content.decode()
    assert Session.objects.count() == 2
