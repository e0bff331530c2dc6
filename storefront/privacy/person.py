"""Finds the rows about a person, by email address, and what keeps the person from being erased."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from storefront.checkout.erasing import baskets_of, checkouts_of
from storefront.customers.models import Customer
from storefront.customers.queries import customer_by_email, normal_email
from storefront.documents.models import Document
from storefront.gift_cards.erasing import cards_of, to_be_sent
from storefront.gift_cards.models import GiftCard
from storefront.kit.format import format_money
from storefront.kit.refusals import Refusal
from storefront.orders.erasing import what_is_open
from storefront.orders.history import order_ids_of
from storefront.orders.models import Download, Order, OrderMail
from storefront.payments.erasing import drafts_of, with_open_money
from storefront.payments.models import OrderDraft, Payment, SavedMethod
from storefront.pricing.candidates import email_digest
from storefront.pricing.models import Redemption
from storefront.shops.models import Shop, StaffMember
from storefront.stock_alerts.models import StockAlert

# Reasons that a refusal names.
MAX_REASONS = 20


@dataclass(frozen=True)
class Person:
    """A shopper or guest of one shop: the account, if there is one, and all orders of the account or with the
    address."""

    shop: Shop
    email: str
    customer: Customer | None
    order_ids: tuple[int, ...]

    @property
    def language(self) -> str:
        """That of the account, or else of the last order; empty if neither has one."""
        last = self.orders().values_list("language", flat=True).last()
        return (self.customer and self.customer.language) or last or ""

    def accounts(self) -> QuerySet[Customer]:
        return Customer.objects.filter(shop=self.shop, pk__in=[self.customer.pk] if self.customer else [])

    def orders(self) -> QuerySet[Order]:
        return Order.objects.filter(shop=self.shop, pk__in=self.order_ids).order_by("pk")

    def payments(self) -> QuerySet[Payment]:
        return Payment.objects.filter(shop=self.shop, order__in=self.order_ids).order_by("pk")

    def documents(self) -> QuerySet[Document]:
        return Document.objects.filter(shop=self.shop, order__in=self.order_ids).order_by("pk")

    def mails(self) -> QuerySet[OrderMail]:
        return OrderMail.objects.filter(shop=self.shop, order__in=self.order_ids).order_by("pk")

    def downloads(self) -> QuerySet[Download]:
        return Download.objects.filter(shop=self.shop, order__in=self.order_ids).order_by("pk")

    def gift_cards(self) -> QuerySet[GiftCard]:
        return cards_of(self.shop, self.email, self.order_ids).order_by("pk")

    def saved_methods(self) -> QuerySet[SavedMethod]:
        return SavedMethod.objects.filter(shop=self.shop, customer=self.customer).order_by("pk")

    def redemptions(self) -> QuerySet[Redemption]:
        own = Q(email_digest=email_digest(self.shop, self.email))
        own |= Q(sale__in=self.orders().order_by().exclude(redemption=None).values("redemption"))
        if self.customer is not None:
            own |= Q(customer=self.customer)
        return Redemption.objects.filter(own, shop=self.shop).order_by("pk")

    def alerts(self) -> QuerySet[StockAlert]:
        return StockAlert.objects.filter(shop=self.shop, email=self.email).order_by("pk")

    def drafts(self) -> QuerySet[OrderDraft]:
        return drafts_of(self.shop, self.email, self.customer)

    def checkouts(self) -> QuerySet:
        return checkouts_of(self.shop, self.email, self.customer).order_by("pk")

    def baskets(self) -> QuerySet:
        return baskets_of(self.shop, self.email, self.customer).order_by("pk")


@dataclass(frozen=True)
class Obstacle:
    """A reason why a person cannot be erased now, as a sentence, and the order in question."""

    text: str
    order_id: int | None = None


def find_person(shop: Shop, email: str) -> Person:
    """The person with this address. Without an account and orders, the person can still have other data, such as stock
    alerts."""
    customer = customer_by_email(shop, email)
    found = order_ids_of(shop, email=email, customer=customer)
    return Person(shop, normal_email(email), customer, tuple(found))


def obstacles(person: Person) -> list[Obstacle]:
    """The first MAX_REASONS reasons why the person cannot be erased; empty if there are none."""
    return list(islice(_obstacles(person), MAX_REASONS))


class PersonNeeded(Refusal):
    """Something still needs the person's data, such as an open order."""

    code = "person_needed"


def check_not_needed(person: Person) -> None:
    """Raises PersonNeeded with all obstacles, if there are any."""
    if found := obstacles(person):
        raise PersonNeeded(_("Nothing was erased. %(join)s") % {"join": " ".join(each.text for each in found)})


def _obstacles(person: Person) -> Iterator[Obstacle]:
    shop = person.shop
    staff = StaffMember.objects.filter(shop=shop, user__email__iexact=person.email)
    if staff.exists():
        yield Obstacle(_("This is the address of a member of your staff. Remove them from the staff first."))
    if person.drafts().filter(state=OrderDraft.State.OPEN).exists():
        yield Obstacle(
            _("A payment with this address is under way at the checkout. It ends by itself within the hour.")
        )
    orders = person.orders().filter(erased_at=None)
    money = with_open_money(orders.order_by())
    undone = Q(status=Order.Status.OPEN) | Q(payment_status=Order.PaymentStatus.PENDING) | Q(pk__in=list(money))
    for order in orders.filter(undone):
        if reason := money.get(order.pk) or what_is_open(order):
            yield Obstacle(_("Order %(order)s %(reason)s.") % {"order": order, "reason": reason}, order.pk)
    for card in to_be_sent(person.gift_cards()):
        amount = format_money(card.balance, card.currency)
        yield Obstacle(_("A gift card of %(amount)s is still to be sent.") % {"amount": amount}, card.order_id)
