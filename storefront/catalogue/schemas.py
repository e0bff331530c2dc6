"""The catalogue's records and parameters, described. Answers are written from `records.py`; these document them."""

from typing import Any, Literal

from ninja import Field, Schema

from storefront.kit.app_pagination import PER_PAGE, PageNumber, PageSize
from storefront.kit.schemas import Envelope, Measure, Moment, Money, Timestamp


class ProductQuery(Schema):
    """What a product list can be asked for (contract: Product list query parameters)."""

    q: str = Field(
        "",
        max_length=200,
        description="Words that must all occur in name, description or SKU, in any case, also inside longer words.",
        examples=["blue mug"],
    )
    category: str | None = Field(None, description="Slug of the category whose products to list.", examples=["cups"])
    featured: str | None = Field(
        None, description="Only featured products; on when present, unless `0`, `false` or `no`.", examples=["1"]
    )
    sort: Literal["newest", "price_asc", "price_desc", "name"] | None = Field(
        None, description="The order. Without it: pinned products first, then by `sort_order`, then newest."
    )
    updated_since: Moment | None = Field(
        None,
        description="Only products changed or published at this moment or later. With its offset, `Z` or `+00:00`.",
        examples=["2026-11-21T07:30:00.000000Z"],
    )
    per_page: PageSize = Field(PER_PAGE, description="Products a page; more than 100 is taken as 100.")
    page: PageNumber = Field(1, description="Which page, from 1. Beyond the last: an empty one.")

    def is_featured_only(self) -> bool:
        """Whether the flag `featured` is on (decisions: List parameters)."""
        return self.featured is not None and self.featured.lower() not in ("0", "false", "no")


class Media(Schema):
    """A picture of a product."""

    id: int = Field(description="The picture's number.")
    type: str = Field(description="`image`.")
    url: str = Field(description="Absolute URL of the picture.")
    alt: str = Field(description="Alternative text; may be empty.")
    width: int | None = Field(description="Width in pixels, where known.")
    height: int | None = Field(description="Height in pixels, where known.")
    sort_order: int = Field(description="Place among the product's pictures; the first is the one on tiles.")


class Product(Schema):
    """A product as the list shows it: every stored column."""

    id: int = Field(description="The product's number.")
    legacy_source_id: int | None = Field(description="Internal: its number in the system it was imported from.")
    name: str = Field(description="The product's name.")
    slug: str = Field(description="Its name in URLs; usable in place of the id when reading one product.")
    description: str = Field(description="The full text; may hold HTML, which is to be sanitised before it is shown.")
    translations: dict[str, dict[str, str]] | None = Field(description="Texts by locale, then by field.")
    short_description: str = Field(description="A short text; may hold HTML.")
    sku: str = Field(description="The merchant's article number; may be empty.")
    barcode: str | None = Field(description="GTIN, EAN, UPC or ISBN.")
    status: str = Field(description="Always `active` here; `draft` and `archived` products are never shown.")
    exclude_from_catalog: bool = Field(description="Whether lists leave it out, though it can be read and bought.")
    type: str = Field(description="`simple`, `variable` (carries variants), `bundle` or `digital`.")
    billing_interval: str | None = Field(description="For subscriptions: `day`, `week`, `month` or `year`.")
    billing_interval_count: int = Field(description="How many of these intervals one billing covers.")
    free_trial_days: int | None = Field(description="Days before a subscription is first billed.")
    setup_fee: Money | None = Field(description="What a subscription costs once.")
    payprovider_product_id: str | None = Field(description="Internal: its name at the payment provider.")
    payprovider_price_id: str | None = Field(description="Internal: its price's name at the payment provider.")
    accounting_product_id: str | None = Field(description="Internal: its name in the accounting.")
    price: Money = Field(description="The price; may be zero when every price lives on a variant or a required option.")
    allow_custom_price: bool = Field(description="Whether the shopper names the price.")
    is_gift_card: bool = Field(description="Whether it is a gift card.")
    exclude_from_group_discounts: bool = Field(description="Whether customer groups' discounts leave it out.")
    min_custom_price: Money | None = Field(description="The least a shopper may name.")
    compare_price: Money = Field(description="The former price, for show; zero: none.")
    cost_price: Money = Field(description="The merchant's buying price: sensitive, neither to be stored nor shown.")
    show_lowest_price: bool = Field(description="Whether the shop shows the lowest of the variants' prices.")
    default_variant_id: int | None = Field(description="The variant chosen at first.")
    weight: Measure = Field(description="Weight, three fraction digits.")
    length: Measure | None = Field(description="Length in `dimension_unit`.")
    width: Measure | None = Field(description="Width in `dimension_unit`.")
    height: Measure | None = Field(description="Height in `dimension_unit`.")
    dimension_unit: str | None = Field(description="`cm` or `in`.")
    track_inventory: bool = Field(description="When false the product sells regardless of stock.")
    stock_qty: int = Field(description="Pieces in stock; alone it does not decide whether the product can be bought.")
    damaged_qty: int = Field(description="Damaged pieces in stock, sold at `damaged_price`.")
    damaged_price: Money | None = Field(description="The price of a damaged piece.")
    allow_backorders: bool = Field(description="When true the product sells past zero stock.")
    low_stock_threshold: int = Field(description="At or below this stock the merchant is warned.")
    meta_title: str | None = Field(description="Title for search engines.")
    meta_description: str | None = Field(description="Description for search engines.")
    canonical_url: str | None = Field(description="The page that search engines shall take instead.")
    og_image_url: str | None = Field(description="The picture for links shared elsewhere.")
    noindex: bool = Field(description="Whether search engines are asked to leave it out.")
    sitemap_lastmod: Timestamp | None = Field(description="What the sitemap says about the last change.")
    is_featured: bool = Field(description="Whether the merchant features it.")
    is_new: bool = Field(description="Whether it is marked as new.")
    is_preorder: bool = Field(description="Whether it is sold ahead of its release.")
    is_pinned: bool = Field(description="Whether it stands before the others where no order is asked for.")
    is_taxable: bool = Field(description="Whether tax applies.")
    requires_shipping: bool = Field(description="Whether it is sent to the shopper.")
    media_mail_eligible: bool = Field(description="Whether it may go by media mail.")
    vendor_id: int | None = Field(description="The supplier's number.")
    shipping_origin_id: int | None = Field(description="Number of the place it is sent from.")
    brand_id: int | None = Field(description="The brand's number.")
    tax_class_id: int | None = Field(description="The tax class's number.")
    tic_code: str | None = Field(description="Taxability code, where a tax service asks for one.")
    sort_order: int = Field(description="Place in the shop's own order.")
    publish_at: Timestamp | None = Field(description="From when on it is public, if set.")
    published_on: Timestamp | None = Field(description="When it was first published.")
    unpublish_at: Timestamp | None = Field(description="Until when it is public, if set.")
    created_at: Timestamp = Field(description="When it was made.")
    updated_at: Timestamp = Field(description="When it was last changed.")
    deleted_at: Timestamp | None = Field(description="Internal: always null here.")
    max_downloads: int = Field(description="How often a digital product may be loaded; 0: no limit.")
    download_expiry_days: int = Field(description="Days a digital product may be loaded; 0: for ever.")
    media: list[Media] = Field(description="Its pictures in order; the first is the one on tiles. May be empty.")
    tags: list[str] = Field(description="The merchant's tags.")
    attributes: list[dict[str, Any]] = Field(description="Attributes such as colour: name, values, variation.")
    sort_name: str = Field(description="The name as it sorts.")


class Pivot(Schema):
    """A product's place in a category."""

    product_id: int = Field(description="The product's number.")
    category_id: int = Field(description="The category's number.")
    sort_order: int = Field(description="The product's place in the category.")
    created_at: Timestamp = Field(description="When the product came into the category.")
    updated_at: Timestamp = Field(description="When its place last changed.")


class Category(Schema):
    """A category of the shop's forest."""

    id: int = Field(description="The category's number.")
    legacy_source_id: int | None = Field(description="Internal: its number in the system it was imported from.")
    name: str = Field(description="The category's name.")
    slug: str = Field(description="Its name in URLs, and in the `category` filter of products.")
    description: str = Field(description="A text; may hold HTML, may be empty.")
    parent_id: int | None = Field(description="The category it stands under; null at the top.")
    lft: int = Field(alias="_lft", description="Left bound in the nested set.")
    rgt: int = Field(alias="_rgt", description="Right bound; what stands below lies between the two.")
    image: str | None = Field(description="Absolute URL of its picture.")
    banner: str | None = Field(description="Absolute URL of its banner.")
    meta_title: str | None = Field(description="Title for search engines.")
    meta_description: str | None = Field(description="Description for search engines.")
    canonical_url: str | None = Field(description="The page that search engines shall take instead.")
    og_image_url: str | None = Field(description="The picture for links shared elsewhere.")
    noindex: bool = Field(description="Whether search engines are asked to leave it out.")
    sitemap_lastmod: Timestamp | None = Field(description="What the sitemap says about the last change.")
    sort_order: int = Field(description="Place among its siblings.")
    is_active: bool = Field(description="Always true here.")
    exclude_from_group_discounts: bool = Field(description="Whether customer groups' discounts leave it out.")
    created_at: Timestamp = Field(description="When it was made.")
    updated_at: Timestamp = Field(description="When it was last changed.")


class CountedCategory(Category):
    """A category with the number of its products."""

    products_count: int = Field(description="How many products the list filtered by this category gives.")


class CategoryOfProduct(Category):
    """A category that a product is in."""

    pivot: Pivot = Field(description="The product's place in it.")


class Variant(Schema):
    """One buyable form of a variable product."""

    id: int = Field(description="The variant's number.")
    product_id: int = Field(description="The product's number.")
    name: str = Field(description="Such as Blue / Large.")
    sku: str = Field(description="The merchant's article number; may be empty.")
    barcode: str | None = Field(description="GTIN, EAN, UPC or ISBN.")
    price: Money = Field(description="The variant's price.")
    compare_price: Money = Field(description="The former price, for show; zero: none.")
    weight: Measure | None = Field(description="Weight; null: the product's.")
    track_inventory: bool = Field(description="When false the variant sells regardless of stock.")
    stock_qty: int = Field(description="Pieces in stock.")
    allow_backorders: bool = Field(description="When true the variant sells past zero stock.")
    is_active: bool = Field(description="An inactive variant sells at no quantity.")
    option_values: dict[str, str] = Field(description="What makes it this variant; a name left out: any value.")
    image: str | None = Field(description="Absolute URL of its picture.")
    sort_order: int = Field(description="Place among the product's variants.")
    created_at: Timestamp = Field(description="When it was made.")
    updated_at: Timestamp = Field(description="When it was last changed.")


class OptionValue(Schema):
    """A value an option can have."""

    id: int = Field(description="The value's number.")
    label: str = Field(description="The value as shoppers read it.")
    price: Money = Field(description="Added to the line's price.")
    sort_order: int = Field(description="Place among the option's values.")


class Option(Schema):
    """A choice on top of the product, such as an engraving."""

    id: int = Field(description="The option's number.")
    name: str = Field(description="The option's name.")
    type: str = Field(description="`select`, `radio`, `checkbox` or `text`.")
    required: bool = Field(description="Whether the product is sold only once it is chosen.")
    sort_order: int = Field(description="Place among the product's options.")
    values: list[OptionValue] = Field(description="Its values in order.")


class WholeProduct(Product):
    """A product as the single read shows it."""

    categories: list[CategoryOfProduct] = Field(description="The categories it is in.")
    variants: list[Variant] = Field(description="Its variants in order; empty when it has none.")
    options: list[Option] = Field(description="Its options in order.")


class ProductPage(Envelope):
    """One page of products."""

    data: list[Product] = Field(description="The products.")


class OneProduct(Schema):
    """One product."""

    data: WholeProduct = Field(description="The product.")


class OneCategory(Schema):
    """One category."""

    data: CountedCategory = Field(description="The category.")


class Categories(Schema):
    """All categories."""

    data: list[CountedCategory] = Field(description="Every active category, in the tree's order.")
