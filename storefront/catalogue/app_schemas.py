"""Products as installed apps send and read them. Which columns of a product or variant an app can send is taken from
the models, as for records. What apps read is described here and written by `app_queries.py`."""

import re
from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from django.db import models
from ninja import Field, Schema
from pydantic import BeforeValidator, WithJsonSchema, create_model

from storefront.catalogue import schemas
from storefront.catalogue.actions import OWN_COLUMNS
from storefront.catalogue.children import OPTION_FIELDS, VARIANT_FIELDS
from storefront.catalogue.fields import Id, Integer, kind_of, writable
from storefront.catalogue.models import Option, Product, Variant
from storefront.catalogue.parsing import MAX_INTEGER
from storefront.kit.api.app_pagination import Pagination
from storefront.kit.api.members import choice, chosen
from storefront.kit.api.schemas import Change, IdAlone, ListedChange, MoneyGiven
from storefront.sync import schemas as sync

_WEB_ADDRESS = re.compile(r"https?://[^\s/]\S*\Z")


def _web_address(given: Any) -> str:
    if not isinstance(given, str) or not _WEB_ADDRESS.match(given):
        raise ValueError("must be a URL that begins with https:// or http://")
    return given


WebAddress = Annotated[
    str,
    Field(max_length=2048),
    BeforeValidator(_web_address),
    WithJsonSchema({"type": "string", "format": "uri", "maxLength": 2048}),
]


def _input_schema(
    base: type[Schema], model: type[models.Model], names: Collection[str], described: Mapping[str, Any]
) -> Any:
    """A schema of the model's columns with these names, all optional."""
    columns = {field.attname: field for field in model._meta.concrete_fields}
    if missing := sorted(set(names) - described.keys()):
        raise LookupError(f"catalogue/schemas.py does not describe {', '.join(missing)} of {model.__name__}.")
    members: dict[str, Any] = {
        name: (kind_of(columns[name]).given, Field(None, description=described[name])) for name in names
    }
    return create_model(f"{model.__name__}Columns", __base__=base, **members)


def _descriptions(schema: type[Schema], **other: str) -> dict[str, Any]:
    return {name: field.description for name, field in schema.model_fields.items()} | other


_ProductColumns: Any = _input_schema(
    Change,
    Product,
    writable(Product, OWN_COLUMNS),
    _descriptions(
        schemas.Product,
        status="`draft`, `active` or `archived`. A new product is a draft by default.",
        slug="The product's name in URLs, unique in the shop. By default created from the name.",
        track_inventory="Whether stock is tracked. By default only if a new product has `stock_qty`.",
    ),
)
_VariantColumns: Any = _input_schema(
    ListedChange,
    Variant,
    VARIANT_FIELDS,
    _descriptions(
        schemas.Variant,
        cost_price="The merchant's cost price. Write-only.",
        track_inventory="Whether stock is tracked. By default only if a new variant has `stock_qty`.",
    ),
)
_OptionColumns: Any = _input_schema(ListedChange, Option, OPTION_FIELDS, _descriptions(schemas.Option))


class VariantGiven(_VariantColumns):
    """A variant. Members that are not sent do not change."""

    image: WebAddress | None = Field(None, description="The `url` of one of the product's pictures, new or existing.")


class OptionValueGiven(ListedChange):
    """A value of an option."""

    label: Annotated[str, Field(strict=True, max_length=200)] = Field("", description="The value that shoppers see.")
    price: MoneyGiven = Field(Decimal(0), description="Added to the line's price.")
    sort_order: Integer = Field(
        0, description="Position among the option's values. By default, a new value comes last."
    )


class OptionGiven(_OptionColumns):
    """An option. Members that are not sent do not change."""

    values: list[OptionValueGiven] = Field([], description="Values to add, update or remove.")


class MediaGiven(ListedChange):
    """A picture."""

    url: WebAddress = Field("", description="URL of the picture. Required for a new picture.")
    alt: Annotated[str, Field(strict=True, max_length=500)] = Field("", description="Alternative text.")
    sort_order: Integer = Field(0, description="Position among the pictures. By default, a new picture comes last.")


class BundleItemGiven(ListedChange):
    """An item of a bundle."""

    product_id: Id = Field(0, description="The item's product id. Required for a new item.")
    variant_id: Id | None = Field(None, description="The item's variant id, if the product has variants.")
    qty: Annotated[int, Field(strict=True, ge=1, le=MAX_INTEGER)] = Field(1, description="Quantity in one bundle.")
    sort_order: Integer = Field(0, description="Position among the bundle items. By default, a new item comes last.")


class ProductChange(_ProductColumns):
    """Changes of a product. Members that are not sent do not change. In a list of entries, an entry with an `id`
    updates the existing entry, or removes it with `remove`; an entry without one is added; entries that are not sent
    stay."""

    categories: list[Id] = Field(
        [], description="Ids of all the product's categories: a category that is left out is taken from the product."
    )
    variants: list[VariantGiven] = Field([], description="Variants to add, update or remove.")
    options: list[OptionGiven] = Field([], description="Options to add, update or remove.")
    media: list[MediaGiven] = Field([], description="Pictures to add, update or remove.")
    bundle_items: list[BundleItemGiven] = Field([], description="Bundle items to add, update or remove.")


class ProductGiven(ProductChange):
    """A new product. Only the name is required."""

    name: Annotated[str, Field(strict=True, min_length=1, max_length=500)] = Field(description="The product's name.")


class BundleItem(Schema):
    """An item of a bundle."""

    id: int = Field(description="The bundle item's id.")
    product_id: int = Field(description="The product's id.")
    variant_id: int | None = Field(description="The variant's id, if any.")
    qty: int = Field(description="Quantity in one bundle.")
    sort_order: int = Field(description="Position among the bundle items.")


class AppProduct(schemas.Product):
    """A product in an app's list, with every stored column."""

    status: schemas.ProductStatus = Field(description="The product's status.")


class WholeAppProduct(schemas.WholeProduct):
    """A single product, as an app gets it."""

    status: schemas.ProductStatus = Field(description="The product's status.")
    bundle_items: list[BundleItem] = Field(description="The items of a bundle; empty for other products.")


# Members that only the single read shows unless they are included.
INCLUDED = (*schemas.INCLUDED, "bundle_items")
FIELDS = (*schemas.LISTED, *INCLUDED)


class AppProductQuery(sync.CopyQuery):
    """Filters for an app's list of products."""

    status: Literal["draft", "active", "archived"] | None = Field(None, description="Only products with this status.")
    q: str = Field(
        "",
        max_length=200,
        description="Search words, in any order. Each must occur, also as part of a word or in singular or plural, in "
        "name, description, SKU, brand, tags, attributes, or in a variant's name, values or SKU. Ignores case, "
        "accents, hyphens and apostrophes.",
        examples=["blue mug"],
    )
    fields: choice(FIELDS) | None = Field(None, description=sync.FIELDS)  # type: ignore[valid-type]
    include: choice(INCLUDED) | None = Field(None, description=sync.INCLUDE)  # type: ignore[valid-type]

    @property
    def members(self) -> frozenset[str] | None:
        """The members to show; None: those that lists show."""
        return chosen(schemas.LISTED, self.fields, self.include)


class AppSingleQuery(Schema):
    """What a single product shows."""

    fields: choice(FIELDS) | None = Field(None, description=sync.FIELDS)  # type: ignore[valid-type]


class ProductsOfApp(Schema):
    """One page of products."""

    products: list[AppProduct] = Field(description="The products, most recently changed first.")
    pagination: Pagination = Field(description="Position of this page in the list.")
    deleted: list[sync.Deleted] | None = Field(None, description=sync.DELETED)


class ProductRunOfApp(Schema):
    """An answer to `after`."""

    products: list[AppProduct] = Field(description="The products as they are now.")
    deleted: list[sync.Deleted] = Field(description=sync.DELETED_OF_RUN)
    next: str = Field(description=sync.NEXT)


class ProductOfApp(Schema):
    """One product."""

    product: WholeAppProduct = Field(description="The product's id.")


class ChangedProductOfApp(Schema):
    """The product after the change."""

    product: WholeAppProduct | IdAlone = Field(
        description="The product. Only its id without the scope `read_products`."
    )


class ProductDeleted(Schema):
    """The product was deleted."""

    message: str = Field(description="`Product deleted.`")
