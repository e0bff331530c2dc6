from typing import Any, ClassVar
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest

from storefront.gift_cards import ledger
from storefront.kit import clock
from storefront.payments.providers.base import (
    Charge,
    News,
    Provider,
    ProviderRefused,
    RefundReport,
    Report,
    Standing,
    Step,
)
from storefront.shops.models import Shop

GIFT_CARD = "gift_card"


class GiftCards(Provider):
    """What gift cards pay of an order. Their log is in our database, so nobody is asked: `drafts` takes the money when
    pay is pressed, in the transaction that freezes the order, and `settling` puts it back or keeps it. Refunds come
    here by the worker, as with every provider."""

    name = GIFT_CARD
    label = "Gift card"
    hint = ""
    form = None
    settings_form = None
    secrets = frozenset()
    can_hold = False
    is_chosen = False
    csp: ClassVar[Any] = {}

    def start(self, charge: Charge) -> Step:
        raise ProviderRefused("Gift cards are charged when pay is pressed.")

    def step(self, charge: Charge) -> Step:
        raise ProviderRefused("Gift cards have no step of their own.")

    def look(self, charge: Charge) -> Report:
        spent, released, refunds = ledger.amounts(Shop.objects.get(pk=charge.shop_id), charge.key)
        if released or not spent:
            return Report(Standing.CANCELLED)
        reported = tuple(RefundReport(amount, key=key) for key, amount in refunds)
        return Report(Standing.PAID, captured=spent, refunds=reported)

    def capture(self, charge: Charge) -> Report:
        return self.look(charge)

    def cancel(self, charge: Charge) -> Report:
        return self.look(charge)

    def refund(self, charge: Charge, *, key: UUID, amount: Any) -> RefundReport:
        shop = Shop.objects.get(pk=charge.shop_id)
        with transaction.atomic():
            ledger.refund(shop=shop, payment=charge.key, key=key, amount=amount, now=clock.now())
        return RefundReport(amount, key=key)

    def save_method(self, charge: Charge) -> None:
        return None

    def charge_saved(self, charge: Charge) -> Step:
        raise ProviderRefused("Gift cards are not saved.")

    def forget_method(self, charge: Charge) -> None:
        """Nothing is saved."""

    def parse_event(self, request: HttpRequest, settings: Any) -> News:
        raise ProviderRefused("Nobody sends news of gift cards.")

    def check(self, settings: Any) -> list[str]:
        return []
