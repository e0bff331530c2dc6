"""Opens the demo shop, and deletes it again. Other shops are never changed."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from easy_thumbnails.models import Source, Thumbnail

from storefront.catalogue.actions import update_category, update_product
from storefront.catalogue.digital_files import store_file
from storefront.catalogue.media import thumbnails
from storefront.catalogue.models import (
    BundleItem,
    Category,
    DigitalFile,
    Media,
    Product,
    StoredFile,
    Variant,
)
from storefront.content.models import Looks
from storefront.demo import german
from storefront.demo.content import add_pages
from storefront.documents.models import InvoiceSettings
from storefront.kit.money import quantize
from storefront.kit.refusals import Refusal
from storefront.pricing.eu_rates import load_eu_rates
from storefront.pricing.models import (
    DeliveryZone,
    Discount,
    DiscountCode,
    PickupPlace,
    ShippingRate,
    ShippingRateStep,
)
from storefront.product_files import importing
from storefront.shops.changes import publish_change
from storefront.shops.models import AuditEntry, Shop
from storefront.staff import actions

DOMAIN = "localhost"
NAME = "Harbour Lane"
EMAIL = "hello@harbour-lane.example"
CONTENT = resources.files("storefront.demo")
# The download that the shop sells.
PATTERN = "harbour-cardigan.pdf"
PAYMENT_WORDS = (
    "Please transfer the amount within 14 days, with the order number as the reference.\n"
    "This is a demo shop: nothing is sent, so please do not send money either."
)
SELLER = {
    "legal_name": "Harbour Lane GmbH",
    "address": "Am Kai 12\n20457 Hamburg\nGermany",
    "vat_id": "DE123456789",
    "footer": "This is a demo shop: nothing is sent, and nothing is owed.",
}
# In the footer of every page.
PHONE, HOURS = "+49 40 5550 0123", "Monday to Saturday, 10 to 18"

ABROAD = ["AT", "BE", "CH", "CZ", "DK", "ES", "FI", "FR", "GB", "IE", "IT", "LU", "NL", "NO", "PL", "PT", "SE", "US"]
# When pre-orders are sent, and a sale ends.
PREORDERS_AHEAD, SALE_AHEAD = timedelta(days=45), timedelta(days=14)
ON_SALE = "LANTERN"
# Ten percent off everything.
CODE = "WELCOME10"
DELIVERY: dict[str, tuple[list[str], list[dict[str, Any]]]] = {
    "Germany": (
        ["DE"],
        [
            {"name": "Parcel", "delivery_time": "2 to 3 days", "price": "4.90", "free_from": "80.00"},
            {"name": "Express", "delivery_time": "next working day", "price": "12.50"},
        ],
    ),
    "Abroad": (ABROAD, [{"name": "Parcel abroad", "delivery_time": "4 to 8 days", "basis": "weight"}]),
}
# The table of the parcel abroad: up to this weight in kilograms, this price.
ABROAD_PRICES = {"2": "14.90", "10": "24.90", None: "39.90"}
HARBOUR = {
    "name": "Harbour Lane shop",
    "line1": "Am Sandtorkai 1",
    "postal_code": "20457",
    "city": "Hamburg",
    "country": "DE",
    "hours": HOURS,
    "ready": "Ready the next working day",
}


class NotTheDemo(Refusal):
    """Another shop already has the demo shop's domain."""

    code = "not_the_demo"
    message = f"The shop at {DOMAIN} was not made by the demo, so it is left alone."


def demo_shop() -> Shop | None:
    """The demo shop, or None. Raises NotTheDemo if another shop has its domain."""
    found = Shop.objects.filter(domain=DOMAIN).first()
    if found and found.email != EMAIL:
        raise NotTheDemo
    return found


def open_shop(*, base_url: str, now: datetime, report: Callable[[str], None]) -> Shop:
    """Create the demo shop with all its content in one transaction. `report` is called with each step's message."""
    report("Filling the demo shop.")
    with transaction.atomic():
        shop = actions.create_shop(
            domain=DOMAIN,
            name=NAME,
            base_url=base_url,
            email=EMAIL,
            payment_methods=("demo", "manual"),
            is_demo=True,
            now=now,
        )
        shop.manual_payment_instructions, shop.steps_hidden_at = PAYMENT_WORDS, now
        shop.further_languages = [german.CODE]
        shop.translations = german.translations(manual_payment_instructions=PAYMENT_WORDS)
        shop.save(update_fields=["further_languages", "manual_payment_instructions", "steps_hidden_at", "translations"])
        _import(shop, now)
        _translate_categories(shop, now)
        _attach_pictures(shop)
        _attach_pattern(shop, now)
        _date_preorders_and_sale(shop, now)
        _add_rates_and_discounts(shop, now)
        add_pages(shop, now)
        shown = {"address": SELLER["address"], "phone": PHONE, "hours": HOURS}
        Looks.objects.create(shop=shop, updated_at=now, translations=german.translations(hours=HOURS), **shown)
        footer = german.translations(footer=SELLER["footer"])
        InvoiceSettings.objects.create(shop=shop, is_on=True, translations=footer, **SELLER)
    for name in Media.objects.filter(shop=shop).values_list("file", flat=True):
        # Made now, so that the first visitor does not have to wait for the worker.
        thumbnails.make(name)
    return shop


def move_shop(shop: Shop, *, base_url: str, now: datetime) -> None:
    """Update the shop's base URL, for example after a change of port."""
    if shop.base_url != base_url:
        shop.base_url, shop.updated_at = base_url, now
        shop.full_clean()
        with transaction.atomic():
            shop.save(update_fields=["base_url", "updated_at"])
            publish_change(shop.pk)


def close_shop(shop: Shop) -> None:
    """Delete the demo shop with its products, carts, orders, audit log, pictures and files."""
    names = list(Media.objects.filter(shop=shop).exclude(file="").values_list("file", flat=True))
    files = [stored.file for stored in StoredFile.objects.filter(shop=shop)]
    with transaction.atomic():
        # Foreign keys of these rows would protect the products and categories from deletion.
        BundleItem.objects.filter(shop=shop).delete()
        Category.objects.filter(shop=shop).update(parent=None)
        publish_change(shop.pk)
        pk = shop.pk
        shop.delete()
        # The audit log's rows outlive their shop, so they are deleted separately.
        AuditEntry.objects.filter(shop=pk).delete()
    sources = Source.objects.filter(name__in=names)
    thumbnail_names = list(Thumbnail.objects.filter(source__in=sources).values_list("name", flat=True))
    sources.delete()
    for name in (*names, *thumbnail_names):
        default_storage.delete(name)
    for file in files:
        file.storage.delete(str(file.name))


def _import(shop: Shop, now: datetime) -> None:
    with resources.as_file(CONTENT.joinpath("products.jsonl")) as file:
        report = importing.import_products(shop=shop, file=Path(file), format="native", now=now)
    if report.failed:
        raise RuntimeError(f"the demo's own products do not import: {report.problems[0]}")


def _translate_categories(shop: Shop, now: datetime) -> None:
    for category in Category.objects.filter(shop=shop):
        name, slug = german.CATEGORIES[category.name]
        texts = {german.CODE: {"name": name, "slug": slug}}
        update_category(shop=shop, category=category, translations=texts, now=now)


def _attach_pictures(shop: Shop) -> None:
    """Save every product's pictures, and set the image of every variant that has one."""
    products = {product.sku: product for product in Product.objects.filter(shop=shop)}
    for sku, pictures in json.loads(CONTENT.joinpath("pictures.json").read_text()).items():
        for number, picture in enumerate(pictures):
            media = Media(shop=shop, product=products[sku], alt=picture["alt"], sort_order=number)
            name = f"{sku.lower()}-{number + 1}.webp"
            content = CONTENT.joinpath("pictures", name).read_bytes()
            # Django reads the picture's dimensions only if the content has a name.
            media.file.save(name, ContentFile(content, name=name), save=True)
            if "variant" in picture:
                Variant.objects.filter(shop=shop, sku=picture["variant"]).update(image=media)


def _attach_pattern(shop: Shop, now: datetime) -> None:
    """Save the file of the product that is a download."""
    content = CONTENT.joinpath(PATTERN).read_bytes()
    file = store_file(shop=shop, file=ContentFile(content, name=PATTERN), now=now)
    product = Product.objects.get(shop=shop, sku="PATTERN-CARDIGAN")
    DigitalFile.objects.create(shop=shop, product=product, file=file, name="Harbour cardigan (PDF)")


def _date_preorders_and_sale(shop: Shop, now: datetime) -> None:
    """Dates that are ahead, whenever the demo is opened."""
    day = now.replace(hour=8, minute=0, second=0, microsecond=0)
    for product in Product.objects.filter(shop=shop, is_preorder=True):
        update_product(shop=shop, product=product, available_from=day + PREORDERS_AHEAD, now=now)
    on_sale = Product.objects.get(shop=shop, sku=ON_SALE)
    reduced = quantize(on_sale.price * Decimal("0.8"), shop.currency)
    update_product(shop=shop, product=on_sale, sale_price=reduced, sale_until=day + SALE_AHEAD, now=now)


def _add_rates_and_discounts(shop: Shop, now: datetime) -> None:
    _add_delivery(shop)
    load_eu_rates(shop=shop, now=now)
    _add_discount(shop, "5% off from €100", value=Decimal(5), minimum_subtotal=Decimal(100))
    welcome = _add_discount(shop, "Welcome", value=Decimal(10), needs_code=True)
    DiscountCode.objects.create(shop=shop, discount=welcome, code=CODE, created_at=now)


def _add_discount(shop: Shop, name: str, **fields: Any) -> Discount:
    return Discount.objects.create(shop=shop, name=name, translations=german.translations(name=name), **fields)


def _add_delivery(shop: Shop) -> None:
    for name, (countries, rates) in DELIVERY.items():
        zone = DeliveryZone.objects.create(shop=shop, name=name, countries=countries)
        for order, rate in enumerate(rates):
            texts = german.translations(name=rate["name"], delivery_time=rate["delivery_time"])
            ShippingRate.objects.create(shop=shop, zone=zone, sort_order=order, translations=texts, **rate)
    abroad = ShippingRate.objects.get(shop=shop, basis=ShippingRate.Basis.WEIGHT)
    for up_to, price in ABROAD_PRICES.items():
        ShippingRateStep.objects.create(shop=shop, rate=abroad, up_to=up_to, price=price)
    texts = german.translations(**{name: HARBOUR[name] for name in ("name", "hours", "ready")})
    PickupPlace.objects.create(shop=shop, translations=texts, **HARBOUR)
