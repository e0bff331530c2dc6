"""Checks whether the lines of a cart can be bought now, and for how much: the catalogue may have changed since they
were added.

The rules and codes are those of adding (`adding.py`), so a line has a problem where adding it again would be refused.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from storefront.carts import rules
from storefront.carts.adding import checked_choices, current_price, unsold
from storefront.carts.models import Cart, CartLine
from storefront.carts.purchasable import Purchasable, Sold, Stock, purchasables_of
from storefront.catalogue.stock import InsufficientStock
from storefront.kit.format import format_money
from storefront.kit.money import ZERO, to_wire
from storefront.kit.refusals import Problem, Refusal
from storefront.pricing import queries as pricing
from storefront.pricing.queries import GroupTerms
from storefront.shops.models import Shop

PRICE_CHANGED = "price_changed"
# The product is for sale, but not as it was chosen.
_CHOICES = {"option_required", "invalid_option", "variant_required", "invalid_custom_price", "invalid"}


@dataclass(slots=True)
class LineCheck:
    """A line of a cart, compared with the catalogue.

    `old_price` is the price in the line, `price` the current one, or None if the line cannot be bought in any quantity.
    `problems` are those with which adding it would be refused, and `left` is how many of its pieces can be bought.
    `choices` are its current options.
    """

    line: CartLine
    old_price: Decimal
    left: int
    price: Decimal | None = None
    problems: list[Problem] = field(default_factory=list)
    choices: list[rules.Choice] = field(default_factory=list)

    @property
    def is_available(self) -> bool:
        """Returns True if the line can be bought unchanged."""
        return not self.problems

    @property
    def is_unavailable(self) -> bool:
        """Returns True if the line must be removed or chosen again; False if only its quantity is too high."""
        return self.price is None

    @property
    def is_short(self) -> bool:
        """Returns True if there is less stock than the line's quantity, or the cart's total is too high with it."""
        return bool(self.problems) and not self.is_unavailable

    @property
    def is_price_changed(self) -> bool:
        return self.price is not None and self.price != self.old_price

    @property
    def can_be_chosen_again(self) -> bool:
        """Returns True if the line is unavailable only because of its variant, options, damage or custom price."""
        return self.is_unavailable and all(each["code"] in _CHOICES for each in self.problems)

    @property
    def sentence(self) -> str:
        """The message to the shopper about a line that cannot be bought as it is; empty if it can."""
        if self.can_be_chosen_again:
            return _("%(name)s can no longer be bought as you chose it.") % {"name": self.line.name_snapshot}
        if self.is_unavailable:
            return _("%(name)s is no longer available.") % {"name": self.line.name_snapshot}
        return self.problems[0]["message"] if self.problems else ""


def check_cart(
    shop: Shop,
    cart: Cart | None,
    lines: Sequence[CartLine],
    now: datetime,
    known: Mapping[Sold, Purchasable] | None = None,
) -> list[LineCheck]:
    """The check of each line, in their order. The lines were read with their products (`queries.cart_with_lines`);
    `known` are purchasables that the caller has loaded. The number of queries does not depend on the number of lines.
    """
    terms = pricing.group_terms(shop, cart.customer_id if cart else None, {line.product_id for line in lines})
    return check_lines(shop, lines, purchasables_of(shop, lines, now, known), terms, now)


def check_lines(
    shop: Shop,
    lines: Iterable[CartLine],
    purchasables: Mapping[Sold, Purchasable],
    terms: GroupTerms,
    now: datetime,
    held: Callable[[], Mapping[Stock, int]] | None = None,
) -> list[LineCheck]:
    """The check of each line, in their order. Lines that use the same stock have it in their order, so a later one has
    what earlier ones leave. `held` returns the pieces that the cart's own payment has taken from the stock; it is only
    called if a line is short."""
    lines = list(lines)
    wanted = [(line.product_id, line.variant_id) for line in lines]
    refusals = unsold(shop, set(wanted), purchasables, now)
    stocks, subtotal = _Stocks(held), ZERO
    checks = []
    for line, sold in zip(lines, wanted, strict=True):
        check = LineCheck(line, line.price_snapshot, line.qty)
        checks.append(check)
        try:
            if sold in refusals:
                raise refusals[sold]
            chosen = rules.choices_to_resolve(line.options)
            found = purchasables[sold]
            check.choices = checked_choices(found, chosen, line.custom_price, shop.currency, is_damaged=line.is_damaged)
            check.price = current_price(line, found, check.choices, terms)
            check.left = stocks.take(line, found)
            if check.left < line.qty:
                raise short_of(found.name, check.left)
            check.left = min(line.qty, rules.affordable_qty(check.price, subtotal))
            if check.left < line.qty:
                raise rules.TotalTooLarge
            subtotal += check.price * line.qty
        except Refusal as refusal:
            check.problems = refusal.body()["problems"]
            check.left = check.left if isinstance(refusal, InsufficientStock | rules.TotalTooLarge) else 0
    return checks


class _Stocks:
    """The stock that is left while one line after the other takes its pieces."""

    def __init__(self, held: Callable[[], Mapping[Stock, int]] | None) -> None:
        self._held = held
        self._taken: Counter[Stock] = Counter()

    def take(self, line: CartLine, purchasable: Purchasable) -> int:
        """Take the line's pieces, as many as there are. Returns how many."""
        one = rules.stock_uses(
            line.product_id, line.variant_id, 1, is_damaged=line.is_damaged, bundle_items=purchasable.bundle_items
        )
        fits = rules.addable_qty(one, self._taken, purchasable.levels)
        if fits is not None and fits < line.qty and self._held is not None:
            self._taken.subtract(self._held())
            self._held = None
            fits = rules.addable_qty(one, self._taken, purchasable.levels)
        qty = line.qty if fits is None else min(line.qty, fits)
        for use in one:
            self._taken[use.kind, use.id] += use.qty * qty
        return qty


def cart_problems(shop: Shop, checks: Iterable[LineCheck]) -> list[dict[str, Any]]:
    """The problems of the cart for programs, in the order of the lines: `{key, code, message}` and members that help to
    correct it (R-CART-53). A changed price is no reason not to sell a line."""
    found = []
    for check in checks:
        for each in check.problems:
            help = {name: value for name, value in each.items() if name not in ("field", "code", "message")}
            found.append(_problem(check.line, each["code"], each["message"], **help))
        if check.is_price_changed:
            message = price_change(check, shop.currency)
            prices = {"old_price": to_wire(check.old_price), "new_price": to_wire(check.price)}
            found.append(_problem(check.line, PRICE_CHANGED, message, **prices))
    return found


def price_change(check: LineCheck, currency: str) -> str:
    """The message to the shopper about a line whose price has changed."""
    old, new = format_money(check.old_price, currency), format_money(check.price, currency)
    given = {"name": check.line.name_snapshot, "old": old, "new": new}
    return _("The price of %(name)s changed from %(old)s to %(new)s.") % given


def _problem(line: CartLine, code: str, message: str, **help: Any) -> dict[str, Any]:
    return {"key": line.key, "code": code, "message": message, **help}


def short_of(name: str, available: int) -> InsufficientStock:
    """The refusal of a line whose quantity is higher than what is `available`."""
    given = {"name": name, "available": available}
    message = _("Only %(available)s of %(name)s available.") if available else _("%(name)s is sold out.")
    return InsufficientStock(message % given, available=available)
