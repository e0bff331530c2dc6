"""A shop with something in most of its tables, and what its archive has, apart from ids and UUIDs."""

import json
import zipfile
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from storefront.catalogue.models import (
    DigitalFile,
    Media,
    Product,
    StockAdjustment,
    StoredFile,
    TaxClass,
)
from storefront.content.actions import add_usual_pages
from storefront.content.models import Looks, LooksPicture, MenuLink, Redirect
from storefront.content.sections import new_section
from storefront.gift_cards.models import GiftCard
from storefront.kit.storage import private_files
from storefront.orders.models import Download, Order, OrderLine
from storefront.payments import actions as payments
from storefront.payments.models import ProviderAccount
from storefront.pictures.models import StoredPicture
from storefront.pricing.models import Discount, DiscountCode, Redemption
from storefront.product_files.models import ExternalId, ImportSource
from storefront.server.archive import rows, tables
from storefront.server.archive.contents import JSON_REFERENCES, REFERENCES, archived_tables, json_reference
from storefront.shops.models import Shop
from tests.carts.factories import make_bundle, make_group
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_related, make_variant
from tests.customers.factories import add_address, make_customer
from tests.documents.factories import make_settings, paid_order, refund, work
from tests.factories.apps import install
from tests.gift_cards.factories import make_card
from tests.orders.factories import Promise, make_order, sale_line
from tests.shops.factories import NOW, make_token
from tests.staff import make_staff

PICTURE = b"\x89PNG\r\n\x1a\n not shown in these tests"


def fill(shop: Shop) -> None:
    """Products of each kind, orders in each state, customers, cards, codes, documents, files, an app and a provider."""
    cups = make_category(shop, "Cups", make_category(shop, "Kitchen"))
    mug = make_product(shop, "Mug", price=Decimal("9.50"), stock_qty=10, categories=(cups,), tags=["é", "<b>", "\\t"])
    blue = make_variant(mug, "Blue", stock_qty=4)
    gone = make_variant(mug, "Gone", stock_qty=3)
    gone.delete()
    engraving = make_option(mug, "Engraving", {"Gold": "5.00"})
    name = default_storage.save("products/mug.png", ContentFile(PICTURE))
    Media.objects.create(shop=shop, product=mug, file=name, width=1, height=1)
    make_media(mug)
    StoredPicture.objects.create(shop=shop, digest="a" * 64, file=name)
    manual = private_files().save(f"downloads/{shop.pk}/{uuid4().hex}", ContentFile(b"The manual"))
    stored = StoredFile.objects.create(shop=shop, file=manual, name="manual.pdf", size=10, created_at=NOW)
    teapot = make_product(shop, "Teapot", price=Decimal("20.00"), stock_qty=5)
    make_related(mug, teapot)
    set_ = make_bundle(shop, "Set", {mug: 1, blue: 2})
    Product.objects.filter(pk=teapot.pk).update(price=Decimal("18.00"))
    teapot.refresh_from_db()
    source = ImportSource.objects.create(shop=shop, name="old", used_at=NOW)
    ExternalId.objects.create(source=source, product=mug, external_id=77)
    Shop.objects.filter(pk=shop.pk).update(
        delivery_tax_class=TaxClass.objects.create(shop=shop, name="Delivery"),
        payment_methods=["manual", "stripe"],
        further_languages=["de", "fr"],
    )
    shop.refresh_from_db()
    add_usual_pages(shop=shop, now=NOW)
    looks = Looks.objects.create(shop=shop, home=_home(shop, mug, teapot), updated_at=NOW)
    MenuLink.objects.create(shop=shop, looks=looks, label="Blog", link="/pages/blog")
    Redirect.objects.create(shop=shop, path="/old", target="/products/mug", created_at=NOW, updated_at=NOW)
    ada = make_customer(shop, group=make_group(shop, "10"))
    add_address(ada)
    _sell(shop, mug, blue, set_, engraving, ada, f"{shop.base_url}{default_storage.url(name)}")
    file = DigitalFile.objects.create(
        shop=shop, product=teapot, file=stored, name="Manual", given_to=OrderLine.objects.filter(shop=shop).last().pk
    )
    line = OrderLine.objects.filter(shop=shop).first()
    Download.objects.create(
        shop=shop, order=line.order, line=line, file=file.file, name="Manual", max_downloads=3, expiry_days=0
    )
    app = install(shop, "read_orders")
    make_token(shop)
    make_staff(shop, f"owner-{shop.pk}")
    StockAdjustment.objects.filter(shop=shop, product=teapot).update(installation=app.installation)
    ProviderAccount.objects.create(shop=shop, provider="stripe", values={"key": "pk_1"}, sealed=b"secret of the shop")


def _home(shop: Shop, *chosen: Product) -> list[dict]:
    top = default_storage.save("looks/top.png", ContentFile(PICTURE))
    shown = LooksPicture.objects.create(shop=shop, file=top, created_at=NOW)
    return [
        new_section("hero", "hero", title="Hello", picture=shown.pk),
        new_section("products", "s1", rule="chosen", products=[each.pk for each in chosen]),
    ]


def _sell(shop, mug, blue, set_, engraving, customer, picture) -> None:
    value = engraving.values.get()
    choice = {
        "id": engraving.pk,
        "name": "Engraving",
        "type": "select",
        "value": "Gold",
        "value_id": value.pk,
        "price": "5.00",
    }
    chosen = sale_line(mug, 2, options=[choice], image=picture)
    parts = [{"product_id": mug.pk, "variant_id": blue.pk, "name": "Blue", "qty": 2}]
    bundle = sale_line(set_, 1, is_bundle=True, bundle_items=parts, uses=sale_line(blue, 2).uses)
    make_settings(shop)
    order = make_order(shop, chosen, bundle, customer_id=customer.pk)
    payments.mark_paid(shop=shop, order=order, now=NOW)
    held = Promise("stripe", Decimal("9.50"), reference="pi_1", is_held=True)
    make_order(shop, sale_line(mug), promise=held)
    paid = paid_order(shop)
    work()
    refund(paid, "2.00")
    work()
    card, _code = make_card(shop)
    GiftCard.objects.filter(pk=card.pk).update(order_id=order.pk, line_id=order.lines.first().pk, number=1)
    Order.objects.filter(pk=order.pk).update(gift_cards=[{"card": card.pk, "last_four": "K7QM", "amount": "0.00"}])
    discount = Discount.objects.create(shop=shop, name="Autumn", kind="percent", value=Decimal("5"))
    code = DiscountCode.objects.create(shop=shop, discount=discount, code="AUTUMN", created_at=NOW, uses=1)
    Redemption.objects.create(
        shop=shop, discount=discount, code=code, sale=uuid4(), cart_id=5, email_digest="d", redeemed_at=NOW
    )


def digests(*shops: Shop) -> dict[str, str]:
    """A digest of each table's rows of these shops."""
    return {
        f"{shop.pk} {table._meta.label}": rows.digest_of(tables.rows_of_shop(table, shop.pk, using="default")).value
        for shop in shops
        for table in tables.shop_tables()
    }


def content(path: Path) -> dict[str, list[dict]]:
    """The rows of an archive, with the place of each id and UUID in place of the value."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        found = {}
        for label, part in manifest["tables"].items():
            lines = archive.read(f"tables/{label}.jsonl").splitlines()
            found[label] = [dict(zip(part["columns"], json.loads(line), strict=True)) for line in lines]
        files = {file["name"]: file["sha256"] for file in map(json.loads, archive.read("files.jsonl").splitlines())}
    return _Normal(found, files).rows()


class _Normal:
    def __init__(self, found: dict[str, list[dict]], files: dict[str, str]) -> None:
        self.found, self.files = found, files
        self.uuids: dict[str, int] = {}
        self.places = {
            table._meta.label: {
                row[table._meta.pk.attname]: place for place, row in enumerate(found[table._meta.label])
            }
            for table in archived_tables()
        }

    def rows(self) -> dict[str, list[dict]]:
        return {
            table._meta.label: [
                {field.attname: self.value(table._meta.label, field, row) for field in table._meta.concrete_fields}
                for row in self.found[table._meta.label]
            ]
            for table in archived_tables()
        }

    def value(self, label, field, row):
        name, value = field.attname, row[field.attname]
        if value is None:
            return None
        if field.is_relation:
            other = field.remote_field.model._meta.label
            # A removed row is told from others by nothing but its id.
            return self.places[other].get(value, "removed")
        if field.primary_key:
            return self.places[label][value]
        if type(field).__name__ == "UUIDField":
            return self.uuids.setdefault(value, len(self.uuids))
        if other := REFERENCES.get(label, {}).get(name):
            return self.places[other].get(value)
        if (label, name) in JSON_REFERENCES:
            return [self.entry(label, name, entry) for entry in value]
        if label == "payments.Payment" and name == "reference" and row["gateway"] == "gift_card":
            return self.places["gift_cards.GiftCard"][int(value)]
        if isinstance(value, str):
            plain = value.removeprefix("media:")
            return self.files.get(plain, value)
        return value

    def entry(self, label, name, entry):
        found = dict(entry)
        for member, value in entry.items():
            other = json_reference(label, name, member, entry)
            if other and value is not None:
                place = self.places[other].get
                found[member] = [place(each) for each in value] if isinstance(value, list) else place(value)
        return found


def removed_variants(shop: Shop) -> set[int]:
    """Ids that the ledger still names."""
    known = set(shop.products.values_list("variants__pk", flat=True))
    ids = StockAdjustment.objects.filter(shop=shop, variant__isnull=False).values_list("variant_id", flat=True)
    return set(ids) - known
