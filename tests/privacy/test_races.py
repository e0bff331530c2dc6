"""A person is erased while they order, while two erase them, and while their order is being placed."""

import pytest
from django.db import connection, transaction

from storefront.customers.models import Customer
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.payments.frozen import freeze_sale
from storefront.payments.models import OrderDraft
from storefront.payments.placing import place_order
from storefront.privacy import actions, jobs
from storefront.privacy.models import DataRequest
from storefront.privacy.person import PersonNeeded
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.customers.factories import make_customer
from tests.orders.factories import sale, sale_line
from tests.privacy.lives import EMAIL, live, sold
from tests.races import run_after_waiting_for, run_concurrently

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("has_account", [True, False])
def test_ordering_while_being_erased_is_a_whole_order_or_no_order(shop, has_account):
    """Never half of it, and never an error for the shopper."""
    mug, seen = make_product(shop, "Mug", stock_qty=100), set()
    for number in range(6):
        email = f"ada{number}@example.com"
        customer = make_customer(shop, email) if has_account else None
        old = sold(shop, email, customer_id=customer.pk if customer else None)
        shopper = Shopper(shop)
        shopper.browser.defaults["REMOTE_ADDR"] = f"192.0.2.{number}"
        if has_account:
            shopper.sign_in(email)
        shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
        shopper.fill_details(email=email)
        fields = shopper.payment_fields()
        answer, erased = run_concurrently(
            lambda fields=fields, shopper=shopper: shopper.post("/checkout/payment", fields),
            lambda email=email: actions.erase_now(shop=shop, email=email, now=clock.now()),
            refusal=PersonNeeded,
        )
        assert answer.status_code < 500
        new = Order.objects.exclude(pk=old.pk).filter(pk__gt=old.pk).first()
        old.refresh_from_db()
        was_refused = isinstance(erased, PersonNeeded)
        assert (old.erased_at is None) == was_refused
        if new is not None:
            assert (new.email, new.billing_address["name"], new.erased_at) == (email, "Ada Lovelace", None)
            assert new.customer_id == (customer.pk if customer and was_refused else None)
        seen.add((was_refused, new is not None))
    assert (True, False) not in seen


def test_two_who_erase_at_once_erase_once(shop):
    live(shop)
    request = actions.open_request(shop=shop, email=EMAIL, now=clock.now())
    refusals = (actions.RequestAtWork, actions.PersonErased)
    begun = run_concurrently(
        *[lambda: actions.start_erasure(shop=shop, request=request, now=clock.now())] * 3, refusal=refusals
    )
    assert sum(isinstance(each, DataRequest) for each in begun) == 1
    run_concurrently(*[lambda: jobs.run_erasure.func(request.shop_id, request.pk)] * 3)
    assert DataRequest.objects.get().state == "erased"
    assert Event.objects.filter(topic="customer.erased").count() == 1
    assert Event.objects.filter(topic="order.updated", data__email="").count() == 2


@pytest.mark.skipif(connection.vendor != "postgresql", reason="on SQLite one transaction writes at a time")
def test_an_order_that_is_placed_while_its_account_goes_is_a_guests(shop):
    ada, mug = make_customer(shop), make_product(shop, "Mug", stock_qty=5)
    sold = sale(sale_line(mug), customer_id=ada.pk)
    times = {"created_at": clock.now(), "expires_at": clock.now()}
    given = {"email": EMAIL, "total": 1, "currency": "EUR", "digest": "", "basket": {"lines": [], "arrivals": []}}
    draft = OrderDraft.objects.create(shop=shop, sale=freeze_sale(sold), **given, **times)

    def place() -> Order:
        with transaction.atomic():
            return place_order(shop=shop, draft=draft, sale=sold, payments=[], now=clock.now())

    order = run_after_waiting_for(lambda: Customer.objects.filter(pk=ada.pk).delete(), place)
    assert Order.objects.get(pk=order.pk).customer_id is None
