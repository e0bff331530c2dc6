"""The kinds of discounts. A new one is an object here and, for the choices of its column, a migration."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.kit.format import format_money
from storefront.kit.money import ZERO, quantize
from storefront.pricing.sharing import HUNDRED


class Percentage:
    """A part of the lines that fit, and what the other kinds differ from. `fields` are the columns that only some kinds
    have; merchants fill them in."""

    name, label = "percent", _lazy("percentage")
    fields: tuple[str, ...] = ("value",)
    # Whether `value` is an amount of money, not a percentage.
    is_money = False
    is_free_delivery = False

    def shared_over(self, discount: Any, lines: Sequence[Any], fits: Sequence[bool]) -> list[Decimal]:
        """By line, what the discount is shared out over."""
        return [line.amount if fit else ZERO for line, fit in zip(lines, fits, strict=True)]

    def face_value(self, discount: Any, amounts: Sequence[Decimal], currency: str) -> Decimal:
        """What the discount takes off these amounts, if that much is left of them."""
        return quantize(sum(amounts, ZERO) * discount.value / HUNDRED, currency)

    def reduction(self, discount: Any) -> str:
        """What the discount takes off, for the merchant's list."""
        return f"{discount.value.normalize():f}%"


class FixedAmount(Percentage):
    name, label = "amount", _lazy("fixed amount")
    is_money = True

    def face_value(self, discount: Any, amounts: Sequence[Decimal], currency: str) -> Decimal:
        return quantize(discount.value, currency)

    def reduction(self, discount: Any) -> str:
        return format_money(discount.value, discount.shop.currency)


class FreeDelivery(Percentage):
    name, label = "free_delivery", _lazy("free delivery")
    fields = ()
    is_free_delivery = True

    def face_value(self, discount: Any, amounts: Sequence[Decimal], currency: str) -> Decimal:
        return ZERO

    def reduction(self, discount: Any) -> str:
        return _("free delivery")


class BuyGet(Percentage):
    name, label = "buy_get", _lazy("buy some, get some for less")
    fields = ("value", "buy_qty", "get_qty")

    def shared_over(self, discount: Any, lines: Sequence[Any], fits: Sequence[bool]) -> list[Decimal]:
        """The full price of the pieces that cost less: of each complete set of pieces, the cheapest."""
        bought, got = discount.buy_qty or 0, discount.get_qty or 0
        pieces = sum(line.qty for line, fit in zip(lines, fits, strict=True) if fit)
        cheaper = pieces // (bought + got) * got if bought + got else 0
        amounts = [ZERO] * len(lines)
        for i in sorted((i for i, fit in enumerate(fits) if fit), key=lambda i: (lines[i].amount / lines[i].qty, i)):
            qty = min(lines[i].qty, cheaper)
            amounts[i] = lines[i].amount * qty / lines[i].qty
            cheaper -= qty
        return amounts

    def reduction(self, discount: Any) -> str:
        pieces = {"buy": discount.buy_qty, "get": discount.get_qty}
        if discount.value == HUNDRED:
            return _("buy %(buy)s, get %(get)s free") % pieces
        return _("buy %(buy)s, get %(get)s %(percent)s off") % {**pieces, "percent": super().reduction(discount)}


KINDS = {kind.name: kind for kind in (Percentage(), FixedAmount(), FreeDelivery(), BuyGet())}
CHOICES = [(kind.name, kind.label) for kind in KINDS.values()]
MONEY_KINDS = [kind.name for kind in KINDS.values() if kind.is_money]


def with_field(name: str) -> list[str]:
    """The names of the kinds that have this field."""
    return [kind.name for kind in KINDS.values() if name in kind.fields]
