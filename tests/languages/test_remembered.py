"""What is made later is in the shopper's language: mails, papers, alerts, ways back from a provider."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.mail.backends.locmem import EmailBackend

from storefront.checkout.models import Checkout
from storefront.content import jobs as content_jobs
from storefront.customers import actions as customers
from storefront.customers.models import Customer
from storefront.documents.drawing import pdf_of
from storefront.documents.models import Document
from storefront.documents.queries import packing_slip
from storefront.gift_cards.jobs import gift_card_mail
from storefront.gift_cards.models import GiftCard
from storefront.orders import jobs
from storefront.orders.gift_cards import issue_gift_cards
from storefront.orders.models import Order
from storefront.orders.queries import order_record
from storefront.payments.accounts import charge_of
from storefront.payments.frozen import thaw_sale
from storefront.payments.models import OrderDraft, Payment
from storefront.stock_alerts.actions import queue_due_alerts
from storefront.stock_alerts.models import StockAlert
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.content.every_mail import make_fulfilment
from tests.customers.factories import PASSWORD, make_customer
from tests.documents.factories import make_settings, paid_order, texts_of, work
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW
from tests.worker import run_due_tasks

pytestmark = pytest.mark.any_database
BASE = "https://shop.example.com"


class German(Shopper):
    """A shopper on German pages."""

    def get(self, path, **given):
        return super().get(f"/de{path}", **given)

    def post(self, path, fields, **given):
        return super().post(f"/de{path}", fields, **given)


@pytest.fixture
def german(shop) -> German:
    return German(shop)


def ordered(german: German, method: str = "manual") -> Order:
    mug = make_product(german.shop, "Mug", price="1234.50", stock_qty=9)
    german.post("/basket/add", {"product": mug.pk, "qty": 1})
    answer = german.order(method)
    assert answer.status_code == 303, answer.content
    return Order.objects.latest("pk")


def pages(message) -> list[str]:
    """The shop's pages that a mail links to."""
    return [url.removeprefix(BASE).rstrip(".") for url in re.findall(rf"{BASE}[^\s<>\"]*", message.body)]


def is_german(message, amount: bool = True) -> bool:
    html = message.alternatives[0][0]
    links = pages(message)
    assert all(link.startswith("/de") for link in links), links
    assert '<html lang="de">' in html
    assert not amount or "1.234,50\xa0€" in message.body
    return True


class TestOrders:
    def test_remember_the_language_of_the_page_on_which_pay_was_pressed(self, shop, german, mailoutbox):
        order = ordered(german)
        assert order.language == "de"
        assert Checkout.objects.get().language == "de"
        assert thaw_sale(OrderDraft.objects.get().sale).language == "de"

    def test_of_the_main_language_and_of_programs(self, shop, shopper):
        mug = make_product(shop, "Mug", stock_qty=9)
        shopper.post("/basket/add", {"product": mug.pk, "qty": 1})
        shopper.order()
        assert Order.objects.get().language == "en"
        order = make_order(shop, sale_line(mug))
        assert order.language == ""
        assert pages(jobs.confirmation_mail(order)) == [f"/orders/{order.public_id}"]

    def test_the_record_of_the_api_is_as_it_was(self, german):
        assert "language" not in order_record(ordered(german))

    def test_all_mails_are_in_it_with_their_links(self, german):
        order = ordered(german)
        order.refresh_from_db()
        for message in (
            jobs.confirmation_mail(order),
            jobs.change_mail(order, "paid"),
            jobs.change_mail(order, "cancelled"),
            jobs.change_mail(order, "refunded", amount=order.total),
        ):
            assert is_german(message)
        assert is_german(jobs.fulfilment_mail(make_fulfilment(order)), amount=False)
        assert f"/de/orders/{order.public_id}" in pages(jobs.confirmation_mail(order))

    def test_the_merchants_mail_is_in_the_main_language(self, german):
        message = jobs.merchant_mail(ordered(german), "mia@example.com")
        assert "€1,234.50" in message.body
        assert '<html lang="en">' in message.alternatives[0][0]

    def test_a_language_that_is_given_up_is_the_main_one(self, shop, german):
        order = ordered(german)
        shop.further_languages = []
        shop.save()
        order = Order.objects.select_related("shop", "customer").get(pk=order.pk)
        message = jobs.confirmation_mail(order)
        assert pages(message)[0] == f"/orders/{order.public_id}"
        assert "€1,234.50" in message.body

    def test_the_mail_of_another_shop_is_in_its_language(self, shop, other_shop):
        order = make_order(
            other_shop, sale_line(make_product(other_shop, "Tasse", price=Decimal("12.50"))), language="de"
        )
        message = jobs.confirmation_mail(order)
        assert f"https://other.example.com/orders/{order.public_id}" in message.body, "it has no German"
        assert "12,50\xa0€" in message.body, "it is French"

    def test_mails_from_right_to_left(self, shop):
        order = make_order(shop, sale_line(make_product(shop, "Mug")), language="ar")
        assert '<html lang="ar" dir="rtl">' in jobs.confirmation_mail(order).alternatives[0][0]

    def test_papers_are_in_it(self, shop, german):
        make_settings(shop)
        german_order, other = paid_order(shop, "1234.50", language="de"), paid_order(shop, "1234.50")
        work()
        languages = {row.order_id: row.record["language"] for row in Document.objects.all()}
        assert languages == {german_order.pk: "de", other.pk: "en"}
        assert packing_slip(shop, german_order, None, NOW)["language"] == "de"
        printed = {row.order_id: "".join(texts_of(pdf_of([row.record]))) for row in Document.objects.all()}
        assert "1.234,50" in printed[german_order.pk]
        assert "€1,234.50" in printed[other.pk]

    def test_the_provider_leads_back_to_it(self, shop, german):
        ordered(german, "demo")
        payment = Payment.objects.latest("pk")
        assert charge_of(shop, payment).return_url == f"{BASE}/de/checkout/payment/{payment.public_id}/return"
        payment.draft = None
        assert charge_of(shop, payment).return_url == f"{BASE}/checkout/payment/{payment.public_id}/return"

    def test_gift_cards_are_mailed_in_it(self, shop):
        chosen = {"recipient_email": "ben@example.com", "message": "", "send_on": None}
        line = sale_line(make_product(shop, "Card", price=Decimal("1234.50")), gift_card=chosen, uses=())
        issue_gift_cards(order=make_order(shop, line, language="de"), now=NOW)
        card = GiftCard.objects.get()
        assert card.language == "de"
        assert is_german(gift_card_mail(card, "ABCDEFGHIJKLMNOP"))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
class TestAccounts:
    def mailed(self, mailoutbox) -> list[str]:
        mailoutbox.clear()
        run_due_tasks()
        return [link for message in mailoutbox for link in pages(message)]

    def test_links_of_accounts_keep_the_language(self, german, mailoutbox):
        german.post("/account/register", {"email": "ada@example.com"})
        (link,) = (link for link in self.mailed(mailoutbox) if "/account/link" in link)
        assert link.startswith("/de/account/link?")
        answer = german.browser.get(link)
        assert answer["Location"] == "/de/account/password"
        # The signature is of the address without a language.
        assert german.browser.get(link.replace("/de/", "/ar/"))["Location"] == "/ar/account/password"
        assert german.browser.get(link.replace("/de/", "/"))["Location"] == "/account/password"

    def test_a_failed_mail_is_sent_again_in_its_language(self, german, mailoutbox, monkeypatch):
        german.post("/account/register", {"email": "ada@example.com"})
        send, tried = EmailBackend.send_messages, []

        def fail_once(backend, messages):
            tried.append(messages)
            if len(tried) == 1:
                raise OSError
            return send(backend, messages)

        monkeypatch.setattr(EmailBackend, "send_messages", fail_once)
        monkeypatch.setattr("storefront.shops.mail.WAITS", [timedelta(0)])
        assert any(link.startswith("/de/account/link?") for link in self.mailed(mailoutbox))
        assert len(tried) == 2

    def test_a_customer_has_the_language_of_the_last_visit(self, shop, german, mailoutbox):
        ada = make_customer(shop)
        german.sign_in()
        assert Customer.objects.get().language == "de"
        # An app asks for nothing in a language.
        customers.request_email_change(shop=shop, customer=ada, email="new@example.com", now=NOW)
        assert any(link.startswith("/de/account/link?") for link in self.mailed(mailoutbox))
        Shopper(shop).sign_in()
        assert Customer.objects.get().language == "en"

    def test_an_order_counts_as_a_visit(self, shop):
        ada = make_customer(shop)
        make_order(shop, sale_line(make_product(shop, "Mug")), customer_id=ada.pk, language="ar")
        assert Customer.objects.get().language == "ar"
        make_order(shop, sale_line(make_product(shop, "Cup")), customer_id=ada.pk)
        assert Customer.objects.get().language == "ar"

    def test_notices_are_in_the_language_of_the_page(self, shop, german, mailoutbox):
        make_customer(shop)
        german.sign_in()
        german.post("/account/details/password", {"word-current": PASSWORD, "word-password": "another long one"})
        assert self.mailed(mailoutbox)
        assert all('<html lang="de">' in message.alternatives[0][0] for message in mailoutbox)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
class TestAlerts:
    def test_keep_the_language_until_the_product_is_back(self, shop, german, mailoutbox):
        mug = make_product(shop, "Mug", stock_qty=0)
        german.post("/stock-alerts", {"product": mug.pk, "variant": "", "email": "ada@example.com"})
        assert StockAlert.objects.get().language == "de"
        run_due_tasks()
        (confirm, *_) = (link for link in pages(mailoutbox[-1]) if "confirm" in link)
        assert confirm.startswith("/de/stock-alerts/confirm?")
        assert german.browser.get(confirm).status_code == 200
        german.browser.post(confirm)
        mug.stock_qty = 5
        mug.save()
        assert queue_due_alerts(now=NOW, limit=10) == 1
        run_due_tasks()
        assert "/de/products/mug" in pages(mailoutbox[-1])
        assert is_german(mailoutbox[-1], amount=False)


def test_messages_to_the_shop_are_in_its_main_language(shop, mailoutbox):
    shop.email = "hello@shop.example.com"
    shop.save()
    content_jobs.send_message.func(shop.pk, "Ada", "ada@example.com", "Hello")
    assert '<html lang="en">' in mailoutbox[-1].alternatives[0][0]
