"""Mails that an order was paid, cancelled, refunded, and those to the shop about new orders."""

import re
from datetime import timedelta
from decimal import Decimal
from io import BytesIO

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from PIL import Image

from storefront.customers import jobs as customer_jobs
from storefront.documents.mails import document_mail
from storefront.gift_cards.issuing import issue_card
from storefront.gift_cards.jobs import gift_card_mail
from storefront.orders import jobs
from storefront.orders.fulfilling import fulfil_order
from storefront.orders.models import Order
from storefront.payments import actions as payments
from storefront.payments.line_refunds import Pieces
from storefront.payments.refunds import request_refund
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.documents.factories import issued, make_settings, work
from tests.mails import html_of, words, words_of_text
from tests.orders.factories import make_order, sale_line
from tests.payments.refunding import record_refunded
from tests.shops.factories import NOW
from tests.staff import make_staff

LATER = NOW + timedelta(hours=1)
LINK = "https://shop.example.com/account"
ACCOUNT_MAILS = ("register", "known", "reset", "unknown", "change_email", "taken")
NAME = '<i>Tom & "Jerry"</i>'


@pytest.fixture(params=["shop", "other_shop"])
def seller(request) -> Shop:
    return request.getfixturevalue(request.param)


def png(side: int) -> bytes:
    content = BytesIO()
    Image.new("RGB", (side, side), "red").save(content, "PNG")
    return content.getvalue()


def place(shop, **given) -> Order:
    mug = make_product(shop, NAME, price=Decimal("10.00"), stock_qty=20)
    pot = make_product(shop, "Pot", price=Decimal("20.00"), stock_qty=20)
    lines = [sale_line(mug, 3, image=given.pop("image", None)), sale_line(pot)]
    return make_order(shop, *lines, **given)


def kinds(queue) -> list[str]:
    return [task.name.rpartition(".")[2] for task in queue]


@pytest.fixture
def queued(monkeypatch) -> list[tuple]:
    """The mails about changes that were queued: their kind and what follows it."""
    found: list[tuple] = []
    monkeypatch.setattr(type(jobs.send_change_mail), "enqueue", _note(found, type(jobs.send_change_mail).enqueue))
    return found


def _note(found, enqueue):
    def noting(self, *args, **kwargs):
        found.append((self.func.__name__, *args))
        return enqueue(self, *args, **kwargs)

    return noting


def changes(queued) -> list[tuple]:
    return [args[3:] for args in queued if args[0] == "send_change_mail"]


def test_each_mail_is_complete_in_both_forms(seller, other_shop, shop):
    make_settings(seller)
    order = place(seller, shipping_method="Parcel")
    fulfilment = fulfil_order(shop=seller, order=order, pieces=[(order.lines.last().pk, 1)], now=NOW)
    payments.mark_paid(shop=seller, order=order, now=LATER)
    refund = request_refund(shop=seller, order=order, lines=[Pieces(order.lines.first().pk, 2)], now=LATER)
    record_refunded(shop=seller, refund=refund, reference="re", now=LATER)
    work(LATER)
    order.refresh_from_db()
    card = issue_card(shop=seller, value=Decimal("5.00"), email="ada@example.com", message=NAME, now=NOW)
    found = [
        jobs.confirmation_mail(order),
        jobs.fulfilment_mail(fulfilment),
        jobs.downloads_mail(order),
        jobs.change_mail(order, "paid"),
        jobs.change_mail(order, "cancelled"),
        jobs.change_mail(order, "refunded", amount=refund.amount, refunds=[refund.pk]),
        jobs.merchant_mail(order, "mia@example.com"),
        gift_card_mail(card, "ABCDEFGHIJKLMNOP"),
        *(document_mail(document) for document in issued(order)),
        *(customer_jobs.account_mail(seller, "ada@example.com", kind, link=LINK) for kind in ACCOUNT_MAILS),
        *(customer_jobs.notice(seller, "ada@example.com", kind) for kind in customer_jobs.SUBJECTS),
    ]
    stranger = other_shop if seller == shop else shop
    for message in found:
        html = html_of(message)
        if 'class="gift"' not in html:  # The picture of a card has words of its own.
            assert words(html) == words_of_text(message)
        assert message.message()["Auto-Submitted"] == "auto-generated"
        assert seller.name in html
        assert stranger.name not in html
        assert NAME not in html


def test_a_mail_about_a_refund_lists_what_was_refunded(shop):
    order = place(shop, shipping=Decimal("5.00"), total=Decimal("55.00"))
    payments.mark_paid(shop=shop, order=order, now=NOW)
    pieces = [Pieces(order.lines.first().pk, 2)]
    refund = request_refund(shop=shop, order=order, lines=pieces, shipping=Decimal("4.00"), now=LATER)
    record_refunded(shop=shop, refund=refund, reference="re", now=LATER)
    order.refresh_from_db()
    message = jobs.change_mail(order, "refunded", amount=Decimal("24.00"), refunds=[refund.pk])
    assert message.subject == f"Your order {order.number} at Lighthouse was refunded"
    for text in (
        "refunded €24.00 of your order",
        f"2 x {NAME}: €20.00",
        "Delivery: €4.00",
        f"/orders/{order.public_id}",
    ):
        assert text in message.body
    assert "Pot" not in message.body


def test_changes_are_mailed_once_and_with_what_they_are(shop, queued):
    order = place(shop)
    payments.mark_paid(shop=shop, order=order, now=LATER)
    refund = request_refund(shop=shop, order=order, amount=Decimal("5.00"), now=LATER)
    assert changes(queued) == [("paid",)]
    record_refunded(shop=shop, refund=refund, reference="re", now=LATER)
    payments.cancel_order(shop=shop, order=order, now=LATER)
    assert changes(queued) == [("paid",), ("refunded", "5.00", [refund.pk]), ("cancelled",)]


def test_an_order_that_is_paid_as_it_is_placed_gets_one_mail(shop, queued):
    order = place(shop)
    payments.mark_paid(shop=shop, order=order, now=NOW)
    assert changes(queued) == []
    order.refresh_from_db()
    assert "Total: €50.00, paid" in jobs.confirmation_mail(order).body


def test_an_order_on_invoice_says_how_to_pay(shop):
    order = place(shop)
    assert f"{shop.name} will tell you how to pay €50.00." in jobs.confirmation_mail(order).body
    shop.manual_payment_instructions = "Transfer to DE00 1234."
    shop.save()
    order.refresh_from_db()
    order.shop.refresh_from_db()
    body = jobs.confirmation_mail(order).body
    assert "DE00 1234" in body
    assert f"Please quote order {order.number} when you pay." in body
    payments.mark_paid(shop=shop, order=order, now=NOW)
    order.refresh_from_db()
    assert "How to pay" not in jobs.confirmation_mail(order).body


def test_a_cancellation_says_what_becomes_of_the_money(shop):
    order = place(shop)
    assert "You do not have to pay." in jobs.change_mail(order, "cancelled").body
    payments.mark_paid(shop=shop, order=order, now=NOW)
    order.refresh_from_db()
    payments.cancel_order(shop=shop, order=order, reason="Fraud?", now=NOW)
    order.refresh_from_db()
    body = jobs.change_mail(order, "cancelled").body
    assert "will be refunded separately" in body
    assert "Fraud" not in body


def test_the_shop_is_told_of_new_orders(shop, other_shop, queued):
    order = place(shop, shopper_note="Ring twice")
    assert [args for args in queued if args[0] == "tell_merchant"] == [("tell_merchant", order.shop_id, order.pk)]
    message = jobs.merchant_mail(order, "mia@example.com")
    assert (message.subject, message.to) == (f"New order {order.number}: €50.00", ["mia@example.com"])
    for text in (
        f"3 x {NAME}: €30.00",
        "Customer: ada@example.com",
        "Ring twice",
        f"/admin/orders/order/{order.pk}/change/",
    ):
        assert text in message.body


def test_who_is_told_of_new_orders(shop, other_shop):
    make_staff(shop, "anna", role="owner")
    make_staff(shop, "mia", role="manager")
    make_staff(other_shop, "zoe", role="owner")
    (owner,) = jobs.merchants_of(shop)
    assert owner.startswith("anna@")
    shop.email = "hello@shop.example.com"
    assert jobs.merchants_of(shop) == ["hello@shop.example.com"]
    shop.order_emails = ["a@shop.example.com", "b@shop.example.com"]
    assert jobs.merchants_of(shop) == ["a@shop.example.com", "b@shop.example.com"]


def test_a_shop_that_wants_none_is_not_told(shop, queued):
    shop.tells_of_orders = False
    shop.save()
    place(shop)
    assert not [args for args in queued if args[0] == "tell_merchant"]


def test_each_address_has_a_task_of_its_own(shop, queued, mailoutbox):
    shop.order_emails = ["a@shop.example.com", "b@shop.example.com"]
    shop.save()
    order = place(shop)
    jobs.tell_merchant.func(order.shop_id, order.pk)
    told = [args[2:] for args in queued if args[0] == "tell_merchant"]
    assert told == [(order.pk,), (order.pk, "a@shop.example.com"), (order.pk, "b@shop.example.com")]
    assert mailoutbox == []
    jobs.tell_merchant.func(order.shop_id, order.pk, "a@shop.example.com")
    assert [message.to for message in mailoutbox] == [["a@shop.example.com"]]


@pytest.mark.parametrize("image", ["https://tracker.example/pixel.gif", "//tracker.example/pixel.gif", None])
def test_pictures_from_elsewhere_are_left_out(shop, image):
    assert "<img" not in html_of(jobs.confirmation_mail(place(shop, image=image)))


def test_the_shops_own_pictures_are_shown_by_their_absolute_url(shop):
    name = default_storage.save("media/mug.png", ContentFile(png(40)))
    order = place(shop, image=f"{shop.base_url}{default_storage.url(name)}")
    (picture,) = re.findall(r'src="([^"]+)"', html_of(jobs.confirmation_mail(order)))
    assert picture == f"{shop.base_url}{default_storage.url(name)}"


@pytest.mark.slow
def test_owners_set_who_is_told(desk, shop):
    desk.fill(shop, order_emails="a@shop.example.com, b@shop.example.com", tells_of_orders="on")
    shop.refresh_from_db()
    assert (shop.order_emails, shop.tells_of_orders) == (["a@shop.example.com", "b@shop.example.com"], True)
    page = desk.fill(shop, order_emails="a@shop.example.com, nobody").content.decode()
    assert "nobody is not an email address." in page
    page = desk.fill(shop, order_emails=",".join(f"a{number}@b.example" for number in range(11))).content.decode()
    assert "At most 10 addresses." in page
    shop.refresh_from_db()
    assert len(shop.order_emails) == 2
