"""Stock as it goes over the wire, both ways. Answers are written by `inventory.py`; these document them."""

import re
from typing import Annotated

from ninja import Field, Schema
from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from storefront.catalogue.inventory import InventoryFilters
from storefront.catalogue.inventory_actions import By, To
from storefront.catalogue.validation import LARGEST_INTEGER
from storefront.kit.app_pagination import PageQuery, Pagination
from storefront.kit.ids import LARGEST_ID, as_id
from storefront.kit.refusals import InvalidFields
from storefront.kit.schemas import Envelope, IdAlone, Timestamp

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def _one_line(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("must not hold line breaks or control characters")
    if not text.strip():
        raise ValueError("must not be empty")
    return text.strip()


def _asked_id(text: object) -> int:
    id = as_id(str(text))
    if id is None:
        raise ValueError("must be an id")
    return id


AskedId = Annotated[
    int, BeforeValidator(_asked_id), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": LARGEST_ID})
]
Id = Annotated[int, Field(strict=True, ge=1, le=LARGEST_ID)]
Pieces = Annotated[int, Field(strict=True, ge=-LARGEST_INTEGER, le=LARGEST_INTEGER)]
Reason = Annotated[str, Field(strict=True, min_length=1, max_length=255), AfterValidator(_one_line)]


class InventoryQuery(PageQuery):
    """What a list of stock can be narrowed to."""

    sku: Annotated[str, Field(min_length=1, max_length=255)] | None = Field(
        None, description="Only what has exactly this SKU."
    )
    product_id: AskedId | None = Field(None, description="Only the stock of this product, or of its variants.")
    variant_id: AskedId | None = Field(None, description="Only the stock of this variant.")

    @property
    def filters(self) -> InventoryFilters:
        return InventoryFilters(sku=self.sku, product_id=self.product_id, variant_id=self.variant_id)


class AdjustmentGiven(Schema):
    """A stock to be put right: `delta` or `set`, exactly one of them."""

    product_id: Id = Field(description="The product.")
    variant_id: Id | None = Field(None, description="The variant; required where the product has any.")
    delta: Pieces | None = Field(None, description="So many pieces more, or, below zero, fewer.", examples=[-2])
    set: Pieces | None = Field(
        None, description="The stock as it was counted, whatever it was before. Below zero as sales may bring it there."
    )
    reason: Reason = Field(description="Why, for the merchant to read.", examples=["Two broke"])

    @property
    def change(self) -> By | To:
        """Raises InvalidFields where it is not exactly one."""
        if self.delta is not None and self.set is None:
            return By(self.delta)
        if self.set is not None and self.delta is None:
            return To(self.set)
        raise InvalidFields(errors={"delta": ["Send either delta or set."]})


class InventoryItem(Schema):
    """The stock of a product without variants, or of a variant."""

    id: str = Field(description="Its name: `p` and the product's number; of a variant `-v` and its number follow.")
    product_id: int = Field(description="The product's number.")
    variant_id: int | None = Field(description="The variant's number; null where the product has none.")
    sku: str = Field(description="The merchant's article number; may be empty.")
    name: str = Field(description="The product's name, with the variant's behind it.")
    track_inventory: bool = Field(description="When false it sells regardless of stock.")
    allow_backorders: bool = Field(description="When true it sells past zero stock.")
    stock_qty: int = Field(description="Pieces in stock.")
    damaged_qty: int = Field(description="The product's damaged pieces, the same in each of its variants.")
    low_stock_threshold: int = Field(description="At or below this stock the merchant is warned; the product's.")
    updated_at: Timestamp = Field(description="When the product or variant was last changed or sold.")


class InventoryPage(Envelope):
    """One page of stock."""

    data: list[InventoryItem] = Field(description="The items, by product.")


class ChangedInventoryItem(Schema):
    """One item."""

    data: InventoryItem | IdAlone = Field(description="The item; its id alone without `read_inventory`.")


class InventoryOfApp(Schema):
    """One page of stock."""

    inventory: list[InventoryItem] = Field(description="The items, by product.")
    pagination: Pagination = Field(description="Where this page stands.")


class ChangedInventoryItemOfApp(Schema):
    """One item."""

    inventory_item: InventoryItem | IdAlone = Field(description="The item; its id alone without `read_inventory`.")
