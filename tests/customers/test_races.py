"""Concurrent changes of one customer, with threads and transactions, on both databases."""

import pytest

from storefront.carts import actions as carts
from storefront.carts.models import Cart, CartLine
from storefront.customers import actions
from storefront.customers.links import LinkRefused, Proof, mark_of
from storefront.customers.models import Address, Customer
from storefront.kit import clock
from tests.addresses import ADDRESS
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.client import ApiClient
from tests.customers.factories import PASSWORD, add_address, events, make_customer
from tests.races import run_concurrently

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_one_email_address_posted_twice_at_once_creates_one_customer(shop, app, form):
    rivals = [ApiClient(app.token, prefix=form) for _ in range(6)]
    bodies = [{"email": email} for email in ("ada@example.com", "ADA@example.com", "Ada@Example.com") * 2]
    pairs = list(zip(rivals, bodies, strict=True))
    answers = run_concurrently(*(lambda r=r, b=b: r.post("/customers", b) for r, b in pairs))
    assert sorted(answer.status_code for answer in answers) == [201] + [422] * 5
    assert {str(answer.json().get("errors")) for answer in answers if answer.status_code == 422} == {
        "{'email': ['Another customer already has this email address.']}"
    }
    assert Customer.objects.count() == 1
    assert [topic for topic, _ in events(shop)] == ["customer.created"]


def test_two_concurrent_changes_are_both_saved(shop, app, form):
    ada = make_customer(shop)
    rivals = [ApiClient(app.token, prefix=form) for _ in range(2)]
    for _ in range(4):
        Customer.objects.update(name="", phone="")
        run_concurrently(
            lambda: rivals[0].patch(f"/customers/{ada.pk}", {"name": "Ada"}),
            lambda: rivals[1].patch(f"/customers/{ada.pk}", {"phone": "1"}),
        )
        ada.refresh_from_db()
        assert (ada.name, ada.phone) == ("Ada", "1")


def test_concurrent_address_changes_leave_one_default(shop):
    ada = make_customer(shop)
    book = [add_address(ada) for _ in range(3)]
    now = clock.now()

    def make_default(address):
        actions.save_address(shop=shop, customer=ada, address_id=address.pk, now=now, fields={"is_default": True})

    for _ in range(3):
        run_concurrently(
            *(lambda address=address: make_default(address) for address in book),
            lambda: actions.save_address(
                shop=shop, customer=ada, address_id=None, now=now, fields=ADDRESS | {"is_default": True}
            ),
        )
        assert Address.objects.filter(customer=ada, is_default=True).count() == 1


def test_one_link_used_in_two_browsers_at_once_sets_one_password(shop):
    now = clock.now()
    for email, customer in (("new@example.com", None), ("ada@example.com", make_customer(shop))):
        proof = Proof(email, mark_of(customer), int(now.timestamp()) + 60)

        def choose(number, proof=proof):
            try:
                return actions.choose_password(shop=shop, proof=proof, password=f"{PASSWORD} {number}", now=now)
            except LinkRefused:
                return None

        chosen = run_concurrently(*(lambda number=number: choose(number) for number in range(4)))
        assert sum(each is not None for each in chosen) == 1
        stored = Customer.objects.get(email=email)
        assert stored.password == next(each.password for each in chosen if each)


def test_two_concurrent_sign_ins_merge_the_basket_once(shop):
    make_customer(shop)
    mug = make_product(shop, stock_qty=100)
    for turn in range(1, 3):
        visitor = Shopper(shop)
        visitor.post("/basket/add", {"product": mug.pk, "qty": 2})
        tabs = [Shopper(shop) for _ in range(4)]
        for tab in tabs:
            tab.browser.cookies["storefront_session"] = visitor.browser.cookies["storefront_session"].value
        answers = run_concurrently(
            *(
                lambda tab=tab: tab.post("/account/sign-in", {"email": "ada@example.com", "password": PASSWORD})
                for tab in tabs
            )
        )
        assert [answer.status_code for answer in answers].count(303) >= 1
        assert {answer.status_code for answer in answers} <= {303, 400}
        assert CartLine.objects.get().qty == 2 * turn
        assert Cart.objects.filter(customer__isnull=False).count() == 1


def test_two_devices_that_start_a_basket_at_once_share_it(shop):
    ada = make_customer(shop)
    now = clock.now()
    for _ in range(4):
        Cart.objects.all().delete()
        found = run_concurrently(*[lambda: carts.open_customer_cart(shop=shop, customer=ada, now=now)] * 4)
        assert len({cart.pk for cart in found}) == 1


def test_baskets_of_two_browsers_merge_completely_at_concurrent_sign_ins(shop):
    make_customer(shop)
    products = [make_product(shop) for _ in range(4)]
    visitors = [Shopper(shop) for _ in products]
    for visitor, product in zip(visitors, products, strict=True):
        visitor.post("/basket/add", {"product": product.pk, "qty": 1})
    run_concurrently(*(lambda visitor=visitor: visitor.sign_in() for visitor in visitors))
    cart = Cart.objects.get(customer__isnull=False)
    assert set(cart.lines.values_list("product_id", "qty")) == {(product.pk, 1) for product in products}
