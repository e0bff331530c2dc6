"""Products as installed apps send and read them. What can be sent of a product's or a variant's own columns comes from
the tables, as the records do; what is read is described here and written by `app_records.py`."""

import re
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from django.db import models
from ninja import Field, Schema
from pydantic import BeforeValidator, WithJsonSchema, create_model

from storefront.catalogue import schemas
from storefront.catalogue.actions import OWN_COLUMNS
from storefront.catalogue.models import MeasureField, Option, Product, Variant
from storefront.catalogue.parts import OPTION_FIELDS, VARIANT_FIELDS
from storefront.kit.app_pagination import PageQuery, Pagination
from storefront.kit.ids import LARGEST_ID
from storefront.kit.money import MoneyField
from storefront.kit.schemas import IdAlone, Moment, MoneyGiven

LARGEST_INTEGER = 2**31 - 1

_MEASURE = r"[0-9]{1,9}(\.[0-9]{1,3})?"
_WEB_ADDRESS = re.compile(r"https?://[^\s/]\S*\Z")


def _measure(given: Any) -> Decimal:
    if not isinstance(given, str) or not re.fullmatch(_MEASURE, given, re.ASCII):
        raise ValueError('must be a decimal string such as "0.250"')
    return Decimal(given)


def _web_address(given: Any) -> str:
    if not isinstance(given, str) or not _WEB_ADDRESS.match(given):
        raise ValueError("must be an address that begins with https:// or http://")
    return given


MeasureGiven = Annotated[
    Decimal, BeforeValidator(_measure), WithJsonSchema({"type": "string", "pattern": f"^{_MEASURE}$"})
]
WebAddress = Annotated[
    str,
    Field(max_length=2048),
    BeforeValidator(_web_address),
    WithJsonSchema({"type": "string", "format": "uri", "maxLength": 2048}),
]
Id = Annotated[int, Field(strict=True, ge=1, le=LARGEST_ID)]
Integer = Annotated[int, Field(strict=True, ge=-LARGEST_INTEGER, le=LARGEST_INTEGER)]
Natural = Annotated[int, Field(strict=True, ge=0, le=LARGEST_INTEGER)]
LargeInteger = Annotated[int, Field(strict=True, ge=-LARGEST_ID, le=LARGEST_ID)]
Flag = Annotated[bool, Field(strict=True)]
# What is in it, the catalogue itself looks at.
Structure = Annotated[Any, WithJsonSchema({"type": ["object", "array", "null"]})]


def _given(model: type[models.Model], names: Iterable[str], described: Mapping[str, Any]) -> Any:
    """A schema of the model's columns of these names, none of which needs to be sent."""
    columns = {field.attname: field for field in model._meta.concrete_fields}
    members: dict[str, Any] = {
        name: (_type_of(columns[name]), Field(None, description=described[name])) for name in names
    }
    return create_model(f"{model.__name__}Columns", __base__=Schema, **members)


def _type_of(column: Any) -> Any:
    type = _type_of_value(column)
    return type | None if column.null else type


def _type_of_value(column: Any) -> Any:
    if column.choices:
        return Literal[tuple(value for value, _ in column.choices)]
    match column:
        case models.ForeignKey():
            return Id
        case MoneyField():
            return MoneyGiven
        case MeasureField():
            return MeasureGiven
        case models.BooleanField():
            return Flag
        case models.DateTimeField():
            return Moment
        case models.JSONField():
            return Structure
        case models.BigIntegerField():
            return LargeInteger
        case models.PositiveIntegerField():
            return Natural
        case models.IntegerField():
            return Integer
    return Annotated[str, Field(strict=True, max_length=column.max_length)]


def _described(schema: type[Schema], **other: str) -> dict[str, Any]:
    return {name: field.description for name, field in schema.model_fields.items()} | other


def _writable(model: type[models.Model], closed: Collection[str]) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields if field.name not in closed]


_ProductColumns: Any = _given(
    Product,
    _writable(Product, OWN_COLUMNS),
    _described(
        schemas.Product,
        status="`draft`, `active` or `archived`. A new product is a draft unless it says otherwise.",
        slug="Its name in URLs, unique in the shop. A new product that has none gets one of its name.",
        track_inventory="Whether stock is counted. Of a new product: only if it comes with `stock_qty`.",
    ),
)
_VariantColumns: Any = _given(
    Variant,
    VARIANT_FIELDS,
    _described(
        schemas.Variant,
        cost_price="The merchant's buying price. It can be written and is never shown.",
        track_inventory="Whether stock is counted. Of a new variant: only if it comes with `stock_qty`.",
    ),
)
_OptionColumns: Any = _given(Option, OPTION_FIELDS, _described(schemas.Option))

_ID = "The one that stands and is to be changed. Without it, a new one is made."


class VariantGiven(_VariantColumns):
    """A variant as it is to be. Members that are not sent stay as they are."""

    id: Id | None = Field(None, description=_ID)
    image: WebAddress | None = Field(None, description="The `url` of one of the product's pictures, new or standing.")


class OptionValueGiven(Schema):
    """A value of an option as it is to be."""

    id: Id | None = Field(None, description=_ID)
    label: Annotated[str, Field(strict=True, max_length=200)] = Field("", description="The value as shoppers read it.")
    price: MoneyGiven = Field(Decimal(0), description="Added to the line's price.")
    sort_order: Integer = Field(0, description="Place among the option's values; as they are sent, if it is not.")


class OptionGiven(_OptionColumns):
    """An option as it is to be. Members that are not sent stay as they are."""

    id: Id | None = Field(None, description=_ID)
    values: list[OptionValueGiven] = Field([], description="All its values: one that is left out is removed.")


class MediaGiven(Schema):
    """A picture as it is to be."""

    id: Id | None = Field(None, description=_ID)
    url: WebAddress = Field("", description="Where the picture is. A new one needs it.")
    alt: Annotated[str, Field(strict=True, max_length=500)] = Field("", description="Alternative text.")
    sort_order: Integer = Field(0, description="Place among the pictures; as they are sent, if it is not.")


class BundleItemGiven(Schema):
    """A part of a bundle as it is to be."""

    id: Id | None = Field(None, description=_ID)
    product_id: Id = Field(0, description="The product; a new part needs it.")
    variant_id: Id | None = Field(None, description="Which of the product's variants, if it has any.")
    qty: Annotated[int, Field(strict=True, ge=1, le=LARGEST_INTEGER)] = Field(1, description="Pieces in one bundle.")
    sort_order: Integer = Field(0, description="Place among the parts; as they are sent, if it is not.")


class ProductChange(_ProductColumns):
    """What to change of a product. Members that are not sent stay as they are, whoever changed them meanwhile; a list
    that is sent is all there is then: what it names by `id` is changed, what has none is made, the rest is removed."""

    categories: list[Id] = Field([], description="Ids of all the categories that it is in.")
    variants: list[VariantGiven] = Field([], description="All its variants: one that is left out is removed.")
    options: list[OptionGiven] = Field([], description="All its options: one that is left out is removed.")
    media: list[MediaGiven] = Field([], description="All its pictures: one that is left out is removed.")
    bundle_items: list[BundleItemGiven] = Field([], description="All its parts: one that is left out is removed.")


class ProductGiven(ProductChange):
    """A new product: a name is all it needs."""

    name: Annotated[str, Field(strict=True, min_length=1, max_length=500)] = Field(description="The product's name.")


class AppProductQuery(PageQuery):
    """What an app's list of products can be narrowed to."""

    status: Literal["draft", "active", "archived"] | None = Field(None, description="Only products of this status.")
    q: str = Field(
        "",
        max_length=200,
        description="Words that must all occur in name, description or SKU, in any case, also inside longer words.",
        examples=["blue mug"],
    )
    updated_since: Moment | None = Field(
        None,
        description="Only products changed at this moment or later. With its offset, `Z` or `+00:00`.",
        examples=["2026-11-21T07:30:00.000000Z"],
    )


class BundleItem(Schema):
    """A part of a bundle."""

    id: int = Field(description="The part's number.")
    product_id: int = Field(description="The product.")
    variant_id: int | None = Field(description="Which of its variants.")
    qty: int = Field(description="Pieces in one bundle.")
    sort_order: int = Field(description="Place among the parts.")


class AppProduct(schemas.Product):
    """A product as an app's list shows it: every stored column."""

    status: str = Field(description="`draft`, `active` or `archived`.")


class WholeAppProduct(schemas.WholeProduct):
    """A product as an app reads it by itself."""

    status: str = Field(description="`draft`, `active` or `archived`.")
    bundle_items: list[BundleItem] = Field(description="The parts, if it is a bundle.")


class ProductsOfApp(Schema):
    """One page of products."""

    products: list[AppProduct] = Field(description="The products, the newest change first.")
    pagination: Pagination = Field(description="Where this page stands.")


class ProductOfApp(Schema):
    """One product."""

    product: WholeAppProduct = Field(description="The product.")


class ChangedProductOfApp(Schema):
    """The product as it is now."""

    product: WholeAppProduct | IdAlone = Field(description="The product; its id alone without `read_products`.")


class ProductDeleted(Schema):
    """It is deleted."""

    message: str = Field(description="`Product deleted.`")
