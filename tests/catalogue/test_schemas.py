"""Records match the schemas that describe them."""

from decimal import Decimal

import pytest

from storefront.catalogue import schemas
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.shops.factories import NOW


@pytest.fixture
def full(shop):
    measures = dict.fromkeys(("weight", "length", "width", "height"), Decimal("1.5"))
    prices = dict.fromkeys(("setup_fee", "min_custom_price", "damaged_price", "cost_price"), Decimal("2.5"))
    times = dict.fromkeys(("sitemap_lastmod", "publish_at", "published_on"), NOW)
    mug = make_product(
        shop,
        "Mug",
        categories=(make_category(shop, "Cups"),),
        translations={"de": {"name": "Becher"}},
        attributes=[{"name": "Colour", "values": ["Blue"], "variation": True}],
        **measures,
        **prices,
        **times,
    )
    make_variant(mug, "Blue", image=make_media(mug))
    make_option(mug)
    return mug


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("/products", schemas.ProductPage),
        ("/products/mug", schemas.OneProduct),
        ("/categories", schemas.Categories),
        ("/categories/cups", schemas.OneCategory),
    ],
)
def test_responses_match_their_schema_member_by_member(api, full, path, schema):
    body = api.get(path).json()
    read = schema.model_validate(body, strict=True)
    assert read.model_dump(by_alias=True, exclude_unset=True) == body


def test_every_member_and_parameter_is_described():
    for schema in vars(schemas).values():
        if isinstance(schema, type) and issubclass(schema, schemas.Schema) and schema is not schemas.Schema:
            assert schema.__doc__
            for name, field in schema.model_fields.items():
                assert field.description, f"{schema.__name__}.{name}"
