"""A shopper who has left something of herself in every room of a shop, and what a database still says of her."""

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

from django.apps import apps
from django.db import connection

from storefront import audit
from storefront.carts.models import Cart
from storefront.checkout.models import Checkout
from storefront.customers.jobs import send_password_link
from storefront.customers.models import Customer
from storefront.gift_cards.issuing import issue_card
from storefront.gift_cards.jobs import queue_due_cards
from storefront.kit import clock
from storefront.orders.actions import annotate_order
from storefront.orders.fulfilling import Tracking, fulfil_order
from storefront.orders.models import Order, OrderMail
from storefront.payments import actions as payments
from storefront.payments.jobs import pay_back_refunds
from storefront.payments.models import OrderDraft, Payment, SavedMethod
from storefront.payments.refunds import request_refund
from storefront.pricing.candidates import email_digest
from storefront.pricing.models import Discount, Redemption
from storefront.shops.models import SavedView, Shop
from storefront.shops.scopes import SCOPES
from storefront.stock_alerts.models import StockAlert
from tests.addresses import ADDRESS
from tests.catalogue.factories import make_product
from tests.customers.factories import PASSWORD, add_address
from tests.documents.factories import make_settings
from tests.documents.factories import work as issue_papers
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.orders.files import add_file
from tests.worker import run_due_tasks

EMAIL, PHONE, MESSAGE = "ada@example.com", "+49 431 998877", "Sleep well, dear Grace"
HOME = ADDRESS | {"company": "Engines Ltd", "line2": "Hinterhof 7", "phone": PHONE}
# What only she is called, and what only she or others wrote about her.
TRACES = (
    *(EMAIL, "Lovelace", "431 998877", "Hafenstr", "Hinterhof", "Engines Ltd", MESSAGE, "For Byron", "Likes tea"),
    *("Ring twice", "Spoke to her", "PARCEL-77", "•••• 7713", "crm-ada", "VIP-Ada", "wrote a letter"),
    *("cus_ada", "pm_ada"),
)


def live(shop: Shop) -> Customer:
    """Everything that a shop can have about one person. Nothing is left to do for it."""
    app, now = install(shop, *SCOPES), clock.now()
    make_settings(shop)
    ada = Customer.objects.get(pk=_sign_up(app.api))
    add_address(ada, **HOME)
    guest, own = sold(shop, EMAIL.title()), sold(shop, EMAIL, customer_id=ada.pk)
    _refund(own)
    _write_about(shop, own)
    issue_papers(now + timedelta(minutes=2))
    run_due_tasks()
    _keep_a_method(shop, ada, own)
    _gift_cards(shop)
    _baskets(shop, ada)
    StockAlert.objects.create(shop=shop, product=own.lines.first().product, email=EMAIL, created_at=now)
    discount = Discount.objects.create(shop=shop, name="Autumn", value=5)
    use = {"discount": discount, "sale": guest.public_id, "email_digest": email_digest(shop, EMAIL)}
    Redemption.objects.create(shop=shop, redeemed_at=now, **use)
    view = {"list": "orders.order", "name": "Hers", "query": "q=ada%40example.com", "created_at": now}
    SavedView.objects.create(shop=shop, **view)
    audit.record(shop=shop, action="orders.exported", after={"query": view["query"]}, now=now)
    send_password_link.enqueue(shop.pk, EMAIL, "reset")
    return ada


def sold(shop: Shop, email: str, **given) -> Order:
    """An order that is paid, sent and has nothing left to do: a mug with an engraving, a file, a gift card."""
    now = clock.now()
    mug = make_product(shop, f"Mug {uuid4()}", price=Decimal("20.00"), stock_qty=5)
    book = make_product(shop, f"Book {uuid4()}", type="digital", price=Decimal("5.00"))
    add_file(book)
    card = make_product(shop, f"Card {uuid4()}", price=Decimal("10.00"))
    engraving = {"id": 1, "value_id": None, "name": "Engraving", "value": "For Byron", "price": "0.00"}
    gift = {"recipient_email": "grace@example.com", "message": MESSAGE, "send_on": ""}
    order = make_order(
        shop,
        sale_line(mug, options=[engraving], custom_fields=[{"name": "Wish", "value": "Ring twice"}]),
        sale_line(book, is_digital=True, requires_shipping=False, uses=()),
        sale_line(card, gift_card=gift, requires_shipping=False, uses=()),
        email=email,
        phone=PHONE,
        billing_address=HOME,
        shipping_address=HOME,
        shopper_note="Ring twice",
        attribution={"client_reference": "crm-ada", "metadata": {"crm": "crm-ada"}, "return_url": "", "cancel_url": ""},
        now=now,
        **given,
    )
    order = payments.mark_paid(shop=shop, order=order, now=now)
    tracking = Tracking("Post", "PARCEL-77", "https://post.example.com/PARCEL-77")
    fulfil_order(shop=shop, order=order, tracking=tracking, now=now)
    return Order.objects.get(pk=order.pk)


def _sign_up(api) -> int:
    given = {"email": EMAIL, "name": "Ada Lovelace", "phone": PHONE, "note": "Likes tea"}
    return api.post("/customers", given).json()["customer"]["id"]


def _refund(order: Order) -> None:
    request_refund(shop=order.shop, order=order, amount=Decimal("1.00"), reason="Spoke to her", now=clock.now())
    pay_back_refunds(now=clock.now() + timedelta(minutes=1), limit=10)


def _write_about(shop: Shop, order: Order) -> None:
    annotate_order(shop=shop, order=order, changes={"note": "Spoke to her", "tags": ["VIP-Ada"]}, now=clock.now())
    given = {"subject": "About your order, Ada Lovelace", "text": "You wrote a letter", "kind": "message"}
    OrderMail.objects.create(shop=shop, order=order, email=EMAIL, created_at=clock.now(), **given)


def _keep_a_method(shop: Shop, ada: Customer, order: Order) -> None:
    ids = {"customer_reference": "cus_ada", "method_reference": f"pm_ada_{shop.pk}"}
    SavedMethod.objects.create(
        shop=shop, customer=ada, provider="demo", label="Visa •••• 7713", created_at=clock.now(), **ids
    )
    Payment.objects.filter(order=order).update(method="Visa •••• 7713", **ids)


def _gift_cards(shop: Shop) -> None:
    """One that she was given by a shop, and the mails of all that is due."""
    issue_card(shop=shop, value=Decimal(5), email=EMAIL, message="Dear Ada Lovelace", now=clock.now())
    queue_due_cards(now=clock.now(), limit=100)
    run_due_tasks()


def _baskets(shop: Shop, ada: Customer) -> None:
    now = clock.now()
    times = {"created_at": now, "updated_at": now}
    for customer in (ada, None):
        cart = Cart.objects.create(shop=shop, customer=customer, expires_at=now + timedelta(days=7), **times)
        given = {"email": EMAIL, "phone": PHONE, "shipping_address": HOME, "shopper_note": "Ring twice"}
        Checkout.objects.create(shop=shop, cart=cart, **given, **times)
    sale = {"customer_id": ada.pk, "email": EMAIL, "billing_address": HOME}
    ended = {"state": "ended", "expires_at": now, "created_at": now, "digest": "", "currency": "EUR", "total": 1}
    OrderDraft.objects.create(shop=shop, email=EMAIL, sale=sale, basket={}, **ended)


def dump(*, without: tuple[str, ...] = ()) -> dict[str, str]:
    """Every table of the database as text, by its name."""
    with connection.cursor() as cursor:
        found = {}
        for table in connection.introspection.table_names(cursor):
            # The index of products' words cannot be listed.
            if table not in without and not table.startswith("catalogue_searchindex"):
                cursor.execute(f'SELECT * FROM "{table}"')
                found[table] = "\n".join(_readable(row) for row in cursor.fetchall())
    return found


def _readable(row: tuple) -> str:
    """The row with letters as people write them, also those that JSON has escaped."""
    text = " | ".join(str(bytes(each) if isinstance(each, memoryview) else each) for each in row)
    return text.replace("%40", "@").replace("\\u00df", "ß").replace("\\u2022", "•")


def rows_of(shop: Shop) -> dict[str, list[dict]]:
    """Every row of a shop, by the name of its model."""
    found = {}
    for model in apps.get_models():
        names = {field.name for field in model._meta.concrete_fields}
        if "shop" in names and not model._meta.proxy:
            rows = [
                {name: str(value) for name, value in row.items()} for row in model.objects.filter(shop=shop.pk).values()
            ]
            found[model._meta.label] = sorted(rows, key=str)
    return {label: rows for label, rows in found.items() if rows}


def traces(*, without: tuple[str, ...] = ()) -> set[tuple[str, str]]:
    """Where the database still has one of TRACES, as (table, text)."""
    found = dump(without=without)
    return {(table, trace) for table, text in found.items() for trace in TRACES if trace.lower() in text.lower()}


__all__ = ["EMAIL", "PASSWORD", "TRACES", "dump", "live", "rows_of", "sold", "traces"]
