"""A person is erased: every table is looked through, and nothing of another shop is touched."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django_tasks_db.models import DBTaskResult

from storefront.catalogue.models import Product
from storefront.customers.models import Customer
from storefront.gift_cards.issuing import issue_card
from storefront.gift_cards.jobs import queue_due_cards
from storefront.kit import clock
from storefront.orders.models import Download, Order, OrderMail, OrderWord
from storefront.payments.jobs import pay_back_refunds
from storefront.payments.models import OrderDraft, Payment, SavedMethod
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.refunds import request_refund
from storefront.pricing.models import Redemption
from storefront.privacy import actions, jobs
from storefront.privacy.erasing import erase as carry_out
from storefront.privacy.models import DataRequest
from storefront.privacy.person import PersonNeeded, find_person
from storefront.shops.models import Shop
from storefront.stock_alerts.models import StockAlert
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Event
from tests.audit.entries import entries
from tests.catalogue.factories import make_product
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.privacy.lives import EMAIL, TRACES, live, rows_of, sold, traces
from tests.staff import make_staff
from tests.worker import run_due_tasks

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

# docs/privacy.md says that invoices stay as they were issued.
BROKEN = pytest.mark.disagrees
KEPT = ("documents_document",)


def asked(shop: Shop, email: str = EMAIL) -> DataRequest:
    return actions.open_request(shop=shop, email=email, now=clock.now())


def erase(shop: Shop) -> DataRequest:
    request = asked(shop, f" {EMAIL.upper()} ")
    actions.start_erasure(shop=shop, request=request, now=clock.now())
    run_due_tasks()
    request.refresh_from_db()
    return request


def test_no_table_has_a_trace_of_the_person_but_the_papers(shop):
    live(shop)
    assert {trace for _, trace in traces()} == set(TRACES)
    request = erase(shop)
    assert (request.state, request.email, request.reason, request.plan) == ("erased", "", "", None)
    assert traces(without=KEPT) == set()
    assert ("documents_document", "Lovelace") in traces()


def test_what_the_law_wants_kept_stays(shop):
    live(shop)
    figures = ("number", "total", "subtotal", "tax", "tax_lines", "refunded", "status", "payment_status", "placed_at")
    before = list(Order.objects.order_by("pk").values(*figures))
    money = list(Payment.objects.order_by("pk").values("amount", "captured", "reference", "gateway"))
    request = erase(shop)
    assert list(Order.objects.order_by("pk").values(*figures)) == before
    assert list(Payment.objects.order_by("pk").values("amount", "captured", "reference", "gateway")) == money
    order = Order.objects.first()
    assert {name: text for name, text in order.billing_address.items() if text} == {
        "country": "DE",
        "postal_code": "24103",
    }
    assert order.erased_at
    assert (order.customer_id, order.email, order.tags, order.metadata) == (None, "", [], {})
    assert [each["name"] for each in order.lines.first().options] == ["Engraving"]
    assert not Customer.objects.exists()
    for model in (SavedMethod, Download, OrderMail, OrderDraft):
        assert not model.objects.exists(), model
    assert (Redemption.objects.count(), Redemption.objects.exclude(email_digest="").count()) == (1, 0)
    assert not OrderWord.objects.filter(word__in=["ada", "lovelace", EMAIL]).exists()
    expected = {"account": 1, "saved_methods": 1, "orders": 2, "payments": 2, "invoices": 3, "gift_cards": 3}
    assert expected.items() <= request.erased.items()


def test_gift_cards_keep_their_balance_and_another_recipients_address(shop):
    live(shop)
    erase(shop)
    kept = {(card.email, card.message, str(card.balance)) for card in find_person(shop, "x").shop.gift_cards.all()}
    assert kept == {("grace@example.com", "", "10.00"), ("", "", "5.00")}


def test_the_same_address_in_another_shop_loses_nothing(shop, other_shop):
    live(shop)
    live(other_shop)
    # The link to a new password is sent before, as it counts as one of the shop's mails.
    run_due_tasks()
    before = rows_of(other_shop)
    erase(shop)
    assert rows_of(other_shop) == before
    assert len(before) > 30


@pytest.mark.rule("R-HOOK-29")
def test_apps_hear_of_it_and_earlier_events_have_the_id_alone(shop):
    app = install(shop, "read_customers", "read_orders")
    ada = live(shop)
    orders = list(Order.objects.order_by("pk").values_list("pk", flat=True))
    earlier = Event.objects.latest("pk").pk
    request = erase(shop)
    dispatch(clock.now())
    told = Event.objects.get(shop=shop, topic="customer.erased")
    assert told.data == {"id": request.pk, "customer_id": ada.pk, "order_ids": orders}
    assert [event.data for event in Event.objects.filter(topic="customer.created")] == [{"id": ada.pk}]
    before = Event.objects.filter(pk__lte=earlier, topic__startswith="order.")
    assert all(event.data == {"id": event.data["id"]} for event in before)
    after = Event.objects.filter(pk__gt=earlier, topic="order.updated").order_by("pk")
    assert [(event.data["id"], event.data["email"]) for event in after] == [(pk, "") for pk in orders]
    feed = app.api.get("/events?limit=100").json()["events"]
    assert feed[-1]["type"] == "customer.erased"


def unpaid(shop):
    make_order(shop, sale_line(make_product(shop, "Mug")), email=EMAIL)
    return "is not paid"


def unsent(shop):
    make_order(shop, sale_line(make_product(shop, "Mug")), email=EMAIL.upper())
    Order.objects.update(payment_status="paid")
    return "is not sent completely"


def refunding(shop):
    request_refund(shop=shop, order=sold(shop, EMAIL), now=clock.now())
    return "has a refund that is being carried out"


def undecided(shop):
    order = sold(shop, EMAIL)
    Payment.objects.filter(order=order).update(state="processing")
    return "has a payment whose outcome is not known yet"


def paying(shop):
    frozen = {"sale": {}, "basket": {}, "digest": "", "currency": "EUR", "total": 1, "created_at": clock.now()}
    OrderDraft.objects.create(shop=shop, email=EMAIL, expires_at=clock.now(), **frozen)
    return "is under way at the checkout"


def card_to_send(shop):
    later = clock.now() + timedelta(days=3)
    issue_card(shop=shop, value=Decimal(5), email=EMAIL, send_at=later, now=clock.now())
    return "is still to be sent"


def staff(shop):
    make_staff(shop, "ada")
    return "is the address of a member of your staff"


@pytest.mark.parametrize(
    "prepare", [unpaid, unsent, refunding, pytest.param(undecided, marks=BROKEN), paying, card_to_send, staff]
)
def test_is_refused_with_its_reason_while_something_is_to_do(shop, other_shop, prepare):
    reason = prepare(shop)
    before = rows_of(shop)
    with pytest.raises(PersonNeeded, match=reason):
        actions.start_erasure(shop=shop, request=asked(shop), now=clock.now())
    DataRequest.objects.all().delete()
    assert {name: rows for name, rows in rows_of(shop).items() if name != "shops.AuditEntry"} == {
        name: rows for name, rows in before.items() if name != "shops.AuditEntry"
    }
    # It is nobody's business in another shop.
    actions.start_erasure(shop=other_shop, request=asked(other_shop), now=clock.now())


def test_a_refund_that_is_done_no_longer_keeps_the_person(shop):
    refunding(shop)
    pay_back_refunds(now=clock.now() + timedelta(minutes=1), limit=10)
    assert erase(shop).state == "erased"


def test_goes_on_where_it_stopped_and_a_second_time_finds_nothing(shop):
    live(shop)
    request = asked(shop)
    actions.start_erasure(shop=shop, request=request, now=clock.now())
    with pytest.raises(KeyboardInterrupt):
        carry_out(DataRequest.objects.get(), now=clock.now(), beat=_killed)
    assert sorted(order.erased_at is not None for order in Order.objects.all()) == [False, True]
    assert not Customer.objects.exists()
    run_due_tasks()
    assert traces(without=KEPT) == set()
    before = Order.objects.first().updated_at
    jobs.run_erasure.func(request.shop_id, request.pk)
    assert Order.objects.first().updated_at == before
    assert len(entries(shop, action="data_request.erased")) == 1
    assert Event.objects.filter(topic="customer.erased").count() == 1
    with pytest.raises(actions.PersonErased):
        actions.start_erasure(shop=shop, request=request, now=clock.now())


def _killed() -> None:
    raise KeyboardInterrupt


def test_an_erasure_whose_worker_is_gone_for_good_is_taken_up_again(shop):
    live(shop)
    request = asked(shop)
    actions.start_erasure(shop=shop, request=request, now=clock.now())
    DBTaskResult.objects.all().delete()
    assert jobs.resume_silent_requests(now=clock.now(), limit=10) == 0
    assert jobs.resume_silent_requests(now=clock.now() + timedelta(minutes=11), limit=10) == 1
    run_due_tasks()
    assert DataRequest.objects.get().state == "erased"


def test_what_is_ordered_after_it_began_stays_whole(shop):
    live(shop)
    request = asked(shop)
    actions.start_erasure(shop=shop, request=request, now=clock.now())
    with pytest.raises(KeyboardInterrupt):
        carry_out(DataRequest.objects.get(), now=clock.now(), beat=_killed)
    late = make_order(shop, sale_line(make_product(shop, "Late")), email=EMAIL)
    run_due_tasks()
    assert DataRequest.objects.get().state == "erased"
    late.refresh_from_db()
    assert (late.email, late.billing_address["name"], late.erased_at) == (EMAIL, "Ada Lovelace", None)
    assert Order.objects.filter(erased_at=None).get() == late


def test_an_order_that_came_up_again_is_left_and_counted(shop):
    live(shop)
    request = asked(shop)
    actions.start_erasure(shop=shop, request=request, now=clock.now())
    with pytest.raises(KeyboardInterrupt):
        carry_out(DataRequest.objects.get(), now=clock.now(), beat=_killed)
    Order.objects.filter(erased_at=None).update(payment_status="pending")
    run_due_tasks()
    request.refresh_from_db()
    assert (request.state, request.erased["orders"], request.erased["orders_left"]) == ("erased", 1, 1)
    assert "1 order could not be erased" in request.reason
    assert Order.objects.get(erased_at=None).email.lower() == EMAIL


def test_a_provider_that_does_not_answer_is_asked_again_and_then_left_to_the_merchant(shop, monkeypatch):
    live(shop)

    def silent(charge):
        raise OSError("silence")

    monkeypatch.setattr(PROVIDERS["demo"], "can_save", True)
    monkeypatch.setattr(PROVIDERS["demo"], "forget_method", silent)
    request = asked(shop)
    actions.start_erasure(shop=shop, request=request, now=clock.now())
    run_due_tasks()
    request.refresh_from_db()
    assert (request.state, request.tries, Customer.objects.count()) == ("erasing", 1, 1)
    DataRequest.objects.update(tries=10)
    jobs.run_erasure.func(request.shop_id, request.pk)
    request.refresh_from_db()
    assert request.state == "erased"
    assert "cus_ada" in request.reason


def test_a_guest_without_orders_is_erased_too(shop, other_shop):
    product = make_product(shop, "Mug")
    for each in (shop, other_shop):
        StockAlert.objects.create(shop=each, product=product, email=EMAIL, created_at=clock.now())
    assert erase(shop).erased["stock_alerts"] == 1
    assert [row.shop for row in StockAlert.objects.all()] == [other_shop]
    assert Product.objects.get() == product


def test_the_vat_id_stays_where_it_is_why_there_was_no_tax(shop):
    check = {
        "result": "valid",
        "name": "Engines Ltd",
        "consultation_number": "W1",
        "checked_at": "2026-11-23T10:00:00Z",
    }
    free, taxed = sold(shop, EMAIL), sold(shop, EMAIL)
    queue_due_cards(now=clock.now(), limit=10)
    Order.objects.update(vat_id="ATU123", vat_check=check)
    nothing = {"name": "VAT", "percent": "0", "base": "35.00", "amount": "0.00", "treatment": "reverse_charge"}
    Order.objects.filter(pk=free.pk).update(tax_lines=[nothing])
    erase(shop)
    free.refresh_from_db()
    taxed.refresh_from_db()
    assert (free.vat_id, free.vat_check["name"], free.vat_check["consultation_number"]) == ("ATU123", None, "W1")
    assert (taxed.vat_id, taxed.vat_check) == ("", None)


def test_an_abandoned_checkout_is_told_by_its_id_alone(shop, other_shop):
    for each in (shop, other_shop):
        Event.objects.create(
            shop=each, topic="checkout.abandoned", data={"id": 7, "email": EMAIL.title()}, created_at=clock.now()
        )
    erase(shop)
    told = {event.shop_id: event.data for event in Event.objects.filter(topic="checkout.abandoned")}
    assert told == {shop.pk: {"id": 7}, other_shop.pk: {"id": 7, "email": EMAIL.title()}}


def test_an_unfinished_change_of_address_to_hers_ends(shop):
    other = Customer.objects.create(
        shop=shop, email="eve@example.com", pending_email=EMAIL, created_at=clock.now(), updated_at=clock.now()
    )
    erase(shop)
    other.refresh_from_db()
    assert other.pending_email is None
