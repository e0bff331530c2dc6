"""Reads taxes, delivery zones and rates, and the terms of customer groups."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db.models import F, Q

from storefront.catalogue.models import Product
from storefront.catalogue.weights import without_weight
from storefront.customers.models import CustomerGroup
from storefront.kit.money import ZERO, quantize
from storefront.kit.translations import spoken, translated_text
from storefront.pricing.discounts import PricedLine
from storefront.pricing.models import DeliveryZone, GroupPrice, PickupPlace, ShippingRate, TaxRate
from storefront.pricing.rules import price_for_group
from storefront.pricing.shipping import Step
from storefront.pricing.taxes import ONE, TaxTerms, included_in
from storefront.shops.models import Shop
from storefront.shops.spoken import further_language


@dataclass(frozen=True, slots=True)
class GroupTerms:
    """The prices of a customer group for some products: group prices, or a percentage off the list price.

    `prices` is keyed by product and variant id. `excluded` are the ids of products without the percentage. A group that
    sees prices without tax (`is_net`) has `net_parts`: the net part of the price, by product. Without any of these
    (`is_plain`), as for everybody without a group, list prices apply.
    """

    currency: str
    percent: Decimal = ZERO
    prices: dict[tuple[int, int | None], Decimal] = field(default_factory=dict)
    excluded: frozenset[int] = frozenset()
    net_parts: dict[int, Decimal] = field(default_factory=dict)
    is_net: bool = False

    @property
    def is_plain(self) -> bool:
        return not (self.percent or self.prices or self.is_net)

    def price(self, product_id: int, variant_id: int | None) -> Decimal | None:
        """The group price of the variant, else of the product; None without one."""
        own = self.prices.get((product_id, variant_id))
        return own if own is not None else self.prices.get((product_id, None))

    def percent_off(self, product_id: int) -> Decimal:
        return ZERO if product_id in self.excluded else self.percent

    def price_of(self, list_price: Decimal, product_id: int, variant_id: int | None = None) -> Decimal:
        """The unit price that the group sees, without options, rounded."""
        own = self.price(product_id, variant_id)
        priced = quantize(price_for_group(list_price, own=own, percent=self.percent_off(product_id)), self.currency)
        return self.shown(priced, product_id)

    def shown(self, amount: Decimal, product_id: int) -> Decimal:
        """An additional amount, such as an option's price, as the group sees it."""
        return quantize(amount * self.net_parts.get(product_id, ONE), self.currency)


def group_terms(shop: Shop, customer_id: int | None, product_ids: Collection[int]) -> GroupTerms:
    """The terms of the customer's group for these products; plain ones without a group. No query without a customer."""
    if customer_id is None:
        return GroupTerms(shop.currency)
    group = CustomerGroup.objects.filter(shop=shop, customer__id=customer_id, customer__shop=shop).first()
    if group is None:
        return GroupTerms(shop.currency)
    # A gift card is always sold at its value. A discount would create money.
    rows = GroupPrice.objects.filter(shop=shop, group=group, product_id__in=product_ids, product__is_gift_card=False)
    prices = {(row.product_id, row.variant_id): row.price for row in rows}
    net: dict[str, Any] = {}
    if group.sees_net_prices and shop.prices_include_tax:
        net = {"net_parts": _net_parts(shop, product_ids), "is_net": True}
    if not group.discount_percent:
        return GroupTerms(shop.currency, prices=prices, **net)
    excluded = Product.objects.filter(
        Q(exclude_from_group_discounts=True) | Q(categories__exclude_from_group_discounts=True) | Q(is_gift_card=True),
        shop=shop,
        pk__in=product_ids,
    ).values_list("pk", flat=True)
    return GroupTerms(shop.currency, group.discount_percent, prices, frozenset(excluded), **net)


def _net_parts(shop: Shop, product_ids: Collection[int]) -> dict[int, Decimal]:
    """The net part of the price, by product."""
    terms = tax_terms(shop, is_net=True)
    rows = Product.objects.filter(shop=shop, pk__in=product_ids).only("tax_class", "is_taxable", "is_gift_card")
    return {
        row.pk: included_in(
            PricedLine(ZERO, tax_class_id=row.tax_class_id, is_taxable=row.is_taxable, is_gift_card=row.is_gift_card),
            terms,
        ).net_part
        for row in rows
    }


def tax_terms(
    shop: Shop,
    *,
    destination: Mapping[str, str] | None = None,
    buyer: Mapping[str, str] | None = None,
    vat_id_country: str = "",
    is_net: bool = False,
    language: str = "",
) -> TaxTerms:
    """How a basket is taxed (`taxes.TaxTerms`), with names in this language. One query; none if there is no address and
    prices are as entered."""
    wanted = {address["country"] for address in (destination, buyer) if address}
    if not wanted and not (is_net and shop.prices_include_tax):
        return TaxTerms(included=shop.prices_include_tax)
    # The rates of France apply in Monaco.
    wanted |= {shop.country} | ({"FR"} if "MC" in wanted else set())
    rates = TaxRate.objects.filter(shop=shop, country__in=wanted).order_by("pk")
    return TaxTerms(
        rates=tuple(spoken(rates, further_language(shop, language), "name")),
        home=shop.country,
        destination=destination,
        buyer=buyer,
        vat_id_country=vat_id_country,
        included=shop.prices_include_tax,
        is_net=is_net,
        eu_tax=shop.eu_tax,
        rounding=shop.tax_rounding,
        delivery_tax=shop.delivery_tax,
        delivery_class_id=shop.delivery_tax_class_id,
        exports_at_net_price=shop.exports_at_net_price,
    )


def tax_name(shop: Shop, language: str = "") -> str:
    """The name of the tax in the shop's own country, such as VAT; empty if there is none."""
    rates = TaxRate.objects.filter(shop=shop, country=shop.country).order_by("step", "pk")
    for name, translations in rates.values_list("name", "translations")[:1]:
        return translated_text(name, "name", translations, further_language(shop, language))
    return ""


def delivery_zones(shop: Shop) -> list[DeliveryZone]:
    """All zones, also those without a rate, to which the shop does not deliver."""
    return list(DeliveryZone.objects.filter(shop=shop).order_by("pk"))


def served_zones(shop: Shop) -> set[int]:
    """The ids of the zones with an active rate."""
    return set(ShippingRate.objects.filter(shop=shop, is_active=True).values_list("zone", flat=True))


def shipping_rates(shop: Shop, zone: DeliveryZone, language: str = "") -> list[tuple[ShippingRate, list[Step]]]:
    """The zone's active rates with their tables, in the merchant's order. `shipping.shipping_options` selects those
    that fit a basket.

    One statement, so that a rate never comes with the table of another moment.
    """
    rows = ShippingRate.objects.filter(shop=shop, zone=zone, is_active=True).order_by(
        "sort_order", "pk", F("steps__up_to").asc(nulls_last=True)
    )
    found: dict[int, tuple[ShippingRate, list[Step]]] = {}
    for rate in rows.annotate(step_up_to=F("steps__up_to"), step_price=F("steps__price")):
        _, steps = found.setdefault(rate.pk, (rate, []))
        if rate.step_price is not None:
            steps.append((rate.step_up_to, rate.step_price))
    spoken((rate for rate, _ in found.values()), further_language(shop, language), "name", "delivery_time")
    return list(found.values())


def pickup_places(shop: Shop, language: str = "") -> list[PickupPlace]:
    """The active pick-up places, in the merchant's order."""
    places = PickupPlace.objects.filter(shop=shop, is_active=True).order_by("sort_order", "pk")
    return spoken(places, further_language(shop, language), "name", "hours", "ready")


def products_without_weight(shop: Shop) -> int:
    """Count the shipped products without a weight, if a rate of the shop depends on weight."""
    by_weight = Q(basis=ShippingRate.Basis.WEIGHT) | Q(minimum_weight__gt=0) | Q(maximum_weight__isnull=False)
    if not ShippingRate.objects.filter(by_weight, shop=shop, is_active=True).exists():
        return 0
    return Product.objects.filter(without_weight(), shop=shop, deleted_at=None, status=Product.Status.ACTIVE).count()
