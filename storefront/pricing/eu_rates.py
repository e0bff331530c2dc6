"""Loads a starting set of the EU's VAT rates into a shop, without losing the shop's own rates.

Source: the member states' published rates as the European Commission lists them ("Taxes in Europe"), on the day AS_OF.
Which products have a reduced rate differs from state to state; merchants have to check that.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from storefront import audit
from storefront.catalogue.models import TaxClass
from storefront.kit.countries import country_name
from storefront.pricing.models import TaxRate
from storefront.shops.languages import TEXTS
from storefront.shops.models import Shop

AS_OF = date(2026, 1, 1)
# What the tax is called on price tags, by language.
NAMES = {"ar": "ضريبة القيمة المضافة", "de": "MwSt.", "es": "IVA", "fr": "TVA", "he": "מע״מ", "it": "IVA", "nl": "btw"}
NAME = "VAT"
STANDARD, REDUCED, SECOND_REDUCED, SUPER_REDUCED = "", "reduced", "second reduced", "super-reduced"
# By country: the standard rate, the lower and the higher reduced rate, and the rate below 5%; empty if there is none.
RATES: dict[str, tuple[str, str, str, str]] = {
    "AT": ("20", "10", "13", ""),
    "BE": ("21", "6", "12", ""),
    "BG": ("20", "9", "", ""),
    "CY": ("19", "5", "9", "3"),
    "CZ": ("21", "12", "", ""),
    "DE": ("19", "7", "", ""),
    "DK": ("25", "", "", ""),
    "EE": ("24", "9", "13", ""),
    "ES": ("21", "10", "", "4"),
    "FI": ("25.5", "10", "13.5", ""),
    "FR": ("20", "5.5", "10", "2.1"),
    "GR": ("24", "6", "13", ""),
    "HR": ("25", "5", "13", ""),
    "HU": ("27", "5", "18", ""),
    "IE": ("23", "9", "13.5", "4.8"),
    "IT": ("22", "5", "10", "4"),
    "LT": ("21", "5", "12", ""),
    "LU": ("17", "8", "14", "3"),
    "LV": ("21", "5", "12", ""),
    "MT": ("18", "5", "7", ""),
    "NL": ("21", "9", "", ""),
    "PL": ("23", "5", "8", ""),
    "PT": ("23", "6", "13", ""),
    "RO": ("21", "11", "", ""),
    "SE": ("25", "6", "12", ""),
    "SI": ("22", "5", "9.5", ""),
    "SK": ("23", "5", "19", ""),
}


@dataclass(frozen=True, slots=True)
class EuRate:
    """A rate of the set; `class_name` is empty for the standard class."""

    country: str
    class_name: str
    percent: Decimal

    def __str__(self) -> str:
        return f"{country_name(self.country)}, {self.class_name or 'standard'}: {self.percent.normalize():f}%"


@dataclass(slots=True)
class Plan:
    """The effect of loading the set: `new` rates are added, `same` ones exist. `different` are the shop's own rates
    that differ, each with the rate in the set; they are replaced only if the merchant chose that (`replaced`)."""

    new: list[EuRate] = field(default_factory=list)
    same: int = 0
    different: list[tuple[TaxRate, EuRate]] = field(default_factory=list)
    replaced: int = 0

    @property
    def summary(self) -> str:
        kept = len(self.different) - self.replaced
        return _("%(added)s added, %(replaced)s replaced, %(kept)s of your own kept, %(same)s were there already.") % {
            "added": len(self.new),
            "replaced": self.replaced,
            "kept": kept,
            "same": self.same,
        }


def eu_rates() -> Iterator[EuRate]:
    for country, percents in RATES.items():
        for class_name, percent in zip((STANDARD, REDUCED, SECOND_REDUCED, SUPER_REDUCED), percents, strict=True):
            if percent:
                yield EuRate(country, class_name, Decimal(percent))


def plan_eu_rates(shop: Shop) -> Plan:
    rows = TaxRate.objects.filter(shop=shop, country__in=RATES, region="", step=1).select_related("tax_class")
    own = {
        (row.country, row.tax_class.name.casefold() if row.tax_class else STANDARD): row
        for row in rows
        if not row.postcodes
    }
    plan = Plan()
    for rate in eu_rates():
        found = own.get((rate.country, rate.class_name))
        if found is None:
            plan.new.append(rate)
        elif found.percent == rate.percent:
            plan.same += 1
        else:
            plan.different.append((found, rate))
    return plan


@transaction.atomic
def load_eu_rates(*, shop: Shop, replaces: bool = False, now: datetime) -> Plan:
    """Add the rates of the set that the shop lacks, with their tax classes. Rates of the shop that differ stay as they
    are, unless `replaces`. A concurrent call waits for the first one, and finds its rates."""
    Shop.objects.select_for_update(no_key=True).get(pk=shop.pk)
    plan = plan_eu_rates(shop)
    classes = {name: _tax_class(shop, name) for name in (REDUCED, SECOND_REDUCED, SUPER_REDUCED)}
    TaxRate.objects.bulk_create(
        TaxRate(
            shop=shop,
            name=_name(shop.language),
            translations={code: {"name": _name(code)} for code in shop.further_languages if code in TEXTS} or None,
            country=rate.country,
            tax_class=classes[rate.class_name] if rate.class_name else None,
            percent=rate.percent,
        )
        for rate in plan.new
    )
    for row, rate in plan.different if replaces else ():
        TaxRate.objects.filter(shop=shop, pk=row.pk).update(percent=rate.percent)
        plan.replaced += 1
    before = {str(rate): f"{row.percent.normalize():f}%" for row, rate in plan.different} if replaces else {}
    after = {"as_of": AS_OF.isoformat(), "added": len(plan.new), "replaced": plan.replaced}
    about = audit.Object("tax_rate", None, f"EU rates of {AS_OF.isoformat()}")
    action = "tax_rate.eu_set_loaded"
    audit.record(shop=shop, action=action, object=about, before={"replaced": before}, after=after, now=now)
    return plan


def _name(language: str) -> str:
    return NAMES.get(language, NAME)


def _tax_class(shop: Shop, name: str) -> TaxClass:
    found = TaxClass.objects.filter(shop=shop, name__iexact=name).first()
    return found or TaxClass.objects.create(shop=shop, name=name)
