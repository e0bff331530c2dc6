"""Sample mails of each kind, for previews and test mails, from a sample order that is not stored: their links lead
nowhere. Restores the standard texts of mails, and sends test mails to staff."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.core.mail import EmailMessage
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django_tasks import task

from storefront import audit
from storefront.catalogue.models import Product, StoredFile
from storefront.content.mail_kinds import KINDS
from storefront.content.mail_words import PARTS, Words, words_of
from storefront.content.models import MailText
from storefront.customers.jobs import account_mail
from storefront.customers.limits import count_mail_to
from storefront.customers.models import Customer
from storefront.documents.mails import document_mail
from storefront.documents.models import Document
from storefront.gift_cards.jobs import gift_card_mail
from storefront.gift_cards.models import GiftCard
from storefront.kit import clock
from storefront.kit.queues import MAILS
from storefront.kit.refusals import Refusal
from storefront.listing.queries import ProductFilters, first_products
from storefront.orders import jobs as orders
from storefront.orders.models import Download, Fulfilment, FulfilmentLine, Order, OrderLine
from storefront.orders.sent_mails import NoMail
from storefront.shops import mail, queries
from storefront.shops.models import Shop, User
from storefront.shops.places import secure_base
from storefront.shops.spoken import speaking
from storefront.stock_alerts.jobs import alert_mail

EMAIL = "ada@example.com"
NAME = "Ada Lovelace"
QTY = 2


@dataclass(frozen=True)
class Scene:
    """A shop with one of its products, or a made-up product."""

    shop: Shop
    now: datetime

    def product(self) -> dict[str, Any]:
        found = first_products(self.shop, ProductFilters(sort="newest"), count=1, now=self.now)
        return found[0] if found else {"name": _("Sample product"), "price": "20.00", "media": []}

    def order(self, **given: Any) -> Order:
        product, shop = self.product(), self.shop
        price = Decimal(product["price"] or "20.00")
        is_invoiced = "manual" in shop.payment_methods
        values = {
            "number": 1001,
            "email": EMAIL,
            "customer": Customer(shop=shop, email=EMAIL, name=NAME),
            "currency": shop.currency,
            "prices_include_tax": shop.prices_include_tax,
            "subtotal": price * QTY,
            "total": price * QTY,
            "shipping_method": "Delivery",
            "shipping_address": _address(NAME),
            "billing_address": _address(NAME),
            "payment_method": "manual" if is_invoiced else "stripe",
            "payment_status": Order.PaymentStatus.PENDING if is_invoiced else Order.PaymentStatus.PAID,
            "placed_at": self.now,
        }
        order = Order(pk=0, public_id=UUID(int=0), shop=shop, **values | given)
        image = next((media["url"] for media in product["media"]), None)
        line = OrderLine(pk=0, order=order, name=product["name"], qty=QTY, unit_price=price, image=image)
        line.line_total = price * QTY
        download = Download(pk=0, order=order, line=line, name=_("Sample file.pdf"), max_downloads=3)
        download.file = StoredFile(pk=0, size=250_000)
        download.expires_at = self.now + timedelta(days=30)
        _relate(order, lines=[line], downloads=[download])
        return order

    def fulfilment(self, **given: Any) -> Fulfilment:
        order = self.order(**given)
        made = Fulfilment(pk=0, order=order)
        if order.shipping_address:
            made.carrier, made.tracking_number = _("Parcel service"), "00340000000000000000"
        _relate(made, lines=[FulfilmentLine(fulfilment=made, line=line, qty=line.qty) for line in order.lines.all()])
        return made

    def document(self, kind: str) -> Document:
        order = self.order()
        number = f"{self.now.year}-00001"
        return Document(
            pk=0, shop=self.shop, order=order, kind=kind, number=number, amount=order.total, currency=order.currency
        )

    def card(self) -> GiftCard:
        amount, message = Decimal("50.00"), _("All the best!")
        return GiftCard(
            shop=self.shop, currency=self.shop.currency, balance=amount, email=EMAIL, message=message, giver="Charles"
        )

    @property
    def link(self) -> str:
        return f"{secure_base(self.shop)}/sample-link"


Sample = Callable[[Scene, Words], EmailMessage]


def sample_mail(kind: str, *, shop: Shop, words: Words, now: datetime) -> EmailMessage:
    """Build a sample mail of this kind with these texts instead of the shop's own."""
    with speaking(shop, shop.language):
        return SAMPLES[kind](Scene(shop, now), words)


def _address(name: str) -> dict[str, str]:
    return {"name": name, "line1": _("1 Sample Street"), "postal_code": "12345", "city": _("Sampletown")}


def _relate(row: Any, **rows: list[Any]) -> None:
    """Set the related rows of a row that is not stored, in Django's cache of prefetched rows."""
    row._prefetched_objects_cache = rows


def _account(kind: str) -> Sample:
    return lambda scene, words: account_mail(scene.shop, EMAIL, kind, link=scene.link, words=words)


def _alert(kind: str) -> Sample:
    def write(scene: Scene, words: Words) -> EmailMessage:
        product = Product(name=scene.product()["name"])
        return alert_mail(kind, scene.shop, product, None, EMAIL, link=scene.link, words=words)

    return write


def _refunded(scene: Scene, words: Words) -> EmailMessage:
    order = scene.order(payment_status=Order.PaymentStatus.REFUNDED)
    order.refunded = order.total
    return orders.change_mail(order, "refunded", words, amount=order.total)


def _ready(scene: Scene, words: Words) -> EmailMessage:
    return orders.fulfilment_mail(scene.fulfilment(shipping_address=None, shipping_method=""), words)


def _to_collect(scene: Scene, words: Words) -> EmailMessage:
    found = scene.fulfilment(
        shipping_address=None, shipping_method=_("Collect"), pickup_place=_address(_("Our shop")) | {"hours": ""}
    )
    return orders.fulfilment_mail(found, words)


SAMPLES: dict[str, Sample] = {
    "order_confirmation": lambda scene, words: orders.confirmation_mail(scene.order(), words),
    "order_paid": lambda scene, words: orders.change_mail(scene.order(payment_status="paid"), "paid", words),
    "order_sent": lambda scene, words: orders.fulfilment_mail(scene.fulfilment(), words),
    "order_to_collect": _to_collect,
    "order_ready": _ready,
    "downloads": lambda scene, words: orders.downloads_mail(scene.order(), words),
    "order_cancelled": lambda scene, words: orders.change_mail(scene.order(), "cancelled", words),
    "order_refunded": _refunded,
    "invoice": lambda scene, words: document_mail(scene.document("invoice"), words),
    "credit_note": lambda scene, words: document_mail(scene.document("credit_note"), words),
    "gift_card": lambda scene, words: gift_card_mail(scene.card(), "SAMPLECARDSAMPLE", words),
    "stock_alert_confirmation": _alert("stock_alert_confirmation"),
    "stock_alert": _alert("stock_alert"),
    "account_register": _account("register"),
    "account_known": _account("known"),
    "account_reset": _account("reset"),
    "account_unknown": _account("unknown"),
    "account_change_email": _account("change_email"),
    "account_taken": _account("taken"),
    "new_order": lambda scene, words: orders.merchant_mail(scene.order(), EMAIL, words),
}


class NoAddress(Refusal):
    code = "no_address"
    message = _lazy("Your account has no email address.")


def make_rows(*, shop: Shop, now: datetime) -> None:
    """Create the missing rows of mail texts. Concurrent calls create each once."""
    known = set(MailText.objects.filter(shop=shop).values_list("kind", flat=True))
    missing = [MailText(shop=shop, kind=kind, updated_at=now) for kind in KINDS if kind not in known]
    MailText.objects.bulk_create(missing, ignore_conflicts=True)


@transaction.atomic
def use_standard(*, shop: Shop, text: MailText, now: datetime) -> None:
    """Remove the shop's own texts from a mail."""
    row = MailText.objects.select_for_update(no_key=True).get(shop=shop, pk=text.pk)
    before = {part: own for part in PARTS if (own := getattr(row, part)) is not None}
    MailText.objects.filter(pk=row.pk).update(**dict.fromkeys(PARTS), updated_at=now)
    after: dict[str, str | None] = dict.fromkeys(before)
    audit.record_change(shop=shop, action="mail_text.updated", object=row, before=before, after=after, now=now)


def send_sample(*, shop: Shop, text: MailText, user: User, now: datetime) -> None:
    """Queue a test mail to this user's own address. Raises NoMail, NoAddress and LimitReached."""
    if not mail.is_sent():
        raise NoMail
    if not user.email:
        raise NoAddress
    count_mail_to(user.email)
    with transaction.atomic():
        audit.record(shop=shop, action="mail_text.tested", object=text, now=now)
        send_sample_mail.enqueue(shop.pk, text.kind, user.pk)


@task(queue_name=MAILS)
def send_sample_mail(shop_id: int, kind: str, user_id: int, tries: int = 0) -> None:
    """Send the test mail, unless the user has left meanwhile. Retried later if the mail server does not respond."""
    shop = Shop.objects.get(pk=shop_id)
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None or not queries.shops_of(user).filter(pk=shop.pk).exists():
        return
    message = sample_mail(kind, shop=shop, words=words_of(shop, kind), now=clock.now())
    with speaking(shop, shop.language):
        # Translators: the subject of a sample mail that a member of staff sends to themselves.
        subject = _("Test: %(subject)s") % {"subject": message.subject}
    message.to, message.subject = [user.email], subject
    mail.send(message, shop_id, kind, user_id, what="sample", task=send_sample_mail, tries=tries)
