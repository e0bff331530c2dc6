"""The database writes the same JSON for a record as Python would, whatever its values."""

from datetime import UTC, datetime
from decimal import Decimal

import orjson
import pytest
from django.db import models
from hypothesis import example, given
from hypothesis import strategies as st

from storefront.catalogue.dated import sale_periods
from storefront.catalogue.models import Category, Media, Product
from storefront.catalogue.records import OWN_MEMBERS, media_url
from storefront.listing import queries
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.shops.factories import NOW

pytestmark = pytest.mark.slow

# No text holds a NUL, and UTF-8 has no surrogates.
CHARACTERS = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
CONTROLS = "".join(map(chr, range(1, 32))) + '\x7f"\\/\u2028\ufeff\u20ac\U0001f600%s%%{}<&>'
TEXT = st.text(CHARACTERS, max_size=20)
STORED = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


def values_of(field: models.Field) -> st.SearchStrategy:
    match field:
        case models.BooleanField():
            found = st.booleans()
        case models.DecimalField():
            most = Decimal(10) ** (field.max_digits - field.decimal_places) - Decimal(1).scaleb(-field.decimal_places)
            found = st.decimals(0, most, places=field.decimal_places)
        case models.DateTimeField():
            found = st.datetimes(timezones=st.just(UTC))
        case models.JSONField():
            found = STORED.filter(lambda value: value is not None)
        case models.CharField() if field.max_length and field.max_length < 20:
            found = st.text(CHARACTERS, max_size=field.max_length)
        case models.CharField() | models.TextField():
            found = TEXT
        case _:
            found = st.integers(1, 2**31 - 1)
    return st.none() | found if field.null else found


# Columns that constraints or other tests restrict keep their values.
KEPT = {"id", "slug", "status", "type", "publish_at", "unpublish_at", "deleted_at", "billing_interval"}
KEPT |= {"dimension_unit", "track_inventory", "allow_backorders"}
FIELDS = [f for f in Product._meta.concrete_fields if f.name not in KEPT and not f.is_relation]


def of_python(value):
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    return str(value) if isinstance(value, Decimal) else value


def columns(row: models.Model, *hidden: str) -> dict:
    found = {field.column: of_python(getattr(row, field.attname)) for field in row._meta.concrete_fields}
    return {name: value for name, value in found.items() if name not in ("shop_id", *hidden)}


def members(value):
    """The value with objects as lists of pairs, to compare the order of members."""
    if isinstance(value, dict):
        return [(name, members(each)) for name, each in value.items()]
    return [members(each) for each in value] if isinstance(value, list) else value


def public_json(shop, slug: str) -> str:
    found = queries.product_json(shop, slug, now=NOW)
    assert found is not None
    return found.json


@given(st.fixed_dictionaries({field.name: values_of(field) for field in FIELDS}))
@example({field.name: CONTROLS for field in FIELDS if type(field) is models.TextField})
@example({"tags": [CONTROLS], "attributes": {}, "translations": {CONTROLS: {"b": 1}, "a": None}})
@example({"price": Decimal("999999999999.99"), "weight": Decimal("999999999.999"), "cost_price": Decimal("0.05")})
def test_a_product_is_written_as_by_python(shop, given):
    product = Product.objects.filter(slug="mug").first() or make_product(shop, "Mug")
    Product.objects.filter(pk=product.pk).update(**given)
    product.refresh_from_db()
    sale_periods.settle(product, NOW)
    sale_periods.end_preorder(product, NOW)
    expected = columns(product)
    own = {name: expected.pop(name) for name in OWN_MEMBERS}
    expected |= {"media": [], "categories": [], "variants": [], "options": []} | own
    written = public_json(shop, "mug")
    read = orjson.loads(written)
    assert members(read) == members(expected)
    assert written == orjson.dumps(read).decode()


FILE = 'products/"Größe" \n\t1%.png'
HERE = 'https://elsewhere.example.com/\n\t"ü".png'


@pytest.mark.parametrize(("file", "source"), [(FILE, ""), ("", HERE), (FILE, HERE)])
def test_a_products_children_are_written_as_by_python(shop, file, source):
    cups = make_category(shop, CONTROLS, slug="cups")
    Category.objects.update(image=file or None, banner=file)
    mug = make_product(shop, "Mug", categories=(cups,), translations={"de": {"name": CONTROLS}})
    media = make_media(mug, alt=CONTROLS)
    Media.objects.update(file=file, source_url=source)
    variant = make_variant(mug, image=media, option_values={CONTROLS: CONTROLS})
    option = make_option(mug, CONTROLS, {CONTROLS: "1.00"})
    address = media_url(shop, file, source)

    written = public_json(shop, "mug")
    read = orjson.loads(written)
    assert written == orjson.dumps(read).decode()
    assert read["media"][0] == columns(media, "product_id", "source_url", "file", "focus") | {"url": address}
    (category,) = read["categories"]
    assert category.pop("pivot")["category_id"] == cups.pk
    expected = columns(Category.objects.get(), "translations") | {
        "image": media_url(shop, file),
        "banner": media_url(shop, file),
    }
    assert category == expected
    hidden = ("legacy_source_id", "cost_price", "image_id")
    assert read["variants"] == [columns(variant, *hidden) | {"image": address}]
    values = [columns(value, "option_id") for value in option.values.all()]
    assert read["options"] == [columns(option, "product_id") | {"values": values}]
    page = queries.product_page(shop, queries.ProductFilters(), page=1, per_page=1, now=NOW)
    assert page.rows == [{name: read[name] for name in read if name not in ("categories", "variants", "options")}]
