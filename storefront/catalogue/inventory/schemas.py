"""Stock in requests and responses. Responses are written by `inventory/queries.py`; these schemas document them."""

import re
from typing import Annotated, Any

from ninja import Field, Schema
from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from storefront.catalogue.inventory.queries import InventoryFilters
from storefront.catalogue.parsing import MAX_INTEGER
from storefront.kit.api.app_pagination import Pagination
from storefront.kit.api.members import MAX_IDS, choice, names_of
from storefront.kit.api.schemas import Envelope, Id, IdAlone, Timestamp
from storefront.kit.ids import MAX_ID, as_id
from storefront.sync import schemas as sync

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ITEM_ID = re.compile(r"p([0-9]{1,15})(?:-v([0-9]{1,15}))?")


def _one_line(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("must not contain line breaks or control characters")
    if not text.strip():
        raise ValueError("must not be empty")
    return text.strip()


def _parse_id(text: object) -> int:
    id = as_id(str(text))
    if id is None:
        raise ValueError("must be an id")
    return id


def _item_ids(text: object) -> tuple[tuple[int, int | None], ...]:
    found = [_ITEM_ID.fullmatch(each.strip()) for each in str(text).split(",")]
    if not all(found) or len(found) > MAX_IDS:
        raise ValueError(f"must be at most {MAX_IDS} ids such as p12 or p12-v34, separated by commas")
    return tuple((int(each[1]), int(each[2]) if each[2] else None) for each in found if each)


ItemIds = Annotated[Any, BeforeValidator(_item_ids), WithJsonSchema({"type": "string"})]
QueryId = Annotated[
    int, BeforeValidator(_parse_id), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MAX_ID})
]
Units = Annotated[int, Field(strict=True, ge=-MAX_INTEGER, le=MAX_INTEGER)]
Reason = Annotated[str, Field(strict=True, min_length=1, max_length=255), AfterValidator(_one_line)]


class AdjustmentGiven(Schema):
    """A stock adjustment, with exactly one of `delta` and `set`."""

    product_id: Id = Field(description="The product's id.")
    variant_id: Id | None = Field(None, description="The variant's id. Required if the product has variants.")
    delta: Units | None = Field(None, description="Units to add to the stock; negative to remove units.", examples=[-2])
    set: Units | None = Field(
        None, description="The new stock, whatever it was before. Can be below 0 where sales could take it there."
    )
    reason: Reason = Field(description="Reason, shown to the merchant.", examples=["Two broke"])


class InventoryItem(Schema):
    """The stock of a product without variants, or of a variant."""

    id: str = Field(
        description="The item's key: `p` and the product's id, followed by `-v` and the variant's id for a variant."
    )
    product_id: int = Field(description="The product's id.")
    variant_id: int | None = Field(description="The variant's id; null if the product has no variants.")
    sku: str = Field(description="The SKU; may be empty.")
    name: str = Field(description="The product's name, followed by the variant's name.")
    track_inventory: bool = Field(description="If false, the item sells regardless of stock.")
    allow_backorders: bool = Field(description="If true, the item still sells when out of stock.")
    stock_qty: int = Field(description="Units in stock.")
    damaged_qty: int = Field(description="Damaged units of the product; the same for each of its variants.")
    low_stock_threshold: int = Field(
        description="The product's low stock threshold: the merchant is warned at or below it."
    )
    updated_at: Timestamp = Field(description="When the product or variant was last changed or sold.")


class InventoryQuery(sync.CopyQuery):
    """Filters for the list of stock."""

    sku: Annotated[str, Field(min_length=1, max_length=255)] | None = Field(
        None, description="Only stock with exactly this SKU."
    )
    product_id: QueryId | None = Field(None, description="Only stock of this product and its variants.")
    variant_id: QueryId | None = Field(None, description="Only stock of this variant.")
    ids: ItemIds | None = Field(None, description="Only items with these ids: up to 100, separated by commas.")
    fields: choice(names_of(InventoryItem)) | None = Field(None, description=sync.FIELDS)  # type: ignore[valid-type]

    @property
    def filters(self) -> InventoryFilters:
        return InventoryFilters(
            sku=self.sku,
            product_id=self.product_id,
            variant_id=self.variant_id,
            items=self.ids,
            updated_since=self.updated_since,
        )

    @property
    def members(self) -> frozenset[str] | None:
        """The members to show; None: all."""
        return None if self.fields is None else frozenset(self.fields)


class InventoryPage(Envelope):
    """One page of stock."""

    data: list[InventoryItem] = Field(description="The items, ordered by product.")
    deleted: list[sync.DeletedItem] | None = Field(None, description=sync.DELETED)


class InventoryRun(Schema):
    """An answer to `after`."""

    data: list[InventoryItem] = Field(description="The items as they are now, of up to `per_page` products.")
    deleted: list[sync.DeletedItem] = Field(description=sync.DELETED_OF_RUN)
    next: str = Field(description=sync.NEXT)


class ChangedInventoryItem(Schema):
    """The item after the adjustment."""

    data: InventoryItem | IdAlone = Field(description="The item. Only its id without the scope `read_inventory`.")


class InventoryOfApp(Schema):
    """One page of stock."""

    inventory: list[InventoryItem] = Field(description="The items, ordered by product.")
    pagination: Pagination = Field(description="Position of this page in the list.")
    deleted: list[sync.DeletedItem] | None = Field(None, description=sync.DELETED)


class InventoryRunOfApp(Schema):
    """An answer to `after`."""

    inventory: list[InventoryItem] = Field(description="The items as they are now, of up to `per_page` products.")
    deleted: list[sync.DeletedItem] = Field(description=sync.DELETED_OF_RUN)
    next: str = Field(description=sync.NEXT)


class ChangedInventoryItemOfApp(Schema):
    """The item after the adjustment."""

    inventory_item: InventoryItem | IdAlone = Field(
        description="The item. Only its id without the scope `read_inventory`."
    )
