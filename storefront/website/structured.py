"""Products as schema.org JSON-LD, for search engines and agents: a `Product`, or a `ProductGroup` with its variants."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from stdnum import ean

from storefront.catalogue.models import Brand
from storefront.content.models import Page
from storefront.pricing import queries as pricing
from storefront.pricing.shipping import Parcel, cheapest, shipping_options
from storefront.pricing.zones import is_narrow, zone_of
from storefront.shops.models import Shop
from storefront.website import offers, texts
from storefront.website.choices import fixed_values
from storefront.website.details import ProductDetail
from storefront.website.offers import Availability

Data = dict[str, Any]

# More variants than search engines show. The page itself has all of them.
MAX_VARIANTS = 100


def structured_product(shop: Shop, record: Data, detail: ProductDetail, pages: Sequence[Page]) -> Data:
    """The product as schema.org JSON-LD. `pages` are the shop's published ones."""
    url = shop.base_url + reverse("website:product", args=[record["slug"]])
    more = _terms_of_sale(shop, record, pages)
    common = {
        "name": record["name"],
        "url": url,
        "description": texts.excerpt(record["short_description"] or record["description"], 500),
        "brand": _brand(shop, record),
        "image": [media["url"] for media in record["media"]],
    }
    if not detail.variants:
        own = {"sku": record["sku"], "gtin": gtin(record["barcode"])}
        stock, price = _stock(detail.availability), detail.price
        offer = _offer(shop, record, url, price.amount, stock, is_from=price.is_from)
        return _filled({**_kind("Product"), **common, **own, "offers": offer | more})
    rows = {variant["id"]: variant for variant in record["variants"]}
    is_preorder = detail.availability.is_preorder
    varied = list(dict.fromkeys(name for each in detail.variants for name in each["values"]))
    return _filled(
        {
            **_kind("ProductGroup"),
            **common,
            "productGroupID": f"p{record['id']}",
            "variesBy": [_NAMES.get(name.casefold(), name) for name in varied],
            "hasVariant": [
                _variant(shop, record, rows[each["id"]], each, url, more, is_preorder=is_preorder)
                for each in detail.variants[:MAX_VARIANTS]
            ],
        }
    )


def gtin(barcode: str | None) -> str:
    """The barcode if it is a GTIN of 8, 12, 13 or 14 digits with a right check digit; else empty."""
    return barcode if barcode and ean.is_valid(barcode) else ""


# Names of options for which schema.org has a property.
_NAMES = {
    name: f"https://schema.org/{kind}"
    for kind, names in {"color": ("color", "colour"), "size": ("size",), "material": ("material",)}.items()
    for name in names
}


def _variant(shop: Shop, record: Data, row: Data, shown: Data, url: str, more: Data, *, is_preorder: bool) -> Data:
    values = fixed_values(row)
    availability = offers.stock_availability(row, threshold=0)
    stock = _stock(replace(availability, can_sell=shown["sells"], is_preorder=is_preorder))
    address = f"{url}?{urlencode({'variant': row['id']})}"
    return _filled(
        {
            "@type": "Product",
            "name": f"{record['name']} – {row['name']}" if row["name"] else record["name"],
            "url": address,
            "sku": shown["sku"],
            "gtin": gtin(row["barcode"]),
            "image": row["image"],
            **{_NAMES[name.casefold()].rpartition("/")[2]: value for name, value in values.items() if _is_known(name)},
            "additionalProperty": [
                {"@type": "PropertyValue", "name": name, "value": value}
                for name, value in values.items()
                if not _is_known(name)
            ],
            "offers": _offer(shop, record, address, Decimal(shown["total"]), stock) | more,
        }
    )


def _is_known(name: str) -> bool:
    return name.casefold() in _NAMES


def _offer(shop: Shop, record: Data, url: str, amount: Decimal, stock: str, *, is_from: bool = False) -> Data:
    """An offer; from the lowest price on if the shopper's choices add to it."""
    kind, name = ("AggregateOffer", "lowPrice") if is_from else ("Offer", "price")
    offer = {"@type": kind, name: str(amount)} | {
        "url": url,
        "priceCurrency": shop.currency,
        "availability": f"https://schema.org/{stock}",
    }
    if stock == "PreOrder" and record["available_from"]:
        offer["availabilityStarts"] = record["available_from"]
    if record["regular_compare_price"] is not None and record["sale_until"]:
        offer["priceValidUntil"] = record["sale_until"]
    return offer | {"itemCondition": "https://schema.org/NewCondition"}


def _stock(availability: Availability) -> str:
    if not availability.can_sell:
        return "OutOfStock"
    if availability.is_preorder:
        return "PreOrder"
    return "BackOrder" if availability.words == offers.BACKORDER.words else "InStock"


def _brand(shop: Shop, record: Data) -> Data:
    if record["brand_id"] is None:
        return {}
    name = Brand.objects.filter(shop=shop, pk=record["brand_id"]).values_list("name", flat=True).first()
    return {"@type": "Brand", "name": name} if name else {}


def _terms_of_sale(shop: Shop, record: Data, pages: Sequence[Page]) -> Data:
    """Members of each offer: what delivery of one piece costs in the shop's own country, and the page about returns."""
    returns = next((page for page in pages if page.kind == Page.Kind.RETURNS), None)
    link = shop.base_url + reverse("website:page", args=[returns.slug]) if returns else ""
    policy = {"@type": "MerchantReturnPolicy", "merchantReturnLink": link} if link else {}
    return _filled({"shippingDetails": _delivery(shop, record), "hasMerchantReturnPolicy": policy})


def _delivery(shop: Shop, record: Data) -> Data:
    if not record["requires_shipping"] or record["is_gift_card"] or record["type"] == "digital":
        return {}
    zones = pricing.delivery_zones(shop)
    zone = zone_of(zones, {"country": shop.country, "postal_code": ""})
    if zone is None or is_narrow(zone):
        return {}
    parcel = Parcel(
        weight=Decimal(record["weight"]),
        subtotal=Decimal(record["price"]),
        origins=frozenset([record["shipping_origin_id"]]),
        is_media_mail=record["media_mail_eligible"],
    )
    found = cheapest(shipping_options(pricing.shipping_rates(shop, zone), parcel))
    if found is None:
        return {}
    return {
        "@type": "OfferShippingDetails",
        "shippingRate": {"@type": "MonetaryAmount", "value": str(found.price), "currency": shop.currency},
        "shippingDestination": {"@type": "DefinedRegion", "addressCountry": shop.country},
    }


def _kind(name: str) -> Data:
    return {"@context": "https://schema.org", "@type": name}


def _filled(members: Data) -> Data:
    return {member: value for member, value in members.items() if value}
