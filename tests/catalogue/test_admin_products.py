"""A product's form: the product, its variants, options, pictures and categories, saved as one."""

import io
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings
from PIL import Image

from storefront.catalogue.models import BundleItem, Option, OptionValue, Product, ProductSearch, RelatedProduct, Variant
from storefront.kit import clock
from storefront.listing import queries
from storefront.listing.queries import ProductFilters
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.shops.factories import NOW
from tests.staff import admin_url, make_staff, open_desk

pytestmark = [pytest.mark.strict, pytest.mark.slow]


@pytest.fixture
def role() -> str:
    return "manager"


def errors_of(page) -> dict:
    found = dict(page.context_data["adminform"].form.errors)
    for inline in page.context_data["inline_admin_formsets"]:
        for form in inline.formset.forms:
            found |= form.errors
    return found


def found_by(shop, q: str) -> list[str]:
    page = queries.product_page(shop, ProductFilters(q=q), page=1, per_page=10, now=clock.now())
    return [row["name"] for row in page.rows]


def test_a_product_is_created_with_its_children(desk, shop):
    cups = make_category(shop, "Cups")
    answer = desk.fill(
        Product,
        name="Åland Cup",
        status="active",
        price="12.50",
        stock_qty="4",
        sku="CUP-1",
        in_categories=[cups.pk],
        tags="new, blue",
        choices__rows=1,
        choices__0__name="Colour",
        choices__0__values="Blue, Moss",
        variants__TOTAL_FORMS=1,
        variants__0__price="13.00",
        variants__0__compare_price="0",
        variants__0__stock_qty="2",
        variants__0__is_active="on",
        options__TOTAL_FORMS=1,
        options__0__name="Engraving",
        options__0__type="select",
        options__0__sort_order="0",
        **{
            "variants-0-option_values-0": "Blue",
            "options-0-values-TOTAL_FORMS": 1,
            "options-0-values-INITIAL_FORMS": 0,
            "options-0-values-0-label": "Gold",
            "options-0-values-0-price": "5.00",
            "options-0-values-0-sort_order": "0",
        },
        media__TOTAL_FORMS=1,
        media__0__source_url="https://cdn.example.com/cup.jpg",
        media__0__sort_order="0",
    )
    assert answer.status_code == 302, errors_of(answer)
    product = Product.objects.get()
    names = (product.shop, product.slug, product.sort_name, product.tags)
    assert names == (shop, "aland-cup", "aland cup", ["new", "blue"])
    assert product.type == "variable"
    assert product.published_on is not None
    record = queries.product_record(shop, "aland-cup", now=clock.now())
    assert [category["name"] for category in record["categories"]] == ["Cups"]
    assert record["variants"][0]["option_values"] == {"Colour": "Blue"}
    assert record["variants"][0]["name"] == "Blue"
    assert record["attributes"] == [{"name": "Colour", "values": ["Blue", "Moss"], "variation": True}]
    assert record["options"][0]["values"][0]["price"] == "5.00"
    assert record["media"][0]["url"] == "https://cdn.example.com/cup.jpg"
    assert found_by(shop, "åland") == ["Åland Cup"]


def test_search_and_sorting_follow_a_change(desk, shop):
    product = make_product(shop, "Mug", sku="M1")
    assert desk.fill(product, name="Beaker", description="Holds tea.").status_code == 302
    product.refresh_from_db()
    assert product.sort_name == "beaker"
    assert product.updated_at > NOW
    assert found_by(shop, "tea") == ["Beaker"]
    assert found_by(shop, "mug") == []


def test_a_change_of_a_variant_alone_is_a_change_of_the_product(desk, shop):
    variant = make_variant(make_product(shop, "Scarf"), "Blue")
    assert desk.fill(variant.product, variants__0__price="15.00").status_code == 302
    variant.refresh_from_db()
    assert variant.price == Decimal("15.00")
    assert Product.objects.get().updated_at > NOW
    assert variant.updated_at > NOW


def test_nested_option_values_are_changed_and_removed(desk, shop):
    product = make_product(shop, "Ring")
    option = make_option(product, "Engraving", {"Gold": "5.00", "Silver": "3.00"})
    gold, silver = option.values.all()
    desk.fill(product, **{"options-0-values-0-price": "6.00", "options-0-values-1-DELETE": "on"})
    gold.refresh_from_db()
    assert gold.price == Decimal("6.00")
    assert not OptionValue.objects.filter(pk=silver.pk).exists()


def test_an_option_is_deleted_with_its_values(desk, shop):
    product = make_product(shop, "Ring")
    make_option(product)
    desk.fill(product, **{"options-0-DELETE": "on"})
    assert not Option.objects.exists()


def test_an_empty_slug_becomes_a_free_one_from_the_name(desk, shop, other_shop):
    make_product(other_shop, "Mug")
    make_product(shop, "Mug")
    desk.fill(Product, name="Mug")
    assert sorted(shop.products.values_list("slug", flat=True)) == ["mug", "mug-2"]


@pytest.mark.parametrize("slug", ["mug", "a b", "a/b", "?"])
def test_a_slug_that_is_taken_or_invalid_is_a_field_error(desk, shop, slug):
    make_product(shop, "Mug")
    assert "slug" in errors_of(desk.fill(Product, name="Other", slug=slug))


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"price": "-1"}, "price"),
        ({"price": "12.345"}, "price"),
        ({"price": "sNaN"}, "price"),
        ({"weight": "-sNaN1"}, "weight"),
        ({"stock_qty": "-1"}, "stock_qty"),
        ({"damaged_qty": "-1"}, "damaged_qty"),
        ({"details__rows": 1, "details__0__values": "Wool"}, "details"),
        ({"details__rows": 1, "details__0__name": "x", "details__0__values": "y" * 100_000}, "details"),
        ({"choices__rows": 1, "choices__0__name": "Colour"}, "choices"),
        ({"canonical_url": "nowhere"}, "canonical_url"),
        (
            {
                "publish_at_0": "2026-12-02",
                "publish_at_1": "10:00",
                "unpublish_at_0": "2026-12-01",
                "unpublish_at_1": "10:00",
            },
            "unpublish_at",
        ),
    ],
)
def test_an_invalid_value_is_a_field_error(desk, shop, given, field):
    product = make_product(shop, "Mug")
    page = desk.fill(product, **given)
    assert page.status_code == 200
    assert field in errors_of(page)


def test_a_default_variant_is_one_of_the_products_own(desk, shop):
    mine = make_variant(make_product(shop, "Scarf"), "Blue")
    another = make_variant(make_product(shop, "Hat"), "Red")
    assert "default_variant" in errors_of(desk.fill(mine.product, default_variant=another.pk))
    assert desk.fill(mine.product, default_variant=mine.pk).status_code == 302


def test_a_bundle_cannot_contain_itself_or_another_products_variant(desk, shop):
    bundle, variant = make_product(shop, "Set", type="bundle"), make_variant(make_product(shop, "Scarf"))
    part = {"bundle_items__TOTAL_FORMS": 1, "bundle_items__0__qty": 1, "bundle_items__0__sort_order": 0}
    assert "product" in errors_of(desk.fill(bundle, **part, bundle_items__0__product=bundle.pk))
    cup = make_product(shop, "Cup")
    given = {"bundle_items__0__product": cup.pk, "bundle_items__0__variant": variant.pk}
    assert "variant" in errors_of(desk.fill(bundle, **part, **given))
    assert desk.fill(bundle, **part, bundle_items__0__product=cup.pk).status_code == 302
    assert BundleItem.objects.get().product == cup


def test_related_products_are_chosen_once_and_never_the_product_itself(desk, shop, other_shop):
    cup, saucer = make_product(shop, "Cup"), make_product(shop, "Saucer")
    given = {"related__TOTAL_FORMS": 1, "related__0__kind": "cross_sell", "related__0__sort_order": 0}
    assert "related_product" in errors_of(desk.fill(cup, **given, related__0__related_product=cup.pk))
    theirs = make_product(other_shop, "Theirs")
    assert "related_product" in errors_of(desk.fill(cup, **given, related__0__related_product=theirs.pk))
    assert desk.fill(cup, **given, related__0__related_product=saucer.pk).status_code == 302
    row = RelatedProduct.objects.get()
    assert (row.shop, row.product, row.related_product, row.kind) == (shop, cup, saucer, "cross_sell")


def picture(name: str = "cup.png") -> SimpleUploadedFile:
    file = io.BytesIO()
    Image.new("RGB", (30, 20), "navy").save(file, "PNG")
    return SimpleUploadedFile(name, file.getvalue(), "image/png")


def test_a_picture_is_uploaded(desk, shop, tmp_path):
    product = make_product(shop, "Cup")
    with override_settings(MEDIA_ROOT=tmp_path):
        desk.fill(product, media__TOTAL_FORMS=1, media__0__sort_order=0, media__0__file=picture())
        media = product.media.get()
        assert (media.width, media.height) == (30, 20)
        assert media.file.read() == picture().read()


def test_a_missing_or_invalid_picture_is_a_field_error(desk, shop):
    product, one = make_product(shop, "Cup"), {"media__TOTAL_FORMS": 1, "media__0__sort_order": 0}
    assert "file" in errors_of(desk.fill(product, **one, media__0__alt="A cup"))
    script = SimpleUploadedFile("cup.png", b"<script>alert(1)</script>", "image/png")
    assert "file" in errors_of(desk.fill(product, **one, media__0__file=script))
    assert "source_url" in errors_of(desk.fill(product, **one, media__0__source_url="javascript:alert(1)"))
    assert not product.media.exists()


def test_the_form_shows_a_hundred_variants_on_a_page(desk, shop):
    product = make_product(shop, "Scarf")
    for number in range(110):
        make_variant(product, f"Colour {number}", sort_order=number)
    answer = desk.fill(product, variants__99__name="Renamed")
    assert answer.status_code == 302
    assert Variant.objects.filter(name="Renamed").count() == 1
    assert Variant.objects.count() == 110


def test_the_list_finds_by_name_and_sku_without_case(desk, shop):
    make_product(shop, "Öland Cup", sku="CUP-1")
    make_variant(make_product(shop, "Scarf"), "Blue", sku="SC-BLUE")
    make_product(shop, "Plate", sku="PL-1")

    def listed(q: str) -> list[str]:
        return [row.name for row in desk.get(admin_url(Product, "changelist"), {"q": q}).context_data["cl"].queryset]

    assert listed("öland cUP") == ["Öland Cup"]
    assert listed("cup-1") == ["Öland Cup"]
    assert listed("sc-blue") == ["Scarf"]
    assert listed("%") == []


def test_the_list_formats_prices_and_stock(desk, shop):
    make_media(make_product(shop, "Clock", price=Decimal("1234.5"), stock_qty=12345))
    make_variant(make_product(shop, "Scarf"), "Blue", price=Decimal("12"))
    shown = desk.get(admin_url(Product, "changelist")).content.decode()
    assert "€1,234.50" in shown
    assert "12,345" in shown
    assert "from €12.00" in shown
    assert "https://cdn.example.com/one.jpg" in shown


def test_the_list_takes_few_queries_at_any_length(desk, shop, django_assert_max_num_queries):
    for number in range(30):
        make_media(make_variant(make_product(shop, f"Scarf {number}")).product)
    with django_assert_max_num_queries(20):
        page = desk.get(admin_url(Product, "changelist")).content.decode()
    assert all(f"Scarf {number}<" in page for number in range(30))


def test_selected_products_are_published_unpublished_and_archived(desk, shop):
    draft, later = make_product(shop, "A", status="draft"), make_product(shop, "B", status="draft")
    soon = clock.now() + timedelta(days=1)
    Product.objects.filter(pk=later.pk).update(publish_at=soon)
    desk.choose(Product, "publish", draft, later)
    draft.refresh_from_db()
    later.refresh_from_db()
    assert (draft.status, later.status) == ("active", "active")
    assert draft.is_published(clock.now())
    assert NOW < draft.published_on <= clock.now()
    assert later.published_on == soon
    desk.choose(Product, "unpublish", draft)
    desk.choose(Product, "archive", later)
    draft.refresh_from_db()
    later.refresh_from_db()
    assert (draft.status, later.status) == ("draft", "archived")
    assert draft.published_on is not None
    assert later.published_on is None


def test_a_deleted_product_is_hidden_and_restored_as_a_draft(desk, shop):
    product = make_product(shop, "Mug")
    desk.post(admin_url(product, "delete"), {"post": "yes"})
    product.refresh_from_db()
    assert product.deleted_at is not None
    assert not ProductSearch.objects.exists()
    assert list(desk.get(admin_url(Product, "changelist")).context_data["cl"].queryset) == []
    assert list(desk.get(admin_url(Product, "changelist"), {"deleted": "yes"}).context_data["cl"].queryset) == [product]
    make_product(shop, "Mug")
    desk.post(admin_url(product, "change").replace("change/", "restore/"), {"_form_submitted": "on"})
    product.refresh_from_db()
    assert (product.deleted_at, product.status, product.slug) == (None, "draft", "mug-2")
    assert ProductSearch.objects.filter(product=product).exists()


def test_a_deleted_product_cannot_be_changed(desk, shop):
    product = make_product(shop, "Mug", deleted_at=NOW)
    assert desk.post(admin_url(product, "change"), {"name": "Taken"}).status_code == 403
    assert desk.page(product).status_code == 200


def test_refuses_to_delete_a_product_in_a_bundle(desk, shop):
    bundle, cup = make_product(shop, "Set", type="bundle"), make_product(shop, "Cup")
    BundleItem.objects.create(shop=shop, bundle=bundle, product=cup)
    page = desk.post(admin_url(cup, "delete"), {"post": "yes"}, follow=True)
    assert "part of the bundle Set" in page.content.decode()
    assert Product.objects.get(pk=cup.pk).deleted_at is None
    desk.choose(Product, "delete_selected", cup, post="yes")
    assert Product.objects.get(pk=cup.pk).deleted_at is None


def test_read_only_staff_see_the_whole_product(shop):
    cups = make_category(shop, "Cups with handles")
    mug = make_product(shop, "Mug", categories=(cups,), stock_qty=1234)
    page = open_desk(make_staff(shop, "rita", "read_only")).page(mug)
    text = page.content.decode()
    assert "Cups with handles" in text
    assert "1234" in text
    assert 'name="_save"' not in text
