"""Stops an update of existing products before anything is written, if it would change more of the shop than a mistake
may: prices to 0.00, a fifth of the shop hidden, a fifth of it repriced by more than half.

Each rule is accepted by its name, and accepting one accepts no other.
"""

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext

from storefront.catalogue.models import Product, Variant
from storefront.kit.format import format_count
from storefront.kit.refusals import Refusal
from storefront.kit.text import Text
from storefront.product_files.impact import Impact
from storefront.shops.models import Shop

ZERO_PRICE, HIDDEN, REPRICED = "zero-price", "hidden", "repriced"
RULES = (ZERO_PRICE, HIDDEN, REPRICED)
# The sentences about shares of the shop.
_SHARES = {
    "hidden": _lazy(
        "%(number)s of the shop's %(total)s active products would be hidden, which is %(percent)s; "
        "the bound is %(most)s%% (rule %(rule)s)."
    ),
    "variants_off": _lazy(
        "%(number)s of the shop's %(total)s active variants would stop selling, which is %(percent)s; "
        "the bound is %(most)s%% (rule %(rule)s)."
    ),
    "repriced": _lazy(
        "%(number)s of the shop's %(total)s active products would be repriced by more than half, which is %(percent)s; "
        "the bound is %(most)s%% (rule %(rule)s)."
    ),
}
# The share of the shop, in percent, from which on HIDDEN and REPRICED stop an import.
DEFAULT_PERCENT = Decimal(20)
# In a small shop, fewer products or variants than this are no reason to stop.
MIN_CHANGED = 3


@dataclass(frozen=True, slots=True)
class Trip:
    """A rule that stops the import, with a sentence that names count and bound."""

    rule: str
    sentence: str


class ImpactRefused(Refusal):
    """The file would change more than a rule allows. Nothing was written."""

    code = "impact_refused"

    def __init__(self, trips: list[Trip], impact: Impact) -> None:
        self.trips, self.impact = trips, impact
        names = " ".join(f"--accept {each.rule}" for each in trips)
        reasons = " ".join(each.sentence for each in trips)
        super().__init__(f"Nothing was imported. {reasons} If that is meant, add {names}.")


@dataclass(frozen=True)
class Gate:
    """The rules that were accepted, and the bounds of the others in percent of the shop."""

    accepted: Collection[str] = ()
    max_hidden: Decimal = DEFAULT_PERCENT
    max_repriced: Decimal = DEFAULT_PERCENT

    def check(self, shop: Shop, impact: Impact) -> None:
        """Raises ImpactRefused if a rule that was not accepted stops this import."""
        if trips := [each for each in self.trips(shop, impact) if each.rule not in self.accepted]:
            raise ImpactRefused(trips, impact)

    def trips(self, shop: Shop, impact: Impact) -> list[Trip]:
        """Return all rules that this impact trips, whether they are accepted or not."""
        counts, found = impact.counts, []
        if zero := counts["prices_to_zero"]:
            text = ngettext(
                "%(count)s price would be set to 0.00 (rule %(rule)s).",
                "%(count)s prices would be set to 0.00 (rule %(rule)s).",
                zero,
            )
            found.append(Trip(ZERO_PRICE, text % {"count": format_count(zero), "rule": ZERO_PRICE}))
        active: Any = Product.objects.filter(shop=shop, deleted_at=None, status=Product.Status.ACTIVE)
        variants = Variant.objects.filter(
            shop=shop, is_active=True, product__deleted_at=None, product__status=Product.Status.ACTIVE
        )
        for rule, name, rows, most in (
            (HIDDEN, "hidden", active, self.max_hidden),
            (HIDDEN, "variants_off", variants, self.max_hidden),
            (REPRICED, "repriced", active, self.max_repriced),
        ):
            number = counts[name]
            if number and (text := _share(number, rows.count(), _SHARES[name], rule, most)):
                found.append(Trip(rule, text))
        return found


def _share(number: int, total: int, text: Text, rule: str, most: Decimal) -> str:
    """The sentence if this is too much of the shop; empty if it is not. Repriced drafts are not part of the total."""
    total = max(total, number)
    if number < MIN_CHANGED or Decimal(number) * 100 < most * total:
        return ""
    percent = f"{Decimal(number) * 100 / total:.0f}%"
    return str(text) % {
        "number": format_count(number),
        "total": format_count(total),
        "percent": percent,
        "most": f"{most.normalize():f}",
        "rule": rule,
    }
