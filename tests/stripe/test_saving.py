"""Customers who save a card in the checkout, and pay with it the next time."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django_tasks_db.models import DBTaskResult

from storefront.kit import clock
from storefront.orders.models import Order
from storefront.payments.accounts import identify_account, save_settings
from storefront.payments.jobs import find_account
from storefront.payments.models import Payment, ProviderAccount, SavedMethod
from storefront.payments.providers.base import ProviderUnavailable
from storefront.payments.providers.registry import PROVIDERS
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.customers.factories import make_customer
from tests.shops.factories import make_shop
from tests.staff import admin_url
from tests.stripe.client import KEYS
from tests.stripe.selling import offer_stripe, run_worker

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

PAYS, NO_FUNDS, ASKS = "4242424242424242", "4000000000009995", "4000002760003184"
OFFER = "Save this method for next time"


@pytest.fixture
def mug(shop, fake):
    offer_stripe(shop)
    return make_product(shop, "Mug", price=Decimal("9.50"), stock_qty=10)


@pytest.fixture
def ada(shop):
    return make_customer(shop, "ada@example.com")


def visitor(shop, product) -> Shopper:
    shopper = Shopper(shop)
    shopper.post("/basket/add", {"product": product.pk, "qty": "1"})
    return shopper


def signed_in(shop, product, email="ada@example.com") -> Shopper:
    shopper = Shopper(shop)
    shopper.sign_in(email)
    shopper.post("/basket/add", {"product": product.pk, "qty": "1"})
    return shopper


def save(fake, customer, number: str = PAYS) -> SavedMethod:
    """A card that the customer saved earlier."""
    method = fake("method", number=number)
    ids = {"customer_reference": method["customer"], "method_reference": method["id"]}
    label = {"label": f"Visa •••• {number[-4:]}", "expires": "12/29"}
    own = {"shop": customer.shop, "customer": customer, "provider": "stripe", "created_at": clock.now()}
    return SavedMethod.objects.create(**own, **ids, **label)


def pay_step(shopper) -> str:
    """Fill in the checkout as far as the payment step. Returns its text."""
    assert shopper.fill_details().status_code == 303
    return shopper.read("/checkout/payment")


@pytest.mark.parametrize("settles", ["return", "worker"])
def test_a_ticked_card_is_saved_once_the_order_is_paid(shop, mug, ada, fake, settles):
    shopper = signed_in(shop, mug)
    assert OFFER in pay_step(shopper)
    shopper.order("stripe", saves_method="stripe")
    assert not SavedMethod.objects.exists()
    fake("confirm", intent=fake.intent()["id"], number=PAYS)

    if settles == "return":
        shopper.get(f"/checkout/payment/{Payment.objects.get().public_id}/return")
    run_worker(after=timedelta(minutes=2))

    kept = SavedMethod.objects.get()
    assert (kept.shop, kept.customer, kept.label, kept.expires) == (shop, ada, "Visa •••• 4242", "12/34")
    assert kept.customer_reference == fake.objects("customer")[0]["id"]
    assert Order.objects.get().payment_status == "paid"


def test_nothing_is_saved_without_the_tick(shop, mug, ada, fake):
    signed_in(shop, mug).order("stripe")
    fake("confirm", intent=fake.intent()["id"], number=PAYS)
    run_worker(after=timedelta(minutes=2))

    assert Order.objects.get().customer == ada
    assert not SavedMethod.objects.exists()
    assert fake.objects("customer") == []


def test_a_visitor_saves_nothing_whatever_is_sent(shop, mug, fake):
    shopper = visitor(shop, mug)
    assert OFFER not in pay_step(shopper)

    shopper.order("stripe", saves_method="stripe")

    assert not Payment.objects.get().saves_method
    assert fake.objects("customer") == []


def test_no_answer_about_the_card_leaves_the_order_paid(shop, mug, ada, fake):
    signed_in(shop, mug).order("stripe", saves_method="stripe")
    fake("confirm", intent=fake.intent()["id"], number=PAYS)
    fake.fail("GET /v1/payment_methods", "broken")

    run_worker(after=timedelta(minutes=2))

    assert Order.objects.get().payment_status == "paid"
    assert not SavedMethod.objects.exists()


def test_a_saved_card_pays_without_a_form(shop, mug, ada, fake):
    kept = save(fake, ada)
    shopper = signed_in(shop, mug)
    page = pay_step(shopper)
    assert "Visa •••• 4242, expires 12/29" in page
    assert kept.method_reference not in page
    assert kept.customer_reference not in page

    answer = shopper.order(f"saved-{kept.pk}")

    order = Order.objects.get()
    assert answer["Location"] == f"/orders/{order.public_id}"
    assert (order.payment_status, order.customer) == ("paid", ada)
    assert fake.intent()["customer"] == kept.customer_reference


def test_a_declined_saved_card_leads_to_the_form(shop, mug, ada, fake):
    kept = save(fake, ada, NO_FUNDS)
    shopper = signed_in(shop, mug)

    answer = shopper.order(f"saved-{kept.pk}")

    page = shopper.read(answer["Location"])
    assert "insufficient funds" in page
    assert 'id="stripe-fields"' in page
    assert not Order.objects.exists()


def test_a_bank_that_asks_leads_to_the_confirmation(shop, mug, ada, fake):
    kept = save(fake, ada, ASKS)
    shopper = signed_in(shop, mug)

    answer = shopper.order(f"saved-{kept.pk}")

    page = shopper.read(answer["Location"])
    assert "Your bank asks you to confirm this payment." in page
    assert 'id="stripe-fields"' not in page


def test_another_choice_is_another_payment(shop, mug, ada, fake):
    first, second = save(fake, ada, NO_FUNDS), save(fake, ada)
    shopper = signed_in(shop, mug)
    shopper.order(f"saved-{first.pk}")
    fields = shopper.payment_fields(f"saved-{second.pk}")

    shopper.post("/checkout/payment", fields)

    assert [each["status"] for each in fake.objects("payment_intent")] == ["succeeded", "canceled"]


def test_nobody_else_is_offered_it_or_charged_by_it(shop, mug, ada, fake):
    make_customer(shop, "bob@example.com")
    elsewhere = make_shop("other.example.com")
    offer_stripe(elsewhere)
    make_customer(elsewhere, "ada@example.com")
    cup = make_product(elsewhere, "Cup", price=Decimal("5.00"), stock_qty=10)
    kept = save(fake, ada)
    others = [visitor(shop, mug), signed_in(shop, mug, "bob@example.com"), signed_in(elsewhere, cup)]

    for shopper in others:
        assert "•••• 4242" not in pay_step(shopper)
        assert shopper.order(f"saved-{kept.pk}").status_code == 422

    assert not Payment.objects.exists()
    assert fake.objects("payment_intent") == []


def test_signing_out_in_another_tab_ends_the_offer(shop, mug, ada, fake):
    kept = save(fake, ada)
    shopper = signed_in(shop, mug)
    pay_step(shopper)
    fields = shopper.payment_fields(f"saved-{kept.pk}")
    shopper.post("/account/sign-out", {})

    shopper.post("/checkout/payment", fields)

    assert fake.objects("payment_intent") == []


def test_the_account_lists_and_removes_it(shop, mug, ada, fake):
    kept = save(fake, ada)
    shopper = signed_in(shop, mug)
    page = shopper.read("/account")
    assert "Visa •••• 4242, expires 12/29" in page
    assert kept.method_reference not in page

    for _ in range(2):
        shopper.post(f"/account/payment-methods/{kept.pk}/delete", {})

    assert not SavedMethod.objects.exists()
    assert fake.objects("payment_method")[0]["customer"] is None


def test_it_goes_though_stripe_has_forgotten_it(shop, mug, ada, fake):
    kept = save(fake, ada)
    SavedMethod.objects.update(method_reference="pm_gone")

    signed_in(shop, mug).post(f"/account/payment-methods/{kept.pk}/delete", {})

    assert not SavedMethod.objects.exists()


def test_it_stays_where_stripe_does_not_answer(shop, mug, ada, fake):
    kept = save(fake, ada)
    fake.fail("detach", "broken")
    shopper = signed_in(shop, mug)

    answer = shopper.post(f"/account/payment-methods/{kept.pk}/delete", {}, follow=True)

    assert "could not be removed at the moment" in answer.content.decode()
    assert SavedMethod.objects.exists()


def test_nobody_else_removes_it(shop, mug, ada, fake):
    make_customer(shop, "bob@example.com")
    elsewhere = make_shop("other.example.com")
    make_customer(elsewhere, "ada@example.com")
    cup = make_product(elsewhere, "Cup", price=Decimal("5.00"), stock_qty=10)
    kept = save(fake, ada)
    path = f"/account/payment-methods/{kept.pk}/delete"

    for shopper in [signed_in(shop, mug, "bob@example.com"), signed_in(elsewhere, cup)]:
        assert shopper.post(path, {}).status_code == 404
    assert visitor(shop, mug).post(path, {})["Location"].startswith("/account/sign-in")

    assert SavedMethod.objects.exists()
    assert fake.objects("payment_method")[0]["customer"] == kept.customer_reference


def change_keys(shop, fake, account: str) -> None:
    """The merchant enters other secrets, those of this account."""
    fake("configure", account_id=account)
    given = KEYS | {"webhook_secret": f"whsec_{account}", "capture": "at_once"}
    save_settings(shop=shop, provider=PROVIDERS["stripe"], given=given, now=clock.now())


def test_methods_of_another_account_are_not_offered(shop, mug, ada, fake):
    kept = save(fake, ada)
    identify_account(shop=shop, name="stripe")
    kept.refresh_from_db()
    assert kept.account_reference == "acct_fake"

    for account, offered in (("acct_other", False), ("acct_fake", True)):
        change_keys(shop, fake, account)
        shopper = signed_in(shop, mug)
        assert "•••• 4242" not in pay_step(shopper), "nobody knows yet whose secrets these are"
        identify_account(shop=shop, name="stripe")
        assert ("•••• 4242" in shopper.read("/checkout/payment")) == offered
        if not offered:
            assert shopper.order(f"saved-{kept.pk}").status_code == 422
    assert "•••• 4242" in shopper.read("/account")
    assert fake.objects("payment_intent") == []


def test_a_saved_card_belongs_to_the_account_that_took_it(shop, mug, ada, fake):
    change_keys(shop, fake, "acct_second")
    signed_in(shop, mug).order("stripe", saves_method="stripe")
    fake("confirm", intent=fake.intent()["id"], number=PAYS)
    run_worker(after=timedelta(minutes=2))

    assert SavedMethod.objects.get().account_reference == "acct_second"
    assert "Visa •••• 4242" in pay_step(signed_in(shop, mug))


def test_the_worker_learns_whose_changed_secrets_are(shop, mug, ada, fake, desk):
    account = ProviderAccount.objects.get()
    desk.post(admin_url(account, "change"), KEYS | {"webhook_secret": "whsec_new", "capture": "at_once"})
    tasks = DBTaskResult.objects.filter(task_path__endswith="find_account").order_by("enqueued_at")
    assert [task.args_kwargs["args"] for task in tasks] == [[shop.pk, account.pk]]
    fake.fail("GET /v1/account", "broken")
    find_account.call(shop.pk, account.pk)
    # No answer: asked again later.
    assert (ProviderAccount.objects.get().account_reference, len(tasks.all())) == ("", 2)
    find_account.call(shop.pk, account.pk, 1)
    assert (ProviderAccount.objects.get().account_reference, len(tasks.all())) == ("acct_fake", 2)


def test_secrets_that_change_while_they_are_asked_about_are_not_mistaken(shop, mug, fake, monkeypatch):
    ask = PROVIDERS["stripe"].account

    def changing(settings):
        found = ask(settings)
        change_keys(shop, fake, "acct_other")
        return found

    monkeypatch.setattr(PROVIDERS["stripe"], "account", changing)
    with pytest.raises(ProviderUnavailable):
        identify_account(shop=shop, name="stripe")
    assert ProviderAccount.objects.get().account_reference == ""
