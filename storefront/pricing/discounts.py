"""Discount rules, without database or clock: what is taken off, and why a code takes nothing off (docs/prices.md).

Amounts are Decimal in the shop's currency.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from storefront.kit.format import format_money
from storefront.kit.money import ZERO
from storefront.pricing.discount_kinds import KINDS
from storefront.pricing.models import Discount, DiscountCode
from storefront.pricing.sharing import share_out

UNKNOWN = "discount_code_unknown"
EXPIRED = "discount_code_expired"
USED_UP = "discount_code_used_up"
NOT_APPLICABLE = "discount_code_not_applicable"
NOT_COMBINABLE = "discount_code_not_combinable"

# Messages for shoppers, by reason, where no rule has a more specific one.
MESSAGES = {
    UNKNOWN: gettext_lazy("This code is not valid."),
    EXPIRED: gettext_lazy("This code is no longer valid."),
    USED_UP: gettext_lazy("This code has been used up."),
    NOT_APPLICABLE: gettext_lazy("This code does not fit the items in your basket."),
    NOT_COMBINABLE: gettext_lazy("This code cannot be combined with your other discounts."),
}


@dataclass(frozen=True, slots=True)
class PricedLine:
    """A line as the rules see it. `amount` is the line total before discounts. A gift card is sold at its value:
    discounts do not apply to it, and it is not taxed, since the orders paid with it will be (R-CART-50)."""

    amount: Decimal
    qty: int = 1
    product_id: int = 0
    tax_class_id: int | None = None
    is_taxable: bool = True
    is_gift_card: bool = False
    is_digital: bool = False


@dataclass(frozen=True, slots=True)
class DiscountLine:
    """An applied discount, and its share on each line. `code` is empty for an automatic one; free delivery takes
    nothing off the lines. `code_id` is the row of its code; `is_counted`: an order counts as a use."""

    name: str
    amount: Decimal
    shares: tuple[Decimal, ...]
    code: str = ""
    is_free_delivery: bool = False
    discount_id: int | None = None
    code_id: int | None = None
    is_counted: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A discount that may apply: automatic, or because of a code.

    `product_ids` are the products that it is limited to; None: all. `refused` is why it does not apply to this shopper,
    whatever the lines: empty, or one of the reasons above. `discount` is None for a code that the shop does not have.
    """

    discount: Discount | None
    code: str = ""
    code_row: DiscountCode | None = None
    product_ids: frozenset[int] | None = None
    refused: str = ""


@dataclass(frozen=True, slots=True)
class CodeResult:
    """The effect of a code in a cart. If it takes nothing off, `refused` is one of the reasons above."""

    code: str
    name: str | None
    amount: Decimal = ZERO
    is_free_delivery: bool = False
    refused: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Applied:
    """The discounts that apply, in their order, and the result of every code."""

    lines: tuple[DiscountLine, ...] = ()
    codes: tuple[CodeResult, ...] = ()

    @property
    def is_delivery_free(self) -> bool:
        return any(line.is_free_delivery for line in self.lines)

    def without_free_delivery(self) -> "Applied":
        """The result for a delivery method that free delivery does not cover: the discount has no effect, and its code
        has the reason."""
        message = _("This code does not make the chosen delivery method free.")
        codes = (
            replace(code, is_free_delivery=False, refused=NOT_APPLICABLE, message=message)
            if code.is_free_delivery
            else code
            for code in self.codes
        )
        return Applied(tuple(line for line in self.lines if not line.is_free_delivery), tuple(codes))


def apply_discounts(
    lines: Sequence[PricedLine], candidates: Iterable[Candidate], now: datetime, currency: str
) -> Applied:
    """The discounts that apply, in the order of the candidates: automatic ones, oldest first, then codes as entered.

    They add up; each takes at most what is left of its lines. A percentage is of the lines' full amounts, regardless of
    other discounts. Those that cannot be combined are tried alone: what takes off most applies, all that can be
    combined if it is the same. A discount applies once, whatever leads to it.
    """
    candidates = list(candidates)
    refusals = [_refusal(candidate, lines, now, currency) for candidate in candidates]
    fitting, seen = [], set()
    for candidate, refusal in zip(candidates, refusals, strict=True):
        if candidate.discount and not refusal and id_of(candidate.discount) not in seen:
            seen.add(id_of(candidate.discount))
            fitting.append(candidate)
    together = [each for each in fitting if each.discount and each.discount.is_combinable]
    choices = [together, *([each] for each in fitting if each not in together)]
    taken = max((_take_off(lines, choice, currency) for choice in choices), key=_worth)
    results = (
        _result(candidate, refusal, taken)
        for candidate, refusal in zip(candidates, refusals, strict=True)
        if candidate.code
    )
    return Applied(tuple(taken), tuple(results))


def id_of(discount: Discount) -> int:
    """The discount's id; for an unsaved one, as in tests of these rules, that of the object."""
    return discount.pk or -id(discount)


def _worth(taken: Sequence[DiscountLine]) -> tuple[Decimal, bool]:
    """The sort key that decides between discounts that cannot be combined. Free delivery only decides between equals:
    its worth depends on the address, and the choice must not change between the checkout's pages."""
    return sum((line.amount for line in taken), ZERO), any(line.is_free_delivery for line in taken)


def _take_off(lines: Sequence[PricedLine], candidates: Iterable[Candidate], currency: str) -> list[DiscountLine]:
    left = [line.amount for line in lines]
    applied = []
    for candidate in candidates:
        discount = candidate.discount
        assert discount is not None
        weights, face_value = _face_value(discount, lines, _fits(candidate, lines), currency)
        weights = [min(weight, rest) for weight, rest in zip(weights, left, strict=True)]
        amount = min(face_value, sum(weights, ZERO))
        is_free_delivery = KINDS[discount.kind].is_free_delivery
        if amount <= 0 and not is_free_delivery:
            continue
        shares = share_out(amount, weights, currency)
        left = [rest - share for rest, share in zip(left, shares, strict=True)]
        applied.append(
            DiscountLine(
                discount.name,
                amount,
                tuple(shares),
                candidate.code,
                is_free_delivery,
                discount.pk,
                candidate.code_row.pk if candidate.code_row else None,
                discount.is_counted,
            )
        )
    return applied


def _face_value(
    discount: Discount, lines: Sequence[PricedLine], fits: Sequence[bool], currency: str
) -> tuple[list[Decimal], Decimal]:
    """The amounts of the lines over which the discount is shared out, and the amount that it takes off if enough is
    left."""
    kind = KINDS[discount.kind]
    amounts = kind.shared_over(discount, lines, fits)
    return amounts, kind.face_value(discount, amounts, currency)


def _fits(candidate: Candidate, lines: Iterable[PricedLine]) -> list[bool]:
    wanted = candidate.product_ids
    return [not line.is_gift_card and (wanted is None or line.product_id in wanted) for line in lines]


def _refusal(candidate: Candidate, lines: Sequence[PricedLine], now: datetime, currency: str) -> tuple[str, str] | None:
    """The reason why the discount does not apply, for programs and for shoppers; None if it does. Ignores other
    discounts."""
    discount = candidate.discount
    if discount is None:
        return UNKNOWN, str(MESSAGES[UNKNOWN])
    if not discount.is_active or discount.has_ended(now):
        return EXPIRED, str(MESSAGES[EXPIRED])
    if not discount.has_started(now):
        return NOT_APPLICABLE, _("This code is not valid yet.")
    if candidate.refused:
        return candidate.refused, str(MESSAGES[candidate.refused])
    subtotal = sum((line.amount for line in lines if not line.is_gift_card), ZERO)
    if subtotal < discount.minimum_subtotal:
        minimum = format_money(discount.minimum_subtotal, currency)
        return NOT_APPLICABLE, _("This code needs a subtotal of at least %(amount)s.") % {"amount": minimum}
    fits = _fits(candidate, lines)
    is_free_delivery = KINDS[discount.kind].is_free_delivery
    if not any(fits) or (not is_free_delivery and _face_value(discount, lines, fits, currency)[1] <= 0):
        return NOT_APPLICABLE, str(MESSAGES[NOT_APPLICABLE])
    return None


def _result(candidate: Candidate, refusal: tuple[str, str] | None, taken: Iterable[DiscountLine]) -> CodeResult:
    name = candidate.discount.name if candidate.discount else None
    if refusal:
        return CodeResult(candidate.code, name, refused=refusal[0], message=refusal[1])
    for line in taken:
        if line.code == candidate.code:
            return CodeResult(candidate.code, name, line.amount, line.is_free_delivery)
        if candidate.discount and line.discount_id == candidate.discount.pk:
            message = _("You have this discount already.")
            return CodeResult(candidate.code, name, refused=NOT_COMBINABLE, message=message)
    return CodeResult(candidate.code, name, refused=NOT_COMBINABLE, message=str(MESSAGES[NOT_COMBINABLE]))
