"""Schemas that document the catalogue's records and parameters. `records.py` writes the responses."""

from typing import Literal

from ninja import Field, Schema

from storefront.kit.api.members import choice, chosen, names_of
from storefront.kit.api.schemas import Envelope, Measure, Moment, Money, Timestamp
from storefront.shops import locales
from storefront.sync import schemas as sync


class Media(Schema):
    """A picture of a product."""

    id: int = Field(description="The picture's id.")
    type: str = Field(description="`image`.")
    url: str = Field(description="Absolute URL of the picture.")
    alt: str = Field(description="Alternative text; may be empty.")
    width: int | None = Field(description="Width in pixels, where known.")
    height: int | None = Field(description="Height in pixels, where known.")
    sort_order: int = Field(description="Position among the product's pictures. The first is shown in product lists.")


class Attribute(Schema):
    """An attribute of a product."""

    name: str = Field(description="The attribute's name.", examples=["Colour"])
    values: list[str] = Field([], description="Its values.")
    variation: bool = Field(False, description="Whether variants differ by it.")


ProductStatus = Literal["draft", "active", "archived"]


class Product(Schema):
    """A product in a list, with every stored column."""

    id: int = Field(description="The product's id.")
    legacy_source_id: int | None = Field(description="Internal: id in the system it was imported from.")
    name: str = Field(description="The product's name.")
    slug: str = Field(description="The product's name in URLs. Can be used instead of the id to get a product.")
    description: str = Field(description="The full description. May contain HTML; sanitise it before you show it.")
    translations: dict[str, dict[str, str]] | None = Field(description="Translated texts, by locale and field.")
    short_description: str = Field(description="The short description. May contain HTML.")
    sku: str = Field(description="The SKU; may be empty.")
    barcode: str | None = Field(description="GTIN, EAN, UPC or ISBN.")
    status: ProductStatus = Field(description="Always `active` here; `draft` and `archived` products are never shown.")
    exclude_from_catalog: bool = Field(
        description="Whether lists leave the product out. It can still be read and bought."
    )
    type: Literal["simple", "variable", "bundle", "digital"] = Field(description="`variable`: it has variants.")
    billing_interval: Literal["day", "week", "month", "year"] | None = Field(description="For subscriptions.")
    billing_interval_count: int = Field(description="Number of intervals between two billings.")
    free_trial_days: int | None = Field(description="Days before a subscription is first billed.")
    setup_fee: Money | None = Field(description="One-time fee of a subscription.")
    payprovider_product_id: str | None = Field(description="Internal: product id at the payment provider.")
    payprovider_price_id: str | None = Field(description="Internal: price id at the payment provider.")
    accounting_product_id: str | None = Field(description="Internal: product id in the accounting system.")
    price: Money = Field(description="The price. May be zero if variants or a required option have the price.")
    allow_custom_price: bool = Field(description="Whether the shopper chooses the price.")
    is_gift_card: bool = Field(description="Whether the product is a gift card.")
    exclude_from_group_discounts: bool = Field(description="Whether it is excluded from customer group discounts.")
    min_custom_price: Money | None = Field(description="The minimum price that a shopper can choose.")
    compare_price: Money = Field(description="Previous price, for display; zero if none.")
    cost_price: Money = Field(description="The merchant's cost price. Sensitive: do not store or show it.")
    show_lowest_price: bool = Field(description="Whether the shop shows the lowest variant price.")
    default_variant_id: int | None = Field(description="The variant that is selected by default.")
    weight: Measure = Field(description="Weight, three fraction digits.")
    length: Measure | None = Field(description="Length in `dimension_unit`.")
    width: Measure | None = Field(description="Width in `dimension_unit`.")
    height: Measure | None = Field(description="Height in `dimension_unit`.")
    dimension_unit: str | None = Field(description="`cm` or `in`.")
    track_inventory: bool = Field(description="If false, the product sells regardless of stock.")
    stock_qty: int = Field(description="Units in stock. Does not alone decide whether the product can be bought.")
    damaged_qty: int = Field(description="Damaged units in stock, sold at `damaged_price`.")
    damaged_price: Money | None = Field(description="The price of a damaged unit.")
    allow_backorders: bool = Field(description="If true, the product still sells when out of stock.")
    low_stock_threshold: int = Field(description="Low stock threshold: the merchant is warned at or below it.")
    meta_title: str | None = Field(description="Title for search engines.")
    meta_description: str | None = Field(description="Description for search engines.")
    canonical_url: str | None = Field(description="Canonical URL for search engines.")
    og_image_url: str | None = Field(description="URL of the picture for links on social media.")
    noindex: bool = Field(description="Whether search engines are asked not to index it.")
    sitemap_lastmod: Timestamp | None = Field(description="Date of the last change in the sitemap.")
    is_featured: bool = Field(description="Whether the product is featured.")
    is_new: bool = Field(description="Whether the product is marked as new.")
    is_preorder: bool = Field(description="Whether the product is a pre-order.")
    is_pinned: bool = Field(description="Whether the product comes first in the default sort order.")
    is_taxable: bool = Field(description="Whether the product is taxed.")
    requires_shipping: bool = Field(description="Whether the product is shipped.")
    media_mail_eligible: bool = Field(description="Whether the product can be shipped as media mail.")
    vendor_id: int | None = Field(description="The vendor's id.")
    shipping_origin_id: int | None = Field(description="The shipping origin's id.")
    brand_id: int | None = Field(description="The brand's id.")
    tax_class_id: int | None = Field(description="The tax class's id.")
    tic_code: str | None = Field(description="Taxability code for a tax service.")
    sort_order: int = Field(description="Position in the default sort order.")
    publish_at: Timestamp | None = Field(description="When the product is published, if set.")
    published_on: Timestamp | None = Field(description="When the product was first published.")
    unpublish_at: Timestamp | None = Field(description="When the product is unpublished, if set.")
    created_at: Timestamp = Field(description="When it was created.")
    updated_at: Timestamp = Field(description="When it was last changed.")
    deleted_at: Timestamp | None = Field(description="Internal: always null here.")
    max_downloads: int = Field(description="How many times a digital product can be downloaded; 0 for no limit.")
    download_expiry_days: int = Field(description="How many days a digital product can be downloaded; 0 for no limit.")
    media: list[Media] = Field(description="The pictures in order. The first is shown in product lists. May be empty.")
    tags: list[str] = Field(description="The merchant's tags.")
    attributes: list[Attribute] = Field(description="Attributes such as colour.")
    sort_name: str = Field(description="The name used for sorting.")
    sale_price: Money | None = Field(description="The price from `sale_from` until `sale_until`; null without a sale.")
    sale_from: Timestamp | None = Field(description="When the sale price begins; null: it holds already.")
    sale_until: Timestamp | None = Field(description="When the sale price ends; null: it has no end.")
    regular_compare_price: Money | None = Field(
        description="While the sale price holds, and `compare_price` is the regular one: the `compare_price` after it."
    )
    available_from: Timestamp | None = Field(
        description="When a pre-order is sent, if it has a date. From then on `is_preorder` is false."
    )


class Pivot(Schema):
    """A product's place in a category."""

    product_id: int = Field(description="The product's id.")
    category_id: int = Field(description="The category's id.")
    sort_order: int = Field(description="The product's position in the category.")
    created_at: Timestamp = Field(description="When the product was added to the category.")
    updated_at: Timestamp = Field(description="When its position last changed.")


class Category(Schema):
    """A category of the shop's category tree."""

    id: int = Field(description="The category's id.")
    legacy_source_id: int | None = Field(description="Internal: id in the system it was imported from.")
    name: str = Field(description="The category's name.")
    slug: str = Field(description="The category's name in URLs and in the `category` filter of products.")
    description: str = Field(description="The description. May contain HTML; may be empty.")
    parent_id: int | None = Field(description="The parent category's id; null at the top level.")
    lft: int = Field(alias="_lft", description="Left bound in the nested set.")
    rgt: int = Field(alias="_rgt", description="Right bound in the nested set. Subcategories lie between the two.")
    image: str | None = Field(description="Absolute URL of its picture.")
    banner: str | None = Field(description="Absolute URL of its banner.")
    meta_title: str | None = Field(description="Title for search engines.")
    meta_description: str | None = Field(description="Description for search engines.")
    canonical_url: str | None = Field(description="Canonical URL for search engines.")
    og_image_url: str | None = Field(description="URL of the picture for links on social media.")
    noindex: bool = Field(description="Whether search engines are asked not to index it.")
    sitemap_lastmod: Timestamp | None = Field(description="Date of the last change in the sitemap.")
    sort_order: int = Field(description="Position among its siblings.")
    is_active: bool = Field(description="Always true here.")
    exclude_from_group_discounts: bool = Field(description="Whether it is excluded from customer group discounts.")
    created_at: Timestamp = Field(description="When it was created.")
    updated_at: Timestamp = Field(description="When it was last changed.")


class CountedCategory(Category):
    """A category with the number of its products."""

    products_count: int = Field(description="Number of products in the list filtered by this category.")


class CategoryOfProduct(Category):
    """A category of a product."""

    pivot: Pivot = Field(description="The product's place in the category.")


class Variant(Schema):
    """A version of a variable product that can be bought."""

    id: int = Field(description="The variant's id.")
    product_id: int = Field(description="The product's id.")
    name: str = Field(description="The variant's name, such as Blue / Large.")
    sku: str = Field(description="The SKU; may be empty.")
    barcode: str | None = Field(description="GTIN, EAN, UPC or ISBN.")
    price: Money = Field(description="The variant's price.")
    compare_price: Money = Field(description="Previous price, for display; zero if none.")
    weight: Measure | None = Field(description="Weight; if null, the product's weight applies.")
    track_inventory: bool = Field(description="If false, the variant sells regardless of stock.")
    stock_qty: int = Field(description="Units in stock.")
    allow_backorders: bool = Field(description="If true, the variant still sells when out of stock.")
    is_active: bool = Field(description="Whether the variant can be bought at all.")
    option_values: dict[str, str] = Field(
        description="The variant's option values by name. A name that is left out matches any value."
    )
    image: str | None = Field(description="Absolute URL of its picture.")
    sort_order: int = Field(description="Position among the product's variants.")
    created_at: Timestamp = Field(description="When it was created.")
    updated_at: Timestamp = Field(description="When it was last changed.")
    sale_price: Money | None = Field(description="The price from `sale_from` until `sale_until`; null without a sale.")
    sale_from: Timestamp | None = Field(description="When the sale price begins; null: it holds already.")
    sale_until: Timestamp | None = Field(description="When the sale price ends; null: it has no end.")
    regular_compare_price: Money | None = Field(
        description="While the sale price holds, and `compare_price` is the regular one: the `compare_price` after it."
    )


class OptionValue(Schema):
    """A value of an option."""

    id: int = Field(description="The value's id.")
    label: str = Field(description="The value that shoppers see.")
    price: Money = Field(description="Added to the line's price.")
    sort_order: int = Field(description="Position among the option's values.")


class Option(Schema):
    """A choice that the shopper makes for the product, such as an engraving."""

    id: int = Field(description="The option's id.")
    name: str = Field(description="The option's name.")
    type: Literal["select", "radio", "checkbox", "text"] = Field(description="How shoppers choose.")
    required: bool = Field(description="Whether the shopper must choose a value.")
    sort_order: int = Field(description="Position among the product's options.")
    max_length: int | None = Field(
        description="Of a `text`: how many characters it can have; null: 1,000. Not used by other types."
    )
    values: list[OptionValue] = Field(description="The values in order.")


class WholeProduct(Product):
    """A single product with its categories, variants and options."""

    categories: list[CategoryOfProduct] = Field(description="The product's categories.")
    variants: list[Variant] = Field(description="The variants in order; empty if there are none.")
    options: list[Option] = Field(description="The options in order.")


# Members of a product in lists, and those that only the single read shows unless they are included.
LISTED = names_of(Product)
INCLUDED = ("categories", "variants", "options")
FIELDS = (*LISTED, *INCLUDED)


class ProductQuery(sync.CopyQuery):
    """Filters for the list of products (R-CAT-20 to R-CAT-25)."""

    q: str = Field(
        "",
        # R-LIM-4.
        max_length=200,
        description="Search words, in any order. Each must occur, also as part of a word or in singular or plural, in "
        "name, description, SKU, brand, tags, attributes, or in a variant's name, values or SKU. Ignores case, "
        "accents, hyphens and apostrophes.",
        examples=["blue mug"],
    )
    category: str | None = Field(None, description="Slug of a category. Lists only its products.", examples=["cups"])
    featured: str | None = Field(
        None, description="Only featured products. On if present, unless `0`, `false` or `no`.", examples=["1"]
    )
    sort: Literal["newest", "price_asc", "price_desc", "name"] | None = Field(
        None, description="The sort order. By default pinned products first, then by `sort_order`, then newest."
    )
    updated_since: Moment | None = Field(
        None,
        description="Only products changed or published at or after this time. Include the offset, `Z` or `+00:00`.",
        examples=["2026-11-21T07:30:00.000000Z"],
    )
    fields: choice(FIELDS) | None = Field(None, description=sync.FIELDS)  # type: ignore[valid-type]
    include: choice(INCLUDED) | None = Field(None, description=sync.INCLUDE)  # type: ignore[valid-type]
    locale: str | None = Field(None, description=locales.DESCRIPTION, examples=["de"])

    @property
    def members(self) -> frozenset[str] | None:
        """The members to show; None: those that lists show."""
        return chosen(LISTED, self.fields, self.include)

    def is_featured_only(self) -> bool:
        """Whether the flag `featured` is on (R-CAT-22)."""
        return self.featured is not None and self.featured.lower() not in ("0", "false", "no")


class CategoryQuery(Schema):
    """In which language categories are shown."""

    locale: str | None = Field(None, description=locales.DESCRIPTION, examples=["de"])


class SingleQuery(CategoryQuery):
    """What a single product shows."""

    fields: choice(FIELDS) | None = Field(None, description=sync.FIELDS)  # type: ignore[valid-type]


class ProductPage(Envelope):
    """One page of products."""

    data: list[Product] = Field(description="The products.")
    deleted: list[sync.Deleted] | None = Field(None, description=sync.DELETED)
    did_you_mean: str | None = Field(
        None,
        description="Only where a search with `q` finds nothing: the nearest spelling that finds something, or null.",
        examples=["blanket"],
    )


class ProductRun(Schema):
    """An answer to `after`."""

    data: list[Product] = Field(description="The products as they are now.")
    deleted: list[sync.Deleted] = Field(description=sync.DELETED_OF_RUN)
    next: str = Field(description=sync.NEXT)


class OneProduct(Schema):
    """One product."""

    data: WholeProduct = Field(description="The product.")


class OneCategory(Schema):
    """One category."""

    data: CountedCategory = Field(description="The category.")


class Categories(Schema):
    """All categories."""

    data: list[CountedCategory] = Field(description="All active categories, in tree order.")
