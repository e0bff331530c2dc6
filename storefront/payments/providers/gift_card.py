from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from storefront.gift_cards import ledger
from storefront.kit import clock
from storefront.payments.providers.base import Charge, Provider, RefundReport, Report, Standing
from storefront.shops.models import Shop

GIFT_CARD = "gift_card"


class GiftCards(Provider):
    """What gift cards pay of an order. Their log is in our database, so nobody is asked: `drafts` takes the money when
    pay is pressed, in the transaction that freezes the order, and `placing` keeps it or puts it back. Refunds come
    here by the worker, as with every provider."""

    name = GIFT_CARD
    label = _("Gift card")
    is_chosen = False

    def look(self, charge: Charge) -> Report:
        spent, released, refunds = ledger.amounts(Shop.objects.get(pk=charge.shop_id), charge.key)
        if released or not spent:
            return Report(Standing.CANCELLED)
        reported = tuple(RefundReport(amount, key=key) for key, amount in refunds)
        return Report(Standing.PAID, captured=spent, refunds=reported)

    capture = cancel = look

    def refund(self, charge: Charge, *, key: UUID, amount: Decimal) -> RefundReport:
        shop = Shop.objects.get(pk=charge.shop_id)
        with transaction.atomic():
            ledger.refund(shop=shop, payment=charge.key, key=key, amount=amount, now=clock.now())
        return RefundReport(amount, key=key)
