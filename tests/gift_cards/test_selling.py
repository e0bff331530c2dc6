"""Gift cards are bought like other products, delivered by mail once they are paid for, and worth what was paid."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core import mail

from storefront.gift_cards.models import GiftCard, GiftCardEntry
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.payments.actions import mark_paid
from storefront.payments.jobs import pay_back_refunds
from storefront.shops.models import AuditEntry
from storefront.webhooks.models import Event
from tests.carts.factories import make_bundle, make_customer, make_group
from tests.catalogue.factories import make_option, make_variant
from tests.factories.apps import install
from tests.gift_cards.factories import balance, send_due
from tests.gift_cards.test_spending import enter, fill
from tests.orders.factories import make_order, sale_line
from tests.pricing.rows import make_discount
from tests.shops.factories import NOW

pytestmark = pytest.mark.django_db

CODE = re.compile(r"Your code: ([A-Z2-9]{4}(?:-[A-Z2-9]{4}){4})\n")


@pytest.fixture
def app(shop):
    return install(shop, "write_products").api


@pytest.fixture(autouse=True)
def pays_by_card(shop):
    shop.payment_methods = ["demo", "manual"]
    shop.save()


def buy(shopper, product, method: str = "demo", **given) -> Order:
    fill(shopper, product, **given)
    answer = shopper.post("/checkout/payment", shopper.payment_fields(method))
    assert answer.status_code == 303, answer.content
    return Order.objects.latest("id")


def code_in(message) -> str:
    return CODE.search(message.body)[1]


def mails() -> list:
    return [message for message in mail.outbox if "gift card for" in message.subject]


@pytest.mark.slow
def test_a_bought_card_is_mailed_and_pays_for_another_order(shop, shopper, card_product, mug):
    order = buy(shopper, card_product, custom_price="40")
    send_due()
    (message,) = mails()
    assert (message.to, "€40.00" in message.body, "http" in message.body) == (["ada@example.com"], True, True)
    card = GiftCard.objects.get()
    assert (card.value, card.order_id, card.sent_at is not None) == (40, order.pk, True)
    assert "Sent to ada@example.com" in shopper.read(f"/orders/{order.public_id}")
    fill(shopper, mug)
    enter(shopper, code_in(message))
    shopper.post("/checkout/payment", shopper.payment_fields(""))
    assert balance(card) == 20


def test_it_goes_to_the_recipient_with_the_message_on_the_day(shop, shopper, card_product):
    day = shop.local_time(clock.now()).date() + timedelta(days=3)
    chosen = {"recipient_email": "ben@example.com", "message": "Happy birthday\n& more", "send_on": day.isoformat()}
    order = buy(shopper, card_product, **chosen)
    send_due()
    assert mails() == []
    assert "Will be sent to ben@example.com" in shopper.read(f"/orders/{order.public_id}")
    assert f"{day.isoformat()}" in shopper.read(f"/orders/{order.public_id}")
    due = GiftCard.objects.get().send_at
    assert (shop.local_time(due).date(), shop.local_time(due).hour) == (day, 8)
    send_due(due - timedelta(seconds=1))
    assert mails() == []
    send_due(due)
    (message,) = mails()
    assert message.to == ["ben@example.com"]
    assert "Happy birthday\n& more" in message.body


@pytest.mark.slow
def test_the_code_stands_nowhere(shop, shopper, card_product, mug):
    buy(shopper, card_product)
    send_due()
    code = code_in(mails()[0])
    fill(shopper, mug)
    enter(shopper, code)
    shopper.post("/checkout/payment", shopper.payment_fields("demo"))
    written = [*GiftCard.objects.values(), *GiftCardEntry.objects.values(), *Event.objects.values()]
    written += [*AuditEntry.objects.values(), *Order.objects.values()]
    for secret in (code, code.replace("-", "")):
        assert not any(secret in str(row) for row in written)
    assert GiftCard.objects.get().last_four == code[-4:]


def test_nothing_is_delivered_before_it_is_paid_for_and_once_after(shop, shopper, card_product):
    order = buy(shopper, card_product, "manual", qty="2")
    send_due()
    assert (GiftCard.objects.count(), mails()) == (0, [])
    mark_paid(shop=shop, order=order, now=clock.now())
    send_due()
    send_due()
    assert (GiftCard.objects.count(), len(mails())) == (2, 2)
    assert len({code_in(message) for message in mails()}) == 2


def test_an_unpaid_order_that_is_cancelled_delivers_nothing(shop, shopper, card_product, api):
    order = buy(shopper, card_product, "manual")
    api.post(f"/orders/{order.pk}/cancellation", {})
    send_due()
    assert not GiftCard.objects.exists()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["cancellation", "refunds"])
def test_a_purchase_that_is_taken_back_leaves_no_card_to_pay_with(shop, shopper, card_product, mug, api, how):
    order = buy(shopper, card_product)
    send_due()
    code = code_in(mails()[0])
    fill(shopper, mug)
    enter(shopper, code)
    shopper.post("/checkout/payment", shopper.payment_fields(""))
    assert api.post(f"/orders/{order.pk}/{how}", {}).status_code == 201
    pay_back_refunds(now=clock.now(), limit=10)
    card = GiftCard.objects.get()
    assert (card.balance, card.disabled_at is not None) == (5, True)
    fill(shopper, mug)
    assert "no longer valid" in enter(shopper, code)
    assert "No longer valid" in shopper.read(f"/orders/{order.public_id}")
    assert AuditEntry.objects.get(action="gift_card.disabled").object_id == card.pk


def test_a_part_of_the_money_back_leaves_the_card(shop, shopper, card_product, api):
    order = buy(shopper, card_product)
    api.post(f"/orders/{order.pk}/refunds", {"amount": "1.00"})
    pay_back_refunds(now=clock.now(), limit=10)
    assert GiftCard.objects.get().disabled_at is None


def test_a_card_withdrawn_before_its_day_is_not_sent(shop, shopper, card_product, api):
    day = shop.local_time(clock.now()).date() + timedelta(days=3)
    order = buy(shopper, card_product, send_on=day.isoformat())
    api.post(f"/orders/{order.pk}/cancellation", {})
    send_due(clock.now() + timedelta(days=4))
    assert mails() == []


@pytest.mark.rule("R-CART-50")
def test_no_discount_and_no_group_makes_money(shop, shopper, card_product):
    make_discount(shop, "Sale", 50)
    make_customer(shop, make_group(shop, "20"))
    order = buy(shopper, card_product)
    assert (order.total, order.discount, GiftCard.objects.get().value) == (25, 0, 25)
    customer = make_customer(shop, make_group(shop, "10", "More"), email="eva@example.com")
    from storefront.carts import actions, queries
    from storefront.carts.models import Cart

    cart = Cart.objects.create(
        shop=shop, customer=customer, created_at=NOW, updated_at=NOW, expires_at=NOW + timedelta(7)
    )
    added = actions.add_line(shop=shop, now=NOW, product_id=card_product.pk, qty=1, cart=cart)
    assert added.line.price_snapshot == 25
    assert queries.cart_totals(shop, added.lines, NOW, cart=cart).total == 25


def test_the_value_is_the_variants_price_without_what_options_add(shop, shopper, card_product):
    option = make_option(card_product, "Envelope", {"Gold": "2.00"})
    variant = make_variant(card_product, "Fifty", price="50.00", track_inventory=False)
    given = {"variant": str(variant.pk), f"option-{option.pk}": str(option.values.get().pk), "axis-0": "Fifty"}
    order = buy(shopper, card_product, **given)
    assert (order.total, GiftCard.objects.get().value) == (52, 50)


def test_it_is_not_taxed(shop, shopper, card_product):
    from storefront.pricing.models import TaxRate

    TaxRate.objects.create(shop=shop, name="VAT", country="DE", percent=Decimal(19))
    assert buy(shopper, card_product).tax == 0


def test_it_expires_as_the_shop_has_set_when_it_was_issued(shop, shopper, card_product):
    shop.gift_card_expiry_days = 30
    shop.save()
    buy(shopper, card_product)
    card = GiftCard.objects.get()
    assert card.expires_at - card.created_at == timedelta(days=30)
    send_due()
    assert "It can be used until" in mails()[0].body


@pytest.mark.parametrize(
    ("given", "field", "text"),
    [
        ({"recipient_email": "nobody"}, "recipient_email", "Enter an email address"),
        ({"message": "x" * 501}, "message", "500"),
        ({"message": "a\x07b"}, "message", "control characters"),
        ({"send_on": "2020-01-01"}, "send_on", "today or a later day"),
        ({"send_on": "2999-01-01"}, "send_on", "within a year"),
        ({"send_on": "24.12.2026"}, "send_on", "such as 2026-12-24"),
    ],
)
@pytest.mark.rule("R-CART-49")
def test_what_cannot_be_is_refused_by_its_name(shop, shopper, card_product, api, given, field, text):
    answer = api.post("/cart", {"product_id": card_product.pk, "qty": 1, "gift_card": given})
    assert answer.status_code == 422
    assert text in answer.json()["errors"][f"gift_card.{field}"][0] or "message" in given
    page = shopper.post("/basket/add", {"product": card_product.pk, "qty": "1"} | given)
    assert page.status_code == 422
    assert text in page.content.decode()


@pytest.mark.rule("R-CART-49")
def test_only_a_gift_card_has_a_recipient(shop, api, mug, card_product):
    given = {"recipient_email": "ben@example.com", "message": "Hi", "giver": None, "send_on": None}
    answer = api.post("/cart", {"product_id": mug.pk, "qty": 1, "gift_card": given})
    assert "gift_card" in answer.json()["errors"]
    answer = api.post("/cart", {"product_id": card_product.pk, "qty": 1, "gift_card": given})
    assert answer.json()["data"]["gift_card"] == given
    token = answer.json()["cart_token"]
    api.post("/cart", {"product_id": card_product.pk, "qty": 1}, cart=token)
    items = api.get("/cart", cart=token).json()["data"]["items"]
    assert [item["gift_card"]["recipient_email"] for item in items] == ["ben@example.com", None]
    assert len({item["key"] for item in items}) == 2


def test_an_order_line_shows_it_to_apps(shop, api, card_product):
    chosen = {"recipient_email": "ben@example.com", "message": "Hi", "send_on": ""}
    card_product.refresh_from_db()
    order = make_order(shop, sale_line(card_product, gift_card=chosen))
    (line,) = api.get(f"/orders/{order.pk}").json()["data"]["lines"]
    assert line["gift_card"] == chosen | {"giver": None, "send_on": None}


def test_a_bundle_cannot_contain_one(shop, api, app, card_product):
    bundle = make_bundle(shop, "Set", {card_product: 1}, price="5.00")
    assert api.post("/cart", {"product_id": bundle.pk, "qty": 1}).json()["code"] == "product_unavailable"
    given = {"name": "Box", "type": "bundle", "bundle_items": [{"product_id": card_product.pk, "qty": 1}]}
    answer = app.post("/products", given)
    assert answer.json()["errors"] == {"bundle_items.0.product_id": ["A bundle cannot contain a gift card."]}


def test_a_card_has_the_currency_of_its_order_though_the_shop_has_another_one_by_then(shop, shopper, card_product):
    shop.currency = "JPY"
    shop.save()
    order = buy(shopper, card_product, method="manual", custom_price="5000")
    shop.currency = "EUR"
    shop.save()
    mark_paid(shop=shop, order=Order.objects.get(pk=order.pk), now=clock.now())
    card = GiftCard.objects.get()
    assert (card.value, card.currency) == (5000, "JPY")
