"""Every mail of a shop whose words can be changed, as it is sent, with an order, a card and customers of that shop."""

import re
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

from storefront.customers import jobs as customers
from storefront.customers.models import Customer
from storefront.documents.mails import document_mail
from storefront.gift_cards.issuing import issue_card
from storefront.gift_cards.jobs import gift_card_mail
from storefront.orders import jobs as orders
from storefront.orders.models import Download, Fulfilment, FulfilmentLine, Order, OrderLine
from storefront.shops.models import Shop
from storefront.stock_alerts import jobs as stock_alerts
from tests.addresses import ADDRESS
from tests.catalogue.factories import make_product
from tests.orders.files import stored
from tests.server.admin_rows import make_document
from tests.shops.factories import NOW

LINK = "https://shop.example.com/account/link"
_URL = re.compile(r"https?://[^\s<>\"]+")


def make_order(shop: Shop, number: int = 1001, **given) -> Order:
    values = {
        "email": "ada@example.com",
        "currency": shop.currency,
        "prices_include_tax": True,
        "subtotal": Decimal("24.00"),
        "shipping": Decimal("4.90"),
        "total": Decimal("28.90"),
        "billing_address": ADDRESS,
        "shipping_address": ADDRESS,
        "shipping_method": "Parcel",
        "delivery_time": "2 to 3 days",
        "tax_lines": [{"name": "VAT", "percent": "19", "amount": "4.61"}],
        "payment_method": "manual",
        "placed_at": NOW,
        "updated_at": NOW,
    }
    order = Order.objects.create(shop=shop, number=number, **values | given)
    for name, price in (("Mug", "10.00"), ("Pot", "2.00")):
        OrderLine.objects.create(
            shop=shop,
            order=order,
            name=name,
            qty=2,
            unit_price=Decimal(price),
            line_total=Decimal(price) * 2,
            options=[{"name": "Colour", "value": "Blue", "value_id": 1}],
        )
    return order


def make_fulfilment(order: Order, **given) -> Fulfilment:
    made = Fulfilment.objects.create(shop=order.shop, order=order, created_at=NOW, **given)
    FulfilmentLine.objects.create(shop=order.shop, fulfilment=made, line=order.lines.first(), qty=1)
    return made


def make_customer(shop: Shop) -> Customer:
    return Customer.objects.create(
        shop=shop, email="ada@example.com", name="Ada Lovelace", created_at=NOW, updated_at=NOW
    )


def mails_of(shop: Shop) -> Iterator[tuple[str, object]]:
    """Each mail with its variants, by name."""
    yield from _of_orders(shop)
    order = Order.objects.get(shop=shop, number=1001)
    document = make_document(shop)
    yield "invoice", document_mail(document)
    yield "credit_note", document_mail(type(document)(**_columns(document) | {"kind": "credit_note"}))
    card = issue_card(shop=shop, value=Decimal("5.00"), email="ben@example.com", message="All the best", now=NOW)
    yield "gift_card", gift_card_mail(card, "ABCDEFGHIJKLMNOP")
    card.message, card.expires_at = "", NOW + timedelta(days=400)
    yield "gift_card_that_expires", gift_card_mail(card, "ABCDEFGHIJKLMNOP")
    for kind in ("register", "known", "reset", "unknown", "change_email", "taken"):
        yield f"customer_{kind}", customers.account_mail(shop, "ada@example.com", kind, link=LINK)
    for kind in customers.SUBJECTS:
        yield f"customer_{kind}", customers.notice(shop, "ada@example.com", kind)
    teapot = make_product(shop, "Teapot")
    for name, kind in (("confirm", "stock_alert_confirmation"), ("back", "stock_alert")):
        yield f"stock_{name}", stock_alerts.alert_mail(kind, shop, teapot, None, "ada@example.com", link=LINK)
    yield "new_order", orders.merchant_mail(order, "mia@example.com")


def _of_orders(shop: Shop) -> Iterator[tuple[str, object]]:
    order = make_order(shop)
    yield "confirmation", orders.confirmation_mail(order)
    yield "paid", orders.change_mail(order, "paid")
    yield "cancelled", orders.change_mail(order, "cancelled")
    yield "refunded", orders.change_mail(order, "refunded", amount=Decimal("5.00"))
    sent = make_fulfilment(order, carrier="DHL", tracking_number="77", tracking_url="https://dhl.example.com/77")
    yield "sent", orders.fulfilment_mail(sent)
    file = stored(shop, "guide.pdf")
    Download.objects.create(
        shop=shop,
        order=order,
        line=order.lines.first(),
        file=file,
        name="guide.pdf",
        max_downloads=3,
        expiry_days=7,
        expires_at=NOW + timedelta(days=7),
    )
    yield "downloads", orders.downloads_mail(order)
    place = {**ADDRESS, "name": "Harbour shop", "hours": "9 to 5"}
    collected = make_order(
        shop, 1002, shipping_address=None, pickup_place=place, customer=make_customer(shop), payment_status="paid"
    )
    yield "confirmation_to_collect", orders.confirmation_mail(collected)
    yield "ready_to_collect", orders.fulfilment_mail(make_fulfilment(collected))
    digital = make_order(shop, 1003, shipping_address=None, shipping_method="", delivery_time="")
    yield "ready", orders.fulfilment_mail(make_fulfilment(digital))


def _columns(row) -> dict[str, object]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def text_of(message) -> str:
    """Subject and text, without what differs from run to run."""
    return f"{message.subject}\n\n{_URL.sub('URL', message.body)}"
