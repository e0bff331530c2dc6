"""Opens the demo shop, once, and takes it away again. Touches no other shop."""

import json
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from easy_thumbnails.models import Source, Thumbnail

from storefront.catalogue import importing
from storefront.catalogue.models import BundleItem, Category, Media, Product, TaxClass, Variant
from storefront.kit.refusals import Refusal
from storefront.pricing.models import Discount, ShippingRate, TaxRate
from storefront.server.demo.still_lifes import picture
from storefront.shops import actions
from storefront.shops.changes import changed
from storefront.shops.models import Shop

DOMAIN = "localhost"
NAME = "Harbour Lane"
EMAIL = "hello@harbour-lane.example"
CONTENT = resources.files("storefront.server.demo")
PAYMENT_WORDS = (
    "Please transfer the amount within 14 days, with the order number as the reference.\n"
    "This is a demo shop: nothing is sent, so please do not send money either."
)

ABROAD = ["AT", "BE", "CH", "CZ", "DK", "ES", "FI", "FR", "GB", "IE", "IT", "LU", "NL", "NO", "PL", "PT", "SE", "US"]
DELIVERY: list[dict[str, Any]] = [
    {"name": "Parcel, 2 to 3 days", "countries": ["DE"], "price": Decimal("4.90"), "free_from": Decimal("80.00")},
    {"name": "Express, next working day", "countries": ["DE"], "price": Decimal("12.50"), "free_from": None},
    {"name": "Collect at the harbour", "countries": ["DE"], "price": Decimal("0.00"), "free_from": None},
    {"name": "Parcel abroad, 4 to 8 days", "countries": ABROAD, "price": Decimal("14.90"), "free_from": None},
]
# Percent of the usual and of the reduced rate.
VAT = {"DE": ("19", "7"), "AT": ("20", "10"), "FR": ("20", "5.5"), "NL": ("21", "9"), "DK": ("25", "25")}

Drawn = dict[str, list[tuple[dict[str, Any], bytes]]]


class NotTheDemo(Refusal):
    """A shop of somebody's own stands where the demo would be."""

    code = "not_the_demo"
    message = f"The shop at {DOMAIN} was not made by the demo, so it is left alone."


def demo_shop() -> Shop | None:
    """The demo shop, if it stands. Raises NotTheDemo."""
    found = Shop.objects.filter(domain=DOMAIN).first()
    if found and found.email != EMAIL:
        raise NotTheDemo
    return found


def open_shop(*, base_url: str, now: datetime, tell: Callable[[str], None]) -> Shop:
    """The demo shop with everything in it, or nothing at all."""
    tell("Drawing the pictures of the demo shop.")
    # Before the transaction, which on SQLite keeps all other writers waiting.
    drawn = draw_pictures()
    tell("Filling the shop.")
    with transaction.atomic():
        shop = actions.create_shop(
            domain=DOMAIN, name=NAME, base_url=base_url, email=EMAIL, payment_methods=("demo", "manual"), now=now
        )
        shop.manual_payment_instructions = PAYMENT_WORDS
        shop.save(update_fields=["manual_payment_instructions"])
        _import(shop, now)
        _hang(shop, drawn)
        _set_terms(shop)
    return shop


def move_shop(shop: Shop, *, base_url: str, now: datetime) -> None:
    """Tell the shop where it is reached now, such as another port."""
    if shop.base_url != base_url:
        shop.base_url, shop.updated_at = base_url, now
        shop.full_clean()
        with transaction.atomic():
            shop.save(update_fields=["base_url", "updated_at"])
            changed(shop.pk)


def close_shop(shop: Shop) -> None:
    """Delete the demo shop with its products, carts, orders and uploaded pictures."""
    names = list(Media.objects.filter(shop=shop).exclude(file="").values_list("file", flat=True))
    with transaction.atomic():
        # What protects its parts on any other day goes first.
        BundleItem.objects.filter(shop=shop).delete()
        Category.objects.filter(shop=shop).update(parent=None)
        changed(shop.pk)
        shop.delete()
    sources = Source.objects.filter(name__in=names)
    small = list(Thumbnail.objects.filter(source__in=sources).values_list("name", flat=True))
    sources.delete()
    for name in (*names, *small):
        default_storage.delete(name)


def draw_pictures() -> Drawn:
    """For each product's SKU its pictures, as they are described and as PNG."""
    plan: dict[str, list[dict[str, Any]]] = json.loads(CONTENT.joinpath("pictures.json").read_text())
    return {
        sku: [
            (
                words,
                picture(
                    words["drawing"],
                    wall=words["wall"],
                    colour=words["colour"],
                    accent=words.get("accent", ""),
                    close=words.get("close", False),
                ),
            )
            for words in pictures
        ]
        for sku, pictures in plan.items()
    }


def _import(shop: Shop, now: datetime) -> None:
    with resources.as_file(CONTENT.joinpath("products.jsonl")) as file:
        report = importing.import_products(shop=shop, file=Path(file), format="native", now=now)
    if report.failed:
        raise RuntimeError(f"the demo's own products do not import: {report.problems[0]}")


def _hang(shop: Shop, drawn: Drawn) -> None:
    """Give every product its pictures, and every variant the one that shows it."""
    products = {product.sku: product for product in Product.objects.filter(shop=shop)}
    for sku, pictures in drawn.items():
        for number, (words, png) in enumerate(pictures):
            media = Media(shop=shop, product=products[sku], alt=words["alt"], sort_order=number)
            media.file.save(f"{sku.lower()}-{number + 1}.png", ContentFile(png), save=True)
            if "variant" in words:
                Variant.objects.filter(shop=shop, sku=words["variant"]).update(image=media)


def _set_terms(shop: Shop) -> None:
    for order, rate in enumerate(DELIVERY):
        ShippingRate.objects.create(shop=shop, sort_order=order, **rate)
    reduced, _ = TaxClass.objects.get_or_create(shop=shop, name="reduced")
    for country, (usual, lower) in VAT.items():
        TaxRate.objects.create(shop=shop, name="VAT", country=country, percent=Decimal(usual))
        TaxRate.objects.create(shop=shop, name="VAT", country=country, percent=Decimal(lower), tax_class=reduced)
    Discount.objects.create(
        shop=shop, name="5% off from €100", kind=Discount.Kind.PERCENT, value=Decimal(5), minimum_subtotal=Decimal(100)
    )
