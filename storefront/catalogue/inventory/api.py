"""Stock, in the public API and in the App API (R-APP-30, R-APP-35)."""

from typing import Any

from django.http import HttpResponse
from ninja import Query, Router

from storefront.catalogue.copying import Stock
from storefront.catalogue.inventory import actions as inventory_actions
from storefront.catalogue.inventory import queries as inventory
from storefront.catalogue.inventory import schemas
from storefront.catalogue.inventory.ledger import Author
from storefront.catalogue.inventory.queries import Item
from storefront.kit.api.app_pagination import pagination
from storefront.kit.api.http import json_response
from storefront.kit.api.members import only
from storefront.kit.api.pagination import page_response
from storefront.kit.api.schemas import answers
from storefront.shops.auth import app_scope, scope
from storefront.shops.models import ApiToken
from storefront.shops.request import Caller, Request, record_or_id
from storefront.sync.answers import answer_run, deleted_beside, deleted_of_app

router = Router(tags=["Inventory"])
app_router = Router(tags=["App: Inventory"])

PAGE_PARAMETERS = ("sku", "product_id", "variant_id", "updated_since", "ids", "fields", "per_page")


@router.get(
    "/inventory",
    auth=scope("read_inventory"),
    response=answers({200: schemas.InventoryPage | schemas.InventoryRun}, 422),
    summary="List stock",
)
def list_inventory(request: Request, asked: Query[schemas.InventoryQuery]) -> HttpResponse:
    """One page of the shop's stock, ordered by product: an item for each variant, or product without variants. With
    `after`, the next part of a copy of the list."""
    source = Stock(request.shop, asked.members)
    if asked.after is not None:
        return answer_run(request, source, asked)
    items, where = _page(request, asked, "/api/v1/inventory")
    return page_response(items, **where, **deleted_beside(source, asked, now=request.now))


@router.post(
    "/inventory/adjustments",
    auth=scope("write_inventory"),
    response=answers({201: schemas.ChangedInventoryItem}, 400, 409, 413, 415, 422),
    summary="Adjust stock",
)
def adjust_inventory(request: Request, body: schemas.AdjustmentGiven) -> HttpResponse:
    """Change the stock of a product or variant, with a reason that the merchant can see.

    Two simultaneous changes by `delta` are both applied. Stock can fall below zero only if backorders are allowed or
    stock is not tracked.
    """
    return json_response({"data": _adjust(request, body)}, status=201)


@app_router.get(
    "/inventory",
    auth=app_scope("read_inventory"),
    response=answers({200: schemas.InventoryOfApp | schemas.InventoryRunOfApp}, 422),
    summary="List stock",
)
def list_inventory_for_app(request: Request, asked: Query[schemas.InventoryQuery]) -> HttpResponse:
    """One page of the shop's stock, ordered by product: an item for each variant, or product without variants. With
    `after`, the next part of a copy of the list."""
    source = Stock(request.shop, asked.members)
    if asked.after is not None:
        return answer_run(request, source, asked, "inventory")
    items, where = _page(request, asked, "/api/apps/inventory")
    deleted, deleted_total = deleted_of_app(source, asked, now=request.now)
    where = pagination(**where, deleted_total=deleted_total)
    return json_response({"inventory": items, "pagination": where} | deleted)


@app_router.post(
    "/inventory/adjustments",
    auth=app_scope("write_inventory"),
    response=answers({201: schemas.ChangedInventoryItemOfApp}, 400, 409, 413, 415, 422),
    summary="Adjust stock",
)
def adjust_inventory_for_app(request: Request, body: schemas.AdjustmentGiven) -> HttpResponse:
    """Change the stock of a product or variant, with a reason that the merchant can see.

    Two simultaneous changes by `delta` are both applied. Stock can fall below zero only if backorders are allowed or
    stock is not tracked.
    """
    return json_response({"inventory_item": _adjust(request, body)}, status=201)


def _page(request: Request, asked: schemas.InventoryQuery, path: str) -> tuple[list[Item], dict[str, Any]]:
    """The items of a page, and the arguments of both APIs' pagination."""
    items, total = inventory.inventory_page(request.shop, asked.filters, start=asked.start, count=asked.per_page)
    given = [(name, request.GET[name]) for name in PAGE_PARAMETERS if name in request.GET]
    url = request.shop.base_url + path
    return [only(item, asked.members) for item in items], {
        "page": asked.page,
        "per_page": asked.per_page,
        "path": url,
        "given": given,
        "total": total,
    }


def _adjust(request: Request, body: schemas.AdjustmentGiven) -> dict[str, Any]:
    item = inventory_actions.adjust_stock(
        shop=request.shop,
        product_id=body.product_id,
        variant_id=body.variant_id,
        delta=body.delta,
        to=body.set,
        reason=body.reason,
        author=_author(request.caller),
        now=request.now,
    )
    return record_or_id(request, item, reading="read_inventory")


def _author(caller: Caller) -> Author:
    if caller.installation_id is not None:
        return Author(installation_id=caller.installation_id)
    return Author(token=ApiToken.objects.filter(shop=caller.shop, digest=caller.digest).first())
