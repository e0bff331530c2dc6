from datetime import timedelta
from decimal import Decimal

import pytest

from storefront.catalogue import actions
from storefront.catalogue.events import Snapshot
from storefront.catalogue.models import BundleItem, Product, Variant
from storefront.kit.refusals import InvalidFields, NotFound
from storefront.listing import queries
from tests.catalogue.factories import make_category, make_media, make_product, make_variant
from tests.shops.factories import NOW

LATER = NOW + timedelta(hours=1)


def read(shop, product, now=NOW):
    return queries.product_record(shop, str(product.pk), now=now)


def found(shop, q: str) -> list[str]:
    page = queries.product_page(shop, queries.ProductFilters(q=q), page=1, per_page=24, now=NOW)
    return [record["name"] for record in page.rows]


def test_a_change_keeps_present_values_of_other_fields(shop):
    mug = make_product(shop, "Mug", stock_qty=10)
    Product.objects.filter(pk=mug.pk).update(stock_qty=3)
    actions.update_product(shop=shop, product=mug, now=LATER, price=Decimal("7.00"))
    mug.refresh_from_db()
    assert (mug.stock_qty, mug.price, mug.name, mug.slug) == (3, Decimal("7.00"), "Mug", "mug")
    assert (mug.created_at, mug.updated_at) == (NOW, LATER)


def test_stock_sold_while_a_variant_is_edited_stays_sold(shop):
    mug = make_product(shop, "Mug")
    blue = make_variant(mug, "Blue", stock_qty=5)
    Variant.objects.filter(pk=blue.pk).update(stock_qty=2)
    actions.update_product(shop=shop, product=mug, now=LATER, variants=[{"id": blue.id, "name": "Navy"}])
    blue.refresh_from_db()
    assert (blue.name, blue.stock_qty) == ("Navy", 2)


def test_categories_that_stay_keep_their_pivot(shop):
    cups, gifts = make_category(shop, "Cups"), make_category(shop, "Gifts")
    mug = make_product(shop, "Mug", categories=(cups,))
    actions.update_product(shop=shop, product=mug, now=LATER, categories=[cups, gifts])
    created = {each["slug"]: each["pivot"]["created_at"] for each in read(shop, mug)["categories"]}
    assert created == {"cups": "2026-11-21T07:30:00.000000Z", "gifts": "2026-11-21T08:30:00.000000Z"}


def test_first_publication_is_recorded_once(shop):
    mug = actions.create_product(shop=shop, now=NOW, name="Mug")
    assert (mug.status, mug.published_on) == ("draft", None)
    mug = actions.update_product(shop=shop, product=mug, now=LATER, status="active")
    assert mug.published_on == LATER
    actions.update_product(shop=shop, product=mug, now=LATER + timedelta(1), status="draft")
    again = actions.update_product(shop=shop, product=mug, now=LATER + timedelta(2), status="active")
    assert again.published_on == LATER


def test_first_publication_of_a_scheduled_product_is_its_date(shop):
    mug = actions.create_product(shop=shop, now=NOW, name="Mug", status="active", publish_at=LATER)
    assert mug.published_on == LATER


def test_a_deleted_product_is_not_found_and_frees_its_slug(shop):
    mug = actions.create_product(shop=shop, now=NOW, name="Mug", status="active")
    actions.delete_product(shop=shop, product=mug, now=LATER)
    assert read(shop, mug) is None
    assert actions.create_product(shop=shop, now=LATER, name="Mug").slug == "mug"
    for late in (actions.delete_product, actions.update_product):
        with pytest.raises(NotFound):
            late(shop=shop, product=mug, now=LATER)


def test_refuses_to_delete_a_product_or_variant_in_a_bundle(shop):
    mug, set_of_two = make_product(shop, "Mug"), make_product(shop, "Set of two", type="bundle")
    blue = make_variant(mug, "Blue")
    BundleItem.objects.create(shop=shop, bundle=set_of_two, product=mug, variant=blue, qty=2)
    with pytest.raises(actions.PartOfBundle, match="Set of two"):
        actions.delete_product(shop=shop, product=mug, now=NOW)
    with pytest.raises(InvalidFields) as refused:
        actions.update_product(shop=shop, product=mug, now=NOW, variants=[{"id": blue.id, "remove": True}])
    assert list(refused.value.errors) == ["variants"]
    assert mug.variants.count() == 1


INVALID = [
    ("name", ""),
    ("name", None),
    ("name", "x" * 501),
    ("name", "Mug\0"),
    ("price", "-0.01"),
    ("price", "1.234"),
    ("price", "NaN"),
    ("price", None),
    ("price", "9" * 20),
    ("status", "sold"),
    ("type", "odd"),
    ("stock_qty", -1),
    ("stock_qty", 2**40),
    ("damaged_qty", -1),
    ("billing_interval_count", 0),
    ("translations", ["de"]),
    ("translations", {"de": {"name": "a\0"}}),
    ("tags", "new"),
    ("attributes", [{"values": []}]),
    ("canonical_url", "not a url"),
    ("slug", ""),
    ("slug", "a b"),
    ("slug", "x" * 256),
    ("brand_id", 99999),
    ("brand_id", "x"),
    ("default_variant_id", 99999),
    ("publish_at", "tomorrow"),
    ("categories", [99999]),
]


def test_an_invalid_value_is_refused_by_name(shop):
    for field, value in INVALID:
        with pytest.raises(InvalidFields) as refused:
            actions.create_product(**{"shop": shop, "now": NOW, "name": "Mug", field: value})
        assert list(refused.value.errors) == [field], value
    assert not Product.objects.exists()


def test_all_invalid_fields_are_named_together_and_nothing_is_written(shop):
    with pytest.raises(InvalidFields) as refused:
        actions.create_product(
            shop=shop,
            now=NOW,
            price="x",
            variants=[{"name": "Fine"}, {"name": "", "stock_qty": -1}, {"id": 7, "name": "Whose"}],
            options=[{"name": "Engraving", "values": [{"price": "1.00"}]}, {"name": "Text", "type": "nothing"}],
            media=[{"source_url": "javascript:alert(1)"}],
        )
    assert set(refused.value.errors) == {
        "name",
        "price",
        "variants.1.name",
        "variants.1.stock_qty",
        "variants.2.id",
        "options.0.values.0.label",
        "options.1.type",
        "media.0.source_url",
    }
    assert not Product.objects.exists()


def test_stock_can_be_negative_with_backorders_or_untracked(shop):
    assert actions.create_product(shop=shop, now=NOW, name="A", stock_qty=-1, allow_backorders=True).stock_qty == -1
    assert actions.create_product(shop=shop, now=NOW, name="B", stock_qty=-1, track_inventory=False).stock_qty == -1


def test_refuses_an_end_before_the_start(shop):
    with pytest.raises(InvalidFields) as refused:
        actions.create_product(shop=shop, now=NOW, name="Mug", publish_at=LATER, unpublish_at=NOW)
    assert list(refused.value.errors) == ["unpublish_at"]


def test_products_and_pictures_of_another_shop_cannot_be_used(shop, other_shop):
    theirs, mine = make_product(other_shop, "Theirs"), make_product(shop, "Mine")
    variants = [{"name": "Blue", "image_id": make_media(theirs).id}]
    with pytest.raises(InvalidFields) as refused:
        actions.update_product(shop=shop, product=mine, now=NOW, variants=variants)
    assert list(refused.value.errors) == ["variants.0.image_id"]
    for touch in (actions.update_product, actions.delete_product):
        with pytest.raises(NotFound):
            touch(shop=shop, product=theirs, now=NOW)


def test_the_default_variant_is_the_products_own_and_is_cleared_with_it(shop):
    mug = make_product(shop, "Mug")
    blue, red = make_variant(mug, "Blue"), make_variant(mug, "Red")
    mug = actions.update_product(shop=shop, product=mug, now=NOW, default_variant_id=blue.id)
    assert read(shop, mug)["default_variant_id"] == blue.id
    actions.update_product(shop=shop, product=mug, now=NOW, variants=[{"id": red.id}])
    assert read(shop, mug)["default_variant_id"] == blue.id
    actions.update_product(shop=shop, product=mug, now=NOW, variants=[{"id": blue.id, "remove": True}])
    assert read(shop, mug)["default_variant_id"] is None


def test_a_product_with_variants_is_variable(shop):
    mug = make_product(shop, "Mug")
    blue = make_variant(mug, "Blue")
    for variants in (None, []):
        with pytest.raises(InvalidFields) as refused:
            actions.update_product(shop=shop, product=mug, now=NOW, type="simple", variants=variants)
        assert list(refused.value.errors) == ["type"]
    gone = [{"id": blue.id, "remove": True}]
    assert actions.update_product(shop=shop, product=mug, now=NOW, type="simple", variants=gone).type == "simple"


def test_derived_fields_are_updated_after_other_code_wrote_the_row(shop):
    mug = make_product(shop, "Mug", status="draft")
    mug.name, mug.status = "Plate", "active"
    mug.save()
    actions.finish_product_update(product=mug, before=Snapshot(), now=LATER)
    mug.refresh_from_db()
    assert (mug.sort_name, mug.published_on, mug.updated_at) == ("plate", LATER, LATER)
    assert found(shop, "plate") == ["Plate"]
